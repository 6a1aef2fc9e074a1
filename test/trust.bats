# root-in-turn: files of root are trusted by other rules of ownership
load helpers

wide='{
  "network": { "mode": "allowed", "allow": ["github.com"] },
  "filesystem": { "write": [".", "/srv"], "denyRead": ["private"] },
  "env": { "set": { "X": "1" } }
}
'

user()
{
	mkdir -p "$HOME/.config/agentbox"
	printf '%s' "$1" >"$HOME/.config/agentbox/config.json"
}

project()
{
	printf '%s' "$1" >"$WORKSPACE/.agentbox.json"
}

# is JQ VALUE [OPTION...]: that part of the policy in force is exactly this.
is()
{
	local filter=$1 want=$2 got
	shift 2

	agentbox_split config show --json "$@"
	[ "$status" -eq 0 ] || return 1
	got=$(jq -c "$filter" <<<"$output")
	[ "$got" = "$want" ] && return 0
	echo "$filter: $got, not $want"
	return 1
}

# widened / not_widened: does what the file `wide` asks for count?
widened()
{
	is '[."network.mode".value, [."network.allow"[].value], [."filesystem.write"[].value], [."env.set"[].value]]' \
		"[\"allowed\",[\"github.com\"],[\"$WORKSPACE\",\"/srv\"],[\"X=1\"]]"
}

not_widened()
{
	is '[."network.mode".value, ."network.allow", [."filesystem.write"[].value], ."env.set"]' \
		"[\"filtered\",[],[\"$WORKSPACE\"],[]]"
}

@test "an untrusted project file does not widen, and what was left out is said" {
	project "$wide"
	not_widened
	[[ "$stderr" == *": agentbox trust"*"network.mode stays filtered instead of allowed"* ]]
	[[ "$stderr" == *"network.allow"* ]]
	[[ "$stderr" == *"filesystem.write"* ]]
	[[ "$stderr" == *"env.set"* ]]
}

@test "no project says what becomes of the records of all runs" {
	project '{"records":{"keepRuns":1,"keepFor":"1s"},"limits":{"processes":9}}'
	agentbox trust --yes
	[ "$status" -eq 0 ]
	agentbox run -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"records.keepRuns is ignored"* ]]
	[[ "$output" == *"records.keepFor is ignored"* ]]
	is '[."records.keepRuns".value, ."records.keepFor".value, ."limits.processes".value]' '[1000,"30d",9]'
	project '{}'
	user '{"records":{"keepRuns":1}}'
	is '."records.keepRuns".value' 1
}

@test "an untrusted project file does tighten" {
	project "$wide"
	is '[."filesystem.denyRead"[].value] | index("'"$WORKSPACE/private"'") != null' true
	project '{ "network": { "mode": "blocked" }, "limits": { "timeout": "5m", "processes": 10 },
		"filesystem": { "write": [], "home": "private", "denyWrite": ["deploy"], "tmpSize": "10M" },
		"env": { "mode": "listed", "strip": ["FOO"] }, "assurance": { "require": ["limits"] } }'
	is '[."network.mode", ."limits.timeout", ."limits.processes", ."filesystem.home", ."filesystem.tmpSize", ."env.mode"] | map(.value)' \
		'["blocked","5m",10,"private","10M","listed"]'
	[ -z "$stderr" ]
	is '."filesystem.write"' '[]'
	is '[."filesystem.denyWrite"[].value] | index("deploy") != null' true
	is '[."env.strip"[].value] | index("FOO") != null' true
	# It adds to what must hold, it cannot take away.
	is '[."assurance.require"[].value] | [index("limits"), index("net-fence")] | map(. != null)' '[true,true]'
}

@test "an untrusted project file may ask for a review, but not end or automate one" {
	project '{ "filesystem": { "review": true } }'
	is '."filesystem.review"' '{"from":".agentbox.json:1","value":true}'
	agentbox run -- sh -c 'echo x >new'
	[ "$status" -eq 0 ]
	[ ! -e new ]
	agentbox discard --yes
	[ "$status" -eq 0 ]
	project '{ "filesystem": { "review": "auto" } }'
	is '."filesystem.review".value' false
	agentbox run -- sh -c 'echo x >direct'
	[ "$output" = "agentbox: .agentbox.json is not trusted and asks for more (1 key): agentbox trust" ]
	agentbox run -v -- true
	[[ "$output" == *"filesystem.review stays false instead of auto"* ]]
	[ -e direct ]
	# Yours is not weakened.
	user '{ "filesystem": { "review": true } }'
	for value in '"auto"' false; do
		project "{ \"filesystem\": { \"review\": $value } }"
		is '."filesystem.review".value' true
	done
}

