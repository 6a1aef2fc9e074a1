# The limits of `monitor` on bytes and hosts are exact, and `deny` ends what is open.
UNJUDGED=1
load helpers
load internet
load attack/attack

fetch='curl -s -o /dev/null -w %{http_code} --max-time 200'
straight='env -u HTTP_PROXY -u http_proxy -u HTTPS_PROXY -u https_proxy -u ALL_PROXY -u all_proxy'

# sink_start [PORT]: count what arrives at wire.test:9099, per connection, in $TEST_DIR/sink.
sink_start()
{
	local -a WAY

	find_way
	cat >"$TEST_DIR/sink.py" <<-'PY'
	import socket, sys, threading
	count = open(sys.argv[1], "a", buffering=1)
	def take(conn):
	    n = 0
	    try:
	        while True:
	            data = conn.recv(1 << 16)
	            if not data:
	                break
	            n += len(data)
	    except OSError:
	        pass
	    count.write("ended %d\n" % n)
	    conn.close()
	door = socket.create_server(("203.0.113.50", int(sys.argv[2])), backlog=100)
	open(sys.argv[1] + ".ready", "w").close()
	while True:
	    conn = door.accept()[0]
	    count.write("begun\n")
	    threading.Thread(target=take, args=(conn,), daemon=True).start()
	PY
	: >"$TEST_DIR/sink"
	SINK_PORT=${1:-9099}
	"${WAY[@]}" python3 "$TEST_DIR/sink.py" "$TEST_DIR/sink" "$SINK_PORT" 3>&- &
	SINK=$!
	wait_for 90 test -e "$TEST_DIR/sink.ready"
}

teardown()
{
	[ -z "${SINK:-}" ] || kill "$SINK"
	if [ -n "${BOX:-}" ]; then
		kill -TERM "$BOX" 2>/dev/null
		timeout 10 tail --pid="$BOX" -f /dev/null || kill -KILL "$BOX"
		wait "$BOX"
	fi
	box_teardown
}

sink_rests()
{
	[ "$(grep -c begun "$TEST_DIR/sink")" -gt 0 ] &&
		[ "$(grep -c begun "$TEST_DIR/sink")" -eq "$(grep -c ended "$TEST_DIR/sink")" ]
}

# The bytes that arrived, once every connection has ended. The run is over, so a connection
# that begins now is accepted after all of its connections.
arrived()
{
	inside python3 -c '
import socket, sys
s = socket.create_connection(("203.0.113.50", int(sys.argv[1])))
s.shutdown(socket.SHUT_WR)
s.recv(1)' "$SINK_PORT"
	wait_for 90 sink_rests
	awk '/ended/ { n += $2 } END { print n + 0 }' "$TEST_DIR/sink"
}

# In the box: N connections that send as much as they can.
flood()
{
	cat >flood.py <<-'PY'
	import socket, sys, threading
	def send():
	    try:
	        s = socket.create_connection(("wire.test", 9099), timeout=60)
	        for _ in range(int(sys.argv[2])):
	            s.sendall(b"z" * 65536)
	        s.shutdown(socket.SHUT_WR)
	        s.recv(1)
	    except OSError:
	        pass
	threads = [threading.Thread(target=send) for _ in range(int(sys.argv[1]))]
	for t in threads: t.start()
	for t in threads: t.join()
	PY
	agentbox_split run --config "$TEST_DIR/m.json" --allow wire.test:9099 -- python3 flood.py "$@"
}

@test "budgets: not one byte more than the limit leaves, over one connection or eight" {
	local action limit n sum

	sink_start
	for action in cut stop; do
		for limit in uploadPerHost uploadPerRun; do
			for n in 1 8; do
				: >"$TEST_DIR/sink"
				echo "{\"monitor\":{\"$limit\":\"1M\",\"action\":\"$action\"}}" >"$TEST_DIR/m.json"
				flood $n 400
				# A reset may lose the last bytes on their way.
				sum=$(arrived)
				echo "$action $limit $n: $sum"
				[ "$sum" -le 1048576 ]
				[ "$sum" -gt 0 ]
				[[ "$stderr" == *"1M were sent to "*"(monitor.$limit 1M)"* ]]
				# The record has what really left.
				[ "$(audit 'select(.kind == "monitor") | "\(.threshold) \(.value) \(.action)"')" = \
					"$limit 1048576 $action" ]
				[ "$(audit 'select(.kind == "end") | .bytes_up')" -eq 1048576 ]
				if [ $action = stop ]; then
					[ "$status" -eq 125 ]
				fi
			done
		done
	done
	# The twin: what fits is sent, to the last byte, and nothing is said.
	: >"$TEST_DIR/sink"
	echo '{"monitor":{"uploadPerHost":"1M","action":"stop"}}' >"$TEST_DIR/m.json"
	flood 8 2
	[ "$status" -eq 0 ]
	[ "$(arrived)" -eq 1048576 ]
	[ -z "$stderr" ]
	# A warning holds nothing back.
	: >"$TEST_DIR/sink"
	echo '{"monitor":{"uploadPerHost":"1M","action":"warn"}}' >"$TEST_DIR/m.json"
	flood 2 20
	[ "$status" -eq 0 ]
	[ "$(arrived)" -eq 2621440 ]
	[[ "$stderr" == *"1M were sent to wire.test (monitor.uploadPerHost 1M)"* ]]
}

