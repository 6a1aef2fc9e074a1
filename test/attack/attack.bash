# For the bats files that attack the box: `load attack/attack` after helpers.
#
# The programs of this folder are compiled once per file, to a place that the
# box can see: attack_build in setup_file, attack_clean in teardown_file.

attack_build()
{
	local base=${AB_TEST_DIR:-$HOME/.cache/agentbox-test} name

	mkdir -p "$base"
	ATTACK=$(mktemp -d "$base/attack.XXXXXX")
	export ATTACK
	for name; do
		gcc -D_GNU_SOURCE -O1 -Wall -Wextra -Werror \
			-o "$ATTACK/$name" "$ROOT/test/attack/$name.c"
	done
}

attack_clean()
{
	rm -rf "$ATTACK"
}

# What the command says is exactly what is on standard input.
expect()
{
	diff -u - <(printf '%s\n' "$output")
}

# No script in the box said that it got through.
no_hole()
{
	[[ "$output" != *HOLE* ]]
}

# Is every box of this suite one without mounts, /proc and processes of its own?
without_namespaces()
{
	[ "${AB_ENGINE:-}" = no-namespaces ]
}

# Nothing has one of these names, not even a link that leads nowhere.
absent()
{
	local name

	for name; do
		if [ -e "$name" ] || [ -L "$name" ]; then
			echo "there is $name"
			return 1
		fi
	done
}

# host_peer KIND NAME: somebody on the host (peer.c) until the test ends. Its
# log is $PEER_LOG, its port $PEER_PORT.
host_peer()
{
	PEER_LOG=$(mktemp "$TEST_DIR/peer.XXXXXX")
	"$ATTACK/peer" "$1" "$2" "$PEER_LOG" </dev/null 3>&- &
	PEERS+=($!)
	wait_for 90 test -s "$PEER_LOG"
	PEER_PORT=$(awk '{ print $2; exit }' "$PEER_LOG")
}

# How often that peer has been reached.
heard()
{
	grep -c heard "${1:-$PEER_LOG}" || true
}

stop_peers()
{
	local pid

	for pid in "${PEERS[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	PEERS=()
}

PEERS=()
