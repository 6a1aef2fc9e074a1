load helpers

# Boxes that stay: run --keep, run --in, run -d, attach, shell, stop.

teardown()
{
	launch stop --all --grace 0s >/dev/null 2>&1 || true
	box_teardown
}

# keep NAME [OPTION...]: a box that stays.
keep()
{
	local name=$1
	shift
	agentbox run -q --keep --name "$name" "$@" -- true
	[ "$status" -eq 0 ]
}

supervisor_of()
{
	launch ps --json | jq -r ".[] | select(.name == \"$1\") | .pid"
}

# commands NAME: how many commands run in the box
commands()
{
	launch ps --json | jq -r ".[] | select(.name == \"$1\") | .commands | length"
}

box_ended()
{
	[ -z "$(ls "$AGENTBOX_STATE/live")" ]
}

has_commands()
{
	[ "$(commands "$1")" = "$2" ]
}

# bats test_tags=root
@test "keep: the box stays with its processes and its /tmp, and the first status is the command's" {
	need userns
	agentbox run --keep --name dev -- sh -c 'echo one >/tmp/x; sleep 1000 >/dev/null 2>&1 & echo $! >/tmp/pid; exit 3'
	[ "$status" -eq 3 ]
	[[ "$output" == *"box dev stays"* ]]
	agentbox run --in dev -- sh -c 'cat /tmp/x; kill -0 "$(cat /tmp/pid)" && echo alive'
	[ "$status" -eq 0 ]
	[ "$output" = $'one\nalive' ]
	agentbox stop dev
	[ "$status" -eq 0 ]
	agentbox run --in dev -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"no box stays"* ]]
	[ ! -e /tmp/x ] || [ "$(cat /tmp/x)" != one ]
}

# bats test_tags=root
@test "keep: commands may signal each other, and none may signal init" {
	need userns
	keep dev
	agentbox run --in dev -- sh -c 'sleep 1000 >/dev/null 2>&1 & echo $! >/tmp/pid'
	agentbox run --in dev -- sh -c 'kill "$(cat /tmp/pid)" && echo killed'
	[ "$output" = killed ]
	agentbox run --in dev -- sh -c 'kill -KILL 1; kill -0 1; readlink /proc/1/root || echo closed'
	[[ "$output" == *closed* ]]
	agentbox run --in dev -- echo still
	[ "$output" = still ]
}

@test "in: input, output, errors and status are the command's" {
	need userns
	keep dev
	agentbox_split run --in dev -- sh -c 'cat; echo err >&2; exit 5' <<<in
	[ "$status" -eq 5 ]
	[ "$output" = in ]
	[ "$stderr" = err ]
	agentbox run --in dev -- sh -c 'kill -TERM $$'
	[ "$status" -eq 143 ]
	agentbox run --in dev -- nosuchprogram
	[ "$status" -eq 127 ]
	agentbox run --in dev -- ./README
	[ "$status" -eq 127 ]
	echo text >plain
	agentbox run --in dev -- ./plain
	[ "$status" -eq 126 ]
	agentbox run --in dev -c 'echo $((3 + 4))'
	[ "$output" = 7 ]
}

@test "in: files are copied through pipes, and the position in the input is kept" {
	need userns
	keep dev
	printf 'a\nb\nc\n' >in
	{ launch run --in dev -- head -n 1 >out 2>err; cat >rest; } <in
	[ "$(cat out)" = a ]
	[ "$(cat rest)" = "" ] || [ "$(cat rest)" = $'b\nc' ]
	launch run --in dev -- sh -c 'stat -Lc %F /dev/stdin /dev/stdout; echo two >&2' <in >out 2>&1
	[ "$(cat out)" = $'fifo\nfifo\ntwo' ]
	head -c 3000000 /dev/zero >big
	launch run --in dev -- sh -c 'wc -c; head -c 3000000 /dev/zero' <big >out
	[ "$(head -n 1 out)" = 3000000 ]
	[ "$(stat -c %s out)" -eq 3000008 ]
}

# bats test_tags=root
@test "in: a folder and a device of the host are refused, a device of every box is not" {
	need userns
	keep dev
	run launch run --in dev -- true <"$HOME"
	[ "$status" -eq 125 ]
	[[ "$output" == *"standard input is a folder"* ]]
	run launch run --in dev -- wc -c </dev/null
	[ "$output" = 0 ]
	run launch run --in dev -- head -c 3 </dev/zero
	[ "$status" -eq 0 ]
}

@test "in: nothing about the box can be widened" {
	need userns
	keep dev --net blocked
	mkdir "$HOME/other"
	for option in "--write $HOME/other" "--allow example.org" "--net allowed" "--profile claude" \
		"--env A=B" "--fd 5" "--name other" "--workspace $HOME/other"; do
		agentbox run --in dev $option -- true
		[ "$status" -eq 125 ]
		[[ "$output" == *"belongs to the box"* ]]
	done
	# The home folder has a layer.
	agentbox run --in dev -- sh -c "echo x >$HOME/other/f"
	[ ! -e "$HOME/other/f" ]
	agentbox run --in dev -- sh -c "echo x >$HOME/../f"
	[ "$status" -ne 0 ]
	[ ! -e "$HOME/../f" ]
	agentbox run --in dev -- sh -c 'echo x >f'
	[ "$status" -eq 0 ]
	[ "$(cat f)" = x ]
}

