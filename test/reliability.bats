# unsanitized: strace and tight limits do not go with a sanitizer
# Faults of the machine around the box: what cannot be looked at stops the run,
# what disappears is gone, what a limit ends says so, and each failure names its
# cause.
# root-in-turn: root gives up capabilities that a user never had
UNJUDGED=1
load helpers
load attack/attack

setup_file()
{
	attack_build peer refuse
}

teardown_file()
{
	attack_clean
}

setup()
{
	PEERS=()
	box_setup
}

teardown()
{
	stop_peers
	box_teardown
}

# faulty FAULT...: a run under strace with these options; $status and $output. It stops only at the calls
# that it looks at.
faulty()
{
	run timeout --kill-after=5 60 strace --seccomp-bpf -f -qqq -o "$TEST_DIR/trace" "$@" 3>&-
	printf '$ strace %s\n%s\n[status %s]\n' "$*" "$output" "$status"
}

# A program for the box: can this socket be connected to?
connects='
import socket, sys
s = socket.socket(socket.AF_UNIX, int(sys.argv[2]) if len(sys.argv) > 2 else socket.SOCK_STREAM)
try:
    s.connect(sys.argv[1])
    print("HOLE: connected")
except OSError as e:
    print("closed", e.errno)
'

# -------------------------------------------------------------- hidden names

@test "hidden names: one look that is refused stops the run, or does no harm" {
	local call name stopped=0
	mkdir -p "$HOME/.ssh" "$HOME/.config/gh"
	echo hunter2word | tee "$HOME/.ssh/id_rsa" "$HOME/.config/gh/hosts.yml" >"$HOME/.netrc"
	for name in .ssh .netrc .config gh hosts.yml; do
		for call in newfstatat openat faccessat,faccessat2; do
			for n in 1 2 3; do
				faulty -P "$name" -e "trace=$call" -e "inject=$call:error=EACCES:when=$n" \
					"$AGENTBOX" run -- cat "$HOME/.ssh/id_rsa" "$HOME/.netrc" "$HOME/.config/gh/hosts.yml"
				[[ "$output" != *hunter2word* ]]
				[ "$status" -ne 125 ] || stopped=$((stopped + 1))
				# There is no later look either.
				grep -q INJECTED "$TEST_DIR/trace" || break
			done
		done
	done
	[ "$stopped" -gt 0 ]
	# Without the fault it runs. A folder of somebody else, which nobody here may enter, stops nothing.
	agentbox run -v -- cat "$HOME/.netrc"
	[[ "$output" == *" read-deny "* && "$output" != *hunter2word* ]]
	[ "$(id -u)" -eq 0 ] || {
		agentbox run --deny-read /root/.ssh --deny-read '/root/*/x' -- true
		[ "$status" -eq 0 ]
	}
}

# ------------------------------------------------------------------- sockets

@test "sockets: a list that cannot be read stops the run" {
	host_peer stream "$HOME/host.sock"
	faulty -P /proc/net/unix -e trace=openat -e inject=openat:error=EACCES \
		"$AGENTBOX" run -- python3 -c "$connects" "$HOME/host.sock"
	no_hole
	[ "$status" -eq 125 ]
	[[ "$output" == *"read the host's sockets in /proc/net/unix: Permission denied"* ]]
	# A part of it is not enough.
	for n in {1..16}; do
		run timeout --kill-after=5 60 strace -qqq -o /dev/null -e trace=read \
			-e "inject=read:error=EIO:when=$n" \
			"$AGENTBOX" run -- python3 -c "$connects" "$HOME/host.sock" 3>&-
		no_hole
		[[ "$output" != *"read the host's sockets"*"Input/output error"* ]] || break
	done
	[ "$status" -eq 125 ]
	# Without the fault it runs, and the socket is masked.
	agentbox run -- python3 -c "$connects" "$HOME/host.sock"
	[ "$status" -eq 0 ]
	[[ "$output" == "closed "* ]]
}

