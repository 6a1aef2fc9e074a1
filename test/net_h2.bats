# HTTP/2 to inspected hosts: each stream is judged, changed and recorded as a request.
UNJUDGED=1
load helpers
load internet
load secrets
load attack/attack

VALUE=tok_RealValue0123456789abcdefghijklmnop

setup_file()
{
	local -a WAY
	local log=$NET/h2.log

	internet_start
	find_way
	log=$NET/h2.log
	"${WAY[@]}" node "$ROOT/test/internet/h2.js" 9443 "$NET/server.pem" "$NET/server.key" \
		"$log" </dev/null >"$NET/node.log" 2>&1 3>&- &
	H2_SERVERS=$!
	"${WAY[@]}" node "$ROOT/test/internet/h2.js" 9080 - - "$log" \
		</dev/null >>"$NET/node.log" 2>&1 3>&- &
	H2_SERVERS+=" $!"
	"${WAY[@]}" /usr/bin/python3 "$ROOT/test/internet/grpc_server.py" 9444 "$NET/server.pem" \
		"$NET/server.key" "$log" </dev/null >"$NET/grpc.log" 2>&1 3>&- &
	H2_SERVERS+=" $!"
	"${WAY[@]}" python3 "$ROOT/test/internet/h2_attacks.py" 9445 "$NET/server.pem" \
		"$NET/server.key" "$log" </dev/null >"$NET/attacks.log" 2>&1 3>&- &
	H2_SERVERS+=" $!"
	export H2_SERVERS
	wait_for 100 servers_listen
}

servers_listen()
{
	[ "$(grep -c listening "$NET/h2.log")" -eq 4 ]
}

teardown_file()
{
	kill $H2_SERVERS 2>/dev/null
	internet_stop
}

setup()
{
	BOX=
	box_setup
	internet_mark
	wc -l <"$NET/h2.log" >"$TEST_DIR/h2.mark"
	config '{ "network": {
			"allow": ["allowed.test", "allowed.test:9443", "allowed.test:9444", "allowed.test:9445", "allowed.test:9080"],
			"http": [
			{ "host": "allowed.test", "methods": ["GET"], "paths": ["/", "/big"] },
			{ "host": "allowed.test:9443", "methods": ["GET", "POST", "HEAD"],
			  "paths": ["/say", "/echo", "/trailers", "/slow", "/big", "/early", "/reset", "/hints", "/leave", "/part", "/token"] },
			{ "host": "allowed.test:9445", "methods": ["POST"], "paths": ["/x"] },
			{ "host": "allowed.test:9080", "methods": ["GET"], "paths": ["/say"] },
			{ "host": "allowed.test:9444", "methods": ["POST"],
			  "paths": ["/box.Test/Echo", "/box.Test/Talk", "/box.Test/Show", "/box.Test/Fail"] }] },
		"secrets": { "TOKEN": { "hosts": ["allowed.test:9443", "allowed.test:9444", "allowed.test:9445"] } } }'
	export TOKEN=$VALUE
}

# What the servers of HTTP/2 got in this test.
h2_log()
{
	since_mark h2
}

# One line for each recorded request: method, path, status, denied or not.
requests()
{
	audit 'select(.kind == "request") | [.method, .path, .status, (.id != null)] | @csv' | tr -d '"'
}

