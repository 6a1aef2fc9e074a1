# root-in-turn: files of root are trusted by other rules of ownership
load helpers

# `agentbox secrets`: what it says, and what it must never say. Values are made
# up; each test that has one looks for it in all that was said.

VALUE=sk-zq4Tn8Wv2Lk6Hd0Xc5Rb9Ym3

unset OPENAI_API_KEY ANTHROPIC_API_KEY GITHUB_TOKEN GH_TOKEN AWS_SECRET_ACCESS_KEY

# config JSON: the user's file.
config()
{
	mkdir -p "$HOME/.config/agentbox"
	printf '%s\n' "$1" >"$HOME/.config/agentbox/config.json"
}

# untold: nothing of a value is in what was said.
untold()
{
	[[ "$output${stderr:-}" != *"${VALUE:0:12}"* ]] &&
		[[ "$output${stderr:-}" != *"${VALUE: -8}"* ]]
}

# field NAME KEY: of a list as JSON.
field()
{
	jq -c --arg name "$1" --arg key "$2" \
		'.secrets[] | select(.name == $name)[$key]' <<<"$output"
}

@test "secrets list: without any it says how to name one" {
	agentbox secrets list
	[ "$status" -eq 0 ]
	[[ "$output" == "this policy has no secrets"*"--secret"* ]]
	run "$AGENTBOX" secrets list --json
	[ "$(jq -c '[.secrets, .unused]' <<<"$output")" = '[[],[]]' ]
}

@test "secrets list: names the keys of known services that are set, with the command that uses one" {
	export OPENAI_API_KEY=$VALUE GH_TOKEN=$VALUE ANTHROPIC_API_KEY= BUILD_TOKEN=$VALUE
	agentbox secrets list
	[ "$status" -eq 0 ]
	untold
	[ "$output" = 'this policy has no secrets

set in your environment; to use one as a secret:
  GitHub: agentbox run --secret GH_TOKEN -- ...
  OpenAI: agentbox run --secret OPENAI_API_KEY -- ...' ]
	agentbox run --secret OPENAI_API_KEY -- sh -c 'echo "$OPENAI_API_KEY"'
	[ "$status" -eq 0 ]
	[[ "$output" == sk-* ]]
	untold
	# One that is a secret is not named again.
	agentbox secrets list --secret OPENAI_API_KEY
	untold
	[[ "$output" == OPENAI_API_KEY*"to use one as a secret:"*"--secret GH_TOKEN -- ..." && "$output" != *"--secret OPENAI"* ]]
	agentbox_split secrets list --json
	untold
	[ "$(jq -c .unused <<<"$output")" = '[{"name":"GH_TOKEN","provider":"github","use":"agentbox run --secret GH_TOKEN -- ..."},{"name":"OPENAI_API_KEY","provider":"openai","use":"agentbox run --secret OPENAI_API_KEY -- ..."}]' ]
}

@test "secrets list: a known name has its hosts and carriers" {
	OPENAI_API_KEY=$VALUE agentbox secrets list --secret OPENAI_API_KEY
	[ "$status" -eq 0 ]
	untold
	[[ "${lines[0]}" =~ ^OPENAI_API_KEY\ +OpenAI$ ]]
	grep -qx '  source     variable OPENAI_API_KEY, set' <<<"$output"
	grep -qx '  hosts      api.openai.com:443' <<<"$output"
	grep -qx '  carried    bearer' <<<"$output"
	grep -qx '  variables  OPENAI_API_KEY' <<<"$output"
	grep -qx '  set by     --secret' <<<"$output"
}

@test "secrets list: the same as JSON" {
	OPENAI_API_KEY=$VALUE agentbox_split secrets list --json --secret OPENAI_API_KEY
	[ "$status" -eq 0 ]
	untold
	[ "$(field OPENAI_API_KEY provider)" = '"openai"' ]
	[ "$(field OPENAI_API_KEY from)" = '"env"' ]
	[ "$(field OPENAI_API_KEY source)" = '"OPENAI_API_KEY"' ]
	[ "$(field OPENAI_API_KEY state)" = '"set"' ]
	[ "$(field OPENAI_API_KEY wanted)" = true ]
	[ "$(field OPENAI_API_KEY hosts)" = '["api.openai.com:443"]' ]
	[ "$(field OPENAI_API_KEY as)" = '["bearer"]' ]
	[ "$(field OPENAI_API_KEY mode)" = '"swap"' ]
	[ "$(field OPENAI_API_KEY via)" = '"tls"' ]
	[ "$(field OPENAI_API_KEY onTripwire)" = '"refuse"' ]
}

@test "secrets list: says whether a variable or a file is there" {
	printf '%s\n' "$VALUE" >"$HOME/key"
	config '{ "secrets": {
		"A_KEY": { "hosts": ["a.example"] },
		"B_KEY": { "hosts": ["b.example"], "env": "OTHER_NAME" },
		"C_KEY": { "hosts": ["c.example"], "from": "file", "file": "~/key" },
		"D_KEY": { "hosts": ["d.example"], "from": "file", "file": "~/none", "key": "x.y" } } }'
	B_KEY=no OTHER_NAME=$VALUE agentbox secrets list
	[ "$status" -eq 0 ]
	untold
	grep -qx '  source     variable A_KEY, not set: runs skip it' <<<"$output"
	grep -qx '  source     variable OTHER_NAME, set' <<<"$output"
	grep -qx "  source     file $HOME/key, present" <<<"$output"
	grep -qx "  source     file $HOME/none at x.y, missing" <<<"$output"
	run "$AGENTBOX" secrets list --json
	[ "$(field A_KEY state)" = '"unset"' ]
	[ "$(field B_KEY state)" = '"unset"' ]
	[ "$(field C_KEY state)" = '"there"' ]
	[ "$(field D_KEY state)" = '"missing"' ]
	[ "$(field D_KEY key)" = '"x.y"' ]
}

