# What a run creates where programs outside obey it: gone within milliseconds, never
# there for a loop, whatever its size or number; and repositories of its own making,
# in which nothing runs a program of the box on the host.
# root-in-turn: root may give files owners and modes that a user may not
UNJUDGED=1
load helpers
load attack/attack

setup()
{
	box_setup
	# The attacker's program; it must never run outside.
	EVIL=$HOME/evil
	printf '#!/bin/sh\ntouch "%s/PWNED"\n' "$HOME" >"$EVIL"
	chmod +x "$EVIL"
	# The box creates its names through this link: at the call itself they would be refused.
	ln -s . way
}

teardown()
{
	stop_peers
	box_teardown
}

# polls N FILE: print in how many of N looks, about a millisecond apart, FILE is executable.
polls()
{
	local i seen=0 tick

	exec {tick}<> <(:)
	for ((i = 0; i < $1; i++)); do
		[ ! -x "$2" ] || seen=$((seen + 1))
		read -r -t 0.001 -u "$tick" || true
	done
	exec {tick}<&-
	echo "$seen"
}

# state_elsewhere: keep the state on another file system than the workspace.
state_elsewhere()
{
	[ -w /dev/shm ] || lacks "/dev/shm is not writable"
	ELSEWHERE=$(mktemp -d /dev/shm/agentbox-test.XXXXXX)
	[ "$(stat -c %d "$ELSEWHERE")" != "$(stat -c %d .)" ] ||
		lacks "/dev/shm is on the file system of the workspace"
	export AGENTBOX_STATE=$ELSEWHERE/state
}

# ------------------------------------------------------------ names in a loop

@test "a loop that plants a hook leaves nothing executable on the host" {
	make_repo
	rm -r .git/hooks
	"$AGENTBOX" run --yes -- sh -c 'echo up >up; while :; do
		mkdir -p .git/hooks
		printf "#!/bin/sh\ntouch ~/PWNED\n" >.git/hooks/pre-commit
		chmod +x .git/hooks/pre-commit
	done' >"$TEST_DIR/out" 2>&1 3>&- &
	local pid=$!
	PEERS+=($pid)
	wait_for 90 test -e up
	[ "$(polls 1000 .git/hooks/pre-commit)" -eq 0 ]
	kill -0 "$pid"
	kill "$pid"
	wait "$pid" || true
	[ "$(polls 1000 .git/hooks/pre-commit)" -eq 0 ]
	[ -d .git/hooks ]
	[ -z "$(ls -A .git/hooks)" ]
	echo two >file
	git commit -qam second
	[ ! -e "$HOME/PWNED" ]
}

@test "a loop over a protected name is ended, and nothing is left of it" {
	"$AGENTBOX" run --yes -- sh -c 'echo up >up; while :; do
		echo "touch ~/PWNED" >way/.envrc; chmod +x way/.envrc
	done' >"$TEST_DIR/out" 2>&1 3>&- &
	local pid=$! status=0
	PEERS+=($pid)
	wait_for 90 test -e up
	# Some looks may meet it before the run is ended; without that it is nearly all of them.
	[ "$(polls 1000 .envrc)" -le 500 ]
	wait_for 60 eval '! kill -0 '$pid' 2>/dev/null'
	wait "$pid" || status=$?
	cat "$TEST_DIR/out"
	[ "$status" -eq 125 ]
	absent .envrc
	# What happened, which name, which option.
	grep -q "created $WORKSPACE/.envrc 3 times" "$TEST_DIR/out"
	grep -q -- "--deny-write '!.envrc'" "$TEST_DIR/out"
}

@test "a loop ends a run that only warns as well" {
	run timeout 120 "$AGENTBOX" run --yes --fallback warn -- sh -c 'while :; do echo evil >way/.envrc; done'
	echo "$output"
	[ "$status" -eq 125 ]
	[[ "$output" == *"$WORKSPACE/.envrc 3 times"* ]]
	absent .envrc
}