@test "h2: curl with a path rule and a secret, to node and to nginx" {
	agentbox_split run --secret TOKEN -- sh -c '
		get() { curl -m 100 -sS -w "%{http_code} %{http_version}\n" "$@"; }
		get --http2 https://allowed.test/
		get --http2 https://allowed.test/other -o denied
		get --http2 "https://allowed.test:9443/say?word" -H "Authorization: Bearer $TOKEN" -o said
		grep -c "word Bearer $TOKEN" said
		get --http2 "https://allowed.test:9443/other" -H "Authorization: Bearer $TOKEN" -o /dev/null
		get --http1.1 https://allowed.test/ -o /dev/null
		get --noproxy "*" --http2-prior-knowledge http://allowed.test:9080/say?plain -o /dev/null
		get --noproxy "*" --http2-prior-knowledge http://allowed.test:9080/other -o /dev/null
		cat denied'
	[ "$status" -eq 0 ]
	[ "$(head -n 9 <<<"$output" | paste -sd' ')" = \
		"hello allowed.test https HTTP/2.0 200 2 403 2 200 2 1 403 2 200 1.1 200 2 403 2" ]
	[[ "$(tail -n 1 <<<"$output")" == "agentbox denied allowed.test:443: network.http does not allow GET /other "* ]]
	hidden "$VALUE"
	[ "$(h2_log | jq -r '.headers | [.[":path"], .authorization] | @csv' | tr -d '"')" = \
		"/say?word,Bearer $VALUE
/say?plain," ]
	[ "$(requests)" = "GET,/,200,false
GET,/other,403,true
GET,/say,200,false
GET,/other,403,true
GET,/,200,false
GET,/say,200,false
GET,/other,403,true" ]
}

@test "h2: a part of a document is refused, and no spelling of a token URL is sent" {
	config '{ "secrets": { "API": { "from": "command", "command": ["echo", "RealRefresh-0123456789"],
		"oauth": { "url": "https://allowed.test:9443/token" }, "hosts": ["allowed.test:9444"] } } }'
	agentbox_split run --secret TOKEN -- sh -c '
		for path in "/say?whole" /part /token //token /%74oken /Token "/token;a=b" /token%2f /say/../token /say; do
			curl -m 100 -sS --http2 --path-as-is -o /dev/null -w "$path %{http_code} %{http_version}\n" "https://allowed.test:9443$path"
		done'
	[ "$status" -eq 0 ]
	expect <<-'END'
	/say?whole 200 2
	/part 502 2
	/token 403 2
	//token 403 2
	/%74oken 403 2
	/Token 403 2
	/token;a=b 403 2
	/token%2f 400 2
	/say/../token 403 2
	/say 200 2
	END
	[ "$(h2_log | jq -r '.headers[":path"] // empty' | paste -sd' ')" = "/say?whole /part /say" ]
	[ "$(audit 'select(.kind == "violation") | .rule' | sort | uniq -c | sort -rn | awk '{ print $1, $2 }' | paste -sd,)" = \
		"6 secret-oauth,1 protocol" ]
}

