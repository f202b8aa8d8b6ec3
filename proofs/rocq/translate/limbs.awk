# Writes the arithmetic on limbs of spec/cryptol/Poly1305.cry for Rocq: awk -f limbs.awk Poly1305.cry > Poly1305Limbs.v
# Only these forms may occur between a heading that begins with "As kernels compute it" and the next one; anything else is
# an error:
#   NAME : TYPE -> ... -> TYPE            a type is [64], [n][64] or [m][n][64]
#   NAME ARGUMENT ... = EXPRESSION        an argument is a name or a list of names; applications and parentheses
#   NAME ARGUMENT ... = [NAME, ...]       followed by `where` and a line for each of
#       NAME = X >> N,  X << N,  X && CONSTANT,  TERM + ... + TERM
#       a term is X, a constant, or low_product X Y, low52 X Y or high52 X Y, which are defined in one way only

function fail(why) { print FILENAME ":" NR ": " why ": " $0 > "/dev/stderr"; failed = 1; exit 1 }

function rocq_type(t) {
  if (t == "[64]") return "Z"
  if (t ~ /^\[[0-9]+\]\[64\]$/) return "list Z"
  if (t ~ /^\[[0-9]+\]\[[0-9]+\]\[64\]$/) return "list (list Z)"
  fail("a type that is not known")
}

function of_words(product) { return types[product] == "[64] -> [64] -> [64]" }

# The pattern of argument i, and the parts of the definition's head.
function head(line,    n, rest, i) {
  count = 0
  rest = line
  while (match(rest, /^ *(\[[a-z0-9, ]*\]|[a-z][a-z0-9_]*)/)) {
    item = substr(rest, RSTART, RLENGTH); sub(/^ */, "", item)
    items[count++] = item
    rest = substr(rest, RLENGTH + 1)
  }
  if (rest !~ /^ *$/) fail("an argument that is not known")
  name = items[0]
  if (!(name in types)) fail("no type")
  n = split(types[name], parts, / -> /)
  if (n != count) fail("not as many arguments as the type says")
  result = rocq_type(parts[n])
  binders = ""; scrutinees = ""; patterns = ""; others = ""; separator = ""
  for (i = 1; i < count; i++) {
    if (items[i] ~ /^\[/) {
      binders = binders " (arg" i " : " rocq_type(parts[i]) ")"
      gsub(/,/, ";", items[i])
      scrutinees = scrutinees separator "arg" i
      patterns = patterns separator items[i]
      others = others separator "_"
      separator = ", "
    } else binders = binders " (" items[i] " : " rocq_type(parts[i]) ")"
  }
  printf "\nDefinition %s%s : %s :=\n", name, binders, result
  if (scrutinees != "") printf "  match %s with\n  | %s =>\n", scrutinees, patterns
}

function finish() {
  print "      " value closing (scrutinees != "" ? "\n  | " others " => []\n  end." : ".")
  value = ""; closing = ""; body = 0
}

function step(name, operation) {
  print "      bind (" operation ") (fun " name " =>"
  closing = closing ")"
}

BEGIN {
  atom = "([a-z][a-z0-9]*|0x[0-9a-f]+)"
  term = "((low_product|low52|high52) " atom " " atom "|" atom ")"
  print "(* Written by limbs.awk from spec/cryptol/Poly1305.cry. *)"
  print "From Coq Require Import List ZArith."
  print "From Veriplex Require Import Words64."
  print "Import ListNotations."
  print "Local Open Scope Z_scope."
}

/^\/\/ -- / { if (on) { on = 0; done = 1 } else if ($0 ~ /^\/\/ -- As kernels compute it/) on = 1; next }
!on { next }
comment { if (/\*\//) comment = 0; next }
/^\/\*\*/ { if (!/\*\//) comment = 1; next }
/^\/\// { next }
/^$/ { if (body) finish(); next }

/^[a-z][a-z0-9_]* : / { split($0, sides, / : /); types[sides[1]] = sides[2]; next }

/^low_product / {
  if ($0 != "low_product x y = zext (drop`{32} x) * zext (drop`{32} y)" || !of_words("low_product")) fail("another product")
  print "\nDefinition low_product (x y : Z) : Z := times (low_half x) (low_half y)."
  next
}

/^low52 / {
  if ($0 != "low52 x y = zext (drop`{52} (zext`{104} (drop`{12} x) * zext (drop`{12} y)))" || !of_words("low52")) fail("another product")
  print "\nDefinition low52 (x y : Z) : Z := low_52 (product_52 x y)."
  next
}

/^high52 / {
  if ($0 != "high52 x y = zext (take`{52} (zext`{104} (drop`{12} x) * zext (drop`{12} y)))" || !of_words("high52")) fail("another product")
  print "\nDefinition high52 (x y : Z) : Z := high_52 (product_52 x y)."
  next
}

/^[a-z][a-z0-9_]* .* = / {
  if (body) fail("no empty line before it")
  at = index($0, " = ")
  head(substr($0, 1, at - 1))
  value = substr($0, at + 3)
  if (value ~ /^\[[a-z0-9, ]*\]$/) gsub(/,/, ";", value)
  else if (value !~ /^[a-z0-9_() ]+$/) fail("an expression that is not known")
  body = 1
  next
}

/^  where$/ { if (!body) fail("nothing before it"); next }

/^    [a-z][a-z0-9]* = / {
  if (!body) fail("nothing before it")
  defined = $1
  right = substr($0, index($0, " = ") + 3)
  if (right ~ ("^" atom " >> [0-9]+$")) step(defined, "shift_right " $3 " " $5)
  else if (right ~ ("^" atom " << [0-9]+$")) step(defined, "shift_left " $3 " " $5)
  else if (right ~ ("^" atom " && 0x[0-9a-f]+$")) step(defined, "both " $3 " " $5)
  else if (right ~ ("^" term "( \\+ " term ")+$")) {
    n = split(right, terms, / \+ /)
    sum = ""
    for (i = 1; i <= n; i++) {
      t = terms[i]
      if (t ~ / /) { step(defined "_" i, t); t = defined "_" i }
      if (i == 1) { sum = t; continue }
      next_sum = (i == n) ? defined : defined "_to_" i
      step(next_sum, "plus " sum " " t)
      sum = next_sum
    }
  } else fail("an operation that is not known")
  next
}

{ fail("a form that is not known") }

END {
  if (failed) exit 1
  if (body || on || !done) { print "the section does not end" > "/dev/stderr"; exit 1 }
}
