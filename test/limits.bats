# Resource limits: each is tested by exceeding it.
# root: root may exceed limits of others
# asan-root: what root does differs
load helpers

# config JSON: a configuration file for --config; limits without a flag.
config()
{
	printf '%s' "$1" >"$TEST_DIR/config.json"
}

BOMB='import os, time
n = 0
try:
    while n < 500:
        if os.fork() == 0:
            time.sleep(300)
            os._exit(0)
        n += 1
except BlockingIOError:
    print("refused after", n)'

@test "limits: a fork bomb is bounded by --processes" {
	only_user
	agentbox run --processes 20 -- python3 -c "$BOMB"
	[ "$status" -eq 0 ]
	[[ "$output" == "refused after "* ]]
	[ "${output##* }" -ge 5 ]
	[ "${output##* }" -le 20 ]
}

@test "limits: below the limit processes can be made" {
	agentbox_split run --processes 40 -- sh -c '
		for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2 & done
		wait && echo all'
	[ "$status" -eq 0 ]
	[ "$output" = all ]
}

@test "limits: a command that failed at the limit of processes is told so, no other" {
	only_user
	local many='for i in 1 2 3 4 5 6 7 8 9; do sleep 300 & done; exit 3'
	agentbox_split run --processes 5 -- sh -c "$many"
	[ "$status" -eq 2 ]
	[ "$(grep -c '^agentbox' <<<"$stderr")" -eq 1 ]
	[[ "$stderr" == *"agentbox: the limit of 5 processes was reached; raise it with --processes or limits.processes"* ]]
	# Threads count. They are gone at the end: the limit was seen before.
	agentbox_split run --processes 12 -- python3 -c '
import sys, threading, time
try:
    while True:
        threading.Thread(target=time.sleep, args=(3,)).start()
except RuntimeError as e:
    sys.exit(4)
'
	[ "$status" -eq 4 ]
	[[ "$stderr" == "agentbox: the limit of 12 processes was reached"* ]]
	# Below the limit, without a failure, and with -q there is nothing to say.
	agentbox_split run --processes 40 -- sh -c "$many"
	[ "$status" -eq 3 ]
	[ -z "$stderr" ]
	agentbox_split run --processes 5 -- sh -c 'sleep 300 & sleep 300 & sleep 300 & exit 0'
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	agentbox_split run -q --processes 5 -- sh -c "$many"
	[ "$status" -eq 2 ]
	[[ "$stderr" != *agentbox* ]]
}

@test "limits: processes of other boxes do not count" {
	only_user
	timeout 240 "$AGENTBOX" run --processes 30 -- sh -c '
		for i in $(seq 20); do sleep 200 & done
		touch ready; while [ ! -e stop ]; do sleep 0.05; done' 3>&- &
	wait_for 90 test -e ready
	agentbox run --processes 30 -- sh -c '
		for i in $(seq 20); do sleep 0.1 & done; wait && echo all'
	touch stop
	wait $!
	[ "$status" -eq 0 ]
	[ "$output" = all ]
}

# bats test_tags=root
@test "limits: root is held to --processes by a cgroup or it is said" {
	only_root
	agentbox run -v --processes 20 -- true
	[ "$status" -eq 0 ]
	if [[ "$output" == *"in force:"*" limits"* ]]; then
		agentbox run --processes 20 -- bash -c '
			for i in {1..60}; do sleep 60 & done 2>/dev/null; jobs -p | wc -l'
		[ "$status" -ne 0 ] || [ "$output" -lt 30 ]
		return 0
	fi
	agentbox run --require limits --processes 20 -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *limits*processes* ]]
	[ ! -e made ]
	agentbox run --require limits --fallback warn --processes 20 -- touch made
	[ "$status" -eq 0 ]
	[[ "$output" == *limits*processes* ]]
	[ -e made ]
}

@test "limits: that --processes has no effect for root is said, like --memory" {
	only_root
	agentbox run -v -- true
	local forks='for i in $(seq 14); do sleep 1 & done; wait; echo all'
	if [[ "$output" == *"in force:"*" limits"* ]]; then
		agentbox run --processes 10 -- sh -c "$forks"
		[[ "$output" != *"has no effect"* ]]
		return 0
	fi
	agentbox run --processes 10 -- sh -c "$forks"
	[ "$status" -eq 0 ]
	[[ "$output" == *"the limit of processes has no effect"*all* ]]
	# The default is nobody's wish.
	agentbox run -- sh -c "$forks"
	[ "$output" = all ]
}

@test "limits: --require limits holds for an ordinary user" {
	only_user
	agentbox run -v --require limits --processes 50 --files 100 -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"in force:"*limits* ]]
}

@test "limits: root in a user namespace that an ordinary user made is held to --processes" {
	only_user
	run timeout --kill-after=5 60 unshare --user --map-root-user "$AGENTBOX" run --require limits \
		--processes 20 -- sh -c 'id -u; exec python3 -c "$1"' - "$BOMB"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = 0 ]
	[[ "${lines[1]}" == "refused after "* ]]
	[ "${output##* }" -ge 5 ]
	[ "${output##* }" -le 20 ]
}

