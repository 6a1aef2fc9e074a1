# root-in-turn: a datagram is denied and recorded alike whoever runs the box
# Datagrams that the box tries to send are denied, and recorded when they are sent: by the kernel, whose log the
# proxy reads, or in the engine no-namespaces by the guard.
UNJUDGED=1
load helpers
load internet
load screen
load attack/attack

# The records of datagrams in the newest run, active or ended.
datagrams()
{
	"$AGENTBOX" log --json 2>/dev/null | jq -c 'select(.kind == "violation" and .protocol == "udp")'
}

# is_recorded FILTER: is there one of a datagram for which FILTER is true?
is_recorded()
{
	datagrams | jq -se "any(.[]; $1)" >/dev/null
}

# Starts a script in a box that sends until the file `stop` is there. It has keep_sending and the
# names of door.py. What a sender is told depends on the engine.
sender_start()
{
	door_script < <(
		cat <<-'END'
		def keep_sending(*sends):
		    while not os.path.exists("stop"):
		        for send in sends:
		            outcome(send)
		        time.sleep(0.2)
		V4, V6, UDP = socket.AF_INET, socket.AF_INET6, socket.SOCK_DGRAM
		def connected(family, host, port):
		    s = socket.socket(family, UDP)
		    s.connect((host, port))
		    return lambda: s.send(b"x" * 1200)
		def loose(family, host, port):
		    s = socket.socket(family, UDP)
		    return lambda: s.sendto(b"x", (host, port))
		END
		cat
	)
	box_start run "$@" -- python3 "$SCRIPT" sender
}

sender_end()
{
	: >stop
	box_end
	rm stop
	[ "$status" -eq 0 ]
}

# recorded_when_sent ENGINE
recorded_when_sent()
{
	sender_start --engine "$1" --allow allowed.test <<-'END'
	keep_sending(connected(V4, "203.0.113.9", 443), loose(V4, "203.0.113.9", 5353),
	             connected(V6, "2001:db8::9", 443), loose(V6, "2001:db8::9", 5353),
	             loose(V6, "::ffff:203.0.113.9", 8443), connected(V6, "::ffff:203.0.113.9", 9443),
	             # As a client of QUIC: the address of an allowed name is no way out.
	             connected(V4, address("allowed.test"), 443))
	END
	local where
	for where in 203.0.113.9:443 203.0.113.9:5353 2001:db8::9:443 2001:db8::9:5353 \
		203.0.113.9:8443 203.0.113.9:9443 allowed.test:443; do
		# The run is active: it ends when we say so.
		wait_for 90 is_recorded "\"\(.domain):\(.port)\" == \"$where\" and .process[0].argv[-1] == \"sender\""
	done
	[ "$(datagrams | jq -r '"\(.allowed) \(.rule) \(.door) \(.packets >= 1)"' | sort -u)" = "false network.mode udp true" ]
	local id
	id=$(datagrams | jq -r 'select(.domain == "allowed.test" and .process).id' | head -n 1)
	agentbox log
	grep -qE "denied +udp to allowed.test:443.*  only TCP connections leave the box  by python3[^ ]*, pid [0-9]+  $id\$" <<<"$output"
	grep -qE 'denied +udp to \[2001:db8::9\]:443' <<<"$output"
	agentbox why "$id"
	[ "$status" -eq 0 ]
	[[ "$output" == "agentbox denied udp to allowed.test:443"*"(rule network.mode, id $id)."* ]]
	[[ "$output" == *"The process was "*"sender (pid "* ]]
	[[ "$output" == *"The run is active"*"can only open TCP connections"* ]]
	tty_start "$AGENTBOX" watch
	tty_wait 'denied +udp to .*203.0.113.9'
	tty_type q
	tty_end
	# Nothing lifts it, and the command says so.
	agentbox allow "$id"
	[ "$status" -ne 0 ]
	[[ "$output" == *"$id cannot be allowed: only TCP connections leave the box"* ]]
	sender_end
	# The names of requests and of packets are told apart at the end, too.
	grep -qE "^  $id +udp to allowed.test:443 +only TCP connections leave the box" "$TEST_DIR/box.err"
	[ "$(audit 'select(.kind == "end") | .requests_denied')" -eq 0 ]
	[ -z "$(origin_connections)" ]
}

