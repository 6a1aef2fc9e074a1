load helpers

own_profile()
{
	mkdir -p "$HOME/.config/agentbox/profiles"
	printf '%s' "$2" >"$HOME/.config/agentbox/profiles/$1.json"
}

# answer JQ VALUE ARG...: that part of the JSON answer is exactly this.
answer()
{
	local filter=$1 want=$2 got
	shift 2

	agentbox_split "$@" --json
	[ "$status" -eq 0 ] || return 1
	got=$(jq -c "$filter" <<<"$output")
	[ "$got" = "$want" ] && return 0
	echo "$filter: $got, not $want"
	return 1
}

@test "profile list: the built-in profiles, each with a line about it" {
	local name
	agentbox profile list
	[ "$status" -eq 0 ]
	for name in default read-only workspace-write workspace-write-whitelist \
		development ci claude codex gemini opencode copilot qwen; do
		grep -qE "^$name +[A-Z].*\.$" <<<"$output"
	done
	[ "${#lines[@]}" -eq 12 ]
	answer '[.[] | select(.about == "")]' '[]' profile list
	answer 'length' 12 profile list
}

@test "profile list: the user's own come after, and a built-in name stays built in" {
	own_profile mine '{ "extends": "ci" }'
	own_profile told $'// x\n{ "description": "For\\u001b[31m tests.", }'
	answer '.[12:] | map(.about)' "[\"$HOME/.config/agentbox/profiles/mine.json\",\"For\\u001b[31m tests.\"]" profile list
	agentbox profile list
	[[ "$output" == *'For\x1b[31m tests.'* ]]
	rm "$HOME/.config/agentbox/profiles/told.json"
	own_profile default '{ "network": { "mode": "allowed" } }'
	: >"$HOME/.config/agentbox/profiles/notes.txt"
	: >"$HOME/.config/agentbox/profiles/.hidden.json"
	answer '[.[].name] | .[12:]' '["mine"]' profile list
	answer '."network.mode"' '{"from":"profile default","value":"filtered"}' profile show default
}

@test "profile list: a name from the disk is escaped" {
	own_profile $'bad\033[31m' '{}'
	agentbox profile list
	[ "$status" -eq 0 ]
	[[ "$output" == *'bad\x1b[31m'* ]]
	[[ "$output" != *$'\033'* ]]
}

@test "profile show: the profile alone, without any other layer" {
	mkdir -p "$HOME/.config/agentbox"
	printf '{ "network": { "mode": "allowed" } }' >"$HOME/.config/agentbox/config.json"
	AGENTBOX_NET=allowed answer '."network.mode"' '{"from":"profile ci","value":"blocked"}' profile show ci
	answer '."filesystem.write"' '[]' profile show read-only
	answer '."filesystem.write" | length' 1 profile show workspace-write
}

@test "profile show: profiles do what the contract says of them" {
	answer '[."network.mode", ."network.unknown", ."assurance.fallback"] | map(.value)' \
		'["filtered","ask","strict"]' profile show default
	answer '[."network.mode", ."network.unknown", ."assurance.fallback"] | map(.value)' \
		'["blocked","deny","strict"]' profile show ci
	answer '[."network.mode", ."network.unknown", ."assurance.fallback"] | map(.value)' \
		'["filtered","deny","strict"]' profile show workspace-write-whitelist
	answer '[."network.mode", ."assurance.fallback"] | map(.value)' \
		'["allowed","warn"]' profile show development
	answer '[."network.allow"[].value | select(test("anthropic"))]' \
		'["*.anthropic.com"]' profile show claude
	answer '[."filesystem.write", ."filesystem.share" | map(.value)]' \
		"[[\"$WORKSPACE\"],[\"$HOME/.claude/projects\",\"$HOME/.claude/todos\"]]" profile show claude
	answer '[."filesystem.return"[].value, ."filesystem.home".value, ."commands.enforce".value]' \
		"[\"$HOME/.codex/auth.json\",\"kept\",\"children\"]" profile show codex
}

@test "profile show: one of the user's own builds on what it extends" {
	own_profile strict '{ "extends": "ci", "limits": { "timeout": "5m" } }'
	own_profile stricter '{ "extends": "strict", "limits": { "memory": "1G" } }'
	answer '[."network.mode", ."limits.timeout", ."limits.memory"] | map(.value)' \
		'["blocked","5m","1G"]' profile show stricter
	answer '."limits.timeout".from' '"~/.config/agentbox/profiles/strict.json:1"' profile show stricter
}

