# Kept layers: names, profiles and workspaces that continue with one, two runs at
# once, the commands that list, remove, refresh and limit them, and what a hostile
# box can leave in one for the next start.
# root-in-turn: root may give files owners and modes that a user may not
load helpers

UNJUDGED=1

teardown()
{
	# A test that failed has left it waiting.
	touch "$WORKSPACE"/go-{dev,live,one} 2>/dev/null || true
	[ -z "${pid:-}" ] || timeout 60 tail --pid="$pid" -f /dev/null || true
	box_teardown
}

# begin NAME ARG...: `run ARG...` in the background, whose command says "ready" and
# then waits for the file `go-NAME`.
begin()
{
	local name=$1
	shift

	"$AGENTBOX" run "$@" -- sh -c "$BEGIN touch ready-$name; until [ -e go-$name ]; do sleep 0.05; done; $END" \
		</dev/null >"$TEST_DIR/$name.out" 2>&1 3>&- &
	pid=$!
	wait_for 60 test -e "$WORKSPACE/ready-$name"
}

# finish NAME: let it end, and wait for it.
finish()
{
	touch "$WORKSPACE/go-$1"
	timeout 60 tail --pid="$pid" -f /dev/null
}

meta()
{
	echo "$AGENTBOX_STATE/layers/$1/meta.json"
}

# set_meta KEY FILTER: change a member of a set's description.
set_meta()
{
	jq "$2" "$(meta "$1")" >"$TEST_DIR/meta" && cat "$TEST_DIR/meta" >"$(meta "$1")"
}

# many DIR N: so many files in that folder. They are names of one, which are made and removed in a
# fraction of the time.
many()
{
	mkdir -p "$1"
	python3 -c '
import os, sys
os.chdir(sys.argv[1])
open("0", "w").close()
for n in range(1, int(sys.argv[2])):
    os.link("0", str(n))' "$1" "$2"
}

# A state folder in the home folder, as it is by default.
at_home()
{
	export AGENTBOX_STATE=$HOME/.local/state/agentbox
}

@test "name: the next run with it continues with its home layer, and the host's home is as it was" {
	need userns
	echo host >~/file
	agentbox run --name dev -- sh -c 'echo box >~/file; mkdir ~/.tool; echo kept >~/.tool/x; rm ~/.gitconfig'
	[ "$status" -eq 0 ]
	[ "$(cat ~/file)" = host ]
	[ ! -e ~/.tool ]
	[ -e ~/.gitconfig ]
	agentbox run --name dev -- sh -c 'cat ~/file ~/.tool/x; test ! -e ~/.gitconfig'
	[ "$status" -eq 0 ]
	[ "$output" = $'box\nkept' ]
	# The twin: another name and no name see nothing of it.
	agentbox run --name other -- sh -c 'cat ~/file; test ! -e ~/.tool'
	[ "$status" -eq 0 ]
	[ "$output" = host ]
	agentbox run -- sh -c 'cat ~/file; test ! -e ~/.tool'
	[ "$output" = host ]
	[ "$(ls "$AGENTBOX_STATE/layers" | tr '\n' ' ')" = "dev other " ]
}

@test "name: works with the state folder in the home folder, which the box does not see" {
	need userns
	at_home
	agentbox run --name dev -- sh -c 'echo kept >~/x'
	agentbox run --name dev -- sh -c 'cat ~/x; ls ~/.local/state/agentbox 2>&1; echo evil >~/.local/state/agentbox/layers/dev/home/upper/y'
	[[ "$output" == *kept* ]]
	[[ "$output" == *"cannot open directory"*"cannot create"* ]]
	[ ! -e ~/.local/state/agentbox/layers/dev/home/upper/y ]
	[ "$(cat ~/.local/state/agentbox/layers/dev/home/upper/x)" = kept ]
}

@test "home kept: one layer for each workspace" {
	need userns
	mkdir ../second
	agentbox run --home kept -- sh -c 'echo first >~/x'
	agentbox run --home kept --workspace ../second -- sh -c 'cat ~/x 2>&1; echo second >~/x'
	[[ "$output" == *"No such file"* ]]
	agentbox run --home kept -- cat "$HOME/x"
	[ "$output" = first ]
	agentbox run --home kept --workspace ../second -- cat "$HOME/x"
	[ "$output" = second ]
	[ "$(ls "$AGENTBOX_STATE/layers" | grep -c '^@dir-')" -eq 2 ]
	[ ! -e ~/x ]
}

@test "home readonly: a name keeps no layer" {
	need userns
	agentbox run --home readonly --name dev -- sh -c 'echo x >~/x'
	[ "$status" -ne 0 ]
	[ ! -e "$AGENTBOX_STATE/layers/dev" ]
}

