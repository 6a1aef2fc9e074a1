# The chain of a record, and `agentbox log` on a folder of records, with what
# somebody could do to them.
UNJUDGED=1
load helpers

# of RUN: its record.
of()
{
	echo "$AGENTBOX_STATE/runs/$1/audit.jsonl"
}

# changed RUN SED: the verdict on a copy that was edited.
changed()
{
	sed "$2" "$(of "$1")" >changed.jsonl
	agentbox log --verify --json changed.jsonl
}

@test "verify: what a run wrote is whole, and every change is found" {
	agentbox run --name one -- true
	run=$(basename "$AGENTBOX_STATE"/runs/*)
	agentbox log --verify
	[ "$status" -eq 0 ]
	[[ "$output" == "run $run  whole and signed (3 lines)" ]]
	agentbox log --verify one --json
	[ "$status" -eq 0 ]
	jq -e '.state == "whole" and .lines == 3 and .run == "'"$run"'"' <<<"$output"
	# Others can check it, too.
	[ "$(jq -r .prev "$(of "$run")" | sed -n 2p)" = "$(head -n 1 "$(of "$run")" | tr -d '\n' | sha256sum | cut -d' ' -f1)" ]
	openssl pkey -pubin -in "$AGENTBOX_STATE/record.pub" -noout
	[ "$(stat -c %a "$AGENTBOX_STATE/record.key")" = 600 ]

	# A copy, unchanged: the twin of what follows.
	changed "$run" ''
	[ "$status" -eq 0 ]
	changed "$run" '1s/true/false/'
	[ "$status" -eq 1 ]
	jq -e '.state == "broken" and .line == 2' <<<"$output"
	changed "$run" 2d
	[ "$status" -eq 1 ]
	changed "$run" '$s/"status":0/"status":1/'
	[ "$status" -eq 1 ]
	jq -e '.why == "its signature does not fit"' <<<"$output"
	changed "$run" '$d'
	[ "$status" -eq 1 ]
	jq -e '.state == "unended"' <<<"$output"
	changed "$run" 's/,"prev".*/}/'
	[ "$status" -eq 1 ]
	jq -e '.state == "unchained"' <<<"$output"
}

@test "verify: a killed run is finished by who comes next, and whole then" {
	"$AGENTBOX" run --name long -- sleep 300 3>&- &
	wait_for 60 eval 'grep -q kind.:.assurance "$AGENTBOX_STATE"/live/*/audit.jsonl'
	agentbox log --verify
	[ "$status" -eq 0 ]
	[[ "$output" == *"whole so far; the run is active"* ]]
	kill -KILL $!
	wait_for 60 eval '[ -e "$AGENTBOX_STATE"/runs/*/audit.jsonl ]'
	agentbox log --verify
	[ "$status" -eq 0 ]
	[[ "$output" == *"whole and signed"* ]]
	[[ "$("$AGENTBOX" log --json)" == *"the supervisor was killed"* ]]
}

@test "verify: whoever can read the state folder can write a record that is whole" {
	agentbox run -- echo done
	[ "$status" -eq 0 ]
	# Another state folder, with the key of the first one.
	mkdir -m 700 "$AGENTBOX_STATE.forged"
	cp "$AGENTBOX_STATE"/record.{key,pub} "$AGENTBOX_STATE.forged"
	AGENTBOX_STATE=$AGENTBOX_STATE.forged agentbox run --audit ../forged.jsonl -- echo never
	[ "$status" -eq 0 ]
	agentbox log --verify ../forged.jsonl
	[ "$status" -eq 0 ]
	[[ "$output" == *"whole and signed"* ]]
}

@test "verify: another machine's key is not known until it is given" {
	AGENTBOX_STATE=$AGENTBOX_STATE.other agentbox run --audit ../theirs.jsonl -- true
	agentbox run -- true
	agentbox log --verify ../theirs.jsonl
	[ "$status" -eq 1 ]
	[[ "$output" == *"signed with a key that is not known"* ]]
	cat "$AGENTBOX_STATE.other/record.pub" "$AGENTBOX_STATE/record.pub" >../keys.pem
	agentbox log --verify ../theirs.jsonl --key ../keys.pem
	[ "$status" -eq 0 ]
	agentbox log --verify ../theirs.jsonl --key ../theirs.jsonl
	[ "$status" -eq 2 ] || [ "$status" -eq 1 ]
	[[ "$output" == *"no public key"* ]]
	# Another key: the records of the first one are still known, here and to who has record.pub.
	rm "$AGENTBOX_STATE/record.key"
	agentbox run -- true
	agentbox log --verify --all
	[ "$status" -eq 0 ]
	[[ "$output" == *"2 of 2 records are whole"* ]]
	[ "$(grep -c BEGIN "$AGENTBOX_STATE/record.pub")" -eq 2 ]
	# A key that others can read is not used.
	chmod 644 "$AGENTBOX_STATE/record.key"
	agentbox run -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"chmod 600"* ]]
	[ ! -e ran ]
}

