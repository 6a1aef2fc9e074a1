# Socket files that a program outside makes while the box runs, or whose name no
# list has. They cross every namespace; the box's connections are judged one by one.
# root-in-turn: no permission of a file stops root, so only the walls can
UNJUDGED=1
load helpers
load attack/attack

setup_file()
{
	attack_build sockets peer
}

teardown_file()
{
	attack_clean
}

# In a layer a socket of the host cannot be reached anyway (home_layer.bats).
setup()
{
	box_setup
	readonly_home
}

teardown()
{
	stop_peers
	box_teardown
}

# in_late_box [OPTION...] -- SCRIPT [ARG...]: the script runs in a box once the
# function late() has made its sockets outside, and its output is $output.
in_late_box()
{
	local options=() script

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	script=$2
	shift 2
	"$AGENTBOX" run "${options[@]}" -- sh -c '
		echo >started
		until [ -e "$WORKSPACE/go" ]; do sleep 0.05; done
		'"$script" sh "$ATTACK/sockets" "$@" >"$TEST_DIR/out" 2>"$TEST_DIR/err" 3>&- &
	local box=$!

	wait_for 90 test -e started
	late
	touch "$WORKSPACE/go"
	wait "$box" || true
	output=$(cat "$TEST_DIR/out")
}

# The kernel itself holds this, or the proof says that the box does.
holds_late()
{
	agentbox run -v -- true
	[[ "$output" == *force:*ipc-fence-late* ]]
}

@test "a socket that the host makes later is out of reach" {
	late()
	{
		host_peer stream "$HOME/late"
	}
	holds_late
	in_late_box -- '"$1" stream "$2"; "$1" own ./own; "$1" own /tmp/own; "$1" own @own
		"$1" own-tcp' "$HOME/late"
	expect <<-END
	stream: EACCES
	own: ok
	own: ok
	own: ok
	own-tcp: ok
	END
	[ "$(heard)" -eq 0 ]
	# It does answer to others.
	"$ATTACK/sockets" stream "$HOME/late"
	wait_for 90 eval '[ "$(heard)" -eq 1 ]'
}

@test "a socket that the host bound by a relative name, or renamed, is out of reach" {
	late()
	{
		true
	}
	mkdir "$HOME/dir"
	pushd "$HOME/dir"
	host_peer stream relative
	popd
	in_late_box -- '"$1" stream "$2"; cd "$3" && "$1" stream relative' "$HOME/dir/relative" "$HOME/dir"
	expect <<-END
	stream: EACCES
	stream: EACCES
	END
	[ "$(heard)" -eq 0 ]
	host_peer stream "$HOME/before"
	mv "$HOME/before" "$HOME/after"
	rm -f "$WORKSPACE/go" started
	in_late_box -- '"$1" stream "$2"' "$HOME/after"
	[ "$output" = "stream: EACCES" ]
	[ "$(heard)" -eq 0 ]
}

@test "a socket of another network namespace is out of reach" {
	need userns
	late()
	{
		true
	}
	# It is there at the start, and no list of this namespace has its name.
	PEER_LOG=$TEST_DIR/far.log
	unshare --user --map-current-user --net "$ATTACK/peer" stream "$HOME/far" "$PEER_LOG" </dev/null 3>&- &
	PEERS+=($!)
	wait_for 90 test -s "$PEER_LOG"
	! grep -qF "$HOME/far" /proc/net/unix || false
	in_late_box -- '"$1" stream "$2"; "$1" own ./own' "$HOME/far"
	expect <<-END
	stream: EACCES
	own: ok
	END
	[ "$(heard)" -eq 0 ]
	# It does answer to others.
	"$ATTACK/sockets" stream "$HOME/far"
	wait_for 90 eval '[ "$(heard)" -eq 1 ]'
}

@test "the fence is not claimed where the box has the host's network" {
	have_landlock 9 && skip "the kernel makes the connections"
	agentbox run -v --net allowed -- true
	[ "$status" -eq 0 ]
	[[ "$output" != *force:*ipc-fence-late* && "$output" == *force:*ipc-fence* ]]
	agentbox run --net allowed --require ipc-fence-late -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *"missing guarantees: ipc-fence-late"* ]]
	[ ! -e made ]
	holds_late
}

