# The record of a run: its content, the copy that --audit makes, and that nothing
# runs without a record.
# root-in-turn: files of root are trusted by other rules of ownership
load helpers

# The record of the only run.
record()
{
	cat "$AGENTBOX_STATE"/runs/*/audit.jsonl
}

kinds()
{
	jq -r .kind "$@" | xargs
}

# refused ARG...: the run does not start, and says so in its own words. What
# it was to run would leave a file.
refused()
{
	agentbox run "$@" -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == "agentbox: "* ]]
	[ ! -e ran ]
}

@test "record: start, assurance and end, a line each" {
	agentbox run -- true
	[ "$status" -eq 0 ]
	[ "$(record | kinds)" = "start assurance end" ]
	[ "$(stat -c %a "$AGENTBOX_STATE"/runs/*/audit.jsonl)" = 600 ]
	[ "$(record | jq -rs 'map(.run_id) | unique | length')" -eq 1 ]
	record | jq -es 'all(.timestamp | test("^[0-9-]{10}T[0-9:]{8}\\.[0-9]{3}Z$"))'
	record | jq -es '.[0] | .init > 1 and .init_started > 0'
}

# on_disk DIR SIZE COMMAND CMD...: CMD where DIR is a disk of its own, on which
# COMMAND was run.
on_disk()
{
	local as=() dir=$1 size=$2 command=$3

	shift 3
	[ "$(id -u)" -eq 0 ] || as=(--user --map-root-user)
	mkdir -p "$dir"
	run timeout 240 unshare "${as[@]}" --mount sh -c 'mount -t tmpfs -o "size=$1,mode=700" none "$0" &&
		cd "$0" && eval "$2" && cd "$OLDPWD" && shift 2 && exec "$@"' "$dir" "$size" "$command" "$@"
	echo "$output"
}

@test "record: a run without it does not start" {
	need userns
	on_disk "$AGENTBOX_STATE" 64k '{ head -c 100000 /dev/zero >full || :; } 2>/dev/null' \
		"$AGENTBOX" run -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"write the run's record: No space left"* ]]
	[ ! -e ran ]
}

@test "audit: a file gets a copy, run after run" {
	agentbox run --audit ../log -- true
	[ "$status" -eq 0 ]
	record | cmp - ../log
	[ "$(stat -c %a ../log)" = 600 ]
	agentbox run --audit ../log -- false
	[ "$status" -eq 1 ]
	[ "$(kinds ../log)" = "start assurance end start assurance end" ]
}

@test "audit: the box cannot change a file in its own workspace" {
	mkdir -p logs/deep
	agentbox run --audit logs/deep/log -- sh -c '
		echo forged >>logs/deep/log
		true >logs/deep/log
		rm -f logs/deep/log
		mv logs/deep/log logs/deep/other
		mv logs/deep logs/other
		mv logs other
		ln logs/deep/log logs/second && echo forged >>logs/second
		chmod 666 logs/deep/log
		echo fine >logs/deep/beside && echo wrote it'
	[ "$status" -eq 0 ]
	[[ "$output" == *"wrote it"* ]]
	[ "$(cat logs/deep/beside)" = fine ]
	record | cmp - logs/deep/log
	[ ! -e logs/second ]
	[ "$(stat -c %a logs/deep/log)" = 600 ]
}

@test "audit: nor one that is open already" {
	run bash -c 'exec 5>>log; exec "$@"' - "$AGENTBOX" run --audit 5 -- sh -c '
		echo forged >>log || echo closed; echo forged >&5'
	echo "$output"
	[[ "$output" == *closed* ]]
	record | cmp - log
}

@test "audit: the command does not get the descriptor" {
	run bash -c 'exec 5>../log; exec "$@"' - "$AGENTBOX" run --audit 5 -- \
		sh -c 'ls /proc/self/fd; readlink /proc/self/fd/* | grep -c log'
	echo "$output"
	[ "${lines[-1]}" = 0 ]
	# Unless it was named.
	run bash -c 'exec 5>../log; exec "$@"' - "$AGENTBOX" run --audit 5 --fd 5 -- \
		sh -c 'echo "{\"kind\":\"own\"}" >&5'
	[ "$status" -eq 0 ]
	[ "$(kinds ../log | xargs -n 1 | sort | xargs)" = "assurance end own start" ]
}