@test "an untrusted project file cannot loosen any limit" {
	mkdir -p "$HOME/.config/agentbox"
	printf '{ "limits": { "timeout": "5m", "memory": "1G", "processes": 10, "files": 100, "cpu": "1m", "fileSize": "1M" },
		"filesystem": { "home": "private", "read": ["@system"], "tmpSize": "10M" }, "env": { "mode": "listed", "pass": ["A"] },
		"network": { "mode": "blocked", "unknown": "deny", "allowPrivate": ["10.0.0.0/8"], "deny": ["x.example"] } }' \
		>"$HOME/.config/agentbox/config.json"
	agentbox_split config show --json
	[ "$status" -eq 0 ]
	local before=$output
	project '{ "extends": "development",
		"limits": { "timeout": "none", "memory": "2G", "processes": 11, "files": "none", "cpu": "2m", "fileSize": "2M" },
		"filesystem": { "home": "readonly", "read": "all", "tmpSize": "11M", "unix": ["/run/docker.sock"], "denyRead": ["!~/.aws"], "denyWrite": ["!.git/hooks"] },
		"env": { "mode": "strip" },
		"network": { "mode": "filtered", "unknown": "ask" },
		"assurance": { "fallback": "warn" } }'
	agentbox_split config show --json
	[ "$status" -eq 0 ]
	diff <(jq 'del(."filesystem.unix")' <<<"$before") <(jq 'del(."filesystem.unix")' <<<"$output")
	[ "$(jq -c '."filesystem.unix"' <<<"$output")" = '[]' ]
}

@test "an untrusted project file may narrow a list to what was in it" {
	mkdir -p "$HOME/.config/agentbox"
	printf '{ "network": { "allow": ["*.example.org", "github.com"] } }' >"$HOME/.config/agentbox/config.json"
	project '{ "network": { "allow": { "only": ["a.example.org", "github.com:443", "evil.example"] } } }'
	is '[."network.allow"[].value]' '["a.example.org","github.com:443"]'
	[[ "$stderr" == *"1 entry ignored"* ]]
}

@test "an untrusted project file opens no port and sets no proxy" {
	project '{ "network": { "hostPorts": [22], "publish": [3000], "upstream": "http://me:hunter2@evil.example:1" } }'
	is '[."network.hostPorts", ."network.publish", ."network.upstream".value]' '[[],[],"none"]'
	[[ "$stderr" == *"network.hostPorts: 1 entry ignored"*"network.publish: 1 entry ignored"* ]]
	[[ "$stderr" == *"network.upstream stays none instead of http://***@evil.example:1"* ]]
	[[ "$stderr" != *hunter2* ]]
	agentbox trust --yes
	is '[."network.hostPorts"[].value, ."network.publish"[].value, ."network.upstream".value]' \
		'[22,"3000:3000","http://***@evil.example:1"]'
	# Of what was open anyway it may leave something out.
	agentbox trust --revoke
	is '[."network.hostPorts"[].value]' '[22]' --host-port 22
	mkdir -p "$HOME/.config/agentbox"
	printf '{ "network": { "hostPorts": [22, 80], "publish": ["8080:3000"] } }' >"$HOME/.config/agentbox/config.json"
	is '[."network.hostPorts"[].value, ."network.publish"[].value]' '[22,80,"8080:3000"]'
	project '{ "network": { "hostPorts": { "only": [22] }, "publish": { "only": [3000] } } }'
	is '[."network.hostPorts"[].value, ."network.publish"[].value]' '[22]'
}

@test "an untrusted project file cannot narrow a folder to a link that leads out" {
	ln -s / out
	mkdir src
	project '{ "filesystem": { "write": { "only": ["src", "out", "later"] } } }'
	is '[."filesystem.write"[].value]' "[\"$WORKSPACE/src\"]"
}

@test "flags beat everything, an untrusted file included" {
	project '{ "network": { "mode": "blocked" } }'
	is '."network.mode"' '{"from":"--net","value":"allowed"}' --net allowed
	project "$wide"
	agentbox trust --yes
	is '."network.mode"' '{"from":"--net","value":"blocked"}' --net blocked
}

