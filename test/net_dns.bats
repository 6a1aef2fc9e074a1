# shared-proc: names are resolved differently
# The resolver of the box answers for allowed names itself, and for no others.
# root-in-turn: root may bind low ports and make devices, which the box must not inherit
UNJUDGED=1
load helpers
load internet
load attack/attack

@test "dns: allowed names get an address of their own, for the whole run" {
	box_python --allow '*.test' <<-'END'
	first = {name: (address(name), address(name, AAAA)) for name in
	         ("allowed.test", "other.test", "nowhere.test", "v6.test")}
	again = {name: (address(name), address(name, AAAA)) for name in first}
	say("the same again", first == again)
	say("all different", len({a for pair in first.values() for a in pair}))
	say("v4", all(a.startswith("198.18.") for a, _ in first.values()))
	say("v6", all(b.startswith("fd") for _, b in first.values()))
	say("capitals and dot", lookup("ALLOWED.test") == "ok " + first["allowed.test"][0])
	# The question comes back as it was written.
	query = dns_query("aLLoWeD.tEsT")
	say("case", b"\x07aLLoWeD\x04tEsT\0" in dns_send(query))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	the same again: True
	all different: 8
	v4: True
	v6: True
	capitals and dot: True
	case: True
	END
	# Nothing was asked of the host's resolver: no connection was made.
	[ -z "$(dns_asked)" ]
}

@test "dns: other names do not exist, by every type and transport" {
	box_python --allow allowed.test --deny www.allowed.test --allow '*.other.test' <<-'END'
	edns = b"\0" + struct.pack("!HHIH", 41, 1232, 0, 0)
	for server in (None, "8.8.8.8", "1.1.1.1", "2001:4860:4860::8888", "203.0.113.53", "10.9.8.7"):
	    for tcp in (False, True):
	        say("asked", " ".join(
	            [lookup("allowed.test", A, server, tcp).split()[0],
	             lookup("allowed.test", AAAA, server, tcp).split()[0],
	             lookup("allowed.test", A, server, tcp, edns).split()[0],
	             lookup("a.other.test", A, server, tcp).split()[0],
	             lookup("other.test", A, server, tcp),
	             lookup("www.allowed.test", AAAA, server, tcp),
	             lookup("evil.test", TXT, server, tcp),
	             lookup("evil.test", HTTPS, server, tcp, edns)]))
	for kind in (HTTPS, TXT, 2, 5, 6, 15, 33, 99):
	    say("other type", lookup("allowed.test", kind))
	END
	[ "$status" -eq 0 ]
	[ "$(grep -cx 'asked: ok ok ok ok nx nx nx nx' <<<"$output")" -eq 12 ]
	[ "$(grep -cx 'other type: ok' <<<"$output")" -eq 8 ]
	[ -z "$(dns_asked)" ]
}

@test "dns: what is no question gets no answer that could be used" {
	box_python --allow allowed.test <<-'END'
	TIMEOUT = 2
	def send(label, message, tcp=False):
	    def attempt():
	        reply = dns_send(message, None, tcp)
	        return "code %d" % (reply[3] & 15)
	    say(label, outcome(attempt))
	good = dns_query("allowed.test")
	send("good", good)
	import door
	door.TIMEOUT = 0.3
	send("a response", good[:2] + b"\x81\x80" + good[4:])
	send("short", good[:7])
	send("empty name type", good[:12])
	send("cut", good[:-3])
	send("two questions", good[:4] + b"\0\2" + good[6:] + good[12:])
	send("no question", good[:4] + b"\0\0" + good[6:12])
	send("update", good[:2] + b"\x28\0" + good[4:])
	send("pointer loop", good[:12] + b"\xc0\x0c" + b"\0\1\0\1")
	send("long label", good[:12] + b"\x40" + b"a" * 64 + b"\0\0\1\0\1")
	send("other class", good[:-2] + b"\0\3")
	send("nul in a label", dns_query(b"\x09allowed\0x\4test\0"))
	send("dot in a label", dns_query(b"\x0callowed.test\0"))
	send("root", dns_query(b"\0"))
	door.TIMEOUT = 30
	sock = socket.create_connection((nameserver(), 53))
	sock.sendall(b"\xff\xff" + b"x" * 65535)
	try:
	    while sock.recv(4096):
	        pass
	    say("long", "closed")
	except OSError as error:
	    say("long", word(error))
	# Several on one connection, and in pieces.
	sock = socket.create_connection((nameserver(), 53), 30)
	message = struct.pack("!H", len(good)) + good
	for byte in message + message:
	    sock.sendall(bytes([byte]))
	stream = sock.makefile("rb")
	for n in range(2):
	    length, = struct.unpack("!H", stream.read(2))
	    say("in pieces", dns_parse(good, stream.read(length))[0])
	say("still there", lookup("allowed.test").split()[0])
	END
	[ "$status" -eq 0 ]
	grep -qx 'good: code 0' <<<"$output"
	grep -qx 'a response: timeout' <<<"$output"
	grep -qx 'short: timeout' <<<"$output"
	grep -qxE 'two questions: (code 1|timeout)' <<<"$output"
	grep -qxE 'update: (code 4|timeout)' <<<"$output"
	grep -qxE 'nul in a label: (code [135]|timeout)' <<<"$output"
	grep -qxE 'dot in a label: (code [135]|timeout)' <<<"$output"
	grep -qxE 'long: (closed|reset)' <<<"$output"
	[ "$(grep -cx 'in pieces: ok' <<<"$output")" -eq 2 ]
	[ "${lines[-1]}" = "still there: ok" ]
	[ "$(grep -c ': code 0' <<<"$output")" -le 2 ]
	[ -z "$(dns_asked)" ]
}

