# apply, discard and undo: changes of a layer become real, or do not, and nothing
# that a box can leave in a layer reaches anything else. The layers are real overlays
# in a set of the state folder.
# root-in-turn: root may give files owners and modes that a user may not
load helpers

setup()
{
	box_setup
	umask 022
	mkdir src old
	echo 1 >a
	echo 1 >src/b
	echo 1 >old/f
	ln -s a link
	host_before=$(tree)
}

# The workspace: types, modes, sizes, times, targets, contents.
tree()
{
	(
		cd "${1:-$WORKSPACE}"
		find . ! -type d -printf '%p %y %m %s %T@ %l\n'
		find . -type d -printf '%p %y %m\n'
		find . -type f -size -1000k -exec cksum {} +
	) | LC_ALL=C sort
}

# File times come from a clock that stands still for some milliseconds.
tick()
{
	local now

	now=$(date +%s%N)
	until touch "$TEST_DIR/tick" && [ "$(date -r "$TEST_DIR/tick" +%s%N)" -gt "$now" ]; do :; done
}

# layer KEY SCRIPT: a set of layers in which SCRIPT was run above the workspace.
layer()
{
	local set=$AGENTBOX_STATE/layers/$1 now

	mkdir -p -m 700 "$AGENTBOX_STATE" "$AGENTBOX_STATE/layers" "$set"
	mkdir -m 700 "$set/project" "$set/project/work"
	mkdir -m 755 "$set/project/upper"
	tick
	now=$(date +%s%N)
	tick
	(
		umask 077
		jq -n --arg key "$1" --arg workspace "$WORKSPACE" --arg home "$HOME" \
			--argjson now "$now" '{
			version: 1, key: $key, name: $key, profile: "default",
			workspace: $workspace, home: $home, kernel: "", policy: "",
			created: $now, started: $now, used: $now, runs: [], returns: [],
			form: "overlay", project: $now, waiting: -1 }' >"$set/meta.json"
		: >"$set/lock"
	)
	overlay "$set" "$2"
}

# overlay SET SCRIPT: run SCRIPT above the workspace, in the layer of SET.
overlay()
{
	unshare --user --map-root-user --mount sh -ec '
		mount -t overlay overlay -o userxattr,lowerdir="$1",upperdir="$2/project/upper",workdir="$2/project/work" "$1"
		cd "$1"
		umask 022
		eval "$3"' sh "$WORKSPACE" "$1" "$2"
}

# answer QUESTION N LETTER: type LETTER when QUESTION is on the screen for the Nth time.
answer()
{
	wait_for 90 asked "$1" "$2"
	tty_type "$3"
	tty_key Enter
}

asked()
{
	[ "$(tty_screen | grep -c "$1")" -ge "$2" ]
}

nothing_left()
{
	[ -z "$(find "$WORKSPACE" -name '.agentbox-*')" ]
}

@test "apply: a changed, a new and a deleted file become real, undo takes them back" {
	layer dev 'echo 22 >a; rm -r old; mkdir new; echo n >new/n; ln -sf src link'
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[[ "$output" == "5 changes applied; to take it back: agentbox undo dev" ]]
	[ "$(cat a)" = 22 ]
	[ ! -e old ]
	[ "$(cat new/n)" = n ]
	[ "$(readlink link)" = src ]
	nothing_left
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[[ "$output" == "dev has no changes" ]]

	agentbox_split undo
	[ "$status" -eq 0 ]
	[[ "$stderr" == "agentbox: using the last apply of dev" ]]
	[[ "$output" == "5 changes"* || "$output" == "4 changes taken back; they are in the layer again" ]]
	[ "$(tree)" = "$host_before" ]
	agentbox apply dev --all --json
	[ "$status" -eq 0 ]
	jq -e '.set == "dev" and (.applied | map(.path) == ["a", "link", "new", "new/n", "old"])
		and .left == [] and .rest == 0' <<<"$output"
	agentbox undo dev --json
	jq -e '.undone == ["a", "link", "new", "old"] and .changed == []' <<<"$output"
	[ "$(tree)" = "$host_before" ]
}

@test "apply: paths are those of the current folder, and a folder means all of it" {
	layer dev 'echo 2 >a; echo 2 >src/b; echo 2 >src/c'
	cd src
	agentbox apply b
	[ "$status" -eq 0 ]
	[ "$(cat b)" = 2 ]
	[ ! -e c ]
	[ "$(cat ../a)" = 1 ]
	agentbox apply ../src
	[ "$(cat c)" = 2 ]
	agentbox apply dev -- nothing
	[ "$status" -eq 1 ]
	[[ "$output" == *"no change in src/nothing"* ]]
	agentbox apply dev -- /etc/passwd
	[ "$status" -eq 2 ]
	[[ "$output" == *"/etc/passwd is not in $WORKSPACE"* ]]
	agentbox apply dev -- "$WORKSPACE/a"
	[ "$(cat ../a)" = 2 ]
}

