# Sources of secrets, before and during a run: where values come from, what the
# box sees instead, and that the values are nowhere else.
# root-in-turn: files of root are trusted by other rules of ownership

load helpers

VALUE=sk-tv-Zq81mmWx0LrPq72kkB3
OTHER=sk-tv-other9Zx7Yw6Vu5Ts43
THIRD=xai-tv-third5Zx7Yw6Vu5Ts4

setup()
{
	box_setup
	export OPENAI_API_KEY=$VALUE
}

settings()
{
	mkdir -p "$HOME/.config/agentbox"
	cat >"$HOME/.config/agentbox/config.json"
}

no_value_in()
{
	! grep -aF -e "$VALUE" -e "$OTHER" <<<"$1" &&
		! grep -rlaF -e "$VALUE" -e "$OTHER" -e "$THIRD" "$AGENTBOX_STATE" || false
}

# held ARG...: a run that goes on until `let_go`.
held()
{
	launch run "$@" -- sh -c "echo up >up; while [ ! -e stop ]; do sleep 0.05; done; ${LAST:-}" \
		>"$TEST_DIR/out" 2>&1 &
	HELD=$!
	wait_for 90 test -e up
}

let_go()
{
	touch stop
	status=0
	wait "$HELD" || status=$?
	rm -f stop up
	cat "$TEST_DIR/out"
}

recorded()
{
	cat "$AGENTBOX_STATE"/*/*/audit.jsonl | grep -E "$1" >/dev/null
}

@test "secrets: the box has a placeholder of the same look and length" {
	agentbox_split run --secret OPENAI_API_KEY -- sh -c 'echo "$OPENAI_API_KEY"'
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ "$output" == sk-* ]]
	[ "${#output}" -eq "${#VALUE}" ]
	[ "$output" != "$VALUE" ]
	no_value_in "$output"
}

@test "secrets: without one the variable is not there at all" {
	agentbox_split run -- sh -c 'echo "(${OPENAI_API_KEY-unset})"'
	[ "$output" = "(unset)" ]
}

@test "secrets: other variables that hold the value have the placeholder" {
	export MY_URL="https://x:$VALUE@example.com/"
	MY_BASIC=$(printf 'x:%s' "$VALUE" | base64 -w0) MY_PLAIN=plain \
		agentbox_split run --yes --secret OPENAI_API_KEY -- env
	[[ "$output" == *"MY_PLAIN=plain"* ]]
	[[ "$output" == *"MY_URL=https://x:sk-"*"@example.com/"* ]]
	[[ "$output" == *"MY_BASIC="* ]]
	[[ "$output" != *"$(printf 'x:%s' "$VALUE" | base64 -w0)"* ]]
	no_value_in "$output"
}

# bats test_tags=root
@test "secrets: no process of the box, not the broker and not the guard, holds a value" {
	only_root
	! sanitized || skip "a sanitizer's memory is too large to be read"
	settings <<-'JSON'
	{ "commands": { "enforce": "children" },
	  "secrets": {
	    "GROQ_API_KEY": { "from": "file", "file": "~/keys.json", "key": "a.b" },
	    "XAI_API_KEY": { "from": "command", "command": ["sh", "-c", "cat ~/key"] } } }
	JSON
	echo "{\"x\": [1, \"y\"], \"a\": {\"b\": \"$OTHER\"}}" >"$HOME/keys.json"
	echo "$THIRD" >"$HOME/key"
	held --secret OPENAI_API_KEY
	printf '%s\n' "$PROCESSES" >"$TEST_DIR/before"
	our_processes >"$TEST_DIR/ours"
	cat "$TEST_DIR/ours"
	grep -q agentbox-broker "$TEST_DIR/ours"
	env LOOK_FOR="$VALUE $OTHER $THIRD" python3 - "$TEST_DIR/ours" "$TEST_DIR/before" <<-'PYTHON'
	import os, sys
	values = os.environb.pop(b'LOOK_FOR').split()
	before = {l.split()[0] for l in open(sys.argv[2]) if l.strip()}
	bad = []

	def memory(pid):
	    with open(f'/proc/{pid}/maps') as maps, \
	            open(f'/proc/{pid}/mem', 'rb', 0) as mem:
	        for line in maps:
	            span, rights = line.split()[:2]
	            if rights[0] != 'r' or line.rstrip().endswith(('[vvar]', '[vsyscall]')):
	                continue
	            at, end = (int(x, 16) for x in span.split('-'))
	            try:
	                mem.seek(at)
	                yield mem.read(end - at)
	            except OSError:
	                pass

	def look(pid, name):
	    parts = list(memory(pid))
	    for value in values:
	        for what in 'environ', 'cmdline':
	            if value in open(f'/proc/{pid}/{what}', 'rb').read():
	                bad.append((pid, name, what))
	        # The supervisor has it, in the vault and only there.
	        if sum(part.count(value) for part in parts) != (name == 'agentbox'):
	            bad.append((pid, name, 'memory', value))

	seen = set()
	for line in open(sys.argv[1]):
	    pid, _, name, _ = line.split()
	    if pid in before:
	        continue
	    try:
	        look(pid, name)
	        seen.add(name)
	    except (FileNotFoundError, ProcessLookupError):   # a command that is over
	        pass
	assert {'agentbox', 'agentbox-init', 'agentbox-broker', 'agentbox-guard'} <= seen, seen
	print(bad)
	sys.exit(bool(bad))
	PYTHON
	let_go
	[ "$status" -eq 0 ]
}

