# Writes the known answers of Xoodoo and the short ones of Xoofff for Rocq: awk -f xoofff.awk xoofff.json > XoofffVectors.v
# The JSON has one field per line, and the fields of an object are in alphabetical order: a string ends with its domain
# bits, or with the output after it. A case with a long string or output is left out.

function value(line) { sub(/^[^:]*: */, "", line); gsub(/[",]/, "", line); return line }
function text(x) { return "\"" x "\"" }
function item(x) { printf "%s%s", separator, x; separator = ";\n  " }
function length_of(hex, most) { if (length(hex) > 2 * most) short = 0; return hex }
function finish() {
  if (open && short) item("Xoofff_answer " text(key) " " offset " [" strings "] " text(output))
  open = 0
}

BEGIN {
  print "(* Written by xoofff.awk from tests/vectors. *)"
  print "From Coq Require Import String List NArith."
  print "From Veriplex Require Import XoofffAnswers."
  print "Import ListNotations."
  print "Local Open Scope N_scope."
  print "Local Open Scope string_scope."
}

/^  "xoodoo": \[/ { printf "\nDefinition xoodoo_answers : list (string * string * string) := [\n  "; separator = "" }
/^ *"input":/ { input = value($0) }
/^ *"rounds_12":/ { rounds_12 = value($0) }
/^ *"rounds_6":/ { item("(" text(input) ", " text(value($0)) ", " text(rounds_12) ")") }

/^  "xoofff": \[/ { print "]."; printf "\nDefinition xoofff_answers : list xoofff_answer := [\n  "; separator = "" }
/^ *"key":/ { finish(); open = 1; short = 1; key = value($0); strings = ""; joint = ""; output = "" }
/^ *"offset":/ { offset = value($0) }
/^ *"output":/ { output = length_of(value($0), 200) }
/^ *"data":/ { data = length_of(value($0), 385); after = "" }
/^ *"domain":/ { domain = value($0) }
/^ *"domain_bits":/ { bits = value($0) }
/^ *"output_after":/ { after = length_of(value($0), 200) }
/^        }/ { strings = strings joint "(" text(data) ", " domain ", " bits ", " text(after) ")"; joint = "; " }
END { finish(); print "]." }