@test "limits: --files bounds open files of one process" {
	local script='
import os
fds = []
try:
    while len(fds) < 1000:
        fds.append(os.open("/dev/null", os.O_RDONLY))
except OSError as e:
    print(e.errno, len(fds))
'
	agentbox run --files 50 -- python3 -c "$script"
	[ "$status" -eq 0 ]
	[ "${output% *}" = 24 ]
	[ "${output#* }" -lt 50 ]
	[ "${output#* }" -gt 30 ]
	agentbox run --files 50 -- bash -c 'ulimit -n 60'
	[ "$status" -ne 0 ]
	agentbox run --files 50 -- bash -c 'ulimit -n 40; ulimit -n'
	[ "$output" = 40 ]
}

@test "limits: --memory bounds what one process can allocate" {
	agentbox run --memory 200M -- python3 -c 'x = bytearray(400 << 20); print(len(x))'
	[ "$status" -ne 0 ]
	[[ "$output" != *419430400* ]]
	agentbox_split run --memory 200M -- python3 -c 'x = bytearray(50 << 20); print(len(x))'
	[ "$status" -eq 0 ]
	[ "$output" = 52428800 ]
}

@test "limits: fileSize bounds a file, smaller ones can be written" {
	config '{ "limits": { "fileSize": "1M" } }'
	agentbox run --config "$TEST_DIR/config.json" -- \
		sh -c 'trap "" XFSZ; dd if=/dev/zero of=big bs=64k count=64 2>&1'
	[ "$status" -ne 0 ]
	[ "$(stat -c %s big)" -le 1048576 ]
	agentbox run --config "$TEST_DIR/config.json" -- \
		dd if=/dev/zero of=small bs=64k count=8
	[ "$status" -eq 0 ]
	[ "$(stat -c %s small)" -eq 524288 ]
}

@test "limits: cpu bounds the processor time of a process" {
	config '{ "limits": { "cpu": "1s" } }'
	agentbox run --config "$TEST_DIR/config.json" -- sh -c 'while :; do :; done'
	[ "$status" -eq 152 ]
	agentbox run --config "$TEST_DIR/config.json" -- sh -c 'sleep 1.2; echo idle'
	[ "$status" -eq 0 ]
	[ "$output" = idle ]
}

@test "limits: no core files, and the limit cannot be raised" {
	agentbox run -- bash -c 'ulimit -c; ulimit -c 1 2>/dev/null || echo no'
	[ "$output" = $'0\nno' ]
	agentbox run -- bash -c 'ulimit -c unlimited 2>/dev/null; kill -SEGV $$'
	[ "$status" -eq 139 ]
	[ -z "$(find . -name 'core*')" ]
}

@test "limits: tmpSize bounds the private folders together" {
	config '{ "filesystem": { "tmpSize": "2M" } }'
	agentbox run --config "$TEST_DIR/config.json" -- \
		sh -c 'head -c 1500000 /dev/zero >/tmp/a && head -c 1500000 /dev/zero >/dev/shm/b'
	[ "$status" -ne 0 ]
	[[ "$output" == *"No space"* ]]
	agentbox run --config "$TEST_DIR/config.json" -- \
		sh -c 'head -c 1500000 /dev/zero >/tmp/a && rm /tmp/a && head -c 1500000 /dev/zero >/dev/shm/b'
	[ "$status" -eq 0 ]
}

@test "limits: a limit that the caller has already is not raised" {
	run bash -c 'ulimit -n 40; "$AGENTBOX" run --files 200 -- bash -c "ulimit -Hn"'
	[ "$status" -eq 0 ]
	[ "$output" = 40 ]
}

@test "limits: without a limit the caller's own are kept" {
	run bash -c 'ulimit -n 77; "$AGENTBOX" run -- bash -c "ulimit -n"'
	[ "$output" = 77 ]
}

