load helpers

# Events are recorded ones (data/hooks); no agent is needed to answer them.

# event AGENT COMMAND [CWD]: what the agent would send.
event()
{
	local command cwd packed text

	{
		read -r command
		read -r cwd
		read -r packed
	} < <(jq -cn --arg c "$2" --arg d "${3:-$WORKSPACE}" \
		'$c, $d, ({command: $c, description: "x"} | tostring)')
	text=$(<"$ROOT/test/data/hooks/$1.json")
	text=${text//@COMMAND@/"$command"}
	text=${text//@PACKED@/"$packed"}
	printf '%s\n' "${text//@CWD@/"$cwd"}"
}

# hook AGENT COMMAND [OPTION...]
hook()
{
	local agent=$1 command=$2
	shift 2

	event "$agent" "$command" >"$BATS_TEST_TMPDIR/event"
	agentbox_split hook "$agent" "$@" <"$BATS_TEST_TMPDIR/event"
}

# said FILTER: that part of the answer.
said()
{
	jq -r "$1" <<<"$output"
}

claude()
{
	said ".hookSpecificOutput.$1"
}

@test "hook claude-code: a forbidden command is denied, with the part and the way out" {
	hook claude-code 'ls && rm -rf ~/'
	[ "$status" -eq 0 ]
	[ "$(claude hookEventName)" = PreToolUse ]
	[ "$(claude permissionDecision)" = deny ]
	[[ "$(claude permissionDecisionReason)" == *recursive-delete-root* ]]
	[[ "$(claude permissionDecisionReason)" == *"rm -rf ~/"* ]]
	[[ "$(claude permissionDecisionReason)" == *Instead:* ]]
	[ "$(claude updatedInput)" = null ]
}

@test "hook claude-code: an escalated command is asked about, and what is asked runs in the box" {
	hook claude-code 'git push --force'
	[ "$status" -eq 0 ]
	[ "$(claude permissionDecision)" = ask ]
	[[ "$(claude permissionDecisionReason)" == *history-rewrite* ]]
	[[ "$(claude updatedInput.command)" == *" run --yes "*" -c 'git push --force'" ]]
	[ "$(claude updatedInput.timeout)" = 120000 ]
}

@test "hook claude-code: any other command is allowed and rewritten to run in the box" {
	local rewritten

	hook claude-code 'echo "it'\''s $((1 + 1))" > out.txt'
	[ "$status" -eq 0 ]
	[ "$(claude permissionDecision)" = allow ]
	[ "$(claude updatedInput.description)" = "Run a command" ]
	rewritten=$(claude updatedInput.command)
	[[ "$rewritten" == *" run "*" -c "* ]]
	[[ "$rewritten" != *--yes* ]]
	# What the agent would do with it.
	run bash -c "cd '$WORKSPACE' && $rewritten"
	[ "$status" -eq 0 ]
	[ "$(<"$WORKSPACE/out.txt")" = "it's 2" ]
	# Next to the workspace it is not real.
	run bash -c "cd '$WORKSPACE' && ${rewritten/out.txt/"$WORKSPACE/../outside"}"
	[ ! -e "$WORKSPACE/../outside" ]
	readonly_home
	run bash -c "cd '$WORKSPACE' && ${rewritten/out.txt/"$WORKSPACE/../outside"}"
	[ "$status" -ne 0 ]
	[ ! -e "$WORKSPACE/../outside" ]
}

@test "hook claude-code: a change of folder alone is allowed as it is" {
	hook claude-code 'cd src'
	[ "$status" -eq 0 ]
	[ "$(claude permissionDecision)" = allow ]
	[ "$(claude updatedInput)" = null ]
	hook claude-code 'cd src && make'
	[[ "$(claude updatedInput.command)" == *" run "* ]]
}

@test "hook claude-code: what runs something beside a change of folder is rewritten" {
	local command

	for command in "[[ -v 'b[\$(touch x)]' ]]; cd src" \
		"if [[ a -eq 'b[\$(touch x)]' ]]; then cd src; fi" \
		'((b[\$(touch x)])); cd src' 'cd . < /dev/tcp/192.0.2.1/80' \
		'PROMPT_COMMAND=evil; cd src' 'PATH=/x cd src' 'cd src | cd' \
		'time cd src' 'coproc cd src' 'cd $(id)' 'cd src &' \
		'cd() { evil; }; cd src' 'cd src 2>x'; do
		echo "command: $command"
		hook claude-code "$command"
		[[ "$(claude updatedInput.command)" == *" run "* ]]
	done
	for command in 'cd' 'cd -' 'cd ~/x && cd y' 'cd "a b"; cd ..'; do
		hook claude-code "$command"
		[ "$(claude permissionDecision)" = allow ]
		[ "$(claude updatedInput)" = null ]
	done
}

@test "hook: a rewritten command that cannot stand in JSON blocks" {
	for agent in claude-code gemini; do
		hook $agent make --env $'A=\xff'
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[[ "$stderr" == *UTF-8* ]]
	done
}

@test "hook: an answer that cannot be written blocks" {
	event claude-code 'rm -rf /' >"$BATS_TEST_TMPDIR/event"
	run bash -c "'$AGENTBOX' hook claude-code <'$BATS_TEST_TMPDIR/event' >/dev/full"
	[ "$status" -eq 2 ]
	run bash -c "'$AGENTBOX' hook claude-code <'$BATS_TEST_TMPDIR/event' >&-"
	[ "$status" -eq 2 ]
}

@test "hook: a reason shows the beginning of a very long part" {
	hook claude-code "sudo echo $(printf 'x%.0s' {1..5000})"
	[ "$(claude permissionDecision)" = ask ]
	[ "$(claude 'permissionDecisionReason | length')" -lt 2000 ]
}

@test "hook: hostile text is one word of what runs instead" {
	local command

	for command in $'printf "%s|" \'a\' "b" \\c -- -x\n"d e"' '-c' '--' "'" '"' \
		$'echo \'\\\'\' "\'"' 'echo é ‮ x' 'echo $(echo `echo "$x"`)'; do
		hook claude-code "$command"
		command=${command%$'\n'}
		[ "$(bash -c "f() { printf '%s' \"\${@: -1}\"; }; ${output:+f} $(
			claude updatedInput.command)")" = "$command" ]
	done
}

@test "hook claude-code: without rewriting, only what is refused or asked is answered" {
	hook claude-code 'make' --no-box
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	hook claude-code 'git push' --no-box
	[ "$(claude permissionDecision)" = ask ]
	[ "$(claude updatedInput)" = null ]
	hook claude-code 'rm -rf /' --no-box
	[ "$(claude permissionDecision)" = deny ]
}

@test "hook claude-code: policy options are judged by, and handed on" {
	hook claude-code 'curl https://example.com' --allow example.com --read-only
	[ "$(claude permissionDecision)" = allow ]
	[[ "$(claude updatedInput.command)" == *" --allow example.com --read-only "* ]]
}

@test "hook claude-code: the rules of the event's own folder count" {
	mkdir -p "$WORKSPACE/sub"
	echo '{"commands":{"override":{"sudo":"forbidden"}}}' >"$WORKSPACE/sub/.agentbox.json"
	hook claude-code 'sudo ls'
	[ "$(claude permissionDecision)" = ask ]
	event claude-code 'sudo ls' "$WORKSPACE/sub" >"$BATS_TEST_TMPDIR/event"
	agentbox_split hook claude-code <"$BATS_TEST_TMPDIR/event"
	[ "$(claude permissionDecision)" = deny ]
}

# tool AGENT EVENT: any event, as it is.
tool()
{
	printf '%s' "$2" >"$BATS_TEST_TMPDIR/event"
	agentbox_split hook "$1" <"$BATS_TEST_TMPDIR/event"
}

# uses TOOL ARGUMENTS: an event of Claude Code about one of its tools.
uses()
{
	tool claude "$(jq -cn --arg t "$1" --argjson i "$2" --arg d "$WORKSPACE" \
		'{hook_event_name: "PreToolUse", tool_name: $t, tool_input: $i, cwd: $d}')"
}

# path FILE [KEY]: arguments that name it.
path()
{
	jq -cn --arg p "$1" --arg k "${2:-file_path}" '{($k): $p, content: "x"}'
}

@test "hook: file tools are judged by path: writable, protected, hidden" {
	local name

	mkdir -p "$HOME/.ssh" sub/.git sub/.hidden
	echo key >"$HOME/.ssh/id_test"
	ln -s "$HOME/.ssh/id_test" link
	ln -s "$HOME/nothing" dangling
	# What a box could do on the host is left to the agent's own rules.
	for name in src/new.c ./a.txt "$WORKSPACE/sub/b" "$WORKSPACE"; do
		uses Write "$(path "$name")"
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done
	uses Read "$(path /etc/passwd)"
	[ -z "$output" ]
	uses Grep '{"pattern":"x"}'
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	# Outside the writable folders, and protected names, also of a repository in it.
	for name in "$HOME/x" /etc/motd ../x dangling .envrc .git/hooks/pre-commit sub/.vscode/tasks.json; do
		uses Edit "$(path "$name")"
		echo "$name: $output $stderr"
		[ "$(claude permissionDecision)" = ask ] || [ "$(claude permissionDecision)" = deny ]
		[ "$(claude updatedInput)" = null ]
	done
	uses MultiEdit "$(path .envrc)"
	[[ "$(claude permissionDecisionReason)" == *"denyWrite"* ]]
	uses NotebookEdit "$(path "$HOME/x.ipynb" notebook_path)"
	[[ "$(claude permissionDecisionReason)" == *"$HOME/x.ipynb is outside the writable folders"* ]]
	# Hidden files, also by a link.
	for name in Read Write; do
		uses $name "$(path "$HOME/.ssh/id_test")"
		[ "$(claude permissionDecision)" = deny ]
		uses $name "$(path link)"
		[ "$(claude permissionDecision)" = deny ]
		[[ "$(claude permissionDecisionReason)" == *".ssh/id_test is hidden"* ]]
	done
	# A folder above hidden files is asked about; a pattern counts from where it looks.
	for name in "$HOME" / ..; do
		uses Grep "$(path "$name" path)"
		[ "$(claude permissionDecision)" = ask ]
		[[ "$(claude permissionDecisionReason)" == *"contains hidden files"* ]]
	done
	for name in "$HOME/.s*/*" '../**' '~/*' '*/../../.ssh/id*' '{/root,x}/*'; do
		uses Glob "$(path "$name" pattern)"
		[ "$(claude permissionDecision)" = ask ]
	done
	uses Glob "$(path "$HOME/.ssh/id_test" pattern)"
	[ "$(claude permissionDecision)" = deny ]
	for name in '**/*.c' "$WORKSPACE/sub/*" 'sub/{a,b}*' '/usr/include/*.h'; do
		uses Glob "$(path "$name" pattern)"
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done
	# A tool without its path, or with a path that is none, is blocked.
	for name in '{}' '{"file_path":7}' '{"file_path":""}' '{"file_path":"~nobody/x"}'; do
		uses Write "$name"
		[ "$status" -eq 2 ]
		[ -n "$stderr" ]
	done
}

@test "hook: the home folder and / are not writable because the agent is there" {
	local folder

	# writes FOLDER [OPTION...]: a file in the home folder, with the agent in FOLDER.
	writes()
	{
		jq -cn --arg p "$HOME/x" --arg d "$1" \
			'{hook_event_name: "PreToolUse", tool_name: "Write", tool_input: {file_path: $p}, cwd: $d}' >"$BATS_TEST_TMPDIR/event"
		agentbox_split hook claude-code "${@:2}" <"$BATS_TEST_TMPDIR/event"
		[ "$status" -eq 0 ]
	}
	ln -s "$HOME" link
	for folder in "$HOME" / "${HOME%/*}" "$WORKSPACE/link"; do
		writes "$folder"
		[ "$(claude permissionDecision)" = ask ]
		[[ "$(claude permissionDecisionReason)" == *"$HOME/x is outside the writable folders"* ]]
	done
	# It is if the user says so.
	writes "$HOME" --workspace "$HOME"
	[ -z "$output" ]
	writes "$WORKSPACE" --write "$HOME"
	[ -z "$output" ]
}

@test "hook: file tools of other agents are judged by path" {
	local patch

	printf -v patch '*** Begin Patch\n*** Update File: a.c\n@@\n-x\n+y\n*** Add File: %s/x\n+z\n*** End Patch' "$HOME"
	event codex "$patch" | jq -c '.tool_name = "apply_patch"' >"$BATS_TEST_TMPDIR/event"
	agentbox_split hook codex <"$BATS_TEST_TMPDIR/event"
	[ "$(claude permissionDecision)" = deny ]
	[[ "$(claude permissionDecisionReason)" == *"$HOME/x is outside"* ]]
	event codex "${patch//"$HOME"\//}" | jq -c '.tool_name = "apply_patch"' >"$BATS_TEST_TMPDIR/event"
	agentbox_split hook codex <"$BATS_TEST_TMPDIR/event"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	tool copilot "{\"cwd\":\"$WORKSPACE\",\"toolName\":\"create\",\"toolArgs\":{\"path\":\"$HOME/x\",\"file_text\":\"\"}}"
	[ "$(said .permissionDecision)" = deny ]
	tool gemini "{\"hook_event_name\":\"BeforeTool\",\"cwd\":\"$WORKSPACE\",\"tool_name\":\"write_file\",\"tool_input\":{\"file_path\":\"$HOME/x\"}}"
	[ "$(said .decision)" = deny ]
	tool gemini "{\"hook_event_name\":\"BeforeTool\",\"cwd\":\"$WORKSPACE\",\"tool_name\":\"write_file\",\"tool_input\":{\"file_path\":\"x\"}}"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	tool windsurf "{\"agent_action_name\":\"pre_write_code\",\"tool_info\":{\"file_path\":\"$HOME/x\"}}"
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"outside the writable folders"* ]]
	mkdir -p "$HOME/.aws"
	tool cursor "{\"hook_event_name\":\"beforeReadFile\",\"file_path\":\"$HOME/.aws/credentials\"}"
	[ "$(said .permission)" = deny ]
}