# bats test_tags=root
@test "in: the walls are proved again: hidden files, other folders, user namespaces" {
	need userns
	need landlock:1
	mkdir -p "$HOME/.ssh" && echo key >"$HOME/.ssh/id_rsa"
	keep dev
	agentbox run --in dev --yes -- sh -c 'cat ~/.ssh/id_rsa; echo x >~/f; unshare -U true; ls /proc/1/root; true'
	[[ "$output" != *key* ]]
	[ ! -e "$HOME/f" ]
	agentbox run --in dev -- grep -E 'Seccomp:|NoNewPrivs:|CapEff:' /proc/self/status
	[ "$output" = $'CapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2' ]
}

# init_of NAME: the pid of the first process of that box
init_of()
{
	pgrep -P "$(supervisor_of "$1")" -x agentbox-init
}

# bats test_tags=root
@test "in: a command whose guarantee cannot be proved does not start" {
	only_root
	need userns
	need program:strace
	local tracer pid
	local -a pids
	keep dev
	# The leader that waits will start the command; the proof cannot find out its capabilities.
	mapfile -t pids < <(init_of dev; pgrep -P "$(init_of dev)")
	[ "${#pids[@]}" -ge 2 ]
	strace -qqq -f -o "$TEST_DIR/trace" -e trace=capget -e inject=capget:error=EPERM \
		$(printf -- '-p %s ' "${pids[@]}") 3>&- &
	tracer=$!
	for pid in "${pids[@]}"; do
		wait_for 90 grep -qx "TracerPid:.$tracer" "/proc/$pid/status"
	done
	agentbox run --in dev -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *"user-ns"* ]]
	[ ! -e made ]
	grep -q INJECTED "$TEST_DIR/trace"
	kill "$tracer"
	wait "$tracer" || true
	agentbox run --in dev -- touch made
	[ "$status" -eq 0 ]
	[ -e made ]
}

