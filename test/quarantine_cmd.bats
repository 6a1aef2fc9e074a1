# What a run moved to quarantine can be listed, looked at and put back, and nothing else; and what
# a person allows for ever is exactly that: one name in one project, one path, one host.
# root-in-turn: root may give files owners and modes that a user may not
UNJUDGED=1
load helpers
load attack/attack

setup()
{
	box_setup
	# The box creates its names through this link: at the call itself they would be refused.
	ln -s . way
}

teardown()
{
	stop_peers
	box_teardown
}

# plant SCRIPT: run it in the box, and wait in it until a name has been moved: `gone NAME`.
plant()
{
	agentbox run --yes --timeout 120s -- sh -c 'gone() { until [ ! -e "$1" ]; do sleep 0.01; done; }
		'"$1"
	[ "$status" -eq 0 ]
	ID=$(ls "$AGENTBOX_STATE/runs")
}

# ------------------------------------------------------------ list and show

@test "quarantine: a file has an id, a place, a time and a reason" {
	agentbox quarantine
	[ "$status" -eq 0 ]
	[ "$output" = "nothing is in quarantine" ]
	plant 'echo "layout node" >way/.envrc; gone .envrc'
	[[ "$output" == *"created a protected file ($WORKSPACE/.envrc); moved to quarantine as $ID-q1: direnv runs it when you enter the folder"* ]]
	[[ "$output" == *"agentbox quarantine restore $ID-q1"* ]]
	[[ "$output" == *"agentbox allow $ID-q1 --always"* ]]
	for what in "" "list" "list $ID" "list $ID-q1"; do
		# shellcheck disable=SC2086
		agentbox quarantine $what
		[ "$status" -eq 0 ]
		[[ "${lines[0]}" == "$ID-q1 "*" $WORKSPACE/.envrc" ]]
		[[ "${lines[1]}" == *"a file of 12 B; direnv runs it when you enter the folder" ]]
	done
	agentbox quarantine list --json
	jq -e --arg id "$ID" --arg path "$WORKSPACE/.envrc" '.more == 0 and (.files | length) == 1 and
		(.files[0] | .id == $id + "-q1" and .run_id == $id and .path == $path and .type == "file" and
		.size == 12 and .name == ".envrc" and (.why | test("direnv")) and
		(.timestamp | test("^2[0-9]{3}-.*Z$")) and (.live | not))' <<<"$output"
	agentbox quarantine --json
	jq -e '.files | length == 1' <<<"$output"
	agentbox quarantine list "$ID-q2"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$ID-q2 is not in quarantine"* ]]
}

@test "quarantine: it is in why, log, the page and the result as well" {
	agentbox run --yes --result "$TEST_DIR/result" --timeout 120s -- sh -c 'echo x >way/.envrc; until [ ! -e .envrc ]; do sleep 0.01; done'
	[ "$status" -eq 0 ]
	local id
	id=$(ls "$AGENTBOX_STATE/runs")
	jq -e --arg id "$id-q1" '.violations_total == 1 and .violations[0].id == $id and
		(.findings | any(test("quarantine as " + $id)))' "$TEST_DIR/result"
	agentbox why
	[ "$status" -eq 0 ]
	[[ "$output" == *"agentbox denied $WORKSPACE/.envrc: a protected name, direnv runs it"*"(rule filesystem.denyWrite, id $id-q1)."* ]]
	[[ "$output" == *"agentbox quarantine restore $id-q1"* ]]
	[[ "$output" == *"agentbox allow $id-q1 --always"* ]]
	agentbox why "$id"
	[[ "$output" == "$id-q1 "* ]]
	agentbox log --denied
	[[ "$output" == *"  moved    $WORKSPACE/.envrc  "*"$id-q1" ]]
	agentbox log --html "$TEST_DIR/page.html"
	[ "$status" -eq 0 ]
	grep -q "agentbox quarantine restore $id-q1" "$TEST_DIR/page.html"
}

