# `agentbox run` inside a box can only restrict further.
# root: root may make namespaces without a user namespace
load helpers

# The program must be visible inside.
inner()
{
	printf '%q ' "$AGENTBOX" run "$@"
}

@test "nested: a run inside a box works and keeps status and streams" {
	agentbox run -- "$AGENTBOX" run -- sh -c 'echo in; exit 7'
	[ "$status" -eq 7 ]
	[ "$output" = in ]
	agentbox run -- "$AGENTBOX" run -- "$AGENTBOX" run -- echo deep
	[ "$status" -eq 0 ]
	[ "$output" = deep ]
	run -127 timeout 240 "$AGENTBOX" run -- "$AGENTBOX" run -- no-such-program
	[[ "$output" == *no-such-program* ]]
}

@test "nested: an inner --read-only closes what the outer box left open" {
	agentbox run -- "$AGENTBOX" run --read-only -- touch made
	[ "$status" -ne 0 ]
	[ ! -e made ]
	agentbox run -- "$AGENTBOX" run -- touch made
	[ "$status" -eq 0 ]
	[ -e made ]
}

@test "nested: the outer box stays writable beside an inner one that is not" {
	agentbox run -- sh -c "$(inner --read-only -- touch one); touch two"
	[ "$status" -eq 0 ]
	[ ! -e one ]
	[ -e two ]
}

@test "nested: an inner narrower root holds" {
	mkdir wide narrow
	agentbox run -- "$AGENTBOX" run --workspace narrow -- sh -c '
		touch narrow/yes || exit 1
		touch wide/no && exit 2
		exit 0'
	[ "$status" -eq 0 ]
	[ -e narrow/yes ]
	[ ! -e wide/no ]
}

@test "nested: an inner wider policy gains nothing" {
	mkdir "$TEST_DIR/outside"
	echo secret >"$HOME/secret"
	agentbox run --deny-read "$HOME/secret" -- \
		"$AGENTBOX" run --fallback warn --write "$TEST_DIR/outside" --net allowed -- sh -c '
			touch "$1/outside/no" && exit 1
			cat "$HOME/secret" && exit 2
			exit 0' sh "$TEST_DIR"
	[ "$status" -eq 0 ]
	[ -z "$(ls "$TEST_DIR/outside")" ]
	agentbox run --net blocked -- "$AGENTBOX" run --profile development -- python3 -c '
import socket, sys
s = socket.socket()
s.settimeout(20)
sys.exit(s.connect_ex(("203.0.113.1", 80)) == 0)'
	[ "$status" -eq 0 ]
	# The same options outside do open the folder.
	agentbox run --write "$TEST_DIR/outside" -- touch "$TEST_DIR/outside/yes"
	[ "$status" -eq 0 ]
}

@test "nested: an inner mask that cannot be made is refused under strict" {
	echo secret >"$HOME/secret"
	agentbox run -- "$AGENTBOX" run --deny-read "$HOME/secret" -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *read-deny* ]]
	[ ! -e made ]
	# What the outer box masks already is held.
	agentbox run --deny-read "$HOME/secret" -- \
		"$AGENTBOX" run --deny-read "$HOME/secret" -- touch made
	[ "$status" -eq 0 ]
	[ -e made ]
}

@test "nested: a blocked box inside one with the host's network has no network" {
	need program:python3
	python3 -c '
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(8)
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    c.close()' >"$TEST_DIR/port" 3>&- &
	local server=$!
	wait_for 90 test -s "$TEST_DIR/port"
	local try='
import socket, sys
try:
    s = socket.socket()
    s.settimeout(20)
    sys.exit(0 if s.connect_ex(("127.0.0.1", int(sys.argv[1]))) == 0 else 3)
except OSError:
    sys.exit(3)'
	agentbox run --profile development -- python3 -c "$try" "$(cat "$TEST_DIR/port")"
	outer=$status
	agentbox run --profile development -- "$AGENTBOX" run --net blocked -- \
		python3 -c "$try" "$(cat "$TEST_DIR/port")"
	blocked=$status
	agentbox run --profile development -- "$AGENTBOX" run --profile development -- \
		python3 -c "$try" "$(cat "$TEST_DIR/port")"
	both=$status
	kill "$server"
	[ "$outer" -eq 0 ]
	[ "$blocked" -eq 3 ] || [ "$blocked" -eq 125 ]
	[ "$both" -eq 0 ]
}

@test "nested: nothing outside makes a run believe that it is inside" {
	# A plain run keeps a record; a nested one leaves that to the outer run.
	SANDBOX_RUNTIME=1 agentbox run -- true
	[ "$status" -eq 0 ]
	[ "$(find "$AGENTBOX_STATE/runs" -name audit.jsonl | wc -l)" -eq 1 ]
	run bash -c 'exec -a agentbox-init "$AGENTBOX" run -- true'
	[ "$status" -eq 0 ]
	run bash -c 'exec -a agentbox-init "$AGENTBOX" 0 1'
	[ "$status" -ne 0 ]
	[ "$(find "$AGENTBOX_STATE/runs" -name audit.jsonl | wc -l)" -eq 2 ]
	[ ! -e /dev/agentbox ]
	agentbox run -- cat /dev/agentbox
	[ "$status" -eq 0 ]
	[ -n "$output" ]
	agentbox run -- sh -c 'rm -f /dev/agentbox; echo x >/dev/agentbox'
	[ "$status" -ne 0 ]
}

@test "nested: the inner run sees neither state nor records of the outer one" {
	agentbox run -- sh -c 'ls "$1"' sh "$AGENTBOX_STATE"
	[ "$status" -ne 0 ]
	agentbox run -- sh -c "$(inner -- true) && ls \"\$1\"" sh "$AGENTBOX_STATE"
	[ "$status" -ne 0 ]
}

@test "nested: a process of the inner box cannot signal the outer one" {
	need landlock:6
	agentbox run -- sh -c '
		sleep 300 & p=$!
		'"$(inner -- sh -c 'kill -9 "$1"' sh)"' $p
		kill -0 $p && echo alive; kill $p'
	[[ "$output" == *alive ]]
}
