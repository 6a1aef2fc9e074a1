# Each target that must be denied, through each listener of the proxy, beside one
# that is allowed. One line of output is one target: the HTTP answers to a request
# and to CONNECT, the SOCKS reply, and what a program without a proxy sees.
# shared-proc-in-turn: connections must not get around the proxy
UNJUDGED=1
load helpers
load internet
load attack/attack

# A function for the scripts: one target through every door.
doors='
def doors(label, host, port=80):
    text = "[%s]" % host if ":" in host else host
    say(label, "%s %s %s %s" % (forward(text, port), connect(text, port),
                                socks(host, port), direct(host, port)))
'

@test "denials: a host that is not listed, a port that is not, one that is denied" {
	box_python --allow allowed.test --allow '*.allowed.test' --deny www.allowed.test \
		--allow v4.test:8080 --allow denied.test --deny '*.test:81' --deny denied.test <<-END
	$doors
	doors("listed", "allowed.test")
	doors("unlisted", "other.test")
	doors("below", "deep.www.allowed.test")
	doors("denied below", "www.allowed.test")
	doors("denied", "denied.test")
	doors("wrong port", "allowed.test", 8080)
	doors("listed port", "v4.test", 8080)
	doors("not that port", "v4.test", 80)
	END
	[ "$status" -eq 0 ]
	expect <<-END
	listed: 200 200 0 ok
	unlisted: 403 403 2 no name
	below: 200 200 0 ok
	denied below: 403 403 2 no name
	denied: 403 403 2 no name
	wrong port: 403 403 2 reset
	listed port: 200 200 0 ok
	not that port: 403 403 2 reset
	END
	[ "$(dns_asked | tr '\n' ' ')" = "allowed.test deep.www.allowed.test v4.test " ]
}

@test "denials: names that look like an allowed one" {
	box_python --allow allowed.test --allow '*.other.test' <<-END
	$doors
	doors("itself", "allowed.test")
	doors("with a dot", "allowed.test.")
	doors("in capitals", "ALLOWED.Test")
	for name in ("notallowed.test", "allowed.test.evil.test", "allowedXtest",
	             "www.allowed.test", "allowed.testx", "allowed", "test",
	             "other.test", "xother.test", "xn--allowed.test"):
	    doors(name, name)
	for name in ("allowed.test..", ".allowed.test", "allowed..test", "*.allowed.test",
	             "allowed_.test", "-allowed.test", "a" * 64 + ".allowed.test",
	             "allowed.test%00", "allowed.test%2eevil.test", "all\\u00f6wed.test"):
	    say(repr(name), "%s %s %s" % (forward(name), connect(name), socks(name)))
	END
	[ "$status" -eq 0 ]
	[ "$(head -n 3 <<<"$output" | cut -d: -f2 | sort -u)" = " 200 200 0 ok" ]
	[ "$(sed -n 4,13p <<<"$output" | cut -d: -f2 | sort -u)" = " 403 403 2 no name" ]
	# What is no name at all is malformed, and not allowed either.
	[ "$(tail -n +14 <<<"$output" | grep -vcE ': (400|403) (400|403) ([1-9]|closed)$')" -eq 0 ]
	[ "${#lines[@]}" -eq 23 ]
	[ "$(dns_asked)" = allowed.test ]
}

@test "denials: a name in another script is the one that is looked up, in every list" {
	local name=$'b\u00fccher.test'

	agentbox run --allow "$name" -- curl -sS -o /dev/null -w '%{http_code}' http://xn--bcher-kva.test/
	[ "$output" = 200 ]
	agentbox run --allow '*.test' --deny "$name" -- curl -sS http://xn--bcher-kva.test/
	[[ "$output" == *"xn--bcher-kva.test:80: on the deny list (xn--bcher-kva.test)"* ]]
	# Nothing else is, and no form is guessed.
	agentbox run --unknown deny --allow "$name" -- curl -sS http://other.test/
	[[ "$output" == *"other.test:80: not on the allow list"* ]]
	agentbox run --allow $'stra\u00dfe.test' -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"use the name in its ASCII form (xn--...)"* ]]
	[ "$(dns_asked)" = xn--bcher-kva.test ]
}