@test "quarantine: content is shown escaped, bounded, and with a difference" {
	plant 'printf "layout node\n\033]0;owned\007\n" >x; chmod 4755 x; mv x way/.envrc; gone .envrc
		head -c 300000 /dev/zero >way/.gdbinit; gone .gdbinit
		yes | head -c 300000 >way/.vimrc; gone .vimrc'
	printf 'layout ruby\n' >.envrc
	agentbox quarantine show "$ID-q1"
	[ "$status" -eq 0 ]
	[[ "$output" != *$'\e'* ]]
	[[ "$output" != *$'\a'* ]]
	[[ "$output" == *"that can be executed"* ]]
	[[ "$output" == *"  | layout node"*'  | \x1b]0;owned\x07'* ]]
	[[ "$output" == *"  -layout ruby"*"  +layout node"* ]]
	[[ "$output" == *"restore $ID-q1 --force"* ]]
	agentbox quarantine show "$ID-q1" --json
	jq -e '(.content | startswith("layout node\n")) and .present and (.truncated | not) and
		(.content_base64 | @base64d | startswith("layout node\n")) and (.diff | length) == 3' <<<"$output"
	# Neither floods a terminal.
	agentbox quarantine show "$ID-q2"
	[[ "$output" == *"not text"*"000000  00 00"* ]]
	[ "$(wc -l <<<"$output")" -lt 40 ]
	agentbox quarantine show "$ID-q3"
	[[ "$output" == *"only the first 64 KiB"* ]]
	[ "${#output}" -lt 300000 ]
	agentbox quarantine show "$ID-q3" --json
	jq -e '.truncated' <<<"$output"
}

@test "quarantine: links, folders and other things are not followed or opened" {
	plant 'ln -s /etc/passwd way/.envrc; until [ ! -L .envrc ]; do sleep 0.01; done
		mkfifo way/.gdbinit; gone .gdbinit
		mkdir d; echo "{}" >d/tasks.json; ln -s / d/all; chmod +x d/tasks.json; mv d way/.vscode; gone .vscode'
	agentbox quarantine show "$ID-q1"
	[[ "$output" == *"a symbolic link"*"It leads to /etc/passwd"* ]]
	[[ "$output" != *root:* ]]
	timeout 90 "$AGENTBOX" quarantine show "$ID-q2" >"$TEST_DIR/out"
	grep -q "neither a file nor a folder" "$TEST_DIR/out"
	agentbox quarantine show "$ID-q3"
	[[ "$output" == *"a folder"*"It contains:"*"tasks.json  3 B, executable"* ]]
	[[ "$output" == *"all  a symbolic link"* ]]
	agentbox quarantine restore --yes "$ID-q2"
	[ "$status" -eq 1 ]
	[[ "$output" == *"neither a file nor a folder"* ]]
	# A folder comes back whole, its links as links.
	agentbox quarantine restore --yes "$ID-q3" "$ID-q1"
	[ "$status" -eq 0 ]
	[ "$(cat .vscode/tasks.json)" = "{}" ]
	[ -x .vscode/tasks.json ]
	[ "$(readlink .vscode/all)" = / ]
	[ "$(readlink .envrc)" = /etc/passwd ]
}

# ------------------------------------------------------------ restore

@test "restore: the file is back, without its set-id bits and its other names" {
	plant 'echo one >x; chmod 4755 x; ln x way/.envrc; gone .envrc'
	agentbox quarantine restore "$ID-q1"
	[ "$status" -eq 1 ]
	[[ "$output" == *"no terminal to ask on"* ]]
	absent .envrc
	agentbox quarantine restore --yes "$ID-q1"
	[ "$status" -eq 0 ]
	[[ "$output" == *"$ID-q1 is restored: $WORKSPACE/.envrc (executable)"* ]]
	[[ "$output" == *"set-user-id"* ]]
	[ "$(stat -c %a .envrc)" = 755 ]
	[ "$(cat .envrc)" = one ]
	# Whatever the box kept of it is another file.
	echo two >x
	[ "$(cat .envrc)" = one ]
	[ "$(ls -A | sort | tr '\n' ' ')" = ".envrc way x " ]
	agentbox quarantine
	[ "$output" = "nothing is in quarantine" ]
	agentbox quarantine restore --yes "$ID-q1"
	[ "$status" -eq 1 ]
}

