#!/bin/bash
# What does a further command in a box that stays cost, beside a new box?
#
#   test/bench/stay.sh PROGRAM [ROUNDS]
#
# Runs /bin/true in a kept box and in a new one in turn, so that both meet the same
# machine, and prints the shortest and the median time of each. Fails if the shortest start
# in the kept box takes more than half of the shortest one in a new box. Nothing else should
# run meanwhile.
set -eu

PROGRAM=$(realpath "${1:?usage: stay.sh PROGRAM [ROUNDS]}")
ROUNDS=${2:-100}
DIR=$(mktemp -d "${BENCH_DIR:-$HOME}/agentbox-stay.XXXXXX")
export HOME=$DIR/home AGENTBOX_STATE=$DIR/state
mkdir -p "$HOME/ws"
cd "$HOME/ws"
trap '"$PROGRAM" stop --all >/dev/null || :; rm -rf "$DIR"' EXIT

# once ARG...: the microseconds that one run takes
once()
{
	local from=${EPOCHREALTIME/./}

	"$PROGRAM" run "$@" -- /bin/true </dev/null
	echo $((${EPOCHREALTIME/./} - from))
}

# show NAME TIME...: prints the shortest and the median time; the shortest is in $shortest
show()
{
	local name=$1 sorted

	shift
	sorted=($(printf '%s\n' "$@" | sort -n))
	shortest=${sorted[0]}
	printf '%-10s shortest %6d us  median %6d us\n' "$name" "$shortest" \
		"${sorted[${#sorted[@]} / 2]}"
}

"$PROGRAM" run -q --keep --name bench -- /bin/true </dev/null
new=() kept=()
for ((i = 0; i < ROUNDS; i++)); do
	new+=("$(once)")
	kept+=("$(once --in bench)")
done
show 'new box' "${new[@]}"
whole=$shortest
show 'kept box' "${kept[@]}"
echo "ratio $((shortest * 100 / whole)) %"
[ $((shortest * 2)) -le "$whole" ]
