# Real agents in the box, each with its profile, against a stand-in for their
# services (internet/models.py). The agents come from the npm registry:
# agents/install puts them into the folder AB_AGENTS, once for this machine.
#
# What claude and codex show each time, slow tests show of the other agents.
#
# unsanitized: agents take longer to start than everything that the program does
load helpers
load internet

KEY=sk-ant-api03-0123456789abcdefghijklmnop

# The services that agents use without being told otherwise answer as models, too.
setup_file()
{
	export AB_MODEL_HOSTS="api.openai.com api.anthropic.com generativelanguage.googleapis.com"
	internet_start
}

# have NAME...: these agents can be started by their names. Skips the test, whatever
# AB_NO_SKIP says, if the registry cannot be reached; nothing else is an excuse.
have()
{
	local name why

	[ -n "${AB_AGENTS:-}" ] || lacks "AB_AGENTS is not set: run this file with scripts/suite"
	for name; do
		if [ ! -x "$AB_AGENTS/$name/bin/$name" ]; then
			why=$(cat "$AB_AGENTS/$name.failed")
			[[ "$why" != *"cannot be reached"* ]] || skip "$name: $why"
			echo "$name is not installed: $why"
			return 1
		fi
		PATH=$AB_AGENTS/$name/bin:$PATH
		echo "# $name $(version "$name")" >&3
	done
	export PATH
	# Switches against everything that is not about a prompt.
	export ANTHROPIC_BASE_URL=http://models.test DISABLE_AUTOUPDATER=1
	export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 NODE_EXTRA_CA_CERTS=$NET/ca.pem
	export GOOGLE_GEMINI_BASE_URL=http://models.test GEMINI_API_KEY=AIzaTest
	export OPENAI_BASE_URL=http://models.test/v1 OPENAI_API_KEY=sk-test OPENAI_MODEL=m
	export COPILOT_PROVIDER_BASE_URL=http://models.test/v1 COPILOT_PROVIDER_TYPE=openai
	export COPILOT_PROVIDER_API_KEY=k COPILOT_MODEL=m COPILOT_OFFLINE=true COPILOT_AUTO_UPDATE=false
	export OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1
}

version()
{
	jq -r .version "$(dirname "$(readlink -f "$AB_AGENTS/$1/bin/$1")")"/{.,..}/package.json 2>/dev/null |
		grep -m 1 .
}

# words NAME PROMPT: set WORDS to the command that asks the agent and ends.
words()
{
	case $1 in
	claude) WORDS=(claude -p "$2" --dangerously-skip-permissions) ;;
	codex)
		WORDS=(codex exec --skip-git-repo-check -s danger-full-access -c model_provider=x
			-c 'model_providers.x={name="x",base_url="http://models.test/v1",wire_api="responses",env_key="OPENAI_API_KEY"}'
			"$2")
		;;
	gemini) WORDS=(gemini --skip-trust --yolo -m gemini-2.5-flash -p "$2") ;;
	opencode) WORDS=(opencode run -m anthropic/claude-sonnet-4-5 "$2") ;;
	copilot) WORDS=(copilot -p "$2" --allow-all-tools --allow-all-paths) ;;
	qwen) WORDS=(qwen --auth-type openai --yolo -p "$2") ;;
	esac
	# The base URL of the one ends in /v1, that of the other does not.
	[ "$1" != opencode ] || export ANTHROPIC_BASE_URL=http://models.test/v1
	[ "$1" = codex ] || [ "$1" = qwen ] || [ "$1" = gemini ] || [ "$1" = copilot ] ||
		export ANTHROPIC_API_KEY=$KEY
	if [ "$1" = gemini ]; then
		mkdir -p "$HOME/.gemini"
		[ -e "$HOME/.gemini/settings.json" ] ||
			echo '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' >"$HOME/.gemini/settings.json"
	fi
}

# boxed NAME PROMPT: in the box; sets $status and $output.
boxed()
{
	local -a WORDS

	words "$@"
	agentbox run --profile "$1" --allow models.test --unknown deny -- "${WORDS[@]}"
}

# unboxed NAME PROMPT: the same outside.
unboxed()
{
	local -a WORDS

	words "$@"
	run inside timeout 200 "${WORDS[@]}" </dev/null 3>&-
	printf '$ %s\n%s\n[status %s]\n' "${WORDS[*]}" "$output" "$status"
}

