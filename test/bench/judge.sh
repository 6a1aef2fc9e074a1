#!/bin/bash
# How fast the judge is: commands a second, beside what others take for the
# same lines, and a mebibyte of hostile text of many kinds. For the record; it
# fails for nothing. Processor time, the best of several runs.
#
#   test/bench/judge.sh AGENTBOX COMMANDS [RUNS]
#
# AGENTBOX is a release build of the program, COMMANDS a file with a command
# line in each line.
set -eu

program=$1
commands=$2
runs=${3:-9}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# best COMMAND...: milliseconds of processor time, of the fastest run.
best()
{
	local least=999999 ms TIMEFORMAT='%3U %3S' user sys i

	for ((i = 0; i < runs; i++)); do
		read -r user sys < <({ time "$@" >/dev/null 2>&1 || :; } 2>&1)
		ms=$((10#${user/./} + 10#${sys/./}))
		((ms >= least)) || least=$ms
	done
	echo "$least"
}

# rate NAME COMMAND...: with the lines on its standard input.
rate()
{
	local name=$1 ms
	shift

	ms=$(best "$@" <"$work/lines")
	printf '%-24s %8d ms %10d lines/s\n' "$name" "$ms" \
		$((count * 1000 / (ms ? ms : 1)))
}

# Each run reads from the beginning.
lines_to()
{
	"$@" <"$work/lines"
}

# Only what bash can read to its end: it would stop at the first other line.
while IFS= read -r line; do
	case $line in
	*'<<'*) continue ;;
	esac
	bash -n <<<"$line" 2>"$work/said" && [ ! -s "$work/said" ] &&
		printf '%s\n' "$line"
done <"$commands" >"$work/read" || :
# Often enough that the start of the program and the clock, a millisecond each, hardly count.
for ((i = 0; i < 30; i++)); do
	cat "$work/read"
done >"$work/lines"
count=$(wc -l <"$work/lines")

rate 'agentbox check --batch' lines_to "$program" check --batch
rate 'bash -n' lines_to bash -n
rate 'wc -l' lines_to wc -l

# repeat BEFORE UNIT AFTER: a mebibyte of it.
repeat()
{
	local room=$(((1 << 20) - ${#1} - ${#3}))

	printf '%s' "$1"
	yes -- "$2" | tr -d '\n' | tr '\001' '\n' |
		head -c $((room / ${#2} * ${#2})) || :
	printf '%s\n' "$3"
}

# hostile NAME BEFORE UNIT AFTER; \001 stands for a newline.
hostile()
{
	repeat "$2" "$3" "$4" >"$work/text"
	printf '%-24s %8d ms\n' "$1" "$(best text_to "$program" check --stdin)"
}

text_to()
{
	"$@" <"$work/text"
}

nl=$'\001'
hostile quotes '' "\"'\"'" ''
hostile parentheses '' '(' ''
hostile pipes '' 'a|' 'a'
hostile 'a list' '' 'a;' ''
hostile 'bash -c' '' 'bash -c ' ''
hostile 'bash -c, quoted' '' "bash -c 'ls';" ''
hostile sudo '' 'sudo ' ls
hostile env '' 'env A=1 ' ls
hostile eval '' 'eval ' ls
hostile 'env -S' '' 'env -S ' ls
hostile ssh '' 'ssh h ' ls
hostile 'find -exec' 'find . ' '-exec rm {} + ' ''
hostile 'loops in loops' '' 'for i in a b c; do ' ''
hostile 'loops' '' 'while a; do x=$x$y; done;' ''
hostile 'variables' '' 'x=$x$x;' 'echo $x'
hostile 'appending' '' 'x+=aaaa;echo $x;' ''
hostile 'brace expansion' '' '{a,b}' ''
hostile 'here-documents' '' "cat <<E${nl}x${nl}E${nl}" ''
hostile 'substitutions' '' '$(a)' ''
hostile 'functions' '' 'f(){ f|f& };' ''
hostile 'calls' $'f() { rm -r $1; }\n' "f x${nl}" ''
hostile 'rm of many' 'rm -rf ' 'a ' ''
hostile 'cat of many' 'cat ' 'a=b:c@d ' ''
hostile 'options' 'kubectl ' '--a=b ' ''
hostile 'xargs' 'echo ' 'a ' '| xargs rm -rf'
hostile 'base64 -d | sh' 'echo ' 'YWFh' ' | base64 -d | sh'
hostile 'python' 'python3 -c "' "os.system('ls');" '"'
hostile 'awk' "awk '" '{system("ls")}' "'"
hostile 'folders' '' 'cd aaaa/bbbb;rm x;' ''
hostile 'honest lines' '' "git add -A && git commit -m 'a b' && npm test 2>&1 | tail -5${nl}" ''
