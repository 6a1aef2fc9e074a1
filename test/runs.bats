# unsanitized: it mostly waits
# Listing, naming, stopping and cleaning up runs.
load helpers

# begin NAME [OPTION...] -- CMD...: a run in the background that says when its
# command is there. $pid is its supervisor.
begin()
{
	local name=$1
	shift

	"$AGENTBOX" run --name "$name" "$@" </dev/null >"$TEST_DIR/$name.out" 2>&1 3>&- &
	pid=$!
	begun+=("$pid")
	wait_for 90 test -e "$WORKSPACE/ready-$name"
}

# Those that were begun are over; however they ended.
gone()
{
	local p

	for p in "${begun[@]}"; do
		wait "$p" || true
	done
	begun=()
}

id_of()
{
	"$AGENTBOX" ps --json 3>&- | jq -r --arg n "$1" '.[] | select(.name == $n).id'
}

# ended_run ID DAYS: what is left of a run that ended then.
ended_run()
{
	mkdir -p -m 700 "$AGENTBOX_STATE" "$AGENTBOX_STATE/runs" "$AGENTBOX_STATE/live"
	mkdir -m 700 "$AGENTBOX_STATE/runs/$1"
	echo '{"kind":"start"}' >"$AGENTBOX_STATE/runs/$1/audit.jsonl"
	touch -d "$2 days ago" "$AGENTBOX_STATE/runs/$1"
}

kept()
{
	(cd "$AGENTBOX_STATE/runs" && echo *)
}

@test "ps: two runs at once, and none" {
	agentbox ps
	[ "$status" -eq 0 ]
	[ "$output" = "no active runs" ]
	agentbox ps --json
	[ "$output" = "[]" ]
	begin web -- sh -c 'touch ready-web; sleep 300'
	local web=$pid
	begin job --profile ci --processes none -- sh -c 'touch ready-job; sleep 300'
	agentbox ps
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" =~ ^BOX\ +NAME\ +AGE\ +PROFILE\ +ALLOWED\ +DENIED\ +PORTS\ +COMMAND$ ]]
	[[ "${lines[1]}" =~ ^[a-z2-9]{5}\ +web\ +[0-9]+s\ +default\ .*\ sh\ -c\ \'touch\ ready-web\;\ sleep\ 300\'$ ]]
	[[ "${lines[2]}" =~ ^[a-z2-9]{5}\ +job\ +[0-9]+s\ +ci\  ]]
	agentbox_split ps --json
	jq -e --argjson pid "$web" --arg cwd "$WORKSPACE" '
		length == 2 and .[0].name == "web" and .[0].pid == $pid and
		.[0].command == ["sh", "-c", "touch ready-web; sleep 300"] and
		.[0].cwd == $cwd and .[0].profile == "default" and
		.[0].age_ms > 0 and .[0].age_ms < 60000 and .[0].ports == [] and
		(.[0].id | test("^[a-z2-9]{5}$")) and .[1].profile == "ci"' <<<"$output"
	agentbox stop --all
	[ "$status" -eq 0 ]
	[[ "$output" == *"web ("*") ended"* && "$output" == *"job ("*") ended"* ]]
	gone
	agentbox ps
	[ "$output" = "no active runs" ]
	agentbox stop --all
	[ "$status" -eq 0 ]
	[ "$output" = "no active runs" ]
}

@test "ps: what a command holds cannot move the cursor, and is cut on a terminal" {
	begin evil -- sh -c 'touch ready-evil; exec sleep 300' $'\e[2J\e]0;x\a' \
		"$(printf 'x%.0s' {1..300})"
	agentbox ps
	[[ "$output" == *'\x1b[2J\x1b]0;x\x07'* ]]
	! grep -q $'\e' <<<"$output" || false
	need program:script
	run script -qec "stty cols 60; $AGENTBOX ps" /dev/null </dev/null 3>&-
	echo "$output"
	[ "$(tr -d '\r' <<<"$output" | wc -L)" -le 60 ]
	[[ "$output" == *...* ]]
	agentbox stop evil
	gone
}

@test "ps: the ports on which programs listen" {
	need program:python3
	begin web -- python3 -c '
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 3456)); s.listen()
open("ready-web", "w"); time.sleep(300)'
	agentbox ps
	[[ "${lines[1]}" =~ \ 3456\ +python3 ]]
	agentbox ports web
	[[ "$output" == "3456 "* ]]
	agentbox stop web
	gone
}

