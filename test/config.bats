# unsanitized: the unit tests and the fuzz targets read more settings
load helpers

# user TEXT: the user's file.  project TEXT: the project's.
user()
{
	mkdir -p "$HOME/.config/agentbox"
	printf '%s' "$1" >"$HOME/.config/agentbox/config.json"
}

project()
{
	printf '%s' "$1" >"$WORKSPACE/.agentbox.json"
}

# profile NAME TEXT: one of the user's own.
profile()
{
	mkdir -p "$HOME/.config/agentbox/profiles"
	printf '%s' "$2" >"$HOME/.config/agentbox/profiles/$1.json"
}

# shown JQ [OPTION...]: a part of the policy in force, compact.
shown()
{
	local filter=$1
	shift

	"$AGENTBOX" config show --json "$@" 2>"$TEST_DIR/shown" 3>&- | jq -c "$filter"
	[ "${PIPESTATUS[0]}" -eq 0 ] && return 0
	cat "$TEST_DIR/shown"
	return 1
}

# is JQ VALUE [OPTION...]: that part is exactly this.
is()
{
	local got want=$2 filter=$1
	shift 2

	got=$(shown "$filter" "$@") || { echo "$got"; return 1; }
	[ "$got" = "$want" ] && return 0
	echo "$filter $*: $got, not $want"
	return 1
}

# refused FILE TEXT WHERE: a file with this text (\n and so on are understood)
# has exactly one mistake, which matches the pattern "FILE:WHERE", and both
# `config check` and a policy made with it say so.
refused()
{
	printf '%b' "$2" >"$1"
	agentbox config check "$1"
	[ "$status" -eq 1 ] || return 1
	[ "${#lines[@]}" -eq 1 ] || return 1
	[[ "${lines[0]}" == "$1:"$3 ]] || { echo "expected $1:$3"; return 1; }
	agentbox config show --config "$1"
	[ "$status" -eq 1 ] || return 1
	[[ "${lines[0]}" == "agentbox: $1:"* ]]
}

# plain TEXT: nothing in it that a terminal would obey.
plain()
{
	if LC_ALL=C grep -q $'[\001-\010\013-\037\177]' <<<"$1" ||
		grep -q $'[\u0080-\u009f\u202a-\u202e\u2066-\u2069]' <<<"$1"; then
		printf 'not plain: %q\n' "$1"
		return 1
	fi
}

# accepted FILE TEXT: its allowed twin.
accepted()
{
	printf '%b' "$2" >"$1"
	agentbox config check "$1"
	[ "$status" -eq 0 ] || return 1
	[ "$output" = "$1: ok" ]
}

@test "config show: without any file every value comes from the default profile" {
	is '."network.mode"' '{"from":"profile default","value":"filtered"}'
	is '."filesystem.write"' "[{\"from\":\"profile default\",\"value\":\"$WORKSPACE\"}]"
	is '.profile.value' '"default"'
	is '.workspace' "\"$WORKSPACE\""
	is '."limits.processes"' '{"from":"profile default","value":4096}'
}

@test "config show: the table has each value beside its origin" {
	user '{ "limits": { "memory": "4G" } }'
	agentbox config show --all --net blocked
	[ "$status" -eq 0 ]
	[[ "$output" =~ limits.memory\ +4G\ +~/.config/agentbox/config.json:1 ]]
	[[ "$output" =~ network.mode\ +blocked\ +--net ]]
	[[ "$output" =~ limits.timeout\ +none\ +profile\ default ]]
}

@test "config show: every key of the schema is shown, and no other" {
	local keys
	keys=$(jq -r '.properties | to_entries[] | select(.key | IN("$schema", "managed", "description") | not) |
		if .value.properties then .key as $g | .value.properties |
		keys[] | "\($g).\(.)" else .key end' "$ROOT/share/agentbox.schema.json" | sort)
	[ -n "$keys" ]
	diff <(sed 's/^extends$/profile/' <<<"$keys" | sort) \
		<(shown 'keys[]' | jq -r . | grep -v '^workspace$' | sort)
}

@test "config show: a later layer is stronger: profile, user, environment, flag" {
	user '{ "extends": "ci", "network": { "mode": "filtered" } }'
	is '.profile.value' '"ci"'
	is '."network.mode"' '{"from":"~/.config/agentbox/config.json:1","value":"filtered"}'
	export AGENTBOX_NET=allowed
	is '."network.mode"' '{"from":"AGENTBOX_NET","value":"allowed"}'
	is '."network.mode"' '{"from":"--net","value":"blocked"}' --net blocked
}

@test "config show: the profile is the one that was named last" {
	is '.profile.value' '"default"'
	user '{ "extends": "ci" }'
	is '.profile.value' '"ci"'
	export AGENTBOX_PROFILE=read-only
	is '.profile' '{"from":"AGENTBOX_PROFILE","value":"read-only"}'
	is '.profile' '{"from":"--profile","value":"development"}' --profile development
	is '."network.mode".value' '"allowed"' --profile development
}

@test "config show: lists add up over the layers, and \"only\" replaces" {
	user '{ "network": { "allow": ["github.com"] } }'
	is '[."network.allow"[].value]' '["github.com"]'
	is '[."network.allow"[].value]' '["github.com","example.org"]' --allow example.org
	is '."network.allow"[1].from' '"--allow"' --allow example.org
	is '[."network.allow"[].value]' '["github.com","a.example","b.example:8080"]' \
		--allow a.example --allow=b.example:8080
	user '{ "extends": "claude", "network": { "allow": ["github.com"] } }'
	is '."network.allow" | map(select(.value == "github.com" or .value == "claude.ai") | .from)' \
		'["profile claude","~/.config/agentbox/config.json:1"]'
	user '{ "extends": "claude", "network": { "allow": { "only": ["github.com"] } } }'
	is '[."network.allow"[].value]' '["github.com"]'
	is '[."network.allow"[].value]' '["github.com","example.org"]' --allow example.org
	refused x.json '{ "network": { "allow": { "only": ["a.org"], "x": 1 } } }' \
		'1:16: network.allow: has other members than "only"; use *'
	refused x.json '{ "network": { "deny": { "only": [] } } }' '1:16: network.deny: expected a list, got an object;*'
}

@test "config show: an empty list means nothing" {
	user '{ "extends": "claude", "network": { "allow": [] }, "filesystem": { "write": [] } }'
	is '."network.allow"' '[]'
	is '."filesystem.write"' '[]'
	rm "$HOME/.config/agentbox/config.json"
	is '."filesystem.write" | length' 1
}

@test "config show: lists that forbid only grow, and ! takes one back" {
	local before after
	before=$(shown '."filesystem.denyWrite" | length')
	user '{ "filesystem": { "denyWrite": ["deploy"] } }'
	after=$(shown '."filesystem.denyWrite" | length')
	[ "$after" -eq $((before + 1)) ]
	is '[."filesystem.denyWrite"[].value] | index(".git/hooks") != null' true
	user '{ "filesystem": { "denyWrite": ["deploy", "!.vscode"] } }'
	is '[."filesystem.denyWrite"[].value] | index(".vscode")' null
	is '[."filesystem.denyWrite"[].value] | index("deploy") != null' true
}

@test "config show: --read-only empties the list, --write adds to it" {
	is '."filesystem.write"' '[]' --read-only
	is '[."filesystem.write"[].value]' "[\"$HOME/out\"]" --read-only --write "$HOME/out"
	is '[."filesystem.write"[].value]' "[\"$WORKSPACE\",\"$HOME/out\"]" --write ../out
}

@test "config show: paths mean what people mean" {
	mkdir -p sub
	user '{ "filesystem": { "denyRead": ["private", "~/notes", "/srv/x"] } }'
	cd sub
	# From a file: the workspace. From a flag: the current folder.
	is '[."filesystem.denyRead"[].value] | map(select(test("project/private$|notes$|srv/x$|here$")))' \
		"[\"$WORKSPACE/private\",\"$HOME/notes\",\"/srv/x\",\"$WORKSPACE/sub/here\"]" \
		--workspace .. --deny-read here
}

@test "config show: env.set replaces by name" {
	user '{ "env": { "set": { "A": "1", "B": "2" } } }'
	is '[."env.set"[].value]' '["A=1","B=3"]' --env B=3
	is '[."env.set"[].from]' '["~/.config/agentbox/config.json:1","--env"]' --env B=3
}

@test "config show: AGENTBOX_CONFIG and --config name another user file" {
	user '{ "network": { "mode": "blocked" } }'
	printf '{ "network": { "mode": "allowed" } }' >other.json
	printf '{}' >empty.json
	is '."network.mode".value' '"blocked"'
	export AGENTBOX_CONFIG=$PWD/other.json
	is '."network.mode"' '{"from":"other.json:1","value":"allowed"}'
	is '."network.mode"' '{"from":"profile default","value":"filtered"}' --config empty.json
}

@test "config show: XDG_CONFIG_HOME is where the user file is" {
	mkdir -p "$HOME/xdg/agentbox"
	printf '{ "network": { "mode": "blocked" } }' >"$HOME/xdg/agentbox/config.json"
	is '."network.mode".value' '"filtered"'
	export XDG_CONFIG_HOME=$HOME/xdg
	is '."network.mode".value' '"blocked"'
}

@test "config show: a file that was named and does not exist is an error" {
	agentbox config show --config nowhere.json
	[ "$status" -eq 2 ]
	[[ "$output" == "agentbox: --config: "*"nowhere.json does not exist" ]]
	AGENTBOX_CONFIG=$HOME/nowhere.json agentbox config show
	[ "$status" -eq 2 ]
	[[ "$output" == *AGENTBOX_CONFIG*nowhere.json* ]]
	agentbox config check --config nowhere.json
	[ "$status" -eq 2 ]
	[[ "$output" == *nowhere.json* ]]
}

@test "config show: a bad value in a flag or variable names it and exits 2" {
	agentbox config show --net bloked
	[ "$status" -eq 2 ]
	[[ "$output" == 'agentbox: --net: invalid value "bloked"'*'use blocked'* ]]
	AGENTBOX_NET=off agentbox config show
	[ "$status" -eq 2 ]
	[[ "$output" == *AGENTBOX_NET*'"off"'* ]]
	agentbox config show --memory lots
	[ "$status" -eq 2 ]
	[[ "$output" == *'--memory: "lots" is not a size'*512M* ]]
	agentbox config show --require net-fense
	[ "$status" -eq 2 ]
	[[ "$output" == *'did you mean "net-fence"?'* ]]
	agentbox config show --env PATH
	[ "$status" -eq 2 ]
	[[ "$output" == *"NAME=VALUE"* ]]
	agentbox config show --allow https://github.com/x
	[ "$status" -eq 2 ]
	[[ "$output" == *'use "github.com"'* ]]
	agentbox config show --allow github.com --memory 4G --require net-fence,limits
	[ "$status" -eq 0 ]
}

@test "config show: an unknown profile is an error that guesses" {
	agentbox config show --profile defualt
	[ "$status" -eq 2 ]
	[[ "$output" == *'unknown profile "defualt"'*'did you mean "default"?'* ]]
	AGENTBOX_PROFILE=nothing-like-it agentbox config show
	[ "$status" -eq 2 ]
	[[ "$output" == *AGENTBOX_PROFILE*'"nothing-like-it"'* ]]
	user '{
  "extends": "devlopment"
}'
	agentbox config show
	[ "$status" -eq 1 ]
	[[ "$output" == *'config.json:2:3: unknown profile "devlopment"'*'"development"'* ]]
}

