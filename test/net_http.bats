# no-namespaces-in-turn: connections reach the proxy in another way there
# HTTP requests: what is passed on, what is removed, and what is denied before a
# byte of it reaches a server.
UNJUDGED=1
load helpers
load internet
load attack/attack

@test "http: every form of request and answer passes" {
	box_python --allow origin.test <<-'END'
	import json
	def request(target, method="GET", more="", body=""):
	    return "%s http://origin.test%s HTTP/1.1\r\nHost: origin.test\r\n%s\r\n%s" % (
	        method, target, more, body)
	# All on one connection, so that no answer's end is mistaken.
	sock = to_proxy()
	stream = sock.makefile("rb")
	def go(label, show, data, method="GET"):
	    sock.sendall(data.encode("latin-1"))
	    answer = Answer(stream, method)
	    while answer.status < 200:
	        answer = Answer(stream, method)
	    say(label, "%d %s" % (answer.status, show(answer)))
	text = lambda answer: answer.body.decode()
	seen = lambda answer: json.loads(answer.body)
	go("get", lambda a: seen(a)["line"], request("/a/b?c=d"))
	go("chunked", text, request("/chunked"))
	go("head", lambda a: int(a.get("content-length")) > 0, request("/", "HEAD"), "HEAD")
	go("204", text, request("/status/204"))
	go("304", text, request("/status/304"))
	go("404", text, request("/status/404"))
	go("hints", text, request("/hints"))
	go("post", lambda a: seen(a)["body"], request("/", "POST", "Content-Length: 3\r\n", "abc"))
	go("empty post", lambda a: seen(a)["length"], request("/", "POST", "Content-Length: 0\r\n"))
	go("chunked post", lambda a: seen(a)["body"], request(
	    "/", "POST", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n"))
	go("trailers", lambda a: seen(a)["body"], request(
	    "/", "POST", "Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n", "1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n"))
	go("options", lambda a: seen(a)["line"], request("/", "OPTIONS"))
	go("delete", lambda a: seen(a)["line"], request("/x", "DELETE"))
	go("empty path", lambda a: seen(a)["line"], request(""))
	go("only a query", lambda a: seen(a)["line"], request("?q"))
	go("big", lambda a: len(a.body), request("/bytes/1000000"))
	# The server must be asked before the body is sent.
	sock.sendall(request("/", "PUT", "Content-Length: 2\r\nExpect: 100-continue\r\n").encode())
	say("continue", Answer(stream).status)
	sock.sendall(b"ok")
	say("after", seen(Answer(stream))["body"])
	go("to the end", text, request("/until-close"))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	get: 200 GET /a/b?c=d HTTP/1.1
	chunked: 200 one two three
	head: 200 True
	204: 204 
	304: 304 
	404: 404 status 404
	hints: 200 after hints
	post: 200 abc
	empty post: 200 0
	chunked post: 200 abcdefg
	trailers: 200 a
	options: 200 OPTIONS / HTTP/1.1
	delete: 200 DELETE /x HTTP/1.1
	empty path: 200 GET / HTTP/1.1
	only a query: 200 GET /?q HTTP/1.1
	big: 200 1000000
	continue: 100
	after: ok
	to the end: 200 to the end
	END
	# The connection to the server is kept where that is safe.
	[ "$(origin_connections | wc -l)" -lt 12 ]
	[ -z "$stderr" ]
}

@test "http: an old client gets its answer and the end" {
	box_python --allow origin.test <<-'END'
	for line in ("GET http://origin.test/chunked HTTP/1.0\r\n\r\n",
	             "GET http://origin.test/bytes/5 HTTP/1.0\r\nHost: origin.test\r\n\r\n"):
	    sock = to_proxy()
	    sock.sendall(line.encode())
	    data = b""
	    while part := sock.recv(65536):
	        data += part
	    head, _, body = data.partition(b"\r\n\r\n")
	    say(head.split(b"\r\n")[0].decode()[-6:], "%s %s" % (body, b"chunked" in head.lower()))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	200 OK: b'one two three' False
	200 OK: b'xxxxx' False
	END
}

@test "http: hop-by-hop headers stop here, in both directions" {
	box_python --allow origin.test <<-'END'
	import json
	answer = ask("GET http://origin.test/ HTTP/1.1\r\nHost: origin.test\r\n"
	             "Connection: keep-alive, X-Hop, Transfer-Encoding2\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n"
	             "Proxy-Authorization: Basic c2VjcmV0\r\nProxy-Connection: keep-alive\r\n"
	             "TE: trailers\r\nProxy-Authenticate: x\r\nX-End: 1\r\nAuthorization: mine\r\n\r\n")[0]
	print(sorted(name.lower() for name, value in json.loads(answer.body)["headers"]))
	answer = ask("GET http://origin.test/hop HTTP/1.1\r\nHost: origin.test\r\n\r\n")[0]
	say("back", "%s %s" % (answer.get("x-hop"), answer.get("x-end")))
	END
	[ "$status" -eq 0 ]
	# What the proxy says for itself: that trailers are welcome.
	[ "${lines[0]}" = "['authorization', 'connection', 'host', 'te', 'x-end']" ]
	[[ "$(since_mark origin)" == *'TE: trailers\r\n'*'Connection: TE\r\n'* ]]
	[ "${lines[1]}" = "back: None 1" ]
	run ! grep -q c2VjcmV0 "$(audit_file)"
}

@test "http: no header can be used to take another one away, or to change the protocol" {
	box_python --allow origin.test --allow second.test <<-'END'
	import json
	def send(label, more, body, sock=None, target="http://origin.test/x"):
	    say(label, statuses("POST %s HTTP/1.1\r\nHost: origin.test\r\n%s\r\n%s" % (target, more, body), sock))
	inner = "GET http://second.test/inner HTTP/1.1\r\nHost: second.test\r\n\r\n"
	send("length", "Connection: content-length\r\nContent-Length: %d\r\n" % len(inner), inner)
	send("coding", "Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n",
	     "%x\r\n%s\r\n0\r\n\r\n" % (len(inner), inner))
	send("host", "Connection: host\r\nContent-Length: 0\r\n", "")
	upgrade = ("GET %s HTTP/1.1\r\nHost: origin.test\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n"
	           "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n")
	for door, sock in [("proxy", to_proxy())] + list(tunnels("origin.test", 80)):
	    answer = ask(upgrade % ("http://origin.test/h2" if door == "proxy" else "/h2"), sock)[0]
	    say(door, "%d %s" % (answer.status, json.loads(answer.body)["headers"]))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	length: 400
	coding: 400
	host: 400
	proxy: 200 [['Host', 'origin.test']]
	connect: 200 [['Host', 'origin.test']]
	socks: 200 [['Host', 'origin.test']]
	direct: 200 [['Host', 'origin.test']]
	END
	[ "$(origin_requests | sort -u | cut -d' ' -f2-)" = "GET /h2 HTTP/1.1" ]
}

@test "http: each request of a kept connection is judged by itself" {
	box_python --allow origin.test --allow allowed.test <<-'END'
	def get(host, path="/"):
	    return "GET http://%s%s HTTP/1.1\r\nHost: %s\r\n\r\n" % (host, path, host)
	sock = to_proxy()
	for host in ("origin.test", "allowed.test", "origin.test", "second.test"):
	    say(host, ask(get(host, "/k"), sock)[0].status)
	# At once, without waiting for answers.
	say("pipelined", statuses(get("origin.test", "/p1") + get("allowed.test") + get("origin.test", "/p2")))
	say("pipelined with one that is not allowed", statuses(
	    get("origin.test", "/q1") + get("second.test", "/q2") + get("origin.test", "/q3")))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	origin.test: 200
	allowed.test: 404
	origin.test: 200
	second.test: 403
	pipelined: 200 200 200
	pipelined with one that is not allowed: 200 403
	END
	run ! grep -q /q2 <(origin_requests)
	[ -z "$(dns_asked | grep second)" ]
}

@test "http: a request's names must agree" {
	box_python --allow origin.test --allow second.test --allow allowed.test --allow wire.test <<-'END'
	def send(label, host, sock=None, target="http://origin.test/mark"):
	    say(label, statuses("GET %s HTTP/1.1\r\n%s\r\n" % (target, host), sock))
	send("agree", "Host: origin.test\r\n")
	send("agree, written otherwise", "Host: ORIGIN.test:80\r\n")
	send("another", "Host: second.test\r\n")
	send("another port", "Host: origin.test:81\r\n")
	send("two", "Host: origin.test\r\nHost: second.test\r\n")
	send("two equal", "Host: origin.test\r\nHost: origin.test\r\n")
	send("none", "")
	send("empty", "Host:\r\n")
	send("list", "Host: origin.test, second.test\r\n")
	send("no name", "Host: origin.test\0\r\n")
	# The same inside of tunnels, where the client believes to be there.
	for target in ("/mark", "http://origin.test/mark"):
	    for door, sock in tunnels("origin.test", 80):
	        send(door + " agrees", "Host: origin.test\r\n", sock, target)
	for door, sock in tunnels("origin.test", 80):
	    send(door + " other host", "Host: second.test\r\n", sock, "/mark")
	for door, sock in tunnels("origin.test", 80):
	    send(door + " other target", "Host: origin.test\r\n", sock, "http://second.test/mark")
	for door, sock in tunnels("origin.test", 80):
	    send(door + " after an empty line", "Host: second.test\r\n", sock,
	         "/x HTTP/1.1\r\nHost: origin.test\r\n\r\n\r\nGET /mark")
	for door, sock in tunnels("origin.test", 80):
	    sock.sendall(b"\r\n")
	    send(door + " begins with an empty line", "Host: second.test\r\n", sock, "/mark")
	for door, sock in tunnels("origin.test", 80):
	    first = ask("GET /first HTTP/1.1\r\nHost: origin.test\r\n\r\n", sock)[0].status
	    send(door + " second request", "Host: second.test\r\n", sock, "/mark")
	END
	[ "$status" -eq 0 ]
	[ "$(grep -E '^agree|agrees:' <<<"$output" | grep -vc ': 200$')" -eq 0 ]
	# Whatever the answer to the others is, no server saw them.
	[ "$(grep -vE '^agree|agrees:|empty line:' <<<"$output" | grep -vcE ': (400|403)$')" -eq 0 ]
	[ "$(origin_requests | grep -c mark)" -eq "$(grep -cE '^agree|agrees:' <<<"$output")" ]
	run ! grep -qE 'second.test|:81' <(since_mark origin)
}

@test "http: what two parsers could read differently is refused, unseen by any server" {
	box_python --allow origin.test --allow second.test <<-'END'
	start = "POST http://origin.test/bad HTTP/1.1\r\nHost: origin.test\r\n"
	inner = "GET http://second.test/inner HTTP/1.1\r\nHost: second.test\r\n\r\n"
	cases = {
	    "CL.TE": start + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX",
	    "TE.CL": start + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n" + inner + "\r\n0\r\n\r\n",
	    "two lengths": start + "Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde",
	    "a list of lengths": start + "Content-Length: 3, 3\r\n\r\nabc",
	    "signed length": start + "Content-Length: +3\r\n\r\nabc",
	    "negative length": start + "Content-Length: -3\r\n\r\nabc",
	    "hex length": start + "Content-Length: 0x3\r\n\r\nabc",
	    "empty length": start + "Content-Length:\r\n\r\nabc",
	    "huge length": start + "Content-Length: 99999999999999999999\r\n\r\nabc",
	    "te identity": start + "Transfer-Encoding: identity\r\n\r\n",
	    "te gzip, chunked": start + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
	    "te chunked twice": start + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
	    "te two lines": start + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
	    "te xchunked": start + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
	    "te vertical tab": start + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
	    "space before colon": start + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
	    "tab before colon": start + "X\t: y\r\n\r\n",
	    "obs-fold": start + "X: y\r\n z\r\nContent-Length: 0\r\n\r\n",
	    "obs-fold first": "GET http://origin.test/bad HTTP/1.1\r\n Host: origin.test\r\n\r\n",
	    "bare LF line": "GET http://origin.test/bad HTTP/1.1\nHost: origin.test\n\n",
	    "bare LF header": start + "X: y\nContent-Length: 0\r\n\r\n",
	    "bare LF end": start + "Content-Length: 0\r\n\n",
	    "bare CR": start + "X: y\rContent-Length: 3\r\n\r\nabc",
	    "NUL in value": start + "X: y\0z\r\n\r\n",
	    "NUL in name": start + "X\0: y\r\n\r\n",
	    "no colon": start + "nonsense\r\n\r\n",
	    "empty name": start + ": x\r\n\r\n",
	    "space in name": start + "A b: x\r\n\r\n",
	    "high byte in name": start + "\xe9: x\r\n\r\n",
	    "two spaces": "GET  http://origin.test/bad HTTP/1.1\r\nHost: origin.test\r\n\r\n",
	    "tab": "GET\thttp://origin.test/bad\tHTTP/1.1\r\nHost: origin.test\r\n\r\n",
	    "no version": "GET http://origin.test/bad\r\nHost: origin.test\r\n\r\n",
	    "version 1.2": "GET http://origin.test/bad HTTP/1.2\r\nHost: origin.test\r\n\r\n",
	    "version 2.0": "GET http://origin.test/bad HTTP/2.0\r\nHost: origin.test\r\n\r\n",
	    "version 01.1": "GET http://origin.test/bad HTTP/01.1\r\nHost: origin.test\r\n\r\n",
	    "space in target": "GET http://origin.test/bad x HTTP/1.1\r\nHost: origin.test\r\n\r\n",
	    "control in target": "GET http://origin.test/bad\x01 HTTP/1.1\r\nHost: origin.test\r\n\r\n",
	    "fragment": "GET http://origin.test/bad#x HTTP/1.1\r\nHost: origin.test\r\n\r\n",
	    "method with a colon": "GE:T http://origin.test/bad HTTP/1.1\r\nHost: origin.test\r\n\r\n",
	}
	bodies = {
	    "chunk size 0x": "0x3\r\nabc\r\n0\r\n\r\n",
	    "chunk size -1": "-1\r\nabc\r\n0\r\n\r\n",
	    "chunk size huge": "fffffffffffffffff\r\nabc\r\n0\r\n\r\n",
	    "chunk bare LF": "3\nabc\r\n0\r\n\r\n",
	    "chunk without its end": "3\r\nabcd\r\n0\r\n\r\n",
	    "chunk extension bare LF": "3;x\nabc\r\n0\r\n\r\n",
	    "chunk space": "3 \r\nabc\r\n0\r\n\r\n",
	}
	for label, data in cases.items():
	    say(label, statuses(data + inner))
	    # The same where the client believes to be at the server. What does
	    # not begin with a token is HTTP to nobody, and passes as it is.
	    for door, sock in tunnels("origin.test", 80) if label != "method with a colon" else ():
	        say(label + " " + door, statuses(
	            data.replace("http://origin.test", "").replace("http://second.test", "") +
	            inner.replace("http://second.test", ""), sock))
	for label, data in bodies.items():
	    say("* " + label, statuses(start + "Transfer-Encoding: chunked\r\n\r\n" + data + inner))
	END
	[ "$status" -eq 0 ]
	echo "not 400: $(grep -v '^\*' <<<"$output" | grep -vE ': (400|505|501)$')"
	[ "$(grep -v '^\*' <<<"$output" | grep -vcE ': (400|505|501)$')" -eq 0 ]
	[ "$(grep -c . <<<"$output")" -eq 160 ]
	# A body is passed as it comes: its request may have reached the server,
	# but never what was hidden in it.
	[ -z "$(origin_requests | grep -v '/bad ')" ]
	run ! grep -q '/inner\|second' <(since_mark origin)
	run ! grep -q '"body": "[^"]*inner' <(since_mark origin)
	# Nothing of a malformed head arrived at all.
	[ "$(origin_requests | wc -l)" -eq 0 ]
}

@test "http: heads have a limit" {
	box_python --allow origin.test <<-'END'
	start = "GET http://origin.test/ HTTP/1.1\r\nHost: origin.test\r\n"
	say("large", statuses(start + "X: %s\r\n\r\n" % ("y" * 6000)))
	say("too large", statuses(start + "X: %s\r\n\r\n" % ("y" * 300000)))
	say("too many", statuses(start + "X: y\r\n" * 20000 + "\r\n"))
	say("long target", statuses("GET http://origin.test/%s HTTP/1.1\r\nHost: origin.test\r\n\r\n" % ("y" * 300000)))
	say("no end", statuses("G" * 300000))
	say("long chunk line", statuses(start.replace("GET", "POST") + "Transfer-Encoding: chunked\r\n\r\n3;" + "x" * 300000))
	say("trailers without end", statuses(start.replace("GET", "POST") +
	    "Transfer-Encoding: chunked\r\n\r\n0\r\n" + "X: y\r\n" * 50000))
	END
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "large: 200" ]
	grep -qxE 'too large: (431|400)' <<<"$output"
	grep -qxE 'too many: (431|400)' <<<"$output"
	grep -qxE 'long target: (414|431|400)' <<<"$output"
	grep -qxE 'no end: (414|431|400)' <<<"$output"
	[ "$(origin_requests | wc -l)" -eq 1 ]
}

@test "http: answers that two parsers could read differently end the connection" {
	box_python --allow origin.test <<-'END'
	import base64
	cases = {
	    "good": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
	    "CL and TE": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	    "two lengths": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
	    "bare LF": "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
	    "no status": "nonsense\r\n\r\n",
	    "obs-fold": "HTTP/1.1 200 OK\r\nX: y\r\n z\r\nContent-Length: 2\r\n\r\nok",
	    "NUL": "HTTP/1.1 200 OK\r\nX: \0\r\nContent-Length: 2\r\n\r\nok",
	    "huge": "HTTP/1.1 200 OK\r\nX: " + "y" * 300000 + "\r\n\r\n",
	    "nothing": "",
	}
	for label, data in cases.items():
	    if label == "huge":
	        continue
	    path = base64.urlsafe_b64encode(data.encode("latin-1")).decode()
	    say(label, statuses("GET http://origin.test/raw/%s HTTP/1.1\r\nHost: origin.test\r\n\r\n" % path))
	END
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "good: 200" ]
	[ "$(tail -n +2 <<<"$output" | grep -vc ': 502$')" -eq 0 ]
}

