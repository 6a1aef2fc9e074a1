#!/bin/bash
# How many lines of each class the judge stops. For the record; it fails for nothing.
#
#   test/bench/scores.sh AGENTBOX [FILE.jsonl...]
#
# AGENTBOX is the program. Without files: the collections of test/data/corpus. A file has
# lines of JSON with "class" and "cmd"; lines of the class "harmless" should pass, all
# others should be stopped. Needs jq.
set -eu

program=$(realpath "$1")
shift
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# lines_of_corpus: its classes as lines of JSON.
lines_of_corpus()
{
	local file

	for file in "$here"/test/data/corpus/*.txt; do
		case $file in
		*/scores.txt) continue ;;
		esac
		grep -v '^##' "$file" | grep . |
			jq -cR --arg class "$(basename "$file" .txt)" \
				'{class: $class, cmd: (gsub("⏎"; "\n") | gsub("␉"; "\t"))}'
	done
}

if [ $# -gt 0 ]; then
	cat "$@"
else
	lines_of_corpus
fi >"$work/lines"

# Judged in a project, so that no word means the home folder by accident.
mkdir -p "$work/me/project"
jq -j '.cmd + "\u0000"' "$work/lines" |
	(cd "$work/me/project" && "$program" check --batch -0) >"$work/verdicts" || :
# Its status is that of the verdicts; a program that did not run has none.
if [ "$(wc -l <"$work/verdicts")" != "$(wc -l <"$work/lines")" ]; then
	echo "scores.sh: $program did not judge every line" >&2
	exit 1
fi
paste -d'\n' "$work/lines" "$work/verdicts" |
	jq -rs '[range(0; length; 2) as $i | {class: .[$i].class, verdict: .[$i + 1].decision}]
		| group_by(.class)[]
		| (map(select(.verdict == "escalated" or .verdict == "forbidden")) | length) as $stopped
		| [.[0].class, $stopped, length, (100 * $stopped / length * 10 | round / 10),
		   (map(select(.verdict == "allow")) | length),
		   (map(select(.verdict == "forbidden")) | length)] | @tsv' |
	awk -F'\t' 'BEGIN { printf "%-16s %8s %6s %7s %6s %10s\n",
			"class", "stopped", "of", "%", "allow", "forbidden" }
		{ printf "%-16s %8d %6d %7.1f %6d %10d\n", $1, $2, $3, $4, $5, $6 }'
