# unsanitized: the other suites run the code that answers it
# A person steers a run: waiting connections are allowed or denied, for this run,
# for some time or always; settings are reloaded; a path applies to the next run.
load helpers
load internet

# The other terminal: not where the run is.
beside()
{
	run timeout --kill-after=5 90 "$AGENTBOX" "$@" 3>&-
	printf '$ agentbox %s\n%s\n[status %s]\n' "$*" "$output" "$status"
}

# The one run that goes on.
pending()
{
	[ "$("$AGENTBOX" ps --json 2>/dev/null | jq '.[0].pending // 0')" = "$1" ]
}

# A box that fetches what it is told to: the file ask.N holds a URL, and the
# status is in got.N afterwards.
servant_start()
{
	cat >servant <<-'END'
	n=1
	while [ ! -e stop ]; do
		if [ -e ask.$n ]; then
			curl -s -o body.$n -w '%{http_code}' --max-time 200 \
				"$(cat ask.$n)" >status.$n
			mv status.$n got.$n
			n=$((n + 1))
		fi
		sleep 0.05
	done
	END
	box_start run "$@" -- sh servant
	asked=0
	wait_for 90 servant_ready
}

servant_ready()
{
	"$AGENTBOX" ps --json 2>/dev/null | jq -e '.[0].allowed != null' >/dev/null
}

# ask URL: without waiting for it.
ask()
{
	asked=$((asked + 1))
	echo "$1" >ask.tmp
	mv ask.tmp "ask.$asked"
}

got()
{
	wait_for 90 test -e "got.$asked" && cat "got.$asked"
}

servant_end()
{
	: >stop
	box_end
	[ "$status" -eq 0 ]
}

@test "steer: a host that waits is let through by its name" {
	box_start run --unknown ask -- curl -s -o /dev/null -w '%{http_code}' http://other.test/
	wait_for 90 pending 1
	local id
	id=$(run_id)
	beside allow other.test --run "$id"
	[ "$status" -eq 0 ]
	[ "$output" = "$id: other.test is allowed for this run; 1 waiting request released" ]
	box_end
	[ "$status" -eq 0 ]
	[ "$(cat "$TEST_DIR/box.out")" = 200 ]
	[ "$(audit 'select(.kind == "question") | "\(.domain) \(.answer) \(.by)"')" = "other.test run control" ]
}

@test "steer: and by the id of its question, refused by deny" {
	servant_start --unknown ask
	local id
	id=$(run_id)
	ask http://other.test/
	wait_for 90 pending 1
	beside allow "$id-1"
	[ "$status" -eq 0 ]
	[[ "$output" == "$id: other.test is allowed for this run; 1 waiting request released" ]]
	[ "$(got)" = 200 ]
	# The rule is for its usual ports only.
	ask http://v4.test:8080/
	wait_for 90 pending 1
	beside deny "$id-2"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "$id: v4.test is denied for this run" ]
	[ "${lines[1]}" = "waiting connections are denied" ]
	[ "$(got)" = 403 ]
	# Nobody is asked again.
	ask http://v4.test:8080/
	[ "$(got)" = 403 ]
	pending 0
	# The newest word counts.
	beside allow v4.test:8080
	[ "$status" -eq 0 ]
	ask http://v4.test:8080/
	[ "$(got)" = 200 ]
	servant_end
}

@test "steer: a denial is lifted for a while" {
	servant_start --unknown deny
	ask http://other.test/
	[ "$(got)" = 403 ]
	# On a slow machine the while may be over before it is asked for.
	lifted()
	{
		beside allow "$(run_id)-1" --for 2s
		[ "$status" -eq 0 ] || return 1
		[[ "$output" == *"other.test is allowed for 2s" ]] || return 1
		ask http://other.test/
		[ "$(got)" = 200 ]
	}
	wait_for 90 lifted
	refused_again()
	{
		ask http://other.test/
		[ "$(got)" = 403 ]
	}
	wait_for 90 refused_again
	servant_end
}

