# `agentbox run` as a person or a script sees it: exit status, streams,
# signals, arguments, errors.
# root: root starts in another way
# asan-root: what root does differs
load helpers

# Start agentbox in the background with default signal dispositions (a shell
# makes a background job ignore SIGINT and SIGQUIT); its pid in $pid, output
# in $TEST_DIR/out.
start()
{
	env --default-signal=INT,QUIT,HUP,TERM,USR1,USR2,PIPE \
		timeout --foreground --kill-after=5 60 \
		env --default-signal "$AGENTBOX" run "$@" \
		</dev/null >"$TEST_DIR/out" 2>&1 3>&- &
	timeout_pid=$!
	wait_for 90 has_child "$timeout_pid"
	pid=$(child_of "$timeout_pid")
}

child_of()
{
	cat "/proc/$1/task/$1/children" 2>/dev/null | awk '{ print $1 }'
}

has_child()
{
	local child
	child=$(child_of "$1")
	[ -n "$child" ] && [ "$(tr -d '\0' <"/proc/$child/comm")" = agentbox ]
}

# The status of what start() started.
finish()
{
	status=0
	wait "$timeout_pid" || status=$?
	output=$(cat "$TEST_DIR/out")
	printf '%s\n[status %s]\n' "$output" "$status"
}

said()
{
	grep -q -- "$1" "$TEST_DIR/out"
}

state_of()
{
	sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status"
}

is_state()
{
	[ "$(state_of "$1")" = "$2" ]
}

# agentbox for a command that is not found; bats wants to be told.
missing()
{
	run -127 timeout --kill-after=5 60 "$AGENTBOX" "$@"
	printf '$ agentbox %s\n%s\n' "$*" "$output"
}

no_control_bytes()
{
	! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' <<<"$1" || false
}

@test "run: the exit status of the command is ours" {
	local n

	for n in 0 1 2 7 42 123 255; do
		agentbox run -- sh -c "exit $n"
		[ "$status" -eq "$n" ]
	done
}

@test "run: a caller that ignores SIGCHLD gets the status too" {
	run timeout 60 env --ignore-signal=CHLD "$AGENTBOX" run -- sh -c 'sleep 0.1; exit 7'
	echo "$output"
	[ "$status" -eq 7 ]
}

@test "run: a command killed by signal n gives 128+n" {
	local sig

	for sig in 1 2 6 9 11 15; do
		agentbox run -- sh -c "kill -$sig \$\$"
		[ "$status" -eq $((128 + sig)) ]
	done
}

@test "run: 124 when the time is up, and TERM comes first" {
	agentbox_split run --timeout 5s -- sh -c '
		trap "echo told; exit 3" TERM
		while :; do sleep 0.05; done 2>/dev/null'
	[ "$status" -eq 124 ]
	[ "$output" = told ]
}

@test "run: what ignores TERM is killed after a grace period" {
	local begun limit

	# On a slow machine the time may be up before the shell ignores the signal.
	for limit in 1 5 25; do
		begun=$SECONDS
		agentbox run --timeout "${limit}s" -- sh -c 'trap "" TERM; touch deaf; while :; do sleep 0.1; done'
		[ "$status" -eq 124 ]
		[ ! -e deaf ] || break
	done
	[ -e deaf ]
	[ $((SECONDS - begun)) -ge 4 ]
	[ $((SECONDS - begun)) -le 100 ]
}

@test "run: a stopped command is ended by the time limit too" {
	agentbox run --timeout 300ms -- sh -c 'kill -STOP $$'
	[ "$status" -eq 124 ]
}

@test "run: a command that is done before its time is up keeps its status" {
	agentbox run --timeout 30s -- sh -c 'exit 5'
	[ "$status" -eq 5 ]
}

@test "run: 127 for what does not exist, 126 for what is no program" {
	missing run -- no-such-program-anywhere
	[[ "$output" == *no-such-program-anywhere* ]]
	missing run -- ./nowhere
	missing run -- ''
	echo text >plain
	agentbox run -- ./plain
	[ "$status" -eq 126 ]
	agentbox run -- /
	[ "$status" -eq 126 ]
	agentbox run -- "$(printf 'x%.0s' {1..5000})"
	[ "$status" -eq 126 ]
	printf '#!/bin/no-such-interpreter\n' >script
	chmod +x script
	missing run -- ./script
	# The same names, when they are programs.
	cp /bin/true plain && chmod +x plain
	agentbox run -- ./plain
	[ "$status" -eq 0 ]
}