@test "hook: other tools are judged by name, and an untrusted project can only deny" {
	mkdir -p "$HOME/.config/agentbox"
	echo '{"commands":{"tools":{"mcp__good__*":"allow","mcp__*__delete*":"ask","mcp__bad__*":"deny","Bash":"ask"}}}' \
		>"$HOME/.config/agentbox/config.json"
	uses mcp__good__read '{}'
	[ "$(claude permissionDecision)" = allow ]
	uses mcp__good__delete_all '{}'
	[ "$(claude permissionDecision)" = ask ]
	[[ "$(claude permissionDecisionReason)" == *'commands.tools "mcp__*__delete*"'* ]]
	uses mcp__bad__x '{}'
	[ "$(claude permissionDecision)" = deny ]
	uses WebFetch '{"url":"https://example.com"}'
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	# A command is still judged, and still runs in the box.
	uses Bash '{"command":"make"}'
	[ "$(claude permissionDecision)" = ask ]
	[[ "$(claude updatedInput.command)" == *" run "* ]]
	uses Bash '{"command":"rm -rf /"}'
	[ "$(claude permissionDecision)" = deny ]
	# An agent that cannot ask.
	tool codex '{"hook_event_name":"PreToolUse","tool_name":"mcp__good__delete","tool_input":{}}'
	[ "$(claude permissionDecision)" = deny ]
	tool windsurf '{"agent_action_name":"pre_mcp_tool_use","tool_info":{"mcp_server_name":"bad","mcp_tool_name":"y"}}'
	[ "$status" -eq 2 ]
	echo '{"commands":{"tools":{"mcp__bad__*":"allow","mcp__good__*":"deny"}}}' >.agentbox.json
	uses mcp__bad__x '{}'
	[ "$(claude permissionDecision)" = deny ]
	uses mcp__good__read '{}'
	[ "$(claude permissionDecision)" = deny ]
	# Names have a length.
	uses "$(printf 'x%.0s' {1..300})" '{}'
	[ "$status" -eq 2 ]
}

