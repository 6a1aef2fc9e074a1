# Which variables of the caller's environment the command gets.
# root-in-turn: the processes of root are held by other checks of the kernel
UNJUDGED=1
load helpers

# env_of ARG...: the box's environment, sorted, in $output.
env_of()
{
	run timeout --kill-after=5 60 "$AGENTBOX" run "$@" -- env
	output=$(LC_ALL=C sort <<<"$output")
	printf '%s\n[status %s]\n' "$output" "$status"
}

has()
{
	grep -qxF -- "$1" <<<"$output"
}

has_name()
{
	grep -q "^$1=" <<<"$output"
}

@test "environment: ordinary variables pass, secrets by name do not" {
	local name

	export ORDINARY=kept EDITOR=vi LANG=C.UTF-8 KEYBOARD=us TOKENIZER=fast
	# Not a secret key, nor the settings of kubectl.
	export RISK=low TASK_SKIP=1 KUBE_EDITOR=vi
	for name in GITHUB_TOKEN NPM_TOKEN AWS_SECRET_ACCESS_KEY OPENAI_API_KEY \
		DB_PASSWORD MYSQL_PWD SIGNING_KEY CI_JOB_JWT PGPASSFILE \
		KUBECONFIG STRIPE_SK STRIPE_SK_LIVE stripe_sk \
		SENTRY_DSN DATABASE_URL my_api_key Github_Token; do
		export "$name=hidden-value"
	done
	env_of
	[ "$status" -eq 0 ]
	has ORDINARY=kept
	has EDITOR=vi
	has KEYBOARD=us
	has TOKENIZER=fast
	has RISK=low
	has TASK_SKIP=1
	has KUBE_EDITOR=vi
	has "HOME=$HOME"
	has_name PATH
	[[ "$output" != *hidden-value* ]]
}

@test "environment: it arrives whole, also when the plan is longer than a message" {
	local size

	for size in 10 31000 32768 33000 100000; do
		LONG=$(head -c "$size" /dev/zero | tr '\0' x)
		export LONG
		run timeout --kill-after=5 60 "$AGENTBOX" run -- sh -c 'echo ${#LONG}'
		[ "$output" = "$size" ]
	done
}

@test "environment: doors to the host and code before the command's own are closed" {
	local name

	for name in SSH_AUTH_SOCK DBUS_SESSION_BUS_ADDRESS DOCKER_HOST DISPLAY \
		WAYLAND_DISPLAY XAUTHORITY GPG_AGENT_INFO TMUX NOTIFY_SOCKET \
		BASH_ENV ENV PERL5OPT RUBYOPT PYTHONSTARTUP \
		GIT_ASKPASS GIT_CONFIG_COUNT AGENTBOX_NET; do
		export "$name=x-marks-it"
	done
	export AGENTBOX_NET=blocked
	env_of
	[ "$status" -eq 0 ]
	[[ "$output" != *x-marks-it* ]]
	[[ "$output" != *AGENTBOX_* ]]
}

@test "environment: LD_PRELOAD and its kin do not come in" {
	# A dynamic build's own loader may complain on standard error.
	run --separate-stderr env LD_PRELOAD=/nonexistent.so \
		LD_LIBRARY_PATH=/nowhere GLIBC_TUNABLES=x LD_AUDIT=/a.so \
		"$AGENTBOX" run -- env
	[ "$status" -eq 0 ]
	[[ "$output" != *LD_* ]]
	[[ "$output" != *GLIBC_TUNABLES* ]]
	# By name it can be had.
	env_of --env LD_LIBRARY_PATH=/nowhere
	has LD_LIBRARY_PATH=/nowhere
}

@test "environment: the box's own variables are set" {
	TMPDIR=/somewhere env_of
	has TMPDIR=/tmp
	has SANDBOX_RUNTIME=1
	agentbox run -- sh -c 'cd "$TMPDIR" && mktemp'
	[ "$status" -eq 0 ]
	# The id of the run, also in a run inside.
	agentbox run -- sh -c 'echo "$AGENTBOX"; "$0" run -- printenv AGENTBOX' "$AGENTBOX"
	[ "${lines[0]}" = "${lines[1]}" ]
	[[ "${lines[0]}" =~ ^[a-z0-9]{5}$ ]]
	agentbox run --env AGENTBOX=x -- true
	[ "$status" -eq 125 ]
	# Nobody inside or outside says otherwise.
	SANDBOX_RUNTIME=0 env_of
	has SANDBOX_RUNTIME=1
	agentbox run --env SANDBOX_RUNTIME=0 -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *SANDBOX_RUNTIME* ]]
}

