# unsanitized: the unit tests cover what it adds to run
# exec --json prints a captured run as one object; run --result writes the same
# object for a run that is not captured.
load helpers

# field FILTER: of the object that was printed.
field()
{
	jq -r "$1" <<<"$output"
}

# says FILTER: it holds for the object.
says()
{
	jq -e "$1" <<<"$output" >/dev/null || {
		echo "not so: $1"
		return 1
	}
}

# exec_json ARG...: $output is the object, and nothing but that.
exec_json()
{
	agentbox_split exec --json "$@"
	[ "$(jq -cs length <<<"$output")" = 1 ]
}

@test "exec: both streams and the status, and nothing of our own between" {
	exec_json -v -- sh -c 'echo out; echo err >&2; printf "\tü"; exit 4'
	[ "$status" -eq 4 ]
	says '.version == 1 and .exit == 4 and .status == 4 and .signal == null'
	says '.stdout == "out\n\tü" and .stderr == "err\n"'
	says '.stdout_bytes == 7 and .stderr_bytes == 4'
	says '(.stdout_truncated or .stderr_truncated or .timed_out) == false'
	says '.command[0] == "sh" and .decision == "allow" and .error == null'
	says '.profile == "default" and (.assurance.holds | index("net-fence"))'
	says '.duration_ms >= 0 and (.started | test("^20.*Z$"))'
	[[ "$stderr" == *"agentbox: box $(field .run_id), engine full, guarantees in force:"* ]]
}

@test "exec: a text for the shell, as run has it" {
	exec_json -c 'echo $((6 * 7))'
	[ "$status" -eq 0 ]
	says '.stdout == "42\n"'
}

@test "exec: --json may be left out, the command not" {
	agentbox_split exec -- touch ran
	[ "$status" -eq 0 ]
	[ -e ran ]
	jq -e '.exit == 0' <<<"$output"
	agentbox exec --json
	[ "$status" -eq 125 ]
	[[ "$output" == *"agentbox exec -- COMMAND"* ]]
}

@test "exec: bytes that are no text come in base64, all of them" {
	head -c 100000 /dev/urandom >bytes
	printf '\377' >>bytes
	exec_json -- sh -c 'cat bytes; printf "a\0b" >&2'
	[ "$status" -eq 0 ]
	says 'has("stdout") | not'
	field .stdout_base64 | base64 -d | cmp - bytes
	says '.stderr == "a\u0000b" and .stderr_bytes == 3'
}

@test "exec: a limit is kept to the byte, and so is what is said about it" {
	local max=$((10 << 20))

	launch exec --json -c "head -c $max /dev/zero | tr '\0' x" >at
	launch exec --json -c "head -c $((max + 1)) /dev/zero | tr '\0' x; echo >&2" >above
	jq -e "(.stdout | length) == $max and .stdout_bytes == $max and (.stdout_truncated | not)" at
	jq -e "(.stdout | length) == $max and .stdout_bytes == $max + 1 and .stdout_truncated" above
	jq -e '.stderr == "\n" and (.stderr_truncated | not)' above
}

@test "exec: the limit is the policy's" {
	echo '{ "limits": { "output": "5" } }' >../five.json
	exec_json --config ../five.json -c 'printf 12345; printf 123456 >&2'
	says '.stdout == "12345" and (.stdout_truncated | not) and .stdout_bytes == 5'
	says '.stderr == "12345" and .stderr_truncated and .stderr_bytes == 6'
}

@test "exec: a command that writes more than anybody wants ends by itself" {
	echo '{ "limits": { "output": "64K" } }' >../less.json
	launch exec --json --config ../less.json \
		-c 'head -c 100000000 /dev/zero; head -c 100000000 /dev/zero >&2; touch done' >big
	[ -e done ]
	jq -e '.exit == 0 and .stdout_bytes == 100000000 and .stderr_bytes == 100000000' big
	jq -e '.stdout_truncated and .stderr_truncated' big
}

