# HTTP/2 to inspected hosts: each stream is judged, changed and recorded as a request.
# once: the proxy has no privileges as root either
UNJUDGED=1
load helpers
load internet
load secrets
load attack/attack

TOKEN=tok_RealValue0123456789abcdefghijklmnop

setup_file()
{
	internet_start
	inside node "$ROOT/test/internet/h2.js" 9443 "$NET/server.pem" "$NET/server.key" "$NET/h2.log" \
		</dev/null >"$NET/node.log" 2>&1 3>&- &
	export H2_SERVER=$!
	wait_for 60 grep -q listening "$NET/h2.log"
}

teardown_file()
{
	kill "$H2_SERVER" 2>/dev/null
	internet_stop
}

setup()
{
	BOX=
	box_setup
	internet_mark
	wc -l <"$NET/h2.log" >"$TEST_DIR/h2.mark"
	config '{ "network": { "allow": ["allowed.test", "allowed.test:9443"], "http": [
			{ "host": "allowed.test", "methods": ["GET"], "paths": ["/", "/big"] },
			{ "host": "allowed.test:9443", "methods": ["GET", "POST"],
			  "paths": ["/say", "/echo", "/trailers", "/slow", "/big", "/early", "/reset", "/hints", "/leave"] }] },
		"secrets": { "TOKEN": { "hosts": ["allowed.test:9443"] } } }'
	export TOKEN
}

# What the node server got in this test.
h2_log()
{
	since_mark h2
}

@test "h2: curl with a path rule and a secret, to node and to nginx" {
	agentbox_split run --secret TOKEN -- sh -c '
		curl -m 15 -sS --http2 https://allowed.test/ -w "%{http_code} %{http_version}\n"
		curl -m 15 -sS --http2 https://allowed.test/other -o denied -w "%{http_code} %{http_version}\n"
		curl -m 15 -sS --http2 "https://allowed.test:9443/say?word" -H "Authorization: Bearer $TOKEN" -o said -w "%{http_code} %{http_version}\n"
		grep -c "word Bearer $TOKEN" said
		cat denied'
	echo "$output"; echo "$stderr"; h2_log
	[ "$status" -eq 0 ]
	[ "$(head -n 5 <<<"$output")" = "$(printf 'hello allowed.test https HTTP/2.0\n200 2\n403 2\n200 2\n1')" ]
	hidden "$TOKEN"
}
