# `agentbox connect` inside a box, with a proxy of the test's own, and `agentbox
# ports` outside of it.
# root-in-turn: root may bind low ports and make devices, which the box must not inherit
load helpers

# box SCRIPT CMD...: CMD in a box whose door is SCRIPT, Python with a
# connection `c` and the head of its request `head`.
box()
{
	cat >door.py <<-PYTHON
	import socket, sys
	s = socket.socket()
	s.bind(("127.0.0.1", 61080))
	s.listen()
	open("ready", "w").close()
	c = s.accept()[0]
	head = b""
	while not head.endswith(b"\\r\\n\\r\\n"):
	    got = c.recv(1)
	    if not got: sys.exit()
	    head += got
	open("head", "wb").write(head)
	PYTHON
	sed 's/^\t//' <<<"$1" >>door.py
	shift
	agentbox_split run --net blocked --env HTTP_PROXY=http://127.0.0.1:61080 -- \
		sh -c 'timeout 200 python3 door.py >door.log 2>&1 & i=0
		until [ -e ready ] || [ $i -eq 1800 ]; do sleep 0.05; i=$((i + 1)); done
		"$@"; s=$?; wait; exit $s' - "$@"
}

@test "connect: bytes go both ways, and the end of input is passed on" {
	# The answer comes behind the end of what we send.
	box 'c.sendall(b"HTTP/1.1 200 OK\r\n\r\nhello ")
	got = b""
	while True:
	    n = c.recv(65536)
	    if not n: break
	    got += n
	c.sendall(got.upper()); c.close()' sh -c 'printf "some bytes" | "$0" connect X.org. 22' "$AGENTBOX"
	[ "$status" -eq 0 ]
	[ "$output" = "hello SOME BYTES" ]
	[ "$(tr -d '\r' <head | xargs)" = "CONNECT x.org:22 HTTP/1.1 Host: x.org:22" ]
}

@test "connect: many bytes arrive as they were" {
	head -c 3000000 /dev/urandom >data
	# It echoes while we still send.
	box 'c.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
	while True:
	    n = c.recv(65536)
	    if not n: break
	    c.sendall(n)
	c.close()' sh -c '"$0" connect x.org 22 <data >back' "$AGENTBOX"
	[ "$status" -eq 0 ]
	cmp data back
}

@test "connect: a host that ends first can still be sent to" {
	box 'c.sendall(b"HTTP/1.1 200 OK\r\n\r\nbye\n")
	c.shutdown(socket.SHUT_WR)
	open("heard", "wb").write(c.makefile("rb").read())' sh -c '
		{ until [ -s out ]; do sleep 0.05; done; echo late; } |
			"$0" connect x.org 22 >out' "$AGENTBOX"
	[ "$status" -eq 0 ]
	[ "$(cat out)" = bye ]
	[ "$(cat heard)" = late ]
}

@test "connect: a denial is said in our words" {
	box 'c.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\n\r\n"
	    b"agentbox denied x.org:22: not on the allow list (rule network.allow, id 7kq2-1).\n"
	    b"To allow it, a human can run: agentbox run --allow x.org\x1b[2J -- ...\n"); c.close()' \
		"$AGENTBOX" connect x.org 22
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[ "${stderr_lines[0]}" = "agentbox: denied x.org:22: not on the allow list (rule network.allow, id 7kq2-1)." ]
	[ "${stderr_lines[1]}" = "          To allow it, a human can run: agentbox run --allow x.org\\x1b[2J -- ..." ]
}

@test "connect: a refusal without a text" {
	box 'c.sendall(b"HTTP/1.1 502 Bad Gateway\r\n\r\n"); c.close()' "$AGENTBOX" connect x.org 22
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"x.org:22"*"502 Bad Gateway"* ]]
}

@test "connect: a door that says nothing, or nonsense" {
	box 'c.close()' "$AGENTBOX" connect x.org 22
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"does not answer"* ]]
	rm ready
	box 'c.sendall(b"SSH-2.0-x\r\n\r\n"); c.close()' "$AGENTBOX" connect x.org 22
	[ "$status" -eq 1 ]
	rm ready
	box 'c.sendall(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 5000); c.close()' "$AGENTBOX" connect x.org 22
	[ "$status" -eq 1 ]
}