@test "audit: a pipe and a FIFO" {
	run bash -c '"$@" 5> >(cat >../piped); wait $!' - "$AGENTBOX" run --audit 5 -- true
	[ "$status" -eq 0 ]
	wait_for 90 grep -q '"end"' ../piped
	record | cmp - ../piped
	rm -r "$AGENTBOX_STATE"
	mkfifo fifo
	cat fifo >../piped 3>&- &
	# Waits until it is read.
	exec 8>fifo
	agentbox run --audit fifo -- sh -c 'ls -l fifo; echo forged >fifo || echo closed' 8>&-
	exec 8>&-
	wait $!
	[ "$status" -eq 0 ]
	[[ "$output" == *closed* ]]
	record | cmp - ../piped
}

@test "audit: what it may not be" {
	: >file
	ln -s file link
	ln -s nowhere dangling
	refused --audit link
	refused --audit dangling
	[ ! -e nowhere ]
	refused --audit .
	refused --audit none/log
	[[ "$output" == *"No such file"* ]]
	refused --audit ''
	refused --audit /dev/full
	refused --audit /dev/null
	chmod 666 file
	refused --audit file
	[[ "$output" == *"chmod go-w file"* ]]
	chmod 600 file
	ln file second
	refused --audit file
	rm second
	mkfifo fifo
	refused --audit fifo
	[[ "$output" == *"no process reads"* ]]
	[ ! -s file ]
	# Its twin.
	agentbox run --audit file -- true
	[ "$status" -eq 0 ]
	[ -s file ]
	# The key that signs records, and the records of other runs.
	sum=$(sha256sum "$AGENTBOX_STATE/record.key")
	refused --audit "$AGENTBOX_STATE/record.key"
	[[ "$output" == *"is in the state folder"* ]]
	[ "$(sha256sum "$AGENTBOX_STATE/record.key")" = "$sum" ]
}

# bats test_tags=root
@test "audit: a file of another user" {
	only_root
	: >file
	chown 12345 file
	refused --audit file
	[[ "$output" == *"another user"* ]]
}

@test "audit: descriptors that it may not be" {
	refused --audit 0
	refused --audit 1
	refused --audit 2
	[[ "$output" == *"the command has"* ]]
	refused --audit 93
	refused --audit 99999999999999999999
	run bash -c 'exec 5<"$0"; exec "$@"' "$HOME/.gitconfig" "$AGENTBOX" run --audit 5 -- touch ran
	[ "$status" -eq 125 ]
	run bash -c 'exec 5>/dev/full; exec "$@"' - "$AGENTBOX" run --audit 5 -- touch ran
	echo "$output"
	[ "$status" -eq 125 ]
	[[ "$output" == *"No space left"* ]]
	[ ! -e ran ]
}

@test "audit: not what the command writes to by itself" {
	run bash -c '"$@" >out' - "$AGENTBOX" run --audit out -- touch ran
	echo "$output"
	[ "$status" -eq 125 ]
	[[ "$output" == *"standard output"* ]]
	run bash -c '"$@" 5>&1 | cat' - "$AGENTBOX" run --audit 5 -- touch ran
	[[ "$output" == *"standard output"* ]]
	[ ! -e ran ]
	# Two different ones are fine.
	run bash -c '"$@" >out' - "$AGENTBOX" run --audit other -- echo hello
	[ "$status" -eq 0 ]
	[ "$(cat out)" = hello ]
	[ "$(kinds other)" = "start assurance end" ]
}

@test "audit: not a terminal" {
	need program:tmux
	tty_run bash -c 'exec 5>/dev/tty; exec "$@"' - "$AGENTBOX" run --audit 5 -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"terminal"* ]]
	[ ! -e ran ]
}

@test "audit: a reader that leaves ends the run" {
	# It takes the first record and lets the pipe go, then it says so: in the workspace, because
	# in its home folder a box never sees a file that it has looked for too early.
	run bash -c 'exec 5> >(head -n 1 >../first; exec <&-; echo gone >gone); exec "$@"' - \
		timeout 240 "$AGENTBOX" run --audit 5 -- \
		sh -c 'until [ -e gone ]; do sleep 0.05; done; exit 3'
	echo "$output"
	[ "$status" -eq 125 ]
	[[ "$output" == *"--audit 5"* ]]
	# The run's own record has it all.
	[[ "$(record | kinds)" == "start "*"end" ]]
}

@test "audit: a reader that does not read is not waited for" {
	# A pipe of one page, which the first record does not fit into.
	run timeout 240 python3 - "$AGENTBOX" <<-'PYTHON'
	import fcntl, os, subprocess, sys
	r, w = os.pipe()
	fcntl.fcntl(w, 1031, 4096)
	p = subprocess.run([sys.argv[1], "run", "--audit", str(w), "--",
	                    "touch", "ran"], pass_fds=[w])
	sys.exit(p.returncode)
	PYTHON
	echo "$output"
	[ "$status" -eq 125 ]
	[[ "$output" == *"no process reads"* ]]
	[ ! -e ran ]
}