@test "config show: --workspace must be a folder" {
	: >file
	agentbox config show --workspace nowhere
	[ "$status" -eq 2 ]
	agentbox config show --workspace file
	[ "$status" -eq 2 ]
	agentbox config show --workspace /
	[ "$status" -eq 2 ]
	agentbox config show --workspace .
	[ "$status" -eq 0 ]
}

@test "config show: the home folder is no workspace unless it is named" {
	cd "$HOME"
	agentbox config show
	[ "$status" -eq 2 ]
	[[ "$output" == *"home folder"*"--workspace DIR"* ]]
	agentbox config show --workspace "$HOME"
	[ "$status" -eq 0 ]
	agentbox config show --read-only
	[ "$status" -eq 0 ]
}

@test "config: what is ours is protected whatever a file says" {
	user '{ "filesystem": { "denyWrite": ["!.agentbox.json", "!/etc/agentbox"], "denyRead": ["!'"$AGENTBOX_STATE"'"] } }'
	is '[."filesystem.denyWrite"[] | select(.from == "always").value]' \
		"[\"/etc/agentbox\",\"$HOME/.config/agentbox\",\"$WORKSPACE/.agentbox.json\"]"
	is '."filesystem.denyRead"[-1]' "{\"from\":\"always\",\"value\":\"$AGENTBOX_STATE\"}"
}

@test "config check: every mistake is named with file, line, column, key and remedy" {
	project '{
  "network": {
    "allow": ["a.example", "https://github.com"],
    "modes": "blocked"
  },
  "limits": { "memory": "lots" }
}'
	agentbox config check
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 3 ]
	[ "${lines[0]}" = '.agentbox.json:3:28: network.allow[1]: "https://github.com" is not a host; use "github.com"' ]
	[ "${lines[1]}" = '.agentbox.json:4:5: network.modes: unknown key; did you mean network.mode?' ]
	[[ "${lines[2]}" == '.agentbox.json:6:15: limits.memory: "lots" is not a size;'* ]]
}

@test "config check: a good file is said to be good" {
	project '{ "network": { "mode": "blocked" } }'
	agentbox config check
	[ "$status" -eq 0 ]
	[[ "$output" == ".agentbox.json: ok, but not trusted: "* ]]
	agentbox trust --yes
	agentbox config check
	[ "$output" = ".agentbox.json: ok" ]
}

@test "config check: --json has the files and their mistakes" {
	user '{ "network": { "mode": "filtered" } }'
	project '{ "network": { "modes": 1 } }'
	agentbox_split config check --json
	[ "$status" -eq 1 ]
	jq -e --arg home "$HOME" --arg here "$WORKSPACE" '.ok == false and
		.files == [{ path: ($home + "/.config/agentbox/config.json"), trusted: true },
			{ path: ($here + "/.agentbox.json"), trusted: false }] and
		(.problems | length) == 1 and
		(.problems[0] | test(":1:16: network.modes: unknown key"))' <<<"$output"
	project '{}'
	agentbox_split config check --json
	[ "$status" -eq 0 ]
	jq -e '.ok and .problems == [] and (.files | length) == 2' <<<"$output"
}

@test "config check: without files there is nothing wrong" {
	agentbox config check
	[ "$status" -eq 0 ]
	[[ "$output" == *"no settings files"* ]]
}

@test "config check: all files are looked at, also profiles" {
	user '{ "network": { "mod": "blocked" } }'
	project '{ "limits": { "files": true } }'
	profile mine '{ "extends": "nothing" }'
	profile good '{ "extends": "ci" }'
	agentbox config check
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 3 ]
	[[ "$output" == *"~/.config/agentbox/config.json:1:16: network.mod: unknown key"* ]]
	[[ "$output" == *".agentbox.json:1:15: limits.files: expected a whole number"* ]]
	[[ "$output" == *"profiles/mine.json:1:3: extends: unknown profile"* ]]
	[[ "$output" != *good.json* ]]
}

@test "config check: works in the home folder and in /" {
	user '{ "network": { "mode": "blocked" } }'
	cd "$HOME"
	agentbox config check
	[ "$status" -eq 0 ]
	cd /
	agentbox config check
	[ "$status" -eq 0 ]
	user '{ "network": { "mode": "bloked" } }'
	agentbox config check
	[ "$status" -eq 1 ]
}

@test "config check: a file that makes no policy is wrong" {
	refused x.json '{\n"filesystem": {\n"write": ["/"] } }' '3:11: the whole file system cannot be writable*'
	accepted x.json '{ "filesystem": { "write": ["/srv"] } }'
}

@test "config check: profiles that build on each other in a circle are an error" {
	profile a '{ "extends": "b" }'
	profile b '{ "extends": "a" }'
	agentbox config check
	[ "$status" -eq 1 ]
	[[ "$output" == *circle* ]]
	agentbox config show --profile a
	[ "$status" -eq 1 ]
	profile b '{ "extends": "ci" }'
	agentbox config check
	[ "$status" -eq 0 ]
	is '.profile.value' '"a"' --profile a
	is '."network.mode".value' '"blocked"' --profile a
}

@test "strict JSON: unknown keys" {
	refused x.json '{ "netwrok": {} }' '1:3: netwrok: unknown key; did you mean network?'
	refused x.json '{\n\n"filesystem": { "denyread": [] } }' '3:17: filesystem.denyread: unknown key; did you mean filesystem.denyRead?'
	refused x.json '{ "network.mode": "blocked" }' '1:3: network.mode: unknown key; use { "network": { "mode": ... } }'
	refused x.json '{ "zzzzzzzzzz": 1 }' '1:3: zzzzzzzzzz: unknown key'
	accepted x.json '{ "network": {}, "$schema": "x" }'
}

