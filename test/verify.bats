# once: a record is the same for every reader
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
	wait_for 60 eval 'grep -q assurance "$AGENTBOX_STATE"/live/*/audit.jsonl'
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

@test "log: options that do not go together" {
	for words in '--dir . --all' '--dir . -f' '--dir . x' '--verify --denied' '--verify --stats' '--key x'; do
		agentbox log $words
		[ "$status" -eq 2 ]
	done
	agentbox log --dir none
	[ "$status" -eq 1 ]
	[[ "$output" == *"open none"* ]]
}