@test "budgets: heads count, and a request that does not fit is not sent" {
	{ printf 'X-A: ' && head -c 7000 /dev/zero | tr '\0' a; } >head
	echo '{"monitor":{"uploadPerHost":"50K","action":"cut"}}' >"$TEST_DIR/m.json"
	agentbox_split run --config "$TEST_DIR/m.json" --allow origin.test -c \
		"for i in 1 2 3 4 5 6 7 8 9; do $fetch -H @head http://origin.test/\$i; done"
	echo "$output"
	[[ "$output" == 200200200200200200200* ]]
	[[ "$output" != *200200200200200200200200* ]]
	[ "$(audit 'select(.kind == "end") | .bytes_up')" -le 51200 ]
	[ "$(audit 'select(.kind == "request" and .path == "/3") | .bytes_up > 7000')" = true ]
	[ "$(audit 'select(.kind == "request" and .path == "/3") | .bytes_down > 50')" = true ]
	[ "$(origin_requests | wc -l)" -eq 7 ]
}

@test "budgets: a hold keeps back what does not fit until it is released" {
	sink_start
	echo '{"monitor":{"uploadPerHost":"100K","action":"hold"}}' >"$TEST_DIR/m.json"
	box_start run --config "$TEST_DIR/m.json" --allow wire.test:9099 -- \
		python3 -c 'import socket
s = socket.create_connection(("wire.test", 9099))
s.sendall(b"z" * 300000)
s.shutdown(socket.SHUT_WR)
s.settimeout(60)
s.recv(1)'
	wait_for 90 grep -q 'network is paused' "$TEST_DIR/box.err"
	run=$(basename "$(dirname "$AGENTBOX_STATE"/live/*/control)")
	inside timeout 90 "$AGENTBOX" allow "$run"
	box_end
	[ "$status" -eq 0 ]
	[ "$(arrived)" -eq 300000 ]
	[ "$(audit 'select(.kind == "monitor") | .value')" -eq 102400 ]
}

@test "budgets: the host after the last one that may be contacted is not" {
	local action

	for action in cut stop; do
		internet_mark
		echo "{\"monitor\":{\"newHosts\":2,\"action\":\"$action\"}}" >"$TEST_DIR/m.json"
		agentbox_split run --config "$TEST_DIR/m.json" --allow origin.test --allow allowed.test --allow origin4.test -c \
			"$fetch http://origin.test/; $fetch http://allowed.test/; $fetch http://origin4.test/x"
		echo "$output $(dns_asked)"
		[[ "$stderr" == *"3 different hosts were requested (monitor.newHosts 2)"* ]]
		[[ "$output" == 200200* && "$output" != *200200200* ]]
		run ! grep -q origin4 <<<"$(dns_asked)"
		run ! grep -q '/x' <<<"$(origin_requests)"
	done
	# Twice the same host is one.
	agentbox_split run --config "$TEST_DIR/m.json" --allow origin.test --allow allowed.test -c \
		"$fetch http://origin.test/; $fetch http://allowed.test/; $fetch http://origin.test/"
	[ "$output$stderr" = 200200200 ]
	[ "$status" -eq 0 ]
}

# A client that sends a request whenever a file appears, on one connection.
asker()
{
	cat >asker.py <<-'PY'
	import os, socket, sys, time
	if sys.argv[1] == "connect":
	    s = socket.create_connection(("127.0.0.1", int(os.environ["http_proxy"].rsplit(":", 1)[1].strip("/"))))
	    s.sendall(b"CONNECT origin.test:80 HTTP/1.1\r\nHost: origin.test:80\r\n\r\n")
	    s.recv(4096)
	else:
	    s = socket.create_connection(("origin.test", 80))
	for n in ("1", "2"):
	    while not os.path.exists("go" + n):
	        time.sleep(0.02)
	    try:
	        s.sendall(b"GET /" + n.encode() + b" HTTP/1.1\r\nHost: origin.test\r\n\r\n")
	        print(s.recv(4096).decode().split(" ")[1], flush=True)
	    except (OSError, IndexError):
	        print("closed", flush=True)
	PY
}

