# Files that tools outside the box run or obey: existing ones are read-only, new
# ones are moved to quarantine, and git still works.
#
# A script prints HOLE where it got through.
# root: root may write what the mode forbids
# asan-root: what root does differs
UNJUDGED=1
load helpers
load attack/attack

setup_file()
{
	attack_build files foldfs
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

# A repository with one commit, in the current folder or in $1.
# taken NAME: what was moved away under that name, in the newest run.
taken()
{
	find "$AGENTBOX_STATE/runs" "$AGENTBOX_STATE/live" -mindepth 2 -maxdepth 2 -name "*-$1"
}

# ----------------------------------------------------------- those that exist

@test "protected names that exist can be read and not changed" {
	local f files=".envrc .vscode/tasks.json .idea/x .claude/settings.json .mcp.json
		.gitmodules .agentbox.json .bashrc .profile .config/fish/config.fish
		.local/bin/tool .ssh/config .git/hooks/post-commit .git/config"
	make_repo
	for f in $files; do
		[ "$f" != .git/config ] || continue
		mkdir -p "$(dirname "$f")"
		echo old >"$f"
	done
	echo '{}' >.agentbox.json
	host_snapshot --no-times . >"$TEST_DIR/before"
	agentbox run -- sh -c '
		for f in '"$(echo $files)"'; do
			cat $f >/dev/null || echo "unreadable $f"
			echo evil >>$f && echo "HOLE $f"
			echo evil >$f && echo "HOLE $f"
			rm -f $f && echo "HOLE $f"
			"$1" replace $f x | grep -q ok && echo "HOLE $f"
			touch $f && echo "HOLE $f"
			chmod 777 $f && echo "HOLE $f"
			truncate -s 0 $f && echo "HOLE $f"
			echo evil >new && mv new $f && echo "HOLE $f"
			rm -f new
		done
		for d in .vscode .idea .claude .config/fish .local/bin .git/hooks; do
			echo evil >$d/evil && echo "HOLE $d"
			rm -rf $d && echo "HOLE $d"
			"$1" replace $d x | grep -q ok && echo "HOLE $d"
		done' sh "$ATTACK/files"
	no_hole
	[[ "$output" != *unreadable* ]]
	host_snapshot --no-times . | diff "$TEST_DIR/before" -
}

@test "folders above a protected name cannot be swapped, work in them goes on" {
	make_repo
	mkdir -p .config/fish .config/other
	echo old >.config/fish/config.fish
	agentbox run -- sh -c '
		"$1" replace .git moved; "$1" replace .config moved
		mkdir dir; "$1" exchange .git dir; "$1" exchange dir .git
		"$1" exchange .git/config file; "$1" exchange file .git/hooks
		"$1" replace file .git/config; "$1" whiteout .git/config x
		"$1" exchange .config/fish .config/other; "$1" link .git/config x
		"$1" link .git/config .git/x; "$1" replace .git/hooks .git/old
		rmdir dir; ln -sfn /tmp .git; rm -rf .git/config; ls -A
		git config core.pager evil && echo HOLE
		echo x >.config/other/x; echo two >file; git commit -qam second; git gc -q
		git log --oneline | wc -l' sh "$ATTACK/files"
	no_hole
	[[ "$output" != *": ok"* ]]
	[ "$(grep -c ': EBUSY$\|: EXDEV$\|: EROFS$' <<<"$output")" -eq 12 ]
	unsaid
	[ "${lines[-1]}" = 2 ]
	[ -e .config/other/x ]
	[ "$(git log --format=%s | head -n 1)" = second ]
	git fsck --strict
}

@test "a protected name is closed through links of every kind" {
	make_repo
	mkdir real
	echo old >real/env
	echo old >real/tasks
	ln -s real/env .envrc
	ln -s real .vscode
	ln .git/config twin
	ln -s .git/config soft
	agentbox run -- sh -c '
		echo evil >.envrc && echo HOLE; echo evil >real/env && echo HOLE
		echo evil >.vscode/tasks && echo HOLE; echo evil >real/tasks && echo HOLE
		rm .envrc && echo HOLE; ln -sf /tmp/x .envrc && echo HOLE
		for f in real .vscode .envrc twin; do "$1" replace $f x | grep ok && echo HOLE; done
		rm .vscode && echo HOLE
		echo evil >>twin && echo HOLE; echo evil >>soft && echo HOLE
		ln .git/config third && echo HOLE; ln twin third && echo HOLE
		echo fine >file; cat file' sh "$ATTACK/files"
	no_hole
	unsaid
	[ "${lines[-1]}" = fine ]
	[ "$(cat real/env real/tasks)" = $'old\nold' ]
	[ "$(readlink .envrc .vscode)" = $'real/env\nreal' ]
	[ "$(grep -c evil .git/config)" -eq 0 ]
}

@test "a hooksPath that is configured is as protected as the hooks" {
	make_repo
	mkdir .husky
	echo old >.husky/pre-commit
	git config core.hooksPath .husky
	git config include.path ../extra
	echo '[alias]' >extra
	agentbox run -- sh -c '
		echo evil >.husky/pre-commit && echo HOLE; echo evil >.husky/new && echo HOLE
		"$1" replace .husky x | grep ok && echo HOLE; echo evil >>extra && echo HOLE; rm extra && echo HOLE
		echo fine >file' sh "$ATTACK/files"
	no_hole
	[ "$(cat file .husky/pre-commit)" = $'fine\nold' ]
	rm -r .husky
	agentbox run -- sh -c 'ln -s . way; mkdir way/.husky && echo evil >.husky/pre-commit'
	[[ "$output" == *.husky* ]]
	[ ! -e .husky ]
}

@test "deny-write adds names and paths, and a name can be taken back" {
	mkdir conf
	echo old >conf/x
	echo old >build.lock
	echo old >secret-0.yml
	agentbox run --deny-write conf --deny-write "$WORKSPACE/build.lock" --deny-write 'secret*.yml' -- sh -c '
		echo evil >conf/x && echo HOLE; echo evil >build.lock && echo HOLE
		"$1" replace conf y | grep ok && echo HOLE; echo evil >secret-1.yml; echo fine >file' sh "$ATTACK/files"
	no_hole
	[ "$(cat conf/x build.lock secret-0.yml file)" = $'old\nold\nold\nfine' ]
	[ ! -e secret-1.yml ]
	[[ "$output" == *secret-1.yml* ]]
	mkdir .vscode
	agentbox run --deny-write '!.vscode' -- sh -c 'echo x >.vscode/settings.json'
	[ "$status" -eq 0 ]
	[ -e .vscode/settings.json ]
}

# -------------------------------------------------------- those that appear
#
# A program that creates one is refused at the call (writes.bats). These go through a
# link, which the guard does not follow, as a program that means it can.

@test "a protected file that appears is moved to quarantine and reported" {
	make_repo
	# Through a link: at the call itself these names would be refused.
	agentbox run -- sh -c 'ln -s . way
		mkdir -p d/.vscode d/.claude d/fish; echo evil >d/.envrc; echo evil >d/.vscode/tasks.json
		echo evil >d/.claude/settings.json; echo evil >d/fish/config.fish
		for name in .envrc .vscode .claude; do mv -T d/$name way/$name; done
		ln -sT /etc/passwd way/.mcp.json; mkfifo way/.gitmodules
		mkdir -p .config/fine; mv -T d/fish way/.config/fish; echo fine >.config/fine/x
		echo evil >way/.git/config.worktree; echo "../x" >way/.git/commondir
		rm -f .git/commondir; echo fine >file; true'
	[ "$status" -eq 0 ]
	absent .envrc .vscode .claude .mcp.json .gitmodules .config/fish .git/config.worktree
	[ "$(cat file .config/fine/x)" = $'fine\nfine' ]
	[[ "$output" == *"created a protected file ($WORKSPACE/.envrc)"* ]]
	[[ "$output" == *"created a protected file ($WORKSPACE/.vscode)"* ]]
	[[ "$output" == *"created a protected file ($WORKSPACE/.config/fish)"* ]]
	# Nothing is lost.
	[ "$(cat "$(taken .envrc)")" = evil ]
	[ "$(cat "$(taken .vscode)/tasks.json")" = evil ]
	[ "$(readlink "$(taken .mcp.json)")" = /etc/passwd ]
	[[ "$output" == *"quarantine as $(ls "$AGENTBOX_STATE/runs")-q1: "* ]]
	git status >/dev/null
}

@test "it is taken while the box still runs" {
	mkfifo go
	"$AGENTBOX" run -- sh -c 'ln -s . way; echo evil >way/.envrc; mkdir way/.vscode; read line <go' \
		>"$TEST_DIR/out" 2>&1 3>&- &
	local pid=$!
	PEERS+=($pid)
	wait_for 90 eval 'grep -qs evil "$AGENTBOX_STATE"/live/*/*-.envrc'
	wait_for 90 test ! -e .vscode
	[ ! -e .envrc ]
	echo go >go
	wait "$pid"
	grep -q .envrc "$TEST_DIR/out"
}

@test "no stub of a protected name is ever on the host" {
	make_repo
	mkfifo go up
	find . | LC_ALL=C sort >"$TEST_DIR/before"
	"$AGENTBOX" run -- sh -c 'echo up >up; read line <go' 3>&- &
	local pid=$!
	PEERS+=($pid)
	read -r _ <up
	find . | LC_ALL=C sort | diff "$TEST_DIR/before" -
	echo go >go
	wait "$pid"
	find . | LC_ALL=C sort | diff "$TEST_DIR/before" -
}

@test "tricks with what appears do not keep it there" {
	mkdir sub
	ln -s build/env .envrc
	agentbox run -- sh -c 'ln -s . way
		mkdir -p way/build && echo evil >way/build/env
		mkdir -p sub/.vscode && echo evil >sub/.vscode/tasks.json && chmod 000 sub/.vscode
		mv -T sub/.vscode way/.vscode
		mkdir sub/.idea && echo evil >sub/.idea/x && mv -T sub/.idea way/.idea
		ln -sT sub way/.cursor
		mkdir -p .config && ln -sT ../sub way/.config/fish
		echo evil >way/.mcp.json
		echo evil >sub/keep; exec 7>way/.zshrc; rm .zshrc; ln /proc/self/fd/7 way/.zshrc 2>/dev/null; true'
	[ "$status" -eq 0 ]
	absent .vscode .idea .cursor .mcp.json .config/fish build/env .zshrc
	[ -e sub/keep ]
	[ "$(readlink .envrc)" = build/env ]
}

@test "a folder that was taken away does not lead into the state folder" {
	ln -s . way
	agentbox run -- "$ATTACK/files" held way/.vscode
	[[ "${lines[0]}" == "held: E"* ]]
	[ -z "$(find "$AGENTBOX_STATE" -name evil)" ]
	# Nor where that is a part of the workspace.
	export AGENTBOX_STATE=$WORKSPACE/state
	agentbox run -- "$ATTACK/files" held way/.vscode
	[ "$status" -eq 0 ]
	[ -z "$(find "$AGENTBOX_STATE" -name evil)" ]
	[ ! -e .vscode ]
	[ -d "$(taken .vscode)" ]
}

@test "the names of a git directory that is not complete are watched for" {
	mkdir -p .git
	agentbox run -- sh -c 'ln -s . way; mkdir .git/made && echo evil >.git/made/pre-commit
		mv -T .git/made way/.git/hooks
		"$1" replace .git x | grep ok && echo HOLE; echo two >file' sh "$ATTACK/files"
	no_hole
	[ ! -e .git/hooks ]
	[ "$(cat "$(taken hooks)/pre-commit")" = evil ]
	[ "$(cat file)" = two ]
}

# ------------------------------------------------ repositories that exist

@test "a nested repository is closed like the first" {
	make_repo
	make_repo vendor/lib
	make_repo a/b/c/deep
	agentbox run -- sh -c '
		for r in vendor/lib a/b/c/deep; do
			echo evil >$r/.git/hooks/pre-commit && echo HOLE; echo evil >>$r/.git/config && echo HOLE
			echo evil >$r/.envrc
			for d in $r/.git $r ${r%%/*}; do "$1" replace $d moved; done
			echo two >$r/file; git -C $r commit -qam second; git -C $r log --oneline | wc -l
		done' sh "$ATTACK/files"
	no_hole
	[[ "$output" != *": ok"* ]]
	[ "$(grep -c '^2$' <<<"$output")" -eq 2 ]
	[ ! -e vendor/lib/.envrc ]
	[ ! -e a/b/c/deep/.envrc ]
}

@test "a bare repository in the workspace is closed too" {
	git init -q --bare bare.git
	agentbox run -- sh -c 'echo evil >bare.git/hooks/post-update && echo HOLE
		echo evil >>bare.git/config && echo HOLE; "$1" replace bare.git x | grep ok && echo HOLE
		git clone -q bare.git clone && cd clone && echo x >f && git add f && git commit -qm one && git push -q && echo pushed' sh "$ATTACK/files"
	no_hole
	[[ "$output" == *pushed* ]]
	[ "$(git -C bare.git log --oneline | wc -l)" -eq 1 ]
}

@test "a worktree of a repository elsewhere commits, its hooks stay closed" {
	make_repo "$HOME/main"
	git -C "$HOME/main" worktree add -q "$WORKSPACE/tree"
	cd tree
	agentbox run --home readonly -- sh -c '
		echo two >file && git commit -qam second && git branch other && git log --oneline | wc -l
		for g in "$HOME/main/.git"; do
			echo evil >$g/hooks/pre-commit && echo HOLE; echo evil >>$g/config && echo HOLE
			echo evil >$g/config.worktree; echo evil >"$g/worktrees/tree/commondir" && echo HOLE
			"$1" replace $g/worktrees $g/x | grep ok && echo HOLE
		done
		echo evil >"$HOME/main/file" && echo HOLE
		echo "gitdir: /tmp/x" >.git && echo HOLE; rm -f .git && echo HOLE; :' sh "$ATTACK/files"
	cd "$WORKSPACE"
	no_hole
	[ "${lines[0]}" = 2 ]
	[ "$(git -C "$HOME/main" log --oneline tree | wc -l)" -eq 2 ]
	[ ! -e "$HOME/main/.git/hooks/pre-commit" ]
	[ ! -e "$HOME/main/.git/config.worktree" ]
	[ "$(cat "$HOME/main/file")" = one ]
	git -C "$HOME/main" fsck --strict
}

@test "a submodule commits, its hooks and configuration stay closed" {
	make_repo "$HOME/lib"
	make_repo
	git submodule --quiet add "$HOME/lib" sub
	git commit -qam module
	agentbox run -- sh -c '
		cd sub && echo two >file && git commit -qam inside && git log --oneline | wc -l
		cd .. && git commit -qam outside && git submodule status
		m=.git/modules/sub
		echo evil >$m/hooks/pre-commit && echo HOLE; echo evil >>$m/config && echo HOLE
		echo evil >>.gitmodules && echo HOLE; echo evil >sub/.git && echo HOLE
		for d in $m .git/modules sub; do "$1" replace $d x; done' sh "$ATTACK/files"
	no_hole
	[[ "$output" != *": ok"* ]]
	[ "${lines[0]}" = 2 ]
	[ "$(git log --oneline | wc -l)" -eq 3 ]
	[ "$(git -C sub log --oneline | wc -l)" -eq 2 ]
	[ ! -e .git/modules/sub/hooks/pre-commit ]
	git submodule status
}

# --------------------------------------------- repositories that a run makes

@test "a repository that the run makes stays, its planted hooks do not" {
	make_repo "$HOME/origin"
	agentbox run -- sh -c '
		git init -q new && git clone -q "$HOME/origin" clone
		cd clone && echo two >file && git commit -qam second && git worktree add -q ../side
		git config core.pager evil; git config alias.st "!evil"; git config core.fsmonitor ./evil
		for r in ../new .; do
			printf "#!/bin/sh\necho evil\n" >hook; chmod +x hook; mv hook $r/.git/hooks/pre-commit
		done'
	[ "$status" -eq 0 ]
	[ ! -e new/.git/hooks/pre-commit ]
	[ ! -e clone/.git/hooks/pre-commit ]
	[[ "$output" == *"created a protected file ($WORKSPACE/new/.git/hooks/pre-commit)"* ]]
	[ -e new/.git/hooks/pre-commit.sample ]
	[[ "$output" == *clone/.git/config*core.pager* ]]
	[[ "$output" == *alias.st* ]]
	[[ "$output" == *core.fsmonitor* ]]
	[ "$(git -C clone -c core.fsmonitor= log --oneline | wc -l)" -eq 2 ]
	[ "$(git -C side -c core.fsmonitor= status --short)" = "" ]
	grep -q evil "$(taken pre-commit | head -n 1)"
}

@test "the workspace itself may become a repository" {
	agentbox run -- sh -c 'git init -q . && echo x >f && git add f && git commit -qm one
		echo evil >hook; chmod +x hook; mv hook .git/hooks/post-checkout'
	[ "$status" -eq 0 ]
	[ ! -e .git/hooks/post-checkout ]
	[ -e .git/hooks/pre-commit.sample ]
	[ "$(git log --oneline | wc -l)" -eq 1 ]
}

@test "a clone with submodules and a worktree in it are reviewed too" {
	make_repo "$HOME/lib"
	make_repo "$HOME/origin"
	git -C "$HOME/origin" submodule --quiet add "$HOME/lib" sub
	git -C "$HOME/origin" commit -qam module
	agentbox run -- sh -c 'git clone -q --recurse-submodules "$HOME/origin" clone
		echo evil >clone/.git/modules/sub/hooks/pre-commit
		git -C clone/sub status --short'
	[ "$status" -eq 0 ]
	[ ! -e clone/.git/modules/sub/hooks/pre-commit ]
	[ "$(git -C clone/sub log --oneline | wc -l)" -eq 1 ]
}

@test "a .git file of the run's making that leads away is named" {
	make_repo "$HOME/victim"
	agentbox run -- sh -c 'mkdir sub fake; echo "gitdir: $HOME/victim/.git" >sub/.git
		git init -q --separate-git-dir=fake/dir other; echo evil >fake/dir/hooks/pre-commit'
	[ "$status" -eq 0 ]
	[[ "$output" == *"sub/.git"*"$HOME/victim/.git"* ]]
	[ ! -e fake/dir/hooks/pre-commit ]
}

# folds ARG...: agentbox in the workspace, on a file system that does not tell the spellings of a name apart. What
# is there is in $BACK before and after.
folds()
{
	only_root
	[ -w /dev/fuse ] || lacks "/dev/fuse is not writable"
	BACK=$TEST_DIR/back
	mkdir -p "$BACK"
	run timeout --kill-after=5 120 unshare --user --map-root-user --mount sh -c '
		foldfs=$1 back=$2 agentbox=$3
		shift 3
		"$foldfs" "$back" "$PWD" 2>&1 &
		until mountpoint -q "$PWD"; do kill -0 $! || exit 77; done
		cd "$PWD"
		rc=0
		"$agentbox" "$@" || rc=$?
		cd / && umount -l "$OLDPWD" && wait
		exit $rc' - "$ATTACK/foldfs" "$BACK" "$AGENTBOX" "$@" </dev/null 3>&-
	echo "$output"
	[ "$status" -ne 77 ] || lacks "no file system can be mounted here: ${lines[0]}"
}

# The same names as other programs spell them, and as they do not.
PLANT='mkdir -p src .GIT/objects .GIT/refs .GIT/hooks Notes .vSCode
	echo x >.vSCode/tasks.json; echo x >.EnvRC; echo x >team.CODE-Workspace; echo x >Src/Main.c
	printf "ref: refs/heads/main\n" >.GIT/HEAD
	printf "[core]\n\tfsmonitor = ./evil\n" >.GIT/CONFIG
	echo x >.GIT/Hooks/pre-commit
	printf x >.h$(printf "\342\200\214")usky'

@test "protected names that appear in another spelling are moved, where a file system finds them so" {
	! without_namespaces || return 0
	folds run -- sh -c "$PLANT; true"
	absent "$BACK/.vSCode" "$BACK/.EnvRC" "$BACK/team.CODE-Workspace" "$BACK/.GIT/hooks/pre-commit" \
		"$BACK"/.h*usky
	for name in .vscode .envrc .husky; do
		[[ "$output" == *"$name"* ]]
		[ -n "$(taken "$name")" ]
	done
	run ! grep fsmonitor "$BACK/.GIT/CONFIG"
	[ "$(cat "$BACK/src/Main.c")" = x ]
	[ -d "$BACK/Notes" ]
	# The other way to find them: nothing was watched while they appeared.
	rm -r "$BACK"
	folds run -- sh -c "mkdir -p .GIT/a/b; $PLANT; echo y >a; (setsid sh -c 'kill -9 -1') & wait; kill -9 -1"
	absent "$BACK/.vSCode" "$BACK/.EnvRC" "$BACK/team.CODE-Workspace" "$BACK/.GIT/hooks/pre-commit"
}

@test "a protected name that appears under its short name stays, another spelling is moved" {
	! without_namespaces || return 0
	folds run -- sh -c 'echo evil >ENVRC~1; cat .envrc'
	[ "$status" -eq 0 ]
	# Programs outside find it as .envrc.
	grep -qx evil <<<"$output"
	[ "$(cat "$BACK/ENVRC~1")" = evil ]
	[ -z "$(taken '*')" ]
	rm -r "$BACK"
	folds run -- sh -c 'echo evil >.EnvRC; true'
	absent "$BACK/.EnvRC"
	[ -n "$(taken .envrc)" ]
}

@test "the same spellings stay where a file system tells them apart" {
	agentbox run -- sh -c "$PLANT; true"
	[ "$status" -eq 0 ]
	[ "$(cat .vSCode/tasks.json .EnvRC team.CODE-Workspace | tr -d '\n')" = xxx ]
	[[ "$output" != *quarantine* ]]
	[ -z "$(taken '*')" ]
}

@test "a protected name that exists is found in another spelling, or the run says that it is not closed" {
	! without_namespaces || return 0
	mkdir -p "$TEST_DIR/back/.VSCODE" "$TEST_DIR/back/.GIT/objects" "$TEST_DIR/back/.GIT/refs" \
		"$TEST_DIR/back/.GIT/hooks"
	echo 'ref: refs/heads/main' >"$TEST_DIR/back/.GIT/HEAD"
	echo old >"$TEST_DIR/back/.VSCODE/tasks.json"
	folds run -- sh -c 'echo new >.vscode/tasks.json; echo new >.vsCODE/tasks.json
		echo new >.git/hooks/pre-commit; echo new >.giT/HOOKS/pre-commit; echo mine >work'
	[ "$(cat "$BACK/.VSCODE/tasks.json")" = old ]
	absent "$BACK/.GIT/hooks/pre-commit"
	[ "$(cat "$BACK/work")" = mine ]
	[[ "$output" != *"other spellings"* ]]
	# A mount covers one spelling of a file only.
	echo old >"$BACK/.envrc"
	folds run --fallback warn -- sh -c 'echo mine >work'
	[[ "$output" == *"finds a file under other spellings of its name, under which the box may write it"* ]]
	[[ "$output" == *"guarantees not in force: "*protected-names* ]]
	folds run --fallback strict -- true
	[ "$status" -ne 0 ]
	# Where the spellings are told apart, it is closed.
	echo old >.envrc
	agentbox run --fallback strict -- sh -c 'echo new >.envrc; echo new >.ENVRC'
	[ "$(cat .envrc .ENVRC | tr '\n' ' ')" = "old new " ]
	[[ "$output" != *"other spellings"* ]]
}

@test "names in deeper folders are reported and left" {
	mkdir -p vendor/pkg
	agentbox run -- sh -c 'mkdir -p vendor/pkg/.vscode && echo x >vendor/pkg/.vscode/tasks.json; echo x >vendor/pkg/other'
	[ "$status" -eq 0 ]
	[[ "$output" == *vendor/pkg/.vscode* ]]
	[[ "$output" != *vendor/pkg/other* ]]
	[ -e vendor/pkg/.vscode/tasks.json ]
}

@test "a process that outlives the command leaves no protected name behind" {
	local i

	for i in 1 2 3 4; do
		agentbox run -- sh -c 'p=$$; (while kill -0 $p; do :; done
			echo evil >.envrc; sleep 300) >/dev/null 2>&1 & true'
		[ "$status" -eq 0 ]
		[ ! -e .envrc ]
	done
	agentbox run -- sh -c 'echo kept >own'
	[ "$status" -eq 0 ]
	[ -e own ]
}

# --------------------------------------------------------------- after a kill

# The supervisor of a run that waits in the box, and its broker.
start_killable()
{
	"$AGENTBOX" run -- sh -c 'git init -q made; echo up >up; read line <go
		echo evil >made/.git/hooks/pre-commit; read line <go' >"$TEST_DIR/out" 2>&1 3>&- &
	SUPERVISOR=$!
	PEERS+=($SUPERVISOR)
	wait_for 90 test -e up
	BROKER=$(grep -l '^agentbox-broker' $(sed 's|[^ ]*|/proc/&/comm|g' "/proc/$SUPERVISOR/task/$SUPERVISOR/children") 2>/dev/null | cut -d/ -f3)
	[ -n "$BROKER" ]
	# Otherwise it would take the hook at once.
	kill -STOP "$BROKER"
	echo go >go
	wait_for 90 test -e made/.git/hooks/pre-commit
}

@test "the broker cleans up after a supervisor that was killed" {
	mkfifo go
	start_killable
	kill -KILL "$SUPERVISOR"
	kill -CONT "$BROKER"
	wait "$SUPERVISOR" || true
	wait_for 90 eval '[ -z "$(ls "$AGENTBOX_STATE/live")" ]'
	[ ! -e made/.git/hooks/pre-commit ]
	[ -e made/.git/HEAD ]
	grep -q 'supervisor was killed' "$AGENTBOX_STATE"/runs/*/audit.jsonl
}

@test "the next start cleans up after all of them were killed" {
	mkfifo go
	start_killable
	echo evil >.envrc
	kill -KILL "$SUPERVISOR" "$BROKER"
	wait "$SUPERVISOR" || true
	[ -z "$(processes_left)" ]
	[ -e made/.git/hooks/pre-commit ]
	[ -n "$(ls "$AGENTBOX_STATE/live")" ]
	agentbox run -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"made/.git/hooks/pre-commit"* ]]
	[[ "$output" == *".envrc"* ]]
	[ ! -e made/.git/hooks/pre-commit ]
	[ ! -e .envrc ]
	[ -e made/.git/HEAD ]
	[ -z "$(ls "$AGENTBOX_STATE/live")" ]
	# Once is enough.
	agentbox run -- true
	[ -z "$output" ]
}

