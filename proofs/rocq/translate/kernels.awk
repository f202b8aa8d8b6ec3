# Writes the bytes of the kernels and of the table for Rocq, from the hexadecimal in proofs/generated/kernels.txt:
#   awk -v level=x86_64 -f kernels.awk kernels.txt > Kernels_x86_64.v
# Kernels are named without prefixes, as in spec/cryptol. The level is a regular expression, too. -v wanted=REGEXP chooses
# kernels and tables by name; without it those for lanes are left out. Tables belong to x86_64.

BEGIN {
  if (!wanted) wanted = "[a-z]$"
  print "(* Written by kernels.awk. *)"
  print "From Coq Require Import List NArith."
  print "Import ListNotations."
  print "Local Open Scope N_scope."
}
/:$/ {
  finish()
  folder = ($0 ~ /\//) ? $0 : "x86-64/"
  sub(/\/.*/, "", folder); gsub(/-/, "_", folder)
  name = $0
  sub(/:$/, "", name); sub(/^.*\//, "", name); sub(/^veriplex_/, "", name); sub(/^(simpira1024|duplex)_/, "", name)
  if (folder ~ ("^(" level ")$") && name ~ wanted) { printf "\nDefinition %s : list N := [", name; open = 1; separator = "\n  " }
  next
}
open { for (i = 1; i + 1 <= length($0); i += 2) { printf "%s0x%s", separator, substr($0, i, 2); separator = (i % 64 == 63) ? ";\n  " : "; " } }
function finish() { if (open) print "]."; open = 0 }
END { finish() }