@test "run: 125 for every mistake on the command line, with the way out" {
	agentbox run
	[ "$status" -eq 125 ]
	[[ "$output" == *"no command"* ]]
	agentbox run --tiemout 3 -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"did you mean --timeout"* ]]
	agentbox run --timeout
	[ "$status" -eq 125 ]
	[[ "$output" == *"needs a value"* ]]
	agentbox run --timeout=5x -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *5x* ]]
	agentbox run --read-only=yes -- true
	[ "$status" -eq 125 ]
	agentbox run -Z -- true
	[ "$status" -eq 125 ]
	agentbox run --fd x -- true
	[ "$status" -eq 125 ]
	agentbox run --fd 77 -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *77* ]]
	agentbox run --net sideways -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *sideways* ]]
	agentbox run --processes -3 -- true
	[ "$status" -eq 125 ]
	agentbox run --memory lots -- true
	[ "$status" -eq 125 ]
}

@test "run: 125 for a profile, a file or a workspace that is not there" {
	agentbox run --profile nosuch -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *nosuch* ]]
	agentbox run --config nosuch.json -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *nosuch.json* ]]
	agentbox run --workspace "$TEST_DIR/nosuch" -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *nosuch* ]]
	touch afile
	agentbox run --workspace afile -- true
	[ "$status" -eq 125 ]
	mkdir folder
	agentbox run --workspace folder --profile read-only -- true
	[ "$status" -eq 0 ]
}

@test "run: bad JSON is refused with its place" {
	printf '{\n  "filesystem": {\n    "write": [ }\n' >bad.json
	agentbox run --config bad.json -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *bad.json:3* ]]
	printf '{ "filesystem": { "wriet": ["."] } }' >bad.json
	agentbox run --config bad.json -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *wriet* ]]
	[[ "$output" == *write* ]]
	printf '{ "filesystem": { "write": ["."] } }' >good.json
	agentbox run --config good.json -- touch made
	[ "$status" -eq 0 ]
	[ -e made ]
}

@test "run: a state folder that cannot be used is refused and named" {
	chmod 777 "$TEST_DIR"
	mkdir "$TEST_DIR/shared"
	chmod 777 "$TEST_DIR/shared"
	AGENTBOX_STATE=$TEST_DIR/shared agentbox run -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *"$TEST_DIR/shared"* ]]
	[[ "$output" == *AGENTBOX_STATE* ]]
	touch "$TEST_DIR/file"
	AGENTBOX_STATE=$TEST_DIR/file agentbox run -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *"$TEST_DIR/file"* ]]
	AGENTBOX_STATE=/proc/nowhere agentbox run -- touch made
	[ "$status" -eq 125 ]
	[ ! -e made ]
	AGENTBOX_STATE=$TEST_DIR/new/one agentbox run -- touch made
	[ "$status" -eq 0 ]
	[ -e made ]
	[ "$(stat -c %a "$TEST_DIR/new/one")" = 700 ]
}

@test "run: a state folder without write permission is refused" {
	only_user
	mkdir -m 500 "$TEST_DIR/closed"
	AGENTBOX_STATE=$TEST_DIR/closed agentbox run -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *"$TEST_DIR/closed"* ]]
	[ ! -e made ]
}

@test "run: messages never carry control bytes of their arguments" {
	local evil=$'x\e[31m\rY\x07\x9b'

	agentbox run "--$evil" -- true
	no_control_bytes "$output"
	agentbox run "-$evil" -- true
	no_control_bytes "$output"
	agentbox run --profile "$evil" -- true
	no_control_bytes "$output"
	agentbox run --config "$evil" -- true
	no_control_bytes "$output"
	agentbox run --workspace "$evil" -- true
	no_control_bytes "$output"
	agentbox run --fd "$evil" -- true
	no_control_bytes "$output"
	agentbox run --require "$evil" -- true
	no_control_bytes "$output"
	agentbox run --net "$evil" -- true
	no_control_bytes "$output"
	agentbox run --write "$evil" -- true
	no_control_bytes "$output"
	agentbox run --allow-unix "$evil" -- true
	no_control_bytes "$output"
	agentbox run -c true "$evil"
	no_control_bytes "$output"
	missing run -- "$evil"
	no_control_bytes "$output"
	agentbox "$evil"
	no_control_bytes "$output"
	mkdir "$evil"
	cd "$evil"
	printf '{ "bad": 1 }' >.agentbox.json
	agentbox run -- true
	[ "$status" -eq 125 ]
	no_control_bytes "$output"
}

