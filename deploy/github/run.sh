#!/bin/bash
# Second step of the action: run the command in a box. The files of the runner
# (GITHUB_ENV, GITHUB_PATH, GITHUB_OUTPUT) are outside the workspace, so the
# command cannot change the steps after it; the runner also obeys lines of the
# output, so these are switched off meanwhile.
set -euo pipefail

options=()
while IFS= read -r line; do
	line="${line#"${line%%[![:space:]]*}"}"
	line="${line%"${line##*[![:space:]]}"}"
	case $line in
	'') ;;
	--*' '*) options+=("${line%% *}" "${line#* }") ;;
	*) options+=("$line") ;;
	esac
done <<<"${AB_OPTIONS:-}"

record=$RUNNER_TEMP/agentbox-record.jsonl
echo "record=$record" >>"$GITHUB_OUTPUT"
stop=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$stop"
status=0
agentbox run --audit "$record" "${options[@]}" -c "$AB_RUN" || status=$?
printf '\n::%s::\n' "$stop"	# the last line of the command may have no end
exit "$status"