@test "hook: a request for permission is denied what is forbidden, and nothing else is answered" {
	local asked

	asked=$(event claude-code 'rm -rf /' | jq -c '.hook_event_name = "PermissionRequest"')
	tool claude "$asked"
	[ "$(said .hookSpecificOutput.hookEventName)" = PermissionRequest ]
	[ "$(said .hookSpecificOutput.decision.behavior)" = deny ]
	[[ "$(said .hookSpecificOutput.decision.message)" == *recursive-delete-root* ]]
	tool codex "$(event codex 'rm -rf /' | jq -c '.hook_event_name = "PermissionRequest"')"
	[ "$(said .hookSpecificOutput.decision.behavior)" = deny ]
	tool copilot "{\"hookName\":\"permissionRequest\",\"cwd\":\"$WORKSPACE\",\"toolName\":\"bash\",\"toolInput\":{\"command\":\"rm -rf /\"}}"
	[ "$(said .behavior)" = deny ]
	# The user decides about these.
	for asked in make 'git push'; do
		tool claude "$(event claude-code "$asked" | jq -c '.hook_event_name = "PermissionRequest"')"
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done
}

@test "hook: other tools and other events are not answered" {
	uses Task '{}'
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	tool claude '{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}'
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "hook: what cannot be read blocks the command" {
	local event

	for event in '' '{' '[]' '{}' '"x"' '{"hook_event_name":"PreToolUse"}' \
		'{"hook_event_name":"PreToolUse","tool_name":"Bash"}' \
		'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}' \
		'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":7}}' \
		'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","command":"rm"}}' \
		'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls\u0000rm"}}' \
		'{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"x","tool_input":{"command":"ls"}}'; do
		echo "event: $event"
		printf '%s' "$event" >"$BATS_TEST_TMPDIR/event"
		agentbox_split hook claude-code <"$BATS_TEST_TMPDIR/event"
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ -n "$stderr" ]
	done
}

