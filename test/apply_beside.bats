# apply, undo and the recovery of either, beside boxes that can write to the same files:
# only one of both at a time.
# root-in-turn: root may give files owners and modes that a user may not
load helpers

setup()
{
	box_setup
	echo 1 >a
}

# start_peer FOLDER [ARG...]: a box named "peer" that has FOLDER as its workspace.
start_peer()
{
	local folder=$1

	shift
	mkdir -p "$folder"
	rm -f "$TEST_DIR/peer.out"
	(cd "$folder" && launch run --name peer "$@" -- sh -c 'echo ready; sleep 100') \
		>"$TEST_DIR/peer.out" 2>&1 </dev/null &
	peer=$!
	wait_for 60 grep -q ready "$TEST_DIR/peer.out"
}

stop_peer()
{
	agentbox stop peer
	wait "$peer" || true
}

# hold_apply ARG...: an apply that stops when it has put the first file in place.
hold_apply()
{
	timeout 100 strace -qqq -o /dev/null -e trace=renameat2 \
		-e inject=renameat2:signal=STOP:when=1 \
		sh -c 'echo $$ >"$0"; exec "$@"' "$TEST_DIR/pid" "$AGENTBOX" "$@" \
		>"$TEST_DIR/apply.out" 2>&1 3>&- </dev/null &
	holder=$!
	wait_for 60 is_staged
}

is_staged()
{
	[ -s "$AGENTBOX_STATE/claim" ] && [ -n "$(find "$HOME" -name '.agentbox-*')" ]
}

# The signal to continue may come before the one to stop.
has_continued()
{
	kill -CONT "$(cat "$TEST_DIR/pid")" 2>/dev/null || true
	! kill -0 "$holder" 2>/dev/null || false
}

end_apply()
{
	wait_for 60 has_continued
	wait "$holder"
}

# kill_apply ARG...: an apply that is killed before it puts the first file in place.
kill_apply()
{
	run timeout 60 strace -qqq -o /dev/null -e trace=renameat2 \
		-e inject=renameat2:signal=KILL:when=1 "$AGENTBOX" "$@" 3>&-
	[ "$status" -ne 0 ]
	[ -n "$(find "$HOME" -name '.agentbox-*')" ]
}

nothing_left()
{
	[ -z "$(find "$HOME" -name '.agentbox-*')" ]
	[ ! -e "$AGENTBOX_STATE/claim" ]
}

@test "a run that starts during an apply waits, and cannot change what is staged" {
	local run

	launch run --review --name dev -- sh -c 'echo 22 >a; echo 22 >b' </dev/null
	hold_apply apply dev --all
	# The twin: a run elsewhere does not wait. First, because the other one waits for ten seconds.
	mkdir "$HOME/other"
	cd "$HOME/other"
	agentbox run -- sh -c 'echo elsewhere >x; cat x'
	[ "$status" -eq 0 ]
	[ "$output" = elsewhere ]
	cd "$WORKSPACE"
	launch run -- sh -c 'for f in .agentbox-*; do [ ! -e "$f" ] || echo evil >"$f"; done; cat b' \
		>"$TEST_DIR/run.out" 2>&1 </dev/null &
	run=$!
	wait_for 60 grep -q "waiting: agentbox is changing files in the workspace" "$TEST_DIR/run.out"
	[ ! -e b ]
	end_apply
	wait "$run"
	[ "$(tail -n 1 "$TEST_DIR/run.out")" = 22 ]
	[ "$(cat a b)" = $'22\n22' ]
	nothing_left
	# The apply is over: nobody waits.
	agentbox run -- cat a
	[ "$output" = 22 ]
}

# hold_run: a run of `cat b` here that stops when it has planned its box, until its record is written.
hold_run()
{
	rm -f "$TEST_DIR/run.pid" "$TEST_DIR/trace"
	timeout 100 strace -qqq -o "$TEST_DIR/trace" -e trace=mkdirat \
		-e inject=mkdirat:signal=STOP:when=1 \
		sh -c 'echo $$ >"$0"; exec "$@"' "$TEST_DIR/run.pid" "$AGENTBOX" run --yes -- cat b \
		>"$TEST_DIR/run.out" 2>&1 3>&- </dev/null &
	holder=$!
	wait_for 60 grep -q SIGSTOP "$TEST_DIR/trace"
}

end_run()
{
	cp "$TEST_DIR/run.pid" "$TEST_DIR/pid"
	wait_for 60 has_continued
	wait "$holder"
}

@test "an apply that begins and ends while a run is planned ends that run" {
	local status=0

	launch run --review --name dev -- sh -c 'echo 22 >b' </dev/null
	mkdir "$HOME/other"
	(cd "$HOME/other" && launch run --review --name far -- sh -c 'echo 22 >c' </dev/null)
	echo 1 >b
	hold_run
	agentbox apply dev --all --theirs
	[ "$(cat b)" = 22 ]
	end_run || status=$?
	cat "$TEST_DIR/run.out"
	[ "$status" -eq 125 ]
	grep -q "changed files in $WORKSPACE (apply or undo) while the run was being planned" "$TEST_DIR/run.out"
	# The twin: one elsewhere.
	hold_run
	(cd "$HOME/other" && launch apply far --all)
	[ "$(cat "$HOME/other/c")" = 22 ]
	end_run
	[ "$(cat "$TEST_DIR/run.out")" = 22 ]
	nothing_left
}

