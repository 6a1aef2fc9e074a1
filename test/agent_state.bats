# Profiles of agents: the home folder is a layer that is kept. Conversations are the
# host's own, logins go back to the host, and everything else that an agent or a
# command in its box writes stays in the layer. agents_real.bats has the agents
# themselves.
# root-in-turn: the home layer of root is mounted by root itself, not by the owner of a user namespace
UNJUDGED=1
load helpers

# boxed PROFILE SCRIPT [ARG...]: with sh in the box of that profile.
boxed()
{
	local profile=$1

	shift
	agentbox run --profile "$profile" --unknown deny -- sh -c "$@"
}

# layer PROFILE: the layer's folder on the host.
layer()
{
	echo "$AGENTBOX_STATE/layers/@$1/home/upper"
}

# What an agent loads or runs when it is started outside the box, for each profile.
settings()
{
	case $1 in
	claude)
		echo .claude.json .claude/settings.json .claude/settings.local.json .claude/hooks/h \
			.claude/plugins/p .claude/commands/c .claude/agents/a .claude/skills/s \
			.claude/CLAUDE.md .claude/shell-snapshots/s.sh .claude/local/claude
		;;
	codex)
		echo .codex/config.toml .codex/hooks.json .codex/rules/r .codex/prompts/p \
			.codex/skills/s .codex/AGENTS.md .codex/.env
		;;
	gemini)
		echo .gemini/settings.json .gemini/extensions/e/x.json .gemini/commands/c.toml \
			.gemini/GEMINI.md .gemini/.env .gemini/trustedFolders.json \
			.gemini/tmp/bin/rg .gemini/tmp/x/chats/c.json .gemini/history/h
		;;
	opencode)
		echo .config/opencode/opencode.json .config/opencode/opencode.jsonc \
			.config/opencode/plugin/p.js .config/opencode/tool/t.ts \
			.local/share/opencode/bin/rg .local/share/opencode/opencode.db \
			.cache/opencode/node_modules/m/i.js
		;;
	copilot)
		echo .copilot/config.json .copilot/mcp-config.json .copilot/hooks/h.json \
			.copilot/agents/a.md .copilot/session-state/s/extensions/x/extension.mjs \
			.cache/copilot/pkg/x/index.js
		;;
	qwen)
		echo .qwen/settings.json .qwen/extensions/e/x.json .qwen/commands/c.toml \
			.qwen/QWEN.md .qwen/.env .qwen/bin/rg .qwen/projects/p/memory/m.md \
			.qwen/projects/p/subagents/s/a.meta.json
		;;
	esac
}

agents=(claude codex gemini opencode copilot qwen)

@test "agents: on a new account settings are written, kept, and seen by nobody outside" {
	local name path before
	local -a paths

	for name in "${agents[@]}"; do
		echo "== $name"
		read -ra paths <<<"$(settings "$name")"
		boxed "$name" 'cd; for path; do
			mkdir -p "$(dirname "$path")" && echo boxed >"$path" || exit 8; done' - "${paths[@]}"
		[ "$status" -eq 0 ]
		[[ "$output" != *quarantine* ]]
		for path in "${paths[@]}"; do
			echo "on the host: $path"
			[ ! -e "$HOME/$path" ]
			[ "$(cat "$(layer "$name")/$path")" = boxed ]
		done
		boxed "$name" 'cd; for path; do [ "$(cat "$path")" = boxed ] || exit 8; done' - "${paths[@]}"
		[ "$status" -eq 0 ]
	done
}

