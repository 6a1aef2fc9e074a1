# The network of a box without namespaces (--engine no-namespaces): the guard makes
# its sockets, the proxy decides as elsewhere.
UNJUDGED=1
load helpers
load internet
load attack/attack

bare="env -u HTTP_PROXY -u HTTPS_PROXY -u FTP_PROXY -u ALL_PROXY"
bare+=" -u http_proxy -u https_proxy -u ftp_proxy -u all_proxy"

setup_file()
{
	attack_build race_network resolve
	internet_start
}

teardown_file()
{
	internet_stop
	attack_clean
}

# is_raced: repeat the attack without a box, until one of its datagrams has come out of the race.
is_raced()
{
	inside "$ATTACK/race_network" "${at[@]}" 1 >free
	grep -q raced "$TEST_DIR/open.udp"
}

# alone ARG...: agentbox run without namespaces.
alone()
{
	agentbox_split run --engine no-namespaces "$@"
}

@test "engine network: sockets behave as they do without a box" {
	inside python3 "$ROOT/test/internet/sockets.py" allowed.test >expected
	grep -q '^again True$' expected
	run ! grep -q failed expected
	alone --allow allowed.test -- $bare python3 "$ROOT/test/internet/sockets.py" allowed.test
	[ "$status" -eq 0 ]
	# The address of the other end is the only thing that differs.
	[ "$(diff <(sed 's/203\.0\.113\.10/127.0.0.1/' expected) - <<<"$output")" = "" ]
	grep -qx "peer ('127.0.0.1', True)" <<<"$output"
}