@test "h2: streams of one connection are judged one by one, with bodies and trailers" {
	cat >client.mjs <<-'END'
	import http2 from 'node:http2'
	import crypto from 'node:crypto'
	const connect = () => http2.connect('https://allowed.test:9443')
	let session = connect()
	const ask = (headers, body) => new Promise((done) => {
		const stream = session.request(headers, { endStream: body === undefined })
		const got = { chunks: [] }
		stream.on('headers', (h) => { got.hint = h[':status'] })
		stream.on('response', (h) => { got.status = h[':status'] })
		stream.on('trailers', (t) => { got.trailers = t })
		stream.on('data', (d) => got.chunks.push(d))
		stream.on('error', (e) => { got.error = e.code })
		stream.on('close', () => { got.body = Buffer.concat(got.chunks); got.code = stream.rstCode; done(got) })
		if (body !== undefined) stream.end(body)
	})
	const login = { authorization: 'Bearer ' + process.env.TOKEN }
	// A stream that stays open is not ended by those that are denied.
	const slow = session.request({ ':path': '/slow' })
	slow.on('close', () => console.log('slow ended')).on('error', () => {})
	await new Promise((go) => slow.on('response', go))
	const many = await Promise.all([...Array(60).keys()].map((i) =>
		ask({ ':path': i % 2 ? '/other?' + i : '/say?' + i, ...login })))
	console.log(many.filter((r) => r.status === 200).length, many.filter((r) => r.status === 403).length,
		many.every((r, i) => r.body.includes(i % 2 ? 'agentbox denied' : i + ' Bearer ' + process.env.TOKEN)))
	const big = crypto.randomBytes(3 << 20)
	const echoed = await Promise.all([1, 2, 3].map(() => ask({ ':path': '/echo', ':method': 'POST' }, big)))
	console.log(echoed.every((r) => r.status === 200 && r.body.equals(big)))
	const down = await ask({ ':path': '/big?9000000' })
	console.log(down.status, down.body.length)
	const t = await ask({ ':path': '/trailers', te: 'trailers', ...login })
	console.log(t.status, String(t.body), t.trailers['x-said'] === login.authorization)
	const hints = await ask({ ':path': '/hints' })
	console.log(hints.hint, hints.status)
	console.log('HEAD', (await ask({ ':path': '/say', ':method': 'HEAD' })).status)
	const early = await ask({ ':path': '/early', ':method': 'POST' }, Buffer.alloc(1 << 20))
	console.log(early.status, String(early.body))
	const reset = await ask({ ':path': '/reset' })
	console.log('reset', reset.status)
	slow.close(http2.constants.NGHTTP2_CANCEL)
	console.log(String((await ask({ ':path': '/leave' })).body))
	session.close()
	session = connect()
	console.log((await ask({ ':path': '/say?again' })).status)
	session.close()
	END
	agentbox_split run --secret TOKEN -- timeout 200 node client.mjs
	[ "$status" -eq 0 ]
	expect <<-END
	30 30 true
	true
	200 9000000
	200 body true
	103 200
	HEAD 200
	413 enough
	reset 502
	slow ended
	bye
	200
	END
	hidden "$VALUE"
	# Node's connections ended where the client's did.
	[ "$(h2_log | jq -r 'select(.headers) | .session' | sort -u | wc -l)" -eq 2 ]
	[ "$(h2_log | jq -r 'select(.headers) | .headers[":path"]' | grep -c other)" -eq 0 ]
	[ "$(h2_log | jq -r 'select(.cancelled) | .cancelled' | grep -c /slow)" -eq 1 ]
	[ "$(requests | grep -c ',403,true$')" -eq 30 ]
	[ "$(requests | grep -c '^GET,/say,200,false$')" -eq 31 ]
	[ "$(requests | grep -c '^POST,/echo,200,false$')" -eq 3 ]
}

@test "h2: a gRPC client uses a key it never sees, for the methods that the rules allow" {
	cat >client.py <<-'END'
	import grpc, os
	channel = grpc.secure_channel("allowed.test:9444",
	    grpc.ssl_channel_credentials(open(os.environ["SSL_CERT_FILE"], "rb").read()))
	login = (("authorization", "Bearer " + os.environ["TOKEN"]),)
	def said(call):
	    try:
	        answer, seen = call()
	        return answer, dict(seen.trailing_metadata())["x-seen"] == login[0][1]
	    except grpc.RpcError as e:
	        return e.code().name, "not today" in e.details()
	one = lambda name: channel.unary_unary("/box.Test/" + name)
	print(*said(lambda: one("Echo").with_call(b"hello", metadata=login, timeout=100)))
	big = bytes(range(256)) * 8192
	print(one("Echo")(big, metadata=login, timeout=100) == big)
	print(*said(lambda: one("Fail").with_call(b"hello", metadata=login, timeout=100)))
	# Each message is answered before the next one is sent.
	import queue
	words, got = queue.Queue(), []
	talk = channel.stream_stream("/box.Test/Talk")(iter(words.get, None), metadata=login, timeout=100)
	for word in (b"one", b"two", b"three"):
	    words.put(word)
	    got.append(next(talk))
	print(said(lambda: one("Denied").with_call(b"hello", metadata=login, timeout=100))[0])
	words.put(b"four")
	got.append(next(talk))
	words.put(None)
	print(got, list(talk), talk.code().name)
	END
	agentbox_split run --secret TOKEN -- timeout 200 /usr/bin/python3 client.py
	[ "$status" -eq 0 ]
	expect <<-END
	b'hello' True
	True
	FAILED_PRECONDITION True
	PERMISSION_DENIED
	[b're: one', b're: two', b're: three', b're: four'] [] OK
	END
	hidden "$VALUE"
	[ "$(h2_log | jq -r 'select(.grpc) | .grpc + " " + .authorization' | sort | uniq -c | tr -s ' ')" = \
" 2 Echo Bearer $VALUE
 1 Fail Bearer $VALUE
 1 Talk Bearer $VALUE" ]
	[ "$(requests | grep -c '^POST,/box.Test/Denied,403,true$')" -eq 1 ]
	[ "$(requests | wc -l)" -eq 5 ]
}

@test "h2: a value that is parted among two gRPC messages comes back, in one it does not" {
	cat >client.py <<-'END'
	import grpc, hashlib, os
	channel = grpc.secure_channel("allowed.test:9444",
	    grpc.ssl_channel_credentials(open(os.environ["SSL_CERT_FILE"], "rb").read()))
	login = "Bearer " + os.environ["TOKEN"]
	for parts in b"1", b"2":
	    got = list(channel.unary_stream("/box.Test/Show")(parts, metadata=(("authorization", login),), timeout=100))
	    print(len(got), b"".join(got) == login.encode(), hashlib.sha256(b"".join(got)).hexdigest())
	END
	agentbox_split run --secret TOKEN -- timeout 200 /usr/bin/python3 client.py
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "1 True "* ]]
	[ "${lines[1]}" = "2 False $(printf 'Bearer %s' "$VALUE" | sha256sum | cut -d' ' -f1)" ]
}

