# Settings about TLS that is not decrypted: hellos without a name, and with an
# encrypted hello inside.
UNJUDGED=1
load helpers
load internet
load attack/attack

# For the scripts: a ClientHello without a name, and one with an extension more.
hello='
import os, ssl
def hello_for(name):
    out = ssl.MemoryBIO()
    loose = ssl.create_default_context()
    loose.check_hostname, loose.verify_mode = False, ssl.CERT_NONE
    try:
        loose.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        return out.read()
def with_ech(record):
    body = record[9:]
    at = 2 + 32
    at += 1 + body[at]
    at += 2 + int.from_bytes(body[at:at + 2], "big")
    at += 1 + body[at]
    more = struct.pack("!HH", 0xfe0d, 32) + os.urandom(32)
    body = body[:at] + struct.pack("!H", len(body) - at - 2 + len(more)) + body[at + 2:] + more
    body = b"\x01" + struct.pack("!I", len(body))[1:] + body
    return record[:3] + struct.pack("!H", len(body)) + body
def first(sock, data):
    try:
        sock.sendall(data)
        got = sock.recv(1)
    except OSError as error:
        return word(error)
    return {b"": "closed", b"\x16": "greeted", b"\x15": "alert"}.get(got, got)
for kind, data in (("named", hello_for("allowed.test")), ("nameless", hello_for(None)),
                   ("encrypted", with_ech(hello_for("allowed.test")))):
    for door, sock in tunnels("allowed.test", 443):
        say(kind, first(sock, data))
'

setup()
{
	BOX=
	box_setup
	internet_mark
	mkdir -p "$HOME/.config/agentbox"
}

# Each kind of hello on three doors.
hellos()
{
	echo "$1" >"$HOME/.config/agentbox/config.json"
	box_python --allow allowed.test <<<"$hello"
	[ "$status" -eq 0 ]
	uniq -c <<<"$output" | tr -s ' ' >"$TEST_DIR/counted"
}

@test "hello: without a setting every hello for the allowed name passes" {
	hellos '{}'
	diff -u - "$TEST_DIR/counted" <<-END
	 3 named: greeted
	 3 nameless: greeted
	 3 encrypted: greeted
	END
}

@test "hello: network.sni wants a name, network.ech no encrypted hello" {
	hellos '{ "network": { "sni": "required" } }'
	diff -u - "$TEST_DIR/counted" <<-END
	 3 named: greeted
	 3 nameless: alert
	 3 encrypted: greeted
	END
	[ "$(audit 'select(.kind == "violation") | .rule' | sort -u)" = network.sni ]
	[[ "$stderr" == *"the TLS hello does not name its server"* ]]
	hellos '{ "network": { "ech": "deny" } }'
	diff -u - "$TEST_DIR/counted" <<-END
	 3 named: greeted
	 3 nameless: greeted
	 3 encrypted: alert
	END
	[ "$(audit 'select(.kind == "violation") | .rule' | sort -u)" = network.ech ]
	[[ "$stderr" == *"the TLS hello carries an encrypted hello"* ]]
}

@test "hello: a project file can only tighten these settings" {
	echo '{ "network": { "sni": "required", "ech": "allow" } }' >.agentbox.json
	echo '{ "network": { "ech": "deny" } }' >"$HOME/.config/agentbox/config.json"
	agentbox config show
	[ "$status" -eq 0 ]
	grep -E 'network.sni +required' <<<"$output"
	grep -E 'network.ech +deny' <<<"$output"
}
