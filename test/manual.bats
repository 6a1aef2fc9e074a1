# unsanitized: it compares texts
# Every example of the manual pages is run in a world that is made for its page. What is an example,
# and what is compared: documents.py. The examples of --help are among them.
load helpers
load stand_ins

commands()
{
	"$AGENTBOX" --help | sed -n '/^Run:/,$s/^  \([a-z]*\) .*/\1/p'
}

# make_world DIR: what every page finds in its home folder and its project.
make_world()
{
	export HOME=$1/me
	mkdir -p "$HOME/project/src" "$HOME/project/package" "$HOME/data" "$HOME/.config/agentbox" "$HOME/.claude" \
		"$HOME/.config/fish/completions" "$HOME/.local/share/bash-completion/completions" "$HOME/.zfunc"
	cp "$TEST_DIR/home/.gitconfig" "$HOME"
	cd "$HOME/project" || return 1
	stand_ins
	export SHELL=/bin/bash LESS=E ANTHROPIC_API_KEY=sk-ant-0123456789abcdef NPM_TOKEN=npm_0123456789abcdef \
		GITHUB_TOKEN=ghp_0123456789abcdef0123456789abcdef0123
	echo '{ "name": "x", "version": "1.0.0" }' >package.json
	echo '{ "mcpServers": { "x": { "command": "x" } } }' >.mcp.json
	echo '{ "permissions": { "deny": ["Read(~/private)"] } }' >"$HOME/.claude/settings.json"
	printf '#!/bin/sh\n' | tee build >upload
	: >ask.py
	chmod +x build upload
}

# enter_world PAGE: a home folder, a project and a state folder of its own: a copy of the first ones.
enter_world()
{
	[ -d "$TEST_DIR/world" ] || make_world "$TEST_DIR/world"
	export HOME=$TEST_DIR/$1/me AGENTBOX_STATE=$TEST_DIR/$1/state BOX=
	cp -a "$TEST_DIR/world" "$TEST_DIR/$1"
	cd "$HOME/project" || return 1
	PATH=$HOME/bin:$WORLD_PATH
}

# A host port of an example may be taken on this machine: a network of its own, without it.
enter_network()
{
	local -a own=(unshare --net)

	[ "$(id -u)" -eq 0 ] || own+=(--user --map-current-user --keep-caps)
	"${own[@]}" sh -c 'ip link set lo up && touch "$0" && exec sleep 3600' "$TEST_DIR/network" 3>&- &
	NETWORK=$!
	wait_for 90 test -e "$TEST_DIR/network"
	THERE=(nsenter --target "$NETWORK" --net --wdns="$PWD")
	[ "$(id -u)" -eq 0 ] || THERE+=(--user --preserve-credentials)
	THERE+=(--)
}

teardown()
{
	[ -z "${NETWORK:-}" ] || kill "$NETWORK"
	box_teardown
}

# start_box COMMAND...: an active run with the name dev; $BOX is its id.
start_box()
{
	"${THERE[@]}" timeout 240 "$AGENTBOX" run -d --name dev --unknown deny -- "$@" 3>&-
	BOX=$(run_id)
}

# start_denied SECONDS: the same, and a host was denied in it.
start_denied()
{
	start_box sh -c "curl -s http://files.example.com/; touch done; exec sleep $1"
	wait_for 90 test -e done
}

# last_run: the id of a run that has ended.
last_run()
{
	launch log --json | jq -rs '.[0].run_id'
}

has_port()
{
	"$AGENTBOX" ports | grep -q 3000
}

# leave_changes: a run in review that has ended.
leave_changes()
{
	launch run --review "$@" -- sh -c 'echo >>package.json; echo >src/main.c; echo >notes.txt; echo ls >.envrc'
}

