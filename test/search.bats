# The search at the end of a run: repositories that the run made are examined wherever they are, and
# what could not be searched is named.
# shared-proc-in-turn: the search and the calls that it rests on must be the same there
# no-namespaces-in-turn: the same
UNJUDGED=1
load helpers
load attack/attack

setup_file()
{
	local i

	attack_build files
	# Old folders of generated files, more than the search looks at; each test that needs them has
	# them in turn, since to make them takes longer than all of the rest.
	mkdir -p "$ATTACK"/generated/p{1..120}/d
	for i in {1..120}; do
		(cd "$ATTACK/generated/p$i" && touch {1..100})
	done
}

teardown_file()
{
	attack_clean
}

setup()
{
	box_setup
	# The attacker's program; it must never run outside.
	printf '#!/bin/sh\ntouch "%s/PWNED"\n' "$HOME" >"$HOME/evil"
	chmod +x "$HOME/evil"
	# The watch comes late: what is tested here is the search at the end.
	printf 'plant() {
		mkdir -p "$1" && git init -q "$1/bad" && git init -q "$1/good" || return
		for r in bad good; do
			git -C "$1/$r" commit -q --allow-empty -m one
			git -C "$1/$r" config core.ignorecase true
		done
		git -C "$1/bad" config core.fsmonitor %s
	}\n' "$HOME/evil" >plant.sh
}

teardown()
{
	stop_peers
	[ ! -d "$WORKSPACE/node_modules/p120" ] || mv "$WORKSPACE"/node_modules/p[1-9]* "$ATTACK/generated"
	box_teardown
}

# box SCRIPT: with plant DIR, which makes DIR/bad with a program of the box and DIR/good without.
box()
{
	agentbox run --yes -- sh -c '. ./plant.sh; '"$1"
	[ "$status" -eq 0 ]
}

# harmless DIR...: git outside runs nothing of the box there, and both repositories still work.
harmless()
{
	local dir r

	for dir; do
		for r in "$dir/bad" "$dir/good"; do
			git -C "$r" status >/dev/null
			[ ! -e "$HOME/PWNED" ]
			[ "$(git -C "$r" rev-list --count HEAD)" = 1 ]
			[ "$(git -C "$r" config core.ignorecase)" = true ]
		done
		! git -C "$dir/bad" config core.fsmonitor || false
	done
	git add -A 2>/dev/null
	git status >/dev/null
	[ ! -e "$HOME/PWNED" ]
}

many_generated()
{
	mkdir -p node_modules/p0/a/b/c
	mv "$ATTACK"/generated/p* node_modules
	[ "$(ls node_modules | wc -l)" -eq 121 ]
}

DEEP=src/main/java/com/acme/app/service/impl/old

@test "search: a repository nine folders deep is examined" {
	make_repo
	mkdir -p "$DEEP" 1/2/3/4/5/6/7/8/9/10/11/12
	make_repo "$DEEP/own"
	git -C "$DEEP/own" config core.pager mine
	box "plant $DEEP; plant 1/2/3/4/5/6/7/8/9/10/11/12; plant 1/2/3/4/5/6/7/8/9/10/11/12/a/b/c"
	harmless "$DEEP" 1/2/3/4/5/6/7/8/9/10/11/12 1/2/3/4/5/6/7/8/9/10/11/12/a/b/c
	[[ "$output" == *"$DEEP/bad/.git/config (core.fsmonitor); they were removed"* ]]
	# The twins: a repository of the run without a program, and one of the user's with one.
	[[ "$output" != *good/.git* && "$output" != *own/.git* && "$output" != *"could not be searched"* ]]
	[ "$(git -C "$DEEP/own" config core.pager)" = mine ]
}

@test "search: folders of generated files are searched too" {
	make_repo
	mkdir -p node_modules/old target/x/y a/.cache .venv/lib/python
	box 'plant node_modules/old; plant target/x/y; plant target/new/z; plant a/.cache; plant .venv/lib/python'
	harmless node_modules/old target/x/y target/new/z a/.cache .venv/lib/python
	[[ "$output" == *"node_modules/old/bad/.git/config (core.fsmonitor)"* ]]
}