@test "name: a second run at once is refused, and told which one has it and how to go on" {
	need userns
	BEGIN='echo one >~/x;' END='' begin dev --name dev
	id=$("$AGENTBOX" ps --json 3>&- | jq -r '.[0].id')
	agentbox run --name dev -- sh -c 'echo two >~/x'
	[ "$status" -eq 125 ]
	[[ "$output" == *"$id"* ]]
	# Only a box that stays takes another command.
	[[ "$output" != *"--in dev"* ]]
	[[ "$output" == *"another name"*"agentbox stop $id"* ]]
	# The twin.
	agentbox run --name dev2 -- sh -c 'echo two >~/x'
	[ "$status" -eq 0 ]
	finish dev
	agentbox run --name dev -- sh -c 'cat ~/x'
	[ "$output" = one ]
}

@test "name: layers that a command works on are waited for, and then the start fails" {
	need userns program:flock
	agentbox run --name dev -- true
	flock "$AGENTBOX_STATE/layers/dev/lock" sleep 300 3>&- &
	pid=$!
	wait_for 90 sh -c '! flock -n "$0" true' "$AGENTBOX_STATE/layers/dev/lock"
	agentbox run --name dev -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"in use"* ]]
	[ ! -e ran ]
	pkill -P "$pid" || true
	wait "$pid" || true
	agentbox run --name dev -- touch ran
	[ "$status" -eq 0 ]
}

@test "home kept: a second run at once sees the layer, and leaves nothing in it" {
	need userns
	agentbox run --home kept -- sh -c 'echo kept >~/x; rm ~/.gitconfig'
	BEGIN='' END='cat ~/x ~/y 2>&1' begin one --home kept
	id=$("$AGENTBOX" ps --json 3>&- | jq -r '.[0].id')
	agentbox run --home kept -- sh -c 'cat ~/x; test ! -e ~/.gitconfig; echo changed >~/x; echo new >~/y; cat ~/x'
	[ "$status" -eq 0 ]
	[[ "$output" == *"run $id uses the home layer"*"this run sees it below a temporary one"* ]]
	[[ "$output" == *$'kept\nchanged'* ]]
	finish one
	[[ "$(cat "$TEST_DIR/one.out")" == "kept"*"No such file"* ]]
	agentbox run --home kept -- sh -c 'cat ~/x; ls ~/y 2>&1'
	[[ "$output" == "kept"*"No such file"* ]]
	[ ! -e ~/x ]
}

@test "home kept: with the state folder in the home folder, a second run has a private copy" {
	need userns
	at_home
	mkdir ~/dir
	echo host >~/dir/hidden
	agentbox run --home kept -- sh -c 'echo kept >~/x; rm ~/.gitconfig; rm -r ~/dir; mkdir ~/dir; ln -s / ~/link; mkfifo ~/fifo'
	BEGIN='' END='cat ~/x ~/y 2>&1' begin one --home kept
	agentbox run --home kept -- sh -c 'cat ~/x; test ! -e ~/.gitconfig && test ! -e ~/dir/hidden && test -L ~/link || echo WRONG; echo changed >~/x; echo new >~/y; cat ~/x'
	[ "$status" -eq 0 ]
	[[ "$output" == *"this run has a private copy of it"* ]]
	[[ "$output" == *$'kept\nchanged'* ]]
	[[ "$output" != *WRONG* ]]
	[ -z "$(ls -A "$AGENTBOX_STATE/layers" | grep private)" ]
	# A copy of a large layer would take too long.
	many "$(echo "$AGENTBOX_STATE"/layers/@dir-*/home/upper)/many" 10001
	agentbox run --home kept -- sh -c 'cat ~/x; echo new >~/y; cat ~/.gitconfig'
	[[ "$output" == *"this run begins with an empty one (no copy: it is larger than 64 MB or 10000 files)"* ]]
	[[ "$output" == *"No such file"*"[user]"* ]]
	[ -z "$(ls -A "$AGENTBOX_STATE/layers" | grep private)" ]
	finish one
	[[ "$(cat "$TEST_DIR/one.out")" == "kept"*"No such file"* ]]
	[ ! -e ~/x ]
	[ ! -e ~/y ]
	[ -e ~/dir/hidden ]
}