@test "hook: a policy that cannot be read blocks the command" {
	echo '{' >"$WORKSPACE/.agentbox.json"
	hook claude-code 'ls'
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[[ "$stderr" == *.agentbox.json* ]]
}

@test "hook: an approver is asked first, and its answer holds for the agent's session" {
	hook codex 'git push' --approver "cat >>'$TEST_DIR/asked'; echo '{\"answer\":\"session\"}'"
	[ "$status" -eq 0 ]
	[ "$(claude permissionDecision)" = allow ]
	[[ "$(claude updatedInput.command)" == *" run --yes "* ]]
	[ "$(jq -r '.rule + " " + .command' "$TEST_DIR/asked")" = "git-publish git push" ]
	# Remembered, without asking.
	hook codex 'git push'
	[ "$(claude permissionDecision)" = allow ]
	# Another command, another session, and what is forbidden.
	hook codex 'git push origin'
	[ "$(claude permissionDecision)" = deny ]
	event codex 'git push' | sed 's/019a2b3c/019a2b3d/' >"$BATS_TEST_TMPDIR/event"
	agentbox_split hook codex <"$BATS_TEST_TMPDIR/event"
	[ "$(claude permissionDecision)" = deny ]
	hook codex 'rm -rf /' --approver "touch '$TEST_DIR/never'; echo '{\"answer\":\"once\"}'"
	[ "$(claude permissionDecision)" = deny ]
	[ ! -e "$TEST_DIR/never" ]
}

@test "hook: an approver that says no, or nothing, denies" {
	hook claude-code 'git push' --approver "echo '{\"answer\":\"no\"}'"
	[ "$(claude permissionDecision)" = deny ]
	[[ "$(claude permissionDecisionReason)" == *"the answer was no"* ]]
	hook claude-code 'git push' --approver false
	[ "$(claude permissionDecision)" = deny ]
	hook claude-code 'git push' --approver "echo '{\"answer\":\"once\"}'"
	[ "$(claude permissionDecision)" = allow ]
	[[ "$(claude updatedInput.command)" == *" run --yes "* ]]
	# Once is once.
	hook claude-code 'git push'
	[ "$(claude permissionDecision)" = ask ]
}