@test "http: events stream as they happen" {
	box_python --allow origin.test <<-'END'
	import os
	key = os.urandom(4).hex()
	def events(sock, target):
	    sock.sendall(("GET %s/events/%s HTTP/1.1\r\nHost: origin.test\r\n\r\n" % (target, key)).encode())
	    stream = sock.makefile("rb")
	    while stream.readline() != b"\r\n":
	        pass
	    return stream
	def next_event(stream):
	    # Skip what chunked coding may have added.
	    while not (line := stream.readline()).startswith(b"data"):
	        if not line:
	            return "end"
	    return line.decode().strip()
	streams = [("proxy", events(to_proxy(), "http://origin.test"))]
	streams += [(door, events(sock, "")) for door, sock in tunnels("origin.test", 80)]
	for door, stream in streams:
	    say(door, next_event(stream))
	# The second is sent only now.
	say("opened", forward("origin.test", path="/open/" + key))
	for door, stream in streams:
	    say(door, next_event(stream))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	proxy: data: first
	connect: data: first
	socks: data: first
	direct: data: first
	opened: 200
	proxy: data: second
	connect: data: second
	socks: data: second
	direct: data: second
	END
}

@test "http: a WebSocket is a tunnel or is refused, never half" {
	box_python --allow origin.test --allow second.test <<-'END'
	upgrade = ("Host: origin.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	           "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	def frame(text):
	    mask = b"abcd"
	    data = text.encode()
	    return bytes([0x81, 0x80 | len(data)]) + mask + bytes(
	        byte ^ mask[i % 4] for i, byte in enumerate(data))
	def session(label, sock, target):
	    answer = ask("GET %s/ws HTTP/1.1\r\n" % target + upgrade, sock)[0]
	    if answer.status != 101:
	        return say(label, answer.status)
	    for text in ("hello", "GET /smuggled HTTP/1.1"):
	        sock.sendall(frame(text))
	        reply = sock.recv(2)
	        if sock.recv(reply[1]).decode() != text:
	            return say(label, "broken")
	    say(label, "101 %s" % answer.get("sec-websocket-accept"))
	session("proxy", to_proxy(), "http://origin.test")
	for door, sock in tunnels("origin.test", 80):
	    session(door, sock, "")
	# An upgrade that the server does not take is an ordinary request.
	sock = to_proxy()
	say("not taken", ask("GET http://origin.test/ HTTP/1.1\r\n" + upgrade, sock)[0].status)
	say("next", ask("GET http://origin.test/ HTTP/1.1\r\nHost: origin.test\r\n\r\n", sock)[0].status)
	END
	[ "$status" -eq 0 ]
	[ "$(grep -c '^\(connect\|socks\|direct\): 101 s3pPLMBiTxaQ9kYGzzhZRbK+xOo=$' <<<"$output")" -eq 3 ]
	grep -qxE 'proxy: (101 s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=|[45][0-9][0-9])' <<<"$output"
	grep -qxE 'not taken: (200|[45][0-9][0-9])' <<<"$output"
	run ! grep -q smuggled <(origin_requests)
}

@test "http: denials and failures explain themselves" {
	box_python --allow origin.test --allow refused.test --allow missing.test --deny origin4.test --allow private.test <<-'END'
	for host in ("second.test", "origin4.test", "origin.test:8088", "private.test",
	             "10.0.0.5", "refused.test", "missing.test"):
	    answer = ask("GET http://%s/ HTTP/1.1\r\nHost: %s\r\n\r\n" % (host, host))[0]
	    say(host, "%d %s %s" % (answer.status, answer.get("content-type"), answer.body.decode().replace("\n", "|")))
	answer, sock = connect_to("second.test", 443)
	say("connect", "%d %s" % (answer.status, answer.body.decode().replace("\n", "|")))
	END
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "second.test: 403 text/plain"*"agentbox denied second.test:80: not on the allow list (rule network.allow, id "*"To allow it, a human can run: agentbox allow "* ]]
	[[ "${lines[1]}" == "origin4.test: 403 "*"network.deny"* ]]
	[[ "${lines[2]}" == "origin.test:8088: 403 "*"8088"* ]]
	[[ "${lines[3]}" == "private.test: 403 "*"10.0.0.5"* ]]
	[[ "${lines[4]}" == "10.0.0.5: 403 "* ]]
	[[ "${lines[5]}" == "refused.test: 502 "*"refused"* ]]
	[[ "${lines[6]}" == "missing.test: 502 "*"does not exist"* ]]
	[[ "${lines[7]}" == "connect: 403 "*"second.test:443"* ]]
}

