# If something breaks, or somebody tries to break it, the message is clear, other
# connections continue, and nothing stays open.
UNJUDGED=1
load helpers
load internet
load attack/attack

@test "faults: a resolver that does not answer costs its own request only" {
	box_python --allow dead.test --allow origin.test <<-'END'
	import threading
	door = __import__("door")
	door.TIMEOUT = 60
	def wait(label, call):
	    say(label, outcome(call))
	def text():
	    answer = ask("GET http://dead.test/ HTTP/1.1\r\nHost: dead.test\r\n\r\n")[0]
	    return "%d %s" % (answer.status, answer.body.decode().replace("\n", " "))
	threads = [threading.Thread(target=wait, args=args) for args in (
	    ("http", text), ("connect", lambda: connect("dead.test")),
	    ("socks", lambda: socks("dead.test")), ("direct", lambda: direct("dead.test")))]
	for thread in threads:
	    thread.start()
	for n in range(20):
	    if forward("origin.test") != 200:
	        say("meanwhile", "lost")
	    if n == 4:
	        say("meanwhile", all(thread.is_alive() for thread in threads))
	for thread in threads:
	    thread.join()
	END
	[ "$status" -eq 0 ]
	grep -qx 'meanwhile: True' <<<"$output"
	grep -qE '^http: 504 .*dead.test.*name server' <<<"$output"
	grep -qx 'connect: 504' <<<"$output"
	grep -qx 'socks: 4' <<<"$output"
	grep -qx 'direct: reset' <<<"$output"
}

@test "faults: a server that resets after any number of bytes" {
	box_python --allow origin.test --allow wire.test:9000 <<-'END'
	import collections
	size = 86
	seen = collections.Counter()
	for n in range(size + 1):
	    seen["http " + statuses("GET http://origin.test/reset/%d HTTP/1.1\r\nHost: origin.test\r\n\r\n" % n)] += 1
	    for door, sock in tunnels("origin.test", 80):
	        seen[door + " " + statuses("GET /reset/%d HTTP/1.1\r\nHost: origin.test\r\n\r\n" % n, sock)] += 1
	    for door, sock in tunnels("wire.test", 9000):
	        try:
	            sock.sendall(b"%05d\n" % n)
	            got = 0
	            while part := sock.recv(4096):
	                got += len(part)
	            seen["raw ended"] += 1
	        except ConnectionResetError:
	            seen["raw reset"] += 1
	for label in sorted(seen):
	    say(label, seen[label])
	say("afterwards", forward("origin.test"))
	END
	[ "$status" -eq 0 ]
	[[ "$output" != *timeout* ]]
	[ "${lines[-1]}" = "afterwards: 200" ]
	# A cut is never shown as a whole answer: only all 86 bytes are one, unless the reset overtakes them.
	[ "$(awk '/^http 200:/ { n = $3 } END { print n + 0 }' <<<"$output")" -le 1 ]
	[ "$(awk '/^raw reset:/ { print $3 }' <<<"$output")" -ge 200 ]
}