# collect: a folder with records of two machines, and what does not belong there.
collect()
{
	agentbox run --audit ../node.jsonl -- true
	agentbox run --unknown deny -- sh -c 'curl -s http://denied.test || :'
	mkdir -p ../all/node1 ../all/node2
	cp -r "$AGENTBOX_STATE" ../all/node1/state
	mv ../node.jsonl ../all/node2/
}

@test "log: a folder of records is read as one, and nothing else in it" {
	collect
	agentbox log --dir ../all --denied
	[ "$status" -eq 0 ]
	[[ "$output" == *"== node1/state/runs/"*"denied.test:80"* ]]
	[[ "$output" != *node2* ]]
	agentbox log --verify --dir ../all
	[ "$status" -eq 0 ]
	[[ "$output" == *"3 of 3 records are whole"* ]]
	agentbox log --dir ../all --json
	[ "$(grep -c '"kind":"end"' <<<"$output")" -eq 3 ]
	[ "$(jq -r 'select(.kind == "start") | .machine' <<<"$output" | sort -u)" = "$(uname -n)" ]

	# What a box wrote is no record, wherever it was kept.
	mkdir -p ../all/node1/state/layers/x/run
	for place in ../all/node1/state/layers/x/run/audit.jsonl ../all/node1/state/runs/*; do
		[ ! -d "$place" ] || place=$place/0001-forged.jsonl
		echo '{"timestamp":"2026-01-01T00:00:00.000Z","run_id":"aaaaa","kind":"forged"}' >"$place"
	done
	agentbox log --dir ../all --json
	[ "$status" -eq 0 ]
	[[ "$output" != *forged* ]]
	[ "$(grep -c '"kind":"end"' <<<"$output")" -eq 3 ]
}

@test "log: links, devices and what cannot be read in a folder are left out" {
	collect
	ln -s "$HOME/.gitconfig" ../all/link.jsonl
	ln -s / ../all/root
	mkfifo ../all/fifo.jsonl
	printf 'not a record\n\033[2J\n' >"../all/e"$'\033'"vil.jsonl"
	timeout 60 "$AGENTBOX" log --dir ../all --stats >out 2>err
	grep -q '^4 records read$' out
	grep -q 'skipped 2 links, which are never followed' err
	grep -q 'skipped 1 record that is not a regular file' err
	grep -q 'skipped 2 damaged' err
	run timeout 60 "$AGENTBOX" log --verify --dir ../all
	[ "$status" -eq 1 ]
	[[ "$output" == *'e\x1bvil.jsonl'*"broken at line 1: it is not a record"* ]]
	mkdir -p "../all/$(printf 'd/%.0s' {1..20})"
	run timeout 60 "$AGENTBOX" log --dir ../all
	[ "$status" -eq 1 ]
	[[ "$output" == *"skipped 1 folder that is too deep"* ]]
}

@test "log: a folder that somebody made as a trap is neither endless nor whole" {
	collect
	# The one of three lines.
	whole=$(dirname "$(grep -L denied.test ../all/node1/state/runs/*/audit.jsonl)")
	for trap in fifo folder hole giant; do
		cp -r "$whole" "../all/$trap"
	done
	mkfifo ../all/fifo/audit.1.jsonl
	mkdir ../all/folder/audit.1.jsonl
	truncate -s 4T ../all/hole/audit.jsonl
	# What a terminal would obey, where a terminal shows it, and unchanged elsewhere.
	mkdir ../evil
	printf '{"timestamp":"2026-01-01T00:00:00.000Z","run_id":"aaaaa","kind":"start","command":["\xc2\x9b2J"]}\n' >../evil/c1.jsonl
	"$AGENTBOX" log --dir ../evil --json | grep -q $'\xc2\x9b2J'
	python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$AGENTBOX" log --dir ../evil --json </dev/null >shown
	grep -qF '\xc2\x9b2J' shown
	run ! grep -q $'\xc2\x9b' shown
	# A line that is too long, between two of a whole record.
	python3 - ../all/giant/audit.jsonl <<-'PYTHON'
	import sys
	lines = open(sys.argv[1]).readlines()
	lines.insert(1, "{" + " " * (5 << 20) + "}\n")
	open(sys.argv[1], "w").writelines(lines)
	PYTHON
	: >../all/empty.jsonl
	python3 -c 'print("[" * 1000000)' >../all/deep.jsonl
	timeout 100 "$AGENTBOX" log --dir ../all --json >out 2>err
	# The whole ones, and what can be read of the hole and the giant.
	[ "$(grep -c '"kind":"end"' out)" -eq 5 ]
	run timeout 100 "$AGENTBOX" log --verify --dir ../all
	[ "$status" -eq 1 ]
	[[ "$output" == *"deep.jsonl  broken"*"giant  run "*"  broken at line 2"*"hole  run "*"  broken at line 4"* ]]
	[[ "$output" == *"skipped 2 files or folders that cannot be opened"* ]]
	[[ "$output" == *"3 of 6 records are whole"* ]]
}