@test "steer: what no word lifts says why, and what would" {
	servant_start --unknown deny --deny other.test --allow v4.test
	local id
	id=$(run_id)
	ask http://other.test/
	[ "$(got)" = 403 ]
	beside allow "$id-1"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$id-1 cannot be allowed: on the deny list (other.test)"* ]]
	[[ "$output" == *network.deny* ]]
	ask http://10.1.2.3/
	[ "$(got)" = 403 ]
	beside allow "$id-2"
	[ "$status" -eq 1 ]
	[[ "$output" == *"in a new run:  agentbox run --allow-private 10.1.2.3"*" -- sh servant"* ]]
	beside allow "$id-9"
	[ "$status" -eq 2 ]
	# What is proposed can be typed.
	beside allow 10.1.2.3:80
	[ "$status" -eq 1 ]
	[[ "$output" == *"agentbox run --allow-private 10.1.2.3:80 --allow 10.1.2.3:80 -- ..." ]]
	for word in allow deny; do
		beside "$word" '*'
		[ "$status" -eq 2 ]
	done
	[[ "$output" == *"agentbox run --net blocked -- ..." ]]
	# An id with a letter too few is no host that would be allowed in vain.
	beside allow "${id:0:3}-1"
	[ "$status" -eq 2 ]
	[[ "$output" == *"is not a denial id"*"add a dot: ${id:0:3}-1." ]]
	# The twin of all of them.
	ask http://v4.test/
	[ "$(got)" = 200 ]
	servant_end
}

@test "steer: always is written into the settings, and nobody is asked any more" {
	mkdir -p "$HOME/.config/agentbox"
	printf '{\n\t"network": {\n\t\t"unknown": "ask",\n\t\t"allow": [ "v4.test" ]\n\t}\n}\n' \
		>"$HOME/.config/agentbox/config.json"
	box_start run -- curl -s -o /dev/null -w '%{http_code}' http://other.test/
	wait_for 90 pending 1
	beside allow "$(run_id)-1" --always
	[ "$status" -eq 0 ]
	[[ "$output" == *"other.test is allowed in every run from now on"* ]]
	[[ "$output" == *'+		"allow": [ "v4.test", "other.test" ]'* ]]
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = 200 ]
	printf '{\n\t"network": {\n\t\t"unknown": "ask",\n\t\t"allow": [ "v4.test", "other.test" ]\n\t}\n}\n' |
		cmp - "$HOME/.config/agentbox/config.json"
	agentbox run -- curl -s -o /dev/null -w '%{http_code}' http://other.test/
	[ "$output" = 200 ]
	beside allow other.test --always
	[ "$status" -eq 0 ]
	[[ "$output" == *" is already in network.allow of "* ]]
}

@test "steer: what is allowed always is added to what the profile allows" {
	box_start run --profile claude --unknown ask -- curl -s -o /dev/null -w '%{http_code}' http://other.test/
	wait_for 90 pending 1
	beside allow other.test --always
	[ "$status" -eq 0 ]
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = 200 ]
	[ "$(jq -c . "$HOME/.config/agentbox/config.json")" = '{"network":{"allow":["other.test"]}}' ]
	agentbox config show --json --profile claude
	jq -e '."network.allow" | map(.value) | index("other.test") and index("*.anthropic.com")' <<<"$output"
	agentbox config show --json
	jq -e '."network.allow" | map(.value) == ["other.test"]' <<<"$output"
}

@test "steer: a run that is over is not changed, and the command is there to copy" {
	agentbox run -- curl -s http://other.test/ "a b"
	[ "$status" -ne 200 ]
	local id
	id=$(ls "$AGENTBOX_STATE/runs")
	beside allow "$id-1"
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "agentbox: run $id has ended; nothing was changed" ]
	agentbox allow other.test --run "$id"
	[ "$status" -eq 1 ]
	[[ "$output" == *"in a new run:  agentbox run --allow other.test -- ..."* ]]
	beside allow "$id-1"
	[ "${lines[1]}" = "          in a new run:  agentbox run --allow other.test -- curl -s http://other.test/ 'a b'" ]
	[ "${lines[2]}" = "          in every run:  agentbox allow $id-1 --always" ]
	beside allow other.test
	[ "$status" -eq 1 ]
	[[ "$output" == *"no active runs"* ]]
}

