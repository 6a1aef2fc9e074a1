#!/bin/bash
# How long `agentbox log` takes for a record of a million lines, and how much
# memory: seconds (the best of a few) and the peak resident set, for each way
# of reading. Fails when the table takes longer than the bar.
#
#   test/bench/log.sh AGENTBOX [LINES] [ROUNDS] [BAR]
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
program=$(realpath "$1")
lines=${2:-1000000}
rounds=${3:-5}
bar=${4:-1.5}
work=$(mktemp -d "${AB_TEST_DIR:-/tmp}/log.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
export AGENTBOX_STATE=$work/state
mkdir -p -m 700 "$work/state/runs/aaaaa"
awk -v lines="$lines" -v hosts=500 -v run=aaaaa -f "$here/log.awk" \
	>"$work/state/runs/aaaaa/audit.jsonl"

# best ARG...: seconds and KiB.
best()
{
	for ((i = 0; i < rounds; i++)); do
		command time -f '%e %M' -o "$work/time" "$program" log "$@" \
			>/dev/null 2>&1 || exit
		cat "$work/time"
	done | sort -n | head -n 1
}

printf '%-20s %8s %12s\n' "$lines lines" seconds 'peak KiB'
for args in --stats '--stats --json' '--stats --denied' --json '--host *.example.com' '' \
	"--html $work/page.html"; do
	# shellcheck disable=SC2086
	read -r seconds peak < <(set -f; best $args)
	printf '%-20s %8s %12s\n' "${args%% /*}" "$seconds" "$peak"
	[ "$args" != --stats ] || table=$seconds
done
awk -v t="$table" -v bar="$bar" 'BEGIN { exit t > bar }' || {
	echo "the table took $table s, more than $bar"
	exit 1
}