@test "a loop over many names is ended too" {
	run timeout 120 "$AGENTBOX" run --yes --deny-write 'x*.cfg' -- sh -c '
		i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); echo evil >way/x$i.cfg; done'
	[ "$status" -eq 125 ]
	[[ "$output" == *"created 5"??" protected files"* ]]
	[ -z "$(ls x*.cfg 2>/dev/null)" ]
	# One line each for a few of them, and one for the rest.
	[ "$(wc -l <<<"$output")" -lt 40 ]
}

@test "a tool that tries once more goes on, and so does one that makes many names" {
	agentbox run --yes --timeout 120s -- sh -c 'echo 1 >way/.envrc; until [ ! -e .envrc ]; do sleep 0.01; done
		echo 2 >way/.envrc; mkdir way/.vscode way/.idea way/.claude; touch way/.mcp.json way/.bashrc; echo fine >file'
	[ "$status" -eq 0 ]
	absent .envrc .vscode .idea .claude .mcp.json .bashrc
	[ "$(cat file)" = fine ]
	[ "$(grep -c 'protected file' <<<"$output")" -eq 7 ]
}

# without_inotify CMD...: CMD can have none; what else this user runs still can.
without_inotify()
{
	timeout 240 unshare --user --map-current-user --keep-caps sh -c '
		echo 0 >/proc/sys/user/max_inotify_instances &&
			exec setpriv --inh-caps=-all --ambient-caps=-all "$@"' sh "$@" 3>&-
}

@test "the watch needs no inotify" {
	need userns
	run without_inotify "$AGENTBOX" run --yes --timeout 120s -- sh -c 'echo evil >way/.envrc; until [ ! -e .envrc ]; do sleep 0.01; done
		git init -q sub; git -C sub config core.fsmonitor evil
		while git -C sub config core.fsmonitor; do sleep 0.01; done; echo taken'
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *taken* ]]
	run without_inotify "$AGENTBOX" run --yes -- sh -c 'while :; do echo evil >way/.envrc; done'
	[ "$status" -eq 125 ]
	absent .envrc
}

# -------------------------------------------------------------- large and many

@test "what is too large for the quarantine gets another name" {
	state_elsewhere
	agentbox run --yes -- sh -c 'truncate -s 65M big; mv -T big way/.envrc; mkdir d; cd d; i=0
		while [ $i -lt 10001 ]; do : >$i; i=$((i + 1)); done; cd ..; mv -T d way/.vscode; echo fine >file'
	rm -rf --one-file-system "$ELSEWHERE"
	[ "$status" -eq 0 ]
	absent .envrc .vscode
	[ "$(cat file)" = fine ]
	[ "$(ls -d .agentbox-quarantine-* | wc -l)" -eq 2 ]
	[ "$(stat -c %a .agentbox-quarantine-* | sort -u)" = 0 ]
	[[ "$output" == *"(${WORKSPACE}/.envrc), too large to be moved to quarantine; renamed to .agentbox-quarantine-"* ]]
	chmod -R u+rwX .agentbox-quarantine-*
}