@test "a server in the box sees who connects, and no process" {
	have_landlock 9 && skip "the kernel makes the connections"
	need program:python3
	cat >seen.py <<-'END'
	import os, socket, struct
	server = socket.socket(socket.AF_UNIX)
	server.bind("own")
	server.listen()
	client = socket.socket(socket.AF_UNIX)
	client.connect("own")
	pid, uid, gid = struct.unpack("iII", server.accept()[0].getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
	print(pid, uid == os.getuid(), gid == os.getgid())
	END
	# The twin: without a box the process is known.
	run python3 seen.py
	[[ "$output" =~ ^[1-9][0-9]*" True True"$ ]]
	rm own
	agentbox run -- python3 seen.py
	[ "$output" = "0 True True" ]
}

@test "a later socket is reached by no link, and by none of the names in /proc" {
	late()
	{
		host_peer stream "$HOME/late"
	}
	ln -s "$HOME/late" link
	in_late_box -- '"$1" stream link; "$1" stream "/proc/self/root$2"
		"$1" stream "/proc/self/cwd/../$(basename "$HOME")/late"' "$HOME/late"
	[[ "$output" != *ok* ]]
	[ "$(grep -c '^stream: ' <<<"$output")" -eq 3 ]
	[ "$(heard)" -eq 0 ]
}

@test "a thread that exchanges the address or the descriptor gains nothing" {
	late()
	{
		host_peer stream "$HOME/late"
	}
	in_late_box -- '"$1" race-path "$2"; "$1" race-descriptor "$2"' "$HOME/late"
	expect <<-END
	race-path: ok
	race-descriptor: ok
	END
	# Its own socket was reached meanwhile.
	grep -Eq '^[1-9][0-9]* of 3000 connected' "$TEST_DIR/err"
	[ "$(heard)" -eq 0 ]
}

@test "datagrams to a later socket: the box has no such sockets, unless they are allowed" {
	need program:python3
	late()
	{
		host_peer dgram "$HOME/late"
	}
	in_late_box -- 'for way in connect sendto sendmsg sendmmsg; do "$1" dgram-$way "$2"; done' \
		"$HOME/late"
	[[ "$output" != *ok* ]]
	[ "$(heard)" -eq 0 ]
	# A kernel that judges where datagrams go needs nothing else.
	if have_landlock 9; then
		agentbox run -- "$ATTACK/sockets" local-dgram
		[ "$output" = "local-dgram: ok" ]
		return
	fi
	agentbox_split run -- python3 "$ROOT/test/attack/datagrams.py"
	expect <<-END
	Permission denied
	Permission denied
	Permission denied
	made
	made
	END
	# Programs that log do without: it is told only if the command failed.
	[ "$stderr" = "" ]
	agentbox why last
	[[ "$output" == *"denied create a Unix datagram socket: it could reach a socket of the host"* ]]
	[[ "$output" == *'{ "filesystem": { "unixDatagrams": "allow" } } in the settings.' ]]
	agentbox run -- sh -c 'python3 "$1"; exit 1' sh "$ROOT/test/attack/datagrams.py"
	[[ "$output" == *"create a Unix datagram socket  "*"what to do:  agentbox why "*-f1 ]]
	# Named by the policy, all of them are possible, and the guarantee is not claimed.
	echo "{\"filesystem\":{\"unixDatagrams\":\"allow\"}}" >"$HOME/datagrams.json"
	agentbox run -v --config "$HOME/datagrams.json" -- "$ATTACK/sockets" local-dgram
	[[ "$output" == *"local-dgram: ok"* ]]
	[[ "$output" != *force:*ipc-fence-late* ]]
}

@test "connections keep their meaning: refusals, non-blocking, limits, threads, full queues" {
	need program:python3
	agentbox run -- python3 "$ROOT/test/attack/connections.py"
	expect <<-END
	as in the kernel
	as in the kernel
	as in the kernel
	non-blocking
	as in the kernel
	waited
	threads
	crowd []
	as in the kernel
	netlink
	END
}

@test "a socket of the host's network that was passed in is connected nowhere else" {
	have_landlock 9 && skip "the kernel makes the connections"
	need program:python3
	run -0 --separate-stderr timeout 90 python3 "$ROOT/test/attack/passed_socket.py" \
		"$AGENTBOX" run -- python3 "$ROOT/test/attack/passed_socket.py"
	expect <<-END
	tcp Permission denied
	tcp Permission denied
	tcp not reached
	tcp still usable
	unix Permission denied
	unix not reached
	END
}

@test "a socket that changes to blocking in the middle holds up nobody else" {
	have_landlock 9 && skip "the kernel makes the connections"
	agentbox run -- timeout 90 "$ATTACK/sockets" block-judge own
	[ "$output" = "block-judge: ok" ]
}

# bats test_tags=root
@test "root in the box reaches no socket in a folder that is closed to it" {
	only_root
	late()
	{
		for dir in shut open; do
			mkdir "$dir"
			host_peer stream "$PWD/$dir/s"
			chmod 777 "$dir/s"
			chown 1234:1234 "$dir" "$dir/s"
		done
		chmod 700 shut
		chmod 755 open
	}
	in_late_box -- '"$1" stream shut/s; "$1" stream open/s'
	expect <<-END
	stream: EACCES
	stream: ok
	END
}