@test "profile show: a file is shown like a profile" {
	printf '{ "extends": "ci", "limits": { "timeout": "5m" } }' >x.json
	answer '."limits.timeout"' '{"from":"x.json:1","value":"5m"}' profile show ./x.json
	answer '."limits.timeout".value' '"5m"' profile show x.json
}

@test "profile show: an unknown one is an error that guesses" {
	agentbox profile show work-space-write
	[ "$status" -eq 2 ]
	[[ "$output" == *'unknown profile "work-space-write"'*'did you mean "workspace-write"?'* ]]
	agentbox profile show zzzzzzzzzzzz
	[ "$status" -eq 2 ]
	[[ "$output" == *"agentbox profile list"* ]]
	agentbox profile show ../../x
	[ "$status" -eq 2 ]
}

@test "profile show: a mistake in one of the user's own is named" {
	own_profile mine '{
"network": { "mode": "off" } }'
	agentbox profile show mine
	[ "$status" -eq 1 ]
	[[ "$output" == *"profiles/mine.json:2:14: network.mode: "* ]]
	# The others still work.
	agentbox profile show ci
	[ "$status" -eq 0 ]
}

@test "policy diff: says what each allows that the other does not" {
	agentbox policy diff ci development
	[ "$status" -eq 0 ]
	[[ "$output" == *"allowed by development, not by ci:"* ]]
	[[ "$output" == *"network.mode: allowed, not blocked"* ]]
	[[ "$output" == *"assurance.fallback: warn, not strict"* ]]
	[[ "$output" != *"allowed by ci"* ]]
	agentbox policy diff development ci
	[[ "$output" == *"allowed by development, not by ci:"* ]]
	[[ "$output" != *"allowed by ci"* ]]
}

@test "policy diff: both directions at once" {
	printf '{ "extends": "ci", "network": { "mode": "allowed" } }' >a.json
	printf '{ "extends": "ci", "filesystem": { "write": [".", "/srv"] }, "network": { "allow": ["x.example"] } }' >b.json
	answer '.aAllows' '[{"key":"network.mode","value":"allowed, not blocked"}]' policy diff a.json b.json
	answer '.bAllows' '[{"key":"filesystem.write","value":"/srv"},{"key":"network.allow","value":"x.example"}]' \
		policy diff a.json b.json
	answer '[.a, .b]' '["./b.json","a.json"]' policy diff ./b.json a.json
	answer '.aAllows | length' 2 policy diff ./b.json a.json
}

@test "policy diff: a policy and itself do not differ" {
	agentbox policy diff ci ci
	[ "$status" -eq 0 ]
	[ "$output" = "both allow the same" ]
	answer '[.aAllows, .bAllows]' '[[],[]]' policy diff default default
}

@test "policy diff: what is included is no difference" {
	printf '{ "network": { "allow": ["*.example.org:443"] }, "filesystem": { "write": ["/srv"] }, "env": { "pass": ["X_*"] } }' >wide.json
	printf '{ "network": { "allow": ["a.example.org:443"] }, "filesystem": { "write": ["/srv/a"] }, "env": { "pass": ["X_1"] } }' >narrow.json
	answer '.bAllows' '[]' policy diff wide.json narrow.json
	answer '[.aAllows[].key]' '["filesystem.write","network.allow","env.pass"]' policy diff wide.json narrow.json
}

@test "policy diff: a prohibition that is gone is an allowance, said once" {
	printf '{}' >a.json
	printf '{ "filesystem": { "denyWrite": ["!.vscode"], "denyRead": ["/srv/x"] } }' >b.json
	answer '.bAllows' '[{"key":"filesystem.denyWrite","value":"without .vscode"}]' policy diff a.json b.json
	answer '.aAllows' '[{"key":"filesystem.denyRead","value":"without /srv/x"}]' policy diff a.json b.json
}

@test "policy diff: files and profiles that are not there, or wrong" {
	agentbox policy diff ci nowhere.json
	[ "$status" -eq 2 ]
	[[ "$output" == **nowhere.json" does not exist"* ]]
	agentbox policy diff ci defualt
	[ "$status" -eq 2 ]
	[[ "$output" == *'"default"'* ]]
	printf '{ "x": 1 }' >x.json
	agentbox policy diff x.json ci
	[ "$status" -eq 1 ]
	[[ "$output" == *"x.json:1:3: x: unknown key"* ]]
	agentbox policy diff ci /dev/zero
	[ "$status" -eq 1 ]
}