@test "strict JSON: wrong types" {
	refused x.json '[]' '1:1: expected an object, got a list; use { ... }'
	refused x.json '{ "network": [] }' '1:3: network: expected an object, got a list; use { ... }'
	refused x.json '{ "network": { "mode": 1 } }' '1:16: network.mode: expected a string, got a number; put it in quotes'
	refused x.json '{ "network": { "allow": "github.com" } }' '1:16: network.allow: expected a list, got a string; use [[]"github.com"]'
	refused x.json '{ "network": { "allow": [\n1] } }' '2:1: network.allow[[]0]: expected a string, got a number; put it in quotes'
	refused x.json '{ "limits": { "processes": "many" } }' '1:15: limits.processes: expected a whole number, got a string; use one like 100, or "none"'
	refused x.json '{ "limits": { "processes": 1.5 } }' '1:15: limits.processes: expected a whole number, got a fraction; use one like 100, or "none"'
	refused x.json '{ "limits": { "memory": 4 } }' '1:15: limits.memory: expected a string, got a number; use one like "512M"'
	refused x.json '{ "env": { "set": { "A": 1 } } }' '1:21: env.set.A: expected a string, got a number; put it in quotes'
	refused x.json '{ "env": null }' '1:3: env: expected an object, got null; use { ... }'
	accepted x.json '{ "limits": { "processes": 5, "memory": "4G", "files": "none" }, "env": { "set": { "A": "1" } } }'
}

@test "strict JSON: bad values" {
	refused x.json '{ "network": { "mode": "off" } }' '1:16: network.mode: invalid value "off"; use blocked, filtered or allowed'
	refused x.json '{ "network": { "allow": ["https://github.com"] } }' '1:26: network.allow[[]0]: "https://github.com" is not a host; use "github.com"'
	refused x.json '{ "network": { "allow": ["a b"] } }' '1:26: network.allow[[]0]: "a b" is not a host*'
	refused x.json '{ "network": { "allow": ["@nmp"] } }' '1:26: network.allow[[]0]: "@nmp" is not a host group; did you mean "@npm"?'
	refused x.json '{ "network": { "allow": ["a.example:0"] } }' '1:26: network.allow[[]0]: *'
	refused x.json '{ "network": { "allow": ["*"] } }' '1:26: network.allow[[]0]: *'
	refused x.json '{ "network": { "allowPrivate": ["10.0.0.0/33"] } }' '1:33: network.allowPrivate[[]0]: *'
	refused x.json '{ "limits": { "memory": "4 gigs" } }' '1:15: limits.memory: "4 gigs" is not a size*'
	refused x.json '{ "limits": { "timeout": "soon" } }' '1:15: limits.timeout: "soon" is not a duration*'
	refused x.json '{ "limits": { "processes": 0 } }' '1:15: limits.processes: "0" is out of range*'
	refused x.json '{ "limits": { "processes": -1 } }' '1:15: limits.processes: "-1" is not a number*'
	refused x.json '{ "filesystem": { "write": ["src/*"] } }' '1:29: filesystem.write[[]0]: "src/[*]" is a pattern*'
	refused x.json '{ "filesystem": { "write": [""] } }' '1:29: filesystem.write[[]0]: *'
	refused x.json '{ "filesystem": { "write": ["~root/x"] } }' '1:29: filesystem.write[[]0]: *'
	refused x.json '{ "env": { "set": { "A=B": "1" } } }' '1:21: env.set.A=B: *'
	refused x.json '{ "env": { "set": { "AGENTBOX_NET": "1" } } }' '1:21: env.set.AGENTBOX_NET: *'
	refused x.json '{ "assurance": { "require": ["net-fense"] } }' '1:30: assurance.require[[]0]: "net-fense" is not a guarantee; did you mean "net-fence"?'
	refused x.json '{ "extends": "../x" }' '1:3: extends: *'
	accepted x.json '{ "network": { "mode": "allowed", "allow": ["github.com", "*.x.example:443", "@npm", "192.0.2.1", "[2001:db8::1]:22"],
		"allowPrivate": ["10.0.0.0/8", "10.1.2.3:5432"] }, "limits": { "timeout": "1h30m", "memory": "512M" },
		"filesystem": { "write": ["src", "~/out"] }, "assurance": { "require": ["net-fence"] }, "extends": "ci" }'
}

@test "hosts: a range of addresses is an entry like any other, in one spelling" {
	is '[."network.allow"[].value]' '["203.0.113.0/24:443","[2001:db8::/32]:22","10.0.0.0/8","192.0.2.1"]' \
		--allow 203.0.113.0/24:443 --allow '[2001:DB8::/32]:22' --allow ::ffff:10.0.0.0/104 --allow 192.0.2.1/32
	is '[."network.deny"[].value]' '["203.0.113.0/24"]' --deny 203.0.113.0/24
	refused x.json '{ "network": { "allow": ["203.0.113.7/24"] } }' \
		'1:26: network.allow[[]0]: "203.0.113.7/24" has address bits after its prefix; use "203.0.113.0/24"'
	refused x.json '{ "network": { "deny": ["10.0.0.0/33"] } }' '1:25: network.deny[[]0]: "10.0.0.0/33" is not an address range; *'
	accepted x.json '{ "network": { "allow": ["203.0.113.0/24:443", "2001:db8::/32"], "deny": ["[2001:db8::/48]:22"] } }'
}

@test "ports: of the host and of the box, from files and options" {
	user '{ "network": { "hostPorts": [5432], "publish": [3000, "8080:80"] } }'
	is '[."network.hostPorts"[].value]' '[5432,6379]' --host-port 6379
	is '[."network.publish"[].value]' '["3000:3000","8080:80","9000:9000"]' --publish 9000
	is '."network.hostPorts"[1].from' '"--host-port"' --host-port 6379
	is '[."network.publish"[].value]' '["3000:3000","8080:80"]' --publish 3000:3000
}

@test "ports: what is no port, taken, or wanted twice is refused where it stands" {
	refused x.json '{ "network": { "hostPorts": [0] } }' '1:30: network.hostPorts[[]0]: "0" is not a port; *'
	refused x.json '{ "network": { "hostPorts": ["5432"] } }' '1:30: network.hostPorts[[]0]: expected a whole number, got a string; use one like 3000'
	refused x.json '{ "network": {\n"hostPorts": [\n53] } }' '3:1: network.hostPorts[[]0]: "53" is used by agentbox inside the box; choose another than 53, 61080 and 61081'
	refused x.json '{ "network": { "hostPorts": [22,\n22] } }' '2:1: network.hostPorts[[]1]: "22" is listed twice; remove one'
	refused x.json '{ "network": { "publish": ["8080"," 1"] } }' '1:35: network.publish[[]1]: *'
	refused x.json '{ "network": { "publish": ["8080:1",\n"8080:2"] } }' '2:1: network.publish[[]1]: host port 8080 is published twice; a host port can lead to only one port of the box'
	refused x.json '{ "network": { "publish": ["8080:61080"] } }' '1:28: network.publish[[]0]: "8080:61080" is used by agentbox inside the box; choose another than 53, 61080 and 61081'
	refused x.json '{ "network": { "hostPorts": [3000],\n"publish": [3000] } }' '2:13: network.publish: port 3000 is also in network.hostPorts; a port of the box can be in only one of them'
	accepted x.json '{ "network": { "hostPorts": [5432], "publish": [3000, "8080:80", "81:80"] } }'
	agentbox config show --publish 8080:1 --publish 8080:2
	[ "$status" -eq 2 ]
	[[ "$output" == *"--publish: host port 8080 is published twice"* ]]
	user '{ "network": { "publish": ["8080:1"] } }'
	agentbox config show --publish 8080:2
	[ "$status" -eq 2 ]
	agentbox config show --publish 8081:1
	[ "$status" -eq 0 ]
}

@test "ports: they need a mode that has a place for them" {
	refused x.json '{ "network": { "mode": "blocked",\n"hostPorts": [5432] } }' \
		'2:15: network.hostPorts: needs network.mode filtered, but x.json:1 sets it to blocked; change one of them'
	refused x.json '{ "network": { "mode": "allowed", "publish": [3000] } }' \
		'1:47: network.publish: needs network.mode filtered or blocked, but x.json:1 sets it to allowed; change one of them'
	accepted x.json '{ "network": { "mode": "blocked", "publish": [3000] } }'
	accepted x.json '{ "network": { "mode": "filtered", "publish": [3000], "hostPorts": [5432] } }'
	agentbox run --net allowed --host-port 5432 -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"--host-port: needs network.mode filtered, but --net sets it to allowed"* ]]
	# A later layer decides, and says so.
	user '{ "network": { "hostPorts": [5432], "publish": [3000] } }'
	is '[."network.hostPorts", ."network.publish"] | map(length)' '[0,1]' --net blocked
	agentbox_split config show --net blocked
	[[ "$stderr" == *"network.hostPorts is ignored: the network is blocked (--net)"* ]]
	is '[."network.hostPorts", ."network.publish"] | map(length)' '[0,0]' --profile development
	is '[."network.hostPorts", ."network.publish"] | map(length)' '[1,1]'
	agentbox_split config show
	[ -z "$stderr" ]
}

