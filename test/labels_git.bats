# Labels of a git directory that several runs bring together: git takes every folder for a repository that
# has HEAD, objects and refs, whatever it is called and whichever of them came last.
# root-in-turn: root may read what a user may not
UNJUDGED=1
load helpers

setup()
{
	need userns
	box_setup
	mkdir src
	echo one >src/a.c
	# A program of the project.
	printf '#!/bin/sh\ntouch "%s"\n' "$TEST_DIR/owned" >src/run
	chmod 755 src/run
	mkdir "$TEST_DIR/hooks"
	cp src/run "$TEST_DIR/hooks/reference-transaction"
	# What the box would have the host's git run.
	export settings="[core]
	repositoryformatversion = 0
	bare = false
	worktree = ..
	hooksPath = $TEST_DIR/hooks
	fsmonitor = \"touch $TEST_DIR/owned; false\""
}

parts='mkdir -p $1 && echo "ref: refs/heads/main" >$1/HEAD && mkdir $1/objects $1/refs'
config='mkdir -p $1 && printf "%s\n" "$settings" >$1/config'

# Does git, in this folder, run the program?
is_owned()
{
	rm -f "$TEST_DIR/owned"
	git -C "$1" status >"$TEST_DIR/git" 2>&1 || true
	git -C "$1" log >>"$TEST_DIR/git" 2>&1 || true
	git -C "$1" update-ref -d refs/heads/x >>"$TEST_DIR/git" 2>&1 || true
	[ -e "$TEST_DIR/owned" ]
}

# runs FOLDER SCRIPT...: each in a reviewed run of its own.
runs()
{
	local folder=$1 script

	for script in "${@:2}"; do
		agentbox run --review=auto --name dev --pass-env settings -- sh -ec "$script" sh "$folder"
		[ "$status" -eq 0 ]
	done
}

# attack SCRIPT...: one after the other, by hand, they make git run the program; in reviewed runs they do
# not, and something waits because of git.
attack()
{
	local script

	rm -rf plain two half
	mkdir plain
	cp -r src plain
	for script; do
		(cd plain && sh -ec "$script" sh two)
	done
	is_owned plain/two
	rm -rf plain
	runs two "$@"
	! is_owned two || { ls -lR two; false; }
	agentbox diff --json dev
	jq -e '[.changes[] | select([.labels[].name] | index("git"))] | length > 0' <<<"$output"
	agentbox discard dev --yes
	[ "$status" -eq 0 ]
}

@test "labels: a git directory whose settings came before waits, whichever part completes it" {
	attack "$config" "$parts"
	attack "$config" 'mkdir $1/objects $1/refs' 'echo "ref: refs/heads/main" >$1/HEAD'
	attack 'mkdir $1; echo "ref: refs/heads/main" >$1/HEAD' "$config" 'mkdir $1/refs $1/objects'
	attack "$config; echo x >\$1/HEAD" 'mkdir $1/objects' 'mkdir $1/refs; echo "ref: refs/heads/main" >$1/HEAD'
}

@test "labels: settings that come last or at once wait, too" {
	attack "$parts" "$config"
	attack "$parts; $config"
}

@test "labels: parts that are links, or come with a folder that is renamed, complete it, too" {
	attack "$config" 'mkdir -p half/o half/r
		ln -s ../half/o $1/objects; ln -s ../half/r $1/refs; echo "ref: refs/heads/main" >$1/HEAD'
	attack "set half; $config" 'set half two; echo "ref: refs/heads/main" >half/HEAD; mkdir half/objects half/refs
		mv half two'
	attack "$config" 'mkdir -p half/refs half/objects; echo "ref: refs/heads/main" >half/HEAD; mv half/* $1'
}

@test "labels: a hook or a folder named by commondir leads git, too" {
	attack 'mkdir -p $1/hooks; ln -s ../../src/run $1/hooks/reference-transaction' "$parts"
	attack 'mkdir -p half; ln -s ../src/run half/reference-transaction' 'mkdir $1; ln -s ../half $1/hooks' "$parts"
	attack "set half; $config" 'mkdir half/objects half/refs
		mkdir $1; echo ../half >$1/commondir; echo "ref: refs/heads/main" >$1/HEAD'
	attack 'mkdir $1; echo ../half >$1/commondir; mkdir -p half/objects half/refs' \
		"set half; $config; mkdir -p half/objects half/refs; mkdir -p two" 'echo "ref: refs/heads/main" >$1/HEAD'
}

@test "labels: a folder named .git has the label before it is whole" {
	attack 'mkdir $1; set $1/.git; '"$config" 'set $1/.git; '"$parts"
	attack 'set half; '"$config" 'set half; '"$parts" 'mkdir $1; mv half $1/.git'
	attack 'set half; '"$config" 'mkdir $1; echo "gitdir: ../half" >$1/.git' 'set half; '"$parts"
}

@test "labels: repositories that are harmless, or the user's own, have no label" {
	git init -q --bare mine
	git -C mine config core.fsmonitor "touch $TEST_DIR/mine"
	echo '#!/bin/sh' >mine/hooks/post-update
	git init -q .
	git add src && git commit -q -m one
	runs two 'git init -q --bare $1; git -C mine symbolic-ref HEAD refs/heads/other
		echo two >src/b.c; git add src; git commit -q -m two
		git init -q made; cd made; echo x >x; git add x; git commit -q -m x'
	agentbox diff --json dev
	jq -e '.totals.changes == 0' <<<"$output"
	[ "$(git -C two rev-parse --is-bare-repository)" = true ]
	[ "$(git -C mine symbolic-ref HEAD)" = refs/heads/other ]
	[ "$(git log --format=%s | head -n 1) $(git -C made log --format=%s)" = "two x" ]
	# In several runs, without anything that git would obey; and folders that are none.
	runs parts 'mkdir $1; printf "[core]\n\tbare = true\n" >$1/config' "$parts" 'echo "[user] name = x" >half'
	runs other 'mkdir -p $1/hooks; echo x >$1/config; echo x >$1/hooks/x' 'mkdir $1/refs; echo x >$1/HEAD' 'mkdir data/objects -p'
	agentbox diff --json dev
	jq -e '.totals.changes == 0' <<<"$output"
	git -C parts config core.bare
}