@test "policy diff: text from a file is escaped" {
	printf '{ "env": { "set": { "A": "\\u001b[31m" } } }' >x.json
	agentbox policy diff default x.json
	[ "$status" -eq 0 ]
	[[ "$output" == *'A=\x1b[31m'* ]]
	[[ "$output" != *$'\033'* ]]
}

@test "policy diff: a secret, and a path that no rule has" {
	printf '%s' '{ "secrets": { "GITHUB_TOKEN": {} }, "network": { "http": [{ "host": "api.github.com", "paths": ["/repos/*"] }] } }' >a.json
	printf '%s' '{ "network": { "http": [{ "host": "api.github.com", "paths": ["/repos/x"] }] } }' >b.json
	agentbox policy diff ./a.json ./b.json
	[ "$status" -eq 0 ]
	[[ "$output" == *"a.json, not by ./b.json:"*'network.http: {"host":"api.github.com","paths":["/repos/*"]}'*"secrets: GITHUB_TOKEN={"* ]]
	[[ "$output" != *"allowed by ./b.json"* ]]
	agentbox policy diff ./a.json ./a.json
	[[ "$output" == *"both allow the same"* ]]
}

# listed: everything in the home folder, the workspace and the state folder.
listed()
{
	find "$HOME" "$WORKSPACE" "$AGENTBOX_STATE" -printf '%p %T@ %C@ %s\n' 2>/dev/null | sort
}

@test "run --dry-run: says what a run would be allowed to do, and does nothing" {
	local before
	git init -q . && rm -rf .git/hooks
	mkdir -p "$HOME/.ssh" "$HOME/data" && touch "$HOME/.ssh/id_x" .envrc
	agentbox allow "$HOME/data"
	[ "$status" -eq 0 ]
	before=$(listed)
	agentbox run --dry-run --allow @npm --deny x.example --timeout 30m \
		--secret OPENAI_API_KEY -- npm test
	[ "$status" -eq 0 ]
	[[ "$output" == *"verdict     sandboxed; it would run in the box"* ]]
	[[ "$output" == *"writes      "*"$WORKSPACE"* && "$output" == *"$HOME/data"* ]]
	[[ "$output" == *"allowed: @npm, api.openai.com:443; denied: x.example;"* ]]
	[[ "$output" == *"secrets     OPENAI_API_KEY for api.openai.com:443"* ]]
	[[ "$output" == *"limits      30m, "* && "$output" == *"Nothing was started."* ]]
	[ "${#lines[@]}" -le 14 ]
	agentbox run --dry-run -v -- npm test
	[[ "$output" == *"$HOME/.ssh"* && "$output" == *"$WORKSPACE/.envrc"* ]]
	answer '[.outcome, .write, .home, .network.unknown, .guarantees.proved]' \
		"[\"runs\",[\"$WORKSPACE\",\"$HOME/data\"],\"layered\",\"ask\",false]" \
		policy explain -c 'npm test'
	answer '[.hidden, .protected] | [(.[0] | index($ENV.HOME + "/.ssh/id_x") != null),
		(.[1] | index($ENV.WORKSPACE + "/.envrc") != null)]' '[true,true]' policy explain
	answer .reviewed "\"$WORKSPACE\"" policy explain --review
	[ "$before" = "$(listed)" ]
	# The plan is that of a run.
	echo 'cat ~/.ssh/id_x || echo x >.envrc || echo x >~/data/x' >s.sh
	agentbox run -- sh s.sh
	[ "$status" -eq 0 ]
	[ -e "$HOME/data/x" ]
	[ ! -s .envrc ]
}

