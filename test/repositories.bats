# What git and other tools outside obey in a workspace that exists before the start:
# hooks, included configuration, nested repositories, an interrupted
# rebase, names that run by themselves, and files that are only reported.
#
# A script prints HOLE where it got through.
# root-in-turn: root may give files owners and modes that a user may not
UNJUDGED=1
load helpers
load attack/attack

setup_file()
{
	attack_build files
}

teardown_file()
{
	attack_clean
}

# A repository with one commit, in the current folder or in $1.
# hook FILE: an executable hook that leaves a mark.
hook()
{
	printf '#!/bin/sh\ntouch "%s/$1"\n' "$TEST_DIR" >"$1"
	chmod +x "$1"
}

# ------------------------------------------------------------------- hooks

@test "a repository without hooks gets an empty folder, which is closed" {
	make_repo
	make_repo sub/inner
	rm -r .git/hooks sub/inner/.git/hooks
	agentbox run -- sh -c '
		for r in . sub/inner; do
			mkdir -p $r/.git/hooks
			printf "#!/bin/sh\ntouch PWNED\n" >$r/.git/hooks/pre-commit && echo HOLE
			rmdir $r/.git/hooks && echo HOLE
			"$1" replace $r/.git/hooks $r/.git/x | grep ok && echo HOLE
			ln -sfn /tmp $r/.git/hooks && echo HOLE
			echo two >$r/file; git -C $r commit -qam second; git -C $r log --oneline | wc -l
		done' sh "$ATTACK/files"
	no_hole
	[ "$(grep -c '^2$' <<<"$output")" -eq 2 ]
	[ -d .git/hooks ]
	[ -z "$(ls -A .git/hooks sub/inner/.git/hooks | grep -v ':$')" ]
	[ "$(stat -c %a .git/hooks)" = "$(stat -c %a .git/refs)" ]
	echo three >file
	git commit -qam third
	[ ! -e PWNED ]
}

@test "hooks are not created behind a link, nor where nothing is writable" {
	make_repo
	make_repo "$HOME/other"
	rm -r .git/hooks "$HOME/other/.git/hooks"
	ln -s "$HOME/made" .git/hooks
	agentbox run -- sh -c 'git log --oneline | wc -l; rm .git/hooks && echo HOLE'
	no_hole
	[ "$(grep -c '^1$' <<<"$output")" -eq 1 ]
	[ ! -e "$HOME/made" ]
	[ ! -e "$HOME/other/.git/hooks" ]
	rm .git/hooks
	agentbox run --read-only -- git log --oneline
	[ "$status" -eq 0 ]
	[ ! -e .git/hooks ]
}

# ----------------------------------------------------------- configuration

@test "configuration that an included file includes, and the hooks that it names" {
	make_repo
	mkdir -p conf/deep .githooks
	git config include.path ../conf/one
	printf '[include]\n\tpath = deep/two\n' >conf/one
	printf '[core]\n\thooksPath = .githooks\n\tpager = conf/pager -x\n' >conf/deep/two
	echo '#!/bin/cat' >conf/pager
	hook .githooks/pre-commit
	rm "$TEST_DIR"/.githooks -rf
	agentbox run -- sh -c '
		for f in conf/one conf/deep/two conf/pager .githooks/pre-commit; do
			echo evil >>$f && echo "HOLE $f"
			rm -f $f && echo "HOLE $f"
			"$1" replace $f x | grep -q ok && echo "HOLE $f"
		done
		echo evil >.githooks/post-commit && echo HOLE
		echo fine >conf/deep/three; echo fine >file; cat file' sh "$ATTACK/files"
	no_hole
	unsaid
	[ "${lines[-1]}" = fine ]
	[ -e conf/deep/three ]
	[ "$(cat conf/one conf/deep/two conf/pager .githooks/pre-commit | grep -c evil)" -eq 0 ]
}

