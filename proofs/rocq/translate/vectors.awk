# Writes known answers for Rocq: awk -f vectors.awk simpira1024.json duplex.json > Vectors.v
# The JSON has one field per line, and the fields of an object are in alphabetical order.

function value(line) { sub(/^[^:]*: */, "", line); gsub(/[",]/, "", line); return line }
function text(x) { return "\"" x "\"" }
function item(x) { printf "%s%s", separator, x; separator = ";\n  " }

BEGIN {
  print "(* Written by vectors.awk from tests/vectors. *)"
  print "From Coq Require Import String List NArith."
  print "From Veriplex Require Import KnownAnswers."
  print "Import ListNotations."
  print "Local Open Scope string_scope."
}

/^ *"data":/ { data = value($0) }
/^ *"id":/ { id = value($0) }
/^ *"n":/ { n = value($0) }
/^ *"value":/ { number = value($0) }
/^ *"op":/ { op = value($0) }
/^ *"out":/ { out = value($0) }
/^ *"input":/ { input = value($0) }
/^ *"rate_idx":/ { rate_idx = value($0) }
/^ *"frame_idx":/ { frame_idx = value($0) }

/^ *"vectors":/ { printf "\nDefinition permutations : list (string * string) := [\n  "; separator = ""; end = 1 }
/^ *"output":/ { if (input != "") item("(" text(input) ", " text(value($0)) ")") }

/^ *"sequences":/ { if (end) print "]."; printf "\nDefinition sequences : list sequence := [\n  "; separator = "" }
/^ *"ops":/ { separator_outside = separator; separator = ""; ops = "" }
/^ *}/ {
  if (op == "absorb") step = "Do_absorb " text(data)
  else if (op == "absorb_leb128") step = "Do_absorb_leb128 " number
  else if (op == "squeeze") step = "Do_squeeze " text(out)
  else if (op == "encrypt" || op == "decrypt") step = "Do_" op " " text(data) " " text(out)
  else if (op == "frame") step = "Do_frame " id
  else if (op == "permute" || op == "ratchet") step = "Do_" op
  else if (op != "") { print "unknown operation " op > "/dev/stderr"; exit 1 }
  if (op != "") { ops = ops separator step; separator = "; " }
  op = ""
}
/^ *"state":/ {
  separator = separator_outside
  item("Sequence [" ops "] " rate_idx " " frame_idx " " text(value($0)))
}
END { print "]." }