@test "denials: addresses of the host and of private networks, however they are written" {
	box_python --allow '*.test' --allow 203.0.113.20 --allow 2001:db8::20 <<-END
	$doors
	for host in ("203.0.113.20", "0xcb007114", "3405803796", "203.0.28948",
	             "2001:db8::20", "::ffff:203.0.113.20"):
	    doors("fine " + host, host)
	for host in ("127.0.0.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.1",
	             "0x7f.1", "0", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"):
	    doors("own " + host, host)
	for host in ("10.0.0.5", "0xa000005", "169.254.169.254", "100.100.100.200",
	             "192.0.2.7", "fd00:aaaa::5", "fd00:ec2::254", "::ffff:10.0.0.5",
	             "64:ff9b::a00:5", "64:ff9b::7f00:1", "2002:a00:5::1", "2001::1",
	             "fe80::1", "224.0.0.1", "255.255.255.255"):
	    doors("far " + host, host)
	END
	[ "$status" -eq 0 ]
	[ "$(grep ^fine <<<"$output" | sed 's/.*: //' | sort -u)" = "200 200 0 ok" ]
	# The box has a loopback of its own, where nothing listens.
	[ "$(grep ^own <<<"$output" | sed 's/.*: //' | sort -u)" = "403 403 2 ECONNREFUSED" ]
	[ -z "$(grep ^far <<<"$output" | grep -vE ': 403 403 2 (reset|E[A-Z]+)$')" ]
	[ "${#lines[@]}" -eq 32 ]
	[ -z "$(origin_connections | grep -vE '^(203.0.113.20|2001:db8::20)$')" ]
	[ -z "$(dns_asked)" ]
}

@test "denials: an address that was not allowed is not reached by being an allowed name's" {
	box_python --allow origin.test <<-END
	$doors
	doors("by name", "origin.test")
	doors("by address", "203.0.113.20")
	doors("by the other address", "2001:db8::20")
	END
	[ "$status" -eq 0 ]
	expect <<-END
	by name: 200 200 0 ok
	by address: 403 403 2 reset
	by the other address: 403 403 2 reset
	END
}

@test "denials: an allowed name that leads to a denied range" {
	box_python --allow '*.test' <<-END
	$doors
	doors("good", "origin.test")
	for name in ("private", "private6", "mixed", "mixed6", "loop", "loop6", "zero", "mapped",
	             "nat64", "metadata", "metadata6", "alibaba", "own", "synthetic",
	             "cname-private"):
	    doors(name, name + ".test")
	END
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "good: 200 200 0 ok" ]
	[ "$(tail -n +2 <<<"$output" | cut -d: -f2 | sort | uniq -c | sed 's/^ *//')" = "15  403 403 2 reset" ]
	[ -z "$(origin_connections | grep -vE '^(203.0.113.20|2001:db8::20)$')" ]
}

@test "denials: lists may hold ranges of addresses, and a denied address is no name's either" {
	box_python --allow 203.0.113.0/28 --allow origin.test --allow v4.test --deny 203.0.113.20 <<-END
	$doors
	doors("in the range", "203.0.113.10")
	doors("outside of it", "203.0.113.30")
	doors("denied", "203.0.113.20")
	doors("a name that leads to it", "origin.test")
	doors("a name in the range", "v4.test")
	doors("an unlisted name in the range", "other.test")
	END
	[ "$status" -eq 0 ]
	expect <<-END
	in the range: 200 200 0 ok
	outside of it: 403 403 2 reset
	denied: 403 403 2 reset
	a name that leads to it: 403 403 2 reset
	a name in the range: 200 200 0 ok
	an unlisted name in the range: 403 403 2 no name
	END
	[ -z "$(origin_connections)" ]
	[ "$(dns_asked | tr '\n' ' ')" = "origin.test v4.test " ]
}

@test "denials: a box in the box can only be tighter" {
	local net="curl -sS -m 60 http://allowed.test/ http://other.test/"

	agentbox_split run --allow allowed.test -- "$AGENTBOX" run --allow other.test -- $net
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "hello allowed.test http HTTP/1.1" ]
	[[ "${lines[1]}" == "agentbox denied other.test:80"* ]]
	agentbox_split run --allow allowed.test -- sh -c '"$@" $http_proxy' sh "$AGENTBOX" run --net blocked -- sh -c '
		for how in "" "-x $0" "-x socks5h://${0#*://}" "--resolve allowed.test:80:198.18.0.1"; do
			curl -s -m 60 $how http://allowed.test/ && echo HOLE
		done; true'
	[ "$status" -eq 0 ]
	no_hole
}

