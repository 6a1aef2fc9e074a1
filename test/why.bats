# `agentbox why` repeats what a denial was about, and says what a person can do.
UNJUDGED=1
load helpers
load internet
load attack/attack

# record ID LINE...: a run that was never there.
record()
{
	local dir=$AGENTBOX_STATE/runs/$1

	shift
	mkdir -p -m 700 "$dir"
	printf '%s\n' "$@" >"$dir/audit.jsonl"
}

stamp='"timestamp":"2026-01-31T12:00:00.000Z","run_id":"aaaaa"'
start="{$stamp,\"kind\":\"start\",\"command\":[\"sh\",\"-c\",\"echo it's\"],\"cwd\":\"/work\",\"policy\":{\"profile\":\"default\",\"network\":{\"allow\":[\"x.test\",\"*.y.test\"],\"deny\":[\"z.test\"]},\"filesystem\":{\"write\":[\"/work\"]}}}"

@test "why: the same words as in the answer, and what can be done" {
	box_python --allow origin.test <<-'END'
	answer = ask("GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n")[0]
	say("refused", answer.status)
	print("body:", answer.body.decode().splitlines()[0])
	END
	[ "$status" -eq 0 ]
	body=$(sed -n 's/^body: //p' <<<"$output")
	[[ "$body" == "agentbox denied other.test:80: not on the allow list (rule network.allow, id "*-1")." ]]
	id=$(grep -o '[a-z0-9]*-1' <<<"$body")
	agentbox_split why "$id"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "${lines[0]}" = "$body" ]
	[[ "$output" == *"It was denied once, at 20"* ]]
	[[ "$output" == *"In this run network.allow contains origin.test (from --allow)."* ]]
	[[ "$output" == *"The client got HTTP status 403 with the sentence above."* ]]
	[[ "$output" == *"The run has ended: python3 "* ]]
	[[ "$output" == *"agentbox allow $id --always"* ]]
	# The command that is proposed does it.
	again=$(grep -o 'agentbox run --allow other.test -- python3 .*' <<<"$output")
	[ -n "$again" ]
	run inside sh -c "${again/agentbox/$AGENTBOX} 3>&-"
	echo "$output"
	[[ "$output" == *"refused: 200"* ]]
	# The last run was refused nothing, the one before it still was.
	agentbox why
	[ "$status" -eq 0 ]
	[[ "$output" == *"nothing was denied in the last run, "*": python3 "*"--trace-denials"* ]]
	agentbox why last
	[ "$status" -eq 1 ]
	agentbox why "${id%-1}"
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "$id"*"other.test:80  not on the allow list" ]]
}

@test "why: last is the last denial of the newest run" {
	box_python --allow origin.test <<-'END'
	say("one", forward("one.test"))
	say("two", forward("two.test"))
	END
	for words in '' last; do
		# shellcheck disable=SC2086
		agentbox why $words
		[ "$status" -eq 0 ]
		[[ "${lines[0]}" == "agentbox denied two.test:80: "* ]]
	done
	agentbox why
	[[ "$output" == *"2 things were denied in this run:"*"-1 "*"one.test:80"*"-2 "*"two.test:80"* ]]
	agentbox_split why --json last
	[ "$status" -eq 0 ]
	jq -e '.domain == "two.test" and .count == 1 and .live == false and .request.status == 403 and
		(.remedies | map(.how) | any(startswith("agentbox run --allow two.test -- python3 ")))' <<<"$output"
}

@test "why: a run that goes on can be told at once" {
	mkfifo go
	box_start run --allow origin.test -- sh -c 'curl -s http://other.test/ >/dev/null; read x <go'
	wait_for 90 eval 'grep -qs violation "$AGENTBOX_STATE"/live/*/audit.jsonl'
	agentbox why
	echo >go
	[ "$status" -eq 0 ]
	box_end
	id=$(ls "$AGENTBOX_STATE/runs")
	[[ "$output" == *"agentbox allow $id-1"* ]] || agentbox why "$id-1"
}