@test "environment: --env sets, also empty, odd and repeated" {
	env_of --env A=1 --env B= --env 'C=x y=z' --env A=2
	[ "$status" -eq 0 ]
	has A=2
	has B=
	has 'C=x y=z'
	[ "$(grep -c '^A=' <<<"$output")" -eq 1 ]
	A=outside env_of --env A=inside
	has A=inside
	[ "$(grep -c '^A=' <<<"$output")" -eq 1 ]
	# Even a name that would be stripped: the user said it.
	env_of --env MY_TOKEN=abc
	has MY_TOKEN=abc
	agentbox run --env TMPDIR=/var/tmp -- sh -c 'echo $TMPDIR'
	[ "$output" = /var/tmp ]
}

@test "environment: --env without a name or a value is refused" {
	agentbox run --env NOVALUE -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *NOVALUE* ]]
	agentbox run --env =x -- true
	[ "$status" -eq 125 ]
}

@test "environment: --pass-env keeps what a rule would strip, and only that" {
	export MY_TOKEN=wanted OTHER_TOKEN=unwanted
	env_of --pass-env MY_TOKEN
	has MY_TOKEN=wanted
	[[ "$output" != *unwanted* ]]
	# What the caller does not have does not appear.
	env_of --pass-env NOT_THERE_TOKEN
	[ "$status" -eq 0 ]
	[[ "$output" != *NOT_THERE* ]]
}

@test "environment: --pass-env NAME=VARIABLE passes a value by another name, and the record does not have it" {
	export AGENTBOX_MINE="a=b c" OTHER_TOKEN=unwanted
	env_of --pass-env LD_PRELOAD_X=AGENTBOX_MINE --pass-env NONE=NOT_THERE_TOKEN
	[ "$status" -eq 0 ]
	has "LD_PRELOAD_X=a=b c"
	[[ "$output" != *AGENTBOX_MINE* && "$output" != *unwanted* && "$output" != *NONE* ]]
	! grep -rqF "a=b c" "$AGENTBOX_STATE" || false
	# The later option counts.
	env_of --pass-env X=AGENTBOX_MINE --env X=later
	has X=later
	# Not the names that are ours; and no name at all is none.
	for name in AGENTBOX AGENTBOX_STATE 'A B' ''; do
		agentbox run --pass-env "$name=AGENTBOX_MINE" -- true
		[ "$status" -eq 125 ]
	done
}

@test "environment: --pass-env with a name or a variable missing is refused" {
	local text why

	echo '{"mcpServers":{"one":{"command":"x"}}}' >servers.json
	cp servers.json before
	while IFS='|' read -r text why; do
		for command in "run --pass-env $text -- true" "exec --pass-env $text -- true" "check --pass-env $text true" \
			"config show --pass-env $text" "mcp wrap --yes --pass-env $text servers.json" \
			"hook install claude-code --yes --pass-env $text" "hook install codex --project --yes --pass-env $text"; do
			# shellcheck disable=SC2086 # these are words
			agentbox $command
			[[ "$status" -ne 0 && "$output" == *"--pass-env: $why"* ]]
		done
		cmp servers.json before
		[ ! -e "$HOME/.claude" ]
		[ ! -e .codex ]
	done <<-'END'
	A=|"A=" does not name the variable that has the value
	A=B=C|"A=B=C" does not name the variable that has the value
	=|"=" does not name the variable that has the value
	=X|"" is not a valid variable name
	A/B=X|"A/B" is not a valid variable name
	AGENTBOX=X|"AGENTBOX" is reserved for agentbox
	END
	agentbox run --pass-env A= -- true
	[[ "$output" == *"use NAME, or NAME=VARIABLE"* ]]
	# The allowed twins: both names are there, the variable need not be.
	agentbox run --pass-env A=NOT_THERE -- true
	[ "$status" -eq 0 ]
	agentbox mcp wrap --yes --pass-env A=NOT_THERE servers.json
	[ "$status" -eq 0 ]
	agentbox hook install claude-code --yes --pass-env A=NOT_THERE
	[ "$status" -eq 0 ]
	grep -q 'A=NOT_THERE' "$HOME/.claude/settings.json"
	# Nothing is wrapped with other options that no run accepts; they can always be taken away.
	cp servers.json before
	agentbox mcp wrap --yes --allow 'not a host' servers.json
	[[ "$status" -ne 0 && "$output" == *"--allow"* ]]
	cmp servers.json before
	agentbox mcp wrap --yes --undo --allow 'not a host' servers.json
	[ "$status" -eq 0 ]
	[ "$(jq -c . servers.json)" = '{"mcpServers":{"one":{"command":"x"}}}' ]
}