@test "restore: on a terminal it asks, and says what will run it" {
	need program:tmux
	plant 'echo one >way/.envrc; gone .envrc'
	local answer
	for answer in n y; do
		absent .envrc
		tty_start "$AGENTBOX" quarantine restore "$ID-q1"
		tty_wait 'Put it back\? \[y/N\]'
		tty_matches '^direnv runs it when you enter the folder'
		tty_type "$answer"
		tty_key Enter
		tty_end
		tty_stop
	done
	[ "$(cat .envrc)" = one ]
}

@test "restore: nothing is overwritten, and --force keeps what was there" {
	plant 'echo new >way/.envrc; gone .envrc'
	echo mine >.envrc
	agentbox quarantine restore --yes "$ID-q1"
	[ "$status" -eq 1 ]
	[[ "$output" == *"something is in its place"* ]]
	[ "$(cat .envrc)" = mine ]
	agentbox quarantine restore --yes --force --json "$ID-q1"
	[ "$status" -eq 0 ]
	jq -e --arg id "$ID" '.restored[0] | .id == $id + "-q1" and .replaced == $id + "-q2"' <<<"$output"
	[ "$(cat .envrc)" = new ]
	agentbox quarantine list --json
	jq -e --arg path "$WORKSPACE/.envrc" '.files | length == 1 and .[0].path == $path' <<<"$output"
	agentbox quarantine show "$ID-q2"
	[[ "$output" == *"  | mine"* ]]
	# A dangling link is something, too.
	rm .envrc
	ln -s nowhere .envrc
	agentbox quarantine restore --yes "$ID-q2"
	[ "$status" -eq 1 ]
	rm .envrc
	agentbox quarantine restore --yes "$ID-q2"
	[ "$(cat .envrc)" = mine ]
}

@test "restore: no link leads it elsewhere, and a folder that is gone is not made" {
	mkdir -p sub/.config "$HOME/away"
	git init -q sub
	plant 'ln -s . sub/way; echo x >sub/way/.envrc; gone sub/.envrc'
	mv sub real
	agentbox quarantine restore --yes "$ID-q1"
	[ "$status" -eq 1 ]
	[[ "$output" == *"create the folder, or choose another place"* ]]
	absent sub
	ln -s "$HOME/away" sub
	agentbox quarantine restore --yes "$ID-q1"
	[ "$status" -eq 1 ]
	[[ "$output" == *"a symbolic link leads to its folder"* ]]
	agentbox quarantine restore --yes --to sub/.envrc "$ID-q1"
	[ "$status" -eq 1 ]
	[ -z "$(ls -A "$HOME/away")" ]
	agentbox quarantine restore --yes --to "$AGENTBOX_STATE/x" "$ID-q1"
	[ "$status" -eq 1 ]
	agentbox quarantine restore --yes --to real/other "$ID-q1"
	[ "$status" -eq 0 ]
	[ "$(cat real/other)" = x ]
}

@test "restore: not while a run could still change it or move it again" {
	plant 'echo x >way/.envrc; gone .envrc'
	mkfifo go
	"$AGENTBOX" run --yes --name busy -- sh -c 'echo up >up; read x <go' >"$TEST_DIR/out" 2>&1 3>&- &
	local pid=$!
	PEERS+=($pid)
	wait_for 60 test -e up
	agentbox quarantine restore --yes "$ID-q1"
	[ "$status" -eq 1 ]
	[[ "$output" == *"a run that is active there"*"agentbox stop "* ]]
	absent .envrc
	# Elsewhere nobody is in the way.
	agentbox quarantine restore --yes --to "$HOME/envrc" "$ID-q1"
	[ "$status" -eq 0 ]
	[ "$(cat "$HOME/envrc")" = x ]
	echo >go
	wait "$pid"
}