@test "h2: a Go client uses HTTP/2 by itself" {
	mkdir -p "$TEST_DIR/go"
	cat >"$TEST_DIR/go/main.go" <<-'END'
	package main
	import ("fmt"; "io"; "net/http"; "os")
	func main() {
		for _, path := range []string{"/say?go", "/other"} {
			q, _ := http.NewRequest("GET", "https://allowed.test:9443"+path, nil)
			q.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
			r, err := http.DefaultClient.Do(q)
			if err != nil { fmt.Println(err); os.Exit(1) }
			io.Copy(io.Discard, r.Body)
			fmt.Println(r.StatusCode, r.Proto)
		}
	}
	END
	(cd "$TEST_DIR/go" && HOME=$TEST_DIR/go GOFLAGS=-mod=mod GO111MODULE=off go build -o "$WORKSPACE/client" main.go)
	agentbox_split run --secret TOKEN -- timeout 100 ./client
	[ "$status" -eq 0 ]
	[ "$output" = "200 HTTP/2.0
403 HTTP/2.0" ]
	[ "$(h2_log | jq -r '.headers | .[":path"] + " " + .authorization')" = "/say?go Bearer $VALUE" ]
}

@test "h2: an AWS signature of placeholders is renewed" {
	config '{ "secrets": { "AWS": { "sign": "aws-sigv4", "services": ["s3"], "regions": ["eu-west-1"],
		"hosts": ["allowed.test:9443"] } } }'
	export AWS_ACCESS_KEY_ID=AKIAREAL234567ABCDEF
	export AWS_SECRET_ACCESS_KEY='RealSecretKey/0123456789+abcdefghijklmno'
	cat >sign.py <<-'END'
	import os, subprocess, sys
	from botocore.auth import S3SigV4Auth
	from botocore.awsrequest import AWSRequest
	from botocore.credentials import Credentials
	url = "https://allowed.test:9443/echo?a=b%20c"
	key = Credentials(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
	def sign(region, service, method="POST", when=None):
	    request = AWSRequest(method, url, data=b"the body")
	    auth = S3SigV4Auth(key, service, region)
	    if not when:
	        auth.add_auth(request)
	        return request.headers
	    request.context["timestamp"] = when
	    auth._modify_request_before_signing(request)
	    return auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
	if __name__ == "__main__":
	    for region in ("eu-west-1", "us-east-1"):
	        words = [w for item in sign(region, "s3").items() for w in ("-H", "%s: %s" % item)]
	        subprocess.run(["curl", "-m", "100", "-sS", "--http2", url, "-X", "POST", "--data-binary", "the body",
	            "-H", "content-type:", "-o", "/dev/null", "-w", "%{http_code} %{http_version}\n"] + words, check=True)
	END
	agentbox_split run --secret AWS -- /usr/bin/python3 sign.py
	[ "$output" = "200 2
403 2" ]
	[ "$(h2_log | jq -r '.body')" = "the body" ]
	# The server would find the real key's signature.
	when=$(h2_log | jq -r '.headers["x-amz-date"]')
	real=$(/usr/bin/python3 -c 'import sys; sys.path.insert(0, "."); import sign; print(sign.sign("eu-west-1", "s3", when=sys.argv[1]))' "$when")
	[[ "$(h2_log | jq -r .headers.authorization)" == *"Credential=AKIAREAL234567ABCDEF/"*"Signature=$real" ]]
}

# For the attacks: frames by hand.
frames='
import os, socket, ssl, struct, sys
sys.path.insert(0, os.path.dirname(sys.argv[0]))
context = ssl.create_default_context()
context.set_alpn_protocols(["h2"])
def frame(kind, flags, stream, body=b""):
    return struct.pack("!I", len(body))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + body
def literal(name, value):
    n, v = name.encode(), value.encode()
    return b"\x00" + number(len(n)) + n + number(len(v)) + v
def number(n):
    if n < 127:
        return bytes([n])
    out, n = [127], n - 127
    while n >= 128:
        out.append(n % 128 + 128)
        n //= 128
    return bytes(out + [n])
def request(path, method=b"\x82"):
    return method + b"\x87" + b"\x44" + number(len(path)) + path.encode() + literal(":authority", "allowed.test:9443")
def opened(settings=b""):
    sock = context.wrap_socket(socket.create_connection(("allowed.test", 9443), 100), server_hostname="allowed.test")
    sock.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, settings))
    return sock