@test "environment: an own strip rule holds, and the list mode lets nothing else in" {
	export SPECIAL_THING=a ORDINARY=b
	printf '{ "env": { "strip": ["SPECIAL_*"] } }' >"$TEST_DIR/c.json"
	env_of --config "$TEST_DIR/c.json"
	! has_name SPECIAL_THING || false
	has ORDINARY=b
	printf '{ "env": { "mode": "listed", "pass": { "only": ["PATH", "ORDINARY"] } } }' >"$TEST_DIR/c.json"
	env_of --config "$TEST_DIR/c.json" --env ADDED=c
	[ "$status" -eq 0 ]
	has ORDINARY=b
	has ADDED=c
	has SANDBOX_RUNTIME=1
	has TMPDIR=/tmp
	! has_name SPECIAL_THING || false
	! has_name HOME || false
}

@test "environment: entries that are none, and doubled names, do no harm" {
	cat >"$TEST_DIR/odd.py" <<-'PYTHON'
	import ctypes, os, sys
	libc = ctypes.CDLL(None)
	argv = [os.environb[b"AGENTBOX"], b"run", b"--", b"cat", b"/proc/self/environ"]
	env = [b"PATH=/usr/bin:/bin", b"HOME=" + os.environb[b"HOME"],
	       b"AGENTBOX_STATE=" + os.environb[b"AGENTBOX_STATE"],
	       b"no-equals-sign", b"=empty-name", b"", b"DOUBLE=1", b"DOUBLE=2",
	       b"LD_PRELOAD=/x", b"LD_PRELOAD", b"BYTES=\xff\xfe\x01",
	       b"X=a=b", b"FOO_TOKEN=1", b"A_TOKEN=" + b"s" * 50000]
	array = lambda l: (ctypes.c_char_p * (len(l) + 1))(*l, None)
	libc.execve(argv[0], array(argv), array(env))
	PYTHON
	run python3 "$TEST_DIR/odd.py"
	[ "$status" -eq 0 ]
	python3 "$TEST_DIR/odd.py" >seen
	python3 - <<-'PYTHON'
	entries = open("seen", "rb").read().split(b"\0")
	names = [e.split(b"=")[0] for e in entries if e]
	assert len(names) == len(set(names)), names
	assert all(b"=" in e for e in entries if e), entries
	assert b"LD_PRELOAD" not in names and b"FOO_TOKEN" not in names
	assert b"A_TOKEN" not in names and b"" not in names
	assert b"BYTES=\xff\xfe\x01" in entries and b"X=a=b" in entries
	PYTHON
}

@test "environment: an empty environment works" {
	run env -i "AGENTBOX_STATE=$AGENTBOX_STATE" "$AGENTBOX" run -- sh -c 'echo ok'
	[ "$status" -eq 0 ]
	[ "$output" = ok ]
}

@test "environment: the environment of init is closed to the command" {
	export ORDINARY=visible-value
	agentbox run -- sh -c 'tr "\0" "\n" </proc/self/environ'
	[[ "$output" == *visible-value* ]]
	agentbox run -- sh -c 'tr "\0" "\n" </proc/1/environ'
	[ "$status" -ne 0 ]
	[[ "$output" != *visible-value* ]]
}

@test "environment: proxies of the host are not handed in, the host's network keeps them" {
	export https_proxy=http://proxy.invalid:1 NO_PROXY=x
	env_of --net blocked
	! has_name https_proxy || false
	env_of --profile development
	has https_proxy=http://proxy.invalid:1
}

@test "environment: where there is a door it is the proxy, in both cases" {
	export https_proxy=http://proxy.invalid:1 NO_PROXY=x
	env_of
	for name in HTTP_PROXY HTTPS_PROXY FTP_PROXY http_proxy https_proxy ftp_proxy; do
		has "$name=http://127.0.0.1:61080"
	done
	has ALL_PROXY=socks5h://127.0.0.1:61080
	has all_proxy=socks5h://127.0.0.1:61080
	has NO_PROXY=localhost,127.0.0.1,::1
	has no_proxy=localhost,127.0.0.1,::1
	# Connections are captured, so ssh needs nothing.
	! has_name GIT_SSH_COMMAND || false
	env_of --env https_proxy=http://mine:2
	has https_proxy=http://mine:2
	env_of --net blocked
	! has_name HTTP_PROXY || false
}