# prepare PAGE: what its examples need beyond that.
prepare()
{
	case $1 in
	agentbox-allow | agentbox-deny | agentbox-why | agentbox-watch)
		start_denied 300
		;;
	agentbox-log)
		start_denied 1
		mkdir nodes
		AGENTBOX_STATE=$TEST_DIR/node launch run -- true
		AGENTBOX_STATE=$TEST_DIR/node launch run -- true
		cp -r "$TEST_DIR/node" nodes/one
		;;
	agentbox-stop)
		launch run -d -- sleep 300
		BOX=$(run_id)
		launch run -d --name dev -- sleep 300
		;;
	agentbox-attach)
		start_box sh -c 'echo ready; sleep 2'
		;;
	agentbox-ps)
		printf '#!/bin/sh\nexec sleep 300\n' >"$HOME/bin/npm"
		start_box npm start
		;;
	agentbox-ports | agentbox-publish)
		[ "$1" != agentbox-publish ] || enter_network
		start_box python3 -m http.server 3000
		wait_for 90 has_port
		;;
	agentbox-apply | agentbox-discard)
		leave_changes --name dev
		;;
	agentbox-diff)
		leave_changes --name dev
		launch run --profile claude -- sh -c 'echo x >~/.claude/history'
		;;
	agentbox-undo)
		leave_changes --name dev
		launch apply dev --all
		launch run --review -- touch one two
		launch apply --all
		BOX=$(last_run)
		;;
	agentbox-layers)
		launch run --keep --name dev -- true
		launch stop dev
		leave_changes
		BOX=$(last_run)
		;;
	agentbox-shell)
		launch run --keep --name dev -- true
		;;
	agentbox-trust)
		echo '{ "network": { "allow": ["x.example"] } }' >.agentbox.json
		;;
	agentbox-config)
		printf '%s\n' '{' '"network": {' '"allow": [' '"github.com",' '"*.example.org",' \
			'"https://github.com"' '],' '"modes": "blocked"' '} }' >other.json
		;;
	agentbox-quarantine)
		# Through the link the name is not refused at once.
		ln -s . way
		launch run --yes -- sh -c 'echo export X=1 >way/.envrc; until [ ! -e .envrc ]; do sleep 0.01; done'
		BOX=$(last_run)
		;;
	esac
}

# without_comments: commands as they are typed.
without_comments()
{
	sed 's/ *#.*//'
}

@test "manual: the examples of --help are in the page of their command" {
	local command

	"$ROOT/test/documents.py" commands "$ROOT"/man/*.1 | without_comments >examples
	for command in $(commands) 'config show'; do
		# shellcheck disable=SC2086
		"$AGENTBOX" $command --help | sed -n '/^Examples:/,/^$/s/^  //p' | sort >help
		sed -n "s/^agentbox-${command%% *}\.1	//p" examples | sort >page
		echo "$command"
		[ -s help ]
		run comm -23 help page
		echo "$output"
		[ -z "$output" ]
	done
}

@test "manual: an example that is wrong is found, and its right twin is not" {
	local right='.Bd -literal\n$ echo one 12  two\none 3 two\n$ true\n$ false  # exit status 1\n.Ed\n.Dl $ true\n'
	local wrong

	printf "$right" >page.1
	"$ROOT/test/documents.py" run "$AGENTBOX" "$PWD" "$PWD/page.1"
	for wrong in '.Bd -literal\n$ echo one\ntwo\n.Ed\n' '.Dl $ false\n' \
		'.Bd -literal\n$ true  # exit status 1\n.Ed\n' '.Bd -literal\n{ "network": { "alow": [] } }\n.Ed\n'; do
		printf "$wrong" >page.1
		PATH=$(dirname "$AGENTBOX"):$PATH run "$ROOT/test/documents.py" run "$AGENTBOX" "$PWD" "$PWD/page.1"
		echo "$output"
		[ "$status" -eq 1 ]
	done
	for wrong in '.Bd -literal\nagentbox ps\n.Ed\n' '.\\" skipped\n.Dl $ agentbox ps\n'; do
		printf "$wrong" >page.1
		run "$ROOT/test/documents.py" forms page.1
		echo "$output"
		[ "$status" -eq 1 ]
	done
	printf '.\\" not run: a reason\n.Dl $ agentbox ps\n' >page.1
	"$ROOT/test/documents.py" forms page.1
}

@test "manual: every example can be run, or says which test shows it" {
	"$ROOT/test/documents.py" forms "$ROOT"/man/*.[0-9]
}

@test "manual: the examples do what they show" {
	need program:curl
	need program:jq
	need doctor "this machine cannot run every profile"
	local file page failed=

	WORLD_PATH=$PATH
	for file in "$ROOT"/man/*.[0-9]; do
		page=$(basename "$file" | sed 's/\.[0-9]$//')
		enter_world "$page"
		THERE=()
		prepare "$page"
		echo "$page"
		run "${THERE[@]}" "$ROOT/test/documents.py" run "$HOME/bin/agentbox" "$PWD" "$file" 3>&-
		echo "$output"
		[ "$status" -eq 0 ] || failed+=" $page"
		launch stop --all || true
	done
	echo "failed:$failed"
	[ -z "$failed" ]
}