@test "secrets: one that is asked for must be there" {
	unset OPENAI_API_KEY
	agentbox run --secret OPENAI_API_KEY -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"OPENAI_API_KEY is not set"* ]]
}

@test "secrets: one of the settings is left out where it is not there" {
	unset OPENAI_API_KEY
	settings <<<'{ "secrets": { "OPENAI_API_KEY": {} } }'
	agentbox_split run -- sh -c 'echo "(${OPENAI_API_KEY-unset})"'
	[ "$output" = "(unset)" ]
	[ -z "$stderr" ]
	agentbox_split run -v -- true
	[[ "$stderr" == *"OPENAI_API_KEY is skipped"* ]]
}

@test "secrets: an empty one is refused" {
	OPENAI_API_KEY= agentbox run --secret OPENAI_API_KEY -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"OPENAI_API_KEY: empty value"* ]]
}

@test "secrets: a file with a key, read again when it changes" {
	settings <<-'JSON'
	{ "secrets": { "OPENAI_API_KEY": { "from": "file", "file": "~/keys.json", "key": "a.b" } } }
	JSON
	echo "{\"a\":{\"b\":\"$VALUE\"}}" >"$HOME/keys.json"
	held
	! recorded '"kind":"secret"' || false
	echo "{\"a\":{\"b\":\"$OTHER\"}}" >"$HOME/keys.json"
	wait_for 90 recorded '"kind":"secret".*"name":"OPENAI_API_KEY".*"event":"read"'
	let_go
	[ "$status" -eq 0 ]
	no_value_in "$(cat "$TEST_DIR/out")"
}

@test "secrets: a file that can be read no more leaves the value, and a word about it" {
	settings <<-'JSON'
	{ "secrets": { "OPENAI_API_KEY": { "from": "file", "file": "~/keys.json", "key": "a.b" } } }
	JSON
	echo "{\"a\":{\"b\":\"$VALUE\"}}" >"$HOME/keys.json"
	held
	echo "{\"a\": $OTHER" >"$HOME/keys.json"
	wait_for 90 recorded '"kind":"secret".*"event":"failed".*not JSON'
	let_go
	[ "$status" -eq 0 ]
	grep "cannot read OPENAI_API_KEY again" "$TEST_DIR/out"
	no_value_in "$(cat "$TEST_DIR/out")"
}

@test "secrets: a command's output, or the run does not begin" {
	echo "$VALUE" >"$HOME/key"
	settings <<-'JSON'
	{ "secrets": { "OPENAI_API_KEY": { "from": "command", "command": ["sh", "-c", "cat ~/key; $AND"] } } }
	JSON
	agentbox_split run -- sh -c 'echo "$OPENAI_API_KEY"'
	[ "$status" -eq 0 ]
	[[ "$output" == sk-* ]]
	[ "$output" != "$VALUE" ]
	AND="eval echo locked $VALUE >&2; exit 2" agentbox run -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"secret OPENAI_API_KEY: sh exited with status 2: locked ***"* ]]
	no_value_in "$output"
}