@test "why: who did it, how often, and what was answered" {
	record aaaaa "$start" \
		"{$stamp,\"kind\":\"violation\",\"id\":\"aaaaa-1\",\"domain\":\"q.test\",\"port\":443,\"allowed\":false,\"rule\":\"network.allow\",\"door\":\"socks\",\"reason\":\"not on the allow list\",\"hint\":\"agentbox run --allow q.test -- ...\",\"process\":[{\"pid\":7,\"exe\":\"/usr/bin/curl\",\"argv\":[\"curl\",\"q.test\"]},{\"pid\":3,\"exe\":\"/usr/bin/node\",\"argv\":[\"npm\",\"i\"]}]}" \
		"{${stamp/00:00/00:09},\"kind\":\"violation\",\"id\":\"aaaaa-1\",\"domain\":\"q.test\",\"port\":443,\"allowed\":false,\"rule\":\"network.allow\",\"door\":\"socks\",\"reason\":\"not on the allow list\",\"repeated\":4}" \
		"{$stamp,\"kind\":\"question\",\"id\":\"aaaaa-1\",\"domain\":\"q.test\",\"port\":443,\"answer\":\"timeout\",\"by\":\"timeout\",\"waiting\":1,\"ms\":60000,\"process\":[]}" \
		"{$stamp,\"kind\":\"violation\",\"id\":\"aaaaa-2\",\"domain\":\"z.test\",\"port\":443,\"allowed\":false,\"rule\":\"network.deny\",\"door\":\"dns\",\"reason\":\"on the deny list (z.test)\"}"
	TZ=UTC agentbox why aaaaa-1
	expect <<-'END'
	agentbox denied q.test:443: not on the allow list (rule network.allow, id aaaaa-1).

	It was denied 6 times, from 2026-01-31 12:00:00 to 2026-01-31 12:00:09.
	The process was curl q.test (pid 7, /usr/bin/curl),
	  started by npm i (pid 3, /usr/bin/node).
	In this run network.allow contains x.test, *.y.test (profile default).
	The client got SOCKS reply 2 (not allowed).
	agentbox asked about it: denied, nobody answered, after 1m.
	The run has ended: sh -c 'echo it'\''s'

	A human can:
	  allow it always:                       agentbox allow aaaaa-1 --always
	  allow it in this project:              agentbox allow aaaaa-1 --project
	  run it again (add its other options):  agentbox run --allow q.test -- sh -c 'echo it'\''s'
	END
	agentbox why aaaaa-2
	[ "$status" -eq 0 ]
	[[ "$output" == *"In this run network.deny contains z.test"* ]]
	[[ "$output" == *"the name does not exist"* ]]
	[[ "$output" != *"agentbox allow"* ]]
	[[ "${lines[-1]}" == "Deny rules override allow rules"*"network.deny"* ]]
}

@test "why: programs, files, and what was let through after a question" {
	record aaaaa "$start" \
		"{$stamp,\"kind\":\"exec\",\"id\":\"aaaaa-e1\",\"command\":\"git push --force\",\"path\":\"/usr/bin/git\",\"by\":\"node\",\"allowed\":false,\"decision\":\"escalated\",\"rule\":\"history-rewrite\",\"reason\":\"Rewrites history that others may have.\"}" \
		"{$stamp,\"kind\":\"violation\",\"id\":\"aaaaa-f1\",\"door\":\"file\",\"path\":\"/etc/x\",\"access\":\"write\",\"call\":\"openat\",\"allowed\":false,\"rule\":\"filesystem.write\",\"reason\":\"not in a writable folder\",\"hint\":\"agentbox run --write /etc/x -- ...\"}" \
		"{$stamp,\"kind\":\"question\",\"id\":\"aaaaa-1\",\"domain\":\"q.test\",\"port\":443,\"answer\":\"run\",\"by\":\"control\",\"waiting\":1,\"ms\":600,\"process\":[]}"
	agentbox why aaaaa-e1
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "agentbox denied git push --force: rewrites history that others may have (rule history-rewrite, id aaaaa-e1)." ]
	[[ "$output" == *"agentbox run --yes -- sh -c "* ]]
	[[ "$output" == *'agentbox config set commands.override.history-rewrite sandboxed'* ]]
	agentbox why aaaaa-f1
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "agentbox denied write /etc/x: not in a writable folder (rule filesystem.write, id aaaaa-f1)." ]
	[[ "$output" == *"In this run filesystem.write contains /work"* ]]
	[[ "$output" == *"allow it in the next run:"*"agentbox allow aaaaa-f1"* ]]
	agentbox why aaaaa-1
	[ "$status" -eq 0 ]
	[[ "$output" == "agentbox asked about q.test:443 (id aaaaa-1)."* ]]
	[[ "$output" == *"asked about it: allowed for this run from another terminal"* ]]
}