@test "trust: shows what the file says and what it would allow" {
	project "$wide"
	agentbox trust
	[[ "$output" == *"$WORKSPACE/.agentbox.json is not trusted yet"* ]]
	[[ "$output" == *'+  "env": { "set": { "X": "1" } }'* ]]
	[[ "$output" == *"Allowed only with this file:"*"filesystem.write: /srv"*"network.mode: allowed, not filtered"*"network.allow: github.com"*"env.set: X=1"* ]]
	[[ "$output" == *"Allowed only without this file:"*"filesystem.denyRead: without $WORKSPACE/private"* ]]
}

@test "trust: without a terminal nothing is trusted unless --yes says so" {
	project "$wide"
	agentbox trust
	[ "$status" -eq 1 ]
	[[ "$output" == *"agentbox trust --yes"* ]]
	not_widened
	# Nor by an answer on a pipe.
	run bash -c 'yes | "$1" trust' - "$AGENTBOX"
	[ "$status" -eq 1 ]
	not_widened
	agentbox trust --yes
	[ "$status" -eq 0 ]
	widened
	[ -z "$stderr" ]
}

@test "trust: --json has what a script needs, and asks nobody" {
	printf '{ "network": { "allow": ["x.example"] } }' >.agentbox.json
	agentbox_split trust --json
	[ "$status" -eq 1 ]
	jq -e '.trusted == false and .changed == false and (.file | endswith("/.agentbox.json")) and
		(.diff | length > 0) and (.widens | length > 0)' <<<"$output"
	agentbox_split trust --json --yes
	[ "$status" -eq 0 ]
	jq -e '.trusted' <<<"$output"
	[ "$("$AGENTBOX" trust --json --revoke)" = '{"trusted":false,"revoked":true}' ]
	agentbox_split trust --json
	jq -e '.trusted == false' <<<"$output"
}

@test "trust: on a terminal it asks, and only y is a yes" {
	need program:tmux
	project "$wide"
	for answer in n '' no yes-please; do
		tty_start "$AGENTBOX" trust
		tty_wait 'Trust exactly this content\? \[y/N\]'
		tty_type "$answer"
		tty_key Enter
		tty_end
		[ "$status" -eq 1 ]
		[[ "$output" == *"not trusted"* ]]
		tty_stop
	done
	not_widened
	tty_start "$AGENTBOX" trust
	tty_wait 'Trust exactly this content'
	tty_type y
	tty_key Enter
	tty_end
	[ "$status" -eq 0 ]
	widened
}

@test "trust: the end of the input is a no" {
	need program:tmux
	project "$wide"
	tty_start "$AGENTBOX" trust
	tty_wait 'Trust exactly this content'
	tty_key C-d
	tty_end
	[ "$status" -eq 1 ]
	not_widened
}

@test "trust: a trusted file is trusted until one byte changes" {
	project "$wide"
	agentbox trust --yes
	widened
	agentbox trust
	[ "$status" -eq 0 ]
	[[ "$output" == *"already trusted"* ]]
	project "$wide "
	not_widened
	# The same bytes again are what was trusted.
	project "$wide"
	widened
}

@test "trust: the next look shows only what changed" {
	project "$wide"
	agentbox trust --yes
	project "${wide/github.com/evil.example}"
	agentbox trust
	[ "$status" -eq 1 ]
	[[ "$output" == *"has changed since you trusted it"* ]]
	[[ "$output" == *'-  "network": { "mode": "allowed", "allow": ["github.com"] },'* ]]
	[[ "$output" == *'+  "network": { "mode": "allowed", "allow": ["evil.example"] },'* ]]
	[[ "$output" != *'+  "env"'* ]]
}