@test "upstream: none, the caller's, or a URL whose password is shown nowhere" {
	is '."network.upstream"' '{"from":"profile default","value":"none"}'
	is '."network.upstream".value' '"env"' --upstream env
	is '."network.upstream".value' '"http://proxy.example:3128"' --upstream HTTP://Proxy.example:3128/
	user '{ "network": { "upstream": "http://me:hunter2@proxy.example:3128" } }'
	agentbox config show
	[ "$status" -eq 0 ]
	[[ "$output" == *"http://***@proxy.example:3128"* ]]
	[[ "$output" != *hunter2* ]]
	is '."network.upstream".value' '"http://***@proxy.example:3128"'
	printf '{ "network": { "upstream": "http://me:hunter2@proxy.example:3128" } }' >a.json
	agentbox policy diff default a.json
	[[ "$output" == *"network.upstream: http://***@proxy.example:3128, not none"* ]]
	[[ "$output" != *hunter2* ]]
}

@test "upstream: a mistake in it is said without quoting it" {
	local text
	for text in http://me:hunter2@proxy.example https://me:hunter2@proxy.example:1 \
		socks5://me:hunter2@x:1 hunter2 http://me:hunter2 'http://me:hun ter2@x.example:1'; do
		printf '{ "network": {\n"upstream": "%s" } }' "$text" >x.json
		agentbox config check x.json
		[ "$status" -eq 1 ]
		[[ "$output" == "x.json:2:1: network.upstream: "* ]]
		[[ "$output" != *hunter* && "$output" != *ter2* ]]
		agentbox config show --upstream "$text"
		[ "$status" -eq 2 ]
		[[ "$output" == *"--upstream: "* ]]
		[[ "$output" != *hunter* && "$output" != *ter2* ]]
	done
}

@test "strict JSON: text that is not JSON" {
	refused x.json '' '1:1: *'
	refused x.json '{ "network": {},, }' '1:17: *'
	refused x.json '{\n"network": {\n"allow": [,"a.example"]\n} }' '3:11: *'
	refused x.json '{ "network": { "mode": "blocked" }' '1:35: *'
	refused x.json '{} {}' '1:4: *'
	refused x.json '{ # comment\n}' '1:3: *'
	refused x.json '{ /* comment\n}' '1:3: *'
	refused x.json '{ // comment\r"network": {} }' '1:13: *'
	refused x.json "{ 'network': {} }" '1:3: *'
	refused x.json '{ "network": {},\n"network": {} }' '2:1: *network*'
	refused x.json '{ "network": {\n"mode": "blocked",\n"mode": "allowed" } }' '3:1: *mode*'
	refused x.json '{ "extends": "\xff\xfe" }' '1:15: *'
	refused x.json '\xef\xbb\xbf{}' '1:1: *'
	accepted x.json ' \n{ }\n\n'
	accepted x.json '// mine\n{ /* "network": */ "network": { "allow": ["a.example", // why\n], }, }\n// end'
}

@test "strict JSON: NUL and control bytes are refused and never printed" {
	refused x.json '{ "extends": "ci\0" }' '1:17: *'
	refused x.json '{ "extends": "c\\u0000i" }' '1:16: *'
	refused x.json '{}\0' '1:3: *'
	refused x.json '{ "network": { "mode": "\033[31mred" } }' '1:25: *'
	for text in '{ "network": { "mode": "\\u001b[31mred\\u0007" } }' \
		'{ "\\u001b[31mred": 1 }' \
		'{ "env": { "set": { "\\u001b]0;x\\u0007": "1" } } }' \
		'{ "env": { "set": { "A": "\\u009b31m", "B": 1 } } }' \
		'{ "network": { "allow": ["\\u202egithub.com"] } }'; do
		printf '%b' "$text" >x.json
		agentbox config check x.json
		[ "$status" -eq 1 ]
		plain "$output"
	done
}

@test "strict JSON: deep, wide and large files are refused quickly" {
	AB_TIMEOUT=60
	{ printf '{ "env": '; head -c 5000 /dev/zero | tr '\0' '['; } >x.json
	agentbox config check x.json
	[ "$status" -eq 1 ]
	python3 -c 'print("{\"network\":{\"allow\":[" + ",".join("\"h%d.example\"" % i for i in range(3000)) + "]}}")' >x.json
	agentbox config check x.json
	[ "$status" -eq 1 ]
	[[ "$output" == *"more than 1024 entries"* ]]
	{ printf '{ "extends": "ci" }'; head -c 2097152 /dev/zero | tr '\0' ' '; } >x.json
	agentbox config check x.json
	[ "$status" -eq 1 ]
	[[ "$output" == *"larger than 1 MiB"* ]]
	# Its allowed twin is large and well.
	{ printf '{ "extends": "ci" }'; head -c 1000000 /dev/zero | tr '\0' ' '; } >x.json
	agentbox config check x.json
	[ "$status" -eq 0 ]
}

@test "files: a folder, a pipe or a link in place of the project file is an error, at once" {
	AB_TIMEOUT=60
	mkdir .agentbox.json
	agentbox config show
	[ "$status" -eq 1 ]
	[[ "$output" == *".agentbox.json is not a file"* ]]
	agentbox config check
	[ "$status" -eq 1 ]
	rmdir .agentbox.json
	mkfifo .agentbox.json
	agentbox config show
	[ "$status" -eq 1 ]
	[[ "$output" == *".agentbox.json is not a file"* ]]
	agentbox config check
	[ "$status" -eq 1 ]
	rm .agentbox.json
	printf '{}' >real.json
	ln -s real.json .agentbox.json
	agentbox config show
	[ "$status" -eq 1 ]
	[[ "$output" == *".agentbox.json is a symbolic link"* ]]
	agentbox config check
	[ "$status" -eq 1 ]
	[[ "$output" == *".agentbox.json is a symbolic link"* ]]
	ln -sf nowhere .agentbox.json
	agentbox config show
	[ "$status" -eq 1 ]
	mv -f real.json .agentbox.json
	agentbox config show
	[ "$status" -eq 0 ]
}

@test "files: a device in place of the user file is an error" {
	AB_TIMEOUT=60
	agentbox config show --config /dev/zero
	[ "$status" -eq 1 ]
	[[ "$output" == *"/dev/zero is not a file"* ]]
}

@test "files: the user's file may be a link, as dotfile managers make it" {
	mkdir -p "$HOME/.config/agentbox" "$HOME/dotfiles"
	printf '{ "network": { "mode": "blocked" } }' >"$HOME/dotfiles/agentbox.json"
	ln -s ../../dotfiles/agentbox.json "$HOME/.config/agentbox/config.json"
	is '."network.mode".value' '"blocked"'
}

@test "files: a user file that cannot be read is an error, not an absent one" {
	only_user
	user '{}'
	chmod 000 "$HOME/.config/agentbox/config.json"
	agentbox config show
	[ "$status" -eq 1 ]
	[[ "$output" == *"config.json: Permission denied"* ]]
	agentbox config check
	[ "$status" -eq 1 ]
	chmod 600 "$HOME/.config/agentbox/config.json"
	agentbox config show
	[ "$status" -eq 0 ]
}

@test "config path: names the files and says which are there" {
	project '{}'
	agentbox config path
	[ "$status" -eq 0 ]
	[[ "$output" =~ project\ +$WORKSPACE/.agentbox.json($'\n'|$) ]]
	[[ "$output" =~ user\ +$HOME/.config/agentbox/config.json\ +\(missing\) ]]
	run --separate-stderr "$AGENTBOX" config path --json --config other.json --workspace "$HOME"
	[ "$status" -eq 0 ]
	[ "$(jq -c '[.[] | [.layer, .path]] | .[1:3]' <<<"$output")" = \
		"[[\"user\",\"$WORKSPACE/other.json\"],[\"project\",\"$HOME/.agentbox.json\"]]" ]
	[ "$(jq -c '[.[].exists] | .[1:3]' <<<"$output")" = '[false,false]' ]
}

@test "config check: a file in a folder with an odd name" {
	mkdir -p $'odd \033[31m dir'
	printf '{ "x": 1 }' >$'odd \033[31m dir/x.json'
	agentbox config check $'odd \033[31m dir/x.json'
	[ "$status" -eq 1 ]
	[[ "$output" == *'odd \x1b[31m dir/x.json:1:3: x: unknown key'* ]]
	plain "$output"
	cd $'odd \033[31m dir'
	mkfifo .agentbox.json
	agentbox config check --workspace "$PWD"
	[ "$status" -eq 1 ]
	plain "$output"
}