@test "hook codex: denies, or rewrites to run in the box" {
	hook codex 'rm -rf /'
	[ "$(claude permissionDecision)" = deny ]
	hook codex 'rm --help -rf /'
	[ "$(claude permissionDecision)" = deny ]
	hook codex 'git push'
	[ "$(claude permissionDecision)" = deny ]
	[[ "$(claude permissionDecisionReason)" == *"This needs approval"* ]]
	hook codex 'make'
	[ "$(claude permissionDecision)" = allow ]
	[[ "$(claude updatedInput.command)" == *" run "*" -c make" ]]
	# Codex has no use for an answer that changes nothing.
	hook codex 'make' --no-box
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "hook gemini: denies, or allows in the box" {
	hook gemini 'rm -rf /'
	[ "$(said .decision)" = deny ]
	[[ "$(said .reason)" == *recursive-delete-root* ]]
	hook gemini 'git push'
	[ "$(said .decision)" = deny ]
	hook gemini 'make'
	[ "$(said .decision)" = allow ]
	[[ "$(said .hookSpecificOutput.tool_input.command)" == *" run "*" -c make" ]]
}

@test "hook cursor: denies and asks" {
	hook cursor 'rm -rf /'
	[ "$(said .permission)" = deny ]
	[[ "$(said .agent_message)" == *recursive-delete-root* ]]
	hook cursor 'git push'
	[ "$(said .permission)" = ask ]
	[[ "$(said .user_message)" == *git-publish* ]]
	hook cursor 'make'
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "hook copilot: arguments in a string, and as they are" {
	hook copilot 'rm -rf /'
	[ "$(said .permissionDecision)" = deny ]
	[[ "$(said .permissionDecisionReason)" == *recursive-delete-root* ]]
	echo '{"cwd":"/tmp","toolName":"bash","toolArgs":{"command":"rm -rf /"}}' >"$BATS_TEST_TMPDIR/event"
	agentbox_split hook copilot <"$BATS_TEST_TMPDIR/event"
	[ "$(said .permissionDecision)" = deny ]
	hook copilot 'make'
	[ "$(said .permissionDecision)" = allow ]
	[[ "$(said .modifiedArgs.command)" == *" run "*" -c make" ]]
	[ "$(said .modifiedArgs.description)" = x ]
}

@test "hook windsurf: a no is an exit status, with the reason beside it" {
	hook windsurf 'rm -rf /'
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[[ "$stderr" == *recursive-delete-root* ]]
	hook windsurf 'make'
	[ "$status" -eq 0 ]
	[ -z "$output$stderr" ]
}

@test "hook: inside a box nothing is rewritten, and what is permitted is allowed" {
	event claude-code 'make' >"$WORKSPACE/event"
	agentbox_split run -- "$AGENTBOX" hook claude-code <"$WORKSPACE/event"
	[ "$status" -eq 0 ]
	[ "$(claude permissionDecision)" = allow ]
	[ "$(claude updatedInput)" = null ]
	# The state folder is not needed for a verdict, nor the box's own files for a path.
	event claude-code 'git push' >"$WORKSPACE/event"
	agentbox_split run -- "$AGENTBOX" hook claude-code <"$WORKSPACE/event"
	[ "$status" -eq 0 ]
	[ "$(claude permissionDecision)" = ask ]
	[[ "$(claude permissionDecisionReason)" == *git-publish* ]]
	event codex 'git push' >"$WORKSPACE/event"
	agentbox_split run -- "$AGENTBOX" hook codex <"$WORKSPACE/event"
	[ "$status" -eq 0 ]
	[ "$(claude permissionDecision)" = deny ]
	[[ "$(claude permissionDecisionReason)" == *git-publish* ]]
	jq -cn --arg p "$HOME/x" '{hook_event_name: "PreToolUse", tool_name: "Write", tool_input: {file_path: $p}}' >"$WORKSPACE/event"
	agentbox_split run -- "$AGENTBOX" hook claude <"$WORKSPACE/event"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "hook install: shows the change, asks for a word, writes once" {
	local settings=$HOME/.claude/settings.json

	mkdir -p "$HOME/.claude"
	echo '{"model":"x","hooks":{"Stop":[]}}' >"$settings"
	agentbox hook install claude-code </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"+"*"hook claude-code"* ]]
	[[ "$output" == *--yes* ]]
	[ "$(<"$settings")" = '{"model":"x","hooks":{"Stop":[]}}' ]
	agentbox hook install claude-code --yes
	[ "$status" -eq 0 ]
	[ "$(jq -r .model "$settings")" = x ]
	[ "$(jq -c .hooks.Stop "$settings")" = '[]' ]
	[ "$(jq -r '.hooks.PreToolUse[0].matcher' "$settings")" = "*" ]
	[ "$(jq -r '.hooks.PermissionRequest | length' "$settings")" = 1 ]
	[[ "$(jq -r '.hooks.PreToolUse[0].hooks[0].command' "$settings")" == *"/agentbox hook claude-code" ]]
	agentbox hook install claude-code --yes
	[ "$status" -eq 0 ]
	[[ "$output" == *already* ]]
	[ "$(jq '.hooks.PreToolUse | length' "$settings")" = 1 ]
	# Other options replace it, and so do those of an older release.
	agentbox hook install claude --yes --no-box
	[ "$status" -eq 0 ]
	[ "$(jq -c '[.hooks.PreToolUse[].hooks[].command | endswith("hook claude-code --no-box")]' "$settings")" = '[true]' ]
	jq '.hooks = {PreToolUse: [{matcher: "Bash", hooks: [{type: "command", command: "/old/agentbox hook claude"}, {type: "command", command: "mine"}]}]}' \
		"$settings" >"$settings.new"
	mv "$settings.new" "$settings"
	agentbox hook install claude-code --yes
	[ "$(jq '[.hooks.PreToolUse[].hooks[].command | select(contains("agentbox"))] | length' "$settings")" = 1 ]
	[ "$(jq -r '.hooks.PreToolUse[0].hooks[0].command' "$settings")" = mine ]
	jq '.hooks.PreToolUse |= reverse' "$settings" >"$settings.new"
	mv "$settings.new" "$settings"
	# And what was written works.
	event claude-code 'rm -rf /' >"$BATS_TEST_TMPDIR/event"
	run bash -c "$(jq -r '.hooks.PreToolUse[0].hooks[0].command' "$settings")" <"$BATS_TEST_TMPDIR/event"
	[[ "$output" == *'"deny"'* ]]
}

@test "hook install: --json shows the change, and writes it with --yes" {
	local file=$HOME/.claude/settings.json
	agentbox_split hook install --json claude
	[ "$status" -eq 1 ]
	jq -e --arg file "$file" '.file == $file and .written == false and .needs == null and
		(.diff | length > 0)' <<<"$output"
	[ ! -e "$file" ]
	agentbox_split hook install --json --yes claude
	[ "$status" -eq 0 ]
	jq -e .written <<<"$output"
	[ -e "$file" ]
	agentbox_split hook install --json claude
	[ "$status" -eq 0 ]
	jq -e '.written == false and .diff == []' <<<"$output"
	agentbox_split hook uninstall --json -y claude
	jq -e .written <<<"$output"
}

@test "hook install: makes the file where there is none, in the project where that is said" {
	agentbox hook install claude-code --project --yes --profile claude
	[ "$status" -eq 0 ]
	[ ! -e "$HOME/.claude/settings.json" ]
	[[ "$(jq -r '.hooks.PreToolUse[0].hooks[0].command' .claude/settings.json)" == *" --profile claude" ]]
	agentbox hook install cursor --yes
	[ "$(jq -r '.version' "$HOME/.cursor/hooks.json")" = 1 ]
	agentbox hook install windsurf --yes
	[[ "$(jq -r '.hooks.pre_run_command[0].command' "$HOME/.codeium/windsurf/hooks.json")" == *"hook windsurf" ]]
}

@test "hook install: a file of options is named in full" {
	echo '{}' >"$WORKSPACE/own.json"
	agentbox hook install claude-code --yes --config own.json
	[ "$status" -eq 0 ]
	[[ "$(jq -r '.hooks.PreToolUse[0].hooks[0].command' "$HOME/.claude/settings.json")" == *" --config $WORKSPACE/own.json" ]]
	mkdir -p "$WORKSPACE/sub"
	echo '{"commands":{"override":{"recursive-delete-root":"allow"}}}' >"$WORKSPACE/sub/own.json"
	event claude-code 'rm -rf /' "$WORKSPACE/sub" >"$BATS_TEST_TMPDIR/event"
	agentbox_split hook claude-code --config own.json <"$BATS_TEST_TMPDIR/event"
	[ "$(claude permissionDecision)" = deny ]
}

@test "hook: no path among the options starts at the agent's folder" {
	local words

	mkdir -p sub/out sub/sub out "$HOME/outside"
	# The words of what runs instead, with the event in another folder.
	event claude-code 'touch x' "$WORKSPACE/sub" >"$BATS_TEST_TMPDIR/event"
	agentbox_split hook claude-code --workspace . --write out --write ../outside --read secret --deny-read './k*' \
		--deny-write ./keep --deny-write Makefile --allow-unix run.sock <"$BATS_TEST_TMPDIR/event"
	[ "$status" -eq 0 ]
	words=" $(claude updatedInput.command) "
	for path in "$WORKSPACE " "$WORKSPACE/out " "$HOME/outside " "$WORKSPACE/secret" "$WORKSPACE/k*" "$WORKSPACE/keep " \
		"Makefile " "$WORKSPACE/run.sock "; do
		[[ "$words" == *[\ =\'\!]"$path"* ]]
	done
	[[ "$words" != *" ."* ]]
	# The judge sees the same folders: "out" is the one of the hook's folder, not that of the event's.
	jq -cn --arg p "$WORKSPACE/sub/out/x" --arg d "$WORKSPACE/sub/sub" \
		'{hook_event_name: "PreToolUse", tool_name: "Write", tool_input: {file_path: $p}, cwd: $d}' >"$BATS_TEST_TMPDIR/event"
	agentbox_split hook claude --workspace sub/sub --write ../outside <"$BATS_TEST_TMPDIR/event"
	[ "$(claude permissionDecision)" = ask ]
	agentbox_split hook claude --workspace sub/sub --write sub/out <"$BATS_TEST_TMPDIR/event"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	# A file that does not exist here is not looked for there.
	echo '{}' >sub/sub/own.json
	agentbox_split hook claude --config own.json <"$BATS_TEST_TMPDIR/event"
	[ "$status" -eq 2 ]
	AGENTBOX_CONFIG=own.json agentbox_split hook claude <"$BATS_TEST_TMPDIR/event"
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"AGENTBOX_CONFIG=own.json: a hook needs an absolute path"* ]]
	AGENTBOX_CONFIG=$WORKSPACE/sub/sub/own.json agentbox_split hook claude --write sub/out <"$BATS_TEST_TMPDIR/event"
	[ "$status" -eq 0 ]
	# And what mcp wrap writes.
	echo '{"mcpServers":{"x":{"command":"server"}}}' >servers.json
	agentbox mcp wrap --yes --workspace . --write out servers.json
	[ "$status" -eq 0 ]
	[[ "$(jq -r '.mcpServers.x.args | join(" ")' servers.json)" == "run --workspace $WORKSPACE --write $WORKSPACE/out -- /usr/bin/env server" ]]
}

@test "hook: what runs instead has the options that were judged by" {
	mkdir -p "$HOME/hidden" "$HOME/.config/agentbox"
	echo shown >"$HOME/hidden/x"
	echo '{"filesystem":{"denyRead":["~/hidden"]}}' >"$HOME/.config/agentbox/config.json"
	# as OPTION...: the rewritten command, executed.
	as()
	{
		hook claude-code "touch made; cat ~/hidden/x" "$@"
		[ "$(claude updatedInput.command)" != null ]
		rm -f made
		run timeout 60 bash -c "$(claude updatedInput.command)"
	}
	as --read "$HOME/hidden" --unknown deny
	[[ "$output" == *shown* ]]
	[ -e made ]
	as --unknown deny
	[[ "$output" != *shown* ]]
	[ -e made ]
	as --read-only --unknown deny
	[ ! -e made ]
	[[ "$output" == *made* ]]
	as --review --unknown deny
	[[ "$output" != *"command not found"* ]]
	[ ! -e made ]
	as --review=auto --unknown deny
	[[ "$output" != *"command not found"* ]]
	hook claude-code 'echo "$A"' --env 'A=--b c'
	run timeout 60 bash -c "$(claude updatedInput.command)"
	[ "$output" = "--b c" ]
	# mcp wrap hands on the same words.
	echo '{"mcpServers":{"x":{"command":"server"}}}' >servers.json
	agentbox mcp wrap --yes --review --read "$HOME/hidden" servers.json
	[ "$(jq -c '.mcpServers.x.args' servers.json)" = "[\"run\",\"--review=true\",\"--read\",\"$HOME/hidden\",\"--\",\"/usr/bin/env\",\"server\"]" ]
}

@test "hook install: a project's links are not followed" {
	mkdir -p "$HOME/.claude" .claude
	echo '{}' >"$HOME/.claude/settings.json"
	ln -s "$HOME/.claude/settings.json" .claude/settings.json
	agentbox hook install claude-code --project --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"is a symbolic link"* ]]
	rm -r .claude
	ln -s "$HOME/.claude" .claude
	agentbox hook install claude-code --project --yes
	[ "$status" -eq 1 ]
	[ "$(<"$HOME/.claude/settings.json")" = '{}' ]
}