@test "a small file crosses file systems" {
	state_elsewhere
	agentbox run --yes --timeout 120s -- sh -c 'echo evil >f; mv -T f way/.envrc; until [ ! -e .envrc ]; do sleep 0.01; done'
	local text
	text=$(cat "$AGENTBOX_STATE"/runs/*/*-.envrc)
	rm -rf --one-file-system "$ELSEWHERE"
	[ "$status" -eq 0 ]
	[ "$text" = evil ]
	absent .envrc
	[ -z "$(find . -name '.agentbox-quarantine-*')" ]
}

# --------------------------------------------- repositories that a run makes

# statuses FILE: run `git status` at the top until FILE exists. It takes no lock, which
# would be in the way of git in the box.
statuses()
{
	export GIT_OPTIONAL_LOCKS=0
	until [ -e "$1" ]; do
		git status >/dev/null 2>&1 || true
		git diff >/dev/null 2>&1 || true
		echo round >>"$HOME/rounds"
	done
}

@test "git status outside runs nothing of the box, during and after the run" {
	make_repo
	touch "$HOME/rounds"
	statuses "$TEST_DIR/stop" 3>&- &
	PEERS+=($!)
	agentbox run --yes --timeout 90s -- sh -c '
		for s in one two three; do
			git init -q $s; git -C $s commit -q --allow-empty -m x
			git -C $s config core.fsmonitor "'"$EVIL"'"; git -C $s config user.name fine
			git update-index --add --cacheinfo 160000,$(git -C $s rev-parse HEAD),$s
		done
		mkdir -p a/b; git init -q a/b/deep; git -C a/b/deep commit -q --allow-empty -m x
		git update-index --add --cacheinfo 160000,$(git -C a/b/deep rev-parse HEAD),a/b/deep
		# Until git has looked at all of it outside.
		rounds=$(($(wc -l <"$HOME/rounds") + 3))
		until [ "$(wc -l <"$HOME/rounds")" -ge "$rounds" ]; do sleep 0.05; done'
	touch "$TEST_DIR/stop"
	git status
	[ "$status" -eq 0 ]
	[ ! -e "$HOME/PWNED" ]
	[ "$(git -C two config user.name)" = fine ]
	! git -C two config core.fsmonitor || false
	[[ "$output" == *"added the submodule one to the index of $WORKSPACE"* ]]
	[[ "$output" == *"$WORKSPACE/one/.git/config (core.fsmonitor)"* ]]
	# The same setting, made outside, is obeyed.
	git -C two config core.fsmonitor "$EVIL"
	git status
	[ -e "$HOME/PWNED" ]
}

@test "it is told at once, and recorded" {
	make_repo
	mkfifo go
	"$AGENTBOX" run --yes -- sh -c 'git init -q sub; git -C sub config core.pager "'"$EVIL"'"
		git -C sub commit -q --allow-empty -m x
		git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub
		read line <go' >"$TEST_DIR/out" 2>&1 3>&- &
	local pid=$!
	PEERS+=($pid)
	wait_for 90 grep -q 'sub/.git/config (core.pager)' "$TEST_DIR/out"
	wait_for 90 grep -q 'added the submodule sub' "$TEST_DIR/out"
	wait_for 90 eval 'grep -q "\"kind\":\"finding\".*core.pager" "$AGENTBOX_STATE"/live/*/audit.jsonl'
	echo go >go
	wait "$pid"
	# Once, not again at the end.
	[ "$(grep -c 'core.pager' "$TEST_DIR/out")" -eq 1 ]
	agentbox log
	[[ "$output" == *"finding"*"core.pager"* ]]
}

@test "a submodule deep in old folders is found through the index" {
	make_repo
	mkdir -p a/b/c
	agentbox run --yes --timeout 120s -- sh -c 'git init -q a/b/c/sub; cd a/b/c/sub; git commit -q --allow-empty -m x
		git config core.sshCommand "'"$EVIL"'"; cd ../../../..
		git update-index --index-version 4 --add --cacheinfo 160000,$(git -C a/b/c/sub rev-parse HEAD),a/b/c/sub
		while git -C a/b/c/sub config core.sshCommand; do sleep 0.01; done
		echo taken'
	[ "$status" -eq 0 ]
	[[ "$output" == *taken* ]]
}

# In the box: put a submodule deep below FOLDER, and into the index of FOLDER's repository.
PLANT='DEEP=1/2/3/4/5/6/7/8/9
plant()
{
	hash=${hash:-$(git -C "$HOME/seed" rev-parse HEAD)}
	cp -r "$HOME/seed" "$1/$DEEP/sub"
	printf "[user]\n\tname = fine\n[core]\n\tfsmonitor = %s/evil\n" "$HOME" >>"$1/$DEEP/sub/.git/config"
	git -C "${2:-$1}" update-index --add --cacheinfo 160000,$hash,$DEEP/sub
}
taken()
{
	while git -C "$1" config core.fsmonitor >/dev/null; do sleep 0.01; done
}'

@test "a .git file or link is followed to submodules deep in old folders" {
	eval "$PLANT"
	make_repo "$HOME/seed"
	mkdir -p "$DEEP" two/"$DEEP" deep/{a,b}
	mkfifo go
	"$AGENTBOX" run --yes --timeout 90s -- sh -c "$PLANT"'
		git init -q --separate-git-dir=store .
		plant .; taken $DEEP/sub
		# Another git directory, in the same file; and the folder that it works on, changed later.
		git init -q --separate-git-dir=deep/a/other deep/b
		echo "gitdir: deep/a/other" >.git; mv $DEEP/sub $DEEP/old; plant .; taken $DEEP/sub
		git config core.worktree "$PWD/two"; plant two .; taken two/$DEEP/sub
		# A link to such a file is not left.
		cp .git named; ln -sf named .git; while [ -L .git ]; do sleep 0.01; done
		echo "gitdir: deep/a/other" >.git
		echo up >go; read line <go' >"$TEST_DIR/out" 2>&1 3>&- &
	local pid=$!
	PEERS+=($pid)
	read -r line <go
	git status
	[ ! -e "$HOME/PWNED" ]
	echo end >go
	wait "$pid"
	cat "$TEST_DIR/out"
	git status
	[ ! -e "$HOME/PWNED" ]
	[ "$(git -C "two/$DEEP/sub" config user.name)" = fine ]
	grep -q "$WORKSPACE/$DEEP/sub/.git/config (core.fsmonitor)" "$TEST_DIR/out"
	# The same setting, made outside, is obeyed.
	git -C "two/$DEEP/sub" config core.fsmonitor "$EVIL"
	git status
	[ -e "$HOME/PWNED" ]
}

@test "so are those in folders that only the search at the end comes to" {
	local s

	eval "$PLANT"
	make_repo
	make_repo "$HOME/seed"
	mkdir -p old/{file,nul,link,own,tree}/"$DEEP" old/stores
	agentbox run --yes --timeout 90s -- sh -c "$PLANT"'
		cd old
		for s in file nul link; do git init -q --separate-git-dir=stores/$s $s; done
		printf "gitdir: ../stores/nul\0more\n" >nul/.git
		ln -sf ../stores/link link/.git
		plant file; plant nul; plant link
		printf "gitdir: ../../.git\n" >own/.git; plant own
		git init -q in; git -C in config core.worktree ../../tree; plant tree in'
	[ "$status" -eq 0 ]
	for s in file nul link own in; do
		git -C old/$s status >/dev/null
		[ ! -e "$HOME/PWNED" ]
	done
	for s in file nul link own tree; do
		grep -q 'name = fine' "old/$s/$DEEP/sub/.git/config"
		printf '[core]\n\tfsmonitor = %s\n' "$EVIL" >>"old/$s/$DEEP/sub/.git/config"
	done
	# The same setting, made outside, is obeyed.
	for s in file nul link own in; do
		git -C old/$s status >/dev/null
		rm "$HOME/PWNED"
	done
}

@test "an index that cannot be read is told, also in a repository that is found at the end" {
	make_repo
	mkdir -p a/b/c
	agentbox run --yes -- sh -c 'for r in good bad; do
			git init -q a/b/c/$r
			git -C a/b/c/$r commit -q --allow-empty -m x
		done
		cp a/b/c/good/.git/HEAD a/b/c/bad/.git/index
		: >a/b/c/good/file; git -C a/b/c/good add file'
	[ "$status" -eq 0 ]
	[[ "$output" == *"$WORKSPACE/a/b/c/bad/.git/index cannot be read: look for submodules"* ]]
	[[ "$output" != *"good/.git/index"* ]]
}

@test "a loop that sets it again ends the run" {
	make_repo
	run timeout 120 "$AGENTBOX" run --yes -- sh -c 'git init -q sub
		while :; do git -C sub config core.fsmonitor "'"$EVIL"'"; done'
	[ "$status" -eq 125 ]
	[[ "$output" == *"$WORKSPACE/sub/.git/config 3 times (core.fsmonitor)"* ]]
	! git -C sub config core.fsmonitor || false
}

@test "git init, clone, submodule and worktree work undisturbed" {
	make_repo "$HOME/origin"
	make_repo
	agentbox run --yes --timeout 120s -- sh -c 'set -e
		git init -q new; git -C new config user.name me; git -C new commit -q --allow-empty -m x
		git clone -q "$HOME/origin" clone; git -C clone config branch.x.merge refs/heads/x
		git -C clone checkout -q -b topic; git -C clone worktree add -q ../tree
		git clone -q --bare "$HOME/origin" bare.git
		# Once the last repository was looked at, so were those before it.
		git init -q bait; git -C bait config core.fsmonitor ./x
		while git -C bait config core.fsmonitor >/dev/null; do sleep 0.01; done
		cp clone/.git/config copy; git -C tree status --short'
	[ "$status" -eq 0 ]
	[ -z "$(grep -v "bait/.git/config\|agentbox quarantine " <<<"$output")" ]
	cmp copy clone/.git/config
	[ "$(git -C new config user.name)" = me ]
	[ "$(git -C clone config remote.origin.url)" = "$HOME/origin" ]
	git -C tree status
}

@test "a link or a NUL in the configuration of a new repository is not believed" {
	printf '[core]\n\tfsmonitor = %s\0x\n' "$EVIL" >nul
	printf '[core]\n\tfsmonitor = %s\n' "$EVIL" >linked
	agentbox run --yes --timeout 120s -- sh -c 'git init -q a; cat nul >a/.git/config
		git init -q b; ln -sf ../../linked b/.git/config; git init -q c; echo "$PWD/b/.git" >c/.git/commondir
		until [ ! -L b/.git/config ] && [ ! -e c/.git/commondir ]; do sleep 0.01; done'
	[ "$status" -eq 0 ]
	for d in a b c; do git -C $d status >/dev/null 2>&1 || true; done
	[ ! -e "$HOME/PWNED" ]
	absent c/.git/commondir
	[ ! -L b/.git/config ]
}

# ------------------------------------------------------------- at the end

@test "a repository deeper than the watch is examined, and one that existed is closed" {
	make_repo a/b/c/d/e/f/g/old
	git -C a/b/c/d/e/f/g/old config core.pager mine
	agentbox run --yes -- sh -c 'cd a/b/c/d/e/f/g; git init -q new
		for r in old new; do
			printf "[core]\n\tfsmonitor = x\n" >>$r/.git/config; echo evil >$r/.git/hooks/pre-commit
		done; true'
	[[ "$output" == *"a/b/c/d/e/f/g/new/.git/config (core.fsmonitor); they were removed"* ]]
	for r in old new; do
		! git -C a/b/c/d/e/f/g/$r config core.fsmonitor || false
		absent a/b/c/d/e/f/g/$r/.git/hooks/pre-commit
	done
	[ "$(git -C a/b/c/d/e/f/g/old config core.pager)" = mine ]
}

@test "commands in the list of a rebase are told" {
	make_repo
	agentbox run --yes -- sh -c 'mkdir -p .git/rebase-merge
		printf "pick 1234 x\nexec touch PWNED\nlabel x\n" >.git/rebase-merge/git-rebase-todo; true'
	[[ "$output" == *"git-rebase-todo"*"git rebase --continue would run: touch PWNED"* ]]
	rm -r .git/rebase-merge
	agentbox run --yes -- sh -c 'mkdir -p .git/rebase-merge
		printf "pick 1234 exec\n" >.git/rebase-merge/git-rebase-todo; true'
	[[ "$output" != *"would run"* ]]
}

@test "lines about the same name are folded" {
	mkdir sub
	for i in $(seq 15); do make_repo "sub/r$i"; done
	agentbox run --yes -- sh -c 'for i in sub/*; do echo evil >way/$i/.envrc; done'
	[ "$(grep -c 'created a protected file' <<<"$output")" -eq 10 ]
	[[ "$output" == *"created .envrc 5 more times; moved to quarantine"* ]]
	[ -z "$(ls sub/*/.envrc 2>/dev/null)" ]
}