@test "secrets list: a file that cannot be read is one" {
	only_user
	printf '%s\n' "$VALUE" >"$HOME/key"
	chmod 0 "$HOME/key"
	config '{ "secrets": { "A_KEY": { "hosts": ["a.example"], "from": "file", "file": "~/key" } } }'
	agentbox secrets list
	[ "$status" -eq 0 ]
	grep -qx "  source     file $HOME/key, cannot be read" <<<"$output"
}

@test "secrets list: runs no command, and keeps its arguments to itself" {
	config '{ "secrets": { "A_KEY": { "hosts": ["a.example"], "from": "command",
		"command": ["/bin/sh", "-c", "echo '$VALUE' | tee '$PWD'/ran"] } } }'
	agentbox secrets list
	[ "$status" -eq 0 ]
	untold
	[ ! -e ran ]
	grep -qx '  source     command /bin/sh, not run for this list' <<<"$output"
	agentbox secrets check
	[ "$status" -eq 0 ]
	untold
	[ -e ran ]
}

@test "secrets list: everything that was asked for is shown" {
	config '{ "secrets": {
		"A_KEY": { "hosts": ["a.example:8443", "*.b.example"], "as": "header:x-key",
			"also": ["body"], "require": true, "placeholder": "stable",
			"names": ["B_KEY"], "files": ["~/.netrc"], "onTripwire": "stop" },
		"C_KEY": { "hosts": ["c.example"], "as": "header:x-key",
			"mode": "inject", "format": "Key {}" },
		"GROQ_API_KEY": { "via": "gateway" } } }'
	agentbox_split secrets list --json
	[ "$status" -eq 0 ]
	[ "$(field A_KEY hosts)" = '["a.example:8443","*.b.example:443"]' ]
	[ "$(field A_KEY as)" = '["header:x-key"]' ]
	[ "$(field A_KEY also)" = '["body"]' ]
	[ "$(field A_KEY mode)" = '"swap"' ]
	[ "$(field A_KEY require)" = true ]
	[ "$(field A_KEY placeholder)" = '"stable"' ]
	[ "$(field A_KEY names)" = '["A_KEY","B_KEY"]' ]
	[ "$(field A_KEY files)" = "[\"$HOME/.netrc\"]" ]
	[ "$(field A_KEY onTripwire)" = '"stop"' ]
	[[ "$(field A_KEY origin)" == *config.json:2\" ]]
	[ "$(field C_KEY mode)" = '"inject"' ]
	[ "$(field C_KEY format)" = '"Key {}"' ]
	[ "$(field GROQ_API_KEY via)" = '"gateway"' ]
	agentbox secrets list
	grep -qE '^  how +replaces its placeholder, inside TLS; .* denied; .* every workspace; misuse ends the run$' <<<"$output"
	grep -qE '^  how +injected into every request as Key \{\}, inside TLS$' <<<"$output"
	grep -qE '^  how +replaces its placeholder, at the gateway$' <<<"$output"
}

@test "secrets list: says that nothing is put in where there is no door" {
	agentbox_split secrets list --secret OPENAI_API_KEY
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	agentbox_split secrets list --secret OPENAI_API_KEY --net blocked
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"no secret is injected"* ]]
}