# bats test_tags=root
@test "keep: init of a box that stays is behind the commands' filter" {
	only_root
	need userns
	local init fd
	# walls PID: its capabilities, and how many filters it has
	walls()
	{
		grep -E '^(CapEff|CapPrm|NoNewPrivs|Seccomp_filters):' "/proc/$1/status" | tr -d '\t' | paste -sd' '
	}
	keep dev
	init=$(init_of dev)
	agentbox run --in dev -- sh -c "$(declare -f walls); walls self"
	echo "init: $(walls "$init")"
	[[ "$output" == "CapPrm:0000000000000000 CapEff:0000000000000000 NoNewPrivs:1 Seccomp_filters:"[1-9]* ]]
	[[ "$(walls "$init")" == "CapPrm:0000000000000000 CapEff:0000000000000000 NoNewPrivs:1 Seccomp_filters:"[1-9]* ]]
	# What it holds: sockets, the null device, and no file or folder of anybody.
	for fd in "/proc/$init/fd"/*; do
		[[ "$(readlink "$fd")" =~ ^(socket:|/dev/null$|anon_inode:|pipe:) ]] || { readlink "$fd"; false; }
	done
	[ "$(readlink "/proc/$init/fd"/* | grep -c ^socket:)" -ge 1 ]
	agentbox stop --grace 0s dev
	keep traced --trace-denials
	walls "$(init_of traced)"
	[[ "$(walls "$(init_of traced)")" == "CapPrm:0000000000000000 CapEff:0000000000000000 "*"Seccomp_filters:0" ]]
}

# bats test_tags=root
@test "in: the judge decides about each command, and protected names are refused" {
	need userns
	keep dev
	agentbox run --in dev -- rm -rf /
	[ "$status" -eq 126 ]
	[[ "$output" == *"rule recursive-delete-root"* ]]
	agentbox run --in dev -- git push
	[ "$status" -eq 126 ]
	[[ "$output" == *"needs approval"* ]]
	# Both are in the record, and explained; what is approved is not.
	agentbox why dev
	[[ "$output" == *"-e1 "*"rm -rf /"*"-e2 "*"git push"* ]]
	agentbox log dev
	[[ "$output" == *"denied  "*"rm -rf /"* ]]
	agentbox run --in dev --yes -- git push
	[ "$status" -eq 128 ]
	agentbox run --in dev --yes -- sh -c 'echo x >.envrc'
	[ "$status" -ne 0 ]
	[ ! -e .envrc ]
	agentbox run --in dev -- sh -c 'echo x >plain && cat plain'
	[ "$output" = x ]
}

@test "in: what a command was denied is told at its end, once, with the command that explains it" {
	need userns
	git init -q .
	keep dev
	agentbox run --in dev -- sh -c 'curl -sS https://files.example.com/x; :'
	[ "$status" -eq 0 ]
	[[ "${lines[-1]}" =~ ^"agentbox: 1 denial in this box; ".*": agentbox why "([a-z0-9]+)$ ]]
	agentbox why "${BASH_REMATCH[1]}"
	[[ "$output" == *"files.example.com:443  not on the allow list"* ]]
	agentbox run --in dev --yes -- sh -c 'echo x >.git/hooks/pre-commit; git config alias.x y; :'
	[[ "${lines[-1]}" == "agentbox: 2 denials in this box; "* ]]
	agentbox why dev
	[[ "$output" == *"/.git/hooks/pre-commit"*"/.git/config  alias.x "* ]]
	# The twin: nothing is denied, and nothing is told again.
	agentbox run --in dev -- sh -c 'echo x >plain && cat plain'
	[ "$output" = x ]
}

@test "in: commands.enforce children applies to each command" {
	need userns
	need kernel:5.5
	echo '{ "commands": { "enforce": "children" } }' >conf.json
	keep dev --config "$PWD/conf.json"
	printf '#!/bin/sh\ngit push\n' >s.sh && chmod +x s.sh
	agentbox run --in dev -- ./s.sh
	[[ "$output" == *"not permitted"* || "$output" == *"Permission denied"* ]]
	agentbox run --in dev -- sh -c 'echo fine'
	[ "$output" = fine ]
}

@test "in: the environment follows the box's rules, and its own variables stay" {
	need userns
	keep dev --allow example.org --env ONLY=box
	run env MY=mine AWS_SECRET_ACCESS_KEY=geheim HTTP_PROXY=http://evil:1 ONLY=mine \
		"$AGENTBOX" run --in dev -- sh -c 'echo "$MY $ONLY ${AWS_SECRET_ACCESS_KEY-none} $HTTP_PROXY"' 3>&-
	[ "$output" = "mine box none http://127.0.0.1:61080" ]
}

@test "in: a box with secrets gives its own environment" {
	need userns
	KEY=sk-ant-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
	ANTHROPIC_API_KEY=$KEY agentbox run -q --keep --name dev --secret ANTHROPIC_API_KEY -- true
	[ "$status" -eq 0 ]
	run env ANTHROPIC_API_KEY=$KEY COPY=$KEY TERM=vt100 "$AGENTBOX" run --in dev -- env 3>&-
	[ "$status" -eq 0 ]
	[[ "$output" != *"$KEY"* ]]
	[[ "$output" == *"ANTHROPIC_API_KEY="* ]]
	[[ "$output" == *"TERM=vt100"* ]]
}

@test "in: the folder is the caller's if the box has it, else the box's" {
	need userns
	keep dev
	mkdir sub
	agentbox run --in dev -- pwd
	[ "$output" = "$WORKSPACE" ]
	cd sub
	agentbox run --in dev -- pwd
	[ "$output" = "$WORKSPACE/sub" ]
	mkdir -p "$TEST_DIR/home/.ssh" && cd "$TEST_DIR/home/.ssh"
	agentbox run --in dev -- pwd
	[ "$status" -eq 0 ]
	[[ "$output" == "$WORKSPACE" || "$output" == "$PWD" ]]
}

@test "in: two clients at once both work" {
	need userns
	keep dev
	launch run --in dev -- sh -c 'touch a; while [ ! -e b ]; do sleep 0.05; done; echo first' >one &
	local first=$!
	launch run --in dev -- sh -c 'touch b; while [ ! -e a ]; do sleep 0.05; done; echo second' >two &
	wait $!
	wait $first
	[ "$(cat one two)" = $'first\nsecond' ]
}

@test "in: an unknown name lists the boxes that stay, and a run that does not stay says so" {
	need userns
	keep dev
	agentbox run --in nope -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"no run named nope"* ]]
	[[ "$output" == *"boxes that stay: dev"* ]]
	launch run --name plain -- sh -c 'touch here; while [ ! -e go ]; do sleep 0.05; done' &
	wait_for 90 test -e here
	agentbox run --in plain -- true
	touch go
	wait $!
	[ "$status" -eq 125 ]
	[[ "$output" == *"ends with its command"* ]]
}

@test "keep: a name that is taken, and a box within a box, are refused" {
	need userns
	keep dev
	agentbox run --keep --name dev -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"already named dev"* ]]
	agentbox run --net blocked -- "$AGENTBOX" run --keep -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"inside a box"* ]]
	agentbox run --net blocked -- "$AGENTBOX" run --in dev -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"inside a box"* ]]
}

@test "keep: the client dies: its command gets HUP and the box stays" {
	need userns
	keep dev
	"$AGENTBOX" run --in dev -- sh -c 'trap "echo hup >got; exit 0" HUP; touch up; while :; do sleep 0.05; done' </dev/null >/dev/null 2>&1 3>&- &
	wait_for 90 test -e up
	wait_for 90 has_commands dev 1
	kill -KILL $!
	wait_for 90 test -s got
	wait_for 90 has_commands dev 0
	agentbox run --in dev -- echo still
	[ "$output" = still ]
}

@test "keep: the supervisor dies: the box ends and the client says so with 125" {
	need userns
	keep dev
	launch run --in dev -- sh -c 'touch up; sleep 1000' >out 2>&1 &
	wait_for 90 test -e up
	kill -KILL "$(supervisor_of dev)"
	status=0
	wait $! || status=$?
	[ "$status" -eq 125 ]
	grep -q "box dev has ended: its supervisor died" out
	wait_for 90 box_ended
	agentbox ps
	[[ "$output" == *"no active runs"* ]]
}

@test "stop: commands get TERM, and those that ignore it KILL" {
	need userns
	keep dev
	launch run --in dev -- sh -c 'trap "exit 9" TERM; touch up1; while :; do sleep 0.05; done' &
	local soft=$! status1=0 status2=0
	launch run --in dev -- sh -c 'trap "" TERM; touch up2; while :; do sleep 0.05; done' &
	local hard=$!
	wait_for 90 test -e up1 -a -e up2
	agentbox stop dev --grace 3s
	[ "$status" -eq 0 ]
	wait $soft || status1=$?
	wait $hard || status2=$?
	[ "$status1" -eq 9 ]
	[ "$status2" -eq 137 ]
}

@test "keep: the time limit of the box ends its commands with 124" {
	need userns
	local limit

	# On a slow machine the box may end before the second command begins.
	for limit in 2 10 60; do
		agentbox run -q --keep --name dev --timeout "${limit}s" -- true
		agentbox run --in dev -- sleep 1000
		[ "$status" -ne 124 ] || break
		wait_for 90 box_ended
	done
	[ "$status" -eq 124 ]
	wait_for 90 box_ended
}

@test "keep: an idle box ends, a busy one does not" {
	need userns
	local idle

	# On a slow machine the box may end before the second command begins.
	for idle in 1 5 30; do
		keep dev --idle "${idle}s"
		agentbox run --in dev -- sleep "$((idle + 1))"
		[ "$status" -ne 0 ] || break
		wait_for 90 box_ended
	done
	[ "$status" -eq 0 ]
	wait_for 90 box_ended
	agentbox run --idle 1s -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"--idle needs --keep"* ]]
}

@test "keep: the record names each command; ps shows what runs" {
	need userns
	keep dev
	launch run --in dev -- sh -c 'touch up; while [ ! -e go ]; do sleep 0.05; done; exit 4' &
	wait_for 90 test -e up
	agentbox ps --json
	jq -e '.[0] | .stays and .commands[0].number == 2 and .commands[0].command[0] == "sh" and
		.commands[0].attached and (.commands[0].detached | not)' <<<"$output"
	agentbox ps
	[[ "$output" == *"(stays) true"* ]]
	[[ "$output" == *$'\n  2  '*"sh -c"* ]]
	touch go
	wait $! || true
	agentbox log dev --json
	jq -se 'map(select(.kind == "command" and .number == 2)) | length == 1' <<<"$output"
	jq -se 'map(select(.kind == "ended" and .number == 2 and .status == 4)) | length == 1' <<<"$output"
	agentbox log dev
	[[ "$output" == *"2: sh -c"* ]]
}

@test "detach: the command runs in the background, its output is kept and bounded" {
	need userns
	echo '{ "limits": { "output": "64K" } }' >conf.json
	agentbox_split run -d --name job --config "$PWD/conf.json" -- sh -c 'test -t 0 && echo a terminal
		i=0; while [ $i -lt 2000 ]; do echo "line $i ...................................."; i=$((i+1)); done
		touch done; while [ ! -e go ]; do sleep 0.05; done; exit 6'
	[ "$status" -eq 0 ]
	[ "$output" = job ]
	wait_for 90 test -e done
	dir=$AGENTBOX_STATE/live/$(run_id)
	wait_for 90 grep -q "line 1999 " "$dir/output"
	[ "$(cat "$dir"/output* | wc -c)" -le 80000 ]
	launch attach job </dev/null >out 2>&1 &
	wait_for 90 grep -q "line 1999 " out
	touch go
	status=0
	wait $! || status=$?
	[ "$status" -eq 6 ]
	wait_for 90 box_ended
	# After the end: what was kept, and how it ended.
	agentbox_split attach job
	[ "$status" -eq 6 ]
	[[ "$output" == *"line 1999 "* ]]
	[[ "$stderr" =~ "the command of job has ended ("[0-9]{4}-[0-9]{2}-[0-9]{2}\ [0-9:]{8}") with status 6" ]]
	agentbox run -d -- nosuchprogram
	[ "$status" -eq 127 ]
}

@test "detach: further commands work in the box; with --keep it outlives its command" {
	need userns
	agentbox run -q -d --keep --name job -- sh -c 'while [ ! -e go ]; do sleep 0.05; done'
	agentbox run --in job -- sh -c 'touch go; echo in'
	[ "$output" = in ]
	wait_for 90 has_commands job 0
	agentbox run --in job -- echo still
	[ "$output" = still ]
	agentbox attach job
	[ "$status" -eq 0 ]
	[[ "$output" == *"the command of job has ended"*"with status 0" ]]
	agentbox attach -q job
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "attach: after the end, output that was rotated comes in order, and a terminal gets it filtered" {
	need userns
	need program:script
	echo '{ "limits": { "output": "64K" } }' >conf.json
	agentbox run -q -d --name job --config "$PWD/conf.json" -- sh -c 'seq -f "line %05g" 1 5000
		printf "\033]52;c;c3RvbGVu\007\033[31mthe end\n"; exit 3'
	wait_for 90 box_ended
	agentbox_split attach job
	[ "$status" -eq 3 ]
	[[ "$output" == *$'\033]52;'* ]]
	tr -d '\r' <<<"$output" | grep '^line' >got
	sort -c got
	[ "$(tail -1 got)" = "line 05000" ]
	[ "$(wc -l <got)" -gt 2500 ]
	# The last of it, without what does more than control the screen.
	status=0
	timeout 60 script -qec "$AGENTBOX attach job" typescript </dev/null >/dev/null 3>&- || status=$?
	[ "$status" -eq 3 ]
	grep -q "line 05000" typescript
	[ "$(grep -c "line 00001" typescript)" -eq 0 ]
	grep -q $'\033\[31mthe end' typescript
	[ "$(grep -c $'\033]52' typescript)" -eq 0 ]
	grep -q "has ended" typescript
}

@test "attach: without such a box or command it fails with 125, as run does" {
	need userns
	agentbox attach
	[ "$status" -eq 125 ]
	agentbox attach nosuchbox
	[ "$status" -eq 125 ]
	[[ "$output" == *"no run named nosuchbox"* ]]
	agentbox attach one two
	[ "$status" -eq 125 ]
	agentbox attach --nosuchoption
	[ "$status" -eq 125 ]
	agentbox run -q --name once -- true
	agentbox attach once
	[ "$status" -eq 125 ]
	keep dev
	agentbox attach dev
	[ "$status" -eq 125 ]
	[[ "$output" == *"no detached command"* ]]
	keep other
	agentbox attach
	[ "$status" -eq 125 ]
	[[ "$output" == *"more than one box stays; choose one: "* ]]
}

@test "attach: the end of a box that was killed is not made up" {
	need userns
	agentbox run -q -d --name job -- sh -c 'echo begun; sleep 1000'
	wait_for 90 grep -q begun "$AGENTBOX_STATE/live/$(run_id)/output"
	kill -KILL "$(supervisor_of job)"
	wait_for 90 box_ended
	agentbox attach job
	[ "$status" -eq 125 ]
	[[ "$output" == *begun*"the box of job was killed; the end of its command is not known" ]]
}

@test "attach: without a name it uses the only box, and says which" {
	need userns
	agentbox run -q -d --name job -- sh -c 'echo begun; while [ ! -e go ]; do sleep 0.05; done; exit 5'
	launch attach </dev/null >out 2>&1 &
	wait_for 90 grep -q begun out
	touch go
	status=0
	wait $! || status=$?
	[ "$status" -eq 5 ]
	grep -q "^agentbox: using box job" out
	wait_for 90 box_ended
}

@test "stop: says how many changes wait, and what to do with them; nothing if there are none" {
	need userns
	keep dev --review
	agentbox run --in dev -- sh -c 'echo 1 >a; echo 2 >b'
	agentbox stop dev
	[ "$status" -eq 0 ]
	[[ "$output" == *"2 changes of dev wait for you: agentbox diff dev, agentbox apply dev, agentbox discard dev"* ]]
	agentbox discard --yes dev
	[ "$status" -eq 0 ]
	keep plain
	agentbox run --in plain -- touch c
	agentbox stop plain
	[ "$status" -eq 0 ]
	[[ "$output" == "plain ("*") ended" ]]
	[ -e c ]
}

# bats test_tags=root
@test "detach: a full disk ends the kept output, not the command" {
	need userns
	only_root
	mkdir state
	mount -t tmpfs -o size=256k,mode=700 none state
	AGENTBOX_STATE=$PWD/state agentbox run -q -d --name job -- sh -c 'while [ ! -e go ]; do sleep 0.05; done
		head -c 600000 /dev/zero | tr "\0" x; touch done; while [ ! -e end ]; do sleep 0.05; done'
	touch go
	wait_for 90 test -e done
	touch end
	wait_for 90 sh -c '[ -z "$(ls state/live)" ]'
	wait_for 60 umount state # its processes end after its folder is gone
}

@test "terminal: each command has its own, with its size, Ctrl-C and Ctrl-Z" {
	need userns
	need program:tmux
	keep dev
	tty_start bash --norc --noprofile -i
	tty_type "PS1='> '; $AGENTBOX run --in dev -- sh -c 'tty; stty size; read x; echo got \$x'"
	tty_key Enter
	tty_wait '^24 80'
	tty_type hello
	tty_key Enter
	tty_wait '^got hello'
	tty_type "$AGENTBOX run --in dev -- sleep 1000; echo status \$?"
	tty_key Enter
	wait_for 90 has_commands dev 1
	# A key that comes before the client has taken the terminal may be lost.
	wait_for 90 eval 'tty_key C-c; sleep 0.5; tty_matches "status 130"'
	tty_type "$AGENTBOX run --in dev -- sleep 1000"
	tty_key Enter
	wait_for 90 has_commands dev 1
	wait_for 90 eval 'tty_key C-z; sleep 0.5; tty_matches Stopped'
	tty_type "fg"
	tty_key Enter
	tty_wait '^[^>]*agentbox.* run --in dev -- sleep 1000$'
	# The shell says so before the command has the terminal.
	wait_for 90 eval 'tty_key C-c; has_commands dev 0'
	tty_type "exit 3"
	tty_key Enter
	tty_end
	[ "$status" -eq 3 ]
}

@test "shell: the prompt has a mark, the terminal a title, which goes with the shell" {
	need program:tmux
	echo 'PS1="mine> "' >"$HOME/.bashrc"
	for box in "" dev; do
		[ -z "$box" ] || launch run --keep --name dev -- true
		tty_start env SHELL=/bin/bash PS4= bash --norc -c '"$AGENTBOX" shell '"$box"'; read -r _'
		tty_wait '^\(box [a-z0-9]{5}\) mine> *$'
		[[ "$(tty_tmux display -p '#{pane_title}')" == "agentbox: "* ]]
		tty_type 'echo "<$AGENTBOX>"; exit'
		tty_key Enter
		tty_wait '^<[a-z0-9]{5}>'
		wait_for 90 eval '[[ "$(tty_tmux display -p "#{pane_title}")" != "agentbox: "* ]]'
		tty_key Enter
		tty_end
	done
	launch stop dev
	# `run` marks a shell, too; not what a shell is told to run.
	tty_start "$AGENTBOX" run -- bash
	tty_wait '^\(box [a-z0-9]{5}\) mine> *$'
	tty_type 'exit'
	tty_key Enter
	tty_end
	tty_run "$AGENTBOX" run -- bash -c 'echo "<$PROMPT_COMMAND>"'
	[[ "$output" == "<>"* ]]
	# No terminal, no title.
	run launch shell <<<'echo plain'
	[ "$output" = plain ]
}

@test "shell: in the kept box, and in a new one without any" {
	need userns
	need program:tmux
	export SHELL=/bin/sh
	run launch shell <<<'echo new $$'
	[[ "$output" == "new "* ]]
	keep dev
	agentbox run --in dev -- sh -c 'echo here >/tmp/mark'
	run launch shell dev <<<'cat /tmp/mark'
	[ "$output" = here ]
	run launch shell <<<'cat /tmp/mark'
	[ "$output" = $'agentbox: using box dev\nhere' ]
	keep two
	run launch shell </dev/null
	[ "$status" -eq 125 ]
	[[ "$output" == *"more than one box stays"* ]]
	run launch shell --net allowed dev </dev/null
	[ "$status" -eq 125 ]
	[[ "$output" == *"settings cannot be changed"* ]]
}

@test "attach: keys reach the command, Ctrl-] detaches and leaves it running" {
	need userns
	need program:tmux
	agentbox run -q -d --name job -- sh -c 'read x; echo "got $x"; read y; echo "then $y"; exit 7'
	tty_start "$AGENTBOX" attach job
	tty_wait 'Ctrl-. detaches'
	tty_type one
	tty_key Enter
	tty_wait '^got one'
	tty_key C-]
	tty_end
	[ "$status" -eq 0 ]
	[[ "$output" == *detached* ]]
	tty_stop
	wait_for 90 has_commands job 1
	tty_start "$AGENTBOX" attach job
	tty_wait '^got one'
	tty_type two
	tty_key Enter
	tty_end
	[ "$status" -eq 7 ]
	[[ "$output" == *"then two"* ]]
}

@test "approval: asked at the terminal of the client" {
	need userns
	need program:tmux
	keep dev
	tty_start "$AGENTBOX" run --in dev -- git push
	tty_wait 'more *$'
	# A key that comes before the question is discarded.
	for again in {1..18}; do
		tty_key n
		wait_for 5 tty_ended && break
	done
	tty_end
	[ "$status" -eq 126 ]
	[[ "$output" == *"you answered no"* ]]
}

@test "limit: more commands with living processes than the box takes are refused" {
	need userns
	keep dev
	for i in $(seq 70); do
		run launch run --in dev -- sh -c 'sleep 1000 >/dev/null 2>&1 &'
		[ "$status" -eq 0 ] || break
	done
	[ "$status" -eq 125 ]
	[[ "$output" == *"63 commands whose processes still run"* ]]
	[ "$i" -eq 64 ]
}

@test "descriptors: a supervisor without room refuses, and the box stays" {
	need userns
	(ulimit -n 40; launch run -q --keep --name dev -- true)
	for i in $(seq 20); do
		launch run --in dev -- sh -c 'sleep 1000 >/dev/null 2>&1 &' >out 2>&1 </dev/null || break
	done
	[ "$i" -lt 20 ]
	cat out
	grep -q "limit of open files" out
	agentbox ps --json
	[ "$(jq length <<<"$output")" -eq 1 ]
}

# bats test_tags=root
@test "control: descriptors that are not pipes or sockets are refused" {
	need userns
	need program:python3
	keep dev
	run timeout 90 python3 - "$AGENTBOX_STATE/live/$(run_id)/control" <<-'PY'
	import array, json, os, socket, sys
	def start(fds, **more):
	    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	    s.connect(sys.argv[1])
	    ask = dict(v=1, do="start", argc=1, env=0, streams=["passed", "/dev/null", "/dev/null"])
	    ask.update(more)
	    s.sendmsg([json.dumps(ask).encode()],
	        [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])
	    print(json.loads(s.recv(65536)))
	def strings(data, seal=True):
	    m = os.memfd_create("s", os.MFD_ALLOW_SEALING)
	    os.write(m, data)
	    if seal:
	        import fcntl
	        fcntl.fcntl(m, 1033, 15)
	    return m
	ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	good = strings(b"/\0true\0")
	r, w = os.pipe()
	start([])
	start([theirs.fileno(), good, os.open("/", os.O_RDONLY)])
	start([theirs.fileno(), good, os.open("/etc/passwd", os.O_RDONLY)])
	start([theirs.fileno(), good, os.open("/dev/null", os.O_RDONLY)])
	start([theirs.fileno(), strings(b"/\0true\0", False), r])
	start([theirs.fileno(), strings(b"/\0true"), r])
	start([theirs.fileno(), strings(b"/\0true\0more\0"), r])
	start([theirs.fileno(), good, r], streams=["passed", "/dev/sda", "/dev/null"])
	start([r, good, r])
	start([theirs.fileno(), good, r])
	PY
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c "'ok': False" <<<"$output")" -eq 9 ]
	[ "$(grep -c "'ok': True" <<<"$output")" -eq 1 ]
	[[ "${lines[9]}" == *"'number': 2"* ]]
}

@test "questions: a client is told what the box asks, and a denial answers it" {
	need userns
	need program:curl
	keep dev --unknown ask
	launch run --in dev -- curl -sSf --max-time 60 http://unknown.invalid/ >out 2>&1 &
	wait_for 90 grep -q "unknown.invalid:80 needs your approval" out
	[[ "$(cat out)" == *"agentbox allow $(run_id)-1"* ]]
	agentbox deny "$(run_id)-1"
	[ "$status" -eq 0 ]
	status=0
	wait $! || status=$?
	[ "$status" -ne 0 ]
	agentbox log dev --json
	jq -se 'map(select(.kind == "question" and .answer == "no")) | length == 1' <<<"$output"
}

@test "traced: denied system calls of each command are recorded" {
	need userns
	need kernel:5.5
	keep dev --trace-denials
	agentbox run --in dev --yes -- sh -c 'unshare -U true; true'
	agentbox run --in dev -- sh -c 'echo x >f && cat f'
	[ "$output" = x ]
	agentbox log dev --denied
	[[ "$output" == *unshare* ]]
}

@test "questions: shown on the terminal of the client, which answers them" {
	need userns
	need program:tmux
	need program:curl
	keep dev --unknown ask
	tty_start "$AGENTBOX" run --in dev -- sh -c 'curl -sSf --max-time 100 http://unknown.invalid/; echo "curl $?"'
	tty_wait 'wants unknown.invalid:80'
	# A key counts only after a pause.
	for again in {1..18}; do
		tty_key n
		wait_for 5 tty_ended && break
	done
	tty_end
	[[ "$output" == *"curl 22"* ]]
	agentbox log dev --json
	jq -se 'map(select(.kind == "question" and .answer == "no")) | length == 1' <<<"$output"
}

# bats test_tags=root
@test "attack: no process in the box gets a descriptor of init or of a leader, or traces them" {
	need userns
	need program:python3
	keep dev --net blocked
	cat >try.py <<-'PY'
	import ctypes, os
	libc = ctypes.CDLL(None, use_errno=True)
	def getfd(pid, fd):
	    return libc.syscall(438, os.pidfd_open(pid), fd, 0)
	child = os.fork()
	if child == 0:
	    import time
	    time.sleep(100)
	print("own", getfd(child, 0) >= 0)
	os.kill(child, 9)
	leader = os.getppid()
	for pid in 1, leader:
	    print(max(getfd(pid, fd) for fd in range(20)), libc.ptrace(16, pid, 0, 0),
	        os.access("/proc/%d/fd/0" % pid, os.F_OK))
	PY
	agentbox run --in dev --yes -- python3 try.py
	[ "$status" -eq 0 ]
	[ "$output" = $'own True\n-1 -1 False\n-1 -1 False' ]
}

# bats test_tags=root
@test "attack: a command that kills its leader is ended for its client only, and the box stays" {
	need userns
	keep dev
	agentbox run --in dev -- sh -c 'kill -KILL $PPID; sleep 0.2; touch alive'
	[ "$status" -eq 137 ]
	[[ "$output" == *"agentbox: the process of the box that leads this command was ended"* ]]
	wait_for 90 test -e alive
	agentbox run --in dev -- echo still
	[ "$output" = still ]
}

# bats test_tags=root
@test "attack: a process that kills the leader that waits does not keep the next command from starting" {
	need userns
	keep dev
	# The leader that is not that of the shell itself; it is there soon after the start.
	agentbox run --in dev -- sh -c 'tries=0
		while [ $tries -lt 400 ]; do
			for dir in /proc/[0-9]*; do
				pid=${dir#/proc/}
				[ "$(cat "$dir/comm" 2>/dev/null)" = agentbox-leader ] || continue
				[ "$pid" = $PPID ] || { kill -KILL "$pid" && echo killed && exit; }
			done
			sleep 0.05
			tries=$((tries + 1))
		done
		exit 1'
	[ "$status" -eq 0 ]
	[[ "$output" == *killed* ]]
	agentbox run --in dev -- sh -c 'echo still; exit 4'
	[ "$status" -eq 4 ]
	[ "$output" = still ]
	agentbox run --in dev -- echo again
	[ "$output" = again ]
}

# In the box: the pid of the leader that waits, which is not that of the shell itself.
FIND_LEADER='find_leader()
	{
		tries=0
		while [ $tries -lt 400 ]; do
			for dir in /proc/[0-9]*; do
				pid=${dir#/proc/}
				[ "$(cat "$dir/comm" 2>/dev/null)" = agentbox-leader ] && [ "$pid" != $PPID ] && return
			done
			sleep 0.05
			tries=$((tries + 1))
		done
		exit 1
	}'

is_given()
{
	cat "$AGENTBOX_STATE"/live/*/audit.jsonl | grep '"kind":"command"' | grep -q "$1"
}