@test "profile: the runs of an agent share one layer, in all workspaces, and two at once are fine" {
	need userns
	mkdir ../second
	agentbox run --profile claude -- sh -c 'echo kept >~/x'
	[ "$status" -eq 0 ]
	[ -e "$AGENTBOX_STATE/layers/@claude/home/upper/x" ]
	agentbox run --profile claude --workspace ../second -- cat "$HOME/x"
	[[ "$output" == *kept ]]
	BEGIN='' END='cat ~/x ~/y 2>&1' begin one --profile claude
	agentbox run --profile claude -- sh -c 'cat ~/x; echo changed >~/x; echo new >~/y'
	[[ "$output" == *"uses the home layer @claude: this run sees it below a temporary one"*kept* ]]
	finish one
	[[ "$(cat "$TEST_DIR/one.out")" == *"kept"*"No such file"* ]]
	# The twins: another agent's profile, and a name.
	agentbox run --profile codex -- sh -c 'test ! -e ~/x'
	[ "$status" -eq 0 ]
	agentbox run --profile claude --name dev -- sh -c 'test ! -e ~/x'
	[ "$status" -eq 0 ]
	agentbox layers rm --yes @claude
	[ "$status" -eq 0 ]
	[ ! -e ~/x ]
}

@test "killed: the private copy of a second run is removed by gc" {
	need userns
	at_home
	agentbox run --home kept -- sh -c 'echo kept >~/x'
	flock "$(echo "$AGENTBOX_STATE"/layers/@dir-*/lock)" sleep 300 3>&- &
	lock=$!
	wait_for 90 sh -c '! flock -n "$0" true' "$(echo "$AGENTBOX_STATE"/layers/@dir-*/lock)"
	BEGIN='cat ~/x;' END='' begin one --home kept
	private=$(echo "$AGENTBOX_STATE"/layers/.private-*)
	[ -d "$private" ]
	agentbox gc
	[ -d "$private" ]
	kill -KILL $(our_processes | awk '{ print $1 }') 2>/dev/null || true
	wait_for 60 sh -c 'flock -n "$0" true' "$private/lock"
	agentbox gc
	[ ! -e "$private" ]
	pkill -P "$lock" || true
	wait "$lock" || true
	agentbox run --home kept -- sh -c 'cat ~/x'
	[[ "$output" == *kept ]]
}

@test "killed: the lock goes with the last process, and the next start works" {
	need userns
	BEGIN='echo kept >~/x;' END='' begin dev --name dev
	# The supervisor; then the broker finishes the run, and its lock goes too.
	kill -KILL "$pid"
	wait_for 60 sh -c 'flock -n "$0" true' "$AGENTBOX_STATE/layers/dev/lock"
	agentbox run --name dev -- cat "$HOME/x"
	[ "$status" -eq 0 ]
	[[ "$output" == *kept ]]
}

@test "killed: all at once, while the command writes" {
	need userns
	BEGIN='echo kept >~/x; (while :; do echo y >>~/y; done) &' END='' begin dev --name dev
	kill -KILL $(our_processes | awk '{ print $1 }') 2>/dev/null || true
	wait_for 60 sh -c 'flock -n "$0" true' "$AGENTBOX_STATE/layers/dev/lock"
	agentbox run --name dev -- cat "$HOME/x"
	[ "$status" -eq 0 ]
	[[ "$output" == *kept ]]
}

@test "changed since: another profile, workspace or rules are said in one line, and the run continues" {
	need userns
	mkdir ../second
	echo host >~/x
	agentbox run --name dev -- sh -c 'echo kept >~/x'
	agentbox run --name dev -- cat "$HOME/x"
	[ "$output" = kept ]
	agentbox run --name dev --profile workspace-write -- cat "$HOME/x"
	[ "${lines[0]}" = "agentbox: the layer dev was last used with profile default" ]
	[ "${lines[1]}" = kept ]
	agentbox run --name dev --profile workspace-write --workspace ../second -- cat "$HOME/x"
	[ "${lines[0]}" = "agentbox: the layer dev was last used in $WORKSPACE" ]
	agentbox run --name dev --profile workspace-write --workspace ../second --deny-read "$HOME/x" -- cat "$HOME/x"
	[[ "${lines[0]}" == *"the layer dev was last used with other rules for files; this run's apply" ]]
	# The copy in the layer is hidden like the file itself.
	[[ "$output" != *kept* && "$output" != *host* ]]
	[[ "$output" == *"Permission denied"* ]]
	set_meta dev '.kernel = "1.0"'
	agentbox run -v --name dev --profile workspace-write --workspace ../second -- true
	[[ "$output" == *"the layer dev was last used with kernel 1.0"* ]]
}

@test "changed since: a layer above another home folder is refused, with the way out" {
	need userns
	agentbox run --name dev -- sh -c 'echo kept >~/x'
	mkdir -p "$TEST_DIR/other/project"
	HOME=$TEST_DIR/other agentbox run --workspace "$TEST_DIR/other/project" --name dev -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"above another home folder: $HOME"* ]]
	[[ "$output" == *"agentbox layers rm dev"* ]]
	agentbox run --name dev -- cat "$HOME/x"
	[ "$output" = kept ]
}

