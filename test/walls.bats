# What the host replaces or creates during a run is protected or hidden again, and
# the run continues.
#
# A script prints HOLE where it got through.
# root-in-turn: root gives up capabilities that a user never had
UNJUDGED=1
load helpers
load attack/attack

setup_file()
{
	attack_build window
}

teardown_file()
{
	attack_clean
}

teardown()
{
	stop_peers
	box_teardown
}

# start ARG...: a run in the background that has begun; its output is in
# $TEST_DIR/out. The command must create "up" in the workspace.
start()
{
	rm -f up go
	launch "$@" >"$TEST_DIR/out" 2>&1 3>&- &
	PEERS+=($!)
	RUN=$!
	wait_for 90 test -e up
}

# The status of that run, once "go" exists.
finish()
{
	echo >go
	status=0
	wait "$RUN" || status=$?
	output=$(cat "$TEST_DIR/out")
	echo "status $status"
	echo "$output"
}

# replace_config KEY VALUE: change .git/config as git does, by a rename, and wait until
# the broker has put a protected file in its place.
replace_config()
{
	local inode

	cp .git/config new
	git config -f new "$1" "$2"
	inode=$(stat -c %i new)
	mv new .git/config
	wait_for 90 sh -c 'test "$(stat -c %i .git/config)" != "$0"' "$inode"
}

told()
{
	grep -q "$1" "$TEST_DIR/out"
}

# Said once, and in the record's list of findings.
found()
{
	[ "$(grep -c "$1" "$TEST_DIR/out")" -eq 1 ]
	"$AGENTBOX" log --json | jq -e --arg t "$1" \
		'select(.kind == "end") | .findings[] | select(contains($t))' >"$TEST_DIR/found"
}