@test "exec: a character that the limit cuts is left out, the rest is text" {
	launch exec --json -c "head -c $(((10 << 20) - 1)) /dev/zero | tr '\0' x; printf '\303\274'" >cut
	jq -e "(.stdout | length) == $(((10 << 20) - 1)) and .stdout_truncated" cut
}

@test "exec: killed by a signal, not found, not executable, out of time" {
	exec_json -c 'kill -KILL $$'
	[ "$status" -eq 137 ]
	says '.exit == 137 and .signal == "SIGKILL" and .status == null'
	exec_json -- no-such-command
	[ "$status" -eq 127 ]
	says '.exit == 127 and .status == null and (.error | test("no-such-command"))'
	[[ "$stderr" == "agentbox: "*"no-such-command"* ]]
	touch plain
	exec_json -- ./plain
	[ "$status" -eq 126 ]
	says '.exit == 126 and .error != null'
	exec_json --timeout 5s -- sh -c 'echo before; sleep 100'
	[ "$status" -eq 124 ]
	says '.exit == 124 and .timed_out and .signal == "SIGTERM"'
	says '.stdout == "before\n"'
}

@test "exec: what is refused, and what cannot start, says so in the object" {
	exec_json -- rm -rf /
	[ "$status" -eq 126 ]
	says '.exit == 126 and .decision == "forbidden" and .rule == "recursive-delete-root"'
	says '(.error | test("refused")) and .run_id != null and .network == null'
	exec_json --profile none-such -- true
	[ "$status" -eq 125 ]
	says '.exit == 125 and (.error | test("none-such")) and .run_id == null'
	exec_json -q -- true
	[ "$status" -eq 0 ]
	says '.error == null'
	[ -z "$stderr" ]
}

@test "exec: what was refused on the way is in it, as the record has it" {
	exec_json --net filtered --unknown deny -c 'curl -s http://none.example/; curl -s http://none.example/; exit 0'
	[ "$status" -eq 0 ]
	says '.network.denied == 2 and .violations_total == 2'
	says '.violations | length == 2 and all(.kind == "violation" and .domain == "none.example")'
	[ "$(field '.violations[0]' | jq -c .)" = "$(jq -c 'select(.kind == "violation")' "$AGENTBOX_STATE"/runs/*/audit.jsonl | head -1)" ]
	exec_json --trace-denials --home readonly -c 'echo x >~/outside; exit 0'
	says '.violations | map(select(.door == "file" and (.path | endswith("/outside")))) | length == 1'
	exec_json -- true
	says '.violations == [] and .violations_total == 0'
}

@test "exec: of many refusals the first are in it, and all are counted" {
	exec_json --unknown deny -c 'curl -s "http://n[1-250].example/"; exit 0'
	says '(.violations | length) == 200 and .violations_total == 250 and .network.denied == 250'
}

@test "exec: a process in the background that holds the pipes does not hang it" {
	AB_TIMEOUT=80 exec_json -c 'sleep 100 & setsid sleep 100 & echo started'
	[ "$status" -eq 0 ]
	says '.stdout == "started\n"'
}

@test "exec: standard input is passed on" {
	run --separate-stderr launch exec --json -- tr a-z A-Z < <(echo piped)
	says '.stdout == "PIPED\n"'
	echo file >input
	run --separate-stderr launch exec --json -- cat <input
	says '.stdout == "file\n"'
}

@test "exec: a terminal is not the command's input, nor is anything else of it" {
	need program:tmux
	tty_run sh -c '"$0" exec --json -c "cat; test -t 0 || test -t 1 || test -t 2 || echo none" | jq -c "[.exit,.stdout]"' "$AGENTBOX"
	[[ "$output" == *'[0,"none\n"]'* ]]
}

started()
{
	[ -s started ]
}

@test "exec: signals are the command's" {
	local pid rc=0

	"$AGENTBOX" exec --json -c 'trap "echo got; exit 7" TERM
		echo x >started; while :; do sleep 0.05; done' >object 3>&- &
	pid=$!
	wait_for 90 started
	kill -TERM "$pid"
	wait "$pid" || rc=$?
	[ "$rc" -eq 7 ]
	jq -e '.exit == 7 and .stdout == "got\n"' object
	rm started
	"$AGENTBOX" exec --json -c 'echo x >started; exec sleep 300' >object 3>&- &
	pid=$!
	wait_for 90 started
	kill -HUP "$pid"
	rc=0
	wait "$pid" || rc=$?
	[ "$rc" -eq 129 ]
	jq -e '.signal == "SIGHUP"' object
}