@test "run: -c gives the text to a shell, --shell chooses which" {
	agentbox run -c 'echo $((40 + 2)) | cat'
	[ "$status" -eq 0 ]
	[ "$output" = 42 ]
	agentbox run --shell /bin/bash -c 'a=(x y); echo "${#a[@]}"'
	[ "$output" = 2 ]
	missing run --shell /bin/no-such-shell -c true
	[[ "$output" == */bin/no-such-shell* ]]
	agentbox run -c 'exit 9'
	[ "$status" -eq 9 ]
	agentbox run -c ''
	[ "$status" -eq 0 ]
}

@test "run: words after the text of -c are its \$0, \$1, as for sh" {
	local way
	for way in "sh -c" "$AGENTBOX run --yes -c" "$AGENTBOX run --yes --shell /bin/bash -c"; do
		run timeout 60 $way 'printf "%s|" "$0" "$@"; exit 4' name 'a b' '' '*' -x --net 3>&-
		[ "$status" -eq 4 ]
		[ "$output" = "name|a b||*|-x|--net|" ]
	done
	agentbox exec -c 'echo "$1"' name word
	[ "$status" -eq 0 ]
	jq -e '.stdout == "word\n"' <<<"$output"
	# They are judged as the same words of a shell are.
	agentbox check -- sh -c 'rm -rf "$1"' sh /
	[ "$status" -eq 4 ]
	run setsid -w timeout 60 "$AGENTBOX" run -c 'rm -rf "$1"' sh / </dev/null 3>&-
	[ "$status" -eq 126 ]
}

@test "run: --cwd starts the command in that folder, and decides about nothing else" {
	mkdir -p sub/deep "$HOME/other" "$HOME/.ssh"
	agentbox run --cwd sub/deep -- sh -c 'pwd; echo x >../../made && echo written'
	[ "$status" -eq 0 ]
	[ "$output" = "$WORKSPACE/sub/deep"$'\nwritten' ]
	# Seen, and not the workspace.
	agentbox run --cwd "$HOME/other" -- sh -c "pwd; echo x >$WORKSPACE/made && echo written"
	[ "$output" = "$HOME/other"$'\nwritten' ]
	agentbox run --read-only --cwd "$HOME/other" -- sh -c 'echo x >made'
	[ "$status" -ne 0 ]
	agentbox run --workspace "$HOME/other" --cwd "$HOME/other" -- sh -c 'pwd; echo x >made'
	[ "$status" -eq 0 ]
	[ -e "$HOME/other/made" ]
	ln -s ../other link
	agentbox exec --cwd link -- pwd
	jq -e --arg home "$HOME" '.cwd == $home + "/other" and .stdout == $home + "/other\n"' <<<"$output"
	agentbox run --cwd /tmp -- pwd
	[ "$output" = /tmp ]
	agentbox run --keep --name stays --cwd sub -- pwd
	[ "${lines[-1]}" = "$WORKSPACE/sub" ]
	agentbox run --in stays --cwd sub -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"--cwd: it belongs to the box"* ]]
	agentbox stop stays
}

@test "run: --cwd into what the box does not see is refused" {
	mkdir -p plans/sub
	agentbox run -- true
	for folder in "$AGENTBOX_STATE" plans plans/sub; do
		agentbox run --deny-read plans --cwd "$folder" -- pwd
		[ "$status" -eq 125 ]
		[[ "$output" == *"cannot start in "*": the box does not see this folder"* ]]
	done
	agentbox run --cwd plans -- pwd
	[ "$output" = "$WORKSPACE/plans" ]
	# A private folder hides what the host has in it.
	inner=$(mktemp -d /tmp/inner.XXXXXX)
	agentbox run --cwd "$inner" -- pwd
	rmdir "$inner"
	[ "$status" -eq 125 ]
	[[ "$output" == *"does not see this folder"* ]]
}

@test "run: options end at the command, with or without --" {
	agentbox run echo --timeout -v -- x
	[ "$output" = "--timeout -v -- x" ]
	agentbox run -- /bin/sh -c 'echo "$1"' --help --version
	[ "$output" = --version ]
	agentbox run --timeout 20s -- echo -- a
	[ "$output" = "-- a" ]
}