@test "connect: one host, however it is written" {
	local pair
	for pair in '::1 [::1]' '0x7f000001 127.0.0.1' '::ffff:127.0.0.1 127.0.0.1'; do
		rm -f ready
		box 'c.sendall(b"HTTP/1.1 200 OK\r\n\r\n"); c.close()' "$AGENTBOX" connect "${pair% *}" 443
		[ "$(sed -n 's/\r$//; 1p' head)" = "CONNECT ${pair#* }:443 HTTP/1.1" ]
	done
}

@test "connect: what is no host or no port" {
	local host
	for host in '' 'x y' $'x\r\ny' 'x.org:22' 'x.org/' '*.x.org' 'user@x.org' -- ; do
		agentbox connect "$host" 22
		[ "$status" -eq 2 ]
	done
	for port in 0 65536 -1 22x '' ' 22' 99999999999999999999999; do
		agentbox connect x.org "$port"
		[ "$status" -eq 2 ]
	done
	agentbox connect x.org
	[ "$status" -eq 2 ]
	agentbox connect x.org 22 more
	[ "$status" -eq 2 ]
}

@test "connect: is of no use where there is no door" {
	HTTP_PROXY=http://127.0.0.1:9 agentbox connect x.org 22
	[ "$status" -eq 1 ]
	[[ "$output" == *"not inside a box"* ]]
	agentbox run --net blocked -- "$AGENTBOX" connect x.org 22
	[ "$status" -eq 1 ]
	[[ "$output" == *"this box has no proxy"* ]]
	for url in proxy.org:80 http://proxy.org:80 http://127.0.0.1 socks5h://127.0.0.1:1 http://a@127.0.0.1:1; do
		agentbox run --net blocked --env HTTP_PROXY=$url -- "$AGENTBOX" connect x.org 22
		[ "$status" -eq 1 ]
		[[ "$output" == *"no longer names the proxy"* ]]
	done
	agentbox run --net blocked --env HTTP_PROXY=http://127.0.0.1:61080 -- "$AGENTBOX" connect x.org 22
	[ "$status" -eq 1 ]
	[[ "$output" == *"reach the proxy"* ]]
}

# ports

# serve PORT...: a run that listens on them, as $1 ... of its own network.
serve()
{
	cat >serve.py <<-'PYTHON'
	import socket, sys, time
	keep = []
	for port in sys.argv[2:]:
	    v6 = port.startswith("6:")
	    s = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET)
	    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
	    s.bind(("::1" if v6 else "127.0.0.1", int(port[2:] if v6 else port)))
	    s.listen()
	    keep.append(s)
	open(sys.argv[1], "w").close()
	time.sleep(300)
	PYTHON
	"$AGENTBOX" run --net "${NET:-blocked}" -- python3 serve.py "$@" >/dev/null 2>&1 3>&- &
	server=$!
	wait_for 90 test -e "$1"
}

stop()
{
	kill "$1"
	wait "$1" || true
}

@test "ports: what listens inside, in order" {
	serve up 8081 3000 6:4000 6:3000
	agentbox ports
	[ "$status" -eq 0 ]
	[ "$(awk '{ print $1 }' <<<"$output")" = $'3000\n4000\n8081' ]
	[[ "${lines[0]}" =~ ^3000\ +python3[.0-9]*,\ pid\ [0-9]+\ +not\ published:\ agentbox\ run\ --publish\ 3000$ ]]
	agentbox ports --json
	[ "$(jq -c 'map(.port)' <<<"$output")" = '[3000,4000,8081]' ]
	jq -e 'all(.program | test("^python3")) and all(.pid > 1 and .published == null)' <<<"$output"
	agentbox ports --json "$(ls "$AGENTBOX_STATE/live")"
	[ "$(jq -c 'map(.port)' <<<"$output")" = '[3000,4000,8081]' ]
	# A blocked network has nobody to pass connections on.
	agentbox publish 3000
	[ "$status" -eq 1 ]
	[[ "$output" == *"agentbox run --publish PORT"* ]]
	stop $server
}

@test "ports: no listening ports" {
	serve up
	agentbox ports
	[ "$status" -eq 0 ]
	[ "$output" = "no listening ports" ]
	agentbox ports --json
	[ "$output" = '[]' ]
	stop $server
}