# plant NAME MARK: print a script that makes the agent run a program at its next
# start: a hook, a tool server, a plugin, a notification.
plant()
{
	case $1 in
	claude) cat <<-SH
		mkdir -p ~/.claude; cat >~/.claude/settings.json <<'END'
		{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch $2"}]}]}}
		END
		SH
		;;
	codex) cat <<-SH
		mkdir -p ~/.codex; echo 'notify = ["touch", "$2"]' >~/.codex/config.toml
		SH
		;;
	gemini | qwen) cat <<-SH
		mkdir -p ~/.$1; cat >~/.$1/settings.json <<'END'
		{"security":{"auth":{"selectedType":"gemini-api-key"}},
		 "mcpServers":{"x":{"command":"touch","args":["$2"]}}}
		END
		SH
		;;
	opencode) cat <<-SH
		mkdir -p ~/.config/opencode/plugin; cat >~/.config/opencode/plugin/p.js <<'END'
		import { writeFileSync } from "fs"
		writeFileSync("$2", "")
		export const P = async () => ({})
		END
		SH
		;;
	copilot) cat <<-SH
		mkdir -p ~/.copilot; cat >~/.copilot/mcp-config.json <<'END'
		{"mcpServers":{"x":{"type":"local","command":"touch","args":["$2"],"tools":["*"]}}}
		END
		SH
		;;
	esac
}

# The whole life of an agent on a new account: a prompt in the box is answered, its
# state is there at the next start, the host has nothing of it but conversations,
# and a program that the box wrote into its settings runs in the box only.
live()
{
	local name=$1 state=$2 mark=$WORKSPACE/planted script

	have "$name"
	boxed "$name" "hello"
	[ "$status" -eq 0 ]
	[[ "$output" == *pong* ]]
	[[ "$output" != *quarantine* && "$output" != *"protected name"* ]]
	[ ! -e "$HOME/$state" ]
	agentbox run --profile "$name" -- test -e "$HOME/$state"
	[ "$status" -eq 0 ]

	script=$(plant "$name" "$mark")
	agentbox run --profile "$name" -- sh -c "$script"
	[ "$status" -eq 0 ]
	unboxed "$name" "hello"
	[ "$status" -eq 0 ]
	[[ "$output" == *pong* ]]
	[ ! -e "$mark" ]
	# The same, written on the host.
	sh -c "$script"
	unboxed "$name" "hello"
	wait_for 90 test -e "$mark"
}

@test "claude: answers in the box, remembers, and what it writes runs nowhere else" {
	live claude .claude.json
	# Conversations are the host's.
	grep -q hello "$HOME"/.claude/projects/*/*.jsonl
}

@test "codex: answers in the box, remembers, and what it writes runs nowhere else" {
	live codex .codex/installation_id
	grep -rq hello "$HOME/.codex/sessions"
}

# bats test_tags=slow
@test "gemini: answers in the box, remembers, and what it writes runs nowhere else" {
	live gemini .gemini/installation_id
}

# bats test_tags=slow
@test "opencode: answers in the box, remembers, and what it writes runs nowhere else" {
	live opencode .local/share/opencode/opencode.db
}

# bats test_tags=slow
@test "copilot: answers in the box, remembers, and what it writes runs nowhere else" {
	live copilot .copilot/session-store.db
}

# bats test_tags=slow
@test "qwen: answers in the box, remembers, and what it writes runs nowhere else" {
	live qwen .qwen/installation_id
}

@test "claude: a conversation is continued outside, without the permissions of the box" {
	local id=11111111-2222-4333-8444-555555555555

	have claude
	export ANTHROPIC_API_KEY=$KEY
	agentbox run --profile claude --allow models.test --unknown deny -- \
		claude -p hello --dangerously-skip-permissions --session-id "$id"
	[ "$status" -eq 0 ]
	grep -q bypassPermissions "$HOME"/.claude/projects/*/"$id.jsonl"
	echo 'touch ran' >make
	run inside timeout 200 claude -p 'RUN(sh make)' --resume "$id" </dev/null 3>&-
	echo "$output"
	[ "$status" -eq 0 ]
	[ ! -e ran ]
	[[ "$output" == *"requires approval"* ]]
	# With them it would run.
	run inside timeout 200 claude -p 'RUN(sh make)' --dangerously-skip-permissions </dev/null 3>&-
	echo "$output"
	[ -e ran ]
}