@test "restore: an object that is not the one that was moved has no place of its own" {
	plant 'echo x >way/.envrc; gone .envrc'
	rm "$AGENTBOX_STATE/runs/$ID/0001-.envrc"
	ln -s /etc/passwd "$AGENTBOX_STATE/runs/$ID/0001-.envrc"
	agentbox quarantine restore --yes "$ID-q1"
	[ "$status" -eq 1 ]
	[[ "$output" == *"is not known"* ]]
	absent .envrc
	for id in "$ID" "$ID-1" "$ID-f1" ../x x "$ID-q0" "$ID-q01"; do
		agentbox quarantine restore --yes "$id"
		[ "$status" -eq 2 ]
		agentbox quarantine show "$id"
		[ "$status" -eq 2 ]
	done
}

# hold SCRIPT: start it in the box and wait until it says so; sets pid, broker and id.
hold()
{
	"$AGENTBOX" run --yes -- sh -c 'echo up >up; read x <go; '"$1"'; echo done >up; sleep 100' \
		>"$TEST_DIR/out" 2>&1 3>&- &
	pid=$!
	PEERS+=($pid)
	wait_for 60 test -e up
	id=$(ls "$AGENTBOX_STATE/live")
	for broker in $(cat "/proc/$pid/task/$pid/children"); do
		[ "$(cat "/proc/$broker/comm")" != agentbox-broker ] || break
	done
}

ended()
{
	[ -d "$AGENTBOX_STATE/runs/$id" ]
}

@test "quarantine: what a killed run left is listed and restored as well" {
	mkfifo go
	hold 'echo x >way/.envrc'
	echo >go
	wait_for 60 eval '[ "$(cat up)" = done ] && [ ! -e .envrc ]'
	kill -KILL "$pid"
	wait_for 60 ended
	agentbox why "$id"
	[[ "$output" == "$id-q1 "* ]]
	agentbox quarantine restore --yes "$id-q1"
	[ "$status" -eq 0 ]
	[ "$(cat .envrc)" = x ]
}

@test "quarantine: if everything is killed at once, listing sweeps first" {
	mkfifo go
	hold 'echo x >way/.envrc'
	kill -STOP "$broker"
	echo >go
	wait_for 60 eval '[ "$(cat up)" = done ]'
	kill -KILL "$pid" "$broker"
	wait_for 60 eval '! kill -0 "$pid" 2>/dev/null'
	wait_for 60 eval '"$AGENTBOX" quarantine list 2>/dev/null | grep -q "^$id-q1 "'
	absent .envrc
	agentbox why "$id"
	[[ "$output" == "$id-q1 "* ]]
	agentbox quarantine restore --yes "$id-q1"
	[ "$(cat .envrc)" = x ]
}

# ------------------------------------------------------------ allow a protected name

@test "allow: a protected name is allowed in this project, and in no other" {
	plant 'echo x >way/.envrc; gone .envrc'
	agentbox allow "$ID-q1"
	[ "$status" -eq 1 ]
	[[ "$output" == *"agentbox allow $ID-q1 --always"* ]]
	agentbox allow "$ID-q1" --always
	[ "$status" -eq 0 ]
	[[ "$output" == *"runs in $WORKSPACE can create and change .envrc from now on"* ]]
	[[ "$output" == *"direnv runs it"* ]]
	[ "$(jq -c . .agentbox.json)" = '{"filesystem":{"denyWrite":["!.envrc"]}}' ]
	# It is trusted, and nothing else of the protection is gone.
	agentbox run -- sh -c 'echo y >.envrc'
	[ "$status" -eq 0 ]
	[ "$output" = "" ]
	[ "$(cat .envrc)" = y ]
	agentbox run -- sh -c 'echo y >.vimrc'
	[ "$status" -ne 0 ]
	absent .vimrc
	mkdir "$HOME/other"
	cd "$HOME/other"
	agentbox run -- sh -c 'echo y >.envrc'
	[ "$status" -ne 0 ]
	absent .envrc
	cd "$WORKSPACE"
	agentbox allow --undo .envrc
	[ "$status" -eq 0 ]
	[[ "$output" == *".envrc is protected again"* ]]
	agentbox run -- sh -c 'echo z >.envrc'
	[ "$status" -ne 0 ]
	[ "$(cat .envrc)" = y ]
}