@test "a run that lives is not swept by another" {
	mkfifo go
	"$AGENTBOX" run -- sh -c 'echo up >up; read line <go; echo fine >file' 3>&- &
	local pid=$!
	PEERS+=($pid)
	wait_for 90 test -e up
	agentbox run -- cat up
	[ "$output" = up ]
	[ "$(ls "$AGENTBOX_STATE/live" | wc -l)" -eq 1 ]
	echo go >go
	wait "$pid"
	[ "$(cat file)" = fine ]
}

# ------------------------------------------------- what the host does meanwhile

# replaced FILE ARG...: a run during which the host renames another file over
# FILE; the command ends when it sees that, or after half a minute.
replaced()
{
	local file=$1 pid
	shift

	rm -f up
	(wait_for 90 test -e up && echo new >"$file.new" && mv "$file.new" "$file") 3>&- &
	pid=$!
	agentbox run "$@" -- sh -c 'echo up >up; i=0
		while [ $i -lt 300 ]; do i=$((i + 1)); sleep 0.1; done; echo finished'
	wait "$pid"
}

@test "a protected file that the host replaces ends a strict run" {
	make_repo
	replaced .git/config
	[ "$status" -eq 125 ]
	[[ "$output" == *".git/config was replaced on the host"* ]]
	[[ "$output" != *finished* ]]
	# Our own copy of the lock is gone with the old file, the new one is not.
	[ "$(cat .git/config)" = new ]
}

@test "without strict it is told" {
	make_repo
	(wait_for 90 test -e up && echo new >.git/c && mv .git/c .git/config) 3>&- &
	local pid=$!
	agentbox run --fallback warn -- sh -c 'echo up >up; until grep -q new .git/config; do sleep 0.1; done; echo on'
	wait "$pid"
	[ "$status" -eq 0 ]
	[[ "$output" == *on* ]]
	[[ "$output" == *".git/config was replaced on the host"* ]]
}

@test "a file that is not protected may be replaced at any time" {
	make_repo
	(wait_for 90 test -e up && echo new >other && mv other file) 3>&- &
	local pid=$!
	agentbox run -- sh -c 'echo up >up; until grep -q new file; do sleep 0.1; done; echo on'
	wait "$pid"
	[ "$status" -eq 0 ]
	[ "$output" = on ]
}