@test "secrets: a file that a value comes from is hidden, unless it is declared" {
	settings <<-JSON
	{ "secrets": {
	    "OPENAI_API_KEY": { "from": "file", "file": "~/keys.json", "key": "a.b" },
	    "GROQ_API_KEY": { "from": "file", "file": "$PWD/in/token" },
	    "XAI_API_KEY": { "from": "file", "file": "~/shown", "files": ["~/shown"] } } }
	JSON
	echo "{\"a\":{\"b\":\"$VALUE\"},\"c\":\"beside\"}" >"$HOME/keys.json"
	mkdir in
	echo "$OTHER" >in/token
	echo "$THIRD" >"$HOME/shown"
	agentbox run --yes -- sh -c 'cat ~/keys.json in/token; ln in/token other; mv in out; echo mine >in/token; cat ~/shown'
	[ "$status" -eq 0 ]
	! grep -e "$VALUE" -e "$OTHER" -e "$THIRD" -e beside <<<"$output" || false
	[[ "$output" == *xai-* ]]
	[ "$(cat in/token)" = "$OTHER" ]
}

@test "secrets: a file where the box can write is not read again" {
	echo "$VALUE" >token
	echo "$OTHER" >"$HOME/token"
	settings <<-JSON
	{ "secrets": {
	    "OPENAI_API_KEY": { "from": "file", "file": "$PWD/token" },
	    "GROQ_API_KEY": { "from": "file", "file": "~/token" } } }
	JSON
	held
	echo "$OTHER" >token
	echo "$VALUE" >"$HOME/token"
	wait_for 90 recorded '"kind":"secret".*"name":"GROQ_API_KEY".*"event":"read"'
	let_go
	[ "$status" -eq 0 ]
	! recorded '"kind":"secret".*"name":"OPENAI_API_KEY"' || false
}

@test "secrets: no link of the box's leads to the file that is read" {
	echo "$VALUE" >"$HOME/own"
	settings <<-JSON
	{ "secrets": { "OPENAI_API_KEY": { "from": "file", "file": "$PWD/token" } } }
	JSON
	ln -s "$HOME/own" token
	agentbox run -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"a link that the box could have created"* ]]
	ln -sf "$PWD/real" "$HOME/token"
	echo "$VALUE" >real
	settings <<<'{ "secrets": { "OPENAI_API_KEY": { "from": "file", "file": "~/token" } } }'
	agentbox run -- cat real
	[ "$status" -ne 0 ]
	[[ "$output" == *"denied"* ]]
	no_value_in "$output"
}

@test "secrets: what the box can write is not run on the host" {
	settings <<-JSON
	{ "secrets": { "OPENAI_API_KEY": { "from": "command", "command": ["sh", "$PWD/key.sh"] } } }
	JSON
	echo "echo $VALUE" >key.sh
	agentbox run -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"would use $PWD/key.sh on the host"* ]]
	mkdir bin
	ln -s "$(command -v false)" bin/cat
	echo "$VALUE" >"$HOME/key"
	settings <<<'{ "secrets": { "OPENAI_API_KEY": { "from": "command", "command": ["sh", "-c", "cat ~/key; pwd >~/where"] } } }'
	PATH=$PWD/bin:$PATH agentbox run -- true
	[ "$status" -eq 0 ]
	[ "$(cat "$HOME/where")" = / ]
}

@test "secrets: who sets their variables to something else is refused" {
	agentbox run --secret OPENAI_API_KEY --env OPENAI_API_KEY=x -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"--env sets OPENAI_API_KEY"* ]]
	agentbox run --secret OPENAI_API_KEY --env HTTPS_PROXY=http://10.0.0.1:3128 -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"--env sets HTTPS_PROXY"* ]]
	agentbox run --secret OPENAI_API_KEY --env SSL_CERT_FILE=/x -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"--env sets SSL_CERT_FILE"* ]]
	agentbox run --secret OPENAI_API_KEY --env FINE=x -- true
	[ "$status" -eq 0 ]
	agentbox run --env HTTPS_PROXY=http://10.0.0.1:3128 --env SSL_CERT_FILE=/x -- true
	[ "$status" -eq 0 ]
}

@test "secrets: a value on the command line is replaced and told of" {
	agentbox_split run --secret OPENAI_API_KEY -- printf '%s\n' "key $VALUE"
	[ "$status" -eq 0 ]
	[[ "$output" == "key sk-"* ]]
	[[ "$stderr" == *"command line contained the value"* ]]
	no_value_in "$output$stderr"
}

@test "secrets: a value in an option is not seen by who looks at processes" {
	local pid

	held --secret OPENAI_API_KEY --env "OTHER_NAME=$VALUE"
	for pid in $(our_processes | cut -d' ' -f1); do
		! tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -F "$VALUE" || false
	done
	let_go
	[ "$status" -eq 0 ]
}