@test "sockets: one that cannot be examined stops the run, one that is gone does not" {
	host_peer stream "$HOME/host.sock"
	faulty -P "$HOME/host.sock" -e trace=newfstatat,stat -e inject=newfstatat,stat:error=EIO \
		"$AGENTBOX" run -- python3 -c "$connects" "$HOME/host.sock"
	no_hole
	[ "$status" -eq 125 ]
	[[ "$output" == *"find the host's socket $HOME/host.sock: Input/output error"* ]]
	# The name is still in the table.
	rm "$HOME/host.sock"
	agentbox run -- python3 -c "$connects" "$HOME/host.sock"
	[ "$status" -eq 0 ]
	[ "$output" = "closed 2" ]
}

@test "sockets: one in a folder that was closed at the start stays closed" {
	only_user
	local run

	mkdir "$HOME/closed"
	host_peer stream "$HOME/closed/host.sock"
	chmod 000 "$HOME/closed"
	timeout 60 "$AGENTBOX" run -- sh -c 'touch ready; while [ ! -e go ]; do sleep 0.05; done
		python3 -c "$0" "$1"' "$connects" "$HOME/closed/host.sock" >"$TEST_DIR/out" 2>&1 3>&- &
	run=$!
	wait_for 90 test -e ready
	chmod 700 "$HOME/closed"
	: >go
	wait "$run"
	[ "$(cat "$TEST_DIR/out")" = "closed 13" ]
}

@test "sockets: a name with a newline in it is masked" {
	host_peer stream "$HOME/a
b.sock"
	agentbox run -- python3 -c "$connects" "$HOME/a
b.sock"
	[ "$status" -eq 0 ]
	[[ "$output" == "closed "* ]]
}