@test "apply: without a terminal something must be named" {
	layer dev 'echo 2 >a'
	agentbox apply dev
	[ "$status" -eq 2 ]
	[[ "$output" == *"a path, --all or --safe"* ]]
	agentbox apply dev --all --safe
	[ "$status" -eq 2 ]
	agentbox apply dev --theirs --ours a
	[ "$status" -eq 2 ]
	agentbox apply dev -p
	[ "$status" -eq 2 ]
	[ "$(tree)" = "$host_before" ]
	agentbox apply nobody --all
	[ "$status" -eq 2 ] || [ "$status" -eq 1 ]
	agentbox apply dev a
	[ "$status" -eq 0 ]
}

@test "apply: --safe leaves what programs outside would obey" {
	layer dev 'echo 2 >a; echo "export X=1" >.envrc; mkdir -p .github/workflows; echo x >.github/workflows/ci.yml; mkdir .GIT; echo "[core] fsmonitor = ./evil" >.GIT/config'
	agentbox apply dev --safe
	[ "$status" -eq 1 ]
	[ "$(cat a)" = 2 ]
	[ ! -e .envrc ]
	[ ! -e .github/workflows/ci.yml ]
	[ ! -e .GIT/config ]
	[[ "$output" == *".envrc"*"wants a look"* ]]
	agentbox apply dev --json .envrc
	[ "$status" -eq 0 ]
	[ "$(cat .envrc)" = "export X=1" ]
}

@test "apply: on a terminal, what programs outside would obey is shown before it is applied" {
	need program:tmux
	layer dev 'echo 2 >a; echo "export X=1" >.envrc; mkdir sub; echo "export X=1" >sub/.envrc'
	# A box can print these commands.
	for what in --all .envrc; do
		tty_start sh -c "$AGENTBOX apply dev $what; echo status \$?"
		tty_wait 'added     [.]envrc'
		tty_wait 'This wants a look. Apply everything that you named\? \[y/N\]'
		tty_key Enter
		tty_end
		[[ "$output" == *"nothing was applied"*"status 1"* ]]
		[ "$(cat a)" = 1 ]
		[ ! -e .envrc ]
	done
	# The twins: what has no label, a yes as an option, and one at the question.
	tty_run "$AGENTBOX" apply dev a
	[ "$status" -eq 0 ]
	[ "$(cat a)" = 2 ]
	tty_run "$AGENTBOX" apply dev --yes .envrc
	[ "$status" -eq 0 ]
	[ -e .envrc ]
	tty_start sh -c "$AGENTBOX apply dev --all; echo status \$?"
	tty_wait 'This wants a look.*\[y/N\]'
	tty_type y
	tty_key Enter
	tty_end
	[[ "$output" == *"applied"*"status 0"* ]]
	[ -e sub/.envrc ]
}

@test "apply: a file that the host changed since is a conflict" {
	layer dev 'echo 22 >a; rm src/b; echo n >n'
	echo host >a
	echo host >src/b
	agentbox apply dev --all
	[ "$status" -eq 1 ]
	[[ "$output" == *"1 change applied"*"2 left:"*"the host changed it since"*"--theirs"*"--ours"* ]]
	[ "$(cat a src/b)" = $'host\nhost' ]
	[ "$(cat n)" = n ]
	agentbox apply dev --theirs a
	[ "$status" -eq 0 ]
	[ "$(cat a)" = 22 ]
	agentbox apply dev --ours --json --all
	[ "$status" -eq 0 ]
	jq -e '.dropped | map(.path) == ["src/b"]' <<<"$output"
	[ "$(cat src/b)" = host ]
	agentbox apply dev --all
	[[ "$output" == "dev has no changes" ]]
}

@test "undo: refuses what changed since, unless told which side counts" {
	layer dev 'echo 22 >a; echo 22 >src/b'
	agentbox apply dev --all
	tick
	echo mine >a
	agentbox undo dev
	[ "$status" -eq 1 ]
	[[ "$output" == *"changed since the apply:"*"  a"* ]]
	[ "$(cat a src/b)" = $'mine\n22' ]
	agentbox undo dev --ours
	[ "$status" -eq 1 ]
	[[ "$output" == "1 change taken back"*"changed since the apply:"*"  a" ]]
	[ "$(cat a src/b)" = $'mine\n1' ]
	for name in dev ""; do
		agentbox undo $name
		[ "$status" -eq 1 ]
		[[ "$output" == *"has no apply to take back"* || "$output" == *"no apply to this folder can be taken back"* ]]
	done
	agentbox undo --help
	[[ "$output" == *"leave what changed since the apply"* ]]
	agentbox undo --theirs --ours
	[[ "$output" == *"cannot be combined"* ]]
}

@test "undo: --ours leaves what a later run changed in the layer" {
	layer dev 'echo 22 >a; echo 22 >src/b; echo 22 >u'
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	overlay "$AGENTBOX_STATE/layers/dev" 'echo 333 >a; echo 333 >u'
	agentbox undo dev --ours
	[ "$status" -eq 1 ]
	[[ "$output" == "1 change taken back"*"  a"*"  u" ]]
	[ "$(cat a src/b u)" = $'22\n1\n22' ]
}