@test "why: what it proposes for a file is what works" {
	local door='"door":"file","allowed":false'

	mkdir "$HOME/cache"
	record aaaaa "$start" \
		"{$stamp,\"kind\":\"violation\",\"id\":\"aaaaa-f1\",$door,\"path\":\"$HOME/k\",\"access\":\"read\",\"rule\":\"filesystem.denyRead\",\"reason\":\"denied for reading\",\"hint\":\"agentbox run --deny-read '!$HOME/k' -- ...\"}" \
		"{$stamp,\"kind\":\"violation\",\"id\":\"aaaaa-f2\",$door,\"path\":\"$HOME/s\",\"access\":\"connect\",\"rule\":\"filesystem.unix\",\"reason\":\"a socket of the host\",\"hint\":\"agentbox run --allow-unix $HOME/s -- ...\"}" \
		"{$stamp,\"kind\":\"violation\",\"id\":\"aaaaa-f3\",$door,\"path\":\"$HOME/cache/x\",\"access\":\"write\",\"rule\":\"filesystem.write\",\"reason\":\"outside the writable folders\",\"hint\":\"agentbox run --write $HOME/cache -- ...\"}" \
		"{$stamp,\"kind\":\"violation\",\"id\":\"aaaaa-f4\",$door,\"path\":\"$HOME/new\",\"access\":\"write\",\"rule\":\"filesystem.write\",\"reason\":\"outside the writable folders\"}" \
		"{$stamp,\"kind\":\"violation\",\"id\":\"aaaaa-f5\",\"door\":\"call\",\"call\":\"unshare\",\"allowed\":false,\"rule\":\"syscalls\",\"reason\":\"a system call that is closed in the box\"}"
	for n in 1 2; do
		agentbox why "aaaaa-f$n"
		[[ "$output" != *"agentbox allow"* ]]
		[[ "$output" == *"run it again (add its other options):  agentbox run --"* ]]
		agentbox allow "aaaaa-f$n"
		[ "$status" -eq 1 ]
	done
	agentbox why aaaaa-f3
	[[ "$output" == *"agentbox allow aaaaa-f3"* ]]
	agentbox allow aaaaa-f3
	[ "$status" -eq 0 ]
	# The home folder is too much for one file.
	agentbox why aaaaa-f4
	[[ "$output" != *"agentbox allow aaaaa-f4"* ]]
	[[ "$output" == *"create it, then allow it in the next run:  agentbox allow $HOME/new" ]]
	: >"$HOME/new"
	agentbox allow "$HOME/new"
	[ "$status" -eq 0 ]
	agentbox why aaaaa-f5
	[ "${lines[-1]}" = "Nothing can lift it." ]
	agentbox_split why --json aaaaa-f5
	[ "$(jq -c '[.remedies, .advice]' <<<"$output")" = '[[],"nothing can lift it"]' ]
}

@test "why: a record of which a part is lost" {
	record aaaaa "$start" \
		"{$stamp,\"kind\":\"request\",\"id\":\"aaaaa-1\",\"domain\":\"q.test\",\"port\":443,\"status\":403,\"allowed\":false,\"rule\":\"network.allow\"}" \
		"{$stamp,\"kind\":\"request\",\"id\":\"aaaaa-2\",\"domain\":\"r.test\",\"port\":443,\"status\":200,\"allowed\":true}"
	agentbox why aaaaa-1
	[ "$status" -eq 0 ]
	[[ "$output" == "agentbox denied q.test:443"* ]]
	agentbox why aaaaa-2
	[ "$status" -eq 0 ]
	[[ "$output" == "agentbox has a record of r.test:443 (id aaaaa-2)."* ]]
	[[ "$output" != *"A human can"* ]]
	for n in 1 2; do
		agentbox_split why --json "aaaaa-$n"
		[ "$(jq -r .id <<<"$output")" = "aaaaa-$n" ]
	done
}