@test "secrets: a command that is refused leaves no value in the record" {
	agentbox run --secret OPENAI_API_KEY -- rm -rf / "$VALUE"
	[ "$status" -eq 126 ]
	recorded '"kind":"refused"'
	no_value_in "$output"
}

@test "secrets: a command that is approved is remembered and asked about without a value" {
	local approver="tee '$HOME/asked' >/dev/null; echo '{\"answer\":\"always\"}'"

	agentbox run --secret OPENAI_API_KEY --approver "$approver" -- git push --force "https://x:$VALUE@h.invalid/"
	[ "$status" -ne 126 ]
	no_value_in "$(cat "$HOME/asked"; launch approvals list)"
	grep '"command":"git push --force https://x:\*\*\*' "$HOME/asked"
	agentbox run --secret OPENAI_API_KEY -- git push --force "https://x:$VALUE@h.invalid/"
	[ "$status" -ne 126 ]
	agentbox run --secret OPENAI_API_KEY -- git push --force "https://x:$OTHER@h.invalid/"
	[ "$status" -eq 126 ]
}

@test "secrets: a declared file is seen with placeholders, though it is hidden otherwise" {
	printf 'machine x\n\tpassword %s\n' "$VALUE" >"$HOME/.netrc"
	agentbox_split run --yes -- cat "$HOME/.netrc"
	[ "$status" -ne 0 ]
	settings <<<'{ "secrets": { "OPENAI_API_KEY": { "files": ["~/.netrc"] } } }'
	agentbox_split run --yes -- cat "$HOME/.netrc"
	[ "$status" -eq 0 ]
	[[ "$output" == "machine x"*"password sk-"* ]]
	no_value_in "$output"
	agentbox_split run --yes -- sh -c 'echo x >>~/.netrc'
	[ "$status" -ne 0 ]
	grep -F "$VALUE" "$HOME/.netrc"
}

@test "secrets: a file with a value that is replaced is covered again, and told unless its folder is hidden" {
	settings <<-JSON
	{ "secrets": {
	    "OPENAI_API_KEY": { "files": ["~/declared"] },
	    "GROQ_API_KEY": { "from": "file", "file": "~/kept/token" } },
	  "filesystem": { "denyRead": ["~/kept"] } }
	JSON
	mkdir "$HOME/kept"
	echo "$OTHER" >"$HOME/kept/token"
	echo "$VALUE" >"$HOME/declared"
	held
	echo "$OTHER-2" >"$HOME/kept/new"
	mv "$HOME/kept/new" "$HOME/kept/token"
	wait_for 90 recorded '"kind":"secret".*"name":"GROQ_API_KEY".*"event":"read"'
	let_go
	[ "$status" -eq 0 ]
	[ -z "$(cat "$TEST_DIR/out")" ]
	# In a layer a change on the host does not uncover it.
	LAST='cat ~/declared && echo covered' held
	echo "$VALUE-1" >"$HOME/new"
	mv "$HOME/new" "$HOME/declared"
	let_go
	[ "$status" -eq 0 ]
	grep covered "$TEST_DIR/out"
	no_value_in "$(cat "$TEST_DIR/out")"
	run ! grep replaced "$TEST_DIR/out"
	echo "$VALUE" >"$HOME/declared"
	readonly_home
	LAST='cat ~/declared && echo covered' held
	echo "$VALUE-2" >"$HOME/new"
	mv "$HOME/new" "$HOME/declared"
	wait_for 90 grep "declared was replaced on the host during the run and is hidden again" "$TEST_DIR/out"
	let_go
	[ "$status" -eq 0 ]
	grep covered "$TEST_DIR/out"
	no_value_in "$(cat "$TEST_DIR/out")"
}

@test "secrets: a declared file that cannot be covered is told of" {
	settings <<-JSON
	{ "secrets": { "OPENAI_API_KEY": { "files": ["$PWD/it"] } } }
	JSON
	agentbox run -- true
	[ "$status" -eq 0 ]
	echo "$VALUE" >it
	ln it other
	agentbox run -- cat it
	[ "$status" -eq 0 ]
	[[ "$output" == *"$PWD/it has 2 hard links"* ]]
	no_value_in "$output"
	rm it
	mkfifo it
	agentbox run -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"$PWD/it is not a regular file"* ]]
}

