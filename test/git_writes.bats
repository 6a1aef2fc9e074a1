# git in the box changes the configuration of a repository that existed at the start:
# harmless settings only, and never by itself.
# root-in-turn: no permission of a file stops root, so only the walls can
UNJUDGED=1
load helpers
load attack/attack

setup_file()
{
	attack_build gitrace
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

# No lock and no prepared file is left, and the mount is on the file at the end.
CLEAN='ls .git/hooks .git | grep -E "agentbox-|\.lock" && echo HOLE
	grep -q "/\.git/config .* ro," /proc/self/mountinfo || echo HOLE no mount'

# In the box: do COMMAND..., which must succeed or fail.
DO='well() { "$@" || echo "HOLE failed: $*"; }
	bad() { "$@" && echo "HOLE worked: $*"; }'

@test "git writes: everyday commands that change .git/config work in the box" {
	make_repo
	git init -q --bare "$HOME/far.git"
	agentbox run --write "$HOME/far.git" -- sh -c "$DO"'
		well git remote add o ~/far.git
		well git push -qu o main
		well git checkout -qb b --track main
		well git branch -m c
		well git branch --set-upstream-to=o/main
		well git config user.name Box
		well git config --unset user.name
		well git -C .git config branch.c.description text
		mkdir deep && cd deep && well git config user.email box@example.org && cd ..
		well git remote rename o p
		well git remote set-url p ~/far.git/
		well git worktree add -q w
		well git config remote.p.gh-resolved base
		well git config branch.c.vscode-merge-base origin/main
		well git config maintenance.auto false
		well git branch -q -d main
		well git remote remove p
		well git gc -q
		'"$CLEAN"'; echo end'
	[ "$status" -eq 0 ]
	no_hole
	[[ "$output" == *end* ]]
	[[ "$output" != *denied* ]]
	[ "$(git config --local user.email)" = box@example.org ]
	[ "$(git config branch.c.description)" = text ]
	! git config --local user.name || false
	[ -z "$(git remote)" ]
	[ "$(stat -c %a .git/config)" = "$(stat -c %a .git/description)" ]
	git fsck
}

@test "git writes: settings that name a program are refused, with an id and the reason" {
	make_repo
	cp .git/config "$TEST_DIR/before"
	agentbox run -- sh -c "$DO"'
		bad git config core.hooksPath x
		bad git config core.fsmonitor ./x
		bad git config core.sshCommand ./x
		bad git config alias.x "!y"
		bad git remote add e "ext::sh -c x"
		bad git config include.path x
		bad git config filter.lfs.clean x
		bad git config core.worktree /
		bad git config extensions.worktreeConfig true
		bad git config submodule.x.update "!y"
		bad sh -c "git config branch.m.remote ext::sh"
		'"$CLEAN"'; echo end'
	[ "$status" -eq 0 ]
	no_hole
	[[ "$output" == *"could not write config file .git/config: Permission denied"* ]]
	[[ "$output" == *"11 file accesses were denied"* ]]
	id=$(grep -o "[a-z0-9]*-f1 " <<<"$output")
	[[ "$output" == *".git/config"*"core.hookspath is not among the settings that the box may change"* ]]
	[[ "$output" == *"include.path is not among the settings"* ]]
	[[ "$output" == *"core.worktree is not among the settings that the box may change"* ]]
	agentbox why ${id% }
	[ "$status" -eq 0 ]
	[[ "$output" == *core.hookspath* ]]
	diff "$TEST_DIR/before" .git/config
}

# git push runs the hooks of a repository on this machine.
@test "git writes: no folder becomes an address but a repository whose hooks are closed" {
	local deep=node_modules/a/b/c/d/e/f/g/far

	make_repo
	git init -q --bare "$HOME/far.git"
	agentbox run --write "$HOME/far.git" -- sh -c "$DO"'
		git init -q --bare "$1"
		printf "#!/bin/sh\ntouch \"$HOME/owned\"\n" >"$1/hooks/pre-receive"
		chmod +x "$1/hooks/pre-receive"
		bad git remote add e "./$1"
		bad git remote add e "file://$PWD/$1"
		bad git config branch.main.remote "./$1"
		bad git config remote.pushDefault "$PWD/$1"
		well git remote add o ~/far.git
		bad git config remote.o.pushurl "$PWD/$1"
		bad sh -c "mkdir -p .git/remotes && echo \"URL: ./$1\" >.git/remotes/e"
		bad sh -c "mkdir -p .git/branches && echo \"./$1\" >.git/branches/e"
		well git remote add web https://example.org/a.git
		well git config branch.main.remote o
		well git config push.default current
		echo end' sh "$deep"
	[ "$status" -eq 0 ]
	no_hole
	[[ "$output" == *end* ]]
	git push -q
	absent "$HOME/owned"
	[ "$(git -C "$HOME/far.git" rev-parse main)" = "$(git rev-parse main)" ]
}

@test "git writes: other ways to replace the file fail as before" {
	make_repo
	cp .git/config "$TEST_DIR/before"
	agentbox run -- sh -c "$DO"'
		cp .git/config mine
		bad mv mine .git/config
		bad ln -f mine .git/config
		bad rm -f .git/config
		bad sh -c "echo x >.git/config"
		cp mine .git/other
		bad mv .git/other .git/config
		mkdir .git/config.lock
		bad mv -T .git/config.lock .git/config
		rmdir .git/config.lock
		ln -s ../mine .git/config.lock
		bad mv -T .git/config.lock .git/config
		rm .git/config.lock
		mkfifo .git/config.lock
		bad mv -T .git/config.lock .git/config
		rm .git/config.lock
		'"$CLEAN"'; echo end'
	[ "$status" -eq 0 ]
	no_hole
	diff "$TEST_DIR/before" .git/config
}

@test "git writes: a submodule and config.worktree follow the same table" {
	make_repo "$HOME/sub"
	make_repo
	git submodule add -q "$HOME/sub" s
	mkdir -p .git/modules/s/hooks
	git commit -qm s
	echo '[user]' >.git/config.worktree
	git config extensions.worktreeConfig true
	agentbox run -- sh -c "$DO"'
		well git -C s config user.name Sub
		bad git -C s config core.hooksPath x
		well git -C s checkout -qb b --track main
		well git config --worktree user.name Tree
		bad git config --worktree core.pager x
		echo evil >>.git/modules/s/config && echo HOLE
		echo evil >>.git/config.worktree && echo HOLE
		'"$CLEAN"'; echo end'
	[ "$status" -eq 0 ]
	no_hole
	[ "$(git -C s config user.name)" = Sub ]
	[ "$(git -C s config branch.b.merge)" = refs/heads/main ]
	[ "$(git config --worktree user.name)" = Tree ]
	! git -C s config core.hooksPath || false
	! git config --worktree core.pager || false
}

@test "git writes: submodules can be added, with or without a .gitmodules at the start" {
	make_repo "$HOME/sub"
	make_repo
	agentbox run -- sh -c "$DO"'
		well git submodule add -q ~/sub one
		echo evil >>.gitmodules && echo HOLE
		bad mv file .gitmodules
		bad rm -f .gitmodules
		well git submodule add -q ~/sub two
		bad git config -f .gitmodules submodule.one.update "!x"
		bad git config -f .gitmodules core.pager x
		well git commit -qm submodules
		'"$CLEAN"'; echo end'
	[ "$status" -eq 0 ]
	no_hole
	[[ "$output" == *end* ]]
	[[ "$output" == *"submodule.one.update may not get this value"* ]]
	[[ "$output" != *quarantine* ]]
	[ "$(git config -f .gitmodules submodule.two.path)" = two ]
	! git config -f .gitmodules submodule.one.update || false
	git submodule status
	agentbox run -- sh -c "$DO"'
		well git submodule add -q ~/sub three
		bad git config -f .gitmodules submodule.one.url "ext::sh -c x"
		echo evil >>.gitmodules && echo HOLE
		'"$CLEAN"'; echo end'
	[ "$status" -eq 0 ]
	no_hole
	[ "$(git config -f .gitmodules submodule.three.path)" = three ]
	[ "$(git config -f .gitmodules submodule.one.url)" = "$HOME/sub" ]
}

@test "git writes: a .gitmodules that the command writes itself is refused or moved" {
	make_repo
	agentbox run -- sh -c '
		printf "[submodule \"x\"]\n\tupdate = !evil\n" >.gitmodules
		printf "[submodule \"x\"]\n\tupdate = !evil\n" >.gitmodules.lock
		mv .gitmodules.lock .gitmodules; echo end'
	[[ "$output" == *end* ]]
	absent .gitmodules
}

@test "git writes: a repository that the run makes is its own" {
	agentbox run -- sh -c "$DO"'
		well git init -q new && cd new
		well git config user.name New
		well git remote add o /x
		echo end'
	[ "$status" -eq 0 ]
	no_hole
	[ "$(git -C new config user.name)" = New ]
}

@test "git writes: no race shows other content on the host" {
	local watcher

	make_repo
	"$ATTACK/gitrace" watch .git/config stop >"$TEST_DIR/watch" 3>&- &
	watcher=$!
	PEERS+=($watcher)
	agentbox run -- sh -c 'cd .git && "$1" attack 1; cd ..
		'"$CLEAN"'; echo evil >>.git/config && echo HOLE; echo end' sh "$ATTACK/gitrace"
	touch stop
	wait "$watcher"
	cat "$TEST_DIR/watch"
	[ "$status" -eq 0 ]
	no_hole
	[[ "$output" == *"content: tried, done, refused"* ]]
	[[ "$output" == *"lock: tried, done, refused"* ]]
	[[ "$output" == *"path: tried, done,"* ]]
	[[ "$output" == *"staged: tried, done,"* ]]
	[[ "$output" == *"opened 0"* ]]
	[ "$(cat "$TEST_DIR/watch")" = "reads many, evil 0, torn 0" ]
	! grep evil .git/config || false
}

@test "git writes: host and box change the file at the same time, and nothing is lost" {
	make_repo
	rm -f up
	(wait_for 90 test -e up && for i in $(seq 40); do
		until git config "branch.h$i.description" x 2>/dev/null; do sleep 0.01; done
	done) 3>&- &
	PEERS+=($!)
	agentbox run -- sh -c 'echo >up; for i in $(seq 40); do
		n=0
		until git config "branch.b$i.description" x 2>/dev/null || [ $n -eq 500 ]; do
			n=$((n + 1)); sleep 0.01; done
	done; echo end'
	wait "${PEERS[0]}"
	[ "$status" -eq 0 ]
	[ "$(git config --get-regexp '^branch\.h.*description' | wc -l)" -eq 40 ]
	[ "$(git config --get-regexp '^branch\.b.*description' | wc -l)" -eq 40 ]
	! ls .git/hooks | grep agentbox || false
}