@test "verify: an end that was cut off is not an active run, and a record only counts in its place" {
	agentbox run --name one -- true
	agentbox run --name two -- true
	agentbox log --verify --all
	[ "$status" -eq 0 ]
	one=$(basename "$(grep -l '"name":"one"' "$AGENTBOX_STATE"/runs/*/audit.jsonl | xargs dirname)")
	two=$(basename "$(grep -l '"name":"two"' "$AGENTBOX_STATE"/runs/*/audit.jsonl | xargs dirname)")
	# A copy without its end, whose lock somebody holds.
	cp -r "$AGENTBOX_STATE/runs/$one" ../copy
	sed -i '$d' ../copy/audit.jsonl
	exec 8<../copy
	flock -x 8
	agentbox log --verify ../copy
	[ "$status" -eq 1 ]
	[[ "$output" == *"its end is missing"* ]]
	agentbox log --verify --dir ../copy
	[ "$status" -eq 1 ]
	exec 8<&-
	# What follows the end is no part of it, whole or not.
	cp "$(of "$one")" ../copy/audit.jsonl
	agentbox log --verify ../copy
	[ "$status" -eq 0 ]
	printf '{"kind":' >>../copy/audit.jsonl
	agentbox log --verify ../copy
	[ "$status" -eq 1 ]
	[[ "$output" == *"broken at line 4 of audit.jsonl: it is not a record"* ]]
	# One run's record in the place of another's.
	cp "$(of "$one")" "$(of "$two")"
	agentbox log --verify --all
	[ "$status" -eq 1 ]
	[[ "$output" == *"it belongs to another run"*"1 of 2 records are whole"* ]]
}

@test "log: options that do not go together" {
	for words in '--dir . --all' '--dir . -f' '--dir . x' '--verify --denied' '--verify --stats' '--key x'; do
		agentbox log $words
		[ "$status" -eq 2 ]
	done
	agentbox log --dir none
	[ "$status" -eq 1 ]
	[[ "$output" == *"open none"* ]]
}

@test "verify: the end of a run whose broker was killed is repeated when its workspace is swept" {
	"$AGENTBOX" run -- sh -c 'touch ready; exec sleep 300' </dev/null >/dev/null 2>&1 3>&- &
	pid=$!
	wait_for 90 test -e ready
	pkill -KILL -P "$pid" -x agentbox-broker
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq 125 ]
	run=$(basename "$AGENTBOX_STATE"/live/*)
	agentbox log --verify --json "$run"
	[ "$status" -eq 0 ]
	jq -e '.state == "whole" and .swept == false' <<<"$output"
	agentbox log --verify "$run"
	[[ "$output" == *"(3 lines; the workspace was not swept at its end)" ]]

	agentbox run -- true
	[ "$(jq -c 'select(.kind == "end") | [.status, .swept]' "$(of "$run")" | tr '\n' ' ')" = "[125,false] [125,null] " ]
	agentbox log --verify --json "$run"
	[ "$status" -eq 0 ]
	jq -e '.state == "whole" and .lines == 4 and .swept == null' <<<"$output"
	# As a file, and in one with other runs.
	agentbox log --verify --json "$(of "$run")"
	jq -es 'map(.state) == ["whole"]' <<<"$output"
	"$AGENTBOX" log --all --json >all.jsonl
	agentbox log --verify --json ./all.jsonl
	jq -es 'map(.state) == ["whole", "whole"]' <<<"$output"

	# Somebody cuts the last one off, changes the first, or writes behind them.
	changed "$run" '$d'
	jq -e '.state == "whole" and .swept == false' <<<"$output"
	changed "$run" '3s/125/0/'
	[ "$status" -eq 1 ]
	jq -es 'any(.state == "broken")' <<<"$output"
	changed "$run" '$p'
	[ "$status" -eq 1 ]
	jq -es 'any(.state == "broken")' <<<"$output"
}
