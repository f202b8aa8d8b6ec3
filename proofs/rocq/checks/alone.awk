# awk -v wanted=LEMMA -f alone.awk FILE.v FILE.v: FILE without the proofs of other lemmas, which are taken for true. A
# lemma of a section that ends before LEMMA keeps its proof, since what it becomes there depends on what that uses. So does
# one of a section that is open, where the proof of LEMMA clears or changes its context: without a proof it needs all of it.

# The sections that are open here, as a path, which also tells two of one name apart.
/^ *Section / { path = path "/" FNR }
/^ *End / { sub(/\/[0-9]*$/, "", path) }

match($0, /^ *(Lemma|Theorem|Corollary|Example) [A-Za-z0-9_']+/) {
  name = substr($0, 1, RLENGTH); sub(/.* /, "", name)
  if (NR == FNR && name == wanted) open_there = path "/"
  other = name != wanted && (passed || path == "" && open_there != "" || !clears && index(open_there, path "/") == 1)
  if (NR > FNR && name == wanted) passed = 1
}

NR == FNR { if (name == wanted && /(^|[^A-Za-z_])clear([^A-Za-z_]|$)|in \*/) clears = 1; next }

# A proof begins with this word, and ends with one of those.
other && !within && (at = index($0, "Proof")) { before = substr($0, 1, at - 1); within = 1; kept = "" }
!within { print; next }

{ kept = kept $0 "\n" }
/Defined\.|Qed\./ {
  if (/Defined\./) printf "%s", kept
  else { sub(/.*Qed\./, ""); print before "Admitted." $0 }
  within = other = 0
}