@test "agents: the host's settings are read, and a changed copy stays in the layer" {
	local name path
	local -a paths

	for name in "${agents[@]}"; do
		echo "== $name"
		read -ra paths <<<"$(settings "$name")"
		for path in "${paths[@]}"; do
			mkdir -p "$(dirname "$HOME/$path")"
			echo "the user's" >"$HOME/$path"
		done
		boxed "$name" 'cd; for path; do
			[ "$(cat "$path")" = "the user'"'"'s" ] || exit 8
			echo evil >>"$path"; rm "$path"; echo evil >"$path"; done' - "${paths[@]}"
		[ "$status" -eq 0 ]
		for path in "${paths[@]}"; do
			echo "on the host: $path"
			[ "$(cat "$HOME/$path")" = "the user's" ]
		done
	done
}

@test "share: conversations are the host's own, and created for the user only" {
	local row

	for row in claude:.claude/projects claude:.claude/todos codex:.codex/sessions; do
		boxed "${row%%:*}" 'mkdir -p ~/"$1/x" && echo said >~/"$1/x/1.jsonl"' - "${row#*:}"
		[ "$status" -eq 0 ]
		[ "$(cat "$HOME/${row#*:}/x/1.jsonl")" = said ]
		[ "$(stat -c %a "$HOME/${row#*:}")" = 700 ]
		# And the other way round.
		echo more >>"$HOME/${row#*:}/x/1.jsonl"
		boxed "${row%%:*}" 'cat ~/"$1/x/1.jsonl"' - "${row#*:}"
		[[ "$output" == *more* ]]
	done
}

@test "share: folders that a run created and did not use are removed again" {
	local peer

	boxed claude true
	[ "$status" -eq 0 ]
	[ ! -e "$HOME/.claude" ]
	# Not those that are in use by another box, that have something in them, or are older.
	start_peer 'echo said >~/.claude/projects/1.jsonl'
	[ -d "$HOME/.claude/projects" ]
	boxed claude true
	[ "$status" -eq 0 ]
	[ -d "$HOME/.claude/projects" ]
	# Nor one that the host has replaced meanwhile.
	mkdir "$HOME/.claude/mine"
	rmdir "$HOME/.claude/todos"
	mv "$HOME/.claude/mine" "$HOME/.claude/todos"
	touch go
	wait "$peer"
	[ "$(cat "$HOME/.claude/projects/1.jsonl")" = said ]
	[ -d "$HOME/.claude/todos" ]
	boxed claude true
	[ -d "$HOME/.claude/todos" ]
}

@test "share: nothing is left of a start that fails" {
	run timeout 60 "$AGENTBOX" run --profile claude --unknown deny -- true <"$HOME"
	echo "$output"
	[ "$status" -eq 125 ]
	[[ "$output" == *"standard input is a folder"* ]]
	[ ! -e "$HOME/.claude" ]
	# The twin: a folder that has something in it stays.
	mkdir -p "$HOME/.claude/projects/x"
	run timeout 60 "$AGENTBOX" run --profile claude --unknown deny -- true <"$HOME"
	[ "$status" -eq 125 ]
	[ "$(ls "$HOME/.claude")" = projects ]
}

# start_peer SCRIPT: a run of claude that waits for the file go, then runs SCRIPT.
start_peer()
{
	# Nobody must read what the last one said.
	rm -f "$TEST_DIR/peer.out"
	launch run --profile claude --unknown deny -- sh -c 'echo ready
		until [ -e go ]; do sleep 0.05; done
		eval "$1"' - "$1" >"$TEST_DIR/peer.out" 2>&1 </dev/null &
	peer=$!
	wait_for 60 grep -qs ready "$TEST_DIR/peer.out"
}

# A run of claude that stops when its box is planned and not recorded. Meanwhile the peer ends.
# It stops where it makes a memfd for the plan, which must be too long for a message.
run_beside_ending_peer()
{
	local long

	long=$(printf '%40000s' x)
	timeout 100 strace -qqq -o /dev/null -e trace=memfd_create \
		-e inject=memfd_create:signal=STOP:when=1 sh -c 'echo $$ >"$0"; exec "$@"' \
		"$TEST_DIR/pid" "$AGENTBOX" run --profile claude --unknown deny --env LONG="$long" -- cat "$HOME/.claude/projects/1.jsonl" \
		>"$TEST_DIR/late.out" 2>&1 3>&- </dev/null &
	late=$!
	wait_for 60 is_planned
	touch go
	wait "$peer"
	wait_for 60 has_continued
	status=0
	wait "$late" || status=$?
	output=$(cat "$TEST_DIR/late.out")
	echo "$output"
	rm go "$TEST_DIR/pid"
}

is_planned()
{
	[ -s "$TEST_DIR/pid" ] && find "/proc/$(cat "$TEST_DIR/pid")/fd" -lname '*memfd:*' | grep -q .
}

# The signal to continue may come before the one to stop.
has_continued()
{
	kill -CONT "$(cat "$TEST_DIR/pid")" 2>/dev/null || true
	! kill -0 "$late" 2>/dev/null || false
}

@test "share: a folder that another run removes during a start fails that start" {
	local peer late
	need program:strace

	start_peer ''
	run_beside_ending_peer
	[ "$status" -eq 125 ]
	[[ "$output" == *"the shared folder $HOME/.claude/"*" was removed during the start"*"start the run again"* ]]
	[ ! -e "$HOME/.claude" ]
	# The twin: one that was used stays.
	start_peer 'for f in projects todos; do echo said >~/.claude/$f/1.jsonl; done'
	run_beside_ending_peer
	[ "$status" -eq 0 ]
	[ "$(cat "$HOME/.claude/projects/1.jsonl")" = said ]
}

@test "share: memory and workflows in it stay closed, also in folders that come later" {
	local name path top

	mkdir -p "$HOME/.claude/projects/old/memory" "$HOME/.claude/projects/old/s/workflows/scripts"
	echo mine >"$HOME/.claude/projects/old/memory/MEMORY.md"
	echo mine >"$HOME/.claude/projects/old/s/workflows/scripts/w.js"
	echo said >"$HOME/.claude/projects/old/s.jsonl"
	boxed claude 'cd ~/.claude/projects
		echo evil >old/memory/MEMORY.md; echo evil >old/memory/new.md
		rm -rf old/memory; mv old/memory old/gone; mv old away
		echo evil >old/s/workflows/scripts/w.js
		mkdir -p new/t; mkdir new/memory new/t/workflows; ln -s /tmp new/memory
		mkdir -p deep/a/memory; mv deep/a a
		mkdir new/other && mv new/other new/memory
		rm old/s.jsonl; mkdir -p old/s.jsonl/workflows; echo evil >old/s.jsonl/workflows/w.js
		echo said >new/1.jsonl; :'
	[ "$(cat "$HOME/.claude/projects/old/memory/MEMORY.md")" = mine ]
	[ ! -e "$HOME/.claude/projects/old/memory/new.md" ]
	[ "$(cat "$HOME/.claude/projects/old/s/workflows/scripts/w.js")" = mine ]
	run find "$HOME/.claude/projects" -mindepth 2 -maxdepth 3 \( -name memory -o -name workflows \) \
		-not -path '*/old/memory' -not -path '*/old/s/workflows'
	echo "$output"
	[ -z "$output" ]
	[ "$(cat "$HOME/.claude/projects/new/1.jsonl")" = said ]
}

@test "share: a folder behind a link that is missing is not created through the link" {
	mkdir "$HOME/elsewhere"
	ln -s elsewhere "$HOME/.codex"
	boxed codex 'ls -d ~/.codex/'
	[[ "$output" == *"cannot create $HOME/.codex/sessions to share it"* ]]
	[ ! -e "$HOME/elsewhere/sessions" ]
	# One that exists behind the user's own link is shared.
	mkdir "$HOME/elsewhere/sessions"
	boxed codex 'echo said >~/.codex/sessions/1'
	[ "$status" -eq 0 ]
	[ "$(cat "$HOME/elsewhere/sessions/1")" = said ]
}

@test "share: permissions that the box changes are put back" {
	local dir=$HOME/.claude/projects

	mkdir -p "$dir/old" "$HOME/.claude/todos"
	echo said | tee "$dir/old/1.jsonl" "$dir/old/read.jsonl" >"$dir/old/quiet.jsonl"
	chmod 750 "$dir"
	chmod 2775 "$dir/old"
	chmod 600 "$dir/old/1.jsonl" "$dir/old/read.jsonl"
	chmod 666 "$dir/old/quiet.jsonl"
	sleep 0.1
	boxed claude 'umask 0; cd ~/.claude/projects; cp /bin/true old/tool; chmod 6755 old/tool; mkdir -m 1777 new
		echo more >>old/1.jsonl; chmod 4622 old/1.jsonl; chmod 646 old/read.jsonl; chmod 777 . ../todos
		python3 -c "import os; os.setxattr(\"new\", \"system.posix_acl_default\", bytes.fromhex(
			\"02000000\" + \"01000700ffffffff\" + \"04000700ffffffff\" + \"20000700ffffffff\"))"; :'
	[ "$status" -eq 0 ]
	[ "$(stat -c %a "$dir")" = 750 ]
	[ "$(stat -c %a "$HOME/.claude/todos")" = 755 ]
	[ "$(stat -c %a "$dir/old/tool")" = 755 ]
	[ "$(stat -c %a "$dir/old/1.jsonl")" = 600 ]
	# A right to read stays, one to write does not.
	[ "$(stat -c %a "$dir/old/read.jsonl")" = 644 ]
	[ "$(stat -c %a "$dir/new")" = 755 ]
	! python3 -c 'import os, sys; os.getxattr(sys.argv[1], "system.posix_acl_default")' "$dir/new" || false
	[ "$(stat -c %a "$dir/old")" = 2775 ]
	[[ "$output" == *"the run changed the permissions of"*"in shared folders"*"put back"* ]]
	# The twins: what the box did not change stays, and so does all that it may.
	[ "$(stat -c %a "$dir/old/quiet.jsonl")" = 666 ]
	[ "$(cat "$dir/old/1.jsonl")" = $'said\nmore' ]
	boxed claude 'echo x >~/.claude/projects/2.jsonl; chmod 640 ~/.claude/projects/2.jsonl'
	[[ "$output" != *"changed the permissions"* ]]
	[ "$(stat -c %a "$dir/2.jsonl")" = 640 ]
}

# overlapping NUMBER: a run of codex that opens the shared folders when open.NUMBER appears, says so, and ends
# when end.NUMBER does.
overlapping()
{
	launch run --profile codex --unknown deny -- sh -c 'echo ready
		until [ -e open.$1 ] || [ -e end.$1 ]; do sleep 0.05; done
		[ -e end.$1 ] || (cd ~/.codex/sessions && chmod 777 . old && echo x >group/$1 && echo opened)
		until [ -e end.$1 ]; do sleep 0.05; done' - "$1" >"$TEST_DIR/$1.out" 2>&1 </dev/null &
	pids[$1]=$!
	wait_for 120 grep -qs ready "$TEST_DIR/$1.out"
}

# modes: of the shared folder, of one in it, and of one that was open for the group before.
modes()
{
	(cd "$HOME/.codex/sessions" && stat -c %a . old group | xargs)
}

open_shared()
{
	touch "open.$1"
	wait_for 60 grep -q opened "$TEST_DIR/$1.out"
	[ "$(modes)" = "777 777 2775" ]
}

end_run()
{
	touch "end.$1"
	wait "${pids[$1]}"
}

@test "share: permissions are put back when two runs overlap, in whatever order they end" {
	local pids first dir=$HOME/.codex/sessions

	mkdir -p "$dir/old" "$dir/group"
	chmod 2775 "$dir/group"
	# What the second one sees at its start is the work of the first one.
	for first in 1 2; do
		chmod 750 "$dir" "$dir/old"
		rm -f open.* end.*
		overlapping 1
		open_shared 1
		overlapping 2
		end_run "$first"
		if [ "$first" -eq 1 ]; then
			[ "$(modes)" = "750 755 2775" ]
			open_shared 2
		fi
		end_run $((3 - first))
		[ "$(modes)" = "750 755 2775" ]
	done
	# The twin: one that was open before both stays so.
	chmod 777 "$dir" "$dir/old"
	rm -f open.* end.*
	overlapping 1
	open_shared 1
	overlapping 2
	end_run 1
	end_run 2
	[ "$(modes)" = "777 777 2775" ]
}

@test "share: permissions are put back after a run that was killed, also beside another one" {
	local pids beside pid broker dir=$HOME/.codex/sessions
	need program:jq

	mkdir -p "$dir/old" "$dir/group"
	chmod 2775 "$dir/group"
	for beside in "" 2; do
		chmod 750 "$dir" "$dir/old"
		rm -f open.* end.*
		overlapping 1
		open_shared 1
		pid=$(jq -r .pid < <(head -n 1 "$AGENTBOX_STATE/live/$(run_id)/audit.jsonl"))
		for broker in $(cat "/proc/$pid/task/$pid/children"); do
			[ "$(cat "/proc/$broker/comm")" != agentbox-broker ] || break
		done
		[ -z "$beside" ] || overlapping 2
		kill -STOP "$broker"
		kill -KILL "$pid" "$broker"
		wait "${pids[1]}" || true
		[ "$(modes)" = "777 777 2775" ]
		# The next start sweeps.
		boxed codex true
		[ "$(modes)" = "750 755 2775" ]
		[ -z "$beside" ] || open_shared 2
		[ -z "$beside" ] || end_run 2
		[ "$(modes)" = "750 755 2775" ]
	done
}

@test "share: a folder that the box closes to us is searched, and its permissions are put back" {
	mkdir -p "$HOME/.codex/sessions"
	boxed codex 'cd ~/.codex/sessions; mkdir -p a/b; cp /bin/true a/b/tool; chmod 4711 a/b/tool; chmod 0 a/b a; chmod 0 .'
	[ "$status" -eq 0 ]
	# What others may is not given back: the user may have taken it from them.
	[ "$(stat -c %a "$HOME/.codex/sessions")" = 700 ]
	[ "$(find "$HOME/.codex/sessions" -perm /7000)" = "" ]
	[ -e "$HOME/.codex/sessions/a/b/tool" ]
}

@test "share: a link that the box leaves is moved to quarantine at any depth, one of the host stays" {
	local top

	mkdir -p "$HOME/.codex/sessions/2026/11" "$HOME/.claude/projects/old" "$HOME/precious"
	ln -s "$HOME/precious" "$HOME/.codex/sessions/2026/mine"
	sleep 0.1
	boxed codex 'cd ~/.codex/sessions/2026; ln -s ~/.config 12; mkdir -p 13/14; echo said >13/14/1.jsonl
		ln -s ../../../../.bashrc 13/14/2.jsonl; mkfifo 11/p; echo said >11/1.jsonl'
	[ "$status" -eq 0 ]
	for top in 12 13/14/2.jsonl; do
		[[ "$output" == *"the run created a link ($HOME/.codex/sessions/2026/$top) in a shared folder"*"moved to quarantine as"* ]]
		[ ! -L "$HOME/.codex/sessions/2026/$top" ]
	done
	[[ "$output" == *"a special file ($HOME/.codex/sessions/2026/11/p)"* ]]
	[[ "$output" != *"--always"* ]]
	[ ! -e "$HOME/.codex/sessions/2026/11/p" ]
	[ -L "$HOME/.codex/sessions/2026/mine" ]
	[ "$(cat "$HOME/.codex/sessions/2026/13/14/1.jsonl")" = said ]
	[ "$(cat "$HOME/.codex/sessions/2026/11/1.jsonl")" = said ]
	agentbox quarantine list
	[[ "$output" == *"sessions/2026/12"* ]]
	boxed claude 'cd ~/.claude/projects; ln -s ~/.config old/x; ln -s / ../todos/y; echo said >old/1.jsonl'
	[ "$status" -eq 0 ]
	[ ! -L "$HOME/.claude/projects/old/x" ]
	[ ! -L "$HOME/.claude/todos/y" ]
	[ "$(cat "$HOME/.claude/projects/old/1.jsonl")" = said ]
}

# Print the login of an agent with this token, in the form that it has on the disk.
login()
{
	case $1 in
	claude) echo "{\"claudeAiOauth\":{\"accessToken\":\"$2\"}}" ;;
	codex) echo "{\"tokens\":{\"access_token\":\"$2\"}}" ;;
	gemini | qwen) echo "{\"access_token\":\"$2\"}" ;;
	opencode) echo "{\"anthropic\":{\"type\":\"oauth\",\"access\":\"$2\"}}" ;;
	esac
}

logins=(claude:.claude/.credentials.json codex:.codex/auth.json gemini:.gemini/oauth_creds.json
	opencode:.local/share/opencode/auth.json qwen:.qwen/oauth_creds.json)

@test "return: a login in the box and its renewal come back, in the next run the host's counts" {
	local row name path

	for row in "${logins[@]}"; do
		name=${row%%:*} path=${row#*:}
		echo "== $name"
		boxed "$name" 'mkdir -p ~/"$(dirname "$1")"; echo "$2" >~/"$1"' - "$path" "$(login "$name" first)"
		[ "$status" -eq 0 ]
		[[ "$output" == *"$HOME/$path was changed in the box and written back to the host"* ]]
		[ "$(cat "$HOME/$path")" = "$(login "$name" first)" ]
		[ "$(stat -c %a "$HOME/$path")" = 600 ]
		boxed "$name" 'echo "$2" >~/"$1.new"; mv ~/"$1.new" ~/"$1"' - "$path" "$(login "$name" second)"
		[ "$(cat "$HOME/$path")" = "$(login "$name" second)" ]
		# Renewed outside: the box sees it, and gives nothing old back.
		login "$name" third >"$HOME/$path"
		boxed "$name" 'cat ~/"$1"' - "$path"
		[ "${lines[0]}" = "$(login "$name" third)" ]
		[ "${#lines[@]}" -eq 1 ]
		[ "$(cat "$HOME/$path")" = "$(login "$name" third)" ]
		# Logged out outside: in the box, too.
		rm "$HOME/$path"
		boxed "$name" '! cat ~/"$1"' - "$path"
		[ "$status" -eq 0 ]
		[ ! -e "$HOME/$path" ]
	done
	jq -es 'map(select(.kind == "end").findings // [] | .[]) | any(test("auth.json was changed in the box"))' \
		"$AGENTBOX_STATE"/runs/*/audit.jsonl >/dev/null
}

@test "return: what is not a login stays in the layer, with one line" {
	local path=.codex/auth.json why script

	mkdir "$HOME/.codex"
	login codex mine >"$HOME/$path"
	chmod 640 "$HOME/$path"
	while IFS=: read -r why script; do
		boxed codex "cd; rm -rf $path; $script" </dev/null
		echo "-- $script"
		[[ "$output" == *"$HOME/$path was not written back: the box's copy $why"* ]]
		[ "$(grep -c "was not written back" <<<"$output")" -eq 1 ]
		[ "$(cat "$HOME/$path")" = "$(login codex mine)" ]
		[ "$(stat -c %a "$HOME/$path")" = 640 ]
	done <<-'END'
	is not a regular file: ln -s /etc/passwd .codex/auth.json
	is not a regular file: mkfifo .codex/auth.json
	is not a regular file: mkdir .codex/auth.json; touch .codex/auth.json/x
	is not a JSON object: echo not-json >.codex/auth.json
	is too large: truncate -s 100M .codex/auth.json
	has more than one name: echo '{}' >.codex/x; ln .codex/x .codex/auth.json
	END
	boxed gemini 'mkdir ~/away; ln -s away ~/.gemini; echo "{}" >~/away/oauth_creds.json'
	[[ "$output" == *"was not written back: the box's copy is not below plain folders"* ]]
	# Only tokens are taken over, with the host's own mode.
	boxed codex 'rm -rf ~/.codex/auth.json; echo "{\"tokens\":{\"access_token\":\"new\"},\"auth_mode\":\"evil\"}" >~/.codex/auth.json'
	[ "$(cat "$HOME/$path")" = "$(login codex new)" ]
	[ "$(stat -c %a "$HOME/$path")" = 640 ]
}

# returns MEMBERS: of a login of Claude with these.
returns()
{
	mkdir -p "$HOME/.claude"
	echo '{"claudeAiOauth":{"accessToken":"old"},"mcpOAuth":{"a":1}}' >"$HOME/.claude/.credentials.json"
	boxed claude 'echo "$1" >~/.claude/.credentials.json' - "$1"
	[ "$status" -eq 0 ]
	returned=$(cat "$HOME/.claude/.credentials.json")
	echo "$returned"
}

@test "return: of a login only known values of their type come back" {
	returns '{"claudeAiOauth":{"accessToken":"new","apiKeyHelper":"/bin/sh","clientId":"c-1"},
		"apiKeyHelper":"y","mcpOAuth":{"a":2}}'
	[[ "$returned" != *apiKeyHelper* ]]
	# The twin: its token, and a name.
	[ "$returned" = '{"claudeAiOauth":{"accessToken":"new","clientId":"c-1"},"mcpOAuth":{"a":1}}' ]
}

@test "return: a value of another type does not come back under a known name" {
	returns '{"claudeAiOauth":{"accessToken":"new","refreshToken":{"apiKeyHelper":"x"},"expiresAt":"soon",
		"scopes":["user:inference",{"x":1}],"subscriptionType":"max $(id)","clientId":"c-1"}}'
	[[ "$returned" != *apiKeyHelper* && "$returned" != *id\)* && "$returned" != *soon* && "$returned" != *inference* ]]
	# The twin.
	[ "$returned" = '{"claudeAiOauth":{"accessToken":"new","clientId":"c-1"},"mcpOAuth":{"a":1}}' ]
}

@test "return: of Codex's tokens only known values come back" {
	mkdir "$HOME/.codex"
	login codex mine >"$HOME/.codex/auth.json"
	boxed codex 'echo "$1" >~/.codex/auth.json' - \
		'{"tokens":{"access_token":"box","chatgpt_base_url":"https://evil.example"},"last_refresh":"2026-01-31T12:00:00.5Z"}'
	! grep evil.example "$HOME/.codex/auth.json" || false
	# The twin.
	[ "$(cat "$HOME/.codex/auth.json")" = '{"tokens":{"access_token":"box"},"last_refresh":"2026-01-31T12:00:00.5Z"}' ]
}

@test "return: the placeholder of a secret is not a login" {
	mkdir "$HOME/.claude"
	echo '{"claudeAiOauth":{"accessToken":"old","expiresAt":1}}' >"$HOME/.claude/.credentials.json"
	export ANTHROPIC_API_KEY=sk-ant-api03-0123456789abcdefghij0123456789
	agentbox run --profile claude --unknown deny --secret ANTHROPIC_API_KEY -- sh -c \
		'printf "{\"claudeAiOauth\":{\"accessToken\":\"x-%s\",\"refreshToken\":\"%s\",\"expiresAt\":2}}" \
			"$ANTHROPIC_API_KEY" "$ANTHROPIC_API_KEY" >~/.claude/.credentials.json'
	[ "$status" -eq 0 ]
	[ "$(cat "$HOME/.claude/.credentials.json")" = '{"claudeAiOauth":{"accessToken":"old","expiresAt":2}}' ]
	# The kept home has one that was replaced meanwhile.
	agentbox secrets rotate ANTHROPIC_API_KEY
	agentbox run --profile claude --unknown deny --secret ANTHROPIC_API_KEY -- sh -c \
		'grep -q "$ANTHROPIC_API_KEY" ~/.claude/.credentials.json || sed -i s/2}/3}/ ~/.claude/.credentials.json'
	[ "$status" -eq 0 ]
	[ "$(cat "$HOME/.claude/.credentials.json")" = '{"claudeAiOauth":{"accessToken":"old","expiresAt":3}}' ]
}

@test "return: nor is one that an earlier run left in the kept home" {
	local file=$HOME/.claude/.credentials.json run times

	mkdir "$HOME/.claude"
	echo '{"claudeAiOauth":{"accessToken":"old","expiresAt":1}}' >"$file"
	export ANTHROPIC_API_KEY=sk-ant-api03-0123456789abcdefghij0123456789
	# An agent may keep it anywhere, and take it for a login later.
	agentbox run --profile claude --unknown deny --secret ANTHROPIC_API_KEY -- sh -c 'echo "$ANTHROPIC_API_KEY" >~/.claude/kept'
	[ "$status" -eq 0 ]
	cat >login <<-'END'
	printf '{"claudeAiOauth":{"accessToken":"%s","expiresAt":%s}}' "$(cat ~/.claude/kept)" "$1" >~/.claude/.credentials.json
	END
	# Without the secret.
	boxed claude 'sh login 2'
	[ "$status" -eq 0 ]
	grep -q "$(cat "$(layer claude)/.claude/kept")" "$(layer claude)/.claude/.credentials.json"
	[ "$(cat "$file")" = '{"claudeAiOauth":{"accessToken":"old","expiresAt":2}}' ]
	# With it, when more were replaced than are known of the secret itself.
	for times in 1 2 3 4 5; do
		agentbox secrets rotate ANTHROPIC_API_KEY
		[ "$status" -eq 0 ]
	done
	agentbox run --profile claude --unknown deny --secret ANTHROPIC_API_KEY -- sh login 3
	[ "$(cat "$file")" = '{"claudeAiOauth":{"accessToken":"old","expiresAt":3}}' ]
	# A second run beside another one, which sees the home below a temporary layer, or has a copy.
	for AGENTBOX_STATE in "$AGENTBOX_STATE" "$HOME/.local/state/agentbox"; do
		export AGENTBOX_STATE
		echo "== $AGENTBOX_STATE"
		agentbox run --profile claude --unknown deny --secret ANTHROPIC_API_KEY -- sh -c 'echo "$ANTHROPIC_API_KEY" >~/.claude/kept'
		rm -f go ready
		mkfifo go
		launch run --profile claude --unknown deny -- sh -c 'touch ready; read line <go' </dev/null >"$TEST_DIR/out" 2>&1 &
		run=$!
		wait_for 60 test -e ready
		boxed claude 'sh login 4'
		[ "$status" -eq 0 ]
		[ "$(cat "$file")" = '{"claudeAiOauth":{"accessToken":"old","expiresAt":4}}' ]
		boxed claude 'echo other >~/.claude/kept; sh login 3'
		[ "$(cat "$file")" = '{"claudeAiOauth":{"accessToken":"other","expiresAt":3}}' ]
		echo '{"claudeAiOauth":{"accessToken":"old","expiresAt":3}}' >"$file"
		echo >go
		wait "$run"
	done
	# The allowed twin: a login that is none of them.
	boxed claude 'echo sk-ant-api03-mine >~/.claude/kept; sh login 5'
	[ "$(cat "$file")" = '{"claudeAiOauth":{"accessToken":"sk-ant-api03-mine","expiresAt":5}}' ]
}

@test "return: a file that changed on the host during the run is not replaced" {
	mkdir "$HOME/.codex"
	login codex mine >"$HOME/.codex/auth.json"
	mkfifo "$WORKSPACE/go"
	launch run --profile codex --unknown deny -- sh -c \
		'cp ~/.codex/auth.json x; echo "$1" >~/.codex/auth.json; touch ready; read line <go' - \
		"$(login codex box)" </dev/null >"$TEST_DIR/out" 2>&1 &
	wait_for 60 test -e "$WORKSPACE/ready"
	login codex outside >"$HOME/.codex/auth.json"
	echo >"$WORKSPACE/go"
	wait $!
	cat "$TEST_DIR/out"
	grep -q "auth.json was not written back: the host's file changed during the run" "$TEST_DIR/out"
	[ "$(cat "$HOME/.codex/auth.json")" = "$(login codex outside)" ]
}

@test "return: also if the supervisor is killed" {
	need program:jq
	mkdir "$HOME/.codex"
	login codex mine >"$HOME/.codex/auth.json"
	"$AGENTBOX" run --profile codex --unknown deny -- sh -c \
		'echo "$1" >~/.codex/auth.json; touch ready; sleep 1000' - \
		"$(login codex box)" </dev/null >"$TEST_DIR/out" 2>&1 3>&- &
	wait_for 60 test -e "$WORKSPACE/ready"
	kill -KILL $!
	wait_for 60 grep -q box "$HOME/.codex/auth.json"
	wait_for 60 eval 'grep -qs "\"kind\":\"end\"" "$AGENTBOX_STATE"/runs/*/audit.jsonl'
	grep -q 'auth.json was changed in the box' "$AGENTBOX_STATE"/runs/*/audit.jsonl
}

@test "return: a second agent at the same time returns its login as well" {
	local where

	# The state folder beside the home folder, and in it.
	for where in "$TEST_DIR/state" "$HOME/.local/state/agentbox"; do
		echo "== $where"
		export AGENTBOX_STATE=$where
		rm -rf "$HOME/.codex" go ready
		mkdir "$HOME/.codex"
		login codex mine >"$HOME/.codex/auth.json"
		mkfifo go
		launch run --profile codex --unknown deny -- sh -c 'touch ready; read line <go' \
			</dev/null >"$TEST_DIR/out" 2>&1 &
		wait_for 60 test -e ready
		boxed codex 'cat ~/.codex/auth.json; echo "$1" >~/.codex/auth.json' - "$(login codex second)"
		[[ "$output" == *"$(login codex mine)"* ]]
		[[ "$output" == *"auth.json was changed in the box and written back"* ]]
		[ "$(cat "$HOME/.codex/auth.json")" = "$(login codex second)" ]
		echo >go
		wait $!
		# The first one did not change it.
		[ "$(cat "$HOME/.codex/auth.json")" = "$(login codex second)" ]
		boxed codex 'cat ~/.codex/auth.json'
		[ "$output" = "$(login codex second)" ]
	done
}

@test "agents: where the home cannot be one layer, the agent's folder is, and its login comes back" {
	need userns
	mkdir -p "$HOME/mnt" "$HOME/.codex"
	login codex mine >"$HOME/.codex/auth.json"
	run timeout --kill-after=5 120 unshare --user --map-root-user --mount sh -c '
		mount -t tmpfs none ~/mnt && exec "$0" run --profile codex --unknown deny -v -- sh -c "$@"' \
		"$AGENTBOX" 'echo evil >~/.codex/config.toml; echo said >~/.codex/sessions/1; echo "$1" >~/.codex/auth.json' \
		- "$(login codex box)" 3>&-
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"something is mounted below your home folder (~/mnt), so each folder in it has a layer of its own"* ]]
	[ ! -e "$HOME/.codex/config.toml" ]
	[ "$(cat "$HOME/.codex/sessions/1")" = said ]
	[ "$(cat "$HOME/.codex/auth.json")" = "$(login codex box)" ]
	# It is the agent's kept layer, in which the next run goes on.
	boxed codex 'cat ~/.codex/config.toml'
	[ "$output" = evil ]
}

# What the host has, what the box leaves, and what the host has then: a renewed token, and not the
# address of another server.
spoof()
{
	case $1 in
	opencode)
		had='{"a":{"type":"oauth","access":"old"}}'
		left='{"https://evil.example":{"type":"wellknown","key":"PATH","token":"x"},"a":{"type":"oauth","access":"new","enterpriseUrl":"evil"}}'
		has='{"a":{"type":"oauth","access":"new"}}'
		;;
	qwen)
		had='{"access_token":"old","resource_url":"good.example"}'
		left='{"access_token":"new","resource_url":"evil.example"}'
		has='{"access_token":"new","resource_url":"good.example"}'
		;;
	esac
}

@test "return: where the home cannot be one layer, only the tokens of a login come back" {
	need userns
	local row name path had left has

	mkdir "$HOME/mnt"
	for row in opencode:.local/share/opencode/auth.json qwen:.qwen/oauth_creds.json; do
		name=${row%%:*} path=${row#*:}
		echo "== $name"
		spoof "$name"
		mkdir -p "$(dirname "$HOME/$path")"
		echo "$had" >"$HOME/$path"
		run timeout --kill-after=5 120 unshare --user --map-root-user --mount sh -c '
			mount -t tmpfs none ~/mnt && exec "$0" run --profile "$1" --unknown deny -v -- \
				sh -c "echo \"\$2\" >~/\"\$1\"" - "$2" "$3"' \
			"$AGENTBOX" "$name" "$path" "$left" 3>&-
		echo "$output"
		! grep evil "$HOME/$path" || false
		[ "$status" -eq 0 ]
		[[ "$output" == *"so each folder in it has a layer of its own"* ]]
		[[ "$output" == *"was changed in the box and written back to the host"* ]]
		# The twin: the token.
		[ "$(cat "$HOME/$path")" = "$has" ]
	done
	# With nothing but an account that loads settings, nothing is created.
	rm "$HOME/.local/share/opencode/auth.json"
	run timeout --kill-after=5 120 unshare --user --map-root-user --mount sh -c '
		mount -t tmpfs none ~/mnt && exec "$0" run --profile opencode --unknown deny -- \
			sh -c "echo \"\$1\" >~/.local/share/opencode/auth.json" - "$1"' \
		"$AGENTBOX" '{"https://evil.example":{"type":"wellknown","key":"PATH","token":"x"}}' 3>&-
	echo "$output"
	[[ "$output" == *"has no credential that may leave it"* ]]
	[[ "$output" != *"the home folder cannot be"* ]]
	[ ! -e "$HOME/.local/share/opencode/auth.json" ]
}

@test "return: behind the user's own link only the tokens of a login come back" {
	local row name path had left has

	mkdir -p "$HOME/dot/qw" "$HOME/dot/oc" "$HOME/.local/share"
	ln -s dot/qw "$HOME/.qwen"
	ln -s ../../dot/oc "$HOME/.local/share/opencode"
	for row in opencode:dot/oc/auth.json qwen:dot/qw/oauth_creds.json; do
		name=${row%%:*} path=${row#*:}
		echo "== $name"
		spoof "$name"
		echo "$had" >"$HOME/$path"
		boxed "$name" 'echo "$2" >~/"$1"' - "$path" "$left"
		[ "$status" -eq 0 ]
		[[ "$output" == *"$HOME/$path was changed in the box and written back to the host"* ]]
		[ "$(cat "$HOME/$path")" = "$has" ]
	done
}

@test "return: a project file that is not trusted sets neither share nor return" {
	echo '{ "filesystem": { "share": ["~/x"], "return": ["~/y.json"], "home": "kept" } }' >.agentbox.json
	agentbox run -v --profile codex --unknown deny -- sh -c 'mkdir -p ~/x; echo evil >~/x/1; echo "{}" >~/y.json'
	[[ "$output" == *".agentbox.json: filesystem.share: 1 entry ignored"* ]]
	[[ "$output" == *".agentbox.json: filesystem.return: 1 entry ignored"* ]]
	[ ! -e "$HOME/x" ]
	[ ! -e "$HOME/y.json" ]
	# Your own settings do.
	rm .agentbox.json
	jq '.filesystem = { "share": ["~/x"], "return": ["~/y.json"] }' "$HOME/.config/agentbox/config.json" \
		>"$TEST_DIR/c" && mv "$TEST_DIR/c" "$HOME/.config/agentbox/config.json"
	agentbox run --profile codex --unknown deny -- sh -c 'echo said >~/x/1; echo "{}" >~/y.json'
	[ "$(cat "$HOME/x/1")" = said ]
	[ "$(cat "$HOME/y.json")" = "{}" ]
}

@test "hint: an agent without its profile is told that there is one" {
	mkdir bin
	printf '#!/bin/sh\necho ran\n' | tee bin/claude bin/qwen bin/vim >/dev/null
	chmod +x bin/*
	for name in claude qwen; do
		PATH=$WORKSPACE/bin:$PATH agentbox run --unknown deny -- "$name"
		[ "$status" -eq 0 ]
		[[ "$output" == *"there is a profile for $name: agentbox run --profile $name -- $name"* ]]
	done
	agentbox run --unknown deny -- "$WORKSPACE/bin/claude"
	[[ "$output" == *"there is a profile for claude"* ]]
	PATH=$WORKSPACE/bin:$PATH agentbox run --profile claude --unknown deny -- claude
	[ "$output" = ran ]
	PATH=$WORKSPACE/bin:$PATH agentbox run --unknown deny -- vim
	[ "$output" = ran ]
}

@test "profile: the name of the program chooses it, unless something else names one" {
	mkdir -p "$HOME/bin" "$HOME/.config/agentbox/profiles"
	printf '#!/bin/sh\necho ran\n' | tee "$HOME/bin/"{claude,mine,vim} >/dev/null
	chmod +x "$HOME/bin/"*
	printf '{ "network": { "mode": "blocked" } }' >"$HOME/.config/agentbox/profiles/mine.json"
	PATH=$HOME/bin:$PATH
	local name line
	for name in claude mine; do
		line="agentbox: using profile $name, which has the name of the program (--profile default: without it)"
		agentbox_split run --unknown deny -- "$name"
		[ "$output" = ran ]
		[ "$stderr" = "$line" ]
		agentbox_split "$name"
		[ "$stderr" = "$line" ]
		[ "$("$AGENTBOX" exec -- "$name" 2>/dev/null | jq -r .profile)" = "$name" ]
		# A person says another one, or the program has no folder that vouches for its name.
		for c in "--profile workspace-write -- $name" "--profile default -- $name" "-- $HOME/bin/$name" "-- vim" "-c $name"; do
			[ "$("$AGENTBOX" exec --yes $c 2>/dev/null | jq -r .profile)" != "$name" ]
		done
		[ "$(AGENTBOX_PROFILE=workspace-write "$AGENTBOX" exec -- "$name" 2>/dev/null | jq -r .profile)" = workspace-write ]
	done
	for c in "-q" "--profile default"; do
		agentbox_split run $c --unknown deny -- claude
		[ -z "$stderr" ]
	done
	echo '{ "extends": "workspace-write" }' >"$HOME/.config/agentbox/config.json"
	[ "$("$AGENTBOX" exec -- claude 2>/dev/null | jq -r .profile)" = workspace-write ]
}

@test "profile: it is chosen by the program that the run's PATH leads to" {
	mkdir -p "$HOME/bin" "$HOME/other" bin "$HOME/.config/agentbox/profiles"
	printf '#!/bin/sh\necho the host\n' >"$HOME/bin/claude"
	printf '#!/bin/sh\necho the project\n' >bin/claude
	printf '#!/bin/sh\necho another\n' | tee "$HOME/other/"{claude,mine} >/dev/null
	chmod +x "$HOME"/*/claude bin/claude "$HOME/other/mine"
	local line="using profile claude" project=$PWD/bin path
	# The host's PATH leads to the user's program, the run's to one that a box could have made.
	for path in "$project:/usr/bin:/bin" "bin:$HOME/bin:/usr/bin:/bin"; do
		PATH=$HOME/bin:$PATH agentbox_split run --unknown deny --env "PATH=$path" -- claude
		[ "$output" = "the project" ]
		[[ "$stderr" != *"$line"* && "$stderr" == *"there is a profile for claude"* ]]
	done
	ELSEWHERE=$project:/usr/bin:/bin PATH=$HOME/bin:$PATH agentbox_split run --unknown deny --pass-env PATH=ELSEWHERE -- claude
	[ "$output" = "the project" ]
	[[ "$stderr" != *"$line"* ]]
	echo "{ \"env\": { \"set\": { \"PATH\": \"$project:/usr/bin:/bin\" } } }" >"$TEST_DIR/set.json"
	PATH=$HOME/bin:$PATH agentbox_split run --unknown deny --config "$TEST_DIR/set.json" -- claude
	[ "$output" = "the project" ]
	[[ "$stderr" != *"$line"* ]]
	# A run without the variable finds it where every shell does.
	PATH=$HOME/bin:$PATH agentbox_split run --unknown deny --config '{"env":{"pass":{"only":["HOME"]},"strip":["PATH"]}}' -- claude
	[ "$status" -eq 127 ]
	[[ "$stderr" != *"$line"* ]]
	# The other way round: the run's PATH leads out of the workspace.
	PATH=$project:$PATH agentbox_split run --unknown deny --env "PATH=$HOME/other:/usr/bin:/bin" -- claude
	[ "$output" = another ]
	[ "$(grep -c "$line" <<<"$stderr")" -eq 1 ]
	agentbox_split run --unknown deny --env "PATH=$HOME/other:/usr/bin:/bin" -- claude
	[ "$output" = another ]
	[[ "$stderr" == *"$line"* ]]
	agentbox_split run --dry-run --unknown deny --env "PATH=$HOME/other:/usr/bin:/bin" -- claude
	[[ "$output$stderr" == *"$line"* ]]
	# A profile that makes another program run chooses itself in vain.
	echo "{ \"env\": { \"set\": { \"PATH\": \"$project:/usr/bin:/bin\" } } }" >"$HOME/.config/agentbox/profiles/mine.json"
	printf '#!/bin/sh\necho the project\n' >bin/mine
	chmod +x bin/mine
	PATH=$HOME/other:$PATH agentbox_split run --unknown deny -- mine
	[ "$output" = another ]
	[[ "$stderr" != *"using profile"* ]]
	# With the same PATH it is as before.
	PATH=$HOME/bin:$PATH agentbox_split run --unknown deny --env X=1 -- claude
	[ "$output" = "the host" ]
	[[ "$stderr" == *"$line"* ]]
}

@test "agents: their own sandboxes are switched off, unless the caller decides" {
	mkdir -p "$HOME/bin"
	printf '#!/bin/sh\nprintf "%%s|" "$@"; echo "$CHROMIUM_FLAGS"\n' >"$HOME/bin/codex"
	chmod +x "$HOME/bin/codex"
	cp "$HOME/bin/codex" "$HOME/bin/claude"
	cp "$HOME/bin/codex" "$HOME/bin/other"
	PATH=$HOME/bin:$PATH
	agentbox_split run --profile codex -- codex exec hi
	[ "$output" = "-c|sandbox_mode=danger-full-access|exec|hi|--no-sandbox" ]
	agentbox_split run --profile claude -- "$HOME/bin/claude" -p hi
	[ "$output" = '--settings|{"sandbox":{"enabled":false}}|-p|hi|--no-sandbox' ]
	agentbox_split run -v --profile codex -- codex
	[[ "$stderr" == *"its own sandbox cannot start in the box"* ]]
	# What the caller says about it, other programs and other profiles stay as they are.
	for words in '-s workspace-write' '--sandbox=read-only' '-c sandbox_mode=x'; do
		# shellcheck disable=SC2086 # these are words
		agentbox_split run --profile codex -- codex $words exec
		[ "$output" = "${words// /|}|exec|--no-sandbox" ]
	done
	agentbox_split run --profile codex -- other exec
	[ "$output" = "exec|--no-sandbox" ]
	agentbox_split run --profile claude -- codex exec
	[ "$output" = "exec|--no-sandbox" ]
	agentbox_split run --profile default -- codex exec
	[ "$output" = "exec|" ]
	# An agent can read what it may ask for.
	agentbox_split run --profile claude -- sh -c 'echo "$SANDBOX_NOTE"'
	[[ "$output" == *agentbox*"agentbox allow HOST"* ]]
	agentbox_split run --profile default -- sh -c 'echo "$SANDBOX_NOTE"'
	[ -z "$output" ]
}