@test "run: arguments arrive byte by byte" {
	local long

	agentbox_split run -- printf '<%s>' a '' 'b  c' $'x\ny' $'\xff\xfe\x01' '*' '$HOME' "'"
	[ "$status" -eq 0 ]
	[ "$output" = $'<a><><b  c><x\ny><\xff\xfe\x01><*><$HOME><\'>' ]
	long=$(head -c 100000 /dev/zero | tr '\0' a)
	run "$AGENTBOX" run -- sh -c 'printf %s "$1" | wc -c' sh "$long"
	[ "$output" = 100000 ]
	run bash -c '"$AGENTBOX" run -- sh -c "echo \$#" sh $(seq 20000)'
	[ "$output" = 20000 ]
}

@test "run: a program is found along PATH as a shell finds it" {
	mkdir first second
	printf '#!/bin/sh\necho first\n' >first/tool
	printf '#!/bin/sh\necho second\n' >second/tool
	chmod +x second/tool
	# Not executable, so the next one counts.
	PATH=$PWD/first:$PWD/second:$PATH agentbox run -- tool
	[ "$output" = second ]
	chmod +x first/tool
	PATH=$PWD/first:$PWD/second:$PATH agentbox run -- tool
	[ "$output" = first ]
	chmod -x first/tool second/tool
	PATH=$PWD/first:$PWD/second:$PATH agentbox run -- tool
	[ "$status" -eq 126 ]
	PATH=$PWD/nowhere:$PATH missing run -- tool
	# An empty element is the current folder.
	printf '#!/bin/sh\necho here\n' >tool
	chmod +x tool
	PATH=/nowhere::/usr/bin:/bin agentbox run -- tool
	[ "$output" = here ]
}

@test "run: a script without #! is the shell's, with its arguments" {
	printf 'echo "$# $1 $2"\n' >script
	chmod +x script
	agentbox run -- ./script
	[ "$output" = "0  " ]
	agentbox run -- ./script a 'b c'
	[ "$output" = "2 a b c" ]
	mkdir bin
	mv script bin/
	PATH=$PWD/bin:$PATH agentbox run -- script x y
	[ "$status" -eq 0 ]
	[ "$output" = "2 x y" ]
}

@test "run: pipes carry large data both ways, unchanged" {
	head -c 20000000 /dev/urandom >"$TEST_DIR/data"
	sum=$(sha256sum <"$TEST_DIR/data")
	run bash -c 'cat "$0/data" | "$AGENTBOX" run -- cat | sha256sum' "$TEST_DIR"
	[ "$output" = "$sum" ]
	"$AGENTBOX" run -- cat <"$TEST_DIR/data" >"$TEST_DIR/copy"
	cmp "$TEST_DIR/data" "$TEST_DIR/copy"
	run bash -c 'cat "$0/data" | "$AGENTBOX" run -- sh -c "cat >&2" 2>&1 >/dev/null | sha256sum' "$TEST_DIR"
	[ "$output" = "$sum" ]
}

@test "run: the three streams stay apart, and files can be appended to" {
	echo in | "$AGENTBOX" run -- sh -c 'cat; echo err >&2' >out 2>err
	[ "$(cat out)" = in ]
	[ "$(cat err)" = err ]
	"$AGENTBOX" run -- echo more >>out
	[ "$(cat out)" = $'in\nmore' ]
	# A redirected file outside every writable root: by its descriptor, and
	# opened again by name, for what the caller opened it.
	"$AGENTBOX" run -- sh -c 'echo one; echo two >/dev/stdout' >"$TEST_DIR/outside"
	[ "$(wc -l <"$TEST_DIR/outside")" -ge 1 ]
	run "$AGENTBOX" run -- sh -c 'echo x >/dev/stdin' <"$TEST_DIR/outside"
	[ "$status" -ne 0 ]
	run "$AGENTBOX" run -- sh -c 'wc -l </dev/stdin' <"$TEST_DIR/outside"
	[ "$status" -eq 0 ]
}