@test "ps: what was let through and what was refused" {
	need program:curl
	begin web --unknown deny -- sh -c 'curl -s http://x.example/ >/dev/null; touch ready-web; sleep 300'
	agentbox_split ps --json
	jq -e '.[0] | .allowed == 0 and .denied >= 1 and .violations >= 1 and .pending == 0' <<<"$output"
	agentbox ps
	[[ "${lines[1]}" =~ \ default\ +0\ +[1-9] ]]
	agentbox stop web
	gone
}

@test "ps: a question that waits is seen" {
	need program:curl
	begin web --unknown ask -- sh -c 'curl -s http://x.example/ >/dev/null & touch ready-web; sleep 300'
	asked()
	{
		[ "$("$AGENTBOX" ps --json 3>&- | jq '.[0].pending')" = 1 ]
	}
	wait_for 90 asked
	agentbox ps
	[[ "${lines[0]}" == *" ASKS "* ]]
	[[ "${lines[1]}" == *" 1 waiting "* ]]
	agentbox stop web
	gone
}

@test "name: two runs that go on cannot have one, one after the other can" {
	begin web -- sh -c 'touch ready-web; sleep 300'
	agentbox run --name web -- touch never
	[ "$status" -eq 125 ]
	[[ "$output" == *"run $(id_of web) is already named web"* ]]
	[[ "$output" == *"agentbox stop $(id_of web)"* ]]
	[ ! -e never ]
	# A name that is the id of a run would hide that run, or be hidden.
	agentbox run --name "$(id_of web)" -- touch never
	[ "$status" -eq 125 ]
	[ ! -e never ]
	[ "$(kept)" = '*' ]
	agentbox stop web
	[ "$status" -eq 0 ]
	gone
	agentbox run --name web -- true
	[ "$status" -eq 0 ]
	[ "$(jq -r 'select(.kind == "start").name' "$AGENTBOX_STATE"/runs/*/audit.jsonl | sort -u)" = web ]
}

@test "name: what is none is refused before anything starts" {
	local name

	for name in '' 'a b' ../x -x "$(printf 'x%.0s' {1..33})" 'ä' $'a\nb'; do
		agentbox run --name="$name" -- touch never
		[ "$status" -eq 125 ]
		[[ "$output" == *"invalid run name"* ]]
	done
	[ ! -e never ]
	agentbox run --name "A-b_c.9$(printf 'x%.0s' {1..25})" -- true
	[ "$status" -eq 0 ]
}

@test "name: of two that start at once one gets it" {
	local i n=0 ok=0 pids=()

	for i in 1 2 3 4; do
		"$AGENTBOX" run --name same -- sh -c 'while [ ! -e go ]; do sleep 0.1; done' \
			</dev/null >/dev/null 2>&1 3>&- &
		pids+=($!)
	done
	three_are_over()
	{
		n=0
		for i in "${pids[@]}"; do
			kill -0 "$i" 2>/dev/null || n=$((n + 1))
		done
		[ "$n" -ge 3 ]
	}
	wait_for 90 three_are_over
	[ "$("$AGENTBOX" ps --json 3>&- | jq length)" -eq 1 ]
	touch go
	for i in "${pids[@]}"; do
		wait "$i" && ok=$((ok + 1))
	done
	[ "$ok" -eq 1 ]
}