@test "what the user's own configuration of git names in the workspace is closed" {
	make_repo
	make_repo sub/inner
	mkdir .myhooks dotfiles sub/inner/.myhooks
	echo old >.myhooks/pre-commit
	echo old >sub/inner/.myhooks/pre-commit
	cp "$HOME/.gitconfig" dotfiles/gitconfig
	ln -sf project/dotfiles/gitconfig "$HOME/.gitconfig"
	mkdir -p "$HOME/.config/git"
	printf '[core]\n\thooksPath = .myhooks\n[include]\n\tpath = ../../project/extra\n' \
		>"$HOME/.config/git/config"
	agentbox run -- sh -c '
		echo evil >>dotfiles/gitconfig && echo HOLE
		for r in . sub/inner; do
			echo evil >$r/.myhooks/pre-commit && echo HOLE; echo evil >$r/.myhooks/new && echo HOLE
		done
		echo evil >extra; echo fine >dotfiles/other; echo fine >file; true'
	no_hole
	[ "$(cat file dotfiles/other)" = $'fine\nfine' ]
	[ "$(cat .myhooks/* sub/inner/.myhooks/*)" = $'old\nold' ]
	# It did not exist, so it is taken away.
	[ ! -e extra ]
	# Twin: without that configuration the same folders are ordinary.
	rm "$HOME/.config/git/config"
	agentbox run -- sh -c 'echo new >.myhooks/pre-commit && echo new >extra'
	[ "$status" -eq 0 ]
	[ "$(cat .myhooks/pre-commit extra)" = $'new\nnew' ]
}

@test "more included files than can be followed stop a strict run" {
	make_repo
	{ echo '[include]' && seq -f '	path = ../inc/%.0f' 20000; } >>.git/config
	agentbox run -- sh -c 'echo started'
	[ "$status" -eq 125 ]
	[[ "$output" == *"names more than 4096 files"* ]]
	[[ "$output" == *protected-names* ]]
	[[ "$output" != *started* ]]
	agentbox run --fallback warn -- sh -c 'echo started'
	[ "$status" -eq 0 ]
	[[ "$output" == *started* ]]
}

@test "a form feed in front of false makes it a program's name, as for git" {
	agentbox run -- sh -c 'git init -q new && printf "[core]\n\tfsmonitor = \014false\n" >>new/.git/config
		git init -q fine && printf "[core]\n\tfsmonitor = false\n" >>fine/.git/config'
	[ "$status" -eq 0 ]
	[[ "$output" == *"new/.git/config"*"core.fsmonitor"* ]]
	[[ "$output" != *"fine/.git/config"* ]]
}

# ------------------------------------------------------------ repositories

@test "a repository is closed at any depth, and among many folders" {
	make_repo
	make_repo a/b/c/d/e/f/g/h/deep
	mkdir -p many/{1..1500}
	make_repo many/900/r
	make_repo node_modules/pkg
	# A folder that looks like a repository hides nothing below it.
	mkdir -p looks/{objects,refs}
	touch looks/HEAD
	make_repo looks/like
	agentbox run -- sh -c '
		for r in a/b/c/d/e/f/g/h/deep many/900/r node_modules/pkg looks/like; do
			echo evil >>$r/.git/config && echo "HOLE $r"
			echo evil >$r/.git/hooks/post-checkout && echo "HOLE $r"
			"$1" replace $r/.git moved | grep -q ok && echo "HOLE $r"
			echo two >$r/file; git -C $r commit -qam second; git -C $r log --oneline | wc -l
		done' sh "$ATTACK/files"
	no_hole
	[ "$(grep -c '^2$' <<<"$output")" -eq 4 ]
}

@test "a hard link of a protected file is closed behind thousands of folders" {
	make_repo
	mkdir -p many/{1..4500}
	ln .git/config many/4400/twin
	echo x >many/4400/other
	agentbox run -- sh -c 'echo evil >>many/4400/twin && echo HOLE; echo fine >many/4400/other'
	no_hole
	[ "$(cat many/4400/other)" = fine ]
	[ "$(grep -c evil .git/config)" -eq 0 ]
}

@test "a folder that cannot be read cannot be opened and used either" {
	only_user # root can read every folder
	make_repo
	make_repo shut/inner
	mkdir plain
	chmod 000 shut
	agentbox run -- sh -c 'chmod 755 shut && echo HOLE; echo evil >>shut/inner/.git/config && echo HOLE
		chmod 711 plain && echo changed'
	no_hole
	[[ "$output" == *changed* ]]
	chmod 755 shut
	[ "$(grep -c evil shut/inner/.git/config)" -eq 0 ]
}