@test "run: closed standard streams are /dev/null inside, never a file of ours" {
	run bash -c '"$AGENTBOX" run -- bash -c "readlink /proc/\$\$/fd/0; cat" <&-'
	[ "$status" -eq 0 ]
	[ "$output" = /dev/null ]
	run bash -c '"$AGENTBOX" run -- bash -c "readlink /proc/\$\$/fd/1 >&2; echo lost" >&-'
	[ "$status" -eq 0 ]
	[ "$output" = /dev/null ]
	run bash -c '"$AGENTBOX" run -- bash -c "readlink /proc/\$\$/fd/2; echo lost >&2" 2>&-'
	[ "$status" -eq 0 ]
	[ "$output" = /dev/null ]
	bash -c '"$AGENTBOX" run -- sh -c "ls /proc/self/fd >fds; exit 4" <&- >&- 2>&-' || status=$?
	[ "$status" -eq 4 ]
	[ "$(tr '\n' ' ' <fds)" = "0 1 2 3 " ]
}

@test "run: a descriptor that is not open is refused, whatever we open ourselves" {
	local n
	# Some of these numbers are those of our own files by then.
	for n in 5 6 7 8 9 10 11 13 15; do
		run --separate-stderr bash -c 'exec 3>&- 4>&-; for i in {5..40}; do eval "exec $i>&-"; done
			exec "$@"' - "$AGENTBOX" run --result "$TEST_DIR/result" --fd "$n" -- true
		[ "$status" -eq 125 ]
		[[ "$stderr" == *"--fd $n: this descriptor is not open"* ]]
		jq -e --arg n "$n" '.error | contains("--fd \($n)")' "$TEST_DIR/result"
		run --separate-stderr bash -c 'exec 3>&- 4>&-; for i in {5..40}; do eval "exec $i>&-"; done
			exec "$@"' - "$AGENTBOX" run --audit "$n" -- true
		[ "$status" -eq 125 ]
		[[ "$stderr" == *"--audit $n: this descriptor is not open"* ]]
	done
	# The twin: the same numbers, open.
	run --separate-stderr bash -c 'exec 5</dev/null 6>/dev/null; exec "$@"' - "$AGENTBOX" run --fd 5 --audit 6 -- \
		sh -c 'cat <&5 && echo read'
	[ "$output" = read ]
}

@test "run: nothing is inherited but 0-2 and what --fd names" {
	exec 7<"$ROOT/README.md" 8</dev/null
	# 3 is the folder that ls itself reads.
	agentbox run -- ls -x /proc/self/fd
	[ "$(echo $output)" = "0 1 2 3" ]
	agentbox run --fd 7 -- sh -c 'ls -x /proc/self/fd; head -c 1 <&7 | wc -c'
	[ "$(echo $output)" = "0 1 2 3 7 1" ]
	exec 7<&- 8<&-
}

@test "run: a folder as a descriptor is refused" {
	exec 7<"$HOME"
	agentbox run --fd 7 -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *folder* ]]
	exec 7<&-
	run bash -c '"$AGENTBOX" run -- true <"$HOME"'
	[ "$status" -eq 125 ]
}

@test "run: a background child left behind does not delay the end" {
	local begun=$SECONDS

	run bash -c 'x=$("$AGENTBOX" run -- sh -c "sleep 300 & echo done"); echo "<$x>"'
	[ "$output" = "<done>" ]
	run bash -c '"$AGENTBOX" run -- sh -c "setsid sleep 300 & echo done" | cat'
	[ "$output" = done ]
	agentbox run -- sh -c 'nohup sleep 300 >/dev/null 2>&1 & exit 6'
	[ "$status" -eq 6 ]
	[ $((SECONDS - begun)) -lt 200 ]
}

@test "run: a reader that goes away ends the writer as in a plain pipe" {
	run bash -c '"$AGENTBOX" run -- yes | head -n 1; echo "${PIPESTATUS[*]}"'
	[ "$output" = $'y\n141 0' ]
	# A shell with a closed pipe sees the same inside.
	run bash -c '"$AGENTBOX" run -- sh -c "yes | head -n 1; echo end"'
	[ "$output" = $'y\nend' ]
}

@test "run: TERM INT HUP QUIT USR1 USR2 WINCH reach the command" {
	local sig

	for sig in TERM INT HUP QUIT USR1 USR2 WINCH; do
		start -- sh -c "trap 'echo got-$sig; exit 9' $sig; echo ready
			while :; do sleep 0.05; done 2>/dev/null"
		wait_for 90 said ready
		kill "-$sig" "$pid"
		finish
		[ "$status" -eq 9 ]
		[[ "$output" == *"got-$sig"* ]]
	done
}