@test "damaged: a description that is not ours is an error and never followed, and rm helps" {
	need userns
	agentbox run --name dev -- sh -c 'echo kept >~/x'
	agentbox run --name good -- true
	cp "$(meta dev)" "$TEST_DIR/meta"
	for damage in "echo {" "cat $(meta good)" "jq '.home=\"../x\"' $TEST_DIR/meta" "jq '.more=1' $TEST_DIR/meta"; do
		eval "$damage" >"$TEST_DIR/new" && cat "$TEST_DIR/new" >"$(meta dev)"
		agentbox run --name dev -- touch ran
		[ "$status" -eq 125 ]
		[[ "$output" == *"meta.json is damaged"*"agentbox layers rm dev"* ]]
		[ ! -e ran ]
	done
	rm "$(meta dev)"
	ln -s "$TEST_DIR/meta" "$(meta dev)"
	agentbox run --name dev -- touch ran
	[ "$status" -eq 125 ]
	agentbox layers
	[[ "$output" == *"dev "*damaged* ]]
	[[ "$output" == *"good "* ]]
	agentbox layers rm dev
	[ "$status" -eq 0 ]
	[ -e "$TEST_DIR/meta" ]
	agentbox run --name dev -- touch ran
	[ "$status" -eq 0 ]
}

@test "full disk: what it means is said at the end" {
	need userns
	local as=()
	[ "$(id -u)" -eq 0 ] || as=(--user --map-root-user)
	mkdir -p "$AGENTBOX_STATE"
	chmod 700 "$AGENTBOX_STATE"
	run timeout 60 unshare "${as[@]}" --mount sh -c 'mount -t tmpfs -o size=4m,mode=700 none "$1" &&
		"$0" run --name dev -- sh -c "echo small >~/small; head -c 9000000 /dev/zero >~/large" && exit 9
		"$0" layers rm --yes dev && "$0" run --name dev -- sh -c "echo again >~/x; cat ~/x"' "$AGENTBOX" "$AGENTBOX_STATE"
	echo "$output"
	[[ "$output" == *"No space left"*"the disk with the layers is full"*"to the home folder goes there"*"agentbox layers"*"agentbox gc"* ]]
	[[ "$output" == *$'dev removed\nagain'* ]]
}

@test "full disk: it is said that the changes of the workspace are there, too" {
	need userns
	local as=()
	[ "$(id -u)" -eq 0 ] || as=(--user --map-root-user)
	mkdir -p "$AGENTBOX_STATE"
	chmod 700 "$AGENTBOX_STATE"
	run timeout 60 unshare "${as[@]}" --mount sh -c 'mount -t tmpfs -o size=4m,mode=700 none "$1" &&
		"$0" run --review --name dev -- sh -c "head -c 9000000 /dev/zero >large"' "$AGENTBOX" "$AGENTBOX_STATE"
	echo "$output"
	[[ "$output" == *"the disk with the layers is full"*"what the box writes to the workspace"*"goes there"* ]]
	[ ! -e large ]
}

@test "layers: the list has name, profile, workspace, size, age and state, for people and programs" {
	need userns
	agentbox layers
	[ "$output" = "no kept layers" ]
	agentbox run --name dev -- sh -c 'head -c 3000000 /dev/zero >~/big'
	BEGIN='' END='' begin live --name live
	agentbox_split layers
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" =~ ^NAME\ +PROFILE\ +SIZE\ +AGE\ +STATE\ +WORKSPACE$ ]]
	[[ "${lines[1]}" =~ ^live\ +default\ .*\ in\ use\ by\ [a-z0-9]{5}\ +"$WORKSPACE"$ ]]
	[[ "${lines[2]}" =~ ^dev\ +default\ +(2|3)[0-9]*[MK]\ +[0-9]+s\ +home\ +"$WORKSPACE"$ ]]
	agentbox_split layers list --json
	jq -e '.[1] | .key == "dev" and .name == "dev" and .profile == "default" and .bytes > 2900000
		and .in_use == false and .waiting == false and .home and (.run | length == 5)' <<<"$output"
	jq -e --arg w "$WORKSPACE" '.[0].in_use and .[0].workspace == $w' <<<"$output"
	finish live
}