@test "a rebase that the user will continue cannot be given a command" {
	make_repo
	git checkout -qb side
	echo side >file
	git commit -qam side
	git checkout -q main
	echo main >file
	git commit -qam main
	run ! git rebase -q side
	[ -d .git/rebase-merge ]
	agentbox run -- sh -c '
		echo "exec touch PWNED" >>.git/rebase-merge/git-rebase-todo && echo HOLE
		"$1" replace .git/rebase-merge x | grep ok && echo HOLE
		rm -rf .git/rebase-merge && echo HOLE
		echo both >file; git add file && echo solved' sh "$ATTACK/files"
	no_hole
	[[ "$output" == *solved* ]]
	[[ "$output" == *"rebase-merge is read-only"* ]]
	GIT_EDITOR=true git rebase --continue
	[ ! -e PWNED ]
	# Twin: without one in progress the box makes its own, from the beginning
	# to the end.
	agentbox run -- sh -c 'git checkout -qb again HEAD~ && echo x >new && git add new &&
		git commit -qm new && GIT_EDITOR=true git rebase -q main && git log --oneline | wc -l'
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = 4 ]
}

# ------------------------------------------------------------------- names

NAMES=".husky/pre-commit .githooks/pre-commit .hg/hgrc .jj/repo/config.toml .sl/config
	mise.toml .mise.toml .helix/languages.toml .dir-locals.el .nvim/init.lua .lvimrc
	.vimspector.json my.code-workspace .run/x.xml .devcontainer/devcontainer.json
	.cargo/config.toml .Rprofile .ocamlinit .pdbrc .irbrc .pryrc .octaverc .ghci
	.qwen/settings.json .amp/x .factory/x .augment/x .trae/x .junie/x .crush.json
	.clinerules/x .agents/skills/x .github/hooks/x.json"

@test "names that tools outside run by themselves are closed" {
	local f
	for f in $NAMES; do
		mkdir -p "$(dirname "$f")"
		echo old >"$f"
	done
	agentbox run -- sh -c '
		for f in '"$(echo $NAMES)"'; do
			echo evil >$f && echo "HOLE $f"
			rm -f $f && echo "HOLE $f"
			"$1" replace $f x | grep -q ok && echo "HOLE $f"
		done
		mkdir -p .github/workflows && echo fine >.github/workflows/ci.yml && cat .github/workflows/ci.yml' \
		sh "$ATTACK/files"
	no_hole
	unsaid
	[ "${lines[-1]}" = fine ]
	for f in $NAMES; do
		[ "$(cat "$f")" = old ]
	done
}

@test "names that tools outside run by themselves do not stay when they are created" {
	local f
	agentbox run --fallback warn -- sh -c '
		for f in '"$(echo $NAMES)"'; do
			mkdir -p $(dirname $f); echo evil >$f
		done; echo fine >package.json; echo fine >Makefile; true'
	for f in $NAMES; do
		[ ! -e "$f" ] || { echo "$f"; false; }
	done
	[ "$(cat package.json Makefile)" = $'fine\nfine' ]
}

@test "ordinary project files may be changed, and those that tools obey are reported" {
	make_repo
	make_repo sub
	echo old >AGENTS.md
	echo old >.pypirc
	echo old >sub/.yarnrc
	agentbox run -- sh -c 'echo new >.npmrc; echo new >AGENTS.md; echo new >sub/.pre-commit-config.yaml
		echo new >.ripgreprc; echo new >.env; echo new >package.json; echo new >Makefile; cat .pypirc'
	[ "$status" -eq 0 ]
	[ "$(cat .npmrc AGENTS.md .ripgreprc .env sub/.pre-commit-config.yaml package.json | sort -u)" = new ]
	[[ "$output" == *"created or changed 5 project files"* ]]
	for f in .npmrc AGENTS.md .ripgreprc .env sub/.pre-commit-config.yaml; do
		[[ "$output" == *"$WORKSPACE/$f"* ]]
	done
	[[ "$output" != *package.json* ]]
	[[ "$output" != *yarnrc* ]]
	# Twin: a run that changes none of them says nothing.
	agentbox run -- sh -c 'cat .npmrc AGENTS.md >/dev/null; echo more >package.json'
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "a workspace that cannot be listed is not called too large" {
	only_user
	need userns
	chmod 311 .
	agentbox run -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"could not be searched completely"* && "$output" != *"too large"* ]]
	# The twin.
	chmod 755 .
	agentbox run -- true
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "generated files beyond the search are told with -v" {
	local i
	make_repo
	agentbox run -v -- true
	[[ "$output" != *"generated files"* && "$output" == *force:*protected-names* ]]
	for i in {1..120}; do
		mkdir -p "node_modules/p$i/d" && (cd "node_modules/p$i" && touch {1..100})
	done
	agentbox run -v -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"of generated files"* && "$output" == *force:*protected-names* ]]
	agentbox run -- true
	[ -z "$output" ]
}