def ended(sock, data):
    """Send all of it; does the proxy end the connection?"""
    sock.settimeout(100)
    try:
        for one in data:
            sock.sendall(one)
        while sock.recv(65536):
            pass
        return "ended"
    except (ConnectionError, ssl.SSLError):
        return "ended"
    except TimeoutError:
        return "open"
'

asked_for_all()
{
	[ "$(h2_log | grep -c '/big?100000000')" -eq 300 ]
}

@test "h2: floods end their connection, memory stays, and other requests work" {
	cat >flood.py <<-END
	$frames
	get = request("/say?x")
	def resets():
	    for i in range(1, 20001, 2):
	        yield frame(1, 5, i, get) + frame(3, 0, i, b"\0\0\0\x08")
	def continuations():
	    yield frame(1, 1, 1, get)
	    for i in range(100000):
	        yield frame(9, 0, 1, literal("x%d" % i, "y" * 1000))
	def bomb():
	    # One long field in the table, and a byte for each time it is meant.
	    yield frame(1, 5, 1, get + b"\x40" + number(1) + b"a" + number(4000) + b"b" * 4000 + b"\xbe" * 8000)
	    yield frame(1, 5, 3, get + b"\xbe" * 16000)
	def pings():
	    for i in range(400000):
	        yield frame(6, 0, 0, b"12345678")
	def empty():
	    yield frame(1, 4, 1, request("/echo", b"\x83"))
	    for i in range(2000):
	        yield frame(0, 0, 1) * 100
	def priorities():
	    for i in range(2000):
	        yield frame(2, 0, 1, b"\0\0\0\3\x10") * 100
	for flood in (resets, continuations, bomb, pings, empty, priorities):
	    print(flood.__name__, ended(opened(), flood()), flush=True)
	END
	cat >window.py <<-END
	$frames
	# Nothing may be sent to this client: 100 answers of 100 MB each wait.
	socks = [opened(struct.pack("!HI", 4, 0)) for i in range(3)]
	for sock in socks:
	    sock.sendall(b"".join(frame(1, 5, 2 * i + 1, request("/big?100000000")) for i in range(100)))
	print("waiting", flush=True)
	sys.stdin.readline()
	END
	agentbox_split run --secret TOKEN -- timeout 200 python3 flood.py
	expect <<-END
	resets ended
	continuations ended
	bomb ended
	pings ended
	empty ended
	priorities ended
	END
	[ "$status" -eq 0 ]
	box_start run --secret TOKEN -- sh -c '
		mkfifo go
		timeout 200 python3 window.py <go & exec 3>go
		while [ ! -e proceed ]; do sleep 0.1; done
		curl -m 100 -sS --http2 "https://allowed.test:9443/say?twin" -o /dev/null -w "%{http_code}\n"
		exec 3>&-; wait'
	wait_for 100 grep -q waiting "$TEST_DIR/box.out"
	wait_for 100 asked_for_all
	memory=$(awk '/^VmRSS/ { print $2 }' "/proc/$BOX/status")
	touch proceed
	box_end
	[ "$status" -eq 0 ]
	grep -qx 200 "$TEST_DIR/box.out"
	echo "memory $memory kB"
	sanitized || [ "$memory" -lt 80000 ]
}