@test "http: a denial is read by whoever speaks on, without waiting for it" {
	box_python --allow origin.test <<-'END'
	big = b"x" * 3000000
	def talk(label, data, show):
	    sock = to_proxy()
	    try:
	        sock.sendall(data)
	    except OSError:
	        pass
	    try:
	        got = b""
	        while part := sock.recv(65536):
	            got += part
	        say(label, show(got))
	    except OSError as error:
	        say(label, word(error))
	line = lambda got: got.split(b"\r\n")[0].decode()[:12]
	talk("post", b"POST http://second.test/ HTTP/1.1\r\nHost: second.test\r\nContent-Length: 3000000\r\n\r\n" + big, line)
	talk("chunked", b"POST http://second.test/ HTTP/1.1\r\nHost: second.test\r\nTransfer-Encoding: chunked\r\n\r\n2dc6c0\r\n" + big, line)
	talk("malformed", b"POST http://second.test/ HTTP/1.1\r\nBad Name: x\r\n\r\n" + big, line)
	talk("connect", b"CONNECT second.test:443 HTTP/1.1\r\nHost: second.test:443\r\n\r\n" + big, line)
	talk("head", b"HEAD http://second.test/ HTTP/1.1\r\nHost: second.test\r\n\r\n",
	     lambda got: line(got) + " " + str(got.endswith(b"\r\n\r\n")))
	talk("socks", b"\5\1\0\5\1\0\3\x0bsecond.test\1\xbb" + big, lambda got: got[:4].hex())
	talk("socks, malformed", b"\5\1\0\5\1\0\3\x0bsecond.\0est\1\xbb" + big, lambda got: got[:4].hex())
	talk("socks, bind", b"\5\1\0\5\2\0\3\x0borigin.test\1\xbb" + big, lambda got: got[:4].hex())
	talk("socks, password", b"\5\1\2\5\1\0\3\x0borigin.test\1\xbb" + big, lambda got: got[:4].hex())
	END
	[ "$status" -eq 0 ]
	# A SOCKS client that is not one may lose the words.
	output=$(sed -E 's/^(socks, .*): (0500050[17]|05ff|reset)$/\1: refused/' <<<"$output")
	expect <<-END
	post: HTTP/1.1 403
	chunked: HTTP/1.1 403
	malformed: HTTP/1.1 400
	connect: HTTP/1.1 403
	head: HTTP/1.1 403 True
	socks: 05000502
	socks, malformed: refused
	socks, bind: refused
	socks, password: refused
	END
}