@test "secrets list: fits on 80 columns" {
	agentbox secrets list --secret GITHUB_TOKEN --secret HF_TOKEN
	[ "$status" -eq 0 ]
	run awk 'length > 80' <<<"$output"
	[ -z "$output" ]
}

@test "secrets list: names credentials that nothing covers" {
	mkdir -p "$HOME/.aws"
	printf 'aws_secret_access_key = %s\n' "$VALUE" >"$HOME/.aws/credentials"
	agentbox secrets list
	[ "$status" -eq 0 ]
	untold
	[[ "$output" != *AWS_SECRET_ACCESS_KEY* ]]
	AWS_SECRET_ACCESS_KEY=$VALUE agentbox secrets list --pass-env AWS_SECRET_ACCESS_KEY
	[ "$status" -eq 0 ]
	untold
	[[ "$output" == *"not covered:"*AWS_SECRET_ACCESS_KEY* ]]
	AWS_SECRET_ACCESS_KEY=$VALUE agentbox_split secrets list --json --pass-env AWS_SECRET_ACCESS_KEY
	[[ "$(jq -r '.uncovered[]' <<<"$output")" == *AWS_SECRET_ACCESS_KEY* ]]
	untold
}

@test "secrets providers: each has a name, a variable, a host and a carrier" {
	agentbox secrets providers
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" =~ ^PROVIDER\ +VARIABLES\ +HOSTS\ +CARRIED\ +GATEWAY$ ]]
	grep -qE '^openai +OPENAI_API_KEY +api.openai.com +bearer +OPENAI_BASE_URL$' <<<"$output"
	grep -qE '^anthropic +ANTHROPIC_API_KEY +api.anthropic.com +header:x-api-key ' <<<"$output"
	! grep -q ' $' <<<"$output" || false
	agentbox_split secrets providers --json
	[ "$status" -eq 0 ]
	[ "$(jq length <<<"$output")" -ge 15 ]
	[ "$(jq '[.[] | select(.name != "" and .title != "" and (.variables | length) > 0
		and (.hosts | length) > 0 and (.as | length) > 0)] | length' <<<"$output")" -eq "$(jq length <<<"$output")" ]
	[ "$(jq -r '.[].name' <<<"$output")" = "$(jq -r '.[].name' <<<"$output" | LC_ALL=C sort -u)" ]
}

@test "secrets providers: every one of them is known by name alone" {
	local name
	for name in $("$AGENTBOX" secrets providers --json | jq -r '.[].variables[]'); do
		agentbox_split secrets list --json --secret "$name"
		[ "$status" -eq 0 ]
		[ "$(jq -r '.secrets[0].provider' <<<"$output")" != null ]
		[ "$(jq '.secrets[0].hosts | length' <<<"$output")" -gt 0 ]
	done
}

@test "secrets check: a value that can be used" {
	OPENAI_API_KEY=$VALUE agentbox secrets check --secret OPENAI_API_KEY
	[ "$status" -eq 0 ]
	untold
	[[ "${lines[0]}" =~ ^ok\ +OPENAI_API_KEY\ +variable\ OPENAI_API_KEY$ ]]
	OPENAI_API_KEY=$VALUE agentbox_split secrets check --json OPENAI_API_KEY
	[ "$status" -eq 0 ]
	untold
	[ "$(jq -c . <<<"$output")" = '{"ok":true,"secrets":[{"name":"OPENAI_API_KEY","problem":null,"remedy":null,"result":"ok"}]}' ]
}