@test "sockets: the control socket of a run with another state folder is closed" {
	local control run

	AGENTBOX_STATE=$HOME/other timeout 90 "$AGENTBOX" run -- \
		sh -c 'touch up; while [ ! -e stop ]; do sleep 0.05; done' 3>&- &
	run=$!
	wait_for 90 test -e up
	wait_for 90 sh -c 'test -S "$HOME"/other/live/*/control'
	control=$(echo "$HOME"/other/live/*/control)
	# SOCK_SEQPACKET
	agentbox run -- python3 -c "$connects" "$control" 5
	no_hole
	[[ "$output" == "closed "* ]]
	# Nor is its name visible.
	agentbox run -- sh -c 'ls "$0"' "$HOME/other/live"
	[ "$status" -ne 0 ]
	[[ "$output" == *"Permission denied"* ]]
	# On the host it answers.
	AGENTBOX_STATE=$HOME/other agentbox stop --all
	[ "$status" -eq 0 ]
	wait "$run" || [ $? -eq 143 ]
}

# --------------------------------------------------------------------- masks

@test "masks: what disappears between the plan and its mount is gone" {
	host_peer stream "$HOME/host.sock"
	local n masked=

	timeout 60 strace --seccomp-bpf -f -qqq -o "$TEST_DIR/trace" -e trace=move_mount \
		"$AGENTBOX" run -- true 3>&-
	# If the kernel says at the mask that the name is gone, it is looked up
	# again: it is there, and is masked. Other mounts must not fail.
	for n in $(seq "$(grep -c 'move_mount(' "$TEST_DIR/trace")"); do
		faulty -e trace=move_mount -e "inject=move_mount:error=ENOENT:when=$n" \
			"$AGENTBOX" run -- python3 -c "$connects" "$HOME/host.sock"
		no_hole
		[ "$status" -eq 125 ] || [ "$status" -eq 0 ]
		# There are fewer mounts if a socket of the host went away meanwhile.
		grep -q INJECTED "$TEST_DIR/trace" || continue
		[ "$status" -ne 0 ] || masked=${masked:-$n}
	done
	[ -n "$masked" ]
	# If that never ends, nothing runs.
	faulty -e trace=move_mount -e "inject=move_mount:error=ENOENT:when=$masked+" \
		"$AGENTBOX" run -- python3 -c "$connects" "$HOME/host.sock"
	no_hole
	[ "$status" -eq 125 ]
}

@test "masks: a folder of the workspace may vanish with the socket in it" {
	mkdir passing
	host_peer stream "$PWD/passing/host.sock"
	# It goes between the plan's look at it and the box's, which strace delays.
	: >"$TEST_DIR/trace"
	(wait_for 90 grep -q 'passing.* = ' "$TEST_DIR/trace" && rm -r passing) 3>&- &
	local remover=$!
	faulty -P passing -e trace=openat2 \
		-e inject=openat2:delay_enter=700000:when=1 "$AGENTBOX" run -- echo ran
	wait "$remover"
	cat "$TEST_DIR/trace"
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = ran ]
}

# ---------------------------------------------------------------------- init

@test "init: an error of its own is 125 and a reason, not a killed command" {
	local run init scope=0

	[ ! -e /proc/sys/kernel/yama/ptrace_scope ] ||
		read -r scope </proc/sys/kernel/yama/ptrace_scope
	[ "$scope" -eq 0 ] || only_root
	timeout 60 "$AGENTBOX" run -- sleep 50 >"$TEST_DIR/out" 2>&1 3>&- &
	run=$!
	wait_for 90 sh -c 'grep -qs "\"kind\":\"assurance\"" "$AGENTBOX_STATE"/live/*/audit.jsonl'
	init=$(jq -r '.init // empty' "$AGENTBOX_STATE"/live/*/audit.jsonl)
	# On x86_64 a poll() that strace interrupts goes on as restart_syscall().
	timeout 50 strace -qqq -o /dev/null -e trace=poll,ppoll,restart_syscall \
		-e inject=poll,ppoll,restart_syscall:error=ENOMEM -p "$init" 3>&- &
	status=0
	wait "$run" || status=$?
	wait $! || true
	[ "$status" -eq 125 ]
	grep -q "wait in the box's init: Cannot allocate memory" "$TEST_DIR/out"
}

@test "init: a failing wait ends the run instead of hanging" {
	faulty -e trace=wait4 -e inject=wait4:error=EINVAL "$AGENTBOX" run -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"wait for the command: Invalid argument"*"(step: init)"* ]]
	# Interrupted, it waits again.
	faulty -e trace=wait4 -e inject=wait4:error=EINTR:when=1 "$AGENTBOX" run -- sh -c 'exit 7'
	[ "$status" -eq 7 ]
}

# -------------------------------------------------------------------- limits

@test "limits: the files of the private folders are bounded" {
	printf '{ "filesystem": { "tmpSize": "16M" } }' >"$TEST_DIR/config.json"
	agentbox_split run --config "$TEST_DIR/config.json" -- python3 -c '
import os
n = 0
try:
    while n < 20000:
        os.close(os.open("/tmp/%d" % n, os.O_CREAT | os.O_WRONLY))
        n += 1
except OSError as e:
    print(e.errno, n)
'
	[ "$status" -eq 0 ]
	[ "${output% *}" = 28 ]
	[[ "$stderr" == *"are full (16M); increase filesystem.tmpSize"* ]]
	[ "${output#* }" -gt 1000 ]
	[ "${output#* }" -le 2048 ]
	# Ordinary use is far below: 65,536 files for each GiB.
	agentbox run -- python3 -c '
import os
for n in range(30000):
    os.close(os.open("/tmp/%d" % n, os.O_CREAT | os.O_WRONLY))
print("all")
'
	[ "$output" = all ]
}

# many N MIB: N processes that have MIB each for a while.
many='
import os, sys, time
for i in range(int(sys.argv[1])):
    if os.fork() == 0:
        x = bytearray(int(sys.argv[2]) << 20)
        time.sleep(20)
        os._exit(0)
time.sleep(float(sys.argv[3]))
print("ran")
os.killpg(0, 9)
'

@test "limits: the memory of all processes together ends the run" {
	agentbox_split run --memory 200M --result "$TEST_DIR/result" -- python3 -c "$many" 5 60 20
	[ "$status" -eq 137 ]
	[[ "$output" != *ran* ]]
	if ! have_cgroup; then
		[[ "$stderr" == *"the command was ended: the box used "*" of memory, its limit is 200M"* ]]
		jq -e '(.error | test("its limit is 200M")) and (.hint | test("--memory")) and
			.signal == "SIGKILL"' "$TEST_DIR/result"
		[[ "$(launch log)" == *"its limit is 200M"* ]]
	fi
}

@test "limits: memory that processes share counts once" {
	agentbox run --memory 200M -- python3 -c '
import os, time
x = bytearray(120 << 20)
for i in range(5):
    if os.fork() == 0:
        time.sleep(3)
        os._exit(0)
time.sleep(1)
print("ran")
'
	[ "$status" -eq 0 ]
	[[ "$output" == *ran ]]
}

@test "limits: memory without a cgroup is not claimed, and said" {
	if have_cgroup; then
		skip "the kernel limits the whole box here"
	fi
	agentbox run --require limits --memory 100M -- touch made
	[ "$status" -eq 125 ]
	# Nor does the kernel limit root's processes.
	[ "$(id -u)" -eq 0 ] ||
		[[ "$output" == *"limits (not enforced: memory of the whole box (no cgroup is delegated))"* ]]
	[ ! -e made ]
	agentbox run -v --memory 100M -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"the sum of all processes is only sampled"* ]]
	[[ "${output#*in force:}" != *" limits"* ]]
	# Whoever asked for it hears it without -v, too.
	agentbox run --memory 100M -- true
	[[ "$output" == *"the sum of all processes is only sampled"* ]]
	# A setting of a file is not repeated in every run.
	printf '{ "limits": { "memory": "100M" } }' >"$TEST_DIR/config.json"
	agentbox run --config "$TEST_DIR/config.json" -- true
	[ -z "$output" ]
}

@test "limits: what ended the command is said, in the result and in the record" {
	agentbox_split run --timeout 300ms --result "$TEST_DIR/result" -- sleep 60
	[ "$status" -eq 124 ]
	[[ "$stderr" == *"the command was ended after its time limit (300ms)"*"--timeout"* ]]
	jq -e '.timed_out and (.error | test("time limit \\(300ms\\)")) and
		(.hint | test("limits.timeout"))' "$TEST_DIR/result"
	[[ "$(launch log)" == *"timed out, the command was ended after its time limit"* ]]
	printf '{ "limits": { "cpu": "1s" } }' >"$TEST_DIR/config.json"
	agentbox_split run --config "$TEST_DIR/config.json" --result "$TEST_DIR/result" -- \
		python3 -c 'while True: pass'
	[ "$status" -eq 152 ]
	[[ "$stderr" == *"ended after its limit of processor time (1s)"* ]]
	jq -e '.signal == "SIGXCPU" and (.error | test("processor time")) and
		(.hint | test("limits.cpu"))' "$TEST_DIR/result"
	# A shell in between passes it on.
	agentbox_split run --config "$TEST_DIR/config.json" -- \
		bash -c 'python3 -c "while True: pass"; exit $?'
	[ "$status" -eq 152 ]
	[[ "$stderr" == *"processor time (1s)"* ]]
	# A program cannot ignore it for long.
	agentbox_split run --config "$TEST_DIR/config.json" -- \
		python3 -c 'import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)
while True: pass'
	[ "$status" -eq 137 ]
	# Nothing is said about a command that ends by itself.
	agentbox_split run --timeout 60s --result "$TEST_DIR/result" -- sh -c 'exit 3'
	[ "$status" -eq 3 ]
	[ -z "$stderr" ]
	jq -e '.error == null and .hint == null' "$TEST_DIR/result"
}

@test "limits: a command that failed on a blocked network is told so, no other" {
	local tried
	for tried in "curl -sS https://files.example.com/" "getent hosts files.example.com" \
		"curl -sS http://203.0.113.7/"; do
		agentbox_split run --net blocked -- $tried
		[ "$status" -ne 0 ]
		[ "$(grep -c '^agentbox' <<<"$stderr")" -eq 1 ]
		[[ "$stderr" == *"agentbox: the network is blocked (--net blocked)" ]]
	done
	printf '{ "network": { "mode": "blocked" } }' >"$TEST_DIR/config.json"
	agentbox_split run --config "$TEST_DIR/config.json" -- getent hosts files.example.com
	[[ "$stderr" == "agentbox: the network is blocked (network.mode, "*"config.json:1)" ]]
	agentbox_split run -q --net blocked -- getent hosts files.example.com
	[ "$status" -ne 0 ]
	[ -z "$stderr" ]
	# It did not fail, or did not try: a connection inside the box is no attempt.
	agentbox_split run --net blocked -- sh -c 'getent hosts files.example.com; exit 0'
	[ -z "$stderr" ]
	agentbox_split run --net blocked -- curl -s http://127.0.0.1:9/
	[ "$status" -eq 7 ]
	[ -z "$stderr" ]
	# What the filter denies has lines of its own.
	agentbox_split run --net filtered --unknown deny -- curl -sf http://203.0.113.7/
	[ "$status" -ne 0 ]
	[[ "$stderr" != *"is blocked"* ]]
}

# --------------------------------------------------------------------- state

@test "state: runs/ that cannot be written is refused, and nothing piles up" {
	only_user
	agentbox run -- true
	chmod 500 "$AGENTBOX_STATE/runs"
	for n in 1 2 3; do
		agentbox run -- touch made
		[ "$status" -eq 125 ]
		[[ "$output" == *"write to $AGENTBOX_STATE/runs: Permission denied"* ]]
		[[ "$output" == *AGENTBOX_STATE* ]]
	done
	[ ! -e made ]
	[ -z "$(ls -A "$AGENTBOX_STATE/live")" ]
	chmod 700 "$AGENTBOX_STATE/runs"
	agentbox run -- touch made
	[ "$status" -eq 0 ]
	[ -e made ]
}

@test "state: a run that could not be moved has one end, and is moved later" {
	local id

	only_user
	agentbox run -- sh -c 'touch up; until [ -e go ]; do sleep 0.05; done' &
	wait_for 90 test -e up
	id=$(run_id)
	chmod 500 "$AGENTBOX_STATE/runs"
	touch go
	wait $!
	[ -d "$AGENTBOX_STATE/live/$id" ]
	chmod 700 "$AGENTBOX_STATE/runs"
	# Made since then, and so not the run's.
	echo mine >.envrc
	agentbox run -- true
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ "$(cat .envrc)" = mine ]
	[ ! -e "$AGENTBOX_STATE/live/$id" ]
	[ "$(grep -c '"kind":"end"' "$AGENTBOX_STATE/runs/$id/audit.jsonl")" -eq 1 ]
}

@test "state: old records go faster than new ones come, without a run that waits for it each time" {
	# old_records LETTER: thirty of them, which the next look finds.
	old_records()
	{
		(
			cd "$AGENTBOX_STATE/runs"
			for b in {a..f}; do
				for c in {a..e}; do
					mkdir "$1$b$c"22
					echo '{}' >"$1$b$c"22/audit.jsonl
				done
			done
			touch -d '40 days ago' "$1"??22
			touch -d '2 hours ago' .looked
		)
	}
	are_gone()
	{
		[ -z "$(cd "$AGENTBOX_STATE/runs" && ls -d "$1"??22 2>/dev/null)" ]
	}
	agentbox run -- true
	old_records a
	# One short run in sixteen removes up to 32.
	for n in {1..400}; do
		agentbox run -- true
		! are_gone a || break
	done
	are_gone a
	# One that lasts removes all.
	old_records b
	old_records c
	agentbox run -- sh -c 'until [ -e go ]; do sleep 0.05; done' &
	wait_for 90 are_gone '[bc]'
	touch go
	wait $!
}

# ------------------------------------------------------------------ messages

# call NAME: the number of a system call; these are the same on every machine.
call()
{
	case $1 in
	open_tree) echo 428 ;;
	fsopen) echo 430 ;;
	close_range) echo 436 ;;
	openat2) echo 437 ;;
	mount_setattr) echo 442 ;;
	esac
}

@test "messages: a refused system call is named with its cause" {
	for name in open_tree fsopen close_range openat2 mount_setattr; do
		run timeout 60 "$ATTACK/refuse" "$(call "$name")" "$AGENTBOX" run -- touch made 3>&-
		echo "$name: $output"
		[ "$status" -eq 125 ]
		[[ "$output" == *"Function not implemented"*"a filter around agentbox refuses"* ]]
		# One message, not what follows from it.
		[ "$(grep -c '^agentbox: ' <<<"$output")" -eq 1 ]
		[ ! -e made ]
	done
	# On a kernel that does not have it yet.
	run timeout 60 setarch --uname-2.6 "$ATTACK/refuse" "$(call mount_setattr)" \
		"$AGENTBOX" run -- touch made 3>&-
	[ "$status" -eq 125 ]
	[[ "$output" == *"this kernel is too old: agentbox needs Linux 5.13"* ]]
	[ ! -e made ]
	# One that it can do without.
	run timeout 60 "$ATTACK/refuse" 435 "$AGENTBOX" run -- touch made 3>&-
	[ "$status" -eq 0 ]
	[ -e made ]
}

@test "messages: too few open files, and files that are too small" {
	# Wherever they run out, up to the number that is enough.
	for n in {8..64}; do
		run bash -c 'ulimit -n "$0"; timeout 60 "$AGENTBOX" run -- touch made 3>&-' "$n"
		echo "$n: $output"
		[ "$status" -ne 0 ] || break
		[ "$status" -eq 125 ]
		# Of open files; or of references to them, if other tests have some on their way.
		[[ "$output" == *"Too many "*"ulimit -n"* ]]
		[ ! -e made ]
	done
	[ "$n" -gt 24 ]
	rm made
	run bash -c 'ulimit -f 4; timeout 60 "$AGENTBOX" run -- touch made 3>&-'
	echo "$output"
	[ "$status" -eq 125 ]
	[[ "$output" == *"File too large"*"ulimit -f"* ]]
	[ ! -e made ]
	run bash -c 'ulimit -n 64; ulimit -f 4096; timeout 60 "$AGENTBOX" run -- touch made 3>&-'
	[ "$status" -eq 0 ]
	[ -e made ]
}

# limited FILES STRACE...: a run that may open so many files, under strace.
limited()
{
	run timeout --kill-after=5 60 strace -qqq -o /dev/null "${@:2}" bash -c \
		'ulimit -n "$0"; exec "$AGENTBOX" run --name few -- touch made' "$1" 3>&-
	echo "$*: [status $status] $output"
}

@test "messages: too few open files, whether agentbox or its box is slower" {
	need userns
	agentbox run --name few -- true
	for n in {9..29..4} 64; do
		# The supervisor sends what the box has no room for, or comes too late; and the other way around.
		for slow in "-e trace=sendmsg -e inject=sendmsg:delay_enter=200000" \
			"-f -e trace=unshare -e inject=unshare:delay_enter=200000"; do
			limited "$n" $slow
			[ "$n" -lt 64 ] || continue
			# What is enough differs by a few: it must work then.
			[ "$n" -lt 25 ] || [ "$status" -ne 0 ] || { rm made && continue; }
			[ "$status" -eq 125 ]
			[[ "$output" == *"Too many "*"ulimit -n"* && "$output" != *damaged* ]]
			[ ! -e made ]
		done
	done
	[ "$status" -eq 0 ]
	[ -e made ]
}

@test "messages: other programs of the user have too many files on their way" {
	need userns
	# The kernel counts them together, and compares with the limit of the one that sends.
	run timeout 60 python3 -c '
import os, resource, socket, subprocess, sys
a, b = socket.socketpair()
socket.send_fds(a, [b"x"], [0] * 200)
limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
run = [os.environ["AGENTBOX"], "run", "--", "true"]
full = subprocess.run(run, preexec_fn=limit, capture_output=True, text=True)
socket.recv_fds(b, 1, 200)
print(full.returncode, full.stderr, subprocess.run(run, preexec_fn=limit).returncode)' 3>&-
	echo "$output"
	[[ "$output" == 125*"Too many references"*"(step: network)"*"ulimit -n 1024"*" 0" ]]
}

# around SCRIPT: run it with the program as $AGENTBOX, as root of a user
# namespace with its own mounts.
around()
{
	run timeout 90 unshare --user --map-root-user --mount \
		env PATH="$PATH:/usr/sbin:/sbin" bash -c "$1" 3>&-
	printf '%s\n%s\n[status %s]\n' "$1" "$output" "$status"
}

@test "messages: a container that masks /proc/sys, and a machine without /proc" {
	need userns
	around 'mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys &&
		"$AGENTBOX" run --engine full -- touch made'
	[ "$status" -eq 125 ]
	[[ "$output" == *"/proc/sys is read-only here"*"systempaths=unconfined"*"--engine auto"* ]]
	around 'mount -t tmpfs none /proc/sys/user; "$AGENTBOX" run --engine full -- touch made'
	[ "$status" -eq 125 ]
	[[ "$output" == *"/proc/sys/user is missing"*"systempaths=unconfined"*"--engine auto"* ]]
	around 'mount -t tmpfs none /proc/sys/user; "$AGENTBOX" run -v -- touch covered; "$AGENTBOX" doctor'
	[[ "$output" == *", engine shared-proc, guarantees in force: user-ns "* ]]
	[[ "$output" == *"a whole box         started, engine shared-proc"* ]]
	[ -e covered ]
	around 'mount -t tmpfs none /proc && "$AGENTBOX" run -- touch made'
	[ "$status" -eq 125 ]
	[[ "$output" == *"/proc is not mounted here"* ]]
	around 'mount -t tmpfs none /proc; "$AGENTBOX" doctor'
	[[ "$output" == *"/proc is not mounted"* ]]
	[[ "$output" != *"security module"* ]]
	[ ! -e made ]
	around '"$AGENTBOX" run -- touch made'
	[ "$status" -eq 0 ]
	[ -e made ]
}

# A root with the program and nothing else but empty folders.
bare_root()
{
	mkdir -p "$TEST_DIR/root"/{proc,dev,sys,tmp,run,home/project}
	cp "$AGENTBOX" "$TEST_DIR/root/agentbox"
	export BARE=$TEST_DIR/root
}

@test "messages: a chroot is named" {
	need userns
	bare_root
	around 'mount --rbind /proc "$BARE/proc" && HOME=/home AGENTBOX_STATE=/home/state \
		chroot "$BARE" /agentbox run --engine full --workspace /home/project -- /agentbox --version'
	[ "$status" -eq 125 ]
	[[ "$output" == *"this is a chroot"* ]]
	around 'mount --rbind /proc "$BARE/proc" && HOME=/home AGENTBOX_STATE=/home/state \
		chroot "$BARE" /agentbox run --workspace /home/project -- /agentbox --version'
	[ "$status" -eq 0 ]
	[[ "$(unwrap)" == *"engine no-namespaces"*"this is a chroot"* ]]
	around 'mount --rbind /proc "$BARE/proc" && HOME=/home AGENTBOX_STATE=/home/state \
		chroot "$BARE" /agentbox doctor'
	[[ "$output" == *"the kernel does not create them in a chroot"* ]]
}

@test "doctor: a root without devices can run a box, and doctor says so" {
	need userns
	bare_root
	around 'mount --bind "$BARE" "$BARE" && mount --rbind /proc "$BARE/proc" && cd "$BARE" &&
		mkdir old && pivot_root . old && cd /home/project &&
		export HOME=/home AGENTBOX_STATE=/home/state &&
		/agentbox run -- /agentbox --version && /agentbox doctor'
	[[ "$output" == *"a whole box         started"* ]]
}

@test "doctor: --attack holds with the program file in a private folder" {
	local dir

	dir=$(mktemp -d /tmp/agentbox-test.XXXXXX)
	cp "$AGENTBOX" "$dir/agentbox"
	run timeout 120 "$dir/agentbox" doctor --attack 3>&-
	rm -r "$dir"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" != *BROKEN* ]]
	grep -q 'stopped *write the agentbox program file' <<<"$output"
}

# ------------------------------------------------------------------- results

@test "results: inside a box a result says what ran, how it was judged and what holds" {
	agentbox_split run -- "$AGENTBOX" exec --json -- sh -c 'echo hi; exit 3'
	[ "$status" -eq 3 ]
	jq -e '.command == ["sh", "-c", "echo hi; exit 3"] and .decision == "sandboxed" and
		.profile == "default" and .exit == 3 and .status == 3 and .stdout == "hi\n" and
		(.assurance.holds | index("write-fence") and index("syscalls"))' <<<"$output"
	agentbox run -- "$AGENTBOX" run -v -- true
	[[ "$output" == *"nested run, guarantees in force: "*syscalls* ]]
	# Killed, it has the same.
	agentbox_split run -- "$AGENTBOX" exec --json -- sh -c 'kill -9 $$'
	jq -e '.command[0] == "sh" and .signal == "SIGKILL" and .exit == 137' <<<"$output"
}

@test "results: an early failure keeps the command, without values of secrets" {
	local PLANTED_TOKEN=value-0123456789

	export PLANTED_TOKEN
	agentbox_split exec --json --config /nonexistent -- curl -H "X: $PLANTED_TOKEN" http://x.test
	[ "$status" -eq 125 ]
	[[ "$output" != *"$PLANTED_TOKEN"* ]]
	jq -e '.command == ["curl", "-H", "X: ****************", "http://x.test"] and
		(.error | test("nonexistent"))' <<<"$output"
}