@test "run: a signal that the command does not handle ends it as usual" {
	local sig

	for sig in TERM INT HUP QUIT USR1; do
		start -- sh -c 'echo ready; exec sleep 300'
		wait_for 90 said ready
		kill "-$sig" "$pid"
		finish
		[ "$status" -eq $((128 + $(kill -l "$sig"))) ]
	done
}

@test "run: signals that the caller ignores stay ignored inside" {
	local before

	# What the test runner itself ignores is there in any case.
	run env --default-signal=HUP,INT "$AGENTBOX" run -- \
		sh -c 'exec sed -n "s/^SigIgn:[[:space:]]*/0x/p" /proc/self/status'
	before=$output
	[ $((before & 3)) -eq 0 ]
	run env --ignore-signal=HUP,INT "$AGENTBOX" run -- \
		sh -c 'exec sed -n "s/^SigIgn:[[:space:]]*/0x/p" /proc/self/status'
	[ $((output)) -eq $((before | 3)) ]
	run bash -c 'exec "$AGENTBOX" run -- grep SigBlk /proc/self/status'
	[[ "$output" == *0000000000000000 ]]
}

@test "run: without a terminal TSTP stops command and supervisor, CONT goes on" {
	# It forks nothing: a stop between vfork and exec stops only the child.
	mkfifo go
	start -- sh -c 'echo ready; read x <go; echo end'
	wait_for 90 said ready
	kill -TSTP "$pid"
	wait_for 90 is_state "$pid" T
	init=$(child_of "$pid")
	shell=$(child_of "$init")
	wait_for 90 is_state "$shell" T
	kill -CONT "$pid"
	wait_for 90 is_state "$pid" S
	timeout 240 sh -c 'echo on >go'
	finish
	[ "$status" -eq 0 ]
	[[ "$output" == *end ]]
}

@test "run: the current folder and the umask are kept" {
	mkdir -p deep/er
	cd deep/er
	umask 027
	agentbox run -- sh -c 'pwd; umask; touch made'
	[ "${lines[0]}" = "$WORKSPACE/deep/er" ]
	[ "${lines[1]}" = 0027 ]
	[ "$(stat -c %a made)" = 640 ]
	umask 022
}

@test "run: / and the home folder are no implicit workspace, by name they are" {
	cd "$HOME"
	agentbox run -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *--workspace* ]]
	[ ! -e made ]
	cd /
	agentbox run -- true
	[ "$status" -eq 125 ]
	cd "$HOME"
	agentbox run --workspace . -- touch made
	[ "$status" -eq 0 ]
	[ -e made ]
}

@test "run: a current folder that was removed is said" {
	mkdir gone
	cd gone
	rmdir ../gone
	agentbox run -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *folder* ]]
	cd "$WORKSPACE"
}

@test "run: two runs in one folder do not disturb each other" {
	start -- sh -c 'echo ready; while [ ! -e go ]; do sleep 0.05; done; echo first'
	wait_for 90 said ready
	agentbox run -- sh -c 'ls /tmp; echo second; touch go'
	[ "$output" = second ]
	finish
	[ "$status" -eq 0 ]
	[[ "$output" == *first ]]
}

@test "run: the record of a run is kept, closed to others" {
	agentbox run -- sh -c 'exit 3'
	[ "$status" -eq 3 ]
	[ "$(find "$AGENTBOX_STATE/live" -mindepth 1 | wc -l)" -eq 0 ]
	record=$(find "$AGENTBOX_STATE/runs" -name audit.jsonl)
	[ "$(stat -c %a "$record")" = 600 ]
	python3 - "$record" <<-'PYTHON'
	import json, sys
	lines = [json.loads(line) for line in open(sys.argv[1])]
	assert [l["kind"] for l in lines] == ["start", "assurance", "end"], lines
	assert lines[0]["command"] == ["sh", "-c", "exit 3"]
	assert lines[2]["status"] == 3
	PYTHON
}

@test "run: a file on fd 0-2 cannot be reopened for more than its mode" {
	echo keep >"$TEST_DIR/outside"
	run "$AGENTBOX" run -- sh -c 'echo x >/proc/self/fd/0' <"$TEST_DIR/outside"
	[ "$status" -ne 0 ]
	run "$AGENTBOX" run -- sh -c 'echo x >>/dev/stdin' <"$TEST_DIR/outside"
	[ "$status" -ne 0 ]
	[ "$(cat "$TEST_DIR/outside")" = keep ]
}