@test "limits: with too few open files the start says what it could not open, and how many it needs" {
	local files
	for files in 7 10 13 16 17 18 20 24; do
		run bash -c 'ulimit -n "$0"; timeout 240 "$AGENTBOX" run -- true 3>&-' "$files"
		echo "$files: $output"
		[ "$status" -eq 125 ]
		[[ "${lines[0]}" == "agentbox: "*": Too many open files"* ]]
		# Of what was not opened nothing else has failed.
		[[ "${lines[0]}" != *//* && "${lines[0]}" != *"lock the run's folder"* ]]
		[ "${lines[1]}" = "          too few open files are allowed: agentbox itself needs about 32; ulimit -n 1024" ]
	done
	run bash -c 'ulimit -n 64; timeout 240 "$AGENTBOX" run -- true 3>&-'
	[ "$status" -eq 0 ]
}

# Take inotify instances until there are no more, and print how many; with "hold", keep them.
INOTIFY='
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
n = 0
while libc.inotify_init1(0) >= 0:
    n += 1
print(n, flush=True)
while "hold" in sys.argv and not os.path.exists("done"):
    time.sleep(0.05)'

@test "limits: the box has a part of the user's inotify instances, and the rest is left outside" {
	need userns
	local all run
	all=$(cat /proc/sys/fs/inotify/max_user_instances)
	echo "$INOTIFY" >take.py
	ulimit -n "$(ulimit -Hn)"
	timeout 200 "$AGENTBOX" run -- python3 take.py hold >"$TEST_DIR/taken" 3>&- &
	run=$!
	wait_for 90 test -s "$TEST_DIR/taken"
	# The user's next program gets one.
	run python3 take.py
	touch done
	wait "$run"
	echo "left $output of $all"
	[ "$output" -gt 0 ]
	[ "$(cat "$TEST_DIR/taken")" -le $((all / 2)) ]
}

@test "limits: several processes, a namespace below or a raised limit give no more inotify instances" {
	need userns
	local all taken
	all=$(cat /proc/sys/fs/inotify/max_user_instances)
	echo "$INOTIFY" >take.py
	ulimit -n "$(ulimit -Hn)"
	# Each holds its own until all have taken; the judge would refuse such a command.
	cat >several.sh <<-'END'
	echo 1000 >/proc/sys/user/max_inotify_instances
	for part in "" "unshare -Ur" "unshare -Ur sh raise.sh"; do
		n=$((n + 1))
		# Root has no namespace below.
		($part python3 take.py hold || echo 0) >taken.$n &
		until [ -s taken.$n ]; do sleep 0.05; done
	done
	touch done
	wait
	cat taken.*
	END
	echo 'echo 1000 >/proc/sys/user/max_inotify_instances; exec "$@"' >raise.sh
	agentbox run --allow-userns -- sh several.sh
	[ "$status" -eq 0 ]
	mapfile -t taken < <(grep -x '[0-9]*' <<<"$output")
	[ "${#taken[@]}" -eq 3 ]
	[ "$((taken[0] + taken[1] + taken[2]))" -le $((all / 2)) ]
}

@test "limits: the box has a part of the user's watches of files" {
	need userns
	local watches
	watches=$(cat /proc/sys/fs/inotify/max_user_watches)
	agentbox run -- cat /proc/sys/user/max_inotify_watches
	[ "$output" -le $((watches * 3 / 4)) ]
	[ "$output" -gt $((watches / 2)) ]
}

@test "limits: programs that watch files work in a box" {
	need program:node
	mkdir -p watched/{1..300}
	cat >watch.js <<-'END'
	const fs = require('fs');
	let seen = 0;
	for (const name of fs.readdirSync('watched'))
		fs.watch('watched/' + name, () => {
			if (++seen === 1) { console.log('seen'); process.exit(0); }
		});
	fs.writeFileSync('watched/300/file', 'x');
	END
	agentbox run -- node watch.js
	[ "$status" -eq 0 ]
	[ "$output" = seen ]
}

@test "limits: the box has a part of the terminals, message queues and pending signals" {
	need userns
	cat >take.py <<-'END'
	import ctypes, os, pty
	n = 0
	try:
	    while n < 3000:
	        pty.openpty()
	        n += 1
	except OSError:
	    pass
	print('terminals', n)
	END
	ulimit -n "$(ulimit -Hn)"
	agentbox run -- python3 take.py
	[[ "$output" == "terminals "* && "${output#* }" -ge 200 && "${output#* }" -le 256 ]]
	# The bytes of its message queues.
	run bash -c 'ulimit -q 819200; "$AGENTBOX" run -- bash -c "ulimit -q; ulimit -q 409601 2>/dev/null || echo no"'
	[ "$output" = $'409600\nno' ]
	run bash -c 'ulimit -i 400; "$AGENTBOX" run -- bash -c "ulimit -i; ulimit -i 300 2>/dev/null || echo no"'
	[ "$output" = $'200\nno' ]
}

@test "limits: a timeout with every unit, and none" {
	local begun=$SECONDS

	agentbox run --timeout 250ms -- sleep 100
	[ "$status" -eq 124 ]
	agentbox run --timeout 1s -- sleep 100
	[ "$status" -eq 124 ]
	[ $((SECONDS - begun)) -lt 90 ]
	agentbox run --timeout 1h30m -- true
	[ "$status" -eq 0 ]
	agentbox run --timeout none -- true
	[ "$status" -eq 0 ]
}

@test "limits: the time limit covers children that the command started" {
	agentbox run --timeout 400ms -- sh -c 'setsid sleep 60 & sleep 60'
	[ "$status" -eq 124 ]
	# box_teardown looks for what is left.
}

@test "limits: that memory is limited per process and sampled is said and recorded" {
	agentbox run -v --memory 1G -- true
	[ "$status" -eq 0 ]
	if [[ "$output" == *"only sampled"* ]]; then
		grep -q '"memory_limit":"sampled"' "$AGENTBOX_STATE"/runs/*/audit.jsonl
	else
		# A machine that delegates a cgroup holds the box as a whole.
		grep -q '"memory_limit":"box"' "$AGENTBOX_STATE"/runs/*/audit.jsonl
	fi
	# Without a limit there is nothing to say.
	agentbox run -v -- true
	[[ "$output" != *sampled* ]]
}