@test "hook install: settings of another shape are left alone" {
	mkdir -p "$HOME/.claude"
	printf '{}\0{}' >"$HOME/.claude/settings.json"
	agentbox hook install claude-code --yes
	[ "$status" -eq 1 ]
	for text in '[]' '{"hooks":[]}' '{"hooks":{"PreToolUse":{}}}' '{'; do
		printf '%s' "$text" >"$HOME/.claude/settings.json"
		agentbox hook install claude-code --yes
		[ "$status" -eq 1 ]
		[[ "$output" == *settings.json* ]]
		[ "$(<"$HOME/.claude/settings.json")" = "$text" ]
	done
}

@test "hook install: a link to the settings stays a link" {
	mkdir -p "$HOME/.claude" "$HOME/dotfiles"
	echo '{}' >"$HOME/dotfiles/settings.json"
	ln -s ../dotfiles/settings.json "$HOME/.claude/settings.json"
	agentbox hook install claude-code --yes
	[ "$status" -eq 0 ]
	[ -L "$HOME/.claude/settings.json" ]
	[ "$(jq '.hooks.PreToolUse | length' "$HOME/dotfiles/settings.json")" = 1 ]
}

@test "hook uninstall: removes the hook and nothing else" {
	local settings=$HOME/.claude/settings.json

	mkdir -p "$HOME/.claude"
	echo '{"model":"x","hooks":{"Stop":[],"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"mine"}]}]}}' |
		jq . >"$settings"
	cp "$settings" "$TEST_DIR/before"
	agentbox hook install claude --yes
	[ "$status" -eq 0 ]
	agentbox hook uninstall claude </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"-"*"hook claude-code"* ]]
	agentbox hook uninstall claude --yes
	[ "$status" -eq 0 ]
	[ "$(jq -c . "$settings")" = "$(jq -c . "$TEST_DIR/before")" ]
	agentbox hook uninstall claude --yes
	[ "$status" -eq 0 ]
	[[ "$output" == *"does not have the hook"* ]]
	# A file of its own goes with it.
	agentbox hook install copilot --yes
	[ "$status" -eq 0 ]
	[ "$(jq -r '.version' "$HOME/.copilot/hooks/agentbox.json")" = 1 ]
	[[ "$(jq -r '.hooks.preToolUse[0].bash' "$HOME/.copilot/hooks/agentbox.json")" == *" hook copilot" ]]
	agentbox hook uninstall copilot --yes
	[ "$status" -eq 0 ]
	[ ! -e "$HOME/.copilot/hooks/agentbox.json" ]
}