@test "allow: says what can be created already, what cannot be taken back, and what a path looks like" {
	agentbox allow ./.envrc --undo
	[ "$status" -ne 0 ]
	[[ "$output" == *"there is nothing to take back: .envrc is protected in $WORKSPACE"* ]]
	agentbox allow ./.envrc --always
	[ "$status" -eq 0 ]
	absent .envrc
	agentbox allow ./.envrc --always
	[ "$status" -eq 0 ]
	[[ "$output" == *"$WORKSPACE/.envrc can already be created in $WORKSPACE"* ]]
	# A file elsewhere must exist.
	agentbox allow "$HOME/missing" --always
	[ "$status" -ne 0 ]
	[[ "$output" == *"create it first"* ]]
	agentbox allow ./other --undo
	[ "$status" -ne 0 ]
	[[ "$output" == *"there is nothing to take back: ./other is not in filesystem.write of "* ]]
	mkdir k
	agentbox allow k/.envrc
	[ "$status" -ne 0 ]
	[[ "$output" == *"for the file, write ./k/.envrc"* ]]
	agentbox allow example.org/x
	[ "$status" -ne 0 ]
	[[ "$output" == *'use "example.org"'* ]]
}

@test "allow: what a repository uses is not called writable, its neighbours are" {
	local path

	git init -q .
	git config core.hooksPath tools
	mkdir -p tools plain
	touch tools/pre-commit plain/file
	agentbox run -- sh -c 'echo x >>tools/pre-commit'
	[ "$status" -ne 0 ]
	[[ "$output" =~ "agentbox why "([a-z0-9]+-f1) ]]
	local id=${BASH_REMATCH[1]}
	for path in ./tools/pre-commit ./tools "$id"; do
		agentbox allow "$path"
		[ "$status" -eq 1 ]
		[[ "$output" == *"cannot be allowed"* ]]
	done
	agentbox allow ./tools/pre-commit --always
	[ "$status" -eq 1 ]
	[[ "$output" == *"it is protected in this folder"*"agentbox run --review"* ]]
	agentbox why "$id"
	[[ "$output" == *"agentbox run --review"* ]]
	agentbox allow ./plain/file
	[ "$status" -eq 0 ]
	[[ "$output" == *"plain/file is already writable in"* ]]
}

@test "allow: a refused write names the same way, by id, by path and by name" {
	local what
	for what in id ./.envrc .envrc; do
		rm -rf .agentbox.json "$AGENTBOX_STATE"
		agentbox run -- sh -c 'echo y >.envrc'
		[ "$status" -ne 0 ]
		[ "$what" != id ] || what=$(ls "$AGENTBOX_STATE/runs")-f1
		agentbox allow "$what" --always
		[ "$status" -eq 0 ]
		agentbox run -- sh -c 'echo y >.envrc; rm .envrc'
		[ "$status" -eq 0 ]
	done
}

@test "allow: an untrusted project file is not trusted on the way" {
	echo '{"network":{"allow":["evil.test"]}}' >.agentbox.json
	agentbox allow ./.envrc --always
	[ "$status" -eq 1 ]
	[[ "$output" == *"is not trusted"*"agentbox trust"* ]]
	[ "$(cat .agentbox.json)" = '{"network":{"allow":["evil.test"]}}' ]
	agentbox_split config show --json
	jq -e '."network.allow" == []' <<<"$output"
	ln -sf "$HOME/elsewhere" .agentbox.json
	agentbox allow ./.envrc --always
	[ "$status" -ne 0 ]
	absent "$HOME/elsewhere"
	# A trusted one keeps what it has.
	rm .agentbox.json
	printf '{ "network": { "allow": ["good.test"] } }\n' >.agentbox.json
	agentbox trust --yes
	[ "$status" -eq 0 ]
	agentbox allow ./.envrc --always
	[ "$status" -eq 0 ]
	agentbox_split config show --json
	jq -e '(."network.allow" | map(.value)) == ["good.test"] and
		(."filesystem.denyWrite" | map(.value) | index(".envrc") | not)' <<<"$output"
	# agentbox's own file cannot be opened.
	agentbox allow ./.agentbox.json --always
	[ "$status" -eq 1 ]
}

# ------------------------------------------------------------ always