@test "secrets: a placeholder is the workspace's, the run's, or the user's" {
	local one two three
	local -a show=(sh -c 'echo $OPENAI_API_KEY')

	one=$(launch run --secret OPENAI_API_KEY -- "${show[@]}")
	two=$(launch run --secret OPENAI_API_KEY -- "${show[@]}")
	[ -n "$one" ]
	[ "$one" = "$two" ]
	[ "$(stat -c %a "$AGENTBOX_STATE/placeholders.key")" = 600 ]
	mkdir "$TEST_DIR/elsewhere"
	three=$(cd "$TEST_DIR/elsewhere" && launch run --secret OPENAI_API_KEY -- "${show[@]}")
	[ "${#three}" = "${#one}" ]
	[ "$one" != "$three" ]
	# An agent keeps its home folder, and the key that it stored there, for all of them.
	one=$(launch run --profile codex --secret OPENAI_API_KEY -- "${show[@]}")
	two=$(cd "$TEST_DIR/elsewhere" && launch run --profile codex --secret OPENAI_API_KEY -- "${show[@]}")
	[ "$one" = "$two" ]
	[ "$one" != "$three" ]
	settings <<<'{ "secrets": { "OPENAI_API_KEY": { "placeholder": "run" } } }'
	[ "$(launch run -- "${show[@]}")" != "$(launch run -- "${show[@]}")" ]
	settings <<<'{ "secrets": { "OPENAI_API_KEY": { "placeholder": "stable" } } }'
	one=$(launch run -- "${show[@]}")
	two=$(cd "$TEST_DIR/elsewhere" && launch run -- "${show[@]}")
	[ "$one" = "$two" ]
	no_value_in "$one$two$three"
}

@test "secrets: a placeholder that is replaced is another one in every later run, and an active run keeps its own" {
	local one two id
	local -a show=(sh -c 'echo $OPENAI_API_KEY $MY_KEY')

	export MY_KEY=$OTHER
	one=$(launch run --secret OPENAI_API_KEY --secret MY_KEY@keys.test -- "${show[@]}")
	LAST='echo "$OPENAI_API_KEY $MY_KEY"' held --secret OPENAI_API_KEY --secret MY_KEY@keys.test
	id=$(ls "$AGENTBOX_STATE/live")
	agentbox_split secrets rotate OPENAI_API_KEY
	[ "$status" -eq 0 ]
	[[ "$output" == "OPENAI_API_KEY has a new placeholder"*$'\n'"active runs keep the old one until they end: agentbox stop $id" ]]
	two=$(launch run --secret OPENAI_API_KEY --secret MY_KEY@keys.test -- "${show[@]}")
	[[ "$two" == sk-* ]]
	[ "${#two}" -eq "${#one}" ]
	[ "${two% *}" != "${one% *}" ]
	[ "${two#* }" = "${one#* }" ]
	[ "$(launch run --secret OPENAI_API_KEY --secret MY_KEY@keys.test -- "${show[@]}")" = "$two" ]
	# In another workspace, too.
	mkdir "$TEST_DIR/elsewhere"
	(cd "$TEST_DIR/elsewhere" && launch run --secret OPENAI_API_KEY -- sh -c 'echo $OPENAI_API_KEY') >"$TEST_DIR/before"
	agentbox_split secrets rotate --json OPENAI_API_KEY
	[ "$(jq -c . <<<"$output")" = "{\"active\":[\"$id\"],\"rotated\":[\"OPENAI_API_KEY\"]}" ]
	(cd "$TEST_DIR/elsewhere" && launch run --secret OPENAI_API_KEY -- sh -c 'echo $OPENAI_API_KEY') >"$TEST_DIR/after"
	run ! diff "$TEST_DIR/before" "$TEST_DIR/after"
	# A run without this secret keeps nothing.
	agentbox_split secrets rotate --json GITHUB_TOKEN
	[ "$(jq -c .active <<<"$output")" = '[]' ]
	let_go
	[ "$status" -eq 0 ]
	[[ "$(cat "$TEST_DIR/out")" == *"$one" ]]
	no_value_in "$one$two"
}