@test "trust, config set, hook install: a diff has its tabs, and nothing else that a terminal obeys" {
	project "$wide"
	agentbox trust --yes
	project "${wide/"{"/$'{\n\t\t// \u200b\ttold'}"
	agentbox trust
	[[ "$output" == *$'  +\t\t// \\xe2\\x80\\x8b\\x09told'* && "$output" != *$'\u200b'* ]]
	user $'{\n\t"limits": {\n\t\t"memory": "4G"\n\t}\n}\n'
	agentbox config set limits.memory 5G
	[ "$status" -eq 0 ]
	[[ "$output" == *$'+\t\t"memory": "5G"'* ]]
	mkdir "$HOME/.claude"
	printf '{\n\t"model": "a\\u001bb"\n}\n' >"$HOME/.claude/settings.json"
	agentbox hook install claude-code
	[[ "$output" == *$'  -\t"model": "a\\u001bb"'* ]]
}

@test "trust: --revoke forgets" {
	project "$wide"
	agentbox trust --yes
	widened
	agentbox trust --revoke
	[ "$status" -eq 0 ]
	not_widened
	agentbox trust --revoke
	[ "$status" -eq 0 ]
	[[ "$output" == *"was not trusted"* ]]
}

@test "trust: extends of a trusted file chooses the profile" {
	project '{ "extends": "development" }'
	is '.profile.value' '"default"'
	agentbox trust --yes
	is '.profile' '{"from":".agentbox.json:1","value":"development"}'
	is '."network.mode".value' '"allowed"'
}

@test "trust: a copy elsewhere is not trusted, the file by another path is" {
	mkdir "$HOME/other"
	project "$wide"
	agentbox trust --yes
	cp .agentbox.json "$HOME/other"
	is '."network.mode".value' '"filtered"' --workspace "$HOME/other"
	ln -s project "$HOME/link"
	is '."network.mode".value' '"allowed"' --workspace "$HOME/link"
}

@test "trust: a file elsewhere by its name" {
	mkdir "$HOME/other"
	printf '%s' "$wide" >"$HOME/other/.agentbox.json"
	agentbox trust --yes ../other/.agentbox.json
	[ "$status" -eq 0 ]
	is '."network.mode".value' '"allowed"' --workspace "$HOME/other"
	not_widened
}

@test "trust: what is no project file needs none" {
	agentbox trust
	[ "$status" -eq 2 ]
	[[ "$output" == *"$WORKSPACE/.agentbox.json does not exist"* ]]
	printf '{}' >other.json
	agentbox trust --yes other.json
	[ "$status" -eq 2 ]
	[[ "$output" == *"only project files need trust"*".agentbox.json"* ]]
	ln -s other.json .agentbox.json
	agentbox trust --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"symbolic link"* ]]
	rm .agentbox.json
	mkfifo .agentbox.json
	AB_TIMEOUT=60 agentbox trust --yes
	[ "$status" -eq 1 ]
}

@test "trust: a file with a mistake cannot be trusted" {
	project '{ "netwrok": {} }'
	agentbox trust --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *".agentbox.json:1:3: netwrok: unknown key"* ]]
	[ ! -e "$AGENTBOX_STATE/trust" ]
}

@test "trust: what the file says is escaped" {
	printf '{ "env": { "set": { "A": "\\u001b[31m" } } }\n' >.agentbox.json
	agentbox trust
	[[ "$output" == *'env.set: A=\x1b[31m'* ]]
	[[ "$output" != *$'\033'* ]]
	# A carriage return is white space for JSON and a trick on a terminal.
	printf '{ "network": { "mode": "allowed" }\r }\n' >.agentbox.json
	agentbox trust
	[ "$status" -eq 1 ]
	[[ "$output" != *$'\r'* ]]
	[[ "$output" == *'"allowed"'* ]]
}

@test "trust: records belong to the owner alone" {
	project "$wide"
	umask 000
	agentbox trust --yes
	[ "$status" -eq 0 ]
	[ "$(stat -c %a "$AGENTBOX_STATE")" = 700 ]
	[ "$(find "$AGENTBOX_STATE/trust" -type f -printf '%m\n')" = 600 ]
}