@test "secrets check: a variable that was asked for and is not set" {
	agentbox secrets check OPENAI_API_KEY
	[ "$status" -eq 1 ]
	[[ "${lines[0]}" =~ ^fail\ +OPENAI_API_KEY\ .*"not set" ]]
	[[ "${lines[1]}" == *OPENAI_API_KEY* ]]
	agentbox secrets check MY_KEY@ci.test
	[ "$status" -eq 1 ]
	[[ "${lines[0]}" =~ ^fail\ +MY_KEY\ .*"not set" ]]
	# Nobody asked for it by name: a run leaves it out.
	config '{ "secrets": { "OPENAI_API_KEY": {} } }'
	agentbox secrets check
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" =~ ^unset\ +OPENAI_API_KEY\ .*"runs skip it"$ ]]
	agentbox_split secrets check --json
	[ "$(jq -r '.secrets[0].result' <<<"$output")" = unset ]
	[ "$(jq .ok <<<"$output")" = true ]
}

@test "secrets check: a value that is refused, and why" {
	OPENAI_API_KEY=zq4Tn8W agentbox secrets check OPENAI_API_KEY
	[ "$status" -eq 1 ]
	[[ "${lines[0]}" == fail*OPENAI_API_KEY*"shorter than 8"* ]]
	[[ "${lines[1]}" == *"set it"* ]]
	[[ "$output" != *zq4Tn8W* ]]
	OPENAI_API_KEY=zq4Tn8Wv agentbox secrets check OPENAI_API_KEY
	[ "$status" -eq 0 ]
	[[ "$output" != *zq4Tn8Wv* ]]
	OPENAI_API_KEY=$VALUE$'\a'$VALUE agentbox secrets check OPENAI_API_KEY
	[ "$status" -eq 1 ]
	untold
	OPENAI_API_KEY= agentbox secrets check OPENAI_API_KEY
	[ "$status" -eq 1 ]
	[[ "$output" == *empty* ]]
	OPENAI_API_KEY=" $VALUE " agentbox secrets check OPENAI_API_KEY
	[ "$status" -eq 0 ]
	untold
}

@test "secrets check: files and their keys" {
	printf '{ "a": { "b": "%s" }, "n": 7 }\n' "$VALUE" >"$HOME/tokens.json"
	config '{ "secrets": {
		"GOOD": { "hosts": ["a.example"], "from": "file", "file": "~/tokens.json", "key": "a.b" },
		"LOST": { "hosts": ["b.example"], "from": "file", "file": "~/tokens.json", "key": "a.c" },
		"GONE": { "hosts": ["c.example"], "from": "file", "file": "~/none" } } }'
	agentbox secrets check
	[ "$status" -eq 1 ]
	untold
	grep -qE "^ok +GOOD +file $HOME/tokens.json$" <<<"$output"
	grep -qE '^fail +LOST .*a\.c' <<<"$output"
	grep -qE "^fail +GONE .*$HOME/none" <<<"$output"
	# One that works is judged by itself.
	agentbox secrets check GOOD
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 1 ]
	agentbox_split secrets check --json GONE
	[ "$status" -eq 1 ]
	[ "$(jq -r '.secrets | map(.name) | join(" ")' <<<"$output")" = GONE ]
	[ "$(jq .ok <<<"$output")" = false ]
	[[ "$(jq -r '.secrets[0].problem' <<<"$output")" == *"$HOME/none"* ]]
}

@test "secrets check: a command that fails tells why, and nothing of its output" {
	config '{ "secrets": { "A_KEY": { "hosts": ["a.example"], "from": "command",
		"command": ["/bin/sh", "-c", "echo '$VALUE'; echo the store is locked: '$VALUE' >&2; exit 3"] } } }'
	agentbox secrets check
	[ "$status" -eq 1 ]
	untold
	[[ "$output" == *"the store is locked"* ]]
	config '{ "secrets": { "A_KEY": { "hosts": ["a.example"], "from": "command",
		"command": ["/nowhere/pass"] } } }'
	agentbox secrets check
	[ "$status" -eq 1 ]
	[[ "$output" == *"/nowhere/pass"* ]]
}