@test "engine network: clients reach allowed hosts and no others, with and without the proxy's variables" {
	local ssh="ssh -F /dev/null -o BatchMode=yes -i $NET/client -o UserKnownHostsFile=$NET/known_hosts"

	cat >names.js <<-'END'
	const dns = require('dns').promises;
	dns.resolve4('allowed.test').then(a => console.log('c-ares', a.length),
		e => console.log('c-ares', e.code));
	fetch('http://allowed.test/').then(r => r.text()).then(t => console.log('fetch', t.trim()));
	END
	cat >streams.py <<-'END'
	import asyncio, urllib.request
	async def ask():
	    r, w = await asyncio.open_connection('allowed.test', 80)
	    w.write(b'GET / HTTP/1.0\r\nHost: allowed.test\r\n\r\n')
	    print('asyncio', (await r.read()).split(b'\r\n\r\n')[1].decode().strip())
	asyncio.run(ask())
	END
	alone --allow allowed.test --allow git.test --allow v6.test --allow redis.test:6379 --env GIT_SSH_COMMAND="$ssh" \
		--env GIT_SSL_CAINFO="$NET/ca.pem" -- bash -c '
		for with in "" "$0"; do
			$with curl -sS --cacert "$NET/ca.pem" https://allowed.test/
			$with curl -sS http://v6.test/
		done
		curl -sS -x "${ALL_PROXY/socks5h/socks5}" http://allowed.test/
		git clone -q https://git.test/repo.git a && cat a/file
		git clone -q git@git.test:repo.git b && cat b/file
		redis-cli -h redis.test ping
		$0 python3 streams.py
		$0 node names.js | sort
		curl -sS http://other.test/
		$0 curl -sS https://other.test/ 2>&1
		$0 curl -sS -m 60 http://203.0.113.10/ 2>&1' "$bare"
	# Where the connection ends depends on who is faster.
	output=$(sed -E 's/^curl: \((7|52|55|56)\) .*/curl: refused/' <<<"$output")
	[[ "$output" == "hello allowed.test https HTTP/2.0
hello v6.test http HTTP/1.1
hello allowed.test https HTTP/2.0
hello v6.test http HTTP/1.1
hello allowed.test http HTTP/1.1
content
content
PONG
asyncio hello allowed.test http HTTP/1.0
c-ares 1
fetch hello allowed.test http HTTP/1.1
agentbox denied other.test:80: not on the allow list"*", id "*"
curl: (6) Could not resolve host: other.test
curl: refused" ]]
	[ "$(audit 'select(.kind == "violation") | .denial // .id' | sort -u | wc -l)" -ge 3 ]
	[ "$(dns_asked | tr '\n' ' ')" = "allowed.test git.test redis.test v6.test " ]
}

@test "engine network: nothing of the host is reached, whatever changes meanwhile" {
	local name
	local -a at sinks WAY

	cat >../sink.py <<-'END'
	# What reaches these servers of the host is written to FILE.udp, FILE.tcp and FILE.unix.
	import os, socket, sys, threading
	file = sys.argv[1]
	u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	t = socket.socket()
	f = socket.socket(socket.AF_UNIX)
	for s, at in (u, ('127.0.0.1', 0)), (t, ('127.0.0.1', 0)), (f, file + '.sock'):
	    s.bind(at)
	t.listen(1000)
	f.listen(100)
	def count(name, get):
	    with open(file + '.' + name, 'a', 1) as log:
	        while True:
	            log.write('%s\n' % (get(),))
	for name, get in (('udp', lambda: u.recv(100)), ('tcp', lambda: t.accept()[1]),
	                  ('unix', lambda: f.accept()[1])):
	    threading.Thread(target=count, args=(name, get)).start()
	with open(file + '.tmp', 'w') as out:
	    print(u.getsockname()[1], t.getsockname()[1], file + '.sock', file=out)
	os.rename(file + '.tmp', file)
	END
	find_way
	sinks=()
	for name in open boxed; do
		"${WAY[@]}" timeout 200 python3 ../sink.py "$TEST_DIR/$name" 3>&- &
		sinks+=($!)
		wait_for 60 test -e "$TEST_DIR/$name"
	done
	# Without a box every way is open.
	read -ra at <"$TEST_DIR/open"
	wait_for 60 is_raced
	grep -q 'HOLE a server of the host' free
	grep -q 'HOLE a socket file' free
	for name in udp tcp unix; do
		wait_for 60 test -s "$TEST_DIR/open.$name"
	done
	# Other servers, which nothing of that is still on its way to.
	read -ra at <"$TEST_DIR/boxed"
	alone --allow allowed.test -- "$ATTACK/race_network" "${at[@]}" 4
	[ "$status" -eq 0 ]
	[ "$output" = tried ]
	alone --net blocked -- "$ATTACK/race_network" "${at[@]}" 2
	[ "$output" = tried ]
	for name in udp tcp unix; do
		[ ! -s "$TEST_DIR/boxed.$name" ]
	done
	# A port of the host that is named is reached, through the proxy.
	alone --host-port "${at[1]}" -- python3 -c '
import socket, sys
socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "${at[1]}"
	[ "$status" -eq 0 ]
	wait_for 60 test -s "$TEST_DIR/boxed.tcp"
	# Not %1: the first job is that of bats.
	kill "${sinks[@]}"
}

@test "engine network: datagrams elsewhere are refused and recorded, other modes say what they hold" {
	cat >send.py <<-'END'
	import socket, sys
	def attempt(act):
	    try:
	        act()
	        print('sent')
	    except OSError as e:
	        print(e.strerror)
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	attempt(lambda: s.sendto(b'x', ('203.0.113.10', 443)))
	s.connect(('203.0.113.10', 443))
	attempt(lambda: s.send(b'x' * 1200))
	attempt(lambda: s.sendmsg([b'x'], [], 0, ('203.0.113.53', 5353)))
	def ask():
	    c = socket.create_connection(('203.0.113.20', 80), 60)
	    c.sendall(b'GET / HTTP/1.0\r\n\r\n')
	    c.recv(1)
	attempt(ask)
	END
	alone -v --allow allowed.test -- python3 send.py
	[ "$(head -n 3 <<<"$output" | sort -u)" = "Network is unreachable" ]
	[[ "${lines[3]}" == "Connection reset by peer" || "${lines[3]}" == "Broken pipe" ]]
	[[ "$stderr" == *"guarantees in force: "*net-fence*dns-fence*transparent* ]]
	[[ "$stderr" == *"3 packets were denied"*"udp to 203.0.113.10:443 "*", 2 times"*"udp to 203.0.113.53:5353 "* ]]
	alone -v --net blocked -- python3 send.py
	[ "$(sort -u <<<"$output")" = "Network is unreachable" ]
	[[ "$stderr" == *"guarantees in force: "*net-fence*dns-fence* ]]
	# Nobody is to be told of them then, so the end does not wait for that. A busy machine may take as long.
	local try took=1000
	for ((try = 0; try < 20 && took >= 1000; try++)); do
		took=$((${EPOCHREALTIME/[.,]/} / 1000))
		alone --net blocked -- python3 -c 'import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("203.0.113.10", 443))'
		took=$((${EPOCHREALTIME/[.,]/} / 1000 - took))
		[[ "$stderr" == *"Network is unreachable"* ]]
	done
	[ "$took" -lt 1000 ]
	# The host's network, where it is allowed: nothing is claimed, and nothing is in the way.
	alone -v --net allowed -- python3 send.py
	[ "${lines[0]} ${lines[3]}" = "sent sent" ]
	[[ "$stderr" != *net-fence*syscalls* ]]
}

@test "engine network: a secret's placeholder is replaced on the way, by files that variables name" {
	mkdir -p "$HOME/.config/agentbox"
	jq -n --arg ca "$NET/ca.pem" '{ network: { roots: [$ca] }, filesystem: { denyRead: [env.NET] } }' \
		>"$HOME/.config/agentbox/config.json"
	export OPENAI_API_KEY=sk-proj-RealValue0123456789abcdefghijklmnopqrstuv
	alone --secret OPENAI_API_KEY -- sh -c '
		for with in "" "$0"; do
			$with curl -sS https://api.openai.com/v1/models -o answer -w "%{http_code}\n" \
				-H "Authorization: Bearer $OPENAI_API_KEY"
			grep -c "Bearer $OPENAI_API_KEY" answer
		done
		python3 -c "import os, urllib.request as u
q = u.Request(\"https://api.openai.com/v1/x\", headers={\"Authorization\": \"Bearer \" + os.environ[\"OPENAI_API_KEY\"]})
print(u.urlopen(q).status)"
		env' "$bare"
	[ "$status" -eq 0 ]
	[ "$(head -n 5 <<<"$output" | tr '\n' ' ')" = "200 1 200 1 200 " ]
	[[ "$output" != *"$OPENAI_API_KEY"* ]]
	since_mark origin | jq -r .head | grep -qF "Bearer $OPENAI_API_KEY"
	# The folder of the files goes with the box.
	dir=$(sed -n 's/^CURL_CA_BUNDLE=//p' <<<"$output")
	[ -n "$dir" ]
	[ ! -e "$dir" ]
}