@test "allow: a path for ever opens nothing of a profile to other runs" {
	mkdir -p "$HOME/.claude" "$HOME/data"
	agentbox run --profile claude -- true
	agentbox allow "$HOME/data" --always
	[ "$status" -eq 0 ]
	[ "$(jq -c .filesystem "$HOME/.config/agentbox/config.json")" = "{\"write\":[\"$HOME/data\"]}" ]
	agentbox run -- sh -c 'echo x >~/data/x && echo y >here'
	[ "$status" -eq 0 ]
	[ "$(cat "$HOME/data/x" here)" = $'x\ny' ]
	# Whatever the box sees of it, on the host nothing changes.
	agentbox run -- sh -c 'echo pwn >~/.claude/settings.json; echo pwn >~/.claude/x'
	[ ! -e "$HOME/.claude/settings.json" ]
	[ ! -e "$HOME/.claude/x" ]
	agentbox allow --undo "$HOME/data"
	[ "$status" -eq 0 ]
	agentbox run -- sh -c 'echo z >here'
	[ "$(cat here)" = z ]
	agentbox run -- sh -c 'echo z >~/data/x'
	[ "$(cat "$HOME/data/x")" = x ]
}

@test "allow: a host for ever is allowed where a project has its own list" {
	printf '{ "network": { "allow": ["npm.test"] } }\n' >.agentbox.json
	agentbox trust --yes
	agentbox allow new.test --always
	[ "$status" -eq 0 ]
	[[ "$output" == *"new.test is allowed in every run from now on"* ]]
	[[ "$output" != *"no effect"* ]]
	agentbox_split config show --json
	jq -e '."network.allow" | map(.value) == ["new.test", "npm.test"]' <<<"$output"
	# A list that forbids still wins, and is named.
	printf '{ "network": { "deny": ["new.test"] } }\n' >.agentbox.json
	agentbox allow new.test --always
	[[ "$output" == *"no effect"*"network.deny"* ]]
	# An untrusted project adds nothing to it.
	printf '{ "network": { "allow": ["evil.test"] }, "filesystem": { "write": ["~"] } }\n' >.agentbox.json
	agentbox_split config show --json
	jq -e '(."network.allow" | map(.value) == ["new.test"]) and (."filesystem.write" | length == 1)' <<<"$output"
}

@test "allow: --project changes the project's settings, which stay trusted, and no other" {
	local own=$HOME/.config/agentbox/config.json
	cp "$own" before
	agentbox allow a.test --project
	[ "$status" -eq 0 ]
	[[ "$output" == *"a.test is allowed in every run in $WORKSPACE from now on"*"$WORKSPACE/.agentbox.json:"*'+    "allow": ["a.test"]'* ]]
	agentbox allow @npm --project
	mkdir "$HOME/data"
	agentbox allow "$HOME/data" --project
	[ "$(jq -c . .agentbox.json)" = '{"filesystem":{"write":["~/data"]},"network":{"allow":["a.test","@npm"]}}' ]
	cmp before "$own"
	agentbox_split config show --json
	[ -z "$stderr" ]
	jq -e '(."network.allow"[0].from == ".agentbox.json:3") and (."filesystem.write" | length == 2)' <<<"$output"
	# A denial takes it out, and the reverse.
	agentbox deny a.test --project
	[[ "$output" == *"a.test is no longer in network.allow of $WORKSPACE/.agentbox.json"*"a.test is denied in every run in $WORKSPACE"* ]]
	[ "$(jq -c .network .agentbox.json)" = '{"allow":["@npm"],"deny":["a.test"]}' ]
	# All of it is taken back, wherever it is.
	agentbox deny --undo a.test
	[ "$status" -eq 0 ]
	agentbox allow --undo @npm
	[ "$status" -eq 0 ]
	agentbox deny "$HOME/data" --always
	[ "$status" -eq 0 ]
	[[ "$output" == *"$HOME/data is no longer in filesystem.write of $WORKSPACE/.agentbox.json"* ]]
	[ "$(jq -c . .agentbox.json)" = '{}' ]
	agentbox allow --undo @npm
	[ "$status" -eq 1 ]
	# What the user allows stays with an answer for the project.
	agentbox allow b.test --user
	agentbox allow b.test --project
	agentbox allow --undo b.test --project
	[ "$status" -eq 0 ]
	[[ "$output" == *"it is still in network.allow of this folder's runs (~/.config/agentbox/config.json:"* ]]
	agentbox allow --undo b.test
	[ "$status" -eq 0 ]
	[ "$(jq -c .network "$own")" = null ]
	agentbox allow b.test --user --project
	[ "$status" -eq 2 ]
}