@test "undo: a conflict that was applied is a conflict again" {
	layer dev 'echo 22 >a'
	echo host >a
	agentbox apply dev --theirs a
	[ "$status" -eq 0 ]
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ "$(cat a)" = host ]
	agentbox apply dev --all
	[ "$status" -eq 1 ]
	[ "$(cat a)" = host ]
}

# git_commit_in_box: a repository, and a commit that a run made above it.
git_commit_in_box()
{
	export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@x
	export GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@x
	git init -q .
	git add .
	git commit -q -m first
	first=$(git rev-parse HEAD)
	launch run --review --name dev -- sh -c 'echo 22 >a; echo n >n
		git -c user.name=x -c user.email=x@x add . &&
		git -c user.name=x -c user.email=x@x commit -q -m second' </dev/null
}

# git rewrites the index only if the stat data differ.
refresh_index()
{
	local before

	tick
	before=$(stat -c %i.%Z .git/index)
	touch src/b
	git status --short
	[ "$(stat -c %i.%Z .git/index)" != "$before" ]
}

@test "apply: an index that git status refreshed on the host is not a conflict" {
	git_commit_in_box
	refresh_index
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[ "$(git log --format=%s -1)" = second ]
	[ -z "$(git status --short)" ]
	refresh_index
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ "$(git rev-parse HEAD)" = "$first" ]
	[ -z "$(git status --short)" ]
	git fsck --strict
	refresh_index
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[ "$(git log --format=%s -1)" = second ]
	[ -z "$(git status --short)" ]
}

@test "apply: a repository whose index changed on the host is held back as one" {
	git_commit_in_box
	tick
	echo host >host
	git add host
	agentbox apply dev --all
	[ "$status" -eq 1 ]
	[ "$(cat a)" = 22 ]
	[ "$(git rev-parse HEAD)" = "$first" ]
	[ -z "$(git rev-list --all --objects | grep n$)" ]
	[[ "$output" == *".git/index  the host changed it since"* ]]
	[[ "$output" == *".git/refs/heads/"*"the host changed the repository's index since"* ]]
	[ "$(git diff --cached --name-only)" = host ]
	# An undo leaves the objects, which the host's index may use by now.
	agentbox apply dev --theirs --all
	[ "$status" -eq 0 ]
	echo more >more
	git add more
	agentbox undo dev --ours
	[ "$status" -eq 1 ]
	[[ "$output" != *".git/objects"* ]]
	git fsck --strict
	git diff --cached --quiet "$first" || [ $? -eq 1 ]
	git write-tree
}

@test "undo: --ours takes back the state of a repository as a whole, or none of it" {
	git_commit_in_box
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[ "$(git log --format=%s -1)" = second ]
	echo host >host
	git add host
	agentbox undo dev --ours
	[ "$status" -eq 1 ]
	[[ "$output" == *"changed since the apply:"*"  .git/index"* ]]
	[[ "$output" == *"left as well, because their repository changed:"*"  .git/refs/heads/"* ]]
	# Files that are not git's own are taken back.
	[ "$(cat a)" = 1 ]
	[ ! -e n ]
	[ "$(git log --format=%s -1)" = second ]
	[ "$(git diff --cached --name-only)" = host ]
	git fsck --strict
	# The twin: another file changed, and the whole state is taken back.
	git rm -q --cached host
	agentbox apply dev --theirs --all
	[ "$status" -eq 0 ]
	echo mine >a
	agentbox undo dev --ours --json
	[ "$status" -eq 1 ]
	jq -e '.changed == ["a"] and .held == [] and (.undone | index(".git/index"))' <<<"$output"
	[ "$(cat a)" = mine ]
}

@test "discard: the changes are gone, the host is as it was" {
	layer dev 'rm -r src old; echo 2 >a; echo x >.envrc'
	agentbox discard dev .envrc src
	[ "$status" -eq 0 ]
	[[ "$output" == "2 changes discarded" ]]
	agentbox apply dev --json a
	jq -e '.rest == 1' <<<"$output"
	agentbox undo dev
	[ "$status" -eq 0 ]
	agentbox discard dev --json
	[ "$status" -eq 0 ]
	jq -e '.discarded | map(.path) == ["a", "old"]' <<<"$output"
	[ "$(tree)" = "$host_before" ]
	[ ! -e "$AGENTBOX_STATE/layers/dev" ]
}