@test "config: --secret is enough for a known service" {
	is '."secrets"[0]' '{"from":"--secret","value":{"OPENAI_API_KEY":{"as":["bearer"],"env":"OPENAI_API_KEY","from":"env","hosts":["api.openai.com:443"]}}}' --secret OPENAI_API_KEY
	is '."network.allow"' '[{"from":"OPENAI_API_KEY in --secret","value":"api.openai.com:443"}]' --secret OPENAI_API_KEY
	is '."secrets"' '[]'
	agentbox config show --secret OPENAI_API_KEY --secret FOO@x.example.org,*.y.example.org:8443
	[ "$status" -eq 0 ]
	[[ "$output" == *'secrets              OPENAI_API_KEY={'*'FOO={'*'"hosts":["x.example.org:443","*.y.example.org:8443"],"as":"any"}'* ]]
}

@test "config: --secret says what it needs" {
	agentbox config show --secret FOO
	[ "$status" -eq 2 ]
	[[ "$output" == *"--secret: FOO is not a known service key"*"FOO@HOST"* ]]
	agentbox config show --secret OPENAI_API_KY
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean OPENAI_API_KEY?"* ]]
	agentbox config show --secret FOO@10.0.0.1
	[ "$status" -eq 2 ]
	[[ "$output" == *'"10.0.0.1" is an address'* ]]
	agentbox config show --secret FOO@x.example.org --net allowed
	[ "$status" -eq 2 ]
	[[ "$output" == *"needs network.mode filtered, but --net sets it to allowed"* ]]
	# A value that was typed there is not repeated.
	agentbox config show --secret FOO=made-up-value-3
	[ "$status" -eq 2 ]
	[[ "$output" == *"--secret: do not put a value on the command line"* ]]
	[[ "$output" != *made-up* ]]
	# The way out is one.
	agentbox config show --secret FOO@x.example.org
	[ "$status" -eq 0 ]
}

@test "config: secrets of a file, and what is wrong with them" {
	user '{ "secrets": { "FOO": { "from": "file", "file": "~/k.json", "key": "a.b", "hosts": ["x.example.org"], "as": "basic" } } }'
	is '."secrets"[0].value.FOO' '{"as":["basic"],"file":"'"$HOME"'/k.json","from":"file","hosts":["x.example.org:443"],"key":"a.b"}'
	is '."secrets"[0].value.FOO.hosts' '["y.example.org:443"]' --secret FOO@y.example.org
	is '."secrets" | length' 1 --secret FOO
	refused x.json '{ "secrets": {\n"FOO": {} } }' '2:1: secrets.FOO.hosts: is missing, and this name is not a known service key; use one like [[]"api.example.com"]'
	refused x.json '{ "secrets": { "FOO": { "hosts": ["x.example.org"],\n"as": "header:Host" } } }' '2:1: secrets.FOO.as: "header:Host" is a connection header; a secret cannot be sent in it'
	refused x.json '{ "secrets": { "FOO": { "host": 1, "hosts": ["x.example.org"] } } }' '1:25: secrets.FOO.host: unknown key; did you mean hosts?'
}

@test "config: rules about methods and paths" {
	user '{ "network": { "http": [{ "host": "API.example.org", "methods": ["GET"], "paths": ["/v%31//x/*"] }], "roots": ["~/ca.pem"] } }'
	is '."network.http"[0].value' '{"host":"api.example.org","methods":["GET"],"paths":["/v1/x/*"]}'
	is '."network.roots"[0].value' "\"$HOME/ca.pem\""
	is '."network.allow"' '[]'
	refused x.json '{ "network": { "http": [\n{ "host": "api.example.org", "methods": ["get"] }] } }' '2:42: network.http[[]0].methods[[]0]: "get" is not a method; *'
	refused x.json '{ "network": { "http": [{ "host": "api.example.org", "paths": ["v1"] }] } }' '1:64: network.http[[]0].paths[[]0]: "v1" is not a URL path; it does not start with /'
}

@test "config: presets bring hosts and variables, and auto selects them by lock files" {
	touch package-lock.json
	is '.with' '[]'
	is '."network.allow"|map(.value)' '[]'
	user '{ "with": "auto" }'
	is '.with' '[{"from":"auto in ~/.config/agentbox/config.json:1","value":"node"}]'
	is '."network.allow"[0].from' '"@npm in ~/.config/agentbox/config.json:1"'
	is '.with|map(.value)' '["node","go","rust"]' --with go,rust
	user '{}'
	project '{ "with": "auto" }'
	is '.with' '[]'
	agentbox config show
	[[ "$output" == *"with: 1 entry ignored"* ]]
	agentbox trust --yes
	[ "$status" -eq 0 ]
	is '.with|map(.value)' '["node"]'
	agentbox config show --with go,npm
	[ "$status" -eq 2 ]
	[[ "$output" == *'"npm" is not a preset'*'did you mean "node"?'*"rust"* ]]
	agentbox profile presets
	[ "$status" -eq 0 ]
	[[ "$output" == *"node "*"(detected here)"*"@npm"* ]]
}

@test "config: a denied registry file is not shown in part, however it is denied" {
	mkdir "$HOME/.config/pip" -p
	echo registry=https://npm.example/ >"$HOME/.npmrc"
	printf '[global]\nindex-url = https://pip.example/simple\n' >"$HOME/.config/pip/pip.conf"
	echo 'cat ~/.npmrc ~/.config/pip/pip.conf' >show.sh
	user '{ "network": { "allow": ["@npm", "@pypi"] }, "filesystem": { "home": "private" } }'
	agentbox run -- sh show.sh
	[[ "$output" == *npm.example*pip.example* ]]
	agentbox run --deny-read '~/.npm*' --deny-read '~/.config/p?p' -- sh show.sh
	[ "$status" -ne 0 ]
	[[ "$output" != *.example* ]]
	managed '{ "managed": { "filesystem": { "denyRead": ["~/.npm*"] } } }' run -- sh show.sh
	[[ "$output" != *npm.example* ]]
	[[ "$output" == *pip.example* ]]
}

@test "config: a box does not choose the hosts of the next run by a registry file" {
	mkdir -p "$HOME/.cargo" "$HOME/.m2" conf
	printf '[source.m]\nregistry = "https://good.example/"\n' >"$HOME/.cargo/config.toml"
	echo registry=https://npm.example/ >conf/npmrc
	ln -s "$WORKSPACE/conf/npmrc" "$HOME/.npmrc"
	run timeout 60 "$AGENTBOX" run --yes --write ~/.cargo --write ~/.m2 -- sh -c '
		echo "[source.m]\nregistry = \"https://evil.example/\"" >~/.cargo/config.toml
		echo registry=https://evil.example/ >conf/npmrc
		rm -f conf/npmrc && echo registry=https://evil.example/ >conf/npmrc
		mv conf gone && mkdir conf && echo registry=https://evil.example/ >conf/npmrc
		x="<mirror><mirrorOf>*</mirrorOf><url>https://evil.example/</url></mirror>"
		echo "$x" >~/.m2/settings.xml
		echo fine >~/.cargo/credentials.toml; echo fine >~/.m2/other; echo fine >here'
	echo "$output"
	[ "$(cat "$HOME/.cargo/credentials.toml" "$HOME/.m2/other" here)" = $'fine\nfine\nfine' ]
	run -0 "$AGENTBOX" config show --json --with rust,java,node
	[[ "$output" == *good.example* ]]
	[[ "$output" != *evil.example* ]]
}

