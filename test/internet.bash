# An internet in a namespace: `load internet` after helpers. Each bats file gets
# one (a file with its own setup_file or teardown_file calls internet_start and
# internet_stop there), and agentbox runs with that internet as the host's
# network. Its servers are in internet/.
#
#   NET            its folder: ca.pem, client (an ssh key), known_hosts, logs
#   inside CMD...  run CMD on that host, outside of any box
#
# An unprivileged user makes it in a user namespace that keeps the user's id and
# owns the network and the mounts. Programs run there without capabilities, as on
# any host.

setup_file()
{
	internet_start
}

teardown_file()
{
	internet_stop
}

internet_start()
{
	local base=${AB_TEST_DIR:-$HOME/.cache/agentbox-test}
	local -a own=(unshare --net --mount)

	need userns
	mkdir -p "$base"
	NET=$(mktemp -d "$base/internet.XXXXXX")
	chmod 755 "$NET"
	[ "$(id -u)" -eq 0 ] ||
		own+=(--user --map-current-user --keep-caps)
	"${own[@]}" "$ROOT/test/internet/start" "$NET" \
		</dev/null >"$NET/start.log" 2>&1 3>&- &
	NET_PID=$!
	export NET NET_PID
	wait_for 180 internet_settled && [ -e "$NET/ready" ] && return 0
	cat "$NET"/*.log
	return 1
}

internet_settled()
{
	[ -e "$NET/ready" ] || ! kill -0 "$NET_PID" 2>/dev/null
}

internet_stop()
{
	[ -n "${NET_PID:-}" ] || return 0
	kill -TERM "$NET_PID" 2>/dev/null
	wait "$NET_PID" 2>/dev/null
	rm -rf --one-file-system "$NET"
}

# Set WAY to the words in front of a command that run it there.
find_way()
{
	WAY=(nsenter --target "$NET_PID" --net --mount --wdns="$PWD")
	[ "$(id -u)" -eq 0 ] || WAY+=(--user --preserve-credentials)
	WAY+=(--)
}

inside()
{
	local -a WAY

	find_way
	"${WAY[@]}" "$@"
}

# box_start ARG...: run agentbox in the background until box_end. Its output is in
# $TEST_DIR/box.out and box.err; BOX is the pid of the supervisor.
box_start()
{
	local -a WAY

	find_way
	# Empty them now, not when the process has started: nobody must read the last one's.
	: >"$TEST_DIR/box.out" 2>"$TEST_DIR/box.err"
	"${WAY[@]}" "$AGENTBOX" "$@" </dev/null >"$TEST_DIR/box.out" \
		2>"$TEST_DIR/box.err" 3>&- &
	BOX=$!
}

# Wait for it; sets $status.
box_end()
{
	status=0
	wait "$BOX" || status=$?
	BOX=
	cat "$TEST_DIR/box.out" "$TEST_DIR/box.err"
}

# Replaces the one in helpers.
launch()
{
	inside timeout --kill-after=5 "${AB_TIMEOUT:-240}" "$AGENTBOX" "$@" 3>&-
}

setup()
{
	BOX=
	box_setup
	internet_mark
}

teardown()
{
	if [ -n "${BOX:-}" ]; then
		# A command may ignore SIGTERM.
		kill -TERM "$BOX" 2>/dev/null
		timeout 10 tail --pid="$BOX" -f /dev/null || kill -KILL "$BOX"
		wait "$BOX"
	fi
	box_teardown
}

# Each test reads the logs from here on.
internet_mark()
{
	local log

	for log in dns origin proxy; do
		wc -l <"$NET/$log.log" >"$TEST_DIR/$log.mark"
	done
}

since_mark()
{
	tail -n "+$(($(cat "$TEST_DIR/$1.mark") + 1))" "$NET/$1.log"
}

# The names that this test asked the DNS server for, without duplicates.
dns_asked()
{
	since_mark dns | cut -d' ' -f1 | sort -u
}

# The requests of this test that reached the origin: "ADDRESS REQUEST-LINE".
origin_requests()
{
	since_mark origin | jq -r 'select(.event == "request") |
		.at + " " + (.head | split("\r\n")[0])'
}

origin_connections()
{
	since_mark origin | jq -r 'select(.event == "connection") | .at'
}

# The record of the last run of this test, or of the run with this id.
audit_file()
{
	local -a found=("$AGENTBOX_STATE"/runs/${1:-*}/audit.jsonl)

	[ -e "${found[-1]}" ] || {
		echo "no record in $AGENTBOX_STATE" >&2
		return 1
	}
	ls -t "${found[@]}" | head -n 1
}

# audit FILTER [JQ-OPTION...]: apply FILTER to the record of the last run.
audit()
{
	local filter=$1
	shift

	jq -r "$@" "$filter" "$(audit_file)"
}

# Write the script on standard input to $SCRIPT, after `from door import *`.
door_script()
{
	SCRIPT=$TEST_DIR/script.py
	{
		echo "import sys; sys.path.insert(0, '$ROOT/test/internet')"
		echo "sys.dont_write_bytecode = True; from door import *"
		cat
	} >"$SCRIPT"
}

# box_python [OPTION...]: run such a script in a box with these options.
box_python()
{
	door_script
	agentbox_split run "$@" -- python3 "$SCRIPT"
}