@test "faults: a client that leaves at any byte of its request" {
	box_python --allow origin.test --allow wire.test:7 <<-'END'
	head = (b"POST http://origin.test/left HTTP/1.1\r\nHost: origin.test\r\n"
	        b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
	greeting = b"\5\1\0\5\1\0\3\x09wire.test\0\7hello"
	linger = struct.pack("ii", 1, 0)
	for data in (head, greeting, b"CONNECT wire.test:7 HTTP/1.1\r\nHost: wire.test:7\r\n\r\nhello"):
	    for n in range(len(data)):
	        for reset in (False, True):
	            sock = to_proxy()
	            if reset:
	                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
	            sock.sendall(data[:n])
	            sock.close()
	say("afterwards", "%s %s" % (forward("origin.test"), socks("wire.test", 7)))
	END
	[ "$status" -eq 0 ]
	[ "$output" = "afterwards: 200 0" ]
}

@test "faults: slow and silent clients cost a connection each, and for ten seconds only" {
	box_python --allow origin.test --allow wire.test:7 <<-'END'
	import select
	begun = time.monotonic()
	slow = [to_proxy() for n in range(300)]
	for n, sock in enumerate(slow):
	    sock.sendall((b"GET http://ori", b"\5\1", b"\5\1\0\5\1\0\3\x09wire", b"")[n % 4])
	hello = [sock for n in range(10) for door, sock in tunnels("wire.test", 7)]
	for sock in hello:
	    sock.sendall(b"\x16\3\1\2\0\1\0")
	idle = [sock for door, sock in tunnels("wire.test", 7)]
	waiting = set(slow + hello)
	for n in range(50):
	    if forward("origin.test") != 200:
	        say("meanwhile", "lost")
	    if n == 4:
	        say("meanwhile", not select.select(hello, [], [], 0)[0])
	cut_at = 0
	while waiting and time.monotonic() - begun < 200:
	    for sock in slow[::4]:
	        # One more byte now and then buys no time.
	        if sock in waiting:
	            try:
	                sock.send(b"g")
	            except OSError:
	                pass
	    for sock in select.select(waiting, [], [], 1)[0]:
	        try:
	            ended = len(sock.recv(4096)) == 0
	        except OSError:
	            ended = True
	        if ended:
	            waiting.discard(sock)
	            cut_at = time.monotonic() - begun
	say("left", len(waiting))
	say("after ten seconds", cut_at >= 10)
	# A tunnel that stands may be idle.
	for sock in idle:
	    sock.sendall(b"there")
	    say("idle", sock.recv(5))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	meanwhile: True
	left: 0
	after ten seconds: True
	idle: b'there'
	idle: b'there'
	idle: b'there'
	END
}

@test "faults: a client that sends without end does not keep the others waiting" {
	box_python --allow origin.test <<-'END'
	import multiprocessing
	def flood(sock):
	    block = bytes(1 << 20)
	    try:
	        while True:
	            sock.sendall(block)
	    except OSError:
	        pass
	def meanwhile(label, sock):
	    sender = multiprocessing.Process(target=flood, args=(sock,))
	    sender.start()
	    time.sleep(0.5)
	    say(label, forward("origin.test"))
	    sender.kill()
	    sender.join()
	meanwhile("dns", socket.create_connection((nameserver(), 53), TIMEOUT))
	meanwhile("refused", connect_to("denied.test", 443)[1])
	END
	[ "$status" -eq 0 ]
	expect <<-END
	dns: 200
	refused: 200
	END
}

@test "faults: two thousand connections at a time" {
	box_python --allow origin.test --allow wire.test:7 --files 8192 <<-'END'
	import resource
	hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
	resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
	socks_list = []
	where = address("wire.test")
	for n in range(2000):
	    if n % 3 == 0:
	        sock = to_proxy()
	        sock.sendall(b"CONNECT wire.test:7 HTTP/1.1\r\nHost: wire.test:7\r\n\r\n")
	    elif n % 3 == 1:
	        sock = to_proxy()
	        sock.sendall(b"\5\1\0\5\1\0\3\x09wire.test\0\7")
	    else:
	        sock = socket.create_connection((where, 7), 20)
	    socks_list.append(sock)
	good = 0
	for n, sock in enumerate(socks_list):
	    if n % 3 == 0:
	        while not (data := sock.recv(4096)).endswith(b"\r\n\r\n"):
	            pass
	    elif n % 3 == 1:
	        data = b""
	        while len(data) < 12:
	            data += sock.recv(12 - len(data))
	    sock.sendall(b"%d" % n)
	for n, sock in enumerate(socks_list):
	    good += sock.recv(10) == b"%d" % n
	say("held", good)
	say("one more", forward("origin.test"))
	for sock in socks_list:
	    sock.close()
	say("afterwards", forward("origin.test"))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	held: 2000
	one more: 200
	afterwards: 200
	END
	[ "$(audit 'select(.kind == "request" and .domain == "wire.test") | .allowed' | grep -c true)" -eq 2000 ]
}

@test "faults: who does not read costs no memory and nobody else's time" {
	mkfifo up down
	door_script <<-'END'
	held = [socket.create_connection(("wire.test", 19)) for n in range(150)]
	held += [socks_to("wire.test", 19)[1] for n in range(150)]
	# Whoever is kept waiting by the others is so for ever.
	for n in range(100):
	    if forward("origin.test") != 200:
	        say("meanwhile", "lost")
	say("meanwhile", True)
	open("up", "w").write("up\n")
	open("down").read()
	END
	box_start run --allow wire.test:19 --allow origin.test -- python3 "$SCRIPT"
	read -r -t 90 _ <>up
	grep VmRSS "/proc/$BOX/status"
	# The sanitizer keeps what was freed.
	sanitized ||
		[ "$(awk '/VmRSS/ { print $2 }' "/proc/$BOX/status")" -lt 40000 ]
	: >down
	box_end
	[ "$status" -eq 0 ]
	grep -qx 'meanwhile: True' "$TEST_DIR/box.out"
}

@test "faults: at the limit of descriptors connections wait, and none is lost" {
	door_script <<-'END'
	import threading
	good = []
	def one(n):
	    with socket.create_connection(("wire.test", 7), 120) as sock:
	        sock.sendall(b"%d" % n)
	        good.append(sock.recv(10) == b"%d" % n)
	threads = [threading.Thread(target=one, args=(n,)) for n in range(40)]
	for thread in threads:
	    thread.start()
	for thread in threads:
	    thread.join()
	print(sum(good))
	END
	run inside sh -c 'ulimit -n 128; ulimit -n; exec timeout 240 "$0" "$@" 3>&-' "$AGENTBOX" \
		run --allow wire.test:7 -- \
		sh -c 'for n in 1 2 3 4 5; do python3 "$0" & done; wait' "$SCRIPT"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = $'128\n40\n40\n40\n40\n40' ]
}