@test "init: detects, writes, trusts, and the second time adds nothing" {
	mkdir -p .git "$HOME"/{.claude/projects,.gemini/tmp,bin}
	touch "$HOME/.claude/projects/x"
	printf '[remote "origin"]\n\turl = git@github.com:o/r.git\n' >.git/config
	touch package-lock.json uv.lock
	printf 'registry=https://u:hunter2@npm.corp.example/\n' >"$HOME/.npmrc"
	agentbox init --print
	[ "$status" -eq 0 ]
	[ "$output" = $'{\n  "with": ["node", "python", "github"]\n}' ]
	[ ! -e .agentbox.json ]
	# Nothing is asked without a terminal.
	agentbox init </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"node (package-lock.json), python (uv.lock), github (github.com)"* ]]
	[[ "$output" == *"registries"*"npm.corp.example"* ]]
	[[ "$output" == *"no terminal"*"agentbox init --yes"* ]]
	[ ! -e .agentbox.json ]
	agentbox init --yes
	[ "$status" -eq 0 ]
	[[ "$output" == *'+  "with": ["node", "python", "github"]'*"trusted until it changes"* ]]
	[[ "$output" == *'agentbox alias --install claude'*"agentbox hook install claude-code"*"doctor: "* ]]
	[[ "$output" != *gemini* ]]
	# Folders that a hook leaves behind are no agent.
	agentbox hook install copilot --yes
	agentbox hook uninstall copilot --yes
	agentbox init --yes
	[[ "$output" != *copilot* ]]
	touch "$HOME/.copilot/config.json"
	agentbox init --yes
	[[ "$output" == *"agentbox hook install copilot"* ]]
	[ ! -e "$HOME/.claude/settings.json" ]
	is '.with|map(.value)' '["node","python","github"]'
	cp .agentbox.json before
	agentbox init --yes
	[ "$status" -eq 0 ]
	[[ "$output" == *"has all of this already"* && "$output" != *"as a secret"* ]]
	cmp .agentbox.json before
	# Keys that are set are named, and not written.
	OPENAI_API_KEY=hunter2 agentbox init --yes
	[[ "$output" == *"to use one as a secret:"*"OpenAI: agentbox run --secret OPENAI_API_KEY -- ..."* && "$output" != *hunter2* ]]
	OPENAI_API_KEY=hunter2 agentbox init --json
	[ "$(jq -c '.unused|map([.name,.use])' <<<"$output")" = '[["OPENAI_API_KEY","agentbox run --secret OPENAI_API_KEY -- ..."]]' ]
	cmp .agentbox.json before
	# Additions to a trusted file are shown, and it stays trusted.
	touch go.mod
	agentbox init --yes --json
	[ "$status" -eq 0 ]
	[ "$(jq -c '[.written, .exists, .trust, (.presets|map(.name))]' <<<"$output")" = \
		'[true,true,"trusted",["go","node","python","github"]]' ]
	is '.with|map(.value)' '["node","python","github","go"]'
	[ "$(ls -A | grep -c agentbox)" -eq 1 ]
}

@test "init: trusts no file that it did not write, and follows no link" {
	touch Cargo.lock
	project '{ "network": { "mode": "allowed" } }'
	agentbox init --yes
	[ "$status" -eq 0 ]
	[[ "$output" == *"is not trusted"*'"with": ["rust"]'*"agentbox trust"* ]]
	is '[."network.mode".value, .with]' '["filtered",[]]'
	[ "$(jq -c . .agentbox.json)" = '{"network":{"mode":"allowed"},"with":["rust"]}' ]
	rm .agentbox.json
	echo '{}' >"$HOME/target"
	ln -s "$HOME/target" .agentbox.json
	agentbox init --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"symbolic link"* ]]
	[ "$(cat "$HOME/target")" = '{}' ]
	rm .agentbox.json
	project '{ "with": "auto" }'
	agentbox init --print
	[ "$output" = '{ "with": "auto" }' ]
	rm .agentbox.json Cargo.lock
	agentbox init --yes
	[ "$status" -eq 0 ]
	[[ "$output" == *"nothing was detected"* ]]
	[ ! -e .agentbox.json ]
	cd
	agentbox init --yes
	[ "$status" -eq 2 ]
	[[ "$output" == *"home folder"* ]]
}

# managed TEXT COMMAND...: with this /etc/agentbox/config.json, in a mount namespace of its own. The rest
# of ETC is a copy, one for all tests.
managed()
{
	local text=$1
	shift

	ETC=${AB_TEST_DIR:-$TEST_DIR}/etc
	[ -d "$ETC" ] || { mkdir "$ETC" && cp -R /etc/. "$ETC"; } 2>/dev/null || true
	rm -rf "$ETC/agentbox"
	mkdir "$ETC/agentbox"
	printf '%s' "$text" >"$ETC/agentbox/config.json"
	run --separate-stderr timeout --kill-after=5 60 unshare --user --map-root-user --mount sh -ec '
		mount --bind "$1" /etc
		shift
		exec "$@"' - "$ETC" "$AGENTBOX" "$@"
	printf '%s\n' "$output" "$stderr" | cut -c1-400
}