@test "layers rm: removes what is not in use, by name and by run, and only that" {
	need userns
	agentbox run --name dev -- true
	agentbox run --name other -- true
	id=$(jq -r '.runs[0]' "$(meta other)")
	BEGIN='echo kept >~/x;' END='cat ~/x' begin live --name live
	agentbox layers rm live
	[ "$status" -eq 1 ]
	[[ "$output" == *"in use by run"* ]]
	agentbox layers rm dev "$id" nope
	[ "$status" -eq 1 ]
	[[ "$output" == *"no layer named nope"* ]]
	[[ "$output" == *"dev removed"*"$id removed"* ]]
	[ "$(ls "$AGENTBOX_STATE/layers")" = live ]
	finish live
	[ "$(cat "$TEST_DIR/live.out")" = kept ]
	agentbox layers rm ../live
	[ "$status" -eq 2 ]
	# What the box wrote is not lost by accident.
	agentbox layers rm live </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"live has files in its home layer"*"agentbox diff --home live, "*"--yes"* ]]
	agentbox diff --home live
	[[ "$output" == *"+kept"* ]]
	agentbox layers rm --yes live
	[ "$status" -eq 0 ]
	[ -z "$(ls "$AGENTBOX_STATE/layers")" ]
}

@test "layers rm, refresh: wait a moment for another command, as the cleanup of a run is one" {
	local command

	need userns program:flock
	for command in "refresh dev" "rm --yes dev"; do
		agentbox run --name dev -- touch "$HOME/x"
		rm -f "$TEST_DIR/held" "$TEST_DIR/go"
		timeout 60 flock "$AGENTBOX_STATE/layers/dev/lock" sh -c 'touch "$1/held"
			until [ -e "$1/go" ]; do sleep 0.1; done; sleep 0.3' sh "$TEST_DIR" 3>&- &
		wait_for 90 test -e "$TEST_DIR/held"
		touch "$TEST_DIR/go"
		agentbox layers $command
		[ "$status" -eq 0 ]
		wait $!
	done
	[ ! -e "$AGENTBOX_STATE/layers/dev" ]
}

@test "layers rm, gc: changes that wait to be applied are not lost by accident" {
	need userns
	agentbox run --name dev -- true
	set_meta dev '.waiting = 3 | .used = 1000000000'
	agentbox layers
	[[ "$output" == *"3 changes to apply"* ]]
	agentbox layers rm dev </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"3 changes that were not applied"*"--yes"* ]]
	agentbox gc
	[[ "$output" == *"layers of dev kept: they have changes to apply"*"gc --layers"* ]]
	[ -e "$(meta dev)" ]
	agentbox_split gc --json
	jq -e '.layers.waiting == ["dev"] and .layers.removed == []' <<<"$output"
	agentbox gc --layers --dry-run
	[[ "$output" == *"layers of dev would be removed"* ]]
	[ -e "$(meta dev)" ]
	agentbox gc --layers
	[[ "$output" == *"layers of dev removed"* ]]
	[ ! -e "$(meta dev)" ]
	agentbox run --name dev -- true
	set_meta dev '.waiting = 3'
	agentbox layers rm --yes dev
	[ "$status" -eq 0 ]
	[ ! -e "$(meta dev)" ]
}

@test "gc: by age and by size, never what is in use; a project has no say" {
	need userns
	for n in old new; do agentbox run --name $n -- sh -c 'head -c 3000000 /dev/zero >~/big'; done
	BEGIN='head -c 3000000 /dev/zero >~/big;' END='ls ~/big' begin live --name live
	# A run that lasts looks once an hour, and would remove it, too.
	flock "$AGENTBOX_STATE/layers/.looked" touch "$AGENTBOX_STATE/layers/.looked"
	set_meta live '.used = 1000000000'
	set_meta old '.used = 1000000000'
	echo '{"layers":{"keepFor":"1s"}}' >.agentbox.json
	agentbox gc
	[[ "$output" == *"layers of old removed"* ]]
	[[ "$output" != *"of new"* && "$output" != *"of live"* ]]
	[ "$(ls "$AGENTBOX_STATE/layers" | tr '\n' ' ')" = "live new " ]
	jq '.layers.maxSize = "4M"' ~/.config/agentbox/config.json >"$TEST_DIR/c"
	cp "$TEST_DIR/c" ~/.config/agentbox/config.json
	agentbox gc
	[[ "$output" == *"layers of new removed"* ]]
	[ "$(ls "$AGENTBOX_STATE/layers")" = live ]
	finish live
	[[ "$(cat "$TEST_DIR/live.out")" == *"$HOME/big"* ]]
}

@test "runs clean up old layers now and then, a few files at a time" {
	need userns
	agentbox run --name old -- mkdir "$HOME/d"
	# More than are removed at once.
	many "$AGENTBOX_STATE/layers/old/home/upper/d" 2100
	set_meta old '.used = 1000000000'
	touch -d '2 hours ago' "$AGENTBOX_STATE/layers/.looked"
	is_retired()
	{
		[ ! -e "$AGENTBOX_STATE/layers/old" ]
	}
	is_removed()
	{
		[ -z "$(ls -A "$AGENTBOX_STATE/layers" | grep -v looked)" ]
	}
	# A short run does it if it is its turn, one in sixteen.
	for i in {1..400}; do
		agentbox run -- true
		! is_retired || break
	done
	is_retired
	! is_removed || false
	# A run that lasts removes the rest.
	agentbox run -- sh -c 'until [ -e go ]; do sleep 0.05; done' &
	wait_for 90 is_removed
	touch go
	wait $!
}