@test "faults: a record that cannot be written ends the connection, and a strict run" {
	inside rm -f "$NET/small/*"
	door_script <<-END
	say("before", forward("origin.test"))
	try:
	    with open("$NET/small/filler", "wb", 0) as filler:
	        while True:
	            filler.write(b"x" * 4096)
	except OSError as error:
	    say("full", errno.errorcode[error.errno])
	# The last block of the file may have room for some lines.
	for n in range(60):
	    last = forward("origin.test"), socks("second.test"), direct("origin.test")
	say("then", last)
	time.sleep(60)
	print("still here")
	END
	agentbox_split run --allow origin.test --audit "$NET/small/audit" --write "$NET/small" -- \
		python3 "$SCRIPT"
	inside rm -f "$NET/small/filler" "$NET/small/audit"
	[ "$status" -eq 125 ]
	[ "${lines[0]}" = "before: 200" ]
	[[ "$output" != *"still here"* ]]
	[[ "$stderr" == *"audit"* || "$stderr" == *"record"* ]]
}

@test "faults: where a record cannot be begun, the way out is said" {
	export AGENTBOX_STATE=$NET/small/state
	agentbox run -- true
	[ "$status" -eq 0 ]
	! inside dd if=/dev/zero of="$NET/small/filler" bs=4k || false
	agentbox run -- true
	inside rm -rf "$NET/small/filler" "$NET/small/state"
	[ "$status" -eq 125 ]
	[[ "$output" == *"No space left on device"*"agentbox gc"*"AGENTBOX_STATE"* ]]
}

# with_fault FAULT [TIMES]: a run that uses every door some times, where that fault is
# put into each thread that reaches it. The main thread makes few of these
# calls; FAULT begins where only the proxy's comes.
with_fault()
{
	door_script <<-'END'
	door = sys.modules["door"]
	door.TIMEOUT = 20
	def bulk():
	    sock = socket.create_connection(("wire.test", 7), 20)
	    stream = sock.makefile("rb")
	    for n in range(8):
	        sock.sendall(b"x\n" * 25000)
	        if len(stream.read(50000)) != 50000:
	            return "short"
	    return "ok"
	for n in range(int(sys.argv[1])):
	    say("use", "%s %s %s %s %s %s" % (forward("origin.test"), connect("origin.test", 80),
	        socks("origin.test"), direct("origin.test"), outcome(bulk), forward("second.test")))
	END
	run inside timeout --kill-after=5 200 strace --seccomp-bpf -f -qqq -o /dev/null \
		-e "trace=${1%%:*}" -e "inject=$1" "$AGENTBOX" run --allow origin.test --allow wire.test:7 -- \
		python3 "$SCRIPT" "${2:-4}" 3>&-
	printf '%s\n%s\n[status %s]\n' "$1" "$output" "$status"
}