@test "exec: killed itself, it takes everything with it" {
	local pid

	"$AGENTBOX" exec --json -c 'echo x >started; exec sleep 300' >object 3>&- &
	pid=$!
	wait_for 90 started
	kill -KILL "$pid"
	wait "$pid" || true
	[ ! -s object ]
	[ -z "$(processes_left)" ]
}

@test "exec: when the supervisor is killed, that is told" {
	local pid rc=0

	"$AGENTBOX" exec --json -c 'echo out; echo x >started; exec sleep 300' >object 2>said 3>&- &
	pid=$!
	wait_for 90 started
	kill -KILL "$(pgrep -P "$pid")"
	wait "$pid" || rc=$?
	[ "$rc" -eq 137 ]
	jq -e '.exit == 137 and .status == null and (.error | test("signal 9")) and .stdout == "out\n"' object
	grep -q '^agentbox: .*signal 9' said
	[ -z "$(processes_left)" ]
}

@test "exec: several at once do not mix" {
	local i pids=()

	for i in 1 2 3 4 5 6; do
		launch exec --json -c "yes $i | head -100000; exit $i" >"object$i" &
		pids+=("$!")
	done
	for i in 1 2 3 4 5 6; do
		wait "${pids[i - 1]}" || [ "$?" -eq "$i" ]
		jq -e ".exit == $i and .stdout_bytes == 200000" "object$i"
		[ "$(jq -r .stdout "object$i" | sort -u | xargs)" = "$i" ]
	done
	[ "$(jq -r .run_id object? | sort -u | wc -l)" -eq 6 ]
}

@test "exec: in a box it captures too, and the outer run has the record" {
	exec_json -- "$AGENTBOX" exec --json -c 'echo in; exit 5'
	[ "$status" -eq 5 ]
	says '.exit == 5 and .run_id != null'
	output=$(field .stdout)
	says '.exit == 5 and .status == 5 and .stdout == "in\n" and .run_id == null'
}