@test "http: a name with an underscore is allowed, looked up and requested like any other" {
	box_python --allow foo_bar.test --allow '*.allowed.test' <<-'END'
	for name in "foo_bar.test", "a_b.allowed.test", "FOO_BAR.test", "x_y.test":
	    say(name, "%s %s %s %s" % (forward(name), connect(name, 80), socks(name), direct(name)))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	foo_bar.test: 200 200 0 ok
	a_b.allowed.test: 200 200 0 ok
	FOO_BAR.test: 200 200 0 ok
	x_y.test: 403 403 2 no name
	END
	run ! grep -q x_y <(dns_asked)
	[ "$(audit 'select(.domain == "x_y.test") | .rule' | sort -u)" = network.allow ]
	agentbox_split run --allow '*.allowed.test' -- curl -sS --cacert "$NET/ca.pem" https://a_b.allowed.test/
	[ "$output" = "hello a_b.allowed.test https HTTP/2.0" ]
}

@test "http: a request body is as long as network.maxRequestBody allows, or denied with 413" {
	echo '{ "network": { "maxRequestBody": "1000",
		"http": [{ "host": "allowed.test", "methods": ["POST"] }], "roots": ["'"$NET/ca.pem"'"] },
		"filesystem": { "denyRead": ["'"$NET"'"] } }' >"$HOME/config.json"
	box_python --config "$HOME/config.json" --allow origin.test --allow allowed.test <<-'END'
	import ssl
	context = ssl.create_default_context()
	chunked = "Transfer-Encoding: chunked\r\n"
	chunk = lambda n: "%x\r\n%s\r\n" % (n, "x" * n)
	bodies = [("a length", "Content-Length: %d\r\n", lambda n: "x" * n),
	          ("one chunk", chunked, lambda n: chunk(n) + "0\r\n\r\n"),
	          ("many chunks", chunked, lambda n: chunk(1) * n + "0\r\n\r\n")]
	def post(host, more, body, sock=None, target=""):
	    data = "POST %s/ HTTP/1.1\r\nHost: %s\r\n%s\r\n%s" % (target, host, more, body)
	    return outcome(lambda: ask(data, sock)[0].status)
	def tunnel():
	    return connect_to("origin.test", 80)[1]
	def inspected():
	    return context.wrap_socket(connect_to("allowed.test", 443)[1], server_hostname="allowed.test")
	for name, head, body in bodies:
	    heads = [head % n if "%" in head else head for n in (1000, 1001)]
	    say(name, " ".join("%s" % post(host, heads[n == 1001], body(n), way and way(), target)
	        for host, way, target in (("origin.test", None, "http://origin.test"),
	                                  ("origin.test", tunnel, ""), ("allowed.test", inspected, ""))
	        for n in (1000, 1001)))
	say("declared", post("origin.test", "Content-Length: 5000000000\r\n", "", None, "http://origin.test"))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	a length: 200 413 200 413 200 413
	one chunk: 200 413 200 413 200 413
	many chunks: 200 413 200 413 200 413
	declared: 413
	END
	[ "$(audit 'select(.kind == "violation") | .rule' | sort -u)" = network.maxRequestBody ]
	[ "$(audit 'select(.kind == "violation" and .rule == "network.maxRequestBody")' | wc -l)" -gt 0 ]
}