@test "allow: always goes to the settings that decide, and never into a project that is not trusted" {
	printf '{ "network": { "allow": { "only": ["npm.test"] } } }\n' >.agentbox.json
	agentbox trust --yes
	agentbox allow new.test --always
	[ "$status" -eq 0 ]
	[[ "$output" == *"new.test is allowed in every run in $WORKSPACE from now on"* ]]
	[ "$(cat .agentbox.json)" = '{ "network": { "allow": { "only": ["npm.test", "new.test"] } } }' ]
	agentbox allow other.test --user
	[[ "$output" == *"it has no effect in $WORKSPACE: network.allow is set by .agentbox.json:1 there; use --project"* ]]
	agentbox_split config show --json
	jq -e '."network.allow" | map(.value) == ["npm.test", "new.test"]' <<<"$output"
	# Somebody else's change ends the trust, and nothing is added to it.
	printf '{ "network": { "allow": ["evil.test"] } }\n' >.agentbox.json
	agentbox allow new.test --project
	[ "$status" -eq 1 ]
	[[ "$output" == *"is not trusted, so nothing can be allowed in it"* ]]
	agentbox allow new.test --always
	[ "$status" -eq 0 ]
	[ "$(cat .agentbox.json)" = '{ "network": { "allow": ["evil.test"] } }' ]
	[ "$(jq -c .network.allow "$HOME/.config/agentbox/config.json")" = '["other.test","new.test"]' ]
}

# ------------------------------------------------------------ git's own files

@test "why: a lock file stands for the file that it locks" {
	echo '[user]' >"$HOME/.gitconfig"
	agentbox run --home readonly --trace-denials -- git config --global user.name me
	[ "$status" -ne 0 ]
	agentbox why
	[[ "$output" == *"agentbox allow $HOME/.gitconfig"* ]]
	[[ "$output" != *"agentbox allow $HOME/.gitconfig.lock"* ]]
	# The name is protected, which `allow` says.
	agentbox allow "$HOME/.gitconfig"
	[ "$status" -eq 1 ]
	[[ "$output" == *".gitconfig is protected"* ]]
}

@test "git: what a killed broker had prepared is removed at the next start" {
	need program:strace
	make_repo
	run timeout --kill-after=5 60 strace -f -qqq -o /dev/null -e trace=renameat2 \
		-e inject=renameat2:signal=SIGKILL:when=1 \
		"$AGENTBOX" run -- git config user.name me 3>&-
	echo "$output"
	[ "$status" -eq 125 ]
	[ "$(ls .git/hooks | grep -c '^agentbox-.*[.]sample$')" -eq 1 ]
	agentbox run -- true
	[ "$status" -eq 0 ]
	[ -z "$(ls .git/hooks | grep '^agentbox-')" ]
	# Either version, and no other.
	git config --get user.email
	# The lock of the git that was killed with the box, if it did not finish.
	rm -f .git/config.lock
	agentbox run -- git config user.name me
	[ "$status" -eq 0 ]
	[ "$(git config user.name)" = me ]
}

@test "git: a worktree that existed before cannot be removed, which is said" {
	make_repo
	git worktree add -q old
	agentbox run -- git worktree remove --force old
	[ "$status" -ne 0 ]
	[[ "$output" == *"remove it outside: git worktree remove PATH"* ]]
	# One of the run's own can, and nothing is said.
	git worktree add -q other
	agentbox run -- sh -c 'git worktree add -q new && git worktree remove new'
	[ "$status" -eq 0 ]
	[[ "$output" != *"remove it outside"* ]]
}