@test "a run's folder has its policy, what was proved, and how it ended" {
	agentbox run --allow github.com -- sh -c 'exit 3'
	[ "$status" -eq 3 ]
	jq -se '(.[0].policy | .network.allow == ["github.com"] and .profile == "default" and
		.records.keepRuns == 1000) and (.[1].holds | index("net-fence")) and
		.[-1].status == 3' "$AGENTBOX_STATE"/runs/*/audit.jsonl
	[ "$(stat -c %a "$AGENTBOX_STATE"/runs/*/audit.jsonl)" = 600 ]
	[ "$(stat -c %a "$AGENTBOX_STATE"/runs/*)" = 700 ]
}

@test "stop: by id and by name, the command first hears TERM" {
	begin one -- sh -c 'trap "touch heard; exit 7" TERM; touch ready-one; while :; do sleep 0.1; done'
	local id
	id=$(id_of one)
	agentbox stop --json "$id"
	[ "$status" -eq 0 ]
	jq -e --arg id "$id" '(.ended | length == 1 and (.[0] | contains($id))) and .notes == []' <<<"$output"
	[ -e heard ]
	agentbox stop one
	[ "$status" -eq 1 ]
	[[ "$output" == *"no run named one"* ]]
	gone
	agentbox stop
	[ "$status" -eq 2 ]
	agentbox stop x --all
	[ "$status" -eq 2 ]
	agentbox stop --grace soon x
	[ "$status" -eq 2 ]
	agentbox stop --grace 11m x
	[ "$status" -eq 2 ]
}

@test "stop: what ignores TERM is killed after the grace, with all that it started" {
	begin deaf -- sh -c 'trap "" TERM; sleep 300 & setsid sleep 301 & touch ready-deaf; wait; sleep 302'
	local id=$(id_of deaf) begun=$SECONDS
	agentbox stop deaf --grace 1s
	[ "$status" -eq 0 ]
	[ $((SECONDS - begun)) -le 90 ]
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq 137 ]
	[ "$(processes_left)" = "" ]
	jq -es 'map(select(.kind == "end")) | length == 1' "$AGENTBOX_STATE/runs/$id/audit.jsonl"
}

@test "stop: a supervisor that is stopped is no way to stay, and ps does not wait for it" {
	begin stuck -- sh -c 'touch ready-stuck; sleep 300'
	local id=$(id_of stuck) begun=$SECONDS
	kill -STOP "$pid"
	agentbox ps
	[ "$status" -eq 0 ]
	[ $((SECONDS - begun)) -le 90 ]
	[[ "${lines[1]}" == *stuck* ]]
	begun=$SECONDS
	agentbox stop stuck --grace 1s
	[ "$status" -eq 0 ]
	[ $((SECONDS - begun)) -le 90 ]
	[ "$(processes_left)" = "" ]
	[ -d "$AGENTBOX_STATE/runs/$id" ]
	grep -q 'the supervisor was killed' "$AGENTBOX_STATE/runs/$id/audit.jsonl"
	wait "$pid" || true
}

@test "stop: a supervisor that is late is no reason to kill before the grace" {
	local stopper rc=0

	begin one -- sh -c 'trap "touch heard; exit 7" TERM; touch ready-one; while :; do sleep 0.1; done'
	wait_for 90 test -S "$AGENTBOX_STATE/live/$(run_id)/control"
	kill -STOP "$pid"
	# Longer than an answer is waited for.
	(sleep 2; kill -CONT "$pid") 3>&- &
	stopper=$!
	agentbox stop one --grace 20s
	[ "$status" -eq 0 ]
	[ -e heard ]
	wait "$stopper"
	wait "$pid" || rc=$?
	[ "$rc" -eq 7 ]
}