@test "udp: a denied datagram is recorded when it is sent, with destination and process" {
	recorded_when_sent full
}

@test "udp: so it is without namespaces, where the guard denies it" {
	recorded_when_sent no-namespaces
	# Nothing is left to count.
	agentbox run -v --engine no-namespaces -- true
	[[ "$output" == *"net-fence"* && "$output" != *"only counted"* ]]
}

@test "udp: names by the box's own server and datagrams inside the box leave no record" {
	box_python --allow allowed.test <<-'END'
	say("name", lookup("allowed.test").split()[0])
	# Every name server is the box's own.
	for server in "203.0.113.9", "2001:db8::9":
	    say(server, b"\x07allowed\x04test" in dns_send(dns_query("allowed.test"), server))
	for at, family in ("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6):
	    server, client = (socket.socket(family, socket.SOCK_DGRAM) for _ in range(2))
	    server.bind((at, 0))
	    client.sendto(b"inside", server.getsockname()[:2])
	    say(at, server.recv(10).decode())
	END
	[ "$status" -eq 0 ]
	expect <<-END
	name: ok
	203.0.113.9: True
	2001:db8::9: True
	127.0.0.1: inside
	::1: inside
	END
	[ -z "$stderr" ]
	[ -z "$(audit 'select(.kind == "violation")')" ]
}

@test "udp: a process that cannot be known is not guessed" {
	# Two processes have a socket at the port of the datagram.
	sender_start <<-'END'
	def at_port(family, address, port):
	    s = socket.socket(family, UDP)
	    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
	    s.bind((address, port))
	    return s
	mine = at_port(V4, "0.0.0.0", 0)
	if not os.fork():
	    mine = at_port(V4, "0.0.0.0", mine.getsockname()[1])
	    os.close(os.open("second", os.O_CREAT))
	    keep_sending()
	    os._exit(0)
	while not os.path.exists("second"):
	    time.sleep(0.05)
	keep_sending(lambda: mine.sendto(b"x", ("203.0.113.9", 7)), loose(V4, "203.0.113.9", 8))
	END
	wait_for 90 is_recorded '.port == 7'
	wait_for 90 is_recorded '.port == 8 and .process[0].argv[-1] == "sender"'
	[ -z "$(datagrams | jq 'select(.port == 7 and .process)')" ]
	local id
	id=$(datagrams | jq -r 'select(.port == 7).id' | head -n 1)
	agentbox log
	grep -qE "denied +udp to 203.0.113.9:7(, [0-9]+ packets)?  only TCP .*  process not known  $id\$" <<<"$output"
	agentbox why "$id"
	[[ "$output" == *"The process is not known: "* ]]
	sender_end
	grep -qE "^  $id +udp to 203.0.113.9:7 .*process not known" "$TEST_DIR/box.err"
}

@test "udp: no process is blamed for a datagram that has the address of its socket" {
	# The kernel lets a program choose any local address, and here each is local.
	sender_start <<-'END'
	port = socket.socket(V4, UDP)
	port.bind(("127.0.0.1", 0))
	port = port.getsockname()[1]
	if not os.fork():
	    innocent = socket.socket(V4, UDP)
	    innocent.bind(("127.0.0.1", port))
	    os.close(os.open("second", os.O_CREAT))
	    keep_sending()
	    os._exit(0)
	while not os.path.exists("second"):
	    time.sleep(0.05)
	mine = socket.socket(V4, UDP)
	mine.bind(("127.0.0.2", port))
	source = [(socket.IPPROTO_IP, 8, bytes(4) + socket.inet_aton("127.0.0.1") + bytes(4))] # IP_PKTINFO
	keep_sending(lambda: mine.sendmsg([b"x"], source, 0, ("203.0.113.9", 7)), loose(V4, "203.0.113.9", 8))
	END
	wait_for 90 is_recorded '.port == 7'
	wait_for 90 is_recorded '.port == 8 and .process[0].argv[-1] == "sender"'
	[ -z "$(datagrams | jq 'select(.port == 7 and .process)')" ]
	sender_end
}

@test "udp: who makes a connection is known in a flood, too" {
	# The process of a datagram is slow to find among many sockets.
	door_script <<-'END'
	held = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(500)]
	for s in held:
	    s.bind(("127.0.0.1", 0))
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	for port in range(1, 101):
	    s.sendto(b"x", ("203.0.113.9", port))
	forward("other.test")
	END
	known()
	{
		agentbox run --unknown deny -- python3 "$SCRIPT"
		[ "$status" -eq 0 ] || return
		[ "$(audit 'select(.kind == "violation" and .door != "udp") | .process != null')" = true ]
	}
	# The client waits for a moment only: on a busy machine once is enough.
	wait_for 90 known
}