@test "secrets: a run does not start with a placeholder that is replaced during its start" {
	settings <<<'{ "secrets": { "OPENAI_API_KEY": { "from": "command", "command": ["sh", "-c",
		"touch ~/asked; until [ -e ~/go ]; do sleep 0.05; done; cat ~/key"] } } }'
	printf '%s' "$VALUE" >"$HOME/key"
	launch run -- echo started >"$TEST_DIR/out" 2>&1 &
	wait_for 60 test -e "$HOME/asked"
	agentbox_split secrets rotate GITHUB_TOKEN
	[ "$status" -eq 0 ]
	touch "$HOME/go"
	wait $!
	[ "$(cat "$TEST_DIR/out")" = started ]
	rm "$HOME/asked" "$HOME/go"
	launch run -- echo started >"$TEST_DIR/out" 2>&1 &
	wait_for 60 test -e "$HOME/asked"
	agentbox_split secrets rotate OPENAI_API_KEY
	[ "$status" -eq 0 ]
	touch "$HOME/go"
	status=0
	wait $! || status=$?
	[ "$status" -ne 0 ]
	run ! grep -x started "$TEST_DIR/out"
	grep -F 'the placeholder of OPENAI_API_KEY was replaced meanwhile' "$TEST_DIR/out"
	agentbox run -- echo started
	[ "$status" -eq 0 ]
}

@test "secrets: with the host's network nothing is put in, and that is told" {
	settings <<<'{ "secrets": { "OPENAI_API_KEY": {} } }'
	agentbox_split run --net allowed -- sh -c 'echo "$OPENAI_API_KEY $SSL_CERT_FILE"'
	[ "$status" -eq 0 ]
	[[ "$output" == sk-* ]]
	[[ "$output" != *agentbox* ]]
	[[ "$stderr" == *"the box has the host's network"* ]]
	no_value_in "$output$stderr"
}

@test "secrets: in a box they are the outer run's" {
	# Where the box can see it.
	cp "$AGENTBOX" ./agentbox
	agentbox_split run --yes --secret OPENAI_API_KEY -- sh -c '
		echo "$OPENAI_API_KEY"
		./agentbox run --secret OPENAI_API_KEY -- sh -c "echo \$OPENAI_API_KEY"'
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 2 ]
	[ "${lines[0]}" = "${lines[1]}" ]
	[[ "$stderr" == *"secrets and path rules of the outer run"* ]]
}

@test "secrets: --require-covered refuses what nothing covers" {
	export MY_TOKEN=abcdef
	agentbox run --secret OPENAI_API_KEY --require-covered -- true
	[ "$status" -eq 0 ]
	agentbox run --secret OPENAI_API_KEY --require-covered --pass-env MY_TOKEN -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"MY_TOKEN looks like a credential"* ]]
	mkdir "$HOME/.aws"
	echo x >"$HOME/.aws/credentials"
	agentbox run --require-covered -- true
	[ "$status" -eq 0 ]
	agentbox run --require-covered --deny-read '!~/.aws' -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *".aws/credentials can be read"* ]]
}

@test "secrets: settings that hold a value are recorded without it" {
	settings <<-JSON
	{ "secrets": { "OPENAI_API_KEY": { "from": "command", "command": ["echo", "$VALUE"] } } }
	JSON
	agentbox run -- true
	[ "$status" -eq 0 ]
	recorded '"command":\["echo","sk-'
	no_value_in "$output"
}

@test "secrets: the record names them and their hosts" {
	agentbox run --secret OPENAI_API_KEY -- true
	[ "$status" -eq 0 ]
	recorded '"kind":"start".*"secrets":\{"OPENAI_API_KEY":\["api.openai.com:443"'
	no_value_in ""
}

# mounted DO: the folder vault is a mount with a denied file when the run begins, and its secret's
# source does this before it gives the value. Prints what the box sees.
mounted()
{
	settings <<-JSON
	{ "filesystem": { "denyRead": ["$PWD/vault/key"] },
	  "secrets": { "OPENAI_API_KEY": { "from": "command", "command": ["sh", "-c", "$1 >&2; echo $VALUE"] } } }
	JSON
	mkdir -p vault
	run timeout 60 unshare -m --propagation private sh -c \
		'mount -t tmpfs vault vault && echo hidden-words >vault/key && echo open >vault/other &&
		 "$0" run --yes -- sh -c "cat vault/other; cat vault/key; ls vault/later"' "$AGENTBOX"
	echo "$output"
}

# bats test_tags=root
@test "secrets: a box has the mounts of the time after their sources were read" {
	only_root
	mounted true
	[[ "$output" == *open* ]]
	[[ "$output" != *hidden-words* ]] || false
	mounted "umount $PWD/vault"
	[[ "$output" != *open* && "$output" != *hidden-words* ]] || false
	mounted "mount -t tmpfs later $PWD/vault && touch $PWD/vault/later"
	[[ "$output" == *vault/later* && "$output" != *"cannot access"*later* ]] || false
}
