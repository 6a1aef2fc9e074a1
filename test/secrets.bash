# For tests of secrets: `load secrets` after internet. Only the supervisor knows
# the authority of the servers' certificates; a client in the box trusts the
# authority of the run.
#
#   KEY            the value of OPENAI_API_KEY, which no box may see
#   config JSON    add JSON to the user's settings
#   origin_saw T   succeed if T reached a server in this test
#   hidden         succeed if KEY is not in $output, $stderr or the record
#   tls            for box_python: a TLS connection through a door, and requests in bytes

KEY=sk-proj-RealValue0123456789abcdefghijklmnopqrstuv

tls='
import base64, os, ssl
key = os.environ.get("OPENAI_API_KEY", "")
context = ssl.create_default_context()
def opened(host, name=None, port=443, way="connect"):
    sock = connect_to(host, port)[1] if way == "connect" else socket.create_connection((host, port), TIMEOUT)
    return context.wrap_socket(sock, server_hostname=name or host)
def head(path="/x", host="api.openai.com", more="", method="GET", login=True):
    if login:
        more = "Authorization: Bearer %s\r\n" % key + more
    return "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (method, path, host, more)
def status(sock, data):
    return outcome(lambda: ask(data, sock)[0].status)
def said(text, size=100000, end="", **rest):
    return head("/say/%s/%d%s" % (base64.urlsafe_b64encode(text.encode("latin-1")).decode(), size, end), **rest)
def whole(sock, data, enough=None):
    got = b""
    sock.sendall(data.encode("latin-1"))
    while not (enough and got.endswith(enough)) and (part := sock.recv(65536)):
        got += part
    return got
'

setup()
{
	BOX=
	box_setup
	internet_mark
	config '{}'
	export OPENAI_API_KEY=$KEY
}

config()
{
	local file=$HOME/.config/agentbox/config.json

	mkdir -p "${file%/*}"
	[ -e "$file" ] || echo '{}' >"$file"
	jq -s '.[0] * .[1] * .[2]' "$file" - <(echo "$1") >"$TEST_DIR/config" <<-END
	{ "network": { "roots": ["$NET/ca.pem"] },
	  "filesystem": { "denyRead": ["$NET"] } }
	END
	mv "$TEST_DIR/config" "$file"
}

origin_saw()
{
	since_mark origin | jq -r '.head + .body' | grep -qF -e "$1"
}

hidden()
{
	local secret=${1:-$KEY}

	! grep -qF -e "$secret" <<<"$output$stderr" || false
	! grep -rqF -e "$secret" "$AGENTBOX_STATE" || false
}

# Print a command that looks for KEY everywhere in the box.
scan()
{
	local flipped

	flipped=$(printf %s "${1:-$KEY}" | python3 -c '
import sys
print(bytes(255 - b for b in sys.stdin.buffer.read()).hex())')
	# The tests' own folder is the workspace; the internet's is not shown.
	printf 'python3 %s/test/internet/scan.py %s %s /tmp /var/tmp /run /dev/shm /etc' \
		"$ROOT" "$flipped" "$HOME"
}