@test "apply: --home takes changes of the home folder over" {
	local upper=$AGENTBOX_STATE/layers/dev/home/upper

	layer dev 'echo 2 >a'
	echo 1 >"$HOME/.tool"
	tick
	jq --argjson now "$(date +%s%N)" '.started = $now | .used = $now' \
		"$AGENTBOX_STATE/layers/dev/meta.json" >"$TEST_DIR/meta"
	cat "$TEST_DIR/meta" >"$AGENTBOX_STATE/layers/dev/meta.json"
	tick
	mkdir -p "$upper/.config/tool"
	chmod -R 755 "$upper"
	echo 2 >"$upper/.tool"
	echo 2 >"$upper/.config/tool/settings"
	agentbox apply dev --home --json ~/.tool
	[ "$status" -eq 0 ]
	jq -e --arg home "$HOME" '.root == $home and (.applied | map(.path) == [".tool"])' <<<"$output"
	[ "$(cat "$HOME/.tool")" = 2 ]
	[ ! -e "$HOME/.config/tool" ]
	[ "$(cat a)" = 1 ]
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ "$(cat "$HOME/.tool")" = 1 ]
	# Only a known cache is safe: settings may be obeyed outside, and packages run.
	mkdir -p "$upper/.cache/ruff" "$upper/.cache/pip" "$upper/.cargo/registry/src"
	chmod -R 755 "$upper/.cache" "$upper/.cargo"
	echo 2 >"$upper/.cache/ruff/index"
	echo 2 >"$upper/.cache/pip/index"
	echo 2 >"$upper/.cache/other"
	echo 2 >"$upper/.cargo/registry/src/lib.rs"
	agentbox apply dev --home --safe
	[ "$status" -eq 1 ] # some are left
	[[ "$output" == *"lib.rs"*"[packages]"* ]]
	[ "$(cat "$HOME/.cache/ruff/index")" = 2 ]
	[ ! -e "$HOME/.cache/pip/index" ]
	[ ! -e "$HOME/.cargo/registry/src/lib.rs" ]
	[ ! -e "$HOME/.cache/other" ]
	[ ! -e "$HOME/.config/tool" ]
	[ "$(cat "$HOME/.tool")" = 1 ]
	agentbox discard dev --home
	[ "$status" -eq 0 ]
	[ ! -e "$upper/.tool" ]
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[ "$(cat a)" = 2 ]
}