@test "why: a host that a run was denied is told with the id of the denial, and is allowed by it" {
	local line='"kind":"violation","allowed":false,"reason":"r"'

	record aaaaa "$start" \
		"{$stamp,$line,\"id\":\"aaaaa-1\",\"domain\":\"q.test\",\"port\":443,\"rule\":\"network.allow\"}" \
		"{$stamp,$line,\"id\":\"aaaaa-2\",\"domain\":\"z.test\",\"port\":8080,\"rule\":\"network.allow\"}" \
		"{$stamp,$line,\"id\":\"aaaaa-3\",\"domain\":\"t.test\",\"port\":443,\"rule\":\"tls-name\"}" \
		"{$stamp,$line,\"id\":\"aaaaa-4\",\"domain\":\"sub.x.test\",\"port\":443,\"rule\":\"network.allow\"}"
	agentbox why q.test
	[ "$status" -eq 0 ]
	[[ "$output" == *"A run was denied it; for details: agentbox why aaaaa-1"* ]]
	[[ "$output" == *"agentbox allow aaaaa-1 --project"*"agentbox allow aaaaa-1 --always"* ]]
	[[ "$output" != *"agentbox allow q.test"* ]]
	agentbox_split why --json q.test:443
	[ "$(jq -r '.answers[0].denial' <<<"$output")" = aaaaa-1 ]
	# What is allowed is what was asked about: another port, or a denial that nothing lifts, is not it.
	agentbox why z.test:8080
	[[ "$output" == *"agentbox allow aaaaa-2 --always"* ]]
	for what in z.test q.test:8080 t.test sub.y.test; do
		agentbox why "$what"
		[ "$status" -eq 0 ]
		[[ "$output" != *aaaaa* ]]
		# No command to copy: a box could have printed it.
		[[ "$output" != *"agentbox allow"* ]]
		[[ "$output" == *"No run was denied access to it"*"pass its name to allow with --always"* ]]
	done
	agentbox allow aaaaa-1 --always
	[ "$status" -eq 0 ]
	agentbox why q.test
	[[ "$output" == "q.test is allowed"* ]]
	[[ "$output" != *aaaaa* ]]
}

@test "why: a path that a run was denied is told with the id of the denial, if that would lift it" {
	local id line='"kind":"violation","allowed":false,"reason":"r","rule":"filesystem.write"'

	readonly_home
	mkdir "$HOME/data" "$HOME/other"
	agentbox run --trace-denials -- touch "$HOME/data/x"
	id=$(ls "$AGENTBOX_STATE/runs")-f1
	agentbox why --write "$HOME/data/x"
	[[ "$output" == *"A run was denied it; for details: agentbox why $id"*"agentbox allow $id --always"* ]]
	# What does not exist becomes writable with its folder, and not at all without one.
	run sh -c "$AGENTBOX run $(sed -n 's/.*agentbox run \(.*\) -- \.\.\./\1/p' <<<"$output") -- touch '$HOME/data/x'"
	[ "$status" -eq 0 ]
	rm "$HOME/data/x"
	agentbox why --write "$HOME/data/none/x"
	[[ "$output" == *"cannot be written"* && "$output" != *"agentbox run"* ]]
	# Another path, and a denial that its id does not lift.
	record aaaaa "$start" "{$stamp,$line,\"id\":\"aaaaa-f1\",\"path\":\"$HOME/other\"}"
	for path in data other; do
		agentbox why --write "$HOME/$path"
		[[ "$output" != *"$id"* && "$output" != *aaaaa* && "$output" == *"No run was denied access to it"* ]]
	done
	agentbox allow "$id" --always
	[ "$status" -eq 0 ]
	agentbox why --write "$HOME/data/x"
	[[ "$output" == *"can be written"* ]]
}