@test "managed settings: no layer widens them, the attempt is said in one line and recorded" {
	local text='{ "limits": { "files": 100 },
		"managed": { "network": { "mode": "blocked" }, "limits": { "timeout": "1h" },
		"filesystem": { "denyRead": ["~/hidden"] }, "env": { "set": { "A": "1" } } } }'
	echo secret >"$HOME/hidden"
	user '{ "limits": { "timeout": "none", "files": 200 } }'
	project '{ "filesystem": { "denyRead": ["!~/hidden"] } }'
	managed "$text" trust --yes
	[ "$status" -eq 0 ]
	[[ "$output" == *"It does not allow anything more."* ]]
	managed "$text" run --net allowed -v -- sh -c 'cat ~/hidden; echo $A; ulimit -n'
	[[ "$output" != *secret* ]]
	[ "$output" = $'1\n200' ]
	[[ "$stderr" == *"guarantees in force: "*" net-fence "* ]]
	[ "$(grep -c "managed settings (/etc/agentbox/config.json) decide: " <<<"$stderr")" -eq 1 ]
	[[ "$stderr" == *"filesystem.denyRead: !$HOME/hidden has no effect (.agentbox.json:1)"* ]]
	[[ "$stderr" == *"network.mode stays blocked, not allowed (--net)"* ]]
	[[ "$stderr" == *"limits.timeout stays 1h, not none (~/.config/agentbox/config.json:1)"* ]]
	jq -es 'map(select(.kind == "start"))[0].managed | length == 3' <(cat "$AGENTBOX_STATE"/runs/*/*.jsonl)
	# They are marked, and the rest is as free as ever.
	managed "$text" config show --json
	[ "$(jq -c '."limits.timeout"' <<<"$output")" = '{"from":"/etc/agentbox/config.json:2 (managed)","value":"1h"}' ]
	[ "$(jq -c '."limits.files".value' <<<"$output")" = 200 ]
	managed "$text" config check /etc/agentbox/config.json
	[ "$status" -eq 0 ]
	# A preset brings no host that is not within them.
	managed '{ "managed": { "network": { "allow": { "only": ["nodejs.org"] } } } }' \
		config show --json --with node,go
	[ "$(jq -c '."network.allow"|map(.value)' <<<"$output")" = '["nodejs.org"]' ]
	# Nor does a request to an active run.
	program=$AGENTBOX AGENTBOX=sh \
		managed '{ "managed": { "network": { "publish": { "only": ["18391:3000"] } } } }' -c '
		"$program" run --name dev -- sleep 50 &
		for i in $(seq 200); do
			"$program" publish dev 18391:3000 && break
			sleep 0.1
		done 2>tried
		"$program" publish dev 18392:3000
		"$program" stop --grace 1s dev
		wait $!'
	[[ "$output" == *"127.0.0.1:18391"* ]]
	[[ "$stderr" == *"the managed settings do not permit to publish 18392:3000"* ]]
	# Less is no attempt, and nothing is said.
	rm "$HOME/.config/agentbox/config.json" .agentbox.json
	managed "$text" run --timeout 5m -- cat "$WORKSPACE/../.gitconfig"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	# Nothing is learned where unknown hosts are decided about.
	managed "$text" learn --yes -- true
	[ "$status" -eq 126 ]
	[[ "$stderr" == *"cannot learn: the managed settings decide about unknown hosts"* ]]
	# A stricter option does not make it possible.
	managed '{ "managed": { "network": { "unknown": "ask" } } }' learn --yes --unknown deny -- true
	[ "$status" -eq 126 ]
	[[ "$stderr" == *"cannot learn: the managed settings decide about unknown hosts"* ]]
	managed '{ "managed": { "limits": { "timeout": "1h" } } }' learn --yes --unknown deny -- true
	[ "$status" -eq 0 ]
}

@test "managed settings: they do not bind a user who shows the program another /etc" {
	local text='{ "managed": { "network": { "mode": "blocked" } } }'
	managed "$text" config show --json --net allowed
	[ "$(jq -c '."network.mode".value' <<<"$output")" = '"blocked"' ]
	program=$AGENTBOX AGENTBOX=unshare managed "$text" --user --map-root-user --mount sh -ec '
		mount -t tmpfs none /etc/agentbox
		exec "$program" config show --json --net allowed'
	[ "$(jq -c '."network.mode".value' <<<"$output")" = '"allowed"' ]
}

@test "managed settings: nothing is said to be allowed that they leave out" {
	local text='{ "managed": { "network": { "allow": { "only": ["a.example"] } },
		"filesystem": { "write": { "only": ["'"$WORKSPACE"'", "'"$HOME"'/fine"] } } } }'
	mkdir "$HOME/data" "$HOME/fine"
	managed "$text" allow evil.example --always
	[[ "$output$stderr" != *"in every run"* ]]
	managed "$text" allow a.example --always
	[ "$status" -eq 0 ]
	[[ "$output$stderr" == *"a.example is allowed in every run from now on"* ]]
	managed "$text" allow "$HOME/data" --always
	[[ "$output$stderr" != *"in every run"* ]]
	managed "$text" allow "$HOME/data"
	[ "$status" -eq 1 ]
	[[ "$output$stderr" == *"$HOME/data cannot be allowed: the managed settings do not permit it"* ]]
	managed "$text" allow "$HOME/fine"
	[ "$status" -eq 0 ]
	[[ "$output" == *"$HOME/fine is writable in the next run"* ]]
	managed "$text" run -- sh -c ': >~/fine/x; : >~/data/x'
	[ -e "$HOME/fine/x" ]
	[ ! -e "$HOME/data/x" ]
	[[ "$stderr" == *"$HOME/fine is writable for this run (allowed earlier)"* ]]
	[[ "$stderr" != *"$HOME/data is writable"* ]]
}

@test "managed settings: check and hook obey them, and a box that stays keeps those of its start" {
	local text='{ "managed": { "commands": { "override": { "safe-read": "forbidden" } } } }'
	user '{ "commands": { "override": { "safe-read": "allow" } } }'
	managed "$text" check ls
	[ "$status" -eq 4 ]
	[[ "$output" == forbidden* && "$output" == *safe-read* ]]
	managed '{}' check ls
	[ "$status" -eq 0 ]
	cat >"$TEST_DIR/event" <<-END
	{ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "ls" }, "cwd": "$WORKSPACE" }
	END
	managed "$text" hook claude-code <"$TEST_DIR/event"
	[ "$(jq -r .hookSpecificOutput.permissionDecision <<<"$output")" = deny ]
	managed '{}' hook claude-code <"$TEST_DIR/event"
	[ "$(jq -r .hookSpecificOutput.permissionDecision <<<"$output")" = allow ]
	rm "$HOME/.config/agentbox/config.json"
	echo secret >"$HOME/hidden"
	program=$AGENTBOX AGENTBOX=sh managed '{ "managed": { "filesystem": { "denyRead": ["~/hidden"] } } }' -c '
		"$program" run -q --keep --name dev -- true
		echo "{}" >/etc/agentbox/config.json
		"$program" run --in dev -- cat ~/hidden || echo closed
		"$program" run -- cat ~/hidden
		echo "{ \"managed\": { \"filesystem\": { \"denyRead\": [\"~/hidden\"] } } }" >/etc/agentbox/config.json
		"$program" run -- cat ~/hidden || echo closed
		"$program" stop --grace 0s dev'
	[ "$status" -eq 0 ]
	[[ "$output" == $'closed\nsecret\nclosed'* ]]
}

@test "managed settings: no other file has the section, and the file must be root's" {
	user '{ "managed": { "limits": { "timeout": "none" } } }'
	agentbox config show
	[ "$status" -eq 1 ]
	[[ "$output" == *"managed: is only for the system's settings"* ]]
	[[ "$output" == *"put it into /etc/agentbox/config.json"* ]]
	rm "$HOME/.config/agentbox/config.json"
	managed '{ "managed": { "network": { "allow": ["a.org"] } } }' run -- true
	[ "$status" -eq 125 ]
	[[ "$stderr" == *'managed.network.allow: a managed list is the most that is allowed'* ]]
	# One that is not root's is not obeyed, and nothing runs without it.
	managed '{}' run -- true
	[ "$status" -eq 0 ]
	[ "$(id -u)" -ne 0 ] || chown 12345 "$ETC/agentbox/config.json"
	run timeout --kill-after=5 60 unshare --user --map-current-user --keep-caps --mount \
		sh -ec 'mount --bind "$1" /etc; exec "$2" run -- true' - "$ETC" "$AGENTBOX"
	echo "$output"
	[ "$status" -eq 125 ]
	[[ "$output" == *"/etc/agentbox/config.json "*", so its settings are not obeyed"* ]]
}

# unreadable FAULT COMMAND...: the same after a shell has run FAULT, without capabilities unless that empties drop.
unreadable()
{
	local fault=$1
	shift

	run timeout --kill-after=5 60 unshare --user --map-root-user --mount sh -ec '
		mount --bind "$1" /etc
		drop="unshare --user --map-user=1000 --map-group=1000"
		eval "$2"
		shift 2
		exec $drop "$@"' - "$ETC" "$fault" "$AGENTBOX" "$@"
	echo "$output" | cut -c1-400
}

@test "managed settings: a file that is there and cannot be read stops every run, check and hook" {
	local fault why file=/etc/agentbox/config.json

	managed '{ "managed": { "network": { "mode": "blocked" } } }' run -- touch ran
	[ "$status" -eq 0 ]
	[ -e ran ]
	while IFS='|' read -r fault why; do
		rm -f ran
		unreadable "$fault" run -- touch ran
		[ "$status" -eq 125 ]
		[[ "$output" == *"$file: $why"* ]]
		[ ! -e ran ]
		unreadable "$fault" exec -- touch ran
		[ "$status" -eq 125 ]
		unreadable "$fault" check true
		[[ "$status" -ne 0 && "$output" == *"$file: $why"* && "$output" != *allow* ]]
		unreadable "$fault" hook claude-code <<<'{"tool_name":"Bash","tool_input":{"command":"ls"},"hook_event_name":"PreToolUse"}'
		[[ "$status" -eq 2 && "$output" == *"$file: $why"* ]]
		[ ! -e ran ]
	done <<-'END'
	chmod 0 /etc/agentbox/config.json|Permission denied
	chmod 600 /etc/agentbox/config.json; chmod 0 /etc/agentbox|Permission denied
	chmod 755 /etc/agentbox; mount --bind /proc/$$/mem /etc/agentbox/config.json; drop=|Input/output error
	END
	# One that is not there stops nothing.
	unreadable 'umount /etc/agentbox/config.json 2>/dev/null || true; rm /etc/agentbox/config.json' check true
	[ "$status" -eq 0 ]
}

# changed JQ VALUE ARG...: the command works, and then that part of the policy is this.
changed()
{
	local filter=$1 want=$2
	shift 2

	agentbox config "$@"
	[ "$status" -eq 0 ] || return 1
	is "$filter" "$want"
}

@test "config show: a summary, what the files add, and one part of it" {
	user '{ "limits": { "memory": "4G" }, "network": { "allow": ["a.example"] } }'
	agentbox config show
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -le 16 ]
	[[ "$output" =~ network\ +filtered\;\ allowed:\ a.example\; ]]
	[[ "$output" =~ limits.memory\ +4G\ +~/.config/agentbox/config.json:1 ]]
	[[ "$output" != *limits.timeout* ]]
	agentbox config show limits
	[[ "$output" =~ limits.timeout\ +none\ +profile\ default && "$output" != *network* ]]
	agentbox config show network.allow
	[ "${#lines[@]}" -eq 1 ]
	is 'keys' '["network.allow","workspace"]' network.allow
	agentbox config show netwrok
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean network?"* ]]
	agentbox config get network.allow --allow b.example
	[ "$output" = $'a.example\nb.example' ]
	agentbox config get env.set --json --env A=1
	[ "$output" = '{"A":"1"}' ]
	agentbox config get network
	[ "$status" -eq 2 ]
	diff <("$AGENTBOX" config schema) "$ROOT/share/agentbox.schema.json"
}

@test "config show: on a terminal it goes through the pager" {
	need program:tmux
	mkdir -p "$HOME/bin" && printf '#!/bin/sh\nsed s/^profile/paged/\n' >"$HOME/bin/pager"
	chmod +x "$HOME/bin/pager"
	AGENTBOX_PAGER=$HOME/bin/pager tty_run "$AGENTBOX" config show
	[ "$status" -eq 0 ]
	[[ "$output" =~ paged\ +default ]]
}

@test "config set, unset: change one value, keep the rest, refuse what is wrong" {
	local file=$HOME/.config/agentbox/config.json before
	user $'{\n  // mine\n  "limits": {\n    "memory": "4G", // enough\n  },\n}\n'
	changed '."limits.timeout".value' '"30m"' set limits.timeout 30m
	[[ "$output" == *'+    "timeout": "30m",'* ]]
	changed '."network.allow" | map(.value)' '["a.example","b.example:8080"]' set network.allow a.example b.example:8080
	changed '."network.hostPorts" | map(.value)' '[5432]' set network.hostPorts 5432
	changed '."env.set" | map(.value)' '["CI=1"]' set env.set.CI 1
	changed '."commands.override" | map(.value)' '["git-publish=sandboxed"]' set commands.override.git-publish sandboxed
	changed '."filesystem.review".value' true set filesystem.review true
	changed '."limits.processes".value' 5 set limits.processes 5
	[ "$(grep -c '// mine\|// enough' "$file")" -eq 2 ]
	changed '."limits.memory".value' '"none"' unset limits.memory
	[ "$(grep -c '// mine\|// enough' "$file")" -eq 2 ]
	before=$(cat "$file")
	for words in 'limits.timeout soon' 'limits.timeout 1 2' 'network.mode x' 'limits.tmeout 1' 'secrets x' \
		'network.allow [1' 'network.allow https://x/' 'extends nowhere' 'filesystem.write /'; do
		# shellcheck disable=SC2086
		agentbox config set $words
		[ "$status" -gt 0 ]
		[ "$(cat "$file")" = "$before" ]
	done
	agentbox config set limits.processes 5
	[ "$status" -eq 0 ]
	[[ "$output" == *"no changes"* ]]
	user '{ "network": { "allow": ["a.example" /* why */] } }'
	agentbox config set network.allow b.example
	[ "$status" -eq 1 ]
	[[ "$output" == *"comments inside"*"config edit"* ]]
	chmod o+w "$file"
	agentbox config set limits.timeout 1s
	[ "$status" -eq 1 ]
	[[ "$output" == *"writable by others"* ]]
}

