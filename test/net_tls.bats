# TLS is passed on unchanged. The name in the hello must be the name that was
# allowed.
UNJUDGED=1
load helpers
load internet
load attack/attack

# For the scripts: a ClientHello's bytes, and the same cut into records.
hello='
import os, ssl
context = ssl.create_default_context(cafile=os.environ["NET"] + "/ca.pem")
def hello_for(name):
    out = ssl.MemoryBIO()
    loose = ssl.create_default_context()
    loose.check_hostname, loose.verify_mode = False, ssl.CERT_NONE
    try:
        loose.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        return out.read()
def cut(record, size):
    body = record[5:]
    parts = [body[i:i + size] for i in range(0, len(body), size)]
    return b"".join(record[:3] + struct.pack("!H", len(p)) + p for p in parts)
def first(sock, data=None):
    # 22: the server greets; 21: an alert.
    try:
        if data:
            sock.sendall(data)
        got = sock.recv(1)
    except OSError as error:
        return word(error)
    return {b"": "closed", b"\x16": "greeted", b"\x15": "alert"}.get(got, got)
'

@test "tls: a hello for another name is refused, whatever the door" {
	box_python --allow allowed.test --allow other.test <<-END
	$hello
	for door, sock in tunnels("allowed.test", 443):
	    say(door, first(sock, hello_for("allowed.test")))
	for door, sock in tunnels("allowed.test", 443):
	    say(door, first(sock, hello_for("other.test")))
	for door, sock in tunnels("allowed.test", 443):
	    say(door, first(sock, hello_for("evil.test")))
	# As a client sees it, whole.
	for door, sock in tunnels("allowed.test", 443):
	    with context.wrap_socket(sock, server_hostname="allowed.test") as tls:
	        tls.sendall(b"GET / HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n")
	        say(door, tls.makefile().read().split("\n")[-2])
	END
	[ "$status" -eq 0 ]
	[ "$(head -n 3 <<<"$output" | grep -c ': greeted$')" -eq 3 ]
	[ "$(sed -n 4,9p <<<"$output" | grep -cE ': (alert|closed|reset)$')" -eq 6 ]
	[ "$(tail -n 3 <<<"$output" | grep -c ': hello allowed.test https HTTP/1.1$')" -eq 3 ]
	[ "$(audit 'select(.kind == "violation") | .sni' | sort | uniq -c | tr -s ' ' | tr '\n' ';')" = \
		" 3 evil.test; 3 other.test;" ]
	# Each is told by its own name.
	[ "$(audit 'select(.kind == "violation") | .sni as $sni | .reason | contains($sni)' | sort -u)" = true ]
	[[ "$stderr" == *"asks for other.test "*", 3 times"*"asks for evil.test "*", 3 times"* ]]
}