@test "hook list, status: what is installed, what was proved, and what is missing" {
	local a

	agentbox hook status
	[ "$status" -eq 1 ]
	[[ "$output" == *"no hook is installed"* ]]
	for a in claude codex copilot cursor gemini windsurf; do
		agentbox hook install --yes $a
		[ "$status" -eq 0 ]
		[ $a != codex ] || [[ "$output" == *"/hooks"*"--sandbox danger-full-access"* ]]
	done
	agentbox hook list
	[ "$status" -eq 0 ]
	[ "$(grep -c ' installed ' <<<"$output")" = 6 ]
	for a in claude copilot cursor gemini windsurf; do
		agentbox hook status $a
		[ "$status" -eq 0 ]
		# The command to try does no harm where the hook does not stop it.
		[[ "$output" == *"denies a test event"*"Not proved"*'"rm --help -rf /"'* ]]
	done
	agentbox hook status codex
	[ "$status" -eq 1 ]
	[[ "$output" == *"denies a test event"*"does not call it before you have trusted it"* ]]
	printf '[hooks.state."%s:pre_tool_use:0:0"]\ntrusted_hash = "sha256:x"\n' "$HOME/.codex/hooks.json" \
		>"$HOME/.codex/config.toml"
	agentbox hook status codex
	[ "$status" -eq 0 ]
	agentbox_split hook status --json
	[ "$(jq '[.hooks[] | select(.installed and (.lacking | length) == 0)] | length' <<<"$output")" = 6 ]
	agentbox doctor
	[[ "$output" == *hooks*claude-code*windsurf* ]]
	# A project names the program: nothing is started.
	mkdir .claude
	printf '#!/bin/sh\ntouch "%s"\necho "{\\"deny\\"}"\n' "$TEST_DIR/ran" >agentbox
	chmod +x agentbox
	jq -n --arg c "$PWD/agentbox hook claude" '{hooks: {PreToolUse: [{hooks: [{type: "command", command: $c}]}]}}' \
		>.claude/settings.json
	agentbox hook status claude
	[ "$status" -eq 1 ]
	[[ "$output" == *"another program, which was not tested"* ]]
	[ ! -e "$TEST_DIR/ran" ]
	jq -n --arg c "$AGENTBOX hook claude; touch $TEST_DIR/ran" '{hooks: {PreToolUse: [{hooks: [{type: "command", command: $c}]}]}}' \
		>.claude/settings.json
	agentbox hook status claude
	[ ! -e "$TEST_DIR/ran" ]
	agentbox hook status nobody
	[ "$status" -eq 2 ]
	[[ "$output" == *"unknown agent 'nobody'; supported: "* ]]
}