@test "secrets check: with nothing to check all is well" {
	agentbox secrets check
	[ "$status" -eq 0 ]
	[[ "$output" == *"no secrets"* ]]
}

@test "secrets rotate: names, a policy, JSON, and what has nothing to replace" {
	agentbox_split secrets rotate OPENAI_API_KEY MY_KEY@ci.test
	[ "$status" -eq 0 ]
	[ "$output" = "OPENAI_API_KEY has a new placeholder in every run that starts from now on"$'\n'"MY_KEY has a new placeholder in every run that starts from now on" ]
	[ "$(cat "$AGENTBOX_STATE/placeholders.rotated")" = '{"OPENAI_API_KEY":1,"MY_KEY":1}' ]
	[ "$(stat -c %a "$AGENTBOX_STATE/placeholders.rotated")" = 600 ]
	agentbox_split secrets rotate --json OPENAI_API_KEY
	[ "$status" -eq 0 ]
	[ "$(jq -c . <<<"$output")" = '{"active":[],"rotated":["OPENAI_API_KEY"]}' ]
	[ "$(jq -c '[.MY_KEY, .OPENAI_API_KEY]' "$AGENTBOX_STATE/placeholders.rotated")" = '[1,2]' ]
	# Without a name: those of the policy that stay the same from run to run.
	config '{ "secrets": { "GITHUB_TOKEN": {}, "X_KEY": { "hosts": ["x.test"], "placeholder": "run" } } }'
	agentbox_split secrets rotate --json
	[ "$(jq -c .rotated <<<"$output")" = '["GITHUB_TOKEN"]' ]
	agentbox secrets rotate X_KEY
	[ "$status" -ne 0 ]
	[[ "$output" == *"no secret with a placeholder that stays the same from run to run"* ]]
	agentbox secrets rotate NO_SUCH
	[ "$status" -ne 0 ]
	[[ "$output" == *"NO_SUCH is not a known service key"*"NO_SUCH@HOST"* ]]
	rm "$HOME/.config/agentbox/config.json"
	agentbox secrets rotate
	[ "$status" -ne 0 ]
	[[ "$output" == *"no secret with a placeholder that stays"*"agentbox secrets rotate OPENAI_API_KEY"* ]]
	[ "$(jq -c '[.GITHUB_TOKEN, .MY_KEY, .OPENAI_API_KEY]' "$AGENTBOX_STATE/placeholders.rotated")" = '[1,1,2]' ]
	# In a box there is no state folder to change.
	agentbox run -- "$AGENTBOX" secrets rotate OPENAI_API_KEY
	[ "$status" -ne 0 ]
	[[ "$output" == *"from inside a box"* ]]
}

@test "secrets rotate: a file that is broken stops a run with secrets, not another one" {
	local text

	mkdir -p -m 700 "$AGENTBOX_STATE"
	for text in '' '[]' '{"OPENAI_API_KEY":0}' '{"OPENAI_API_KEY":"1"}' '{"A":1,"A":2}' '{"A":9999999999}' '{"A":1'; do
		printf '%s' "$text" >"$AGENTBOX_STATE/placeholders.rotated"
		chmod 600 "$AGENTBOX_STATE/placeholders.rotated"
		OPENAI_API_KEY=$VALUE agentbox run --secret OPENAI_API_KEY -- true
		[ "$status" -eq 125 ]
		[[ "$output" == *"placeholders.rotated in the state folder is broken"*"remove both files"* ]]
		agentbox secrets rotate OPENAI_API_KEY
		[ "$status" -ne 0 ]
	done
	agentbox run -- true
	[ "$status" -eq 0 ]
	printf '{"OPENAI_API_KEY":1}' >"$AGENTBOX_STATE/placeholders.rotated"
	chmod 644 "$AGENTBOX_STATE/placeholders.rotated"
	OPENAI_API_KEY=$VALUE agentbox run --secret OPENAI_API_KEY -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"is not a file private to you"* ]]
	chmod 600 "$AGENTBOX_STATE/placeholders.rotated"
	OPENAI_API_KEY=$VALUE agentbox run --secret OPENAI_API_KEY -- true
	[ "$status" -eq 0 ]
}

