# A script that reads this runs once for each processor, and each of its calls of `mine` is true in one of the runs: that
# which comes to it first. It fails at its end if `failed` is set.

if [ -z "${LANE-}" ]; then
  TAKEN=$(mktemp -d) || exit; export TAKEN
  runs=
  lanes=$(getconf _NPROCESSORS_ONLN) || exit
  for lane in $(seq "$lanes"); do LANE=$lane sh "$0" "$@" & runs="$runs $!"; done
  failed=0
  [ -n "$runs" ] || { echo "$0: nothing has run" >&2; failed=1; }
  for run in $runs; do wait "$run" || failed=1; done
  rm -r "$TAKEN"
  exit $failed
fi

# A call with a misspelt name must not go unnoticed.
set -e

calls=0
mine() {
  calls=$((calls + 1))
  mkdir "$TAKEN/$calls" 2>/dev/null && return
  [ -d "$TAKEN/$calls" ] || { echo "$TAKEN/$calls cannot be made" >&2; exit 1; }
  return 1
}

trap '[ $? != 0 ] || exit "${failed:-0}"' EXIT
