# Writes the operations of ../saw/lib/Poly1305Words.cry for Rocq: awk -f words.awk Poly1305Words.cry > Poly1305Text.v
# From the heading "Operations" to the heading "Messages" only these forms may occur; anything else is an error:
#   NAME : TYPE -> ... -> TYPE            a type is [w], [n][w] or ([128], [64]); w is 32, 64 or 128
#   NAME ARGUMENT ... = [NAME, ...]       or a pair (NAME, NAME), in Rocq a list too; an argument is a name, a list of
#                                         names or a pair of names; followed by `where` and a line for each of
#       NAME = X >> N,  X << N,  X && CONSTANT,  X || Y,  zext X : [w],  drop X : [w],  carry_of X Y,  TERM + ... + TERM
# A term is X, a constant, wide_product X Y or word_product X Y. Every name has a width, and every operation is checked
# to have operands of its width; a constant has that of its digits. `limbs.awk` does the same for kernels, whose words
# have 64 bits.

function fail(why) { print FILENAME ":" NR ": " why ": " $0 > "/dev/stderr"; failed = 1; exit 1 }

# The width of word i in a type.
function width_of(type, i) {
  if (type == "([128], [64])") return i == 1 ? 128 : 64
  if (type !~ /^(\[[0-9]+\])?\[(32|64|128)\]$/) fail("a type that is not known")
  sub(/^.*\[/, "", type); sub(/\]$/, "", type)
  return type + 0
}

# How many words a type has in brackets or in a pair; 0 if it is a word.
function words_in(type) {
  if (type == "([128], [64])") return 2
  return type ~ /\]\[/ ? substr(type, 2) + 0 : 0
}

function rocq_type(type) { return words_in(type) ? "list Z" : "Z" }