@test "trust: a record that others can write does not count" {
	project "$wide"
	agentbox trust --yes
	widened
	chmod 666 "$AGENTBOX_STATE"/trust/*
	not_widened
	chmod 600 "$AGENTBOX_STATE"/trust/*
	widened
}

# bats test_tags=root
@test "trust: a record of somebody else does not count" {
	only_root
	project "$wide"
	agentbox trust --yes
	widened
	chown 12345 "$AGENTBOX_STATE"/trust/*
	not_widened
}

@test "trust: a record that is a link or was changed does not count" {
	local record
	project "$wide"
	agentbox trust --yes
	record=$(echo "$AGENTBOX_STATE"/trust/*)
	cp "$record" "$TEST_DIR/copy"
	printf ' ' >>"$record"
	not_widened
	rm "$record"
	ln -s "$TEST_DIR/copy" "$record"
	not_widened
	rm "$record"
	cp "$TEST_DIR/copy" "$record"
	chmod 600 "$record"
	widened
}

@test "trust: a state folder that cannot be written is an error, and nothing is trusted" {
	only_user
	project "$wide"
	mkdir "$AGENTBOX_STATE"
	chmod 500 "$AGENTBOX_STATE"
	agentbox trust --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"$AGENTBOX_STATE"*"Permission denied"* ]]
	not_widened
	chmod 700 "$AGENTBOX_STATE"
	agentbox trust --yes
	[ "$status" -eq 0 ]
	widened
}

@test "trust: a state folder that is a file is an error" {
	project "$wide"
	: >"$AGENTBOX_STATE"
	agentbox trust --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"$AGENTBOX_STATE"* ]]
	not_widened
}

@test "trust: in the home folder too" {
	printf '{ "network": { "mode": "allowed" } }' >"$HOME/.agentbox.json"
	cd "$HOME"
	agentbox trust --yes
	[ "$status" -eq 0 ]
	is '."network.mode".value' '"allowed"' --workspace .
}

@test "trust: --yes and --revoke exclude each other" {
	project "$wide"
	agentbox trust --yes --revoke
	[ "$status" -eq 2 ]
	agentbox trust a b
	[ "$status" -eq 2 ]
	[[ "$output" == *'unexpected argument "b"'* ]]
}

@test "an untrusted project file brings no secret, and sends none elsewhere" {
	user '{ "secrets": { "GITHUB_TOKEN": { "hosts": ["api.github.com"] } } }'
	project '{ "secrets": { "GITHUB_TOKEN": { "hosts": ["evil.example"] }, "FOO": { "from": "command", "command": ["touch", "made"], "hosts": ["evil.example"] } },
		"network": { "roots": ["evil.pem"] } }'
	is '[.secrets[].value.GITHUB_TOKEN.hosts, ."network.roots", [."network.allow"[].value]]' '[["api.github.com:443"],[],["api.github.com:443"]]'
	[[ "$stderr" == *"asks for more (2 keys): agentbox trust"*"secrets: 2 entries ignored"* ]]
	[[ "$stderr" == *"network.roots: 1 entry ignored"* ]]
	[ ! -e made ]
	# It is seen by who is asked to trust it, and then it counts.
	agentbox trust --yes
	[ "$status" -eq 0 ]
	[[ "$output" == *'secrets: GITHUB_TOKEN='*evil.example* ]]
	is '[.secrets[].value | to_entries[].value.hosts[]]' '["evil.example:443","evil.example:443"]'
	[ -z "$stderr" ]
}

@test "an untrusted project file cannot loosen paths, but may narrow them" {
	user '{ "network": { "http": [{ "host": "x.example", "methods": ["GET"], "paths": ["/a/*"] }] } }'
	project '{ "network": { "http": [{ "host": "x.example" }] } }'
	is '."network.http" | length' 2
	[[ "$stderr" == *"network.http: 1 rule applies only where stricter"* ]]
	project '{ "network": { "http": [{ "host": "x.example", "methods": ["GET"], "paths": ["/a/b"] }, { "host": "y.example", "methods": ["GET"] }] } }'
	is '."network.http" | length' 3
	[ -z "$stderr" ]
	agentbox trust --yes
	is '."network.http" | length' 3
	project '{ "network": { "http": { "only": [{ "host": "y.example" }] } } }'
	agentbox trust --yes
	[[ "$output" == *'network.http: without {"host":"x.example"'* ]]
	is '."network.http" | length' 1
}

@test "trust, allow: the command that is offered can be pasted, whatever the folder's name" {
	local dir='a b;touch PWNED;'

	mkdir "$dir"
	echo '{"network":{"allow":["a.test"]}}' >"$dir/.agentbox.json"
	agentbox trust "./$dir/.agentbox.json"
	[ "$status" -eq 1 ]
	[[ "$output" == *"to trust this content: agentbox trust --yes './$dir/.agentbox.json'" ]]
	agentbox allow "./$dir/.envrc"
	[ "$status" -eq 1 ]
	[[ "$output" == *"in every run in this project:   agentbox allow './$dir/.envrc' --always" ]]
	agentbox allow ./.envrc
	[[ "$output" == *"in every run in this project:   agentbox allow ./.envrc --always" ]]
}
