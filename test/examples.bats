# The settings files in examples/: each one loads, and makes a box that works.
load helpers

settings()
{
	(cd "$ROOT/examples" && echo *.agentbox.json)
}

# What the files name: caches, a key, and a file with a token.
outside()
{
	mkdir -p "$HOME/.cache/pip" "$HOME/.npm"
	export GITHUB_TOKEN=ghp_0123456789abcdef0123456789abcdef0123
	mkdir -p "$HOME/.config/build"
	echo 0123456789abcdef >"$HOME/.config/build/token"
	chmod 600 "$HOME/.config/build/token"
}

# Root's processes are counted only in a cgroup of its own, which the profile ci requires.
uncounted()
{
	[ "$(id -u)" -ne 0 ] || echo --processes none
}

@test "examples: there are some, and the README lists all of them" {
	local file

	[ "$(settings | wc -w)" -ge 6 ]
	for file in "$ROOT"/examples/*.json; do
		grep -qF "\`examples/${file##*/}\`" "$ROOT/examples/README.md"
	done
}

@test "examples: every settings file is valid" {
	local file

	for file in $(settings); do
		agentbox config check "$ROOT/examples/$file"
		[ "$status" -eq 0 ]
	done
}

@test "examples: a command runs with every settings file" {
	need userns
	local file

	outside
	for file in $(settings); do
		agentbox run $(uncounted) --config "$ROOT/examples/$file" -- sh -c 'echo it works'
		[ "$status" -eq 0 ]
		[[ "$output" == *"it works"* ]]
	done
}

@test "examples: python.agentbox.json denies a host that is not listed, and allows PyPI" {
	need userns
	need program:curl
	outside
	agentbox run --config "$ROOT/examples/python.agentbox.json" -- \
		curl -sS --max-time 20 https://files.example.com/x
	[ "$status" -ne 0 ]
	[[ "$output" == *files.example.com:443* ]]
	run --separate-stderr "$AGENTBOX" config show --json --config "$ROOT/examples/python.agentbox.json"
	jq -e '."network.allow" | map(.value) | index("pypi.org") != null' <<<"$output"
	# The name has an address in the box, so it is allowed; the other one has none.
	agentbox run --config "$ROOT/examples/python.agentbox.json" -- getent ahostsv4 pypi.org
	[ "$status" -eq 0 ]
	[[ "$output" == 198.18.* ]]
	agentbox run --config "$ROOT/examples/python.agentbox.json" -- getent ahostsv4 files.example.com
	[ "$status" -ne 0 ]
}

@test "examples: locked-down.agentbox.json closes the workspace and the home folder" {
	need userns
	echo readable >note
	agentbox run --config "$ROOT/examples/locked-down.agentbox.json" -- sh -c 'cat note; echo x >new'
	[ "$status" -ne 0 ]
	[[ "$output" == *readable*"Read-only file system"* ]]
	[ ! -e new ]
	# Its twin: with the default profile the same command writes.
	agentbox run -- sh -c 'cat note; echo x >new'
	[ "$status" -eq 0 ]
	[ -e new ]
}

@test "examples: ci.agentbox.json refuses to publish, and allows to build" {
	need userns
	git init -q .
	agentbox run --config "$ROOT/examples/ci.agentbox.json" -- git push
	[ "$status" -eq 126 ]
	[[ "$output" == *git-publish* ]]
	agentbox run $(uncounted) --config "$ROOT/examples/ci.agentbox.json" -- git status --short
	[ "$status" -eq 0 ]
}

@test "examples: secrets.agentbox.json shows placeholders, not values" {
	need userns
	outside
	agentbox run --config "$ROOT/examples/secrets.agentbox.json" -- \
		sh -c 'echo "[$GITHUB_TOKEN] [$BUILD_TOKEN]"'
	[ "$status" -eq 0 ]
	[[ "$output" == *"[ghp_"* ]]
	[[ "$output" != *0123456789abcdef* ]]
	[[ "$output" != *"[]"* ]]
	# Its twin: without the file the variable is passed only if it is asked for.
	agentbox run --pass-env GITHUB_TOKEN -- sh -c 'echo "[$GITHUB_TOKEN]"'
	[[ "$output" == *"[$GITHUB_TOKEN]"* ]]
}

@test "examples: claude.agentbox.json forbids a push to main and keeps the agent's hosts" {
	run --separate-stderr "$AGENTBOX" check --config "$ROOT/examples/claude.agentbox.json" -- \
		git push origin main
	[ "$status" -eq 4 ]
	[[ "$output" == *"Open a pull request."* ]]
	agentbox check --config "$ROOT/examples/claude.agentbox.json" -- git push origin topic
	[ "$status" -eq 3 ]
	# Its list is added to the profile's.
	"$AGENTBOX" profile show claude --json | jq -r '."network.allow"[].value' | sort >theirs
	"$AGENTBOX" config show --json --config "$ROOT/examples/claude.agentbox.json" |
		jq -r '."network.allow"[].value' | sort >ours
	[ -s theirs ]
	run comm -23 theirs ours
	echo "$output"
	[ -z "$output" ]
}

@test "examples: claude-code-settings.json is what hook install writes" {
	agentbox hook install claude-code --yes
	[ "$status" -eq 0 ]
	jq -e '.hooks.PreToolUse[0].matcher == "*"' "$HOME/.claude/settings.json"
	jq -e --slurpfile example "$ROOT/examples/claude-code-settings.json" '
		.hooks[][0].hooks[0].command |= sub("^.*agentbox"; "agentbox") |
		. == $example[0]' "$HOME/.claude/settings.json"
}