@test "udp: a burst of datagrams before the first held call does not end the run" {
	local child command init broker
	told_denials()
	{
		[ "$(grep -c '"door":"udp"' "$AGENTBOX_STATE"/live/*/audit.jsonl)" -ge "$1" ]
	}
	mkfifo go
	# Nothing before the connection is held.
	door_script <<-'END'
	print("up", flush=True)
	open("go").read()
	s = socket.socket(V4 := socket.AF_INET, socket.SOCK_DGRAM)
	for port in range(1, 201):
	    s.sendto(b"x", ("203.0.113.9", port))
	print("sent", flush=True)
	socket.socket(V4).connect_ex(("203.0.113.9", 1))
	print("end", flush=True)
	END
	"$AGENTBOX" run --unknown deny -- python3 "$SCRIPT" >"$TEST_DIR/box.out" 2>"$TEST_DIR/box.err" 3>&- &
	PEERS+=($!)
	wait_for 90 grep -qx up "$TEST_DIR/box.out"
	for child in $(cat "/proc/$!/task/$!/children"); do
		case $(cat "/proc/$child/comm") in
		agentbox-init) init=$child ;;
		agentbox-broker) broker=$child ;;
		esac
	done
	# It is slow.
	kill -STOP "$broker"
	echo >go
	wait_for 90 grep -qx sent "$TEST_DIR/box.out"
	# Its call is held, and the owners of the datagrams were asked for in vain.
	for command in $(cat "/proc/$init/task/$init/children"); do
		wait_for 90 grep -q '^State:.S' "/proc/$command/status"
	done
	wait_for 90 told_denials 100
	kill -CONT "$broker"
	status=0
	wait $! || status=$?
	cat "$TEST_DIR/box.err"
	[ "$status" -eq 0 ]
	grep -qx end "$TEST_DIR/box.out"
}

@test "udp: what a command sends just before it ends is recorded" {
	box_python --unknown deny <<-'END'
	forward("other.test")
	socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("203.0.113.9", 443))
	END
	[ "$status" -eq 0 ]
	[ "$(datagrams | jq -r '"\(.domain):\(.port) \(.packets)"')" = "203.0.113.9:443 1" ]
	[[ "$stderr" == "agentbox: 1 request and 1 packet were denied"*"udp to 203.0.113.9:443"* ]]
	# It is a denial like others, and the last one.
	agentbox why last
	[[ "$output" == "agentbox denied udp to 203.0.113.9:443: "* ]]
}