@test "http: a malformed target is recorded as it was asked for, escaped and cut" {
	box_python --allow allowed.test <<-'END'
	long = "x" * 20000
	for line in ("GET ftp://allowed.test/pub/a?token=t HTTP/1.1", "GET http://allowed.test\x1b[31m/ HTTP/1.1",
	             "GET gopher://allowed.test/ HTTP/1.1", "GET http://allowed.test/%s HTTP/1.1" % long):
	    say(line[:12], statuses("%s\r\nHost: allowed.test\r\n\r\n" % line))
	answer = ask("GET ftp://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n")[0]
	say("ftp", answer.body.decode())
	END
	[ "$status" -eq 0 ]
	[[ "$output" == *"ftp:// URLs cannot be requested: the proxy has no FTP"* ]]
	[[ "$output" != *"use CONNECT for https"* ]]
	[ "$(audit 'select(.kind == "violation" and .asked == "GET ftp://allowed.test/pub/a") | .rule')" = protocol ]
	[ "$(audit 'select(.kind == "violation" and .asked == "GET http://allowed.test\\x1b[31m/ HTTP/1.1") | .id' |
		wc -l)" -eq 1 ]
	[ "$(audit 'select(.kind == "violation" and (.asked // "" | test("xxx"))) | .asked | length')" -eq 200 ]
	run ! grep -q 'token=t' "$(audit_file)"
	agentbox log --denied
	[[ "$output" == *"GET ftp://allowed.test/pub/a"*"GET gopher://allowed.test/"* ]]
}