@test "steer: settings are read again, a file that is wrong changes nothing" {
	mkdir -p "$HOME/.config/agentbox"
	local file=$HOME/.config/agentbox/config.json id
	# Written beside and moved: a run that watches sees whole files.
	settings()
	{
		echo "$1" >"$file.new"
		mv "$file.new" "$file"
	}
	settings '{ "network": { "allow": ["other.test"] } }'
	servant_start
	id=$(run_id)
	ask http://other.test/
	[ "$(got)" = 200 ]
	settings '{ "network": { "allow": ["v4.test"] } }'
	beside config reload "$id"
	[ "$status" -eq 0 ]
	ask http://v4.test/
	[ "$(got)" = 200 ]
	ask http://other.test/
	[ "$(got)" = 403 ]
	beside config reload
	[ "$status" -eq 0 ]
	[ "$output" = "$id: no changes" ]
	settings '{ "network": { "allow": ["https://v4.test"] } }'
	beside config reload
	[ "$status" -eq 1 ]
	[[ "${lines[0]}" == *'config.json:1:26: network.allow[0]: "https://v4.test" is not a host; use "v4.test"' ]]
	[ "${lines[1]}" = "$id: the previous lists stay in force" ]
	ask http://v4.test/
	[ "$(got)" = 200 ]
	# Said of what a run does not take over, and of nothing else.
	settings '{ "network": { "allow": ["v4.test"] } }'
	beside config set network.deny z.test
	[ "$status" -eq 0 ]
	[[ "$output" != *"next run"* ]]
	beside config set limits.timeout 1h
	[ "$status" -eq 0 ]
	[[ "$output" == *"limits.timeout applies from the next run on: active runs keep what they started with" ]]
	# Nor is it passed over in silence when the run reads its settings.
	settings '{ "network": { "allow": ["v4.test"] }, "limits": { "timeout": "1h" }, "filesystem": { "denyRead": ["~/plans"] } }'
	for again in 1 2; do
		beside config reload
		[ "$status" -eq 0 ]
		[[ "$output" == *"$id: ! filesystem.denyRead applies from the next run on: this run keeps what it started with"* ]]
		[[ "$output" == *"$id: ! limits.timeout applies from the next run on"* ]]
		[[ "$output" != *"no changes"* ]]
	done
	settings '{ "network": { "allow": ["v4.test"] } }'
	beside config reload
	[ "$output" = "$id: no changes" ]
	servant_end
	beside config set limits.timeout 2h
	[ "$status" -eq 0 ]
	[[ "$output" != *"next run"* ]]
	beside config reload
	[ "$status" -eq 1 ]
	[[ "$output" == *"no active runs"* ]]
}

@test "steer: settings that change under load lose no request and no record" {
	mkdir -p "$HOME/.config/agentbox"
	local file=$HOME/.config/agentbox/config.json i
	echo '{ "network": { "allow": ["other.test"] } }' >"$file"
	cat >load <<-'END'
	for i in 1 2 3 4; do
		while [ ! -e stop ]; do
			curl -s -o /dev/null -w '%{http_code}\n' "http://other.test/?n=[1-20]" >>codes.$i
		done &
	done
	wait
	END
	box_start run -- sh load
	wait_for 90 test -s codes.1
	for i in 1 2 3 4 5 6 7 8; do
		echo '{ "network": { "allow": ["other.test", "x'$i'.test"] } }' >"$file.new"
		mv "$file.new" "$file"
		beside config reload
		[ "$status" -eq 0 ]
	done
	: >stop
	box_end
	[ "$status" -eq 0 ]
	sort codes.* | uniq -c
	[ "$(sort -u codes.*)" = 200 ]
	[ "$(audit 'select(.kind == "request" and .allowed) | .domain' | wc -l)" -eq "$(cat codes.* | wc -l)" ]
	audit 'select(.kind == "reload")' -c
	[ "$(audit 'select(.kind == "reload") | .changes[]' | grep -c '^+ x')" -eq 8 ]
}

@test "steer: connections to what is denied by now are closed by choice" {
	mkdir -p "$HOME/.config/agentbox"
	local file=$HOME/.config/agentbox/config.json
	echo '{ "network": { "allow": ["wire.test:7"] } }' >"$file"
	cat >talk.py <<-'END'
	import os, socket, time
	s = socket.create_connection(("wire.test", 7))
	s.sendall(b"\x00 to an echo, which does not close by itself")
	s.recv(65536)
	open("open", "w").close()
	s.settimeout(120)
	data = b"x"
	try:
	    while data:
	        data = s.recv(65536)
	    print("closed")
	except ConnectionError:
	    print("closed")
	END
	box_start run -- python3 talk.py
	wait_for 90 test -e open
	echo '{ "network": { "allow": ["wire.test:7"], "deny": ["wire.test"] } }' >"$file.new"
	mv "$file.new" "$file"
	beside config reload --cut
	[ "$status" -eq 0 ]
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = closed ]
}