@test "layers refresh: the host's newer files win, and nothing else" {
	need userns
	for f in a b c only; do echo host >~/$f; done
	rm ~/only
	agentbox run --name dev -- sh -c 'for f in a b only; do echo box >~/$f; done; rm ~/c'
	echo newer >~/a
	echo newer >~/c
	agentbox run -v --name dev -- sh -c 'cat ~/a ~/b ~/only; test ! -e ~/c'
	[ "$status" -eq 0 ]
	[[ "$output" == *"2 files changed on the host"*"layers refresh dev"* ]]
	agentbox_split layers refresh --json dev
	jq -e '.refreshed == ["a", "c"] and .left == []' <<<"$output"
	agentbox run --name dev -- sh -c 'cat ~/a ~/b ~/c ~/only'
	[ "$output" = $'newer\nbox\nnewer\nbox' ]
	# By name also what the host did not change; what only the layer has stays.
	agentbox layers refresh dev "$HOME/b" ~/only
	[ "$status" -eq 0 ]
	agentbox run --name dev -- sh -c 'cat ~/b ~/only'
	[ "$output" = $'host\nbox' ]
	agentbox layers refresh dev /etc/passwd
	[ "$status" -eq 2 ]
	agentbox layers refresh nope
	[ "$status" -eq 1 ]
}

@test "ps --all: runs whose changes wait, beside active ones" {
	need userns
	agentbox run --name dev -- true
	agentbox ps --all
	[ "$output" = "no active runs, no changes waiting; runs that have ended: agentbox log --list" ]
	set_meta dev '.waiting = 12'
	BEGIN='' END='' begin live --name live
	agentbox_split ps --all
	[[ "$output" == *"live "*"WAITING"*"dev "*" 12 "*"$WORKSPACE"* ]]
	agentbox_split ps --all --json
	jq -e '(.runs | length == 1) and (.waiting | length == 1) and .waiting[0].key == "dev" and
		.waiting[0].changes == 12' <<<"$output"
	agentbox_split ps --json
	jq -e 'type == "array"' <<<"$output"
	finish live
}

# What a hostile box leaves in its home layer.
poison()
{
	agentbox run --name evil -- sh -c '
		rm -rf ~/.config ~/.cargo ~/.ssh
		ln -s "$1" ~/.config
		ln -s / ~/.cargo
		ln -s "$1/secret" ~/.ssh
		ln -s ../../../../../../../../../../..'"$HOME"'/outside ~/up
		mkfifo ~/fifo
		mkdir -p ~/closed/in && echo x >~/closed/in/x && chmod 000 ~/closed/in ~/closed
		cd ~ && mkdir "new
line" && echo x >"new
line/$(printf "\033[2J")"
		cd ~ && mkdir -p "$2"
		echo ordinary >~/ordinary' sh "$1" "$(printf 'd/%.0s' $(seq 300))"
	[ "$status" -eq 0 ]
}

@test "attack: links, closed folders, odd names and deep trees reach nothing outside at the next start" {
	need userns
	mkdir -p ~/outside/secret ~/.config/gh
	echo key >~/outside/secret/key
	before=$(host_snapshot "$HOME/outside")
	poison "$HOME/outside"
	# Denied names are prepared and rules opened below these links, also for names that
	# do not exist.
	agentbox run --name evil --deny-read "$HOME/.config/gh/hosts.yml" --deny-read "$HOME/.ssh/id_rsa" \
		-- sh -c 'cat ~/ordinary; echo x >~/outside/made; echo x >~/.config/made; echo x >/etc/made; echo x >~/.cargo/made; ls ~/outside'
	[[ "$output" == *ordinary* ]]
	[ "$(host_snapshot "$HOME/outside")" = "$before" ]
	[ ! -e /etc/made ]
	[ ! -e /made ]
	[ -d ~/.config/gh ]
	[ ! -L ~/.config ]
	[ ! -e ~/.config/gh/hosts.yml ]
	[ -z "$(ls -A ~/.config/gh)" ]
}