@test "faults: the proxy's loop fails: the listeners close and the run ends" {
	need program:strace
	with_fault '?epoll_wait,?epoll_pwait:error=EIO:when=300' 100
	[ "$status" -eq 125 ]
	# It served before, and was an open door to nobody afterwards.
	[[ "$output" == *"use: 200 200 0 ok ok 403"* ]]
	[ "$(grep -c 'use: 200 200 0 ok ok 403' <<<"$output")" -lt 100 ]
	[ -z "$(processes_left)" ]
}

@test "faults: calls of the proxy that fail cost at most their connection" {
	local fault

	need program:strace
	for fault in accept4:error=ENOMEM:when=3+4 accept4:error=ECONNABORTED:when=2+3 \
		connect:error=ENETDOWN:when=4+3 splice:error=EIO:when=2+3 splice:error=EINTR:when=1+2 \
		pipe2:error=EMFILE:when=1+2 recvfrom:error=ECONNRESET:when=5+4 \
		sendto:error=ENOBUFS:when=6+5; do
		with_fault "$fault"
		# A signal, or a wait for ever, is none of the ways to end.
		[[ "$status" -eq 0 || "$status" -eq 125 ]]
		run ! grep -E 'use: ' <(grep 'use:' <<<"$output" |
			grep -vE ': (200|50[24]|reset|closed|timeout|short|E[A-Z]+) (200|50[24]|reset|closed|timeout|E[A-Z]+) ([01345]|reset|closed|timeout|E[A-Z]+) (ok|50[24]|reset|closed|timeout|no name|E[A-Z]+) (ok|short|reset|timeout|no name|E[A-Z]+) (403|reset|closed|timeout|E[A-Z]+)$')
		[ -z "$(processes_left)" ]
	done
}

@test "faults: kill -9 of the supervisor leaves no process, no port and no connection" {
	mkfifo up
	box_start run --allow wire.test:19 --allow wire.test:7 --publish 18080 -- bash -c '
		python3 -m http.server -b 127.0.0.1 18080 >/dev/null 2>&1 &
		exec 5<>/dev/tcp/wire.test/7
		echo up >up
		exec cat </dev/tcp/wire.test/19 >/dev/null'
	read -r -t 90 _ <>up
	wait_for 90 inside curl -s -o /dev/null http://127.0.0.1:18080/
	# The program's end is open at once; ours to the server may come later.
	wait_for 90 eval '[ -n "$(inside ss -Htn dst 203.0.113.50)" ]'
	kill -KILL "$BOX"
	wait "$BOX" || true
	BOX=
	[ -z "$(processes_left)" ]
	no_connections() { [ -z "$(inside ss -Htn state established '( dst 203.0.113.50 or sport = :18080 )')" ]; }
	wait_for 90 no_connections || { inside ss -Htnpa; false; }
	[ -z "$(inside ss -Htln sport = :18080)" ]
}

@test "faults: the end of the command closes everything" {
	box_start run --allow wire.test:7 --allow origin.test -- bash -c '
		exec 5<>/dev/tcp/wire.test/7
		echo x >&5; read -r -n 1 -u 5
		(sleep 300 &)
		mkfifo event
		(curl -sN http://origin.test/events/never >event &)
		read -r line <event
		exit 3'
	box_end
	[ "$status" -eq 3 ]
	# What was open is on record, too.
	[ "$(audit 'select(.kind == "request") | "\(.domain) \(.bytes_down > 0)"' | sort | tr '\n' ';')" = \
		"origin.test true;wire.test true;" ]
	none() { [ -z "$(inside ss -Htn state established '( dst 203.0.113.50 or dst 203.0.113.20 )')" ]; }
	wait_for 90 none
	[ -z "$(processes_left)" ]
}
