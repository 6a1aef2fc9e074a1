# Nothing is left behind, whichever process dies at which moment, and no failing
# step lets the command start without its walls. strace injects the faults: it
# makes the Nth call of a kind fail, or kills the process that makes it.
# root-in-turn: the home layer of root is mounted by root itself, not by the owner of a user namespace
UNJUDGED=1
load helpers

setup()
{
	box_setup
	git init -q .
	echo data >file
	mkdir "$HOME/.ssh"
	echo key >"$HOME/.ssh/id_ed25519"
	host_before=$(residue)
}

# What may not change: the tree without times (a marker comes and goes),
# pathname sockets.
residue()
{
	host_snapshot --no-times "$HOME"
	grep -F " $TEST_DIR/" /proc/net/unix || true
}

# The cgroups of this test's runs: other suites of the same user have cgroups there, too.
cgroups_left()
{
	local cgroup id

	find /sys/fs/cgroup -name 'agentbox-*' -user "$(id -u)" 2>/dev/null | while read -r cgroup; do
		id=${cgroup##*/agentbox-}
		[ ! -e "$AGENTBOX_STATE/runs/$id" ] && [ ! -e "$AGENTBOX_STATE/live/$id" ] || echo "$cgroup"
	done
}

is_unchanged()
{
	[ "$(residue)" = "$host_before" ]
}

# The host is as it was, no process of ours is left, and the next run works. That one removes the cgroups that
# are left: the supervisor of a run is locked in, so it cannot if the broker was killed; and if the supervisor was
# killed, the broker can, but not before it was started.
unharmed()
{
	local left

	left=$(processes_left)
	if [ -n "$left" ]; then
		echo "left running after $1:"
		echo "$left"
		return 1
	fi
	# A killed process is gone before the kernel has closed all that it held.
	if ! wait_for 10 is_unchanged; then
		echo "the host changed after $1:"
		diff <(echo "$host_before") <(residue)
		return 1
	fi
	if ! timeout 240 "$AGENTBOX" run -- true </dev/null 3>&-; then
		echo "no run is possible after $1"
		return 1
	fi
	left=$(cgroups_left)
	if [ -n "$left" ]; then
		echo "cgroups left by the run after $1:"
		echo "$left"
		return 1
	fi
}

# A command that tries the walls and then leaves a marker.
# What it creates in the home folder must not be real.
walls='touch ../../outside 2>/dev/null && echo HOLE: outside
	touch ../not-real 2>/dev/null
	(echo x >.git/hooks/pre-commit) 2>/dev/null && echo HOLE: hook
	cat ../.ssh/id_ed25519 2>/dev/null && echo HOLE: key
	echo ok >marker'

# trace [-f]: the calls of one good run, in "$TEST_DIR/trace".
trace()
{
	timeout 240 strace -qqq "$@" -o "$TEST_DIR/trace" \
		"$AGENTBOX" run -- /bin/sh -c "$walls" </dev/null 3>&-
	[ -e marker ]
	rm marker
}

# The calls of the supervisor that can matter, as "CALL N": those before the
# box exists only now and then, they do nothing but look.
supervisor_calls()
{
	awk -F'(' '
		/^(exit|exit_group|restart_syscall|\+\+\+|---|brk|mmap|munmap|mprotect|madvise|execve|set_|rseq|sigaltstack|prlimit64|close|rt_sigreturn)/ { next }
		!/^[a-z]/ { next }
		/^clone/ { born = 1 }
		{ n[$1]++ }
		born || ++early % 9 == 0 { print $1, n[$1] }' "$TEST_DIR/trace"
}

# The same of the other processes, until the command itself is executed; a
# call that the supervisor makes as often would hit that one.
box_calls()
{
	awk '
		{ pid = $1; sub(/^[0-9]+ +/, "") }
		!/^[a-z0-9_]+\(/ { next }
		{ call = $0; sub(/\(.*/, "", call) }
		!supervisor { supervisor = pid }
		done[pid] { next }
		/^execve\("\/bin\/sh"/ { done[pid] = 1; next }
		call ~ /^(exit|exit_group|brk|mmap|munmap|mprotect|madvise|set_.*|rseq|sigaltstack|close|getpid|rt_sigreturn|newfstatat|fstat)$/ { next }
		{ n[pid " " call]++ }
		# The broker hides many names of the home in the same way.
		call == "linkat" && n[pid " " call] > 3 { next }
		pid != supervisor {
			k = call " " n[pid " " call]
			if (!(k in seen)) {
				seen[k] = 1
				order[++len] = k
			}
		}
		END {
			for (i = 1; i <= len; i++) {
				split(order[i], a, " ")
				if (a[2] > n[supervisor " " a[1]])
					print order[i]
			}
		}' "$TEST_DIR/trace"
}

# inject CALL N FAULT [-f]: $status and $output of a run with it. With -f, processes
# stop at the traced call only, which takes half the time.
inject()
{
	status=0
	output=$(timeout --kill-after=2 90 strace -qqq ${4:+"$4" --seccomp-bpf} -o /dev/null \
		-e "trace=$1" -e "inject=$1:$3:when=$2" \
		"$AGENTBOX" run -- /bin/sh -c "$walls" </dev/null 2>&1 3>&-) ||
		status=$?
}

# No wall was open, and no success is claimed for what did not happen.
sound()
{
	if [[ "$output" == *HOLE* ]] || [ -e ../not-real ]; then
		echo "a wall is open after $1:"
		echo "$output"
		return 1
	fi
	if [ "$status" -eq 0 ] && [ ! -e marker ]; then
		echo "status 0 and no command after $1"
		return 1
	fi
	if [ "$status" -eq 124 ]; then
		echo "it hangs after $1"
		return 1
	fi
	# strace counts for each process: the Nth write may be our own words too.
	if [ "$status" -eq 125 ] && [[ "$output" != *agentbox:* && $1 != *" write "* ]]; then
		echo "nothing is said after $1"
		return 1
	fi
}

# every FAULT [-f]: inject it at each "CALL N" of standard input.
every()
{
	local fault=$1 option=${2:-} call n count=0

	while read -r call n <&9; do
		inject "$call" "$n" "$fault" "$option"
		sound "$fault at $call $n" || return 1
		rm -f marker
		count=$((count + 1))
		if [ $((count % 40)) -eq 0 ]; then
			unharmed "$fault up to $call $n" || return 1
		fi
	done 9<<<"$(cat)"
	echo "$count places"
	[ "$count" -ge 20 ]
	unharmed "the last $fault"
}

# some N: every Nth if sanitized, else every fourth. The tests below that go through all of them
# are slow; these are their cheap twins.
some()
{
	local each=4

	! sanitized || each=$1
	awk -v each="$each" 'NR % each == 0'
}

@test "residue: a supervisor killed at some call leaves nothing" {
	need program:strace
	trace
	supervisor_calls | some 8 | every signal=SIGKILL
}

# bats test_tags=slow
@test "residue: a supervisor killed at any call leaves nothing" {
	need program:strace
	trace
	supervisor_calls | every signal=SIGKILL
}

@test "residue: a process of the box or the broker killed at some call leaves nothing" {
	need program:strace
	trace -f
	box_calls | some 8 | every signal=SIGKILL -f
}

# bats test_tags=slow
@test "residue: a process of the box or the broker killed at any call leaves nothing" {
	need program:strace
	trace -f
	box_calls | every signal=SIGKILL -f
}

@test "residue: a call of the supervisor that fails, one of four, never opens a wall" {
	need program:strace
	trace
	supervisor_calls | some 3 | every error=ENOMEM
}

# bats test_tags=slow
@test "residue: a call of the supervisor that fails never opens a wall" {
	need program:strace
	trace
	supervisor_calls | every error=ENOMEM
}

@test "residue: a call of the box that fails, one of four, never opens a wall" {
	need program:strace
	trace -f
	box_calls | some 3 | every error=EPERM -f
}

# bats test_tags=slow
@test "residue: a call of the box that fails never opens a wall" {
	need program:strace
	trace -f
	box_calls | every error=EPERM -f
}

@test "residue: a wall that cannot be built stops the run, with step and cause" {
	local call n max count=0

	need program:strace
	trace -f
	for call in capset fsopen fsconfig fsmount mount_setattr open_tree \
		move_mount landlock_create_ruleset landlock_add_rule \
		landlock_restrict_self seccomp flock socketpair memfd_create; do
		max=$(sed 's/^[0-9]* *//' "$TEST_DIR/trace" | grep -c "^$call(" || true)
		for ((n = 1; n <= max && n <= 12; n++)); do
			inject "$call" "$n" error=EPERM -f
			# The count is over all processes; not each makes so many.
			if [ -e marker ] && [ "$n" -gt 1 ]; then
				sound "EPERM at $call $n"
				rm marker
				break
			fi
			# A launch that fails before the policy is read is tried again after it.
			if [ -e marker ] && [ "$call" = socketpair ]; then
				sound "EPERM at $call $n"
				rm marker
				continue
			fi
			printf '%s %s: %s\n%s\n' "$call" "$n" "$status" "$output"
			[ ! -e marker ]
			[ "$status" -eq 125 ]
			[[ "$output" == *"agentbox: "* ]]
			[[ "$output" == *"(step: "*")"* ]]
			count=$((count + 1))
		done
	done
	[ "$count" -ge 30 ]
	# The namespaces, then the broker; what comes later is the command's.
	for n in 1 2; do
		inject clone "$n" error=EPERM -f
		[ ! -e marker ]
		[ "$status" -eq 125 ]
		[[ "$output" == *"(step: "*")"* ]]
	done
	unharmed "a wall that could not be built"
}

# kill_often ROLE COUNT: SIGKILL it at random moments of the first 4 ms, then
# a few times while the command runs.
kill_often()
{
	cat >"$TEST_DIR/kill.py" <<-'PYTHON'
	import collections, os, random, signal, subprocess, sys, time

	role, count = sys.argv[1], int(sys.argv[2])
	names = {"init": "agentbox-init", "broker": "agentbox-broker"}
	seed = int.from_bytes(os.urandom(4), "big")
	random.seed(seed)
	print("seed", seed)

	def children(pid):
	    try:
	        return open(f"/proc/{pid}/task/{pid}/children").read().split()
	    except OSError:
	        return []

	def comm(pid):
	    try:
	        return open(f"/proc/{pid}/comm").read().strip()
	    except OSError:
	        return ""

	def victim(run):
	    if role == "supervisor":
	        return run.pid
	    while run.poll() is None:
	        for child in children(run.pid):
	            if comm(child) == names[role]:
	                return int(child)
	    return None

	results = collections.Counter()
	for i in range(count):
	    late = i % 5 == 4
	    ready = f"ready{i}"
	    run = subprocess.Popen([os.environ["AGENTBOX"], "run", "--", "sh", "-c",
	                            f"echo >{ready}; setsid sleep 300 & sleep 300"],
	                           stdin=subprocess.DEVNULL,
	                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
	    pid = victim(run)
	    if late:
	        end = time.monotonic() + 120
	        while not os.path.exists(ready) and time.monotonic() < end:
	            time.sleep(0.002)
	    else:
	        time.sleep(random.random() * 0.004)
	    if pid is not None:
	        try:
	            os.kill(pid, signal.SIGKILL)
	        except ProcessLookupError:
	            pass
	    said = run.communicate(timeout=120)[1].decode(errors="replace")
	    ran = os.path.exists(ready)
	    if ran:
	        os.unlink(ready)
	    results[run.returncode] += 1
	    if role == "supervisor":
	        good = run.returncode == -9
	    elif role == "broker":
	        good = run.returncode == 125 and "broker" in said
	    else:
	        # Before the start it is our failure, afterwards the command's end.
	        good = run.returncode == (137 if ran else 125) and "agentbox: " in said or \
	            run.returncode == 137 and "first process was killed by signal 9" in said
	    if not good:
	        print(i, "returned", run.returncode, "ran", ran, said)
	        sys.exit(1)
	print(dict(results))
	PYTHON
	timeout 400 python3 "$TEST_DIR/kill.py" "$1" \
		"$(seq "$2" | some 4 | wc -l)" 3>&-
}

@test "residue: 120 kills of the supervisor at random moments leave nothing" {
	kill_often supervisor 120
	rm -f ready*
	unharmed "killed supervisors"
}

@test "residue: 120 kills of the box's init at random moments leave nothing" {
	kill_often init 120
	unharmed "killed inits"
}

@test "residue: 120 kills of the broker end the run with 125 and leave nothing" {
	kill_often broker 120
	unharmed "killed brokers"
}

# hold COMMAND: a run that has executed it and goes on; $pid, and of its
# processes $init and $broker.
hold()
{
	"$AGENTBOX" run -- sh -c "$1
		touch ready; while [ ! -e stop ]; do sleep 0.05; done" \
		</dev/null >"$TEST_DIR/out" 2>&1 3>&- &
	pid=$!
	wait_for 90 test -e ready
	rm ready
	init=$(child_named "$pid" agentbox-init)
	broker=$(child_named "$pid" agentbox-broker)
	[ -n "$init" ] && [ -n "$broker" ]
}

child_named()
{
	local child

	for child in $(cat "/proc/$1/task/$1/children"); do
		[ "$(cat "/proc/$child/comm")" != "$2" ] || echo "$child"
	done
}

end_of()
{
	status=0
	wait "$1" || status=$?
	output=$(cat "$TEST_DIR/out")
	printf '%s\n[status %s]\n' "$output" "$status"
}

live_runs()
{
	find "$AGENTBOX_STATE/live" -mindepth 1 -maxdepth 1 | wc -l
}

no_live_run()
{
	[ "$(live_runs)" -eq 0 ]
}

@test "residue: a killed supervisor takes daemons of the command with it" {
	hold 'setsid sleep 100 & (setsid sleep 100 &) ; nohup sleep 100 >/dev/null 2>&1 &'
	kill -KILL "$pid"
	end_of "$pid"
	[ "$status" -eq 137 ]
	# The broker removes it.
	wait_for 90 no_live_run
	[ -z "$(cgroups_left)" ]
	unharmed "a killed supervisor"
}

@test "residue: a killed broker ends the run with 125 and says so" {
	hold 'setsid sleep 100 &'
	kill -KILL "$broker"
	end_of "$pid"
	[ "$status" -eq 125 ]
	[[ "$output" == *broker* ]]
	unharmed "a killed broker"
}

@test "residue: a killed init is the command's end" {
	hold 'setsid sleep 100 &'
	kill -KILL "$init"
	end_of "$pid"
	[ "$status" -eq 137 ]
	[[ "$output" == *"agentbox: the box was ended: its first process was killed by signal 9"* ]]
	[ -z "$(cgroups_left)" ]
	unharmed "a killed init"
}

@test "residue: when the supervisor dies the broker sweeps in its place" {
	hold 'ln -s "$PWD" /tmp/way; echo evil >/tmp/way/.envrc; echo fine >made'
	kill -KILL "$pid"
	end_of "$pid"
	wait_for 90 no_live_run
	[ ! -e .envrc ]
	[ "$(cat made)" = fine ]
	rm made
	[ "$(find "$AGENTBOX_STATE/runs" -name '*envrc*' -exec cat {} +)" = evil ]
	grep -q 'supervisor was killed' "$AGENTBOX_STATE"/runs/*/audit.jsonl
	unharmed "a killed supervisor"
}

@test "residue: when everything dies at once the next run sweeps and says so" {
	hold 'ln -s "$PWD" /tmp/way; echo evil >/tmp/way/.envrc'
	kill -STOP "$broker"
	kill -KILL "$pid"
	kill -KILL "$broker"
	end_of "$pid"
	[ "$(live_runs)" -eq 1 ]
	[ -z "$(processes_left)" ]
	agentbox run -- sh -c 'cat .envrc'
	[ "$status" -ne 0 ]
	[[ "$output" == *.envrc* ]]
	[ ! -e .envrc ]
	no_live_run
	[ "$(find "$AGENTBOX_STATE/runs" -name '*envrc*' -exec cat {} +)" = evil ]
	unharmed "a killed run"
}

@test "residue: what a killed broker could not sweep the next run sweeps" {
	hold 'ln -s "$PWD" /tmp/way; echo evil >/tmp/way/.envrc'
	kill -KILL "$broker"
	end_of "$pid"
	[ "$status" -eq 125 ]
	agentbox run -- true
	[ "$status" -eq 0 ]
	[ ! -e .envrc ]
	no_live_run
	[ -z "$(cgroups_left)" ]
	unharmed "a killed broker"
}

@test "residue: a live run is not swept by another one" {
	hold true
	agentbox run -- true
	[ "$status" -eq 0 ]
	[[ "$output" != *killed* ]]
	[ "$(live_runs)" -eq 1 ]
	touch stop
	end_of "$pid"
	[ "$status" -eq 0 ]
	rm stop
	no_live_run
	unharmed "two runs"
}

# with_cgroup: a run that has ended, but is still live, and its record names a cgroup: $id, $cgroups/agentbox-$id.
# $mount_cgroups mounts the file system there. To mount it anew would change the options of the machine's own.
with_cgroup()
{
	local mounted
	mounted=$(findmnt --first-only -no TARGET -t cgroup2) || true
	cgroups=$TEST_DIR/cgroups
	export mount_cgroups="mount ${mounted:+--bind $mounted}"
	[ -n "$mounted" ] || mount_cgroups="mount -t cgroup2 none"
	agentbox run -- true
	id=$(ls "$AGENTBOX_STATE/runs")
	mv "$AGENTBOX_STATE/runs/$id" "$AGENTBOX_STATE/live/"
	sed -i -e '1s|,"cgroup":"[^"]*"||' -e "1s|\"kind\":\"start\"|&,\"cgroup\":\"$cgroups/agentbox-$id\"|" \
		"$AGENTBOX_STATE/live/$id/audit.jsonl"
	mkdir "$cgroups"
}

# bats test_tags=root
@test "residue: the cgroup of a run that ended without its broker goes with the next start" {
	local id cgroups

	only_root
	with_cgroup
	run timeout 120 unshare --mount sh -c '
		$mount_cgroups "$1" && mkdir "$1/agentbox-$2" "$1/agentbox-$2-other" || exit 77
		"$3" run -- true
		ls -d "$1/agentbox-$2"*
		rmdir "$1/agentbox-$2"*' - "$cgroups" "$id" "$AGENTBOX" </dev/null 3>&-
	echo "$output"
	[ "$status" -ne 77 ] || lacks "no cgroup can be made here: ${lines[0]}"
	# What is not the run's stays.
	[ "$output" = "$cgroups/agentbox-$id-other" ]
	no_live_run
}

# The kernel may still count a process that has been waited for.
# bats test_tags=root
@test "residue: a cgroup that is busy for a moment is removed" {
	local id cgroups fault=${AGENTBOX%/cmd/*}/test/agentbox-fault

	only_root
	! sanitized || skip "the fault program is not built with sanitizers"
	[ -x "$fault" ] || lacks "the fault program is not built"
	with_cgroup
	# It was killed just now.
	sed -i '$d' "$AGENTBOX_STATE/live/$id/audit.jsonl"
	run timeout 120 unshare --mount sh -c '
		$mount_cgroups "$1" && mkdir "$1/agentbox-$2" || exit 77
		"$4" -c rmdir -p agentbox -k 1 -e EBUSY -o "$1.hit" "$3" run -- true
		cut -d" " -f2,4 "$1.hit"
		[ ! -e "$1/agentbox-$2" ] || { echo left && rmdir "$1/agentbox-$2"; }' - \
		"$cgroups" "$id" "$AGENTBOX" "$fault" </dev/null 3>&-
	echo "$output"
	[ "$status" -ne 77 ] || lacks "no cgroup can be made here: ${lines[0]}"
	[ "$output" = "rmdir agentbox" ]
	no_live_run
}

# bats test_tags=root
@test "residue: a cgroup that a start cannot remove goes with a later one" {
	local id cgroups

	only_root
	with_cgroup
	run timeout 120 unshare --mount sh -c '
		group=$1/agentbox-$2
		$mount_cgroups "$1" && mkdir "$group" || exit 77
		sleep 300 &
		echo $! >"$group/cgroup.procs"
		"$3" run -- true
		ls -d "$group" "$AGENTBOX_STATE/live/$2"
		kill $!
		wait
		"$3" run -- true
		[ ! -e "$group" ] || { echo left && rmdir "$group"; }' - "$cgroups" "$id" "$AGENTBOX" </dev/null 3>&-
	echo "$output"
	[ "$status" -ne 77 ] || lacks "no cgroup can be made here: ${lines[0]}"
	[ "$output" = "$cgroups/agentbox-$id
$AGENTBOX_STATE/live/$id" ]
	no_live_run
	[ -e "$AGENTBOX_STATE/runs/$id" ]
}

@test "residue: folders of runs that never began are removed, once old" {
	agentbox run -- true
	mkdir -m 700 "$AGENTBOX_STATE"/live/{aaaaa,bbbbb,ccccc}
	: >"$AGENTBOX_STATE/live/bbbbb/audit.jsonl"
	echo x >"$AGENTBOX_STATE/live/ccccc/other"
	agentbox run -- true
	# They could still be at their start.
	[ "$(live_runs)" -eq 3 ]
	touch -d '2 minutes ago' "$AGENTBOX_STATE"/live/*
	agentbox run -- true
	[ "$status" -eq 0 ]
	# What we did not make stays.
	[ "$(ls "$AGENTBOX_STATE/live")" = ccccc ]
}

@test "residue: a stale record that cannot be read is said and put aside" {
	agentbox run -- true
	mkdir -m 700 "$AGENTBOX_STATE/live/aaaaa"
	echo 'not json' >"$AGENTBOX_STATE/live/aaaaa/audit.jsonl"
	agentbox run -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *aaaaa* ]]
	no_live_run
	agentbox run -- true
	[ "$output" = "" ]
}

@test "residue: the workspace is byte for byte the same after a run that changes nothing" {
	before=$(host_snapshot "$HOME")
	agentbox run -- sh -c 'ls -la . .git/hooks; cat file; touch /tmp/x /dev/shm/y /run/z'
	[ "$status" -eq 0 ]
	[ "$(host_snapshot "$HOME")" = "$before" ]
	[ ! -e /dev/shm/y ]
	[ ! -e /run/z ]
}

# In a container nobody may reap the processes that a run leaves.
@test "a run that was watched and judged leaves no process to reap" {
	run timeout 60 python3 - "$AGENTBOX" <<-'PY'
	import ctypes, os, subprocess, sys
	PR_SET_CHILD_SUBREAPER = 36
	assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
	for _ in range(5):
	    subprocess.run([sys.argv[1], "run", "--", "sh", "-c", "echo x >f; sleep 0.1"], check=True)
	try:
	    print("left:", os.waitpid(-1, os.WNOHANG))
	except ChildProcessError:
	    print("none")
	# The twin: a process that was left would be seen.
	subprocess.run(["sh", "-c", "sleep 0.01 &"], check=True)
	print("twin:", os.waitpid(-1, 0)[0] > 0)
	PY
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = none ]
	[ "${lines[1]}" = "twin: True" ]
}

@test "a run that a signal ends while it starts leaves no process to reap" {
	run timeout 120 python3 - "$AGENTBOX" <<-'PY'
	import ctypes, os, signal, subprocess, sys, time
	PR_SET_CHILD_SUBREAPER = 36
	assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
	ended = 0
	for i in range(120):
	    run = subprocess.Popen([sys.argv[1], "run", "--", "sleep", "60"], stdin=subprocess.DEVNULL,
	                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	    until = time.monotonic() + i * 5e-5
	    while time.monotonic() < until:
	        pass
	    run.send_signal(signal.SIGTERM if i % 2 else signal.SIGINT)
	    ended += run.wait() != 0
	try:
	    print("left:", os.waitpid(-1, os.WNOHANG))
	except ChildProcessError:
	    print("none")
	print("ended:", ended)
	PY
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = none ]
	[ "${lines[1]}" = "ended: 120" ]
}