@test "ports: without a run, with several, with one that has ended" {
	agentbox ports
	[ "$status" -eq 1 ]
	[[ "$output" == *"no active runs"* ]]
	agentbox ports --json
	[ "$status" -eq 0 ]
	[ "$output" = '[]' ]
	agentbox ports zzzzz
	[ "$status" -eq 1 ]
	[[ "$output" == *"no run named zzzzz"* ]]
	agentbox ports ../runs
	[ "$status" -eq 1 ]
	serve one 3000
	local first=$server id
	id=$(ls "$AGENTBOX_STATE/live")
	serve two 4000
	agentbox ports
	[ "$status" -eq 2 ]
	[[ "$output" == *"$id"* ]]
	agentbox ports "$id"
	[[ "$output" == 3000\ * ]]
	[ "$("$AGENTBOX" ports --json | jq -c 'map(.port)')" = '[3000,4000]' ]
	stop $first
	wait_for 90 test -e "$AGENTBOX_STATE/runs/$id"
	agentbox ports "$id"
	[ "$status" -eq 1 ]
	[[ "$output" == *"has ended"* ]]
	agentbox ports
	[[ "$output" == 4000\ * ]]
	stop $server
}

@test "ports: a run with the machine's network has none of its own" {
	NET=allowed serve up
	agentbox ports
	[ "$status" -eq 1 ]
	[[ "$output" == *"network of this machine"* ]]
	agentbox publish 3000
	[ "$status" -eq 1 ]
	[[ "$output" == *"network of this machine"*"reachable already"* ]]
	stop $server
}

@test "publish: a request that cannot be sent names the run" {
	local fault=${AGENTBOX%/cmd/*}/test/agentbox-fault id

	! sanitized || skip "the fault program is not built with sanitizers"
	[ -x "$fault" ] || lacks "the fault program is not built"
	NET=filtered serve up
	id=$(run_id)
	run "$fault" -c sendmsg -p agentbox -k 1 -e ENOMEM "$AGENTBOX" publish 18091:3000
	echo "$output"
	[ "$status" -eq 1 ]
	[ "$output" = "agentbox: ask run $id: Cannot allocate memory" ]
	agentbox publish 18091:3000
	[ "$status" -eq 0 ]
	stop $server
}

@test "ports: another process with the same pid is not taken for the box" {
	serve up 3000
	local record
	record=$(ls "$AGENTBOX_STATE"/live/*/audit.jsonl)
	sed -i 's/"init_started":[0-9]*/"init_started":7/' "$record"
	agentbox ports
	[ "$status" -eq 1 ]
	[[ "$output" != *3000* ]]
	sed -i "s/\"init\":[0-9]*/\"init\":1/" "$record"
	agentbox ports
	[ "$status" -eq 1 ]
	stop $server
}

@test "ports: inside a box nothing is seen" {
	serve up 3000
	agentbox run -- "$AGENTBOX" ports
	[ "$status" -eq 1 ]
	[[ "$output" == *"inside a box"* ]]
	stop $server
}

@test "ports: a server that nobody outside can reach is mentioned once, on a terminal" {
	need program:tmux
	cat >serve.py <<-'PYTHON'
	import socket, sys
	keep = [socket.create_server(("127.0.0.1", int(port))) for port in sys.argv[1:]]
	input()
	PYTHON
	# Other suites publish on the same host. The kernel gives none of these ports to a connection.
	free=$(python3 -c 'import random, socket
for port in random.sample(range(20000, 30000), 100):
    try: s = socket.create_server(("127.0.0.1", port)); print(port); break
    except OSError: pass')
	tty_start "$AGENTBOX" run --publish "$free:18098" --name dev -- python3 serve.py 18098 3000 3001 40000
	tty_wait '^agentbox: port 3000 is open only inside the box; agentbox publish [a-z0-9]{5} 3000$'
	tty_key Enter
	tty_end
	[ "$(grep -c 'only inside the box' <<<"$output")" -eq 1 ]
	# Not for a server of a moment, the published one, or one that the kernel chose the port of.
	tty_start "$AGENTBOX" run --publish "$free:18098" -- sh -c 'python3 serve.py 18098 40000 & sleep 3.5; kill $!'
	tty_end
	[[ "$output" != *"only inside the box"* ]]
}

@test "ports: its runs are completed" {
	serve up
	local id
	id=$(ls "$AGENTBOX_STATE/live")
	run bash --norc -c '. "$0/completions/agentbox.bash"
		COMP_WORDS=(agentbox ports "") COMP_CWORD=2
		_agentbox; echo "${COMPREPLY[@]}"' "$ROOT"
	[ "$output" = "$id" ]
	if command -v fish >/dev/null; then
		run fish --no-config -c 'source $argv[1]/completions/agentbox.fish
			complete -C "agentbox ports "' "$ROOT"
		[ "$output" = "$id" ]
	fi
	stop $server
}