@test "walls: git config on the host does not end a run, and the file is protected again" {
	make_repo
	start run -- sh -c '
		echo up >up; until [ -e go ]; do sleep 0.05; done
		git config user.nickname; git remote
		echo evil >>.git/config && echo HOLE
		mv file .git/config && echo HOLE
		rm -f .git/config && echo HOLE
		echo end'
	git config user.name Host
	wait_for 90 told ".git/config was changed on the host"
	git remote add there https://example.org/x.git
	# The broker has worked on all of them before the command may continue.
	replace_config user.email host@example.org
	finish
	[ "$status" -eq 0 ]
	no_hole
	[[ "$output" == *there* ]]
	[[ "$output" == *end* ]]
	found ".git/config was changed on the host during the run and is protected again"
	[ "$(git config user.name)" = Host ]
	[ "$(git config user.email)" = host@example.org ]
	[ "$(git config remote.there.url)" = https://example.org/x.git ]
	git fsck
	run ! ls .git/hooks/*agentbox*
}

@test "walls: what the box opened while a wall was down leads to no file afterwards" {
	make_repo
	start run -- sh -c 'echo up >up; "$1" .git/config go; echo end' sh "$ATTACK/window"
	for i in $(seq 60); do
		git config "branch.b$i.description" "text $i"
	done
	wait_for 90 told ".git/config was changed on the host"
	replace_config branch.last.description last
	finish
	[ "$status" -eq 0 ]
	[[ "$output" == *"opened "*"for writing"* ]]
	[[ "$output" == *end* ]]
	run ! grep -r evil .git/config
	[ "$(git config branch.last.description)" = last ]
	[ "$(git config --get-regexp '^branch\.b.*\.description$' | wc -l)" -eq 60 ]
}

@test "walls: a program in a configuration that the host replaced ends a strict run" {
	make_repo
	start run -- sh -c 'echo up >up; until [ -e go ]; do sleep 0.05; done; echo end'
	git config core.hooksPath elsewhere
	status=0
	wait "$RUN" || status=$?
	output=$(cat "$TEST_DIR/out")
	echo "$output"
	[ "$status" -eq 125 ]
	[[ "$output" == *".git/config was replaced on the host"*"core.hookspath is not among the settings"*"the run was ended"* ]]
	[[ "$output" != *end ]]
	git config --unset core.hooksPath
	start run --fallback warn -- sh -c 'echo up >up; until [ -e go ]; do sleep 0.05; done; echo end'
	git config core.hooksPath elsewhere
	wait_for 90 told "core.hookspath is not among the settings"
	finish
	[ "$status" -eq 0 ]
	[[ "$output" == *end* ]]
}

@test "walls: a masked file that the host replaces is hidden again, and told at once" {
	echo old >"$HOME/.netrc"
	start run --home readonly -- sh -c '
		echo up >up; until [ -e go ]; do sleep 0.05; done
		cat ~/.netrc && echo HOLE; echo end'
	echo new-secret >"$HOME/new"
	mv "$HOME/new" "$HOME/.netrc"
	wait_for 90 told ".netrc was replaced on the host during the run and is hidden again"
	finish
	[ "$status" -eq 0 ]
	no_hole
	[[ "$output" != *new-secret* ]]
	found ".netrc was replaced on the host during the run"
}

@test "walls: a program that waits for the moment when a masked file is replaced reads it" {
	echo old >"$HOME/.netrc"
	start run --home readonly -- python3 -c '
import os
open("up", "w").close()
path = os.path.expanduser("~/.netrc")
while not os.path.exists("go"):
    try:
        text = open(path).read()
        if "new-secret" in text:
            open("read", "w").close()
    except OSError:
        pass'
	replaced_and_read()
	{
		echo new-secret >"$HOME/new"
		mv "$HOME/new" "$HOME/.netrc"
		[ -e read ]
	}
	wait_for 90 replaced_and_read
	wait_for 90 told ".netrc was replaced on the host during the run and is hidden again"
	finish
	[ "$status" -eq 0 ]
}

@test "walls: settings that the box sees in part are covered again when the host replaces them" {
	mkdir -p "$HOME/.config/pip"
	printf '[global]\ntimeout = 7\npassword = old-secret\n' >"$HOME/.config/pip/pip.conf"
	start run --home readonly -- sh -c '
		echo up >up; until [ -e go ]; do sleep 0.05; done
		cat ~/.config/pip/pip.conf; echo end'
	printf '[global]\ntimeout = 8\npassword = new-secret\n' >"$HOME/new"
	mv "$HOME/new" "$HOME/.config/pip/pip.conf"
	wait_for 90 told "pip.conf was replaced on the host during the run and is hidden again"
	finish
	[ "$status" -eq 0 ]
	[[ "$output" == *"timeout = 7"*end && "$output" != *secret* ]]
	# The twin: settings that the box sees whole are what the host makes of them.
	printf '[global]\ntimeout = 8\n' >"$HOME/.config/pip/pip.conf"
	start run --home readonly -- sh -c '
		echo up >up; until [ -e go ]; do sleep 0.05; done
		cat ~/.config/pip/pip.conf; echo end'
	printf '[global]\ntimeout = 9\n' >"$HOME/new"
	mv "$HOME/new" "$HOME/.config/pip/pip.conf"
	finish
	[ "$status" -eq 0 ]
	[[ "$output" == *"timeout = 9"*end && "$output" != *"hidden again"* ]]
}

@test "walls: a denied file that the host creates is hidden when it is seen, and told at once" {
	mkdir "$HOME/.ssh"
	echo known >"$HOME/.ssh/known_hosts"
	start run --home readonly --deny-read keys -- sh -c '
		mkdir keys; echo mine >keys/own
		echo up >up; until [ -e go ]; do sleep 0.05; done
		cat keys/own
		cat ~/.vault-token ~/.ssh/id_late ~/.config/gh/hosts.yml && echo HOLE
		cat ~/.ssh/known_hosts ~/.ssh/id_late.pub ~/plain; echo end'
	echo late-secret >"$HOME/.vault-token"
	echo late-secret >"$HOME/.ssh/id_late"
	echo public >"$HOME/.ssh/id_late.pub"
	echo plain >"$HOME/plain"
	mkdir -p "$HOME/.config/gh"
	echo late-secret >"$HOME/.config/gh/hosts.yml"
	wait_for 90 told ".vault-token was created on the host during the run"
	wait_for 90 told "id_late was created on the host during the run"
	wait_for 90 told "hosts.yml was created on the host during the run"
	finish
	[ "$status" -eq 0 ]
	no_hole
	[[ "$output" != *late-secret* ]]
	[[ "$output" == *mine*known*public*plain*end* ]]
	run ! told "id_late.pub was"
	run ! told "plain was"
	found "id_late was created on the host"
}

@test "walls: a hooks folder that the host replaces ends a strict run" {
	make_repo
	start run -- sh -c 'echo up >up; until [ -e go ]; do sleep 0.05; done; echo end'
	mv .git/hooks old
	mkdir .git/hooks
	status=0
	wait "$RUN" || status=$?
	[ "$status" -eq 125 ]
	told ".git/hooks was replaced on the host"
}