@test "search: a repository that is moved is examined where it is" {
	make_repo
	many_generated
	mkdir -p "$DEEP" node_modules/p0/in
	box "plant t/1; plant node_modules/out; plant up/2; plant x/3; mkdir x/old
		mv t/1 node_modules/p0/a/in
		mv node_modules/out $DEEP/out
		mv up node_modules/p0/a/b/up
		mv x/3/bad node_modules/p0/in/bad; mv x/3/good node_modules/p0/in/good"
	harmless node_modules/p0/a/in "$DEEP/out" node_modules/p0/a/b/up/2 node_modules/p0/in
	[[ "$output" != *"could not be searched"* ]]
}

@test "search: a repository that takes the place of an old folder is examined" {
	make_repo
	many_generated
	mkdir -p node_modules/p0/swap/bad node_modules/p0/swap/good
	box 'cd node_modules/p0; . ../../plant.sh; plant t
		for r in bad good; do
			"$ATTACK/files" exchange "t/$r" "swap/$r" | grep ok ||
				{ rmdir "swap/$r" && mv "t/$r" swap; }
		done'
	harmless node_modules/p0/swap
}

@test "search: among more generated files than it looks at, it knows where a repository was made" {
	make_repo
	many_generated
	box 'plant node_modules/p0/a/b/c
		cd node_modules/p0/a; mkdir -p ../x/y; . ../../../plant.sh; plant ../x/./y/; ln -s ../x link; plant link/z
		git init -q --bare b/bare; git -C b/bare config core.fsmonitor ~/evil'
	harmless node_modules/p0/a/b/c node_modules/p0/x/y node_modules/p0/x/z
	[[ "$output" == *"node_modules/p0/a/b/c/bad/.git/config (core.fsmonitor)"* ]]
	[[ "$output" != *"could not be searched"* ]]
	! git -C node_modules/p0/a/b/bare config core.fsmonitor || false
	# A repository that is made of an old folder, part by part.
	mkdir -p node_modules/p0/parts/{objects,refs}
	box 'cd node_modules/p0/parts; printf "[core]\n\tfsmonitor = ~/evil\n" >config; echo ref: refs/heads/main >HEAD'
	! git -C node_modules/p0/parts config core.fsmonitor || false
}