@test "denials: a name that changes its address after the check" {
	box_python --allow '*.rebind.test' <<-'END'
	for n in range(3):
	    forward("one.rebind.test")
	    connect("two.rebind.test", 80)
	    socks("three.rebind.test")
	    direct("four.rebind.test")
	    say("first" if n == 0 else "later", direct("five%d.rebind.test" % n))
	sock = to_proxy()
	get = "GET http://six.rebind.test/ HTTP/1.1\r\nHost: six.rebind.test\r\n\r\n"
	say("kept", " ".join(str(ask(get, sock)[0].status) for n in range(3)))
	END
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "first: ok" ]]
	[[ "${lines[-1]}" == "kept: 200"* ]]
	[ "$(origin_connections | sort -u)" = 203.0.113.20 ]
}

@test "denials: bytes that are no part of a name" {
	box_python --allow allowed.test --allow other.test --allow origin.test <<-'END'
	for name in (b"allowed.test\0.evil.test", b"allowed.test\0", b"\0", b"",
	             b"allowed.test\r\nHost: x", b"allowed.test\n", b"allowed.test ",
	             b"allowed.test/", b"user@allowed.test",
	             b"allowed.test:80", b"allowed.test#", b"allowed.test?", b"all\xc3\xb6wed.test",
	             b"allowed.test,other.test", b"allowed.test\\.other.test", b"a" * 255):
	    text = name.decode("latin-1")
	    say("%r" % text[:30], "%s %s %s" % (
	        statuses("CONNECT %s:443 HTTP/1.1\r\nHost: allowed.test\r\n\r\n" % text),
	        statuses("CONNECT allowed.test:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n" % text),
	        socks(name, 443)))
	for target in ("allowed.test", "allowed.test:", "allowed.test:0", "allowed.test:65979",
	               "allowed.test:443x", "allowed.test:+443", "allowed.test: 443",
	               "allowed.test:00000443", "http://allowed.test:443", "[allowed.test]:443",
	               "[203.0.113.10]:443", "[::1", "::1:443", "/", "*", ":443"):
	    say("CONNECT " + target, statuses(
	        "CONNECT %s HTTP/1.1\r\nHost: allowed.test\r\n\r\n" % target))
	for target in ("http://allowed.test\0/", "http://user@allowed.test/",
	               "http://user:pass@origin.test@allowed.test/", "http://allowed.test\\@other.test/",
	               "http:///", "http://:80/", "http:/allowed.test/", "https://allowed.test/",
	               "ftp://allowed.test/", "file:///etc/passwd", "//allowed.test/", "/", "*",
	               "http://allowed.test:x/", "http://allowed.test:99999/", "http://allowed.test /"):
	    say("GET " + repr(target), statuses(
	        "GET %s HTTP/1.1\r\nHost: allowed.test\r\n\r\n" % target))
	END
	[ "$status" -eq 0 ]
	# 200 is none of them; the Host of CONNECT is only looked at to disagree.
	[[ "$output" != *" 200"* ]]
	[[ "$output" != *"timeout"* ]]
	[ "$(grep -c "^CONNECT.*: 40[03]$" <<<"$output")" -eq 16 ]
	[ "$(grep -cE "^GET.*: (40[035]|501)$" <<<"$output")" -eq 16 ]
	[ "$(grep -cE "^'.*: 40[03] 40[03] ([1-9]|closed)$" <<<"$output")" -eq 16 ]
	[ -z "$(dns_asked)" ]
	[ -z "$(origin_connections)" ]
}

@test "denials: SOCKS commands and greetings other than CONNECT without a password" {
	box_python --allow wire.test:7 --allow wire.test:25 <<-'END'
	def send(*parts):
	    sock = to_proxy()
	    got = b""
	    try:
	        for part in parts:
	            sock.sendall(part)
	            got = sock.recv(10)
	    except OSError as error:
	        return word(error)
	    return got.hex() or "closed"
	name = b"\3\x09wire.test\0\7"
	say("connect", send(b"\5\1\0", b"\5\1\0" + name)[:4])
	say("two methods", send(b"\5\2\2\0", b"\5\1\0" + name)[:4])
	say("bind", send(b"\5\1\0", b"\5\2\0" + name)[:4])
	say("associate", send(b"\5\1\0", b"\5\3\0" + name)[:4])
	say("address type 2", send(b"\5\1\0", b"\5\1\0\2" + name[1:])[:4])
	say("only a password", send(b"\5\1\2"))
	say("no method", send(b"\5\0"))
	say("version 4", send(b"\4\1\0\7\xcb\0\x71\x32x\0"))
	say("version 4a", send(b"\4\1\0\7\0\0\0\1x\0wire.test\0"))
	say("port 0", send(b"\5\1\0", b"\5\1\0" + name[:-2] + b"\0\0")[:4])
	# The client's bytes may come with the request, and one by one.
	code, sock = socks_to("wire.test", 7)
	sock.sendall(b"hello")
	say("echo", sock.recv(5))
	sock = to_proxy()
	for byte in b"\5\1\0\5\1\0" + name + b"early":
	    sock.sendall(bytes([byte]))
	stream = sock.makefile("rb")
	say("byte by byte", stream.read(12).hex() + " " + stream.read(5).decode())
	END
	[ "$status" -eq 0 ]
	[ "$(head -n 2 <<<"$output" | cut -d: -f2 | sort -u)" = " 0500" ]
	grep -qx 'bind: 0507' <<<"$output"
	grep -qx 'associate: 0507' <<<"$output"
	grep -qx 'address type 2: 0508' <<<"$output"
	grep -qx 'only a password: 05ff' <<<"$output"
	grep -qxE 'no method: (05ff|closed|reset)' <<<"$output"
	# Nothing, or words of HTTP.
	grep -qxE 'version 4: (closed|reset|48545450.*)' <<<"$output"
	grep -qxE 'version 4a: (closed|reset|48545450.*)' <<<"$output"
	grep -qxE 'port 0: 050[1-9]' <<<"$output"
	grep -qx "echo: b'hello'" <<<"$output"
	grep -qx 'byte by byte: 050005000001000000000000 early' <<<"$output"
}

@test "denials: names that are not allowed are never looked up" {
	box_python --allow allowed.test <<-'END'
	secret = "s3cret" * 9
	for name in (secret + ".allowed.test", secret + ".evil.test",
	             ".".join([secret] * 4) + ".evil.test", "other.test", "8.8.8.8.in-addr.arpa"):
	    for kind in (A, AAAA, HTTPS, TXT, ANY, 2, 5, 12, 15, 33):
	        for tcp in (False, True):
	            for server in (None, "8.8.8.8", "203.0.113.53"):
	                if lookup(name, kind, server, tcp) not in ("nx", "ok", "refused"):
	                    print("HOLE", name, kind, tcp, server, lookup(name, kind, server, tcp))
	    forward(name), connect(name), socks(name), direct(name)
	say("allowed", forward("allowed.test"))
	END
	[ "$status" -eq 0 ]
	no_hole
	[ "$output" = "allowed: 200" ]
	[ "$(dns_asked)" = allowed.test ]
}

@test "denials: datagrams are refused at once, and recorded" {
	box_python --allow allowed.test --allow 203.0.113.10 <<-'END'
	for host, port in (("203.0.113.10", 443), ("8.8.8.8", 123), ("203.0.113.53", 5353),
	                   ("2001:db8::10", 443), ("10.0.0.5", 514)):
	    say("%s %d" % (host, port), udp(host, port))
	say("allowed.test 443", udp(address("allowed.test"), 443))
	for family, kind, proto in ((socket.AF_INET, socket.SOCK_RAW, 1), (socket.AF_INET6, socket.SOCK_RAW, 58),
	                            (socket.AF_INET, socket.SOCK_DGRAM, 1), (socket.AF_INET, socket.SOCK_RAW, 255)):
	    try:
	        socket.socket(family, kind, proto)
	        print("HOLE", family, kind, proto)
	    except OSError as error:
	        say("socket %d" % proto, "refused")
	# Between processes of the box they work.
	a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	a.bind(("127.0.0.1", 0))
	b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	b.sendto(b"x", a.getsockname())
	say("own", a.recv(1))
	END
	[ "$status" -eq 0 ]
	no_hole
	[ "$(grep -c 'ECONNREFUSED$' <<<"$output")" -eq 6 ]
	[ "$(grep -c 'refused$' <<<"$output")" -eq 4 ]
	[ "${lines[-1]}" = "own: b'x'" ]
	[[ "$stderr" == "agentbox: 6 packets were denied"*udp* ]]
	[ "$(audit 'select(.kind == "violation") | "\(.protocol) \(.packets) \(.domain):\(.port)"' | sort)" = "$(sort <<-'END'
	udp 1 203.0.113.10:443
	udp 1 8.8.8.8:123
	udp 1 203.0.113.53:5353
	udp 1 2001:db8::10:443
	udp 1 10.0.0.5:514
	udp 1 allowed.test:443
	END
	)" ]
}

@test "denials: services of the host's loopback, and our own listeners" {
	# The host has an echo service on port 7 and a web server on port 80.
	box_python --allow allowed.test --allow localhost:7 --allow '*.test' <<-'END'
	for host in ("127.0.0.1", "::1", "localhost", "192.0.2.7", "127.0.0.2"):
	    say("echo at " + host, direct(host, 7))
	for host in ("127.0.0.1", "localhost", "[::1]", "localhost."):
	    say("web at " + host, "%s %s" % (forward(host), connect(host, 80)))
	# Everything that listens in the box: the doors. None of them is a way to
	# anywhere when it is called by its own address.
	ports = set()
	for table in ("tcp", "tcp6"):
	    for line in open("/proc/net/" + table).readlines()[1:]:
	        fields = line.split()
	        if fields[3] == "0A":
	            ports.add(int(fields[1].rpartition(":")[2], 16))
	say("ports", len(ports) > 0)
	ports -= {53, proxy_address()[1]}
	for port in sorted(ports):
	    for host in ("127.0.0.1", "::1", "198.19.255.1", "203.0.113.20", address("allowed.test")):
	        say("listener at %s" % host, direct(host, port))
	# A way in a circle.
	host, port = proxy_address()
	say("the proxy by itself", "%s %s %s" % (
	    forward(host, port), connect(host, port), socks(host, port)))
	END
	[ "$status" -eq 0 ]
	[ "$(grep '^echo at' <<<"$output" | grep -vcE ': (ECONNREFUSED|reset)$')" -eq 0 ]
	[ "$(grep '^web at' <<<"$output" | grep -vcE ': 403 403$')" -eq 0 ]
	grep -qx 'ports: True' <<<"$output"
	[ "$(grep '^listener at' <<<"$output" | grep -vcE ': (ECONNREFUSED|reset|closed)$')" -eq 0 ]
	grep -qx 'the proxy by itself: 403 403 2' <<<"$output"
	[ -z "$(origin_connections)" ]
}

@test "denials: nothing is reachable where the network is blocked" {
	cat >script.py <<-'END'
	import os, socket
	for host, port in (("203.0.113.20", 80), ("2001:db8::20", 80), ("127.0.0.1", 7), ("10.0.0.5", 80)):
	    try:
	        socket.create_connection((host, port), 30)
	        print("HOLE", host)
	    except OSError as error:
	        print(host, "refused")
	try:
	    print("HOLE", socket.getaddrinfo("origin.test", 80))
	except OSError:
	    print("no name")
	print([name for name in os.environ if name.lower().endswith("_proxy")])
	END
	local how
	for how in "--net blocked" "--profile workspace-write" "--profile read-only" "--profile ci --fallback warn"; do
		agentbox_split run $how --allow '*.test' -- python3 script.py
		[ "$status" -eq 0 ]
		no_hole
		[ "${lines[-2]}" = "no name" ]
		[ "${lines[-1]}" = "[]" ]
	done
	# The same with one word more is filtered.
	agentbox_split run --profile workspace-write-whitelist --allow allowed.test -- \
		curl -sS http://allowed.test/ http://other.test/
	[[ "${lines[0]}" == "hello allowed.test"* ]]
	[[ "${lines[1]}" == "agentbox denied other.test:80"* ]]
	[ "$(dns_asked)" = allowed.test ]
	[ -z "$(origin_connections)" ]
}

@test "denials: a star before a public top-level label cannot be allowed, and can be denied" {
	local label why='"*.com" allows every name below .com, which is not reserved for private networks'

	agentbox run --allow '*.com' -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"$why"*'use one like "*.example.com"'* ]]
	echo '{ "network": { "allow": ["*.xn--p1ai:443"] } }' >"$HOME/config.json"
	agentbox run --config "$HOME/config.json" -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"network.allow[0]: "*'below .xn--p1ai'* ]]
	agentbox allow --always --user '*.com'
	[ "$status" -eq 2 ]
	[[ "$output" == *"$why"*'use one like "*.example.com"'* ]]
	run ! grep -qF "*.com" "$HOME/.config/agentbox/config.json"
	# These are used in private networks, and nothing reserves them.
	for label in consul svc; do
		agentbox run --allow "*.$label" -- true
		[ "$status" -eq 125 ]
		[[ "$output" == *"not reserved for private networks"*"use one like \"*.example.$label\""* ]]
		agentbox run --allow "*.example.$label" -- true
		[ "$status" -eq 0 ]
	done
	# Names below a domain, a label that is not public, and a denial of all of them.
	box_python --allow '*.allowed.test' --allow '*.test' --deny '*.com' --allow api.openai.com <<-'END'
	say("names", "%s %s" % (forward("www.allowed.test"), forward("api.openai.com")))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	names: 200 403
	END
}