@test "result: the object of a run, where one wants it" {
	echo 'an earlier one, which was longer' >../result
	chmod 600 ../result
	agentbox run --result ../result -- sh -c 'echo out; exit 3'
	[ "$status" -eq 3 ]
	[ "$output" = out ]
	jq -e '.exit == 3 and .status == 3 and (has("stdout") | not)' ../result
	[ "$(wc -l <../result)" -eq 1 ]
	jq -e --arg id "$(jq -r .run_id ../result)" 'select(.kind == "end") | .status == 3 and .run_id == $id' \
		"$AGENTBOX_STATE"/runs/*/audit.jsonl
}

@test "result: into a pipe and behind what a descriptor has already" {
	run timeout 240 bash -c '"$0" run --result 4 -- true 4>&1 >/dev/null | jq -c "[.exit,.decision]"' "$AGENTBOX"
	[ "$output" = '[0,"allow"]' ]
	for i in 1 2; do
		"$AGENTBOX" run --result 4 -- true 4>>../results 3>&-
	done
	[ "$(wc -l <../results)" -eq 2 ]
	jq -es 'map(.run_id) | unique | length == 2' ../results
}

@test "result: also of what did not run" {
	agentbox run --result ../result -- rm -rf /
	[ "$status" -eq 126 ]
	jq -e '.exit == 126 and .decision == "forbidden" and .error != null' ../result
	agentbox run --result ../result -- no-such-command
	[ "$status" -eq 127 ]
	jq -e '.exit == 127 and .error != null' ../result
	agentbox run --result ../result --net nonsense -- true
	[ "$status" -eq 125 ]
	jq -e '.exit == 125 and .command == ["true"] and .decision == null' ../result
	agentbox run --result ../result --audit none/such -- true
	[ "$status" -eq 125 ]
	jq -e '.exit == 125 and (.error | test("none/such")) and .decision == "allow"' ../result
}

@test "result: nothing is written where others, or the command, could write it" {
	mkdir ../dir
	ln -s result ../link
	: >../hard && ln ../hard ../hard2
	: >../open && chmod 666 ../open
	for place in ../link ../hard ../open ../dir 1 2 99 /dev/full; do
		agentbox run --result "$place" -- touch ran
		[ "$status" -eq 125 ]
		[[ "$output" == "agentbox: --result $place"* ]]
		[ ! -e ran ]
	done
	agentbox run --result same --audit same -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"the same file"* ]]
	[ ! -e ran ]
	# In the workspace the command finds it closed; another file not.
	agentbox run --result result -- sh -c 'echo forged >result; rm -f result; echo mine >other; exit 0'
	[ "$status" -eq 0 ]
	jq -e '.exit == 0' result
	[ "$(cat other)" = mine ]
}

@test "result: nor where its name leads through a link that the command could replace" {
	mkdir real
	ln -s real link
	ln -s "$PWD/link" ../chain
	ln -s real/.. ../beside
	mkdir ../real
	for place in link/r ../chain/r; do
		agentbox run --result "$place" -- touch ran
		[ "$status" -eq 125 ]
		[[ "$output" == *"--result $place leads through a link"*"$PWD/real/r" ]]
		[ ! -e ran ]
	done
	agentbox run --audit link/a -- touch ran
	[ "$status" -eq 125 ]
	[ ! -e ran ]
	[ -z "$(ls real)" ]
	for place in real/r ../beside/r; do
		agentbox run --result "$place" -- true
		[ "$status" -eq 0 ]
		jq -e '.exit == 0' "$place"
	done
}

@test "result: a link of a box has no file overwritten, however the run fails" {
	local words

	echo '{ "filesystem": { "write": [".", "../shared"] } }' >"$TEST_DIR/own.json"
	mkdir ../shared ../fine
	agentbox run --config "$TEST_DIR/own.json" -- sh -c 'ln -s .. way; ln -s .. ../shared/way'
	[ "$status" -eq 0 ]
	ln -s fine ../mine
	echo precious >../file
	chmod 600 ../file
	for words in "-- touch ran" "--net nonsense -- touch ran" "--config /nowhere -- touch ran" \
		"--write way -- touch ran" "-- rm -rf /" "--audit way/made -- touch ran"; do
		for place in way/file ../shared/way/file way/new; do
			agentbox run --config "$TEST_DIR/own.json" --result "$place" $words
			[ "$status" -ge 125 ]
			[[ "$output" == *"--result $place "*"leads through a link"* ]]
			[ ! -e ran ]
			[ "$(cat ../file)" = precious ]
			[ ! -e ../new ]
			[ ! -e ../made ]
		done
	done
	# Links of the user's own work, also for a run that fails, once the settings are known.
	agentbox run --config "$TEST_DIR/own.json" --result ../mine/r -- true
	[ "$status" -eq 0 ]
	jq -e '.exit == 0' ../fine/r
	agentbox run --config "$TEST_DIR/own.json" --result ../mine/r -- rm -rf /
	[ "$status" -eq 126 ]
	jq -e '.exit == 126' ../fine/r
}

@test "result: one that cannot be written is an error" {
	mkfifo ../fifo
	agentbox run --result ../fifo -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"no process reads"* ]]
	agentbox run --result missing/r -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"--result missing/r: No such file or directory"* ]]
	[ ! -e missing ]
	[ ! -e ran ]
	# A pipe whose reader has ended.
	run timeout 240 bash -c 'exec 4> >(:); wait $!; "$0" run --result 4 -- true' "$AGENTBOX"
	[ "$status" -eq 125 ]
	[[ "$output" == *"--result 4"* ]]
}

@test "result: inside a box it is the outer run's" {
	agentbox run -- "$AGENTBOX" run --result here -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"pass it to the outer run"* ]]
	agentbox run --result ../result -- "$AGENTBOX" run -- true
	[ "$status" -eq 0 ]
	jq -e '.exit == 0' ../result
}
