# Writes short known answers for Rocq: awk -f parallel.awk tree.json seekable.json > ParallelVectors.v
# The JSON has one field per line. A tree ends with its digest, a sealed message with the digest of its ciphertext.

function value(line) { sub(/^[^:]*: */, "", line); gsub(/[",]/, "", line); return line }
function text(x) { return "\"" x "\"" }
function item(x) { printf "%s%s", separator, x; separator = ";\n  " }

BEGIN {
  print "(* Written by parallel.awk from tests/vectors. *)"
  print "From Coq Require Import String List NArith."
  print "From Veriplex Require Import KnownAnswers ParallelAnswers."
  print "Import ListNotations."
  print "Local Open Scope string_scope."
}

/^ *"domain":/ { domain = value($0) }
/^ *"key":/ { key = value($0) }
/^ *"nonce":/ { nonce = value($0) }
/^ *"ad":/ { ad = value($0) }
/^ *"segment_len":/ { segment_len = value($0) + 0 }
/^ *"seed":/ { seed = value($0) }
/^ *"len":/ { len = value($0) + 0 }
/^ *"out_len":/ { out_len = value($0) }
/^ *"ciphertext_first_256":/ { first_256 = value($0) }

/^ "outboard": \[/ { part = "outboard" }
/^ "tree": \[/ { part = "tree"; printf "\nDefinition trees : list tree_answer := [\n  "; separator = "" }
/^ "seekable": \[/ { part = "seekable"; print "]."; printf "\nDefinition messages : list seekable_answer := [\n  "; separator = "" }

part == "tree" && /^ *"digest":/ && len <= 4097 {
  item("Tree_answer " text(domain) " " (key == "null" ? "None" : "(Some " text(key) ")") " " seed " " len " " out_len " " text(value($0)))
}
part == "seekable" && /^ *"ciphertext_digest":/ && segment_len <= 100 && len <= 129 {
  item("Seekable_answer " text(domain) " " text(key) " " text(nonce) " " text(ad) " " segment_len " " seed " " len " " \
    text(first_256) " " text(value($0)))
}
END { print "]." }
