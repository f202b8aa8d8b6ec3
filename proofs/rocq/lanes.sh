# A script that reads this runs once for each processor, and `mine` shares its calls out among the runs.

if [ -z "${LANE-}" ]; then
  LANES=$(getconf _NPROCESSORS_ONLN); export LANES
  runs=
  for lane in $(seq "$LANES"); do LANE=$lane sh "$0" "$@" & runs="$runs $!"; done
  failed=0
  for run in $runs; do wait "$run" || failed=1; done
  exit $failed
fi

calls=0
mine() {
  calls=$((calls + 1))
  [ $((calls % LANES + 1)) = "$LANE" ]
}