@test "secrets: a project that nobody trusts adds none" {
	printf '{ "secrets": { "A_KEY": { "hosts": ["evil.example"], "from": "command", "command": ["/bin/sh", "-c", "touch %s/ran; echo %s"] } } }\n' "$PWD" "$VALUE" >.agentbox.json
	agentbox_split secrets list --json
	[ "$status" -eq 0 ]
	[ "$(jq -c .secrets <<<"$output")" = '[]' ]
	agentbox secrets check
	[ ! -e ran ]
	agentbox trust --yes
	[ "$status" -eq 0 ]
	agentbox secrets check
	[ "$status" -eq 0 ]
	[ -e ran ]
}

@test "secrets: mistakes say what would be right" {
	agentbox secrets
	[ "$status" -eq 2 ]
	[[ "$output" == *"list | providers | check"* ]]
	agentbox secrets lsit
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean secrets list?"* ]]
	agentbox secrets list extra
	[ "$status" -eq 2 ]
	agentbox secrets providers --jsno
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean --json?"* ]]
	agentbox secrets check OPENAI_API_KYE
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean OPENAI_API_KEY?"* ]]
	agentbox secrets check OPENAI_API_KEY="$VALUE"
	[ "$status" -eq 2 ]
	untold
}

@test "secrets: a mistake in a file is told with its place" {
	config '{ "secrets": { "A_KEY": { "hosts": ["a.example"], "as": "beerer" } } }'
	agentbox secrets list
	[ "$status" -eq 1 ]
	[[ "$output" == *config.json:1*A_KEY* ]]
}

@test "secrets: a key that signs is not a secret, and a run that gets one says so" {
	export AWS_SECRET_ACCESS_KEY=$VALUE
	agentbox_split run --secret AWS_SECRET_ACCESS_KEY@s3.example.com -- true
	[ "$status" -eq 125 ]
	[[ "$stderr" == *"AWS_SECRET_ACCESS_KEY cannot be replaced by a placeholder: AWS keys sign requests"* ]]
	agentbox_split run --pass-env AWS_SECRET_ACCESS_KEY -- sh -c 'echo "$AWS_SECRET_ACCESS_KEY"'
	[ "$status" -eq 0 ]
	[ "$output" = "$VALUE" ]
	[[ "$stderr" == *"AWS_SECRET_ACCESS_KEY is passed to the box: AWS keys sign requests; let the proxy sign: "*aws-sigv4* ]]
	# The same for a variable that names the file of such a key.
	export GOOGLE_APPLICATION_CREDENTIALS=$HOME/key.json
	agentbox_split run --secret GOOGLE_APPLICATION_CREDENTIALS@x.example.com -- true
	[ "$status" -eq 125 ]
	[[ "$stderr" == *"GOOGLE_APPLICATION_CREDENTIALS cannot be replaced"*"Google Cloud keys sign requests"* ]]
	agentbox_split run --pass-env GOOGLE_APPLICATION_CREDENTIALS -- true
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"GOOGLE_APPLICATION_CREDENTIALS is passed to the box: "*service_account* ]]
	# There is no other way for this one.
	ALIBABA_CLOUD_ACCESS_KEY_SECRET=$VALUE agentbox_split run --pass-env ALIBABA_CLOUD_ACCESS_KEY_SECRET -- true
	[[ "$stderr" == *"ALIBABA_CLOUD_ACCESS_KEY_SECRET is passed to the box and cannot be replaced by a placeholder"* ]]
	# It is not passed by itself, and then there is nothing to say.
	agentbox_split run -- sh -c 'echo "[$AWS_SECRET_ACCESS_KEY]"'
	[ "$output" = "[]" ]
	[ -z "$stderr" ]
}