@test "stop: a process that has the pid of another one's record is not touched" {
	# A run whose record names a process that has nothing to do with it: the
	# pid is right, the time of its start is not.
	sleep 300 3>&- &
	local victim=$! dir=$AGENTBOX_STATE/live/aaaaa
	agentbox run -- true
	mkdir -m 700 "$dir"
	jq -nc --argjson pid "$victim" --argjson me "$BASHPID" '{kind: "start", run_id: "aaaaa",
		command: ["x"], pid: $me, init: $pid, init_started: 1}' >"$dir/audit.jsonl"
	exec {lock}<"$dir"
	flock -x "$lock"
	agentbox stop aaaaa --grace 0s
	[ "$status" -eq 1 ]
	[[ "$output" == *"aaaaa has not ended"* ]]
	kill -0 "$victim"
	# With the right time, but a parent that is not who it says.
	jq -nc --argjson pid "$victim" --argjson at "$(cut -d' ' -f22 "/proc/$victim/stat")" \
		'{kind: "start", run_id: "aaaaa", command: ["x"], pid: 1, init: $pid, init_started: $at}' \
		>"$dir/audit.jsonl"
	agentbox stop aaaaa --grace 0s
	[ "$status" -eq 1 ]
	kill -0 "$victim"
	exec {lock}<&-
	kill "$victim"
}

@test "a run whose processes were all killed is swept by ps and by gc" {
	local how

	for how in ps gc; do
		rm -f ready-dead .envrc
		begin dead -- sh -c 'touch ready-dead; sleep 300'
		local id=$(id_of dead)
		# The broker first: it would finish the run.
		kill -STOP "$pid"
		kill -KILL $(cat "/proc/$pid/task/$pid/children") "$pid"
		wait "$pid" || true
		wait_for 90 flock -n "$AGENTBOX_STATE/live/$id" true
		echo 'evil' >.envrc
		agentbox "$how"
		[ "$status" -eq 0 ]
		[[ "$output" == *".envrc); moved to "* ]]
		[ ! -e .envrc ]
		[ -d "$AGENTBOX_STATE/runs/$id" ]
		[ ! -e "$AGENTBOX_STATE/live/$id" ]
		grep -q 'all processes of the run were killed' "$AGENTBOX_STATE/runs/$id/audit.jsonl"
		# What it left is somebody's to look at.
		agentbox gc --keep 0
		[[ "$output" == *"1 run kept because of quarantined files"* ]]
		[ -d "$AGENTBOX_STATE/runs/$id" ]
		agentbox gc --keep 0 --quarantine
		[ ! -e "$AGENTBOX_STATE/runs/$id" ]
	done
}

@test "gc: by age and by number, and only what is over" {
	ended_run aaaaa 40
	ended_run bbbbb 20
	ended_run ccccc 10
	ended_run ddddd 1
	agentbox gc --dry-run
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = aaaaa ]
	[ "${lines[1]}" = "1 run would be removed, 3 kept" ]
	[ -d "$AGENTBOX_STATE/runs/aaaaa" ]
	agentbox gc
	[ "$output" = "1 run removed, 3 kept" ]
	[ "$(kept)" = "bbbbb ccccc ddddd" ]
	agentbox gc --older 15d
	[ "$(kept)" = "ccccc ddddd" ]
	begin live -- sh -c 'touch ready-live; sleep 300'
	agentbox_split gc --keep 1 --json
	jq -e 'del(.layers) == {removed: ["ccccc"], kept: 1, quarantined: 0, failed: 0, dry_run: false}' <<<"$output"
	agentbox gc --keep 0 --older 0s
	[ "$(kept)" = '*' ]
	[ -n "$(id_of live)" ]
	agentbox stop live
	gone
	agentbox gc --keep few
	[ "$status" -eq 2 ]
	agentbox gc --older never
	[ "$status" -eq 2 ]
}