@test "hook status: nothing is started because of a project's settings" {
	local words own

	own=$(realpath "$AGENTBOX")
	mkdir .claude
	echo '{"commands":{"override":{"recursive-delete-root":"escalated"}}}' >evil.json
	for words in "$own hook claude-code --config evil.json --approver 'touch $TEST_DIR/ran'" \
		"$own hook install --yes claude-code --no-box --env 'X=agentbox hook claude-code '" \
		"$own hook claude-code --no-box" "$own hook claude-code \$(touch $TEST_DIR/ran)" \
		"AGENTBOX_CONFIG=evil.json $own hook claude-code" "$own hook claude-code || true"; do
		jq -n --arg c "$words" \
			'{hooks: ({matcher: "*", hooks: [{type: "command", command: $c}]} | {PreToolUse: [.], PermissionRequest: [.]})}' \
			>.claude/settings.json
		agentbox hook status claude
		[ "$status" -eq 1 ]
		[[ "$output" == *"which w"*" not tested: "* ]]
		[ ! -e "$TEST_DIR/ran" ]
		[ ! -e "$HOME/.claude" ]
	done
	# What install writes is good in a project too.
	rm .claude/settings.json
	agentbox hook install --yes --project claude
	[ "$status" -eq 0 ]
	agentbox hook status claude
	[ "$status" -eq 0 ]
	[[ "$output" == *"is the one that hook install writes"*"denies a test event"* ]]
	# The user's own options are named, and good.
	rm -r .claude
	agentbox hook install --yes claude --profile claude
	agentbox hook status claude
	[ "$status" -eq 0 ]
	[[ "$output" == *"options of yours that were not tested"*"--profile claude"*"denies a test event"* ]]
	# A test that does not deny is said.
	AGENTBOX_CONFIG=$PWD/evil.json agentbox hook status claude
	[ "$status" -eq 1 ]
	[[ "$output" == *"is not denied"* ]]
}

@test "hook list, status: a hook that the agent does not call for every tool is not installed" {
	local settings=$HOME/.claude/settings.json change

	agentbox hook install --yes claude
	agentbox hook status claude
	[ "$status" -eq 0 ]
	cp "$settings" "$TEST_DIR/good"
	for change in '.hooks = {SessionEnd: .hooks.PreToolUse}' 'del(.hooks.PermissionRequest)' \
		'.hooks.PreToolUse[0].matcher = "NoSuchTool"' '.hooks.PreToolUse[0].hooks[0].type = "prompt"' \
		'.hooks.PreToolUse[0].hooks[0].async = true'; do
		jq "$change" "$TEST_DIR/good" >"$settings"
		agentbox hook status claude
		[ "$status" -eq 1 ]
		[[ "$output" == *"does not call it for every "*" event"* ]]
		[[ "$output" != *"It is in the settings"* ]]
		agentbox hook list
		[[ "$output" == *"claude-code  incomplete"* ]]
	done
	# Written by hand, with a time, beside another hook: the agent calls it each time.
	for change in '.hooks.PreToolUse[0].hooks[0].timeout = 30' '.hooks.PreToolUse[0].matcher = ""' \
		'.hooks.PreToolUse[0].hooks |= [{type: "command", command: "mine"}] + .' \
		'.hooks.PreToolUse[0].hooks[0].statusMessage = "judging"'; do
		jq "$change" "$TEST_DIR/good" >"$settings"
		agentbox hook status claude
		[ "$status" -eq 0 ]
		agentbox hook list
		[[ "$output" == *"claude-code  installed"* ]]
	done
	# The agent would not wait for the reply.
	jq '.hooks.PreToolUse[0].hooks[0].timeout = 1' "$TEST_DIR/good" >"$settings"
	agentbox hook status claude
	[ "$status" -eq 1 ]
	# A second command of another kind is not hidden by the first, and other hooks do not matter.
	jq '.hooks.Stop = [{hooks: [{type: "command", command: "/old/agentbox hook claude"}]}]' "$TEST_DIR/good" >"$settings"
	agentbox hook status claude
	[ "$status" -eq 1 ]
	[[ "$output" == *"another program"*"/old/agentbox"* ]]
	jq '.hooks.Stop = [{hooks: [{type: "command", command: "mine"}]}]' "$TEST_DIR/good" >"$settings"
	agentbox hook status claude
	[ "$status" -eq 0 ]
	agentbox hook list
	[[ "$output" == *"claude-code  installed"* ]]
}

@test "hook: an agent that is not known is said" {
	agentbox hook claude-cod
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean hook claude-code"* ]]
	agentbox hook install clod
	[ "$status" -eq 2 ]
	[[ "$output" == *"unknown agent 'clod'; supported: "* ]]
	# Those that it names are all supported.
	local a names=${output#*supported: }
	[ "$(wc -w <<<"$names")" -ge 6 ]
	for a in ${names//,/}; do
		agentbox hook install --yes "$a"
		[ "$status" -eq 0 ]
	done
}