@test "h2: a head that is too long is refused alone, and the limit of bytes is exact" {
	cat >long.py <<-END
	$frames
	sock = opened()
	big = literal("x", "y" * 16000)
	head = request("/say?x")
	sock.sendall(frame(1, 1, 1, head) + b"".join(frame(9, 0, 1, big) for i in range(5)) + frame(9, 4, 1) +
	    frame(1, 5, 3, request("/say?y")))
	got, bodies = b"", {}
	while len(bodies) < 2:
	    got += sock.recv(65536)
	    while len(got) >= 9 and len(got) >= 9 + int.from_bytes(got[:3], "big"):
	        n = int.from_bytes(got[:3], "big")
	        kind, stream, body = got[3], int.from_bytes(got[5:9], "big"), got[9:9 + n]
	        if kind == 0 and body:
	            bodies[stream] = body
	        got = got[9 + n:]
	print(b"head longer than 64 KiB" in bodies[1], bodies[3])
	END
	agentbox_split run --secret TOKEN -- timeout 100 python3 long.py
	[ "$output" = "True b'y \\n'" ]
	[ "$(requests | sort)" = ",,431,true
GET,/say,200,false" ]
	config '{ "monitor": { "uploadPerHost": "300K", "action": "stop" } }'
	head -c 1000000 /dev/zero >data
	agentbox_split run --secret TOKEN -- sh -c 'curl -m 100 -sS --http2 "https://allowed.test:9443/say?before" -o /dev/null -w "%{http_code}\n"
		curl -m 20 -sS --http2 --data-binary @data https://allowed.test:9443/echo -o /dev/null -w "%{http_code}\n"'
	[ "$(head -n 1 <<<"$output")" = 200 ]
	# What the server got of it.
	[ "$(h2_log | jq 'select(.headers[":path"] == "/echo" and (.body | tonumber) > 300 * 1024)' | wc -l)" -eq 0 ]
	[[ "$stderr" == *"monitor.uploadPerHost"* ]]
}

@test "h2: a server that attacks the proxy fails alone" {
	agentbox_split run --secret TOKEN -- sh -c '
		ask() { curl -m 100 -sS --http2 -d "/$1" https://allowed.test:9445/x -o answer -w "$1 %{http_code}\n" 2>/dev/null || :; }
		for attack in good continue bomb long push settings interim switch lines leave; do
			ask "$attack"
		done
		ask good
		cat answer'
	[ "$status" -eq 0 ]
	expect <<-END
	good 200
	continue 502
	bomb 502
	long 502
	push 200
	settings 502
	interim 502
	switch 502
	lines 502
	leave 000
	good 200
	fine
	END
	hidden "$VALUE"
}