# Requests that are all denied; each is on record.
knock()
{
	cat >knock.py <<-'PYTHON'
	import socket, sys
	for i in range(int(sys.argv[1])):
	    s = socket.create_connection(("127.0.0.1", 61080))
	    s.sendall(b"GET http://h%d.test/ HTTP/1.1\r\nHost: h%d.test\r\n\r\n" % (i, i))
	    if not s.recv(4096).startswith(b"HTTP/1.1 403"):
	        break
	print("knocked", i + 1)
	PYTHON
	echo python3 knock.py "$1"
}

@test "audit: a disk that gets full ends a strict run" {
	need userns
	on_disk "$TEST_DIR/disk" 64k : "$AGENTBOX" run -q --net filtered --unknown deny \
		--audit "$TEST_DIR/disk/log" -- $(knock 2000)
	[ "$status" -eq 125 ]
	[[ "$output" == *"disk/log: No space left"* ]]
	# Its twin has room for them.
	on_disk "$TEST_DIR/disk" 8m : "$AGENTBOX" run -q --net filtered --unknown deny \
		--audit "$TEST_DIR/disk/log" -- $(knock 2000)
	[ "$status" -eq 0 ]
	[[ "$output" == *"knocked 2000"* ]]
}

# A denial waits a tenth of a second for the name of the process. On a slow machine that may be too short.
named()
{
	rm -rf "$AGENTBOX_STATE"
	agentbox run --net filtered --unknown deny -- $(knock 3)
	[ "$(grep -c 'not on the allow list  python3' <<<"$output")" -eq 3 ]
}

@test "record: what is denied has an id, a reason and the words that allow it" {
	wait_for 90 named
	[ "$status" -eq 0 ]
	local id
	id=$(record | jq -r 'select(.kind == "violation" and .domain == "h2.test").id')
	[[ "$id" == *-3 ]]
	record | jq -es --arg id "$id" 'map(select(.id == $id)) | length == 2 and
		(.[0] | .kind == "violation" and .reason == "not on the allow list" and
		.rule == "network.allow" and .hint == "agentbox run --allow h2.test -- ...") and
		(.[1] | .kind == "request" and .status == 403 and .allowed == false)'
	# The same at the end, as lines that belong together.
	[[ "$output" == *"agentbox: 3 requests were denied"$'\n'"  "* ]]
	[[ "$output" == *$'\n'"  $id  h2.test:80  not on the allow list  python3"*$'\n'* ]]
	[[ "$output" == *" next time:  agentbox run --allow h0.test --allow h1.test --allow h2.test "* ]]
}

@test "audit: when the supervisor is killed the copy says so as well" {
	"$AGENTBOX" run --audit ../log -- sleep 300 3>&- &
	wait_for 90 grep -qs '"kind":"assurance"' ../log
	kill -KILL "$(head -n 1 ../log | jq .pid)"
	wait_for 90 grep -q 'supervisor was killed' ../log
	[ "$(kinds ../log)" = "start assurance end" ]
	wait_for 90 grep -qrs 'supervisor was killed' "$AGENTBOX_STATE/runs"
	record | cmp - ../log
}

@test "audit: inside a box there is none" {
	agentbox run -- "$AGENTBOX" run --audit log -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"outer run"* ]]
	[ ! -e ran ]
	[ ! -e log ]
}

@test "audit: the box does not see the record in the state folder" {
	agentbox run --audit ../log -- sh -c 'cat ../log | head -c 1; ls "$1" || echo hidden' - "$AGENTBOX_STATE"
	[[ "$output" == *hidden* ]]
}

@test "record: a long one of a killed run is still swept" {
	"$AGENTBOX" run -- sleep 300 3>&- &
	local pid=$! dir
	wait_for 90 grep -qrs assurance "$AGENTBOX_STATE/live"
	dir=$(echo "$AGENTBOX_STATE"/live/*)
	# More than a first line may be long.
	head -c 6000000 /dev/zero | tr '\0' '\n' >>"$dir/audit.jsonl"
	# The broker too, at once: nobody is left to sweep.
	kill -STOP "$pid"
	kill -KILL $(cat "/proc/$pid/task/$pid/children") "$pid"
	wait "$pid" || true
	# What else the run had started is ending, and holds its lock until then.
	wait_for 90 flock -n "$dir" true
	: >.envrc
	agentbox run -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *".envrc); moved to "* ]]
	[ ! -e .envrc ]
}