@test "steer: a path is for the next run in this folder, once" {
	readonly_home
	mkdir "$HOME/data" "$HOME/other"
	agentbox run -- touch "$HOME/data/x"
	[ "$status" -ne 0 ]
	beside allow "$HOME/data"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "$HOME/data is writable in the next run in $WORKSPACE; a running box cannot be given more access" ]
	[ "${lines[1]}" = "to run it again:  agentbox run --write $HOME/data -- touch $HOME/data/x" ]
	# Neither in another folder nor in a run that does not start.
	cd "$HOME/other"
	agentbox run -- touch "$HOME/data/x"
	[ "$status" -ne 0 ]
	cd "$WORKSPACE"
	agentbox run --require no-such -- true
	[ "$status" -eq 125 ]
	run -127 launch run -- "$HOME/none"
	agentbox run --read-only -- touch "$HOME/data/x"
	[ "$status" -ne 0 ]

	agentbox run -- touch "$HOME/data/x"
	[ "$status" -eq 0 ]
	[ "$output" = "agentbox: $HOME/data is writable for this run (allowed earlier)" ]
	[ -e "$HOME/data/x" ]
	agentbox run -- touch "$HOME/data/y"
	[ "$status" -ne 0 ]
	[ ! -e "$HOME/data/y" ]
}

@test "steer: a file that was refused is for the next run by its id" {
	readonly_home
	mkdir "$HOME/data"
	agentbox run --trace-denials -- touch "$HOME/data/x"
	[ "$status" -ne 0 ]
	local id
	id=$(ls "$AGENTBOX_STATE/runs")
	beside allow "$id-f1"
	[ "$status" -eq 0 ]
	[[ "$output" == "$HOME/data is writable in the next run in $WORKSPACE"* ]]
	agentbox run -- touch "$HOME/data/x"
	[ "$status" -eq 0 ]
	# Its folder would be the home.
	agentbox run --trace-denials -- touch "$HOME/y"
	[ "$status" -ne 0 ]
	id=$(ls -t "$AGENTBOX_STATE/runs" | head -n 1)
	beside allow "$id-f1"
	[ "$status" -eq 1 ]
	[[ "$output" == *"it is your home folder"*"create it first, then:  agentbox allow $HOME/y"* ]]
}