@test "why: a question that waits, and a no that can be taken back" {
	mkfifo go
	box_start run --unknown ask -- sh -c 'curl -s http://other.test/; read x <go; curl -s http://other.test/'
	wait_for 90 grep -q 'needs your approval' "$TEST_DIR/box.err"
	id=$(run_id)
	agentbox why "$id-1"
	[ "$status" -eq 0 ]
	[[ "$output" == "agentbox asks about other.test:80 (id $id-1)."* ]]
	[[ "$output" == *"It is waiting for an answer, and is denied in "*" s without one"* ]]
	[[ "$output" == *"agentbox allow $id-1"*"agentbox deny $id-1" ]]
	agentbox_split why --json "$id-1"
	jq -e '.live and .question.domain == "other.test" and .question.left_ms > 0 and (.remedies | length) == 4' <<<"$output"
	agentbox why "$id-7"
	[ "$status" -eq 1 ]
	agentbox deny "$id-1"
	wait_for 90 grep -q 'rule grant' "$TEST_DIR/box.out"
	agentbox why last
	# The question and the denial that it became are one.
	[[ "$output" == *"rule grant, id $id-1)"*"asked about it: denied"*"allow it in this run:      agentbox allow $id-1"* ]]
	agentbox allow "$id-1"
	[ "$status" -eq 0 ]
	echo >go
	box_end
	grep -q '^hello other.test' "$TEST_DIR/box.out"
}

@test "why: an id that is not there, and a run that is not" {
	record aaaaa "$start" \
		"{$stamp,\"kind\":\"violation\",\"id\":\"aaaaa-1\",\"domain\":\"q.test\",\"port\":443,\"allowed\":false,\"reason\":\"r\"}" \
		"{$stamp,\"kind\":\"exec\",\"id\":\"aaaaa-e1\",\"command\":\"x\",\"allowed\":false}"
	agentbox why aaaaa-9
	[ "$status" -eq 1 ]
	[[ "$output" == *"run aaaaa has no denial aaaaa-9"*"its denials: aaaaa-1, aaaaa-e1"* ]]
	agentbox why bbbbb-1
	[ "$status" -eq 1 ]
	[[ "$output" == *"no run named bbbbb"*"latest: aaaaa"* ]]
	agentbox log aaaaa-1
	[ "$status" -eq 1 ]
	[[ "$output" == *"aaaaa-1 is a denial; to see it: agentbox why aaaaa-1" ]]
	agentbox why a b
	[ "$status" -eq 2 ]
	record ccccc "${start//aaaaa/ccccc}"
	agentbox why ccccc
	[ "$status" -eq 0 ]
	[ "$output" = "nothing was denied in run ccccc" ]
	agentbox_split why --json aaaaa
	jq -e '.count == 2 and (.denials | map(.id)) == ["aaaaa-1", "aaaaa-e1"]' <<<"$output"
}

@test "why: a command that was refused as a whole" {
	rm "$HOME/.config/agentbox/config.json"
	agentbox run -- rm -rf /
	[ "$status" -eq 126 ]
	id=$(ls "$AGENTBOX_STATE/runs")
	for words in "$id" last; do
		agentbox why "$words"
		[ "$status" -eq 0 ]
		[[ "${lines[0]}" == "agentbox refused to run rm -rf /: "*"(rule "*")." ]]
		[[ "$output" == *"It was refused before it started, at "* ]]
	done
	agentbox why "$id-1"
	[ "$status" -eq 1 ]
	[[ "$output" == *"its command was refused and did not start: agentbox why $id" ]]
	agentbox_split why --json "$id"
	jq -e '.kind == "refused" and .allowed == false' <<<"$output"
	agentbox log
	[[ "$output" == *"  refused  rm -rf /  "* ]]
}

@test "why: nothing hidden is shown, and no command is proposed that would be another" {
	record aaaaa "{$stamp,\"kind\":\"start\",\"command\":[\"sh\",\"\\u001b[2J\\u202ex\"],\"policy\":{\"profile\":\"\\u001b\",\"network\":{\"allow\":[\"\\u001b[1m\"]}}}" \
		"{$stamp,\"kind\":\"violation\",\"id\":\"aaaaa-1\",\"domain\":\"q\\u001b\\u0007\",\"port\":443,\"allowed\":false,\"rule\":\"network.allow\",\"door\":\"http\",\"reason\":\"\\u202e\",\"hint\":\"agentbox run --allow q -- ...\",\"process\":[{\"pid\":7,\"exe\":\"/\\u001b\",\"argv\":[\"\\u009b\"]}]}"
	agentbox why aaaaa-1
	[ "$status" -eq 0 ]
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae|\xc2\x9b' <<<"$output" || false
	[[ "$output" == *"agentbox run --allow q -- ..." ]]
	agentbox why aaaaa
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' <<<"$output" || false
	agentbox_split why --json aaaaa-1
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f\x80-\xff]' <<<"$output" || false
}

