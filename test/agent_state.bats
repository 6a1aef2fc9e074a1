# The state folders of agents: the agent's data is writable in its profile, and
# what the agent loads or runs when it is started outside the box is not.
UNJUDGED=1
load helpers

# try PROFILE FOLDER CLOSED... -- OPEN...: in the box, append to each file below
# FOLDER, and create it with its folders if it is missing. The closed ones exist.
try()
{
	local profile=$1 folder=$2 path
	local -a closed=()

	shift 2
	mkdir -p "$HOME/$folder"
	while [ "$1" != -- ]; do
		mkdir -p "$(dirname "$HOME/$folder/$1")"
		echo "the user's" >"$HOME/$folder/$1"
		closed+=("$1")
		shift
	done
	shift
	agentbox run --profile "$profile" -- sh -c 'cd ~/"$1" || exit 9; shift
		for path; do
			mkdir -p "$(dirname "$path")"; echo evil >>"$path"; rm -rf "$path"
			mv "$(dirname "$path")" gone 2>/dev/null; echo evil >"$path"
		done; :' - "$folder" "${closed[@]}"
	[ "$status" -eq 0 ]
	for path in "${closed[@]}"; do
		echo "closed: $path"
		[ "$(cat "$HOME/$folder/$path")" = "the user's" ]
	done
	agentbox run --profile "$profile" -- sh -c 'cd ~/"$1" || exit 9; shift
		for path; do mkdir -p "$(dirname "$path")" && echo data >"$path" || exit 8; done' - "$folder" "$@"
	[ "$status" -eq 0 ]
	for path; do
		echo "open: $path"
		[ "$(cat "$HOME/$folder/$path")" = data ]
	done
}

# missing PROFILE FOLDER NAME...: what did not exist is gone when the run ends.
missing()
{
	local profile=$1 folder=$2 path

	shift 2
	mkdir -p "$HOME/$folder"
	agentbox run --profile "$profile" -- sh -c 'cd ~/"$1" || exit 9; shift
		for path; do mkdir -p "$(dirname "$path")"; echo evil >"$path"; done' - "$folder" "$@"
	for path; do
		echo "missing: $path"
		[ ! -e "$HOME/$folder/$path" ]
		[[ "$output" == *"${path%%/*}"* ]]
	done
}

@test "claude: settings, hooks, plugins and instructions are closed, transcripts are not" {
	echo '{"mcpServers":{}}' >"$HOME/.claude.json"
	try claude .claude settings.json settings.local.json hooks/h plugins/p commands/c agents/a \
		skills/s output-styles/o statusline.sh CLAUDE.md local/claude shell-snapshots/s.sh -- \
		projects/p/1.jsonl todos/t.json history.jsonl .credentials.json
	agentbox run --profile claude -- sh -c 'echo evil >~/.claude.json; echo evil >~/.claude.json.new && mv ~/.claude.json.new ~/.claude.json'
	[ "$status" -ne 0 ]
	[ "$(cat "$HOME/.claude.json")" = '{"mcpServers":{}}' ]
	rm -rf "$HOME/.claude"
	missing claude .claude settings.json plugins/p commands/c CLAUDE.md
}

@test "codex: configuration, hooks, rules and prompts are closed, sessions are not" {
	try codex .codex config.toml work.config.toml hooks.json rules/r prompts/p skills/s AGENTS.md .env -- \
		sessions/2026/s.jsonl history.jsonl auth.json
	rm -rf "$HOME/.codex"
	missing codex .codex config.toml hooks.json AGENTS.md
}

@test "gemini: settings, extensions, policies and programs are closed, chats are not" {
	try gemini .gemini settings.json extensions/e/x.json commands/c.toml skills/s policies/p.toml GEMINI.md \
		.env trustedFolders.json tmp/bin/rg -- tmp/0a/chats/c.json oauth_creds.json
	rm -rf "$HOME/.gemini"
	missing gemini .gemini settings.json extensions/e GEMINI.md
}

@test "opencode: plugins, tools, packages and programs are closed, sessions are not" {
	mkdir -p "$HOME/.config/opencode" "$HOME/.local/share/opencode" "$HOME/.local/state/opencode" "$HOME/.cache/opencode"
	try opencode .config/opencode opencode.json plugin/p.js tool/t.ts command/c.md agent/a.md AGENTS.md \
		node_modules/m/i.js package.json -- themes/t
	try opencode .local/share/opencode bin/rg -- storage/s.json auth.json
	try opencode .cache/opencode node_modules/m/i.js package.json bin/b -- models
	rm -rf "$HOME/.config/opencode"
	missing opencode .config/opencode plugin/p.js tool/t.ts
}
