#!/bin/bash
# What does a further command in a box that stays cost, beside a new box?
#
#   test/bench/stay.sh PROGRAM [ROUNDS]
#
# Runs /bin/true in a kept box and in a new one in turn, so that both meet the same
# machine, and prints the shortest and the median time of each. Fails if the shortest or the
# median start in the kept box takes more than half of that in a new box. Nothing else
# should run meanwhile.
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

# show NAME TIME...: prints the shortest and the median time, which are in $shortest and $median
show()
{
	local name=$1 sorted

	shift
	sorted=($(printf '%s\n' "$@" | sort -n))
	shortest=${sorted[0]}
	median=${sorted[${#sorted[@]} / 2]}
	printf '%-10s shortest %6d us  median %6d us\n' "$name" "$shortest" "$median"
}

"$PROGRAM" run -q --keep --name bench -- /bin/true </dev/null
new=() kept=()
for ((i = 0; i < ROUNDS; i++)); do
	new+=("$(once)")
	kept+=("$(once --in bench)")
done
show 'new box' "${new[@]}"
new_shortest=$shortest new_median=$median
show 'kept box' "${kept[@]}"
printf '%-10s shortest %6d %%   median %6d %%\n' ratio \
	$((shortest * 100 / new_shortest)) $((median * 100 / new_median))
[ $((shortest * 2)) -le "$new_shortest" ] && [ $((median * 2)) -le "$new_median" ]