# interactive: start Claude Code in the box on the terminal, where agentbox could ask.
interactive()
{
	local -a WAY

	find_way
	tty_start "${WAY[@]}" "$AGENTBOX" run --profile claude --allow models.test -- claude
	tty_resize 100 40
}

# press_for KEY REGEX: press KEY in a dialogue until the screen matches. A key that was
# pressed before the dialogue reads is lost.
press_for()
{
	tty_key "$1"
	wait_for 45 tty_matches "$2" && return 0
	tty_key "$1"
	tty_wait "$2"
}

@test "claude: the terminal remembers the first dialogue, the key and the trusted folder" {
	have claude
	unset DISABLE_AUTOUPDATER CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC
	export ANTHROPIC_API_KEY=$KEY
	interactive
	tty_wait 'Dark mode'
	press_for Enter 'use this API key'
	press_for Up '❯ 1. Yes'
	press_for Enter 'Press Enter to continue'
	press_for Enter 'Yes, I trust this folder'
	press_for Enter 'for shortcuts'
	tty_type "hello"
	tty_wait '❯.hello'
	tty_key Enter
	tty_wait '● pong'
	tty_type /exit
	tty_wait '❯./exit'
	tty_key Enter
	tty_end
	[ "$status" -eq 0 ]

	# Straight to the prompt.
	interactive
	tty_wait 'for shortcuts'
	tty_screen >"$TEST_DIR/screen"
	! grep -qE 'Dark mode|API key|trust' "$TEST_DIR/screen" || false
	tty_type "again"
	tty_wait '❯.again'
	tty_key Enter
	tty_wait '● pong'
	tty_type /exit
	tty_wait '❯./exit'
	tty_key Enter
	tty_end
	[ "$status" -eq 0 ]
	[ ! -e "$HOME/.claude.json" ]
	# Updates, telemetry and marketplaces asked for no approval.
	cat "$AGENTBOX_STATE"/runs/*/audit*.jsonl | jq -es 'length > 0 and all(.kind != "question")' >/dev/null
}

@test "claude, codex: a login that is renewed in the box comes back to the host" {
	have claude codex
	unset ANTHROPIC_API_KEY OPENAI_API_KEY
	mkdir -p "$HOME/.claude" "$HOME/.codex"
	cat >"$HOME/.claude/.credentials.json" <<-'END'
	{"claudeAiOauth":{"accessToken":"old","refreshToken":"old-refresh","expiresAt":1,
	 "scopes":["user:inference"],"subscriptionType":"max"},"mcpOAuth":{"mine":1}}
	END
	chmod 600 "$HOME/.claude/.credentials.json"
	agentbox run --profile claude --allow models.test --unknown deny -- claude -p hello
	[ "$status" -eq 0 ]
	[[ "$output" == *pong* ]]
	jq -e '.claudeAiOauth.accessToken == "renewed-access" and .mcpOAuth.mine == 1' \
		"$HOME/.claude/.credentials.json" >/dev/null
	[ "$(stat -c %a "$HOME/.claude/.credentials.json")" = 600 ]
	[[ "$output" == *".credentials.json was changed in the box and written back"* ]]

	cat >"$HOME/.codex/auth.json" <<-'END'
	{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"eyJhbGciOiJub25lIn0.eyJlbWFpbCI6ImFAYi5jIn0.e30",
	 "access_token":"eyJhbGciOiJub25lIn0.eyJleHAiOjF9.e30","refresh_token":"old-refresh","account_id":"acc"},
	 "last_refresh":"2020-01-01T00:00:00Z"}
	END
	CODEX_REFRESH_TOKEN_URL_OVERRIDE=http://models.test/oauth/token \
		agentbox run --profile codex --allow models.test --unknown deny \
		--pass-env CODEX_REFRESH_TOKEN_URL_OVERRIDE -- codex exec \
		--skip-git-repo-check -s danger-full-access -c model_provider=x \
		-c 'model_providers.x={name="x",base_url="http://models.test/v1",wire_api="responses",requires_openai_auth=true}' hello
	[ "$status" -eq 0 ]
	[[ "$output" == *pong* ]]
	jq -e '.tokens.refresh_token == "renewed-refresh" and .tokens.account_id == "acc"' \
		"$HOME/.codex/auth.json" >/dev/null
}

# bats test_tags=slow
@test "gemini: rm -rf of the home folder is refused, and the project is still there" {
	have gemini
	git init -q .
	echo work >file
	boxed gemini 'RUN(rm -rf ~/)'
	[[ "$output" == *"1 program was denied"*"rule recursive-delete-root"* ]]
	[ "$(cat file)" = work ]
	[ -e .git/HEAD ]
	# A harmless one runs.
	boxed gemini 'RUN(rm -rf ./file; echo it-ran)'
	[[ "$output" == *it-ran* ]]
	[ ! -e file ]
}

# codex_words WORD...: set WORDS to a prompt for Codex, with these options. This model is given plain
# tools.
codex_words()
{
	WORDS=(codex exec -m m --skip-git-repo-check -c model_provider=x
		-c 'model_providers.x={name="x",base_url="http://models.test/v1",wire_api="responses",env_key="OPENAI_API_KEY"}'
		"$@")
}

# outside WORD...: run it in the test's network, outside any box.
outside()
{
	run inside timeout 200 "$@" </dev/null 3>&-
	printf '$ %s\n%s\n[status %s]\n' "$*" "$output" "$status"
}

# bats test_tags=slow
@test "claude, gemini: their hooks are called, deny, and box the rest" {
	local name

	have claude gemini
	for name in claude gemini; do
		[ $name = claude ] || words gemini x # its settings
		agentbox hook install --yes $name
		[ "$status" -eq 0 ]
		rm -f inside
		echo work >file
		unboxed $name 'RUN(touch ~/outside; touch inside; echo it-ran)'
		[[ "$output" == *it-ran* ]]
		[ -e inside ]
		[ ! -e "$HOME/outside" ]
		unboxed $name 'RUN(rm -rf ~/)'
		[[ "$output" == *recursive-delete-root* ]]
		[ "$(cat file)" = work ]
		# Nobody can be asked.
		unboxed $name 'RUN(git push)'
		[[ "$output" == *git-publish* ]]
	done
	# In a box the hook names the rule, too.
	boxed claude 'RUN(git push)'
	[[ "$output" == *"tool: "*git-publish* && "$output" != *"state folder"* ]]
}

@test "codex: its hook is called once it is trusted, denies, and boxes the rest" {
	local -a WORDS

	have codex
	agentbox hook install --yes codex
	[ "$status" -eq 0 ]
	[[ "$output" == *"trust the two hooks"* ]]
	agentbox hook status codex
	[ "$status" -eq 1 ]
	codex_words -s danger-full-access --dangerously-bypass-hook-trust 'RUN(touch ~/outside; touch inside; echo it-ran)'
	outside "${WORDS[@]}"
	[[ "$output" == *it-ran* ]]
	[ -e inside ]
	[ ! -e "$HOME/outside" ]
	echo work >file
	WORDS[-1]='RUN(rm -rf ~/)'
	outside "${WORDS[@]}"
	[[ "$output" == *recursive-delete-root* ]]
	[ "$(cat file)" = work ]
	# Not trusted, it is not called: what `install` and `status` say.
	codex_words -s danger-full-access 'RUN(touch ~/outside; echo it-ran)'
	outside "${WORDS[@]}"
	[ -e "$HOME/outside" ]
}

# bats test_tags=slow
@test "copilot: its hook is called, denies, and boxes the rest" {
	local -a WORDS

	have copilot
	agentbox hook install --yes copilot
	[ "$status" -eq 0 ]
	agentbox hook status copilot
	[ "$status" -eq 0 ]
	unboxed copilot 'RUN(touch ~/outside; touch inside; echo it-ran)'
	[[ "$output" == *it-ran* ]]
	[ -e inside ]
	[ ! -e "$HOME/outside" ]
	echo work >file
	unboxed copilot 'RUN(rm -rf ~/)'
	[[ "$output" == *recursive-delete-root* ]]
	[ "$(cat file)" = work ]
	agentbox hook uninstall --yes copilot
	unboxed copilot 'RUN(touch ~/outside; echo it-ran)'
	[ -e "$HOME/outside" ]
}

@test "claude, codex: commands run in the box though their own sandboxes cannot" {
	local -a WORDS

	have claude codex
	codex_words 'RUN(echo it-ran)'
	agentbox run --profile codex --allow models.test --unknown deny -- "${WORDS[@]}"
	[ "$status" -eq 0 ]
	[[ "$output" == *"tool: "*it-ran* ]]
	mkdir -p "$HOME/.claude"
	echo '{"sandbox":{"enabled":true}}' >"$HOME/.claude/settings.json"
	boxed claude 'RUN(echo it-ran)'
	[ "$status" -eq 0 ]
	[[ "$output" == *it-ran* ]]
	# Without the profile's words it is what this is about. Claude Code runs commands without its sandbox
	# if that does not start, unless it is told not to.
	export ANTHROPIC_API_KEY=$KEY
	agentbox run --profile claude --allow models.test --unknown deny -- \
		claude --settings '{"sandbox":{"enabled":true,"failIfUnavailable":true}}' -p 'RUN(echo it-ran)' --dangerously-skip-permissions
	[[ "$output" != *"tool: it-ran"* ]]
}

# settings JSON: the user's settings; the supervisor trusts the certificates of this internet.
settings()
{
	mkdir -p "$HOME/.config/agentbox"
	jq --arg ca "$NET/ca.pem" '.network.roots = [$ca]' <<<"$1" >"$HOME/.config/agentbox/config.json"
}

# origin_saw TEXT: a request to the services had this.
origin_saw()
{
	since_mark origin | jq -r '.head? // empty' | grep -qF -e "$1"
}

# bats test_tags=slow
@test "codex, copilot: their own variables are secrets, and the key is sent" {
	local real=sk-proj-0123456789abcdefghijklmnopqrstuvwxyz first
	local -a WORDS

	have codex copilot
	settings '{}'
	unset OPENAI_API_KEY OPENAI_BASE_URL COPILOT_PROVIDER_API_KEY
	export CODEX_API_KEY=$real COPILOT_GITHUB_TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz
	agentbox run --profile codex --secret CODEX_API_KEY -- sh -c 'echo "$CODEX_API_KEY"'
	[[ "$output" == sk-* && "$output" != *"$real"* ]]
	first=$output
	# The same in every run, so that an agent may store it.
	agentbox run --profile codex --secret CODEX_API_KEY -- sh -c 'echo "$CODEX_API_KEY"'
	[ "$output" = "$first" ]
	agentbox run --profile copilot --secret COPILOT_GITHUB_TOKEN -- sh -c 'echo "$COPILOT_GITHUB_TOKEN"'
	[[ "$output" == gh* && "$output" != *"$COPILOT_GITHUB_TOKEN"* ]]
	unset COPILOT_GITHUB_TOKEN

	agentbox run --profile codex --secret CODEX_API_KEY --unknown deny -- \
		codex exec -m m --skip-git-repo-check hello
	[ "$status" -eq 0 ]
	[[ "$output" == *pong* ]]
	origin_saw "Bearer $real"
	! origin_saw "$first" || false

	internet_mark
	export COPILOT_PROVIDER_API_KEY=$real COPILOT_PROVIDER_BASE_URL=https://models.test/v1
	agentbox run --profile copilot --secret COPILOT_PROVIDER_API_KEY -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"name the host of COPILOT_PROVIDER_BASE_URL"* ]]
	words copilot hello
	agentbox run --profile copilot --secret COPILOT_PROVIDER_API_KEY@models.test --unknown deny -- "${WORDS[@]}"
	[ "$status" -eq 0 ]
	[[ "$output" == *pong* ]]
	origin_saw "Bearer $real"

	# The variable that `codex exec` does not read, and the dialogue does.
	export OPENAI_API_KEY=$real
	agentbox run --profile codex --secret OPENAI_API_KEY -- codex exec --version
	[[ "$output" == *"does not read OPENAI_API_KEY; use --secret CODEX_API_KEY"* ]]
	agentbox run --profile codex --secret OPENAI_API_KEY -- codex --version
	[[ "$output" != *"does not read"* ]]
}

# bats test_tags=slow
@test "claude, opencode, gemini: the gateway, with and without /v1 in the URL" {
	local name key
	local -a WORDS

	have claude opencode gemini
	settings '{ "secrets": { "ANTHROPIC_API_KEY": { "via": "gateway" }, "GEMINI_API_KEY": { "via": "gateway" } } }'
	export GEMINI_API_KEY=AIzaSy0123456789abcdefghijklmnopqrstuvw
	for name in claude opencode gemini; do
		words $name hello
		unset ANTHROPIC_BASE_URL GOOGLE_GEMINI_BASE_URL
		export ANTHROPIC_API_KEY=$KEY
		key=$KEY
		[ $name != gemini ] || key=$GEMINI_API_KEY
		internet_mark
		agentbox run --profile $name --unknown deny -- "${WORDS[@]}"
		[ "$status" -eq 0 ]
		[[ "$output" == *pong* ]]
		origin_saw "$key"
	done
}
