# Settings are obeyed only if nobody but the user and root could have written them.
# root: owners differ for root
load helpers

settings()
{
	mkdir -p "$HOME/.config/agentbox/profiles"
	echo '{"network":{"mode":"allowed"},"env":{"set":{"MARK":"obeyed"}}}' >"$1"
}

# The run sees MARK if the settings are in force.
obeyed()
{
	agentbox run "$@" -- sh -c 'echo "mark=$MARK"'
	[ "$status" -eq 0 ]
	[[ "$output" == *mark=obeyed* ]]
}

refused()
{
	local text=$1

	shift
	agentbox run "$@" -- sh -c 'echo "mark=$MARK"'
	[ "$status" -eq 125 ]
	[[ "$output" == *"$text"* ]]
	[[ "$output" != *mark=* ]]
}

@test "settings that others can write are refused, with their folders" {
	file=$HOME/.config/agentbox/config.json
	settings "$file"
	chmod 644 "$file"
	obeyed
	for mode in 666 664 646; do
		chmod "$mode" "$file"
		refused "config.json can be written by others"
		[[ "$output" == *"chmod go-w $file"* ]]
	done
	chmod 600 "$file"
	chmod 777 "$HOME/.config/agentbox"
	refused "its folder $HOME/.config/agentbox can be written by others"
	chmod 755 "$HOME/.config/agentbox"
	obeyed
	# A profile, --config and AGENTBOX_CONFIG.
	mv "$file" "$HOME/.config/agentbox/profiles/own.json"
	obeyed --profile own
	chmod o+w "$HOME/.config/agentbox/profiles/own.json"
	refused "can be written by others" --profile own
	settings "$TEST_DIR/named.json"
	obeyed --config "$TEST_DIR/named.json"
	chmod g+w "$TEST_DIR/named.json"
	refused "can be written by others" --config "$TEST_DIR/named.json"
	AGENTBOX_CONFIG=$TEST_DIR/named.json refused "can be written by others"
	# A link is judged by what it leads to, and where.
	chmod 600 "$TEST_DIR/named.json"
	mkdir "$TEST_DIR/open"
	ln -s "$TEST_DIR/named.json" "$TEST_DIR/open/link.json"
	obeyed --config "$TEST_DIR/open/link.json"
	chmod 777 "$TEST_DIR/open"
	refused "its folder $TEST_DIR/open can be written by others" --config "$TEST_DIR/open/link.json"
	# With the sticky bit others cannot replace it.
	chmod 1777 "$TEST_DIR/open"
	obeyed --config "$TEST_DIR/open/link.json"
}

# bats test_tags=root
@test "settings of another user are refused" {
	only_root
	file=$HOME/.config/agentbox/config.json
	settings "$file"
	obeyed
	chown 12345 "$file"
	refused "config.json belongs to another user"
	chown 0 "$file"
	chown 12345 "$HOME/.config/agentbox"
	refused "its folder $HOME/.config/agentbox belongs to another user"
	chown 0 "$HOME/.config/agentbox"
	obeyed
	ln -s "$file" "$TEST_DIR/link.json"
	obeyed --config "$TEST_DIR/link.json"
	chown -h 12345 "$TEST_DIR/link.json"
	refused "a link of another user leads there" --config "$TEST_DIR/link.json"
}

# bats test_tags=root
@test "a link of another user does not lead to the state folder" {
	only_root
	mkdir -m 1777 "$TEST_DIR/sticky"
	mkdir -m 700 "$TEST_DIR/mine"
	ln -s "$TEST_DIR/mine" "$TEST_DIR/sticky/state"
	AGENTBOX_STATE=$TEST_DIR/sticky/state agentbox run -- true
	[ "$status" -eq 0 ]
	[ -d "$TEST_DIR/mine/runs" ]
	rm -r "$TEST_DIR/mine"
	mkdir -m 700 "$TEST_DIR/mine"
	chown -h 12345 "$TEST_DIR/sticky/state"
	AGENTBOX_STATE=$TEST_DIR/sticky/state agentbox run -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"a link of another user leads to the state folder"* ]]
	[ -z "$(ls -A "$TEST_DIR/mine")" ]
}

@test "a nested run obeys the same settings as the outer one" {
	# With a network of its own, no run that begins beside it puts a socket in its sight.
	mkdir -p "$HOME/.config/agentbox"
	echo '{"env":{"set":{"MARK":"obeyed"}}}' >"$HOME/.config/agentbox/config.json"
	agentbox run -- "$AGENTBOX" run -- sh -c 'echo "mark=$MARK"'
	[ "$status" -eq 0 ]
	[[ "$output" == *mark=obeyed* ]]
}

# bats test_tags=root
@test "a hidden file of another user can be read when its owner opens it, unless it is in a folder of one's own" {
	only_root
	local as=(setpriv --reuid 54321 --regid 54321 --clear-groups) pid

	chmod 0755 "$TEST_DIR"
	"${as[@]}" test -x "$AGENTBOX" -a -x "$WORKSPACE" || lacks "other users cannot enter the folder of the tests"
	mkdir "$HOME/mine"
	chown -R 54321:54321 "$TEST_DIR"
	mkdir "$TEST_DIR/theirs"
	echo a-token | tee "$HOME/mine/key" >"$TEST_DIR/theirs/key"
	chmod 600 "$HOME/mine/key" "$TEST_DIR/theirs/key"
	timeout 200 "${as[@]}" "$AGENTBOX" run --yes --deny-read "$HOME/mine/key" \
		--deny-read "$TEST_DIR/theirs/key" -- sh -c '
		cat "$@" 2>/dev/null && echo HOLE
		>up; until [ -e go ]; do :; done
		for file; do cat "$file" 2>/dev/null || echo closed; done' sh "$HOME/mine/key" "$TEST_DIR/theirs/key" \
		>"$TEST_DIR/out" 3>&- &
	pid=$!
	wait_for 90 test -e up
	chmod 644 "$HOME/mine/key" "$TEST_DIR/theirs/key"
	>go
	wait "$pid"
	cat "$TEST_DIR/out"
	[ "$(cat "$TEST_DIR/out")" = $'closed\na-token' ]
}