@test "why: a rule is traced to the file or the option that it comes from" {
	mkdir -p "$HOME/.config/agentbox"
	printf '{\n "network": {\n  "unknown": "deny",\n  "deny": ["origin.test"]\n }\n}\n' \
		>"$HOME/.config/agentbox/config.json"
	agentbox_split run --deny allowed.test -- curl -s -o /dev/null http://origin.test/
	agentbox_split why
	echo "$output"
	[[ "$output" == *"In this run network.deny contains "*"origin.test"*"(from "*"/.config/agentbox/config.json:4 and --deny)."* || \
		"$output" == *"(from --deny and "*"/.config/agentbox/config.json:4)."* ]]
	[[ "$output" == *"The entry that denied it is from ~/.config/agentbox/config.json:4."* ]]
	[[ "$output" == *"agentbox deny origin.test --undo"* ]]
	agentbox_split run -- curl -s -o /dev/null http://origin.test/
	[[ "$stderr" == *"~/.config/agentbox/config.json:4 denies it; to take that back: agentbox deny origin.test --undo"* ]]
	# Nothing that the entry overrides is promised.
	agentbox_split allow origin.test --project
	[[ "$output" == *"origin.test was added to network.allow of"* && "$output" != *"from now on"* ]]
	[[ "$stderr" == *"it has no effect: origin.test is in network.deny"*"agentbox deny origin.test --undo"* ]]
	agentbox_split allow origin.test --project --undo
	# One entry has one origin, in the report and the record, too; an option is in no file.
	agentbox_split run --deny allowed.test -- curl -s -o /dev/null http://allowed.test/
	[[ "$stderr" == *"remove allowed.test from network.deny (--deny)"* ]]
	agentbox_split why
	[[ "$output" == *"The entry that denied it is from --deny."*"without the option that denies it"* ]]
	agentbox_split why --json
	jq -e '.from == "--deny"' <<<"$output"
	[ "$(cat "$AGENTBOX_STATE"/runs/*/audit.jsonl | jq -r 'select(.kind == "violation") | .from' | sort | tr '\n' ' ')" = \
		"--deny ~/.config/agentbox/config.json:4 ~/.config/agentbox/config.json:4 " ]
	# The advice, followed literally.
	agentbox_split deny origin.test --undo
	[ "$status" -eq 0 ]
	agentbox_split run --allow origin.test -- curl -s http://origin.test/
	[ "$status" -eq 0 ]
	[[ "$output" == *origin.test* && -z "$stderr" ]]
	rm "$HOME/.config/agentbox/config.json"
	# What nobody set is from the profile.
	agentbox_split run --unknown deny -- curl -s -o /dev/null http://other.test/
	agentbox_split why
	[[ "$output" == *"(profile default)."* ]]
}

# policy JQ VALUE ARG...: that part of the first answers from the settings is exactly this.
policy()
{
	local filter=$1 want=$2 got
	shift 2

	agentbox_split why --json "$@"
	[ "$status" -eq 0 ] || return 1
	got=$(jq -c "$filter" <<<"$output")
	[ "$got" = "$want" ] && return 0
	echo "$filter: $got, not $want"
	return 1
}