@test "run --dry-run and policy explain: lent ssh keys and containers have a row, if there are any" {
	agentbox run --dry-run --ssh git.example.com --docker postgres:16 -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"ssh keys "*"for logins at git.example.com"* ]]
	[[ "$output" == *"containers "*"of postgres:16; without network"* ]]
	agentbox_split run --dry-run --json --ssh git.example.com --docker postgres:16 -- true
	[ "$(jq -c '[.ssh.hosts, .ssh.git, .docker.images, .docker.network]' <<<"$output")" = \
		'[["git.example.com:22"],false,["postgres:16"],"none"]' ]
	config='{ "ssh": { "hosts": ["git.example.com"], "sign": ["git"], "ask": "never", "maxSignatures": 5 } }'
	mkdir -p "$HOME/.config/agentbox"
	echo "$config" >"$HOME/.config/agentbox/config.json"
	agentbox policy explain
	[[ "$output" == *"ssh keys "*"git.example.com"*"commits and tags; without a question; 5 signatures"* ]]
	rm "$HOME/.config/agentbox/config.json"
	agentbox run --dry-run -- true
	[[ "$output" != *"ssh keys"* && "$output" != *containers* ]]
	agentbox_split run --dry-run --json -- true
	[ "$(jq -c '[.ssh, .docker]' <<<"$output")" = '[null,null]' ]
}

@test "run --dry-run: a folder that a run would create is not missing" {
	mkdir "$HOME/.codex"
	agentbox run --dry-run --profile codex -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"profile     codex"* && "$output" != *"cannot make"* ]]
	[ ! -e "$HOME/.codex/sessions" ]
	agentbox run --profile codex -- ls -d "$HOME/.codex/sessions"
	[ "$output" = "$HOME/.codex/sessions" ]
}

@test "run --dry-run: a refused command gets its status only in a run" {
	agentbox run --dry-run -- rm -rf /
	[ "$status" -eq 0 ]
	[[ "$output" == *"forbidden (rule recursive-delete-root): "*"exit status 126"* ]]
	agentbox run -- rm -rf /
	[ "$status" -eq 126 ]
	agentbox run --dry-run -- git push
	[ "$status" -eq 0 ]
	[[ "$output" == *"escalated (rule git-publish)"*"you would be asked first"* ]]
	answer '[.outcome, .status]' '["refused",126]' policy explain -c 'rm -rf /'
	agentbox run --dry-run --yes -- git push
	[[ "$output" == *"without a question"* ]]
	agentbox run --dry-run --net nowhere -- true
	[ "$status" -eq 125 ]
	agentbox run --json -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"--json needs --dry-run"* ]]
	agentbox run --dry-run --keep -- true
	[ "$status" -eq 125 ]
}

@test "policy test: says which expectation does not hold, and which mistake a file has" {
	mkdir -p "$HOME/.config/agentbox" "$HOME/.ssh" && : >"$HOME/.ssh/id_x"
	echo '{ "network": { "allow": ["github.com"], "deny": ["ads.test"] } }' >"$HOME/.config/agentbox/config.json"
	cat >t.json <<-'END'
	{ "tests": [ // what the team relies on
		{ "reach": "github.com", "expect": "allow" },
		{ "reach": "ads.test:8080", "expect": "deny", "reason": "never" },
		{ "reach": "other.test", "expect": "ask" },
		{ "read": "~/.ssh/id_x", "expect": "deny" },
		{ "write": "out", "expect": "allow" },
		{ "write": "/etc/hosts", "expect": "deny" },
		{ "run": "git push", "expect": "ask" },
		{ "run": "rm -rf /", "expect": "deny" },
	] }
	END
	agentbox policy test t.json
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "8 tests, 0 failed" ]
	agentbox policy test --profile ci t.json
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "8 tests, 2 failed" ]
	[[ "$output" == *"FAIL  reach github.com: deny, expected allow (line 2)"*"the network is blocked"* ]]
	agentbox_split policy test --json --profile ci t.json
	[ "$status" -eq 1 ]
	[ "$(jq -c 'map(select(.ok | not) | [.reach, .got])' <<<"$output")" = '[["github.com","deny"],["other.test","deny"]]' ]
	for text in '{}' '[]' '{ "tests": [] }' '{ "tests": [1] }' '{ "tests": [{ "reach": "x" }] }' '{ "tests": [' \
		'{ "tests": [{ "reach": "x.y", "read": "z", "expect": "allow" }] }' \
		'{ "tests": [{ "reach": "x.y", "expect": "maybe" }] }' '{ "tests": [{ "reech": "x", "expect": "ask" }] }'; do
		echo "$text" >w.json
		agentbox policy test w.json
		[ "$status" -eq 1 ]
		[[ "${lines[0]}" == "agentbox: w.json:"[12]":"* ]]
	done
	agentbox policy test nowhere.json
	[ "$status" -eq 2 ]
}