# A box whose process has a listener already gets no guard's: then nobody knows where a repository was made.
@test "search: a box without its guard's listener: then it says what it did not search among many generated files" {
	local dir said run
	make_repo
	many_generated
	# Without git, which cannot change modes in such a box of the engine no-namespaces.
	run busy timeout 200 "$AGENTBOX" run --yes -- sh -c 'for dir in node_modules/p0/a/b/c src; do
			mkdir -p $dir/bad/.git/objects $dir/bad/.git/refs
			echo ref: refs/heads/main >$dir/bad/.git/HEAD
			printf "[core]\n\tignorecase = true\n\tfsmonitor = ~/evil\n" >$dir/bad/.git/config || exit 1
		done' 3>&-
	echo "$output"
	[ "$status" -eq 0 ]
	# What it came to is harmless, and only that.
	! git -C src/bad config core.fsmonitor || false
	git -C node_modules/p0/a/b/c/bad config core.fsmonitor
	said=${output##*could not be searched completely for what the run created: }
	[[ "$said" == "$WORKSPACE/node_modules/"*"agentbox quarantine scan "* ]]
	run=${said##*agentbox quarantine scan }
	run=${run:0:5}
	agentbox quarantine scan "$run"
	[ "$status" -eq 0 ]
	[[ "$output" == *"node_modules/p0/a/b/c/bad/.git/config (core.fsmonitor)"* ]]
	[[ "$output" != *src/bad* && "$output" != *"could not be searched"* ]]
	for dir in node_modules/p0/a/b/c src; do
		! git -C "$dir/bad" config core.fsmonitor || false
		[ "$(git -C "$dir/bad" config core.ignorecase)" = true ]
	done
	agentbox quarantine scan --json "$run"
	[ "$status" -eq 0 ]
	jq -e --arg run "$run" '. == {run_id: $run, findings: [], complete: true}' <<<"$output"
}

@test "search: so many folders that not all are remembered: then it says what it did not search" {
	make_repo
	many_generated
	local long
	long=$(printf 'x%.0s' {1..200})
	box "seq 6000 | sed 's,.*,more/$long/&,' >list
		mkdir -p more/$long
		xargs mkdir <list; sed 's,$,/refs,' list | xargs mkdir
		plant node_modules/p0/a/b/c/$long; plant more/last"
	[[ "$output" == *"could not be searched completely for what the run created: $WORKSPACE/node_modules/"* ]]
	local run=${output##*agentbox quarantine scan }
	run=${run:0:5}
	! git -C more/last/bad config core.fsmonitor || false
	agentbox quarantine scan "$run"
	[ "$status" -eq 0 ]
	[[ "$output" == *"$long/bad/.git/config (core.fsmonitor)"* ]]
	[[ "$output" != *good/.git* && "$output" != *"could not be searched"* ]]
	harmless "node_modules/p0/a/b/c/$long" more/last
	agentbox quarantine scan --json "$run"
	[ "$status" -eq 0 ]
	jq -e --arg run "$run" '. == {run_id: $run, findings: [], complete: true}' <<<"$output"
}

@test "search: a folder that the run has closed is named, and searched when it can be" {
	only_user
	make_repo
	box 'plant shut/a; chmod 000 shut/a'
	[[ "$output" == *"1 folder could not be searched completely for what the run created: $WORKSPACE/shut/a; to search all of it: agentbox quarantine scan "* ]]
	local run=${output##*agentbox quarantine scan }
	agentbox quarantine scan "${run:0:5}"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$WORKSPACE/shut/a"* ]]
	chmod 755 shut/a
	agentbox quarantine scan "${run:0:5}"
	[ "$status" -eq 0 ]
	harmless shut/a
	# The twin: the user's own closed folder is none of the run's affair.
	mkdir own
	chmod 000 own
	agentbox run -- touch file
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	chmod 755 own
}

@test "search: a run that is active, or does not exist, is not scanned" {
	mkfifo go
	"$AGENTBOX" run --name one -- sh -c 'echo up >up; read line <go' 3>&- &
	PEERS+=($!)
	wait_for 90 test -e up
	agentbox quarantine scan one
	[ "$status" -eq 1 ]
	[[ "$output" == *"is active"* && "$output" == *"agentbox stop"* ]]
	echo go >go
	wait "${PEERS[-1]}"
	agentbox quarantine scan one
	[ "$status" -eq 0 ]
	[ "$output" = "nothing was found" ]
	agentbox quarantine scan nope
	[ "$status" -eq 1 ]
}

@test "search: the broker and the next start make it as well when others were killed" {
	local supervisor broker killed
	make_repo
	many_generated
	mkdir -p "$DEEP"
	mkfifo go
	for killed in supervisor broker both; do
		rm -rf up "$DEEP"/* node_modules/p0/a/b/c/*
		"$AGENTBOX" run --yes -- sh -c ". ./plant.sh; plant $DEEP; plant node_modules/p0/a/b/c; plant node_modules/new$killed; echo up >up; read line <go" >"$TEST_DIR/out" 2>&1 3>&- &
		supervisor=$!
		PEERS+=($supervisor)
		wait_for 90 test -e up
		broker=$(grep -l '^agentbox-broker' $(sed 's|[^ ]*|/proc/&/comm|g' "/proc/$supervisor/task/$supervisor/children") 2>/dev/null | cut -d/ -f3)
		[ -n "$broker" ]
		[ "$killed" = supervisor ] || kill -KILL "$broker"
		[ "$killed" = broker ] || kill -KILL "$supervisor"
		if [ "$killed" = supervisor ]; then
			wait_for 90 eval '[ -z "$(ls "$AGENTBOX_STATE/live")" ]'
		else
			wait_for 90 eval '[ -z "$(processes_left)" ]'
			agentbox run -- true
			[ "$status" -eq 0 ]
			# What the guard knew is lost: it is named, with the command that searches there.
			[[ "$output" == *"could not be searched completely"*"$WORKSPACE/node_modules/"*"agentbox quarantine scan "* ]]
			local run=${output##*agentbox quarantine scan }
			agentbox quarantine scan "${run:0:5}"
			[ "$status" -eq 0 ]
		fi
		harmless "$DEEP" "node_modules/new$killed" node_modules/p0/a/b/c
	done
	# The twin: without a killed process nothing is left to search.
	agentbox run -- true
	[ -z "$output" ]
}
