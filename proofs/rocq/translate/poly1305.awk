# Writes the known answers of Poly1305 for Rocq: awk -f poly1305.awk poly1305.json > Poly1305Vectors.v
# The JSON has one field per line, in alphabetical order. Messages by rule, wrong tags and tags of another length are left
# out.

function value(line) { sub(/^[^:]*: */, "", line); gsub(/[",]/, "", line); return line }
function text(x) { return "\"" x "\"" }

BEGIN {
  print "(* Written by poly1305.awk from tests/vectors. *)"
  print "From Coq Require Import String List."
  print "Import ListNotations."
  print "Local Open Scope string_scope."
  printf "\nDefinition poly1305_answers : list (string * string * string) := [\n  "
}
/^ *{/ { key = ""; message = ""; has_message = 0; tag = ""; valid = 1 }
/^ *"key":/ { key = value($0) }
/^ *"message":/ { message = value($0); has_message = 1 }
/^ *"tag":/ { tag = value($0) }
/^ *"valid": false/ { valid = 0 }
/^ *}/ {
  if (valid && has_message && length(tag) == 32) {
    printf "%s(%s, %s, %s)", separator, text(key), text(message), text(tag)
    separator = ";\n  "
  }
}
END { print "]." }