@test "steer: an id is not for a folder above a path that the record cut short" {
	readonly_home
	local deep=$HOME/deep name id

	printf -v name '%0100d' 0
	while ((${#deep} < 1100)); do deep+=/$name; done
	mkdir -p "$deep"
	agentbox run --trace-denials -- touch "$deep/x"
	[ "$status" -ne 0 ]
	[[ "$output" == *"write ...0"*"/x  outside"* ]]
	id=$(ls "$AGENTBOX_STATE/runs")
	beside allow "$id-f1"
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot be allowed"* ]]
	[ ! -e "$AGENTBOX_STATE/next.json" ]
	agentbox_split learn --yes -- touch "$deep/x"
	[ "$(jq -c . <<<"$output")" = '{"extends":"default"}' ]
	beside allow "$deep"
	[ "$status" -eq 0 ]
}

@test "steer: an id is not for what took the place of the file" {
	readonly_home
	mkdir "$HOME/data" "$HOME/other"
	agentbox run --trace-denials -- touch "$HOME/data/x"
	[ "$status" -ne 0 ]
	local id
	id=$(ls "$AGENTBOX_STATE/runs")
	rmdir "$HOME/data"
	ln -s other "$HOME/data"
	beside allow "$id-f1"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$HOME/data cannot be allowed by its id: it is now a link to $HOME/other"* ]]
	beside allow "$HOME/data"
	[ "$status" -eq 0 ]
	[[ "$output" == "$HOME/other is writable in the next run"* ]]
	# Nor is the next run.
	rmdir "$HOME/other"
	mkdir "$HOME/third"
	ln -s third "$HOME/other"
	agentbox run -- touch "$HOME/third/x"
	[ "$status" -ne 0 ]
	[[ "$output" == *"$HOME/other, which you allowed for the next run, now leads elsewhere"* ]]
	[ ! -e "$HOME/third/x" ]
}

@test "steer: a path for always keeps the workspace writable" {
	mkdir "$HOME/data"
	beside allow "$HOME/data" --always
	[ "$status" -eq 0 ]
	for i in 1 2; do
		agentbox run -- touch "$HOME/data/$i" "$WORKSPACE/$i"
		[ "$status" -eq 0 ]
	done
}

@test "steer: what may never be written is not allowed" {
	mkdir -p .git/hooks "$HOME/.config/tool"
	git init -q "$HOME/other"
	for path in / "$HOME" "$AGENTBOX_STATE" /proc .git/hooks "$HOME/.config"; do
		[[ "$path" == /* ]] || path=$PWD/$path
		beside allow "$path"
		[ "$status" -eq 1 ]
		[[ "$output" == *"cannot be allowed"* ]]
		beside allow "$path" --always
		[ "$status" -eq 1 ]
	done
	[ ! -e "$AGENTBOX_STATE/next.json" ]
	[ ! -e "$HOME/.config/agentbox/config.json" ]
	for path in "$HOME/other/.git" "$HOME/.config/tool"; do
		beside allow "$path"
		[ "$status" -eq 0 ]
	done
}

@test "steer: nor are our settings where a link leads to them" {
	mkdir -p "$HOME/dots/agentbox/profiles" "$HOME/dots/tool"
	ln -s dots "$HOME/.config"
	for path in "$HOME/dots/agentbox" "$HOME/.config/agentbox/profiles"; do
		beside allow "$path"
		[ "$status" -eq 1 ]
		[[ "$output" == *"cannot be allowed: it belongs to agentbox"* ]]
	done
	beside allow "$HOME/dots/tool"
	[ "$status" -eq 0 ]
}

@test "steer: inside a box nothing can be allowed" {
	agentbox run --yes -- "$AGENTBOX" allow other.test
	[ "$status" -eq 1 ]
	[[ "$output" == *"nothing can be allowed from inside a box"* ]]
	agentbox run --yes -- "$AGENTBOX" allow "$HOME" --always
	[ "$status" -eq 1 ]
	agentbox run --yes -- "$AGENTBOX" config reload
	[ "$status" -eq 1 ]
}

# bats test_tags=root
@test "steer: another user is refused" {
	only_root
	box_start run --unknown ask -- curl -s -o /dev/null -w '%{http_code}' http://other.test/
	wait_for 90 pending 1
	local id
	id=$(run_id)
	chmod -R go+rx "$TEST_DIR"
	chmod 666 "$AGENTBOX_STATE/live/$id/control"
	run setpriv --reuid=23555 --regid=23555 --clear-groups \
		timeout 240 "$AGENTBOX" allow other.test --run "$id" 3>&-
	echo "$output"
	[ "$status" -eq 1 ]
	pending 1
	chmod -R go-rwx "$AGENTBOX_STATE"
	beside allow other.test
	[ "$status" -eq 0 ]
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = 200 ]
}

@test "steer: mistakes on the command line" {
	beside allow
	[ "$status" -eq 2 ]
	beside allow x.test --for never
	[ "$status" -eq 2 ]
	beside allow x.test --for 5m --always
	[ "$status" -eq 2 ]
	beside allow https://github.com/x
	[ "$status" -eq 2 ]
	[[ "$output" == *'use "github.com"'* ]]
	: >file.txt
	beside allow file.txt
	[ "$status" -eq 2 ]
	[[ "$output" == *"./file.txt"* ]]
	beside deny ./file.txt
	[ "$status" -eq 2 ]
	beside config reload a b
	[ "$status" -eq 2 ]
}

@test "steer: deny and allow for always take each other back, and --undo takes either back" {
	agentbox deny x.test --always
	[ "$status" -eq 0 ]
	[ "$(jq -c .network "$HOME/.config/agentbox/config.json")" = '{"deny":["x.test"]}' ]
	agentbox allow x.test --always
	[ "$status" -eq 0 ]
	[[ "$output" == *"x.test is no longer in network.deny of your settings"* ]]
	[[ "$output" == *'-    "deny": ["x.test"]'* ]]
	[[ "$output" == *"x.test is allowed in every run from now on"* ]]
	[[ "$output" != *"no effect"* ]]
	[ "$(jq -c .network.deny "$HOME/.config/agentbox/config.json")" = null ]
	[ "$(jq '.network.allow | index("x.test") != null' "$HOME/.config/agentbox/config.json")" = true ]
	agentbox deny X.test. --always
	[ "$status" -eq 0 ]
	[ "$(jq -c .network.deny "$HOME/.config/agentbox/config.json")" = '["x.test"]' ]
	[ "$(jq '.network.allow | index("x.test")' "$HOME/.config/agentbox/config.json")" = null ]
	agentbox deny --undo x.test
	[ "$status" -eq 0 ]
	[[ "$output" == *'-    "deny": ["x.test"]'* ]]
	[ "$(jq -c .network.deny "$HOME/.config/agentbox/config.json")" = null ]
	# What is not there is not taken back, and said.
	agentbox deny --undo x.test
	[ "$status" -eq 1 ]
	[[ "$output" == *"x.test is not in network.deny of your or the project's settings"* ]]
	mkdir "$HOME/data"
	agentbox allow "$HOME/data" --always
	[ "$status" -eq 0 ]
	agentbox allow --undo "$HOME/data"
	[ "$status" -eq 0 ]
	[ "$(jq -c .filesystem "$HOME/.config/agentbox/config.json")" = null ]
	agentbox run -- touch "$WORKSPACE/still"
	[ "$status" -eq 0 ]
	agentbox deny y.test --always
	agentbox deny y.test --always --undo
	[ "$status" -eq 0 ]
	[[ "$output" == *"y.test is no longer in network.deny of your settings"* ]]
	agentbox deny y.test --for 1m --undo
	[ "$status" -eq 2 ]
	[[ "$output" == *"--undo cannot be combined with --for: it takes back what is for always"* ]]
}

@test "steer: a private address is not allowed for always, for it would have no effect" {
	agentbox allow --always 10.1.2.3
	[ "$status" -eq 1 ]
	[[ "$output" == *"private addresses can only be allowed when a run starts"* ]]
	[[ "$output" == *"agentbox run --allow-private 10.1.2.3 --allow 10.1.2.3 -- ..."* ]]
	[ ! -e "$HOME/.config/agentbox/config.json" ]
	# Where the range is open, the rule helps and is written.
	mkdir -p "$HOME/.config/agentbox"
	echo '{"network":{"allowPrivate":["10.1.2.0/24"]}}' >"$HOME/.config/agentbox/config.json"
	agentbox allow --always 10.1.2.3
	[ "$status" -eq 0 ]
	[[ "$output" == *"10.1.2.3 is allowed in every run from now on"* ]]
	agentbox allow --always 203.0.113.7
	[ "$status" -eq 0 ]
}

# The end of a question is on the screen, perhaps in two lines; or the command has ended.
is_asking()
{
	tty_tmux capture-pane -pJ | grep -qE 'y/N\]|^status'
}

# refuses_unasked SETTINGS ARG...: the command asks on a terminal; without a yes nothing is changed.
refuses_unasked()
{
	local want=$1

	shift
	tty_start sh -c "$AGENTBOX $*; echo status \$?"
	wait_for 90 is_asking || return 1
	tty_key Enter
	tty_end
	[ "$(cat "$HOME/.config/agentbox/config.json" 2>/dev/null)" = "$want" ]
	[ ! -e .agentbox.json ]
	[ ! -e "$AGENTBOX_STATE/next.json" ]
	[[ "$output" == *"nothing was changed"*"status 1"* ]]
}

# is_obeyed ARG...: without a question.
is_obeyed()
{
	tty_start sh -c "$AGENTBOX $*; echo status \$?"
	tty_end
	[[ "$output" != *"No run was denied"* && "$output" == *"status 0"* ]]
}

# is_noted ARG...: it says that nobody was asked, and why.
is_noted()
{
	tty_start sh -c "$AGENTBOX $*; echo status \$?"
	tty_end
	# The terminal breaks lines.
	[[ "${output//[$'\n' ]/}" == *"becauseof--json"*'"allowed":true'*status0* ]]
}

@test "steer: on a terminal, a host that no run was denied is asked about before it is allowed" {
	need program:tmux
	need userns
	local id what file=$HOME/.config/agentbox/config.json

	agentbox run --unknown deny -- curl -s http://denied.test/
	id=$("$AGENTBOX" log --denied --json | jq -r 'select(.kind == "violation").id')
	# What a box prints looks the same.
	refuses_unasked "" allow evil.test --always
	# The twins: a host that was denied, its id, a yes, what takes access away, and a script.
	for what in "denied.test --always" "$id --always" "evil.test --always --yes" "evil.test --undo"; do
		is_obeyed allow "$what"
	done
	is_obeyed deny ads.test --always
	# So is what a deny rule keeps out.
	refuses_unasked "$(cat "$file")" deny ads.test --undo
	agentbox run -- curl -s http://ads.test/
	is_obeyed deny ads.test --undo
	tty_start sh -c "$AGENTBOX allow typed.test --always; echo status \$?"
	wait_for 90 is_asking
	tty_type y
	tty_key Enter
	tty_end
	[[ "$output" == *"typed.test is allowed in every run"*"status 0"* ]]
	agentbox allow script.test --always </dev/null
	[ "$status" -eq 0 ]
	[[ "$output" == *"no run was denied script.test; nobody is asked about it, because there is no terminal"* ]]
	agentbox allow quiet.test --always --yes </dev/null
	[[ "$output" != *"no run was denied"* ]]
	[ "$(jq -c '.network.allow' "$file")" = '["denied.test","typed.test","script.test","quiet.test"]' ]
	# A program reads this one, also on a terminal.
	is_noted allow json.test --always --json
}

@test "steer: on a terminal, a pattern or a group that is wider than any denial is asked about" {
	need program:tmux
	need userns
	agentbox run --unknown deny -- curl -s http://denied.test/
	for what in "'*.denied.test'" "'*.test'" sub.denied.test @npm; do
		refuses_unasked "" allow "$what" --always
	done
}

@test "steer: on a terminal, a rule for the user's or the project's settings is asked about" {
	need program:tmux
	for what in --user --project; do
		refuses_unasked "" allow evil.test --always $what
	done
}

@test "steer: on a terminal, an active run is opened by a name only if it was denied that or waits for it" {
	need program:tmux
	local id

	servant_start --unknown ask
	id=$(run_id)
	refuses_unasked "" allow other.test
	refuses_unasked "" allow other.test --for 1m
	ask http://other.test/
	wait_for 90 pending 1
	is_obeyed allow other.test
	[ "$(got)" = 200 ]
	ask http://v4.test:8080/
	wait_for 90 pending 1
	beside deny "$id-2"
	[ "$(got)" = 403 ]
	is_obeyed allow v4.test:8080
	ask http://v4.test:8080/
	[ "$(got)" = 200 ]
	servant_end
}

@test "steer: on a terminal, a path that no run was denied is asked about before it is allowed" {
	need program:tmux
	readonly_home
	local file=$HOME/.config/agentbox/config.json before

	before=$(cat "$file")
	mkdir "$HOME/data" "$HOME/bin" sub
	ln -s "$HOME/bin" tool
	for what in "$HOME/bin" "~/bin" ./tool "'~/.bashrc'" ./.envrc .envrc; do
		: >"$HOME/.bashrc"
		refuses_unasked "$before" allow "$what" --always
	done
	# The question names what would be opened, wherever a link leads.
	tty_start sh -c "$AGENTBOX allow ./tool"
	tty_wait "No run was denied $HOME/bin"
	wait_for 90 is_asking
	tty_key Enter
	tty_end
	refuses_unasked "$before" allow "$HOME/bin"
	refuses_unasked "$before" allow "$HOME/bin" --project
	# The twins: a path that was denied, unless it has become a link since; a file that was moved to
	# quarantine; a yes; and what takes access away.
	agentbox run --trace-denials -- touch "$HOME/data"
	[ "$status" -ne 0 ]
	is_obeyed allow "~/data"
	rm "$AGENTBOX_STATE/next.json"
	rmdir "$HOME/data"
	ln -s bin "$HOME/data"
	refuses_unasked "$before" allow "~/data"
	ln -s . way
	agentbox run --yes -- sh -c 'echo x >way/.envrc; until [ ! -e .envrc ]; do sleep 0.01; done'
	[ "$status" -eq 0 ]
	is_obeyed allow ./.envrc --always
	[ "$(jq -c .filesystem.denyWrite .agentbox.json)" = '["!.envrc"]' ]
	is_obeyed allow ./.envrc --undo
	rm .agentbox.json
	refuses_unasked "$before" allow ./sub/.envrc --always
	is_obeyed allow "$HOME/bin" --always --yes
	is_obeyed deny "$HOME/bin" --always
	agentbox allow "$HOME/bin" --always </dev/null
	[ "$status" -eq 0 ]
	[[ "$output" == *"no run was denied $HOME/bin; nobody is asked about it, because there is no terminal"* ]]
}