@test "attack: a leader that is stopped, gets a command and is killed: another one starts the command" {
	need userns
	keep dev
	local times killer
	for times in 1 2; do
		rm -f stopped kill
		launch run --in dev -- sh -c "$FIND_LEADER"'
			find_leader; kill -STOP $pid; echo x >stopped
			while [ ! -e kill ]; do sleep 0.05; done
			kill -KILL $pid' </dev/null >killer 2>&1 &
		killer=$!
		wait_for 90 test -e stopped
		echo word | launch run --in dev -- sh -c "read -r w; echo still$times \$w; exit 4" >out 2>&1 &
		wait_for 90 is_given "still$times"
		touch kill
		status=0
		wait $! || status=$?
		cat out
		[ "$status" -eq 4 ]
		[ "$(cat out)" = "still$times word" ]
		wait "$killer"
	done
}

@test "attack: a box whose leaders are all killed starts nothing, and the next start works" {
	need userns
	keep dev
	launch run --in dev -- sh -c "$FIND_LEADER"'
		echo x >began
		while [ ! -e enough ]; do find_leader; kill -KILL $pid; done' </dev/null >killer 2>&1 &
	local killer=$!
	wait_for 90 test -e began
	# Whether it is faster than the killer or not, it ends.
	agentbox run --in dev -- sh -c 'exit 3'
	[[ "$status" =~ ^(3|125|137)$ ]]
	touch enough
	# For the one that is still looked for.
	agentbox run --in dev -- true
	wait "$killer" || true
	agentbox run --in dev -- sh -c 'echo still; exit 4'
	[ "$status" -eq 4 ]
	[ "$output" = still ]
}

@test "stop: a box whose only process is the leader that waits ends at once" {
	need userns
	keep dev
	agentbox run --in dev -- true
	local before=$SECONDS
	agentbox stop --grace 60s dev
	[ "$status" -eq 0 ]
	[ $((SECONDS - before)) -lt 30 ]
}

@test "in: forty clients at once" {
	need userns
	keep dev
	local pids=() pid
	for i in $(seq 40); do
		launch run --in dev -- sh -c 'while [ ! -e go ]; do sleep 0.2; done; echo done' </dev/null >"out$i" 2>&1 &
		pids+=($!)
	done
	wait_for 180 has_commands dev 40
	touch go
	for pid in "${pids[@]}"; do
		wait "$pid"
	done
	[ "$(cat out* | sort | uniq -c | tr -s ' ')" = " 40 done" ]
}