@test "apply: a layer that is in use is left alone" {
	layer dev 'echo 2 >a'
	exec {lock}<"$AGENTBOX_STATE/layers/dev/lock"
	flock -x "$lock"
	# Each waits a moment for the lock.
	for command in "apply --all" "discard --yes" undo; do
		launch $command dev >"${command%% *}.out" 2>&1 </dev/null &
	done
	for command in 1 2 3; do
		status=0
		wait -n || status=$?
		[ "$status" -eq 1 ]
	done
	[ "$(grep -l "in use" ./*.out | wc -l)" -eq 3 ]
	rm ./*.out
	exec {lock}>&-
	[ "$(tree)" = "$host_before" ]
	agentbox apply dev --all
	[ "$status" -eq 0 ]
}

@test "apply: links, FIFOs, devices and closed files in a layer reach nothing" {
	echo secret >"$HOME/secret"
	layer dev 'mkfifo pipe; ln -s ../secret out; rm -r src; ln -s .. src; echo x >open; echo x >closed; chmod 0 closed'
	# What only an attacker with the raw layer could do.
	ln -s "$HOME" "$AGENTBOX_STATE/layers/dev/project/upper/escape"
	run timeout 60 "$AGENTBOX" apply dev --all 3>&-
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"pipe"*"it is a FIFO"* ]]
	[ "$EUID" -eq 0 ] || [[ "$output" == *"closed"*"it cannot be read"* ]]
	[ -L out ]
	[ -L src ]
	[ -L escape ]
	[ "$(cat open)" = x ]
	[ "$(cat "$HOME/secret")" = secret ]
	[ ! -e pipe ]
	# The layer that is applied next goes through none of these links.
	overlay "$AGENTBOX_STATE/layers/dev" 'rm src; mkdir src; echo owned >src/secret; rm escape; mkdir escape; echo owned >escape/secret'
	agentbox apply dev --all --theirs
	[ "$(cat "$HOME/secret")" = secret ]
	[ "$(cat src/secret)" = owned ]
	[ ! -L src ]
}

@test "apply: a folder of the host that became a link is a conflict" {
	mkdir "$HOME/elsewhere"
	layer dev 'echo 2 >src/b; mkdir src/deep; echo 2 >src/deep/f'
	mv src "$HOME/src"
	ln -s "$HOME/elsewhere" src
	agentbox apply dev --all
	[ "$status" -eq 1 ]
	[ -L src ]
	[ -z "$(ls -A "$HOME/elsewhere")" ]
	agentbox apply dev --all --theirs
	[ "$status" -eq 0 ]
	[ "$(cat src/b)" = 2 ]
	[ -z "$(ls -A "$HOME/elsewhere")" ]
}

@test "apply: names are bytes, and what a terminal sees is escaped" {
	layer dev 'echo x >"$(printf "n\ndelete a")"; echo x >"$(printf "esc\033[2J")"; mkdir "$(printf "d\nd")"; echo x >"$(printf "d\nd/f")"'
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[ "$(cat $'n\ndelete a')" = x ]
	[ "$(cat $'d\nd/f')" = x ]
	[ "$(cat a)" = 1 ]
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ "$(tree)" = "$host_before" ]
	echo host >$'esc\033[2J'
	agentbox apply dev --all
	[[ "$output" != *$'\033'* ]]
	[[ "$output" == *'esc\x1b[2J'* ]]
}

@test "apply: a temporary name that is taken, deep folders and set-id bits" {
	layer dev 'echo x >.agentbox-000000000000000000000000-0; echo x >suid; chmod 6777 suid;
		d=.; for i in $(seq 150); do d=$d/d; done; mkdir -p "$d"'
	agentbox apply dev --all
	[ "$status" -eq 1 ]
	[[ "$output" == *"nested too deeply"* ]]
	[ -e .agentbox-000000000000000000000000-0 ]
	[ "$(stat -c %a suid)" = 755 ]
	[ -d d/d/d ]
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ "$(tree)" = "$host_before" ]
}

@test "apply: a mount below the workspace is not entered" {
	mkdir mnt
	layer dev 'echo 2 >mnt/f; echo 2 >a'
	host_before=$(tree)
	run unshare --user --map-root-user --mount sh -ec '
		mount -t tmpfs tmpfs mnt
		timeout 60 "$1" apply dev --all || echo "[status $?]"
		ls -A mnt' sh "$AGENTBOX" 3>&-
	echo "$output"
	[[ "$output" == *"mounted there"* ]]
	[[ "$output" == *"[status 1]" ]]
	[ ! -e mnt/f ]
	[ "$(cat a)" = 2 ]
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[ "$(cat mnt/f)" = 2 ]
}

@test "apply: a hundred thousand entries" {
	local memory

	# In memory: making and removing as many files on a disk takes a minute.
	memory=$(mktemp -d /dev/shm/agentbox-test.XXXXXX || mktemp -d "$TEST_DIR/memory.XXXXXX")
	AGENTBOX_STATE=$memory/state WORKSPACE=$memory/project
	mkdir "$WORKSPACE"
	cd "$WORKSPACE"
	layer dev :
	(cd "$AGENTBOX_STATE/layers/dev/project/upper" && mkdir many && cd many &&
		seq 100000 | xargs touch)
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[[ "$output" == "100001 changes applied"* ]]
	[ "$(find many -type f | wc -l)" -eq 100000 ]
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ -z "$(ls -A)" ]
	cd /
	rm -rf "$memory"
}

@test "apply: asks on a terminal, change by change and hunk by hunk" {
	seq 40 >long
	layer dev 'sed -i "s/^3$/three/; s/^33$/thirty-three/" long; echo 2 >a; echo n >new'
	tty_start "$AGENTBOX" apply dev -p
	tty_wait 'modified  a'
	answer 'apply this hunk' 1 n
	tty_wait '^[+]three'
	answer 'apply this hunk' 2 y
	tty_wait '^[+]thirty-three'
	answer 'apply this hunk' 3 n
	tty_wait 'added     new'
	tty_wait '^[+]n$'
	answer 'apply this change' 1 '?'
	answer 'apply this change' 2 y
	tty_end
	[ "$status" -eq 0 ]
	[[ "$output" == *"2 changes applied"* ]]
	[ "$(cat a)" = 1 ]
	[ "$(cat new)" = n ]
	grep -qx three long
	grep -qx 33 long
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	grep -qx thirty-three long
	[ "$(cat a)" = 2 ]
}

@test "apply: shows each kind of change before it asks, and does not ask about a conflict" {
	layer dev 'echo 2 >a; rm src/b; chmod 755 old/f; ln -sf src link'
	echo host >a
	tty_start "$AGENTBOX" apply dev -p
	tty_wait 'modified  a  conflict: it needs --theirs or --ours'
	tty_wait '^[+]src$'
	answer 'apply this change' 1 y
	tty_wait '^new mode 100755'
	answer 'apply this change' 2 y
	tty_wait '^deleted file mode'
	tty_wait '^-1$'
	answer 'apply this change' 3 n
	tty_end
	[ "$status" -eq 1 ]
	[[ "$output" == *"2 changes applied"*"1 left:"* ]]
	[ "$(cat a)" = host ]
	[ -x old/f ]
	[ -e src/b ]
}

@test "apply: killed before any rename, the next command ends with the old or the new state" {
	local n=0 old=0 new=0 state

	layer dev 'echo 22 >a; rm -r old; mkdir new; echo n >new/n'
	while [ $n -lt 60 ]; do
		n=$((n + 1))
		run timeout 60 strace -qqq -o /dev/null -e trace=renameat,renameat2 \
			-e inject=renameat,renameat2:signal=KILL:when=$n \
			"$AGENTBOX" apply dev --all 3>&-
		[ "$status" -ne 0 ] || break
		# undo recovers first; if nothing was applied, there is nothing to undo.
		agentbox apply dev --all
		[ "$status" -eq 0 ]
		if [[ "$output" == *"was completed"* ]]; then
			new=$((new + 1))
		else
			old=$((old + 1))
		fi
		[ "$(cat a new/n)" = $'22\nn' ]
		[ ! -e old ]
		nothing_left
		agentbox undo dev
		[ "$status" -eq 0 ]
		[ "$(tree)" = "$host_before" ]
		nothing_left
	done
	[ $n -gt 8 ]
	[ $n -lt 60 ]
	[ $old -gt 0 ]
	[ $new -gt 0 ]
}

@test "apply: a run completes an apply that was killed before it starts" {
	launch run --review --name dev -- sh -c 'echo 22 >a; echo n >new' </dev/null
	# The fourth rename puts the first file in place.
	run timeout 60 strace -qqq -o /dev/null -e trace=renameat,renameat2 \
		-e inject=renameat,renameat2:signal=KILL:when=4 "$AGENTBOX" apply dev --all 3>&-
	[ "$status" -ne 0 ]
	agentbox run --review --name dev -- cat a new
	[ "$status" -eq 0 ]
	[[ "$output" == *"an interrupted apply was completed"* ]]
	[ "$(cat a new)" = $'22\nn' ]
	nothing_left
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ "$(tree)" = "$host_before" ]
}

@test "apply: a staged file that was changed before the recovery is not put in place" {
	local staged

	launch run --review --name dev -- sh -c 'echo 22 >a' </dev/null
	# The rename that puts the file in place is the last one of these.
	run timeout 60 strace -qqq -o /dev/null -e trace=renameat2 \
		-e inject=renameat2:signal=KILL:when=1 "$AGENTBOX" apply dev --all 3>&-
	[ "$status" -ne 0 ]
	staged=$(echo .agentbox-*)
	[ -f "$staged" ]
	# Another box could do this: the same inode, other content.
	echo evil >"$staged"
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[[ "$output" == *"an interrupted apply was taken back"* ]]
	[ "$(cat a)" = 22 ]
	nothing_left
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ "$(tree)" = "$host_before" ]
}

@test "apply, undo: refused while another run can write there" {
	local peer

	launch run --review --name dev -- sh -c 'echo 22 >a' </dev/null
	launch run --name direct -- sh -c 'echo ready; sleep 100' >"$TEST_DIR/out" 2>&1 </dev/null &
	peer=$!
	wait_for 60 grep -q ready "$TEST_DIR/out"
	agentbox apply dev --all
	[ "$status" -ne 0 ]
	[[ "$output" == *"cannot change files in $WORKSPACE while the run"*"can write there"* ]]
	[ "$(cat a)" = 1 ]
	agentbox stop direct
	wait "$peer" || true
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	rm "$TEST_DIR/out"
	launch run --name direct -- sh -c 'echo ready; sleep 100' >"$TEST_DIR/out" 2>&1 </dev/null &
	peer=$!
	wait_for 60 grep -q ready "$TEST_DIR/out"
	agentbox undo dev
	[ "$status" -ne 0 ]
	[[ "$output" == *"cannot change files in $WORKSPACE while the run"*"can write there"* ]]
	[ "$(cat a)" = 22 ]
	agentbox stop direct
	wait "$peer" || true
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ "$(cat a)" = 1 ]
	# The twin: a run that is reviewed cannot write there.
	launch run --review --name other -- sh -c 'echo ready; sleep 100' >"$TEST_DIR/out2" 2>&1 </dev/null &
	peer=$!
	wait_for 60 grep -q ready "$TEST_DIR/out2"
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[ "$(cat a)" = 22 ]
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ "$(cat a)" = 1 ]
	agentbox stop other
	wait "$peer" || true
}

# with_fault CALL:ERROR N ARG...: the Nth such call fails.
with_fault()
{
	local call=${1%:*} error=${1#*:} n=$2

	shift 2
	run timeout 60 strace --seccomp-bpf -f -qqq -o /dev/null -e "trace=$call" -e "inject=$call:error=$error:when=$n" \
		"$AGENTBOX" "$@" 3>&-
}

@test "apply: what cannot be listed or looked at is refused, told and stays in the layer" {
	local fault n calls ended refused=0

	mkdir gone
	echo 1 >gone/f
	host_before=$(tree)
	layer dev 'mkdir -p n/m; echo 1 >n/f; echo 2 >n/m/g; rm -r gone; mkdir gone; echo 2 >gone/h; echo 2 >src/b; rm a'
	# faults.bats tries all calls.
	for fault in getdents64:EIO fgetxattr:EIO statx:EACCES; do
		ended=
		strace -qqq -c -o "$TEST_DIR/calls" -e "trace=${fault%:*}" "$AGENTBOX" diff dev >/dev/null
		calls=$(awk -v call="${fault%:*}" '$NF == call { print $4 }' "$TEST_DIR/calls")
		[ "$calls" -gt 0 ]
		for ((n = 1; n < 400; n += ${#fault} == 12 ? 3 : 1)); do
			with_fault "$fault" "$n" apply dev --all
			if [ "$status" -eq 0 ]; then
				# Everything, or nothing is claimed.
				[ "$(cat n/f n/m/g gone/h src/b)" = $'1\n2\n2\n2' ]
				[ ! -e gone/f ]
				[ ! -e a ]
			else
				[[ "$output" == *agentbox:* || "$output" == *left:* ]]
				[[ "$output" != *"agentbox discard"* ]]
				refused=$((refused + 1))
			fi
			# Nothing of it is lost.
			agentbox apply dev --all
			[ "$status" -eq 0 ] || agentbox apply dev --all --theirs
			[ "$(cat n/f n/m/g gone/h src/b)" = $'1\n2\n2\n2' ]
			[ ! -e gone/f ]
			[ ! -e a ]
			while agentbox undo dev && [ "$status" -eq 0 ]; do :; done
			[ "$(tree)" = "$host_before" ]
			nothing_left
			# After the last such call there is none to fail.
			[ "$n" -le "$calls" ] || {
				ended=1
				break
			}
		done
		[ -n "$ended" ]
	done
	[ $refused -gt 5 ]
}

@test "undo: works after a discard, also of the folder that the changes were in" {
	mkdir d
	echo 1 >d/a
	host_before=$(tree)
	layer dev 'echo 22 >d/a; echo x >d/.envrc'
	agentbox apply dev --safe
	[ "$(cat d/a)" = 22 ]
	agentbox discard dev --yes
	[ "$status" -eq 0 ]
	agentbox undo dev
	[ "$status" -eq 0 ]
	[[ "$output" == "1 change taken back; it is in the layer again" ]]
	[ "$(tree)" = "$host_before" ]
	agentbox diff dev --json
	jq -e '[.changes[].path] == ["d/a"]' <<<"$output"
	agentbox apply dev --all
	[ "$(cat d/a)" = 22 ]
	[ ! -e d/.envrc ]
	# The twin: the host changed since, and that is still a conflict.
	agentbox discard dev --yes
	tick
	echo mine >d/a
	agentbox undo dev
	[ "$status" -eq 1 ]
	[[ "$output" == *"changed since the apply:"*"  d/a"* ]]
	[ "$(cat d/a)" = mine ]
}

# next_run SCRIPT: another run, which has seen what is there now.
next_run()
{
	local set=$AGENTBOX_STATE/layers/dev

	tick
	jq --argjson now "$(date +%s%N)" '.used = $now' "$set/meta.json" >"$TEST_DIR/meta"
	cat "$TEST_DIR/meta" >"$set/meta.json"
	tick
	overlay "$set" "$1"
}

# apply_next SCRIPT: what another run changed is applied.
apply_next()
{
	next_run "$1"
	agentbox apply dev --all
	[ "$status" -eq 0 ]
}

@test "undo: as often as there were applies, and counts what apply counted" {
	local states=() n

	layer dev 'mkdir -p n/m; echo 1 >n/f; echo 1 >n/m/g; echo 2 >a; rm -r old'
	states+=("$host_before")
	agentbox apply dev --all
	[[ "$output" == "6 changes applied;"* ]]
	states+=("$(tree)")
	# In the folder that the first one made, and beside it.
	next_run 'echo 3 >n/f; echo 3 >n/new; echo 3 >a'
	agentbox apply dev --all
	[[ "$output" == "3 changes applied;"* ]]
	states+=("$(tree)")
	apply_next 'rm n/m/g; echo 4 >n/m/h; echo 4 >a; echo 4 >src/b'
	n=${output%% *}
	states+=("$(tree)")

	agentbox undo dev
	[[ "$output" == "$n changes taken back; they are in the layer again; 2 earlier applies can be taken back" ]]
	[ "$(tree)" = "${states[2]}" ]
	agentbox undo dev --json
	jq -e '.changes == 3 and .left == 1' <<<"$output"
	[ "$(tree)" = "${states[1]}" ]
	agentbox undo dev
	[[ "$output" == "6 changes taken back; they are in the layer again" ]]
	[ "$(tree)" = "${states[0]}" ]
	agentbox undo dev
	[ "$status" -eq 1 ]
	[[ "$output" == *"dev has no apply to take back"* ]]
	nothing_left
	# The layer has all of it, the newest of each.
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[ "$(tree | grep -v ' d \| f .* \./n/f$' | sed 's/ [0-9.]*$//')" = \
		"$(grep -v ' d \| f .* \./n/f$' <<<"${states[3]}" | sed 's/ [0-9.]*$//')" ]
	agentbox undo dev
	[ "$(tree)" = "${states[0]}" ]
}

@test "undo: what changed since is found between two applies, too" {
	layer dev 'mkdir n; echo 1 >n/f; echo 1 >n/g; echo 2 >a'
	agentbox apply dev --all
	tick
	echo mine >n/g
	echo mine >a
	next_run 'echo 3 >n/g; echo 3 >a; echo 3 >n/f'
	agentbox apply dev --all --theirs
	[ "$status" -eq 0 ]
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ "$(cat n/f n/g a)" = $'1\nmine\nmine' ]
	agentbox undo dev
	[ "$status" -eq 1 ]
	[[ "$output" == *"changed since the apply:"* ]]
	[ "$(cat n/f n/g a)" = $'1\nmine\nmine' ]
	agentbox undo dev --theirs
	[ "$status" -eq 0 ]
	[ "$(tree)" = "$host_before" ]
}

@test "undo: sixteen applies are kept, and the apply that drops one says so" {
	local n

	layer dev 'echo 1 >a'
	for n in {2..18}; do
		apply_next "echo $n >a"
		if [ "$n" -le 17 ]; then
			[[ "$output" != *"no longer"* ]]
		else
			[[ "$output" == *"the oldest apply can no longer be taken back: the last 16 are kept"* ]]
		fi
	done
	for n in {17..2}; do
		agentbox undo dev
		[ "$status" -eq 0 ]
		[ "$(cat a)" = "$n" ]
	done
	agentbox undo dev
	[ "$status" -eq 1 ]
	[ "$(cat a)" = 2 ]
}

# rewritten FILE EXPRESSION: FILE of a journal has what the expression makes of its data, and the checksum of that.
rewritten()
{
	python3 - "$1" "$2" <<-'PYTHON'
		import hashlib, struct, sys
		data = open(sys.argv[1], "rb").read()[:-64]
		data = eval(sys.argv[2])
		open(sys.argv[1], "wb").write(data + hashlib.sha256(data).hexdigest().encode())
	PYTHON
}

# The size of what was replaced is noted in the journal, so a test needs no large files.
# note_size JOURNAL GIB
note_size()
{
	rewritten "$AGENTBOX_STATE/layers/dev/undo/$1/size" "b'ab-size1' + struct.pack('=Q', $2 << 30)"
}

@test "undo: what applies replaced is kept up to a bound, except that of the newest one" {
	local n key

	layer dev 'echo 1 >a'
	for n in 2 3 4; do
		apply_next "echo $n >a"
		[[ "$output" != *"no longer"* ]]
	done
	[ -e "$AGENTBOX_STATE/layers/dev/undo/last/size" ]
	# Two fit, a third one does not.
	note_size last 1
	note_size before-2 1
	apply_next 'echo 5 >a'
	[[ "$output" == *"the oldest applies can no longer be taken back: the last 16 are kept, if they need no more than 2 GiB"* ]]
	[ "$(ls -d "$AGENTBOX_STATE"/layers/dev/undo/before-*)" = "$AGENTBOX_STATE/layers/dev/undo/before-3" ]
	# The newest one is kept whatever its size, also when the next one comes.
	note_size last 3
	next_run 'echo 6 >a'
	agentbox apply dev --all
	[[ "$output" == *"the oldest applies can no longer be taken back"* ]]
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ "$(cat a)" = 5 ]
	agentbox undo dev
	[ "$status" -eq 1 ]
	[[ "$output" == *"no apply to take back"* ]]
	# A reviewed run says it, too.
	agentbox run --review=auto --name dev -- sh -c 'echo 7 >a'
	note_size last 3
	agentbox run --review=auto --name dev -- sh -c 'echo 8 >a'
	[ "$status" -eq 0 ]
	[[ "$output" == *"all applied"*"; the oldest apply can no longer be taken back"* ]]
	[ "$(cat a)" = 8 ]
}

@test "undo: a journal of another version is named, and nothing of it is lost" {
	local undo=$AGENTBOX_STATE/layers/dev/undo state

	layer dev 'echo 2 >a'
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	# Another format under the same name.
	rewritten "$undo/last/plan" "data + b'more of it'"
	state=$(tree "$undo"; tree)
	agentbox undo dev
	[ "$status" -eq 1 ]
	[[ "$output" == *"the journal $undo/last is damaged, or another version of agentbox wrote it"* ]]
	[[ "$output" == *"takes it back: agentbox undo dev"*"\"old\""*"agentbox layers rm --yes dev"* ]]
	[[ "$output" != *"Bad message"* ]]
	[ "$(tree "$undo"; tree)" = "$state" ]
	[ "$(cat "$undo"/last/old/*)" = 1 ]
	# The twin: later applies work, and can be taken back in spite of it.
	apply_next 'echo 3 >a'
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ "$(cat a)" = 2 ]
	agentbox undo dev
	[ "$status" -eq 1 ]
	[[ "$output" == *"another version of agentbox wrote it"* ]]
	# An apply that was interrupted: nothing is touched until that version has completed it.
	mv "$undo/last" "$undo/next"
	state=$(tree "$undo"; tree)
	agentbox apply dev --all
	[ "$status" -eq 1 ]
	[[ "$output" == *"the journal $undo/next is damaged"*"was interrupted"*"completes it or takes it back"* ]]
	[ "$(tree "$undo"; tree)" = "$state" ]
}