@test "a claim that a killed apply left holds nobody up" {
	launch run --review --name dev -- sh -c 'echo 22 >a' </dev/null
	kill_apply apply dev --all
	[ -e "$AGENTBOX_STATE/claim" ]
	agentbox run -- cat a
	[ "$status" -eq 0 ]
	[ "$output" = 1 ]
}

@test "--review=auto applies nothing beside a box that can write there" {
	start_peer "$WORKSPACE"
	agentbox run --review=auto --name dev -- sh -c 'echo 22 >a'
	[ "$status" -eq 0 ]
	[[ "$output" =~ "1 change; not applied, because the run "[a-z0-9]+" can write to the workspace." ]]
	[ "$(cat a)" = 1 ]
	stop_peer
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[ "$(cat a)" = 22 ]
	# The twin: a box that has only a folder elsewhere.
	start_peer "$HOME/other"
	agentbox run --review=auto -- sh -c 'echo 333 >a'
	[ "$status" -eq 0 ]
	[[ "$output" == *"1 change; all applied"* ]]
	[ "$(cat a)" = 333 ]
	stop_peer
	nothing_left
}

@test "the question of a reviewed run applies nothing beside a box that can write there" {
	need program:tmux
	start_peer "$WORKSPACE"
	tty_start "$AGENTBOX" run --review -- sh -c 'echo 22 >a'
	tty_wait '\[l\]ater'
	# A key that comes too early is no answer.
	for again in {1..18}; do
		sleep 0.4
		tty_type a
		wait_for 5 test -e "$TEST_DIR/tty-status" && break
	done
	tty_end
	[ "$status" -eq 0 ]
	[[ "${output//[$'\n ']/}" == *"cannotchangefilesin${WORKSPACE}whiletherun"* ]]
	[ "$(cat a)" = 1 ]
	stop_peer
	nothing_left
}

@test "an interrupted apply is not completed beside a box that can write there" {
	launch run --review --name dev -- sh -c 'echo 22 >a' </dev/null
	kill_apply apply dev --all
	start_peer "$WORKSPACE"
	for command in "diff dev" "apply dev --all" "undo dev" "discard --yes dev" \
		"layers rm --yes dev" "run --review --name dev -- true"; do
		agentbox $command
		[ "$status" -ne 0 ]
		[[ "$output" == *"can write there"* ]]
	done
	agentbox gc --layers
	[ "$status" -eq 0 ]
	[ -d "$AGENTBOX_STATE/layers/dev/undo/next" ]
	[ "$(cat a)" = 1 ]
	stop_peer
	agentbox diff dev
	[ "$status" -eq 0 ]
	[[ "$output" == *"an interrupted apply was "* ]]
	nothing_left
	agentbox layers rm --yes dev
	[ "$status" -eq 0 ]
}

@test "a layer with an interrupted apply is settled before it is removed" {
	launch run --review --name dev -- sh -c 'echo 22 >a; rm -f b' </dev/null
	kill_apply apply dev --all
	agentbox layers rm --yes dev
	[ "$status" -eq 0 ]
	[[ "$output" == *"an interrupted apply was "* ]]
	nothing_left
	[[ "$(cat a)" =~ ^(1|22)$ ]]
	# Without its folder there is nothing to settle.
	launch run --review --name dev -- sh -c 'echo 333 >a' </dev/null
	kill_apply apply dev --all
	mv "$WORKSPACE" "$HOME/moved"
	mkdir "$WORKSPACE"
	agentbox layers rm dev
	[ "$status" -ne 0 ]
	[[ "$output" == *"its folder has been replaced or removed since"*"agentbox layers rm --yes dev"* ]]
	rmdir "$WORKSPACE"
	agentbox layers rm dev
	[ "$status" -ne 0 ]
	[[ "$output" == *"its folder has been replaced or removed since"* ]]
	agentbox layers rm --yes dev
	[ "$status" -eq 0 ]
	[ ! -e "$AGENTBOX_STATE/layers/dev" ]
}

@test "apply --home changes no file in a folder that a box can write to" {
	mkdir "$HOME/notes"
	launch run --name dev -- sh -c 'echo 2 >~/notes/n; echo 2 >~/top' </dev/null
	start_peer "$HOME/notes"
	agentbox apply dev --home --all
	[ "$status" -ne 0 ]
	[[ "$output" == *"cannot change files in $HOME while the run "*"can write there"* ]]
	[ ! -e "$HOME/notes/n" ]
	[ ! -e "$HOME/top" ]
	agentbox apply dev --home ~/none
	[ "$status" -ne 0 ]
	[[ "$output" == *"see its changes with: agentbox diff --stat --home dev"* ]]
	# The twin: another file.
	agentbox apply dev --home ~/top
	[ "$status" -eq 0 ]
	[ "$(cat "$HOME/top")" = 2 ]
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ ! -e "$HOME/top" ]
	stop_peer
	agentbox apply dev --home --all
	[ "$status" -eq 0 ]
	[ "$(cat "$HOME/notes/n")" = 2 ]
	# Nor does undo.
	start_peer "$HOME/notes"
	agentbox undo dev
	[ "$status" -ne 0 ]
	[[ "$output" == *"can write there"* ]]
	[ "$(cat "$HOME/notes/n")" = 2 ]
	stop_peer
	agentbox undo dev
	[ "$status" -eq 0 ]
	[ ! -e "$HOME/notes/n" ]
	nothing_left
}
