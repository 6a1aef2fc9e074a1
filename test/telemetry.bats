# Records that leave the machine: standard output, and an OpenTelemetry
# collector that is fast, slow, busy or not there.
load helpers

# receiver ARG...: start one; its port is $port, what it got is in ../got.
receiver()
{
	: >../got
	rm -f ../port
	python3 "$ROOT/test/otlp_receiver.py" ../got "$@" >../port 2>../receiver.err 3>&- &
	RECEIVER=$!
	wait_for 60 grep -q . ../port
	port=$(cat ../port)
}

teardown()
{
	[ -z "${RECEIVER:-}" ] || kill "$RECEIVER" 2>/dev/null || :
	[ -z "${RECEIVER:-}" ] || wait "$RECEIVER" 2>/dev/null || :
	box_teardown
}

# The kinds that a collector got.
kinds()
{
	if grep invalid ../got; then return 1; fi
	grep '^{' ../got | jq -r '."agentbox.kind"' | xargs
}

# The end record of the only run.
end()
{
	tail -n 1 "$AGENTBOX_STATE"/runs/*/audit.jsonl
}

@test "audit: standard output is for the record alone" {
	"$AGENTBOX" run --audit - -- sh -c 'echo out; echo err >&2; echo "{\"kind\":\"forged\"}"' >../record.jsonl 2>../rest
	[ "$(jq -r .kind ../record.jsonl | xargs)" = "start assurance end" ]
	[ "$(cat ../rest)" = "out"$'\n'"err"$'\n''{"kind":"forged"}' ]
	agentbox log --verify ../record.jsonl
	[ "$status" -eq 0 ]
	# Where both would be mixed, it is refused.
	run bash -c '"$0" run --audit - -- touch ran >../both 2>&1' "$AGENTBOX"
	[ "$status" -eq 125 ]
	grep -q "is the command's standard" ../both
	[ ! -e ran ]
	agentbox exec --audit - -- true
	[ "$status" -eq 125 ]
	run bash -c '"$0" run --audit - --keep -- touch ran 2>&1 >/dev/null' "$AGENTBOX"
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}

@test "otlp: a collector gets every record, whole and with its headers" {
	receiver
	OTEL_EXPORTER_OTLP_HEADERS='x-key=a%20b' agentbox run --audit "otlp:http://localhost:$port" -- sh -c 'env'
	[ "$status" -eq 0 ]
	[[ "$output" != *OTEL* ]]
	[[ "$output" != *"did not get there"* ]]
	[ "$(kinds)" = "start assurance end" ]
	grep '^{' ../got | jq -es 'all(.key == "a b")'
	# What was stored there can be checked.
	grep '^{' ../got | jq -r '."log.record.original"' >../stored.jsonl
	agentbox log --verify ../stored.jsonl
	[ "$status" -eq 0 ]
	end | jq -e '.audit_dropped == 0'
}

@test "otlp: over TLS, and not without a certificate that is trusted" {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout ../key.pem \
		-out ../cert.pem -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null
	receiver --tls ../cert.pem ../key.pem
	SSL_CERT_FILE=$PWD/../cert.pem timeout 300 "$AGENTBOX" run --audit "otlp:https://localhost:$port/v1/logs" -- \
		sh -c 'until [ -e go ]; do sleep 0.1; done' 3>&- &
	started=$!
	# It has sent something, so it is locked.
	wait_for 60 grep -q 'answered 200' ../got
	is_locked agentbox-export
	touch go
	wait "$started"
	[ "$(kinds)" = "start assurance end" ]
	: >../got
	agentbox run --audit "otlp:https://localhost:$port" -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"3 of 3 records did not get there"*"certificate"* ]]
	[ ! -s ../got ]
}

@test "otlp: 503 is tried again, 400 is not, and a partial success is counted" {
	receiver --answers 503 503 200
	# The pauses between the attempts must not use up the five seconds after the end.
	launch run --audit "otlp:http://127.0.0.1:$port" -- sh -c 'until [ -e go ]; do sleep 0.1; done' >../out 2>&1 &
	started=$!
	wait_for 60 grep -q 'answered 200' ../got
	touch go
	wait "$started"
	run ! grep 'did not get there' ../out
	[ "$(kinds)" = "start assurance end" ]
	[ "$(grep -cx 'answered 503' ../got)" -eq 2 ]
	teardown_receiver
	receiver --answers 400
	agentbox run --audit "otlp:http://127.0.0.1:$port" -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"3 of 3 records did not get there (0 dropped, 3 rejected"*"answered 400"* ]]
	# One request, or one for each record if the run takes that long.
	[ "$(grep -c '^answered' ../got)" -le 3 ]
	teardown_receiver
	receiver --partial 2
	agentbox run --audit "otlp:http://127.0.0.1:$port" -- true
	[ "$status" -eq 0 ]
	[ "$(grep -c '^answered' ../got)" -gt 1 ] ||
		[[ "$output" == *"2 of 3 records did not get there (0 dropped, 2 rejected"* ]]
	[[ "$output" == *" of 3 records did not get there (0 dropped, "[1-3]" rejected"* ]]
}

teardown_receiver()
{
	kill "$RECEIVER"
	wait "$RECEIVER" || :
}

@test "otlp: a collector that is not there or does not answer stops nothing" {
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	SECONDS=0
	agentbox run --audit "otlp:http://127.0.0.1:$port" -- sh -c 'echo "$SECONDS" >done'
	[ "$status" -eq 0 ]
	[ -e done ]
	[[ "$output" == *"3 of 3 records did not get there"*"Connection refused"* ]]
	receiver --slow 60
	agentbox run --audit "otlp:http://127.0.0.1:$port" -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"3 of 3 records did not get there (0 dropped, 0 rejected, 3 not sent in time)"* ]]
	# Five seconds for the rest, and not the sixty of the collector.
	[ "$SECONDS" -lt 50 ]
	# The record itself is complete.
	agentbox log --verify --all
	[ "$status" -eq 0 ]
}

@test "otlp: a full queue drops records, counts them and never waits" {
	need userns
	receiver --slow 100
	cat >knock.py <<-'PYTHON'
	import socket
	for i in range(3500):
	    s = socket.create_connection(("127.0.0.1", 61080))
	    s.sendall(b"GET http://h%d.test/ HTTP/1.1\r\nHost: h%d.test\r\n\r\n" % (i, i))
	    if not s.recv(4096).startswith(b"HTTP/1.1 403"):
	        break
	print("knocked", i + 1)
	PYTHON
	agentbox run -q --net filtered --unknown deny --audit "otlp:http://127.0.0.1:$port" -- python3 knock.py
	[ "$status" -eq 0 ]
	[[ "$output" == *"knocked 3500"* ]]
	[[ "$output" == *" dropped, 0 rejected, "* ]]
	[ "$(end | jq .audit_dropped)" -gt 0 ]
	# Nothing is missing in the run's own record.
	[ "$(grep -c '"kind":"violation"' "$AGENTBOX_STATE"/runs/*/audit.jsonl)" -ge 3500 ]
	agentbox log --verify
	[ "$status" -eq 0 ]
}

@test "otlp: a target that is none" {
	for url in ftp://x x http:// 'http://u:p@x' 'http://x y' http://x:0 'http://x/#a'; do
		agentbox run --audit "otlp:$url" -- touch ran
		[ "$status" -eq 125 ]
		[[ "$output" == *"--audit otlp:"* ]]
		[ ! -e ran ]
	done
	[[ "$output" != *u:p* ]]
	OTEL_EXPORTER_OTLP_HEADERS=$'x=a%0d%0ay' agentbox run --audit otlp:http://x -- touch ran
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}