@test "dns: a synthetic address means its name at every door, and nothing else does" {
	box_python --allow allowed.test --allow v4.test:8080 <<-'END'
	four, six = address("allowed.test"), address("allowed.test", AAAA)
	for host in (four, "[%s]" % six):
	    say("http", forward(host))
	    say("connect", connect(host, 443))
	    say("socks", socks(host.strip("[]"), 443))
	    say("direct", direct(host.strip("[]"), 80))
	    say("wrong port", "%s %s" % (forward(host, 8080), direct(host.strip("[]"), 8080)))
	for host in ("198.18.77.77", "198.18.0.0", "198.19.0.1", "198.18.255.255",
	             "198.19.255.1", six[:-1] + "eee"):
	    text = "[%s]" % host if ":" in host else host
	    say("unused", "%s %s %s %s" % (forward(text), connect(text), socks(host), direct(host)))
	END
	[ "$status" -eq 0 ]
	[ "$(grep -c '^http: 200$' <<<"$output")" -eq 2 ]
	[ "$(grep -c '^connect: 200$' <<<"$output")" -eq 2 ]
	[ "$(grep -c '^socks: 0$' <<<"$output")" -eq 2 ]
	[ "$(grep -c '^direct: ok$' <<<"$output")" -eq 2 ]
	[ "$(grep -c '^wrong port: 403 reset$' <<<"$output")" -eq 2 ]
	[ "$(grep -cE '^unused: 403 403 2 (reset|ECONNREFUSED)$' <<<"$output")" -eq 6 ]
}

@test "dns: there is a limit to names, and those that have one keep theirs" {
	box_python --allow '*.allowed.test' <<-'END'
	import select
	first = address("first.allowed.test")
	sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	sock.connect((nameserver(), 53))
	sock.settimeout(TIMEOUT)
	codes = [0] * 16
	seen = set()
	# Some at a time, none lost.
	for start in range(0, 66000, 40):
	    for n in range(start, start + 40):
	        sock.send(dns_query("n%d.allowed.test" % n))
	    for n in range(40):
	        reply = sock.recv(512)
	        codes[reply[3] & 15] += 1
	        if reply[3] & 15 == 0:
	            seen.add(reply[-4:])
	say("answered", codes[0])
	say("each its own", len(seen) == codes[0])
	say("then failed", codes[2] == 66000 - codes[0])
	say("the first", address("first.allowed.test") == first)
	say("reached", forward(first))
	say("by its name", forward("www.allowed.test"))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	answered: 65534
	each its own: True
	then failed: True
	the first: True
	reached: 502
	by its name: 200
	END
	# The name of that one does not exist outside.
	[ "$(dns_asked | tr '\n' ' ')" = "first.allowed.test www.allowed.test " ]
}

@test "dns: the system's resolver in the box works as programs expect" {
	box_python --allow allowed.test --allow v6.test <<-'END'
	def resolve(name, family=socket.AF_UNSPEC, flags=0):
	    try:
	        found = socket.getaddrinfo(name, 80, family, socket.SOCK_STREAM, 0, flags)
	        return " ".join(sorted({"v6" if item[0] == socket.AF_INET6 else "v4" for item in found}))
	    except socket.gaierror as error:
	        return "no name" if error.errno == socket.EAI_NONAME else str(error)
	for flags in (0, socket.AI_ADDRCONFIG):
	    for family in (socket.AF_UNSPEC, socket.AF_INET, socket.AF_INET6):
	        say("allowed", resolve("allowed.test", family, flags))
	    say("other", resolve("other.test", socket.AF_UNSPEC, flags))
	say("localhost", socket.gethostbyname("localhost"))
	say("short", resolve("allowed"))
	say("own name", resolve(socket.gethostname()) != "no name")
	END
	[ "$status" -eq 0 ]
	expect <<-END
	allowed: v4 v6
	allowed: v4
	allowed: v6
	other: no name
	allowed: v4 v6
	allowed: v4
	allowed: v6
	other: no name
	localhost: 127.0.0.1
	short: no name
	own name: True
	END
	[ -z "$(dns_asked)" ]
}

@test "dns: outgoing lookups follow aliases, long answers and the next address" {
	box_python --allow '*.test' <<-'END'
	for name in ("cname.test", "big.test", "multi.test", "no6.test", "v6.test", "hosts-file.test"):
	    say(name, "%s %s" % (forward(name), direct(name)))
	for name in ("missing.test", "empty.test", "servfail.test", "cname-self.test", "refused.test"):
	    answer = ask("GET http://%s/ HTTP/1.1\r\nHost: %s\r\n\r\n" % (name, name))[0]
	    say(name, "%d %s %s %s" % (answer.status, connect(name), socks(name), direct(name)))
	    if name not in answer.body.decode():
	        print("does not say", name, answer.body)
	END
	[ "$status" -eq 0 ]
	expect <<-END
	cname.test: 200 ok
	big.test: 200 ok
	multi.test: 200 ok
	no6.test: 200 ok
	v6.test: 200 ok
	hosts-file.test: 200 ok
	missing.test: 502 502 4 reset
	empty.test: 502 502 4 reset
	servfail.test: 504 504 4 reset
	cname-self.test: 502 502 4 reset
	refused.test: 502 502 5 reset
	END
	# The host has a search list. No name was put together from it.
	run ! grep -q search <(dns_asked)
}
