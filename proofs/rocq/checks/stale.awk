# awk -v changed=FILE -v wanted='FILES' -f stale.awk build/depend: what must be compiled again for the wanted files where
# FILE has changed, each after what it needs. Names are without .v. Without `wanted`, whatever rests on FILE; without
# `changed`, whatever the wanted files rest on.

/^[^ ]*\.vo / {
  name = $1; sub(/\.vo$/, "", name)
  names[++count] = name; needs[name] = ""
  for (i = 2; i <= NF; i++) if ($i ~ /\.vo$/) needs[name] = needs[name] " " $i
}

# Whether `name` rests on what has changed. Those that do are printed on the way back.
function visit(name, all, n, i, of) {
  if (name in seen) return seen[name]
  seen[name] = changed == "" || name == changed
  n = split(needs[name], all)
  for (i = 1; i <= n; i++) { of = all[i]; sub(/\.vo$/, "", of); if (visit(of)) seen[name] = 1 }
  if (seen[name]) print name
  return seen[name]
}

END {
  if (wanted == "") for (i = 1; i <= count; i++) visit(names[i])
  else { n = split(wanted, all_wanted); for (i = 1; i <= n; i++) visit(all_wanted[i]) }
}