@test "tls: hellos in pieces, without a name, and none at all" {
	box_python --allow allowed.test --allow other.test --allow 203.0.113.10 --allow wire.test:7 <<-END
	$hello
	good, bad = hello_for("allowed.test"), hello_for("evil.test")
	for size in (1, 7, 100):
	    for door, sock in tunnels("allowed.test", 443):
	        say("in records of %d" % size, first(sock, cut(good, size)))
	    for door, sock in tunnels("allowed.test", 443):
	        say("another in records of %d" % size, first(sock, cut(bad, size)))
	for door, sock in tunnels("allowed.test", 443):
	    for byte in good:
	        sock.sendall(bytes([byte]))
	    say("in bytes", first(sock))
	for door, sock in tunnels("allowed.test", 443):
	    for byte in bad:
	        try:
	            sock.sendall(bytes([byte]))
	        except OSError:
	            break
	    say("another in bytes", first(sock))
	for door, sock in tunnels("allowed.test", 443):
	    say("without a name", first(sock, hello_for(None)))
	for door, sock in tunnels("203.0.113.10", 443):
	    say("to an address", first(sock, hello_for(None)))
	for door, sock in tunnels("203.0.113.10", 443):
	    say("to an address by an allowed name", first(sock, hello_for("other.test")))
	for door, sock in tunnels("203.0.113.10", 443):
	    say("to an address by another name", first(sock, hello_for("evil.test")))
	for door, sock in tunnels("allowed.test", 443):
	    sock.sendall(good[:40])
	    sock.shutdown(socket.SHUT_WR)
	    say("cut off", first(sock))
	for door, sock in tunnels("allowed.test", 443):
	    say("malformed", first(sock, good[:5] + b"\1\0\0\1" + good[9:]))
	for door, sock in tunnels("allowed.test", 443):
	    say("zero records", first(sock, b"\x16\3\1\0\0" * 10))
	for door, sock in tunnels("allowed.test", 443):
	    say("HTTP/2 in clear", first(sock, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"))
	for door, sock in tunnels("wire.test", 7):
	    say("neither", "greeted" if first(sock, b"\0\1\2") == b"\0" else "lost")
	END
	[ "$status" -eq 0 ]
	good="in records of|in bytes|without a name|to an address|to an address by an allowed name|neither"
	[ "$(grep -cE "^($good)[ 0-9]*: greeted\$" <<<"$output")" -eq 24 ]
	[ "$(grep -vE "^($good)[ 0-9]*: " <<<"$output" | grep -vcE ': (alert|closed|reset)$')" -eq 0 ]
	[ "${#lines[@]}" -eq 51 ]
	[ "$(cat "$NET/nginx/access.log" | grep -c 'evil')" -eq 0 ]
}

@test "tls: openssl's own client, with and without a name" {
	agentbox_split run --allow allowed.test -- sh -c '
		for name in "-servername allowed.test" -noservername "-servername other.test"; do
			for version in -tls1_2 -tls1_3; do
				openssl s_client -connect allowed.test:443 $name $version \
					-CAfile "$NET/ca.pem" -verify_return_error -brief </dev/null 2>&1 |
					grep -q "Verification: OK" && echo "through $name" || echo "no $name"
			done
		done'
	[ "$status" -eq 0 ]
	expect <<-END
	through -servername allowed.test
	through -servername allowed.test
	through -noservername
	through -noservername
	no -servername other.test
	no -servername other.test
	END
}

@test "tls: first messages of other protocols are passed at once" {
	box_python --allow wire.test:7 <<-'END'
	for text in (b"x", b"x\n", b"QUIT\n", b"1234\n", b"\xff\xff", b"HELO x\r\n", b"GET x\r\n",
	             b"*1\r\n$4\r\nPING\r\n", b"SSH-2.0-x y\r\n", b"\x10\x0c\0\4MQTT\4\2\0\x3c",
	             b"\0\0\0\x08\x04\xd2\x16\x2f", b"0032git-upload-pack /x\0host=wire.test\0"):
	    for door, sock in tunnels("wire.test", 7):
	        sock.settimeout(5)
	        sock.sendall(text)
	        say("%s %r" % (door, text), outcome(lambda: sock.recv(100) == text))
	END
	[ "$status" -eq 0 ]
	[ "$(grep -c . <<<"$output")" -eq 36 ]
	[ -z "$(grep -v ': True$' <<<"$output")" ]
}

@test "tls: tunnels pass bytes both ways, by halves, and whoever speaks first" {
	box_python --allow wire.test:7 --allow wire.test:9 --allow wire.test:25 <<-'END'
	import hashlib
	for door, sock in tunnels("wire.test", 25):
	    stream = sock.makefile("rwb")
	    say(door, stream.readline().decode().strip())
	    stream.write(b"HELO box\r\n")
	    stream.flush()
	    say(door, stream.readline().decode().strip())
	    stream.write(b"QUIT\r\n")
	    stream.flush()
	    say(door, stream.read().decode().strip())
	data = bytes(range(256)) * 4096
	for door, sock in tunnels("wire.test", 9):
	    sock.sendall(data)
	    sock.shutdown(socket.SHUT_WR)
	    answer = sock.makefile().read().strip()
	    say(door, answer == "%d %s" % (len(data), hashlib.sha256(data).hexdigest()))
	# An echo that is not read while it is written: back-pressure, no loss.
	import threading
	for door, sock in tunnels("wire.test", 7):
	    def send():
	        sock.sendall(data * 8)
	        sock.shutdown(socket.SHUT_WR)
	    sender = threading.Thread(target=send)
	    sender.start()
	    got = sock.makefile("rb").read()
	    sender.join()
	    say(door, got == data * 8)
	END
	[ "$status" -eq 0 ]
	[ "$(grep -cE '^[a-z]+: (220 wire.test ready|250 got HELO box|221 bye)$' <<<"$output")" -eq 9 ]
	[ "$(grep -c ': True$' <<<"$output")" -eq 6 ]
	[ -z "$stderr" ]
}