@test "config: allow, deny and their undo keep comments, too" {
	local file=$HOME/.config/agentbox/config.json
	user $'{ // mine\n  "network": { "deny": ["a.example" /* why */, "b.example"], },\n}\n'
	agentbox deny a.example --undo
	[ "$status" -eq 0 ]
	agentbox allow c.example --always
	[ "$status" -eq 0 ]
	is '[."network.deny", ."network.allow" | map(.value)]' '[["b.example"],["c.example"]]'
	[[ "$(cat "$file")" == *"// mine"*"/* why */"* ]]
	echo $'{ "filesystem": { // mine\n } }' >.agentbox.json
	agentbox trust --yes
	agentbox allow .envrc --always
	[ "$status" -eq 0 ]
	agentbox allow .envrc --undo
	[ "$status" -eq 0 ]
	grep -q '// mine' .agentbox.json
}

@test "config set, unset: on a terminal, what allows more is told and asked about" {
	need program:tmux
	local file=$HOME/.config/agentbox/config.json before what

	user '{ "network": { "deny": ["ads.test"] } }'
	before=$(cat "$file")
	# A box can print these commands.
	while IFS='|' read -r command what; do
		tty_start sh -c "$AGENTBOX config $command; echo status \$?"
		tty_wait 'Change it\? \[y/N\]'
		tty_matches "$what"
		tty_key Enter
		tty_end
		[[ "$output" == *"nothing was changed"*"status 1"* ]]
		[ "$(cat "$file")" = "$before" ]
		[ ! -e .agentbox.json ]
	done <<-'END'
	set network.mode allowed|network.mode: allowed, not filtered
	set commands.override.git-publish sandboxed|commands.override: git-publish=sandboxed
	set filesystem.write /srv --project|filesystem.write: /srv
	set secrets.X_KEY '{"env":"HOME","hosts":["x.test"]}'|secrets: X_KEY
	unset network.deny|network.deny: without ads.test
	END
	# The twins: what allows nothing more, a yes as an option, and one at the question.
	for what in "set network.deny b.test ads.test" "set limits.timeout 30m" "set network.mode allowed --yes"; do
		tty_run sh -c "$AGENTBOX config $what"
		[ "$status" -eq 0 ]
		[[ "$output" != *"Allowed only"* ]]
	done
	[ "$(jq -c '[.network.mode, .network.deny]' "$file")" = '["allowed",["b.test","ads.test"]]' ]
	tty_start sh -c "$AGENTBOX config unset network.deny; echo status \$?"
	tty_wait 'Change it\? \[y/N\]'
	tty_type y
	tty_key Enter
	tty_end
	[[ "$output" == *"status 0"* ]]
	[ "$(jq -c .network.deny "$file")" = null ]
	agentbox config set network.deny '[]' </dev/null
	[ "$status" -eq 0 ]
}

@test "config set --project: trust stays with what a person wrote, and with nothing else" {
	agentbox config set --project limits.timeout 1h
	[ "$status" -eq 0 ]
	[[ "$output" != *trust* ]]
	is '."limits.timeout".from' '".agentbox.json:3"'
	changed '."network.allow" | map(.value)' '["a.example"]' set --project network.allow a.example
	agentbox config set limits.timeout 2h
	[[ "$output" == *"it has no effect here: limits.timeout is set by .agentbox.json:"* ]]
	project '{ "network": { "allow": ["evil.example"] } }'
	agentbox config set --project limits.timeout 3h
	[ "$status" -eq 0 ]
	[[ "$output" == *"is not trusted"* ]]
	is '."network.allow"' '[]'
	rm .agentbox.json
	ln -s "$HOME/.config/agentbox/config.json" .agentbox.json
	agentbox config set --project network.allow evil.example
	[ "$status" -eq 1 ]
	[[ "$output" == *"symbolic link"* ]]
}

@test "config edit: saves what is right, asks again, and never half" {
	local file=$HOME/.config/agentbox/config.json
	cat >"$HOME/ed" <<'END'
#!/bin/sh
pwd >>"$HOME/where"
# The first time a mistake, the second time not.
if grep -q '"a.example"' "$1"; then echo '{ "network": { "allow": ["b.example"] } } // mine' >"$1"
else echo '{ "network": { "allow": ["a.example"], "mode": "x" } }' >"$1"; : >"$1~"; fi
END
	chmod +x "$HOME/ed"
	export VISUAL=$HOME/ed
	run sh -c "echo e | '$AGENTBOX' config edit"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"$file:1:"*"network.mode: invalid value"*"[e]dit again"*"+{ \"network\": { \"allow\": [\"b.example\"] } } // mine"* ]]
	is '."network.allow" | map(.value)' '["b.example"]'
	[ "$(sort -u "$HOME/where")" = / ]
	run sh -c "echo d | '$AGENTBOX' config edit"
	[ "$status" -eq 1 ]
	is '."network.allow" | map(.value)' '["b.example"]'
	# Nothing is left.
	[ "$(ls -A "$HOME/.config/agentbox")" = config.json ]
	VISUAL=true agentbox config edit
	[ "$status" -eq 0 ]
	[[ "$output" == *"no changes"* ]]
	VISUAL=false agentbox config edit
	[ "$status" -eq 1 ]
	[[ "$output" == *"nothing was saved"* ]]
	# A broken file can be repaired.
	user '{ "network": '
	printf '#!/bin/sh\necho "{}" >"$1"\n' >"$HOME/repair"
	chmod +x "$HOME/repair"
	VISUAL=$HOME/repair agentbox config edit
	[ "$status" -eq 0 ]
	[ "$(cat "$file")" = '{}' ]
	# No box chooses the editor.
	printf '#!/bin/sh\n: >"$HOME/ran"\n' >ed && chmod +x ed
	VISUAL=$PWD/ed agentbox config edit
	[ "$status" -eq 2 ]
	[ ! -e "$HOME/ran" ]
	PATH=$PWD:$PATH VISUAL=ed agentbox config edit
	[ ! -e "$HOME/ran" ]
}

@test "import: prints settings, says what is left out, writes no file over another" {
	mkdir -p "$HOME/.claude"
	echo '{ "permissions": { "allow": ["Bash(make:*)", "WebFetch(domain:docs.example)"],
		"deny": ["Bash(git push:*)", "Read(~/notes/**)"] }, "model": "x" }' >"$HOME/.claude/settings.json"
	run --separate-stderr "$AGENTBOX" import claude-code "$HOME/.claude/settings.json"
	[ "$status" -eq 0 ]
	[ "$(jq -c '[.network.allow, .filesystem.denyRead, (.commands.rules|length)]' <<<"$output")" = \
		'[["docs.example"],["~/notes"],2]' ]
	[ "$stderr" = "agentbox: not carried over: line 2: model: has no counterpart" ]
	agentbox import --write claude-code - <"$HOME/.claude/settings.json"
	[ "$status" -eq 0 ]
	[[ "$output" == *"agentbox trust"* ]]
	# What the file permits counts only after the user has trusted it.
	is '."network.allow"' '[]'
	agentbox trust --yes
	is '."network.allow"|map(.value)' '["docs.example"]'
	agentbox check "git push"
	[[ "$output" == forbidden* ]]
	agentbox check "make"
	[[ "$output" == sandboxed* ]]
	cp .agentbox.json before
	agentbox import --write --json claude-code "$HOME/.claude/settings.json"
	[ "$status" -eq 1 ]
	[[ "$output" == *"exists, and is not overwritten"* ]]
	cmp .agentbox.json before
	agentbox import codexx "$HOME/.claude/settings.json"
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean codex?"* ]]
}