@test "gc: the user's settings count, a project's do not" {
	ended_run aaaaa 3
	ended_run bbbbb 1
	echo '{ "records": { "keepFor": "1h", "keepRuns": 1 } }' >.agentbox.json
	agentbox gc
	[ "$output" = "0 runs removed, 2 kept" ]
	agentbox run -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"records.keepFor is ignored"* ]]
	[ -d "$AGENTBOX_STATE/runs/aaaaa" ]
	mkdir -p "$HOME/.config/agentbox"
	echo '{ "records": { "keepFor": "2d" } }' >"$HOME/.config/agentbox/config.json"
	agentbox gc
	[[ "$output" == "1 run removed, "* ]]
	[ ! -e "$AGENTBOX_STATE/runs/aaaaa" ]
	[ -d "$AGENTBOX_STATE/runs/bbbbb" ]
}

@test "gc: nothing outside goes by a link" {
	ended_run aaaaa 40
	mkdir "$HOME/mine"
	touch "$HOME/mine/file"
	ln -s "$HOME/mine" "$AGENTBOX_STATE/runs/aaaaa/link"
	ln -s "$HOME/mine" "$AGENTBOX_STATE/runs/bbbbb"
	touch -h -d '40 days ago' "$AGENTBOX_STATE/runs/bbbbb" "$AGENTBOX_STATE/runs/aaaaa"
	agentbox gc
	[ "$output" = "1 run removed, 0 kept" ]
	[ -e "$HOME/mine/file" ]
	[ -L "$AGENTBOX_STATE/runs/bbbbb" ]
}

@test "gc: a run clears old ones away by itself, at most once an hour" {
	local i

	for i in {2..9}; do
		ended_run "aaaa$i" 40
	done
	ended_run bbbbb 1
	swept()
	{
		[[ "$(kept)" != *aaaa* ]]
	}
	begin one -- sh -c 'touch ready-one; sleep 300'
	wait_for 90 swept
	agentbox stop one
	gone
	[ -d "$AGENTBOX_STATE/runs/bbbbb" ]
	ended_run aaaaa 40
	agentbox run -- sleep 0.3
	[ -d "$AGENTBOX_STATE/runs/aaaaa" ]
	touch -d '61 minutes ago' "$AGENTBOX_STATE/runs/.looked"
	begin two -- sh -c 'touch ready-two; sleep 300'
	wait_for 90 swept
	agentbox stop two
	gone
}

@test "several gc at once remove everything once" {
	local i pids=()

	for i in {a..h}{a..h}{2..4}; do
		ended_run "aa$i" 40
	done
	for i in 1 2 3; do
		"$AGENTBOX" gc --json 3>&- >"$TEST_DIR/gc.$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	[ "$(kept)" = '*' ]
	[ "$(ls -A "$AGENTBOX_STATE/runs")" = "" ]
}

# bats test_tags=root
@test "another user sees nothing of a run, and cannot stop it" {
	only_root
	local as=(setpriv --reuid 54321 --regid 54321 --clear-groups)

	chmod 0755 "$TEST_DIR" "$HOME"
	have_others()
	{
		"${as[@]}" test -x "$AGENTBOX" -a -x "$WORKSPACE"
	}
	need others: "others cannot come here"
	begin mine -- sh -c 'touch ready-mine; sleep 300'
	local id=$(id_of mine)
	run "${as[@]}" "$AGENTBOX" ps 3>&-
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" != *"$id"* ]]
	run "${as[@]}" "$AGENTBOX" stop "$id" 3>&-
	[ "$status" -eq 1 ]
	mkdir -m 700 "$TEST_DIR/other" && chown 54321:54321 "$TEST_DIR/other"
	run env AGENTBOX_STATE="$TEST_DIR/other" "${as[@]}" "$AGENTBOX" ps 3>&-
	[ "$output" = "no active runs" ]
	[ "$(id_of mine)" = "$id" ]
	agentbox stop mine
	[ "$status" -eq 0 ]
	gone
}

@test "inside a box there is no run to see or to stop" {
	local c

	for c in ps 'stop --all' gc; do
		agentbox run -- "$AGENTBOX" $c
		[ "$status" -eq 1 ]
		[[ "$output" == *"runs cannot be seen from inside a box"* ]]
	done
}