# Whether names are written as a value of this type is.
function as_type(names, type) { return (names ~ /^\(/) == (type ~ /^\(/) }

# Cryptol's lists and pairs as Rocq's lists.
function rocq_list(names) { gsub(/,/, ";", names); sub(/^\(/, "[", names); sub(/\)$/, "]", names); return names }

# The width of a name or a constant.
function width(x) {
  if (x ~ /^0x[0-9a-f]+$/) return 4 * (length(x) - 2)
  if (!(x in widths)) fail("a name that is not known, " x)
  return widths[x]
}

function define(name, w) {
  if (name in widths) fail("a second definition of " name)
  widths[name] = w
}

function want(x, w) { if (width(x) != w) fail("another width than " w ", of " x) }

# The arguments of a definition, with their widths.
function head(line,    n, rest, i, k, names, parts, item) {
  split("", widths)
  count = 0
  rest = line
  while (match(rest, /^ *(\[[a-z0-9, ]*\]|\([a-z0-9]+, [a-z0-9]+\)|[a-z][a-z0-9_]*)/)) {
    item = substr(rest, RSTART, RLENGTH); sub(/^ */, "", item)
    items[count++] = item
    rest = substr(rest, RLENGTH + 1)
  }
  if (rest !~ /^ *$/) fail("an argument that is not known")
  if (!(items[0] in types)) fail("no type")
  n = split(types[items[0]], parts, / -> /)
  if (n != count) fail("not as many arguments as the type says")
  result_type = parts[n]
  binders = ""; scrutinees = ""; patterns = ""; others = ""; separator = ""
  for (i = 1; i < count; i++) {
    k = split(items[i], names, /[^a-z0-9]+/)
    if (items[i] ~ /^[[(]/) {
      if (words_in(parts[i]) != k - 2 || !as_type(items[i], parts[i])) fail("other words than the type says")
      binders = binders " (arg" i " : list Z)"
      scrutinees = scrutinees separator "arg" i
      patterns = patterns separator rocq_list(items[i])
      others = others separator "_"
      separator = ", "
    } else {
      if (words_in(parts[i])) fail("a list without its words")
      binders = binders " (" items[i] " : Z)"
    }
    # The first word of a list or a pair is the second part.
    for (k in names) if (names[k] != "") define(names[k], width_of(parts[i], k - 1))
  }
  printf "\nDefinition %s%s : %s :=\n", items[0], binders, rocq_type(result_type)
  if (scrutinees != "") printf "  match %s with\n  | %s =>\n", scrutinees, patterns
}

function finish(    k, n, names) {
  n = split(value, names, /[^a-z0-9]+/)
  if (words_in(result_type) != n - 2 || !as_type(value, result_type)) fail("other words than the type says")
  for (k in names) if (names[k] != "") want(names[k], width_of(result_type, k - 1))
  print "      " rocq_list(value) closing (scrutinees != "" ? "\n  | " others " => []\n  end." : ".")
  value = ""; closing = ""; body = 0
}

function step(name, w, operation) {
  define(name, w)
  print "      bind (" operation ") (fun " name " =>"
  closing = closing ")"
}

# A term, after a step of its own if it is a product.
function term_of(t, name, w,    parts) {
  if (split(t, parts, " ") == 1) { want(t, w); return t }
  if (w != (parts[1] == "wide_product" ? 128 : 64)) fail("a product of another width")
  want(parts[2], w); want(parts[3], w)
  step(name, w, t)
  return name
}

BEGIN {
  atom = "([a-z][a-z0-9]*|0x[0-9a-f]+)"
  term = "((wide|word)_product " atom " " atom "|" atom ")"
  print "(* Written by words.awk from proofs/saw/lib/Poly1305Words.cry. *)"
  print "From Coq Require Import List ZArith."
  print "From Veriplex Require Import Words64 WordsOfAnyWidth."
  print "Import ListNotations."
  print "Local Open Scope Z_scope."
}

/^\/\/ -- / { if (on && /^\/\/ -- Messages/) { on = 0; done = 1 } else if (/^\/\/ -- Operations/) on = 1; next }
!on { next }
comment { if (/\*\//) comment = 0; next }
/^\/\*\*/ { if (!/\*\//) comment = 1; next }
/^\/\// { next }
/^$/ { if (body) finish(); next }

/^[a-z][a-z0-9_]* : / { split($0, sides, / : /); types[sides[1]] = sides[2]; next }

/^wide_product / {
  if ($0 != "wide_product x y = x * y" || types["wide_product"] != "[128] -> [128] -> [128]") fail("another product")
  print "\nDefinition wide_product (x y : Z) : Z := times_at 128 x y."
  next
}

/^word_product / {
  if ($0 != "word_product x y = x * y" || types["word_product"] != "[64] -> [64] -> [64]") fail("another product")
  print "\nDefinition word_product (x y : Z) : Z := times_at 64 x y."
  next
}

/^carry_of / {
  if ($0 != "carry_of sum term = zext (if sum < term then 0b1 else 0b0)") fail("another carry")
  if (types["carry_of"] != "[128] -> [128] -> [64]") fail("another carry")
  print "\nDefinition carry_of (sum term : Z) : Z := if sum <? term then 1 else 0."
  next
}

/^[a-z][a-z0-9_]* .* = / {
  if (body) fail("no empty line before it")
  at = index($0, " = ")
  head(substr($0, 1, at - 1))
  value = substr($0, at + 3)
  if (value !~ /^(\[[a-z0-9, ]*\]|\([a-z0-9]+, [a-z0-9]+\))$/) fail("an expression that is not known")
  body = 1
  next
}

/^  where$/ { if (!body) fail("nothing before it"); next }

/^    [a-z][a-z0-9]* = / {
  if (!body) fail("nothing before it")
  defined = $1
  right = substr($0, index($0, " = ") + 3)
  if (right ~ ("^" atom " >> [0-9]+$")) step(defined, width($3), "shift_right " $3 " " $5)
  else if (right ~ ("^" atom " << [0-9]+$")) step(defined, width($3), "shift_left_at " width($3) " " $3 " " $5)
  else if (right ~ ("^" atom " && 0x[0-9a-f]+$")) { want($5, width($3)); step(defined, width($3), "both " $3 " " $5) }
  else if (right ~ ("^" atom " \\|\\| " atom "$")) {
    want($5, width($3))
    step(defined, width($3), "either " $3 " " $5)
  }
  else if (right ~ ("^carry_of " atom " " atom "$")) { want($4, 128); want($5, 128); step(defined, 64, right) }
  else if (right ~ ("^(zext|drop) " atom " : \\[(32|64|128)\\]$")) {
    w = width_of($6, 0)
    if ($3 == "zext" ? width($4) >= w : width($4) <= w) fail("not a change of width")
    step(defined, w, ($3 == "zext" ? "widened " : "narrowed " w " ") $4)
  }
  else if (right ~ ("^word_product " atom " " atom "$")) term_of(right, defined, 64)
  else if (right ~ ("^" term "( \\+ " term ")+$")) {
    n = split(right, terms, / \+ /)
    w = terms[1] ~ /^wide_product / ? 128 : terms[1] ~ /^word_product / ? 64 : width(terms[1])
    sum = ""
    for (i = 1; i <= n; i++) {
      t = term_of(terms[i], defined "_" i, w)
      if (i == 1) { sum = t; continue }
      next_sum = (i == n) ? defined : defined "_to_" i
      step(next_sum, w, "plus_at " w " " sum " " t)
      sum = next_sum
    }
  } else fail("an operation that is not known")
  next
}

{ fail("a form that is not known") }

END {
  if (failed) exit 1
  if (body || !done) { print "the section does not end" > "/dev/stderr"; exit 1 }
}