@test "attack: list, size, refresh and rm of a poisoned layer touch nothing outside" {
	need userns
	mkdir -p ~/outside/secret ~/.config/gh
	echo key >~/outside/secret/key
	echo host >~/.config/gh/config
	poison "$HOME/outside"
	many "$AGENTBOX_STATE/layers/evil/home/upper/many" 10000
	agentbox_split layers --json
	jq -e '.[0].key == "evil" and .[0].bytes > 0 and .[0].bytes < 500000000' <<<"$output"
	touch ~/.config/gh/config
	agentbox layers refresh evil
	[[ "$output" != *$'\033'* ]]
	before=$(host_snapshot "$HOME")
	agentbox layers refresh evil "$HOME"
	[[ "$output" != *$'\033'* ]]
	[ "$(host_snapshot "$HOME")" = "$before" ]
	agentbox layers rm --yes evil
	[ "$status" -eq 0 ]
	[ "$(host_snapshot "$HOME")" = "$before" ]
	[ -z "$(ls -A "$AGENTBOX_STATE/layers" | grep -v looked)" ]
}

@test "attack: what is left in the place of a workspace or a denied file is refused, or harmless" {
	need userns
	mkdir -p ~/second ~/third ~/.tool
	echo host >~/second/file
	# A link, and a file, where the next run has its workspace.
	agentbox run --name dev -- sh -c 'rm -rf ~/second ~/third; ln -s / ~/second; echo x >~/third; rm -rf ~/.tool; echo file >~/.tool; chmod 000 ~'
	[ "$status" -eq 0 ]
	for w in second third; do
		agentbox run --name dev --workspace "$HOME/$w" -- touch "$HOME/$w/made"
		[ "$status" -eq 125 ]
		[[ "$output" == *"mount on $HOME/$w"*"agentbox layers rm"* ]]
		[ ! -e ~/$w/made ]
		[ ! -e /made ]
	done
	[ "$(cat ~/second/file)" = host ]
	# A denied file that the host has by now, below what is a file in the layer.
	echo key >~/.tool/key
	agentbox run --name dev --deny-read "$HOME/.tool/key" -- sh -c 'chmod 755 ~; cat ~/.tool ~/.tool/key'
	[[ "$output" == *"file in the kept layer is in the way"*"$HOME/.tool/key"* ]]
	[[ "$output" == *file*"Not a directory"* ]]
	# The twin: without the layer, both work.
	agentbox run --workspace "$HOME/second" -- touch "$HOME/second/made"
	[ -e ~/second/made ]
	agentbox layers rm --yes dev
	agentbox run --name dev --workspace "$HOME/third" -- touch "$HOME/third/made"
	[ -e ~/third/made ]
}

@test "attack: a device, a whiteout or a mark that was put into the raw layer is not obeyed outside" {
	need userns program:setfattr
	mkdir -p ~/real ~/other
	echo host >~/real/file
	echo host >~/other/file
	agentbox run --name dev -- sh -c 'echo box >~/ordinary'
	upper=$AGENTBOX_STATE/layers/dev/home/upper
	# As if a box had reached it through a folder that it may write directly.
	mknod "$upper/real" c 0 0
	mkdir "$upper/other"
	setfattr -n user.overlay.redirect -v /etc "$upper/other"
	agentbox run --name dev -- sh -c 'cat ~/ordinary; ls ~/real ~/other/passwd; exit 0'
	[[ "$output" == *box* ]]
	[[ "$output" != *"other/passwd"*[^:y]$'\n'* || "$output" == *"cannot access"* ]]
	[ "$(cat ~/real/file ~/other/file)" = $'host\nhost' ]
	agentbox layers refresh dev "$HOME/real"
	agentbox layers rm --yes dev
	[ "$status" -eq 0 ]
	[ "$(cat ~/real/file ~/other/file)" = $'host\nhost' ]
}

@test "attack: a box cannot see or change layers of others" {
	need userns
	agentbox run --name secret -- sh -c 'echo token >~/token'
	agentbox run --name dev --write "$TEST_DIR" -- sh -c "find '$TEST_DIR' -name token; cat '$AGENTBOX_STATE'/layers/secret/home/upper/token; echo x >'$AGENTBOX_STATE'/layers/secret/meta.json"
	[[ "$output" != *$'\ntoken'* ]]
	! grep '/token$' <<<"$output" || false
	agentbox run --name secret -- cat "$HOME/token"
	[ "$output" = token ]
}