@test "deny: an open connection ends at once, whichever way it was opened" {
	local way

	asker
	for way in connect direct; do
		rm -f go1 go2
		internet_mark
		box_start run --allow origin.test --allow allowed.test -- python3 asker.py $way
		touch go1
		wait_for 90 grep -q 200 "$TEST_DIR/box.out"
		# Another host's denial leaves it alone.
		agentbox deny allowed.test
		[ "$status" -eq 0 ]
		[[ "$output" != *closed* ]]
		agentbox deny origin.test
		[ "$status" -eq 0 ]
		[[ "$output" == *"origin.test is denied for this run; 1 open connection closed" ]]
		touch go2
		box_end
		[ "$(cat "$TEST_DIR/box.out")" = "200
closed" ]
		[ "$(origin_requests | grep -c /2)" -eq 0 ]
		[ "$(audit 'select(.kind == "violation") | .reason')" = "denied for this run (origin.test)" ]
	done
}

@test "deny: an entry that a reload adds to network.deny ends what is open, another change does not" {
	asker
	echo '{"network":{"unknown":"deny","allow":["origin.test","allowed.test"]}}' >"$TEST_DIR/l.json"
	box_start run --config "$TEST_DIR/l.json" -- python3 asker.py direct
	touch go1
	wait_for 90 grep -q 200 "$TEST_DIR/box.out"
	echo '{"network":{"unknown":"deny","allow":["origin.test","allowed.test"],"deny":["origin.test"]}}' >"$TEST_DIR/l.json"
	wait_for 90 grep -q 'the settings have changed' "$TEST_DIR/box.err"
	touch go2
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = "200
closed" ]
	rm go1 go2
	echo '{"network":{"unknown":"deny","allow":["origin.test"]}}' >"$TEST_DIR/l.json"
	box_start run --config "$TEST_DIR/l.json" -- python3 asker.py direct
	touch go1
	wait_for 90 grep -q 200 "$TEST_DIR/box.out"
	echo '{"network":{"unknown":"deny","allow":["origin.test"],"deny":["allowed.test"]}}' >"$TEST_DIR/l.json"
	wait_for 90 grep -q 'the settings have changed' "$TEST_DIR/box.err"
	touch go2
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = "200
200" ]
}

@test "budgets: a long stream of letters is not HTTP, unless a blank makes it a request" {
	box_python --allow wire.test:7 <<-'PY'
	# More than a method can have, in one piece and in many, then anything.
	for end in (b"", b"\r\nmore\r\n", b"\nmore", b"=\0"):
	    sock = connect_to("wire.test", 7)[1]
	    data = b"QUJD" * 50000 + end
	    sock.sendall(data)
	    sock.shutdown(socket.SHUT_WR)
	    say("echo", sock.makefile("rb").read() == data)
	sock = connect_to("wire.test", 7)[1]
	try:
	    sock.sendall(b"A" * 20000)
	    sock.sendall(b" / HTTP/1.1\r\nHost: other.test\r\n\r\n")
	    sock.shutdown(socket.SHUT_WR)
	    say("request", b"other" in sock.makefile("rb").read())
	except OSError:
	    say("request", "cut")
	PY
	[ "$status" -eq 0 ]
	[ "$output" = "echo: True
echo: True
echo: True
echo: True
request: cut" ]
}

@test "budgets: RTSP passes on its own port, and elsewhere counts as HTTP" {
	rtsp='import socket, sys
s = socket.create_connection(("wire.test", int(sys.argv[1])))
s.settimeout(60)
s.sendall(b"OPTIONS rtsp://wire.test/x RTSP/1.0\r\nCSeq: 1\r\n\r\n")
s.shutdown(socket.SHUT_WR)
print(s.recv(4096)[:8].decode())'
	sink_start 8554
	agentbox_split run --allow wire.test:8554 --allow wire.test:7 -- python3 -c "$rtsp" 8554
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ "$(arrived)" -eq 48 ]
	agentbox_split run --allow wire.test:8554 --allow wire.test:7 -- python3 -c "$rtsp" 7
	[ "$output" = "HTTP/1.1" ]
}