@test "environment: a value that is a credential does not enter, whatever its name is" {
	export A1=ghp_16C7e42F292c6912E7710c838347Ae178B4a
	export A2=sk-ant-api03-abcdefghijklmnop0123456789
	export A3=AKIAIOSFODNN7EXAMPLE
	export A4=$'-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA\n-----END OPENSSH PRIVATE KEY-----'
	export A5=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N
	export A6=https://hooks.slack.com/services/T000/B000/XXXX
	# Without digits, by chance and always.
	export A7=glpat-xKqWbTzLmVdRyHsNcPfG A8=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
	export TOKEN_GITHUB=x GITHUB_TOKEN2=x DBPASS=x SMTP_PW=x APPKEY=x SIGNING_KEY_BASE64=x \
		SLACK_WEBHOOK=x JWT=x CREDS=x BEARER=x
	# The twins: ordinary ones that look a little like these.
	export B1=sk-learn-tutorial-environment B3=hf_transfer_of_a_model_with_a_long_name MONKEY=1 KEYBOARD_LAYOUT=us TOKENIZERS_PARALLELISM=false \
		GPG_TTY=/dev/pts/1 B2=2f1acc6c3a606b082e5eef5e54414ffb5d2e2b3c
	agentbox_split run -v -- env
	[ "$status" -eq 0 ]
	! grep -E '^(A[1-8]|TOKEN_GITHUB|GITHUB_TOKEN2|DBPASS|SMTP_PW|APPKEY|SIGNING_KEY_BASE64|SLACK_WEBHOOK|JWT|CREDS|BEARER)=' <<<"$output" || false
	[ "$(grep -cE '^(B[123]|MONKEY|KEYBOARD_LAYOUT|TOKENIZERS_PARALLELISM|GPG_TTY)=' <<<"$output")" -eq 7 ]
	# It says which, why, and how to pass one.
	[[ "$stderr" == *"--pass-env NAME passes one"*"A4 (looks like a private key)"* ]]
	[[ "$stderr" == *"A5 (looks like a web token)"* ]]
	[[ "$stderr" != *ghp_* ]]
	agentbox why A1
	[ "$status" -eq 0 ]
	[[ "$output" == "A1 is not passed to the box: its value looks like a key of a known service."*"--pass-env A1"* ]]
	agentbox why DBPASS
	[[ "$output" == "DBPASS is not passed to the box: env.strip matches its name."* ]]
	agentbox why B1
	[ "$output" = "B1 is passed to the box." ]
	agentbox why NOT_SET_HERE
	[ "$status" -eq 1 ]
	[[ "$output" == *"if it is a variable: NOT_SET_HERE is not set in this shell" ]]
	agentbox run --pass-env A1 -- sh -c 'echo "$A1"'
	[ "$output" = "$A1" ]
}

@test "environment: a URL loses its login, and is passed whole if you say so" {
	export PIP_INDEX_URL=https://me:pass-word@pypi.example/simple
	export GOPROXY=https://me:pass-word@go.example,https://proxy.golang.org,direct
	export POSTGRES_URL=postgres://me:pass-word@db.example:5432/app
	export DOCS_URL=https://me@docs.example/a:b@c
	agentbox_split run -v -- sh -c 'printf "%s\n" "$PIP_INDEX_URL" "$GOPROXY" "$POSTGRES_URL" "$DOCS_URL"'
	[ "$status" -eq 0 ]
	diff -u - <(printf '%s\n' "$output") <<-END
	https://pypi.example/simple
	https://go.example,https://proxy.golang.org,direct
	postgres://db.example:5432/app
	https://me@docs.example/a:b@c
	END
	[[ "$stderr" == *"PIP_INDEX_URL is passed without the user and password in its URL"* ]]
	[[ "$stderr" != *pass-word* && "$stderr" != *DOCS_URL* ]]
	agentbox run --pass-env PIP_INDEX_URL -- sh -c 'echo "$PIP_INDEX_URL"'
	[ "$output" = "$PIP_INDEX_URL" ]
}