@test "why: hosts are answered from the settings, with the entry and its place" {
	local file="~/.config/agentbox/config.json" one='[.answers[] | [.access, .rule, .entry, .from]]'
	mkdir -p "$HOME/.config/agentbox"
	printf '{ "network": {\n"allow": ["github.com", "p.test:8080"],\n"deny": ["ads.test"] } }' \
		>"$HOME/.config/agentbox/config.json"
	policy "$one" "[[\"allow\",\"network.allow\",\"github.com\",\"$file:2\"]]" github.com
	policy "$one" "[[\"deny\",\"network.deny\",\"ads.test\",\"$file:3\"]]" ads.test:8080
	policy "$one" '[["ask","network.unknown","ask","profile default"]]' other.test
	policy "$one" "[[\"allow\",\"network.allow\",\"p.test:8080\",\"$file:2\"]]" p.test:8080
	policy "$one" '[["deny","network.mode","blocked","profile ci"]]' --profile ci github.com
	policy '.answers[0].access' '"deny"' 10.1.2.3
	agentbox why other.test
	[[ "$output" == *"agentbox run --allow other.test -- ..."*"No run was denied access to it"* ]]
	[[ "$output" != *"with its group"* && "$output" != *"agentbox allow"* ]]
	agentbox why repo.maven.apache.org
	[[ "$output" == *"in one run, with its group:  agentbox run --allow @maven -- ..."* ]]
	agentbox why ads.test
	[[ "$output" == *"agentbox deny ads.test --undo"* ]]
	# What it says is what a run does.
	agentbox allow other.test --always
	policy '.answers[0].access' '"allow"' other.test
	: >other.test
	agentbox why other.test
	[ "$status" -eq 0 ]
	[[ "$output" == *"$PWD/other.test"*"about the host of that name: agentbox why other.test." ]]
	policy '[.about, .notes]' '["path",["about the host of that name: agentbox why other.test."]]' other.test
	policy .about '"host"' other.test.
	policy .about '"path"' ./other.test
	agentbox why '*.test'
	[ "$status" -eq 2 ]
	agentbox why nosuchrun
	[ "$status" -eq 1 ]
	[[ "$output" == *"no run named nosuchrun"*"agentbox why -- nosuchrun"* ]]
}

@test "why: paths and commands are answered from the settings, as a run treats them" {
	local both='[.answers[] | [.subject, .access, .rule]]' hint
	mkdir -p "$HOME/.config/agentbox" "$HOME/.ssh" && : >"$HOME/.ssh/id_x"
	echo '{ "commands": { "rules": [{ "prefix": ["make", "deploy"], "decision": "forbidden" }] } }' \
		>"$HOME/.config/agentbox/config.json"
	policy "$both" '[["read","deny","filesystem.denyRead"],["write","deny","filesystem.denyRead"]]' '~/.ssh/id_x'
	policy '.answers[0] | [.entry, .from]' "[\"$HOME/.ssh/*\",\"profile default\"]" --read "$HOME/.ssh/id_x"
	# Keys of gpg are not lent: how commits are signed is told, and only there.
	mkdir -m 700 "$HOME/.gnupg"
	policy '.answers[0].advice | test("ssh.*sign.*git.*gpg.format ssh")' true --read '~/.gnupg/S.gpg-agent'
	policy '.answers[0].advice' null --read '~/.ssh/id_x'
	policy "$both" '[["read","allow",null],["write","allow","filesystem.write"]]' ./new
	policy "$both" '[["read","allow",null],["write","deny","filesystem.denyWrite"]]' .envrc
	policy "$both" '[["write","deny","filesystem.write"]]' --write /etc/hosts
	agentbox why --write /etc/hosts
	[[ "$output" == *"No run was denied access to it"* && "$output" != *"agentbox allow"* ]]
	policy "$both" '[["write","allow",null]]' --write '~/x'
	policy "$both" '[["read","deny",null],["write","allow",null]]' /tmp/x
	agentbox why --write .envrc
	hint=$(sed -n "s/.*agentbox run \(--deny-write '.*'\) -- .../\1/p" <<<"$output")
	[ -n "$hint" ]
	run sh -c "$AGENTBOX run $hint -- touch .envrc && test -e .envrc"
	[ "$status" -eq 0 ]
	policy '[.answers[0] | .access, .rule, .from]' '["deny","commands.rules","~/.config/agentbox/config.json:1"]' \
		'make deploy now'
	policy '[.answers[0] | .access, .rule, .from]' '["ask","git-publish","a built-in rule"]' -- git push
	agentbox why 'rm -rf /'
	[ "$status" -eq 0 ]
	[[ "$output" == "rm -rf /: forbidden (rule recursive-delete-root)"*"exit status 126."* ]]
	agentbox why --read
	[ "$status" -eq 2 ]
	agentbox why -- true >/dev/null
	# Nothing of it is a run.
	[ "$(ls "$AGENTBOX_STATE/runs" | wc -l)" -eq 1 ]
	agentbox why $'/x\e[31m\u202ey'
	[ "$status" -eq 0 ]
	[[ "$output" != *$'\e'* && "$output" != *$'\u202e'* ]]
}