@test "udp: without namespaces the process is known though it has ended, and others have its socket" {
	local deep
	# A record has no room for this path.
	printf -v deep '%s/' "$(printf '\001%.0s' {1..250})"{,,,,,,,}
	mkdir -p "$deep"
	cp "$(realpath "$(command -v python3)")" "$deep/python3"
	box_python --engine no-namespaces --allow allowed.test --env PYTHONHOME=/usr <<-'END'
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	s.connect(("203.0.113.9", 443))
	def send_from(name, program="python3"):
	    sender = os.fork()
	    if not sender:
	        os.execlp(program, "python3", "-c", "import socket; socket.socket(fileno=%d).send(b'x')"
	                  % os.dup2(s.fileno(), 9), name)
	    say(name[:9], os.waitstatus_to_exitcode(os.waitpid(sender, 0)[1]))
	send_from("one")
	send_from("two")
	send_from("x" * 900)
	send_from("x" * 2000)
	while (below := [entry.path for entry in os.scandir() if entry.name[0] == "\1"]):
	    os.chdir(below[0])
	send_from("deep", "./python3")
	# The kernel takes these without asking the guard, and keeps them.
	say("kept", [s.send(b"x" * 4096), os.write(s.fileno(), b"x")])
	say("tcp", forward("allowed.test"))
	END
	[ "$status" -eq 0 ]
	# Each was told that it failed.
	expect <<-END
	one: 1
	two: 1
	xxxxxxxxx: 1
	xxxxxxxxx: 1
	deep: 1
	kept: [4096, 1]
	tcp: 200
	END
	# Words that are too long are cut, which is told.
	[ "$(datagrams | jq -r '"\(.domain):\(.port) \(.packets) \(.process[0].argv[-1] // "" | sub("x{900}"; "whole"))"')" = \
		"203.0.113.9:443 1 one
203.0.113.9:443 1 two
203.0.113.9:443 1 whole
203.0.113.9:443 1 ...
203.0.113.9:443 1 " ]
	[ "$(datagrams | jq -r '.process[0].pid' | sort -u | wc -l)" -eq 5 ]
}

@test "udp: a flood is bounded in the record, and every packet is counted" {
	local engine ms
	for engine in full no-namespaces; do
		box_python --engine "$engine" --allow allowed.test <<-'END'
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		for n in range(10000):
		    outcome(lambda: s.sendto(b"x", ("203.0.113.%d" % (n % 50), 1000 + n)))
		say("tcp", forward("allowed.test"))
		END
		[ "$status" -eq 0 ]
		[ "$output" = "tcp: 200" ]
		[ "$(datagrams | jq -s 'map(.packets) | add')" -eq 10000 ]
		# 100 at once, and 20 a second; what has no destination is told at the end.
		ms=$(audit 'select(.kind == "end") | .ms')
		[ "$(datagrams | grep -c .)" -le $((102 + 20 * (ms / 1000 + 1))) ]
		[ "$(datagrams | grep -c .)" -ge 90 ]
		[ "$(datagrams | jq -s 'map(select(.domain == null)) | length')" -eq 1 ]
		[[ "$stderr" == *"agentbox: 10000 packets were denied"* ]]
		agentbox log --stats
		[[ "$output" == *"10000 non-TCP packets were denied"* ]]
	done
}

@test "udp: a flood while the proxy is slow neither keeps the box waiting nor loses a number" {
	mkfifo go
	# Messages about a process with such a name soon fill the queue.
	door_script <<-'END'
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	print("up", flush=True)
	open("go").read()
	for port in range(1000, 3000):
	    outcome(lambda: s.sendto(b"x", ("203.0.113.9", port)))
	open("sent", "w").close()
	END
	box_start run --engine no-namespaces --unknown deny -- python3 "$SCRIPT" "$(printf '\001%.0s' {1..1000})"
	wait_for 90 grep -qx up "$TEST_DIR/box.out"
	kill -STOP "$BOX"
	echo >go
	# To create a file takes the guard, too.
	wait_for 90 test -e sent
	kill -CONT "$BOX"
	box_end
	[ "$status" -eq 0 ]
	[ "$(datagrams | jq -s 'map(.packets) | add')" -eq 2000 ]
	[ "$(datagrams | jq -s 'map(select(.process)) | length')" -ge 10 ]
	[ "$(datagrams | jq -s 'map(select(.domain)) | length')" -lt 90 ]
}

@test "udp: thresholds and hooks hear of datagrams while the run is active" {
	echo '{"monitor":{"denialsPerMinute":3,"action":"stop"}}' >"$TEST_DIR/m.json"
	door_script <<-'END'
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	for port in range(1, int(sys.argv[1])):
	    outcome(lambda: s.sendto(b"x", ("203.0.113.9", port)))
	if sys.argv[1] == "9":
	    time.sleep(300)
	END
	local engine
	for engine in full no-namespaces; do
		# Fewer than the limit.
		agentbox_split run --engine "$engine" --config "$TEST_DIR/m.json" -- python3 "$SCRIPT" 3
		[ "$status" -eq 0 ]
		agentbox_split run --engine "$engine" --config "$TEST_DIR/m.json" \
			--on-violation "cat >>'$TEST_DIR/hook.$engine'" -- python3 "$SCRIPT" 9
		[ "$status" -eq 125 ]
		[[ "$stderr" == *"monitor.denialsPerMinute"* ]]
		[ "$(jq -s 'any(.[]; .door == "udp" and .domain == "203.0.113.9" and .port == 1)' \
			"$TEST_DIR/hook.$engine")" = true ]
	done
}