@test "hostile: agentbox in a box is the host's program, whatever is done to it in the layer" {
	need userns
	local how mark=$'\nnested'
	mkdir -p ~/.local/bin
	cp "$PROGRAM" ~/.local/bin/agentbox
	echo old >~/.local/bin/other
	AGENTBOX=$HOME/.local/bin/agentbox
	cat >plant.sh <<-'END'
		cd ~/.local/bin
		cp /bin/echo agentbox
		rm -f agentbox
		mv agentbox moved
		cp /bin/echo new && mv new agentbox
		ln -sf /bin/echo agentbox
		python3 -c 'import os; os.mkdir("../b"); os.rename("../bin", "../away"); os.rename("../b", "../bin")'
		rm -rf ~/.local && mkdir -p ~/.local/bin && cp /bin/echo ~/.local/bin/agentbox
		echo new >other && cat other
	END
	agentbox run --name dev -- sh plant.sh
	# Twin: its neighbour is the layer's.
	[[ "$output" == *new* ]]
	[[ "$output" == *"write $HOME/.local/bin/agentbox"* ]]
	agentbox log
	[[ "$output" == *"$HOME/.local/bin/agentbox"* ]]
	agentbox run --name dev -- sh -c '~/.local/bin/agentbox --version; ~/.local/bin/agentbox run --read-only -- sh -c "touch made; echo nested"'
	[[ "$output" == "agentbox "* && "$output" == *"$mark"* && ! -e made ]]
	# What an older version let a box leave there.
	agentbox run --name dev -- true
	for how in 'cp /bin/echo agentbox' 'ln -s /bin/echo agentbox' 'mkdir agentbox'; do
		(cd "$AGENTBOX_STATE/layers/dev/home" && cd upper && mkdir -p .local/bin && cd .local/bin &&
			rm -rf agentbox && sh -c "$how")
		agentbox run --name dev -- sh -c '/dev/agentbox-program --version'
		[[ "$output" == *"an earlier box has put something else in place of $HOME/.local/bin/agentbox"* ]]
		[[ "$output" == *$'\nagentbox 0'* ]]
		[[ "$how" != cp* ]] || {
			agentbox run --name dev -- sh -c '~/.local/bin/agentbox --version; ~/.local/bin/agentbox run --read-only -- touch made'
			[[ "$output" == *$'\nagentbox 0'* && ! -e made ]]
		}
	done
	cmp "$PROGRAM" ~/.local/bin/agentbox
}

@test "kept: no program of the host reads a kept layer" {
	need program:python3 program:git
	local layer=$AGENTBOX_STATE/layers/mine watcher

	agentbox run --name mine -- sh -c 'cd; mkdir -p .config/git bin
		for f in .profile .bash_profile .bashrc .zshrc .gitconfig .config/git/config bin/git .inputrc .curlrc; do
			echo "touch $1" >$f; done; chmod +x bin/git' sh "$TEST_DIR/ran"
	[ "$status" -eq 0 ]
	[ -e "$layer/home/upper/.profile" ]
	# One of sixteen runs would look how old and large the layers are.
	touch "$AGENTBOX_STATE/layers/.looked"
	cat >"$TEST_DIR/watch.py" <<-'END'
	import ctypes, os, struct, sys
	libc = ctypes.CDLL(None)
	fd = libc.inotify_init1(0)
	folders = [top for top, _, _ in os.walk(sys.argv[1])]
	# IN_OPEN and IN_ACCESS
	assert all(libc.inotify_add_watch(fd, f.encode(), 0x21) > 0 for f in folders)
	open(sys.argv[2] + "/ready", "w").close()
	while True:
	    data = os.read(fd, 65536)
	    while data:
	        length = struct.unpack_from("iIII", data)[3]
	        print(data[16:16 + length].rstrip(b"\0").decode() or "(folder)", flush=True)
	        data = data[16 + length:]
	END
	python3 "$TEST_DIR/watch.py" "$layer" "$TEST_DIR" >"$TEST_DIR/read" 2>&1 3>&- &
	watcher=$!
	wait_for 60 test -e "$TEST_DIR/ready"
	# What starts on the host, by itself or by agentbox, with your home folder as it is.
	bash -lic true </dev/null || true
	git init -q repo
	git -C repo status >/dev/null
	mkdir -p "$HOME/.config/agentbox"
	cat >"$HOME/.config/agentbox/config.json" <<<'{ "secrets": { "MY_KEY": { "from": "command", "command": ["/bin/sh", "-c", "git config --list >/dev/null; cat ~/.profile 2>/dev/null; echo value-of-a-key"], "hosts": ["h.test"] } } }'
	agentbox run --unknown deny --secret MY_KEY --on-violation 'sh -c "cat ~/.profile; true"' -- sh -c '! cat ~/.profile; ! getent hosts evil.test'
	[ "$status" -eq 0 ]
	agentbox run --name other -- sh -c '! cat ~/.profile'
	[ "$status" -eq 0 ]
	agentbox check 'git status'
	agentbox log
	agentbox config show
	cat "$TEST_DIR/read"
	[ ! -s "$TEST_DIR/read" ]
	[ ! -e "$TEST_DIR/ran" ]
	# The watch would have seen it, and the box of that name has it.
	cat "$layer/home/upper/.profile" >/dev/null
	wait_for 60 grep -qx .profile "$TEST_DIR/read"
	kill "$watcher"
	wait "$watcher" || true
	agentbox run --name mine -- sh -c 'cat ~/.profile'
	[ "$output" = "touch $TEST_DIR/ran" ]
}
