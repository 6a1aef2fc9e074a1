# Guarantees that a run reports: proved, required, and fallbacks.
# root-in-turn: root gives up capabilities that a user never had
load helpers

@test "assurance: -v names what was proved, in one line" {
	agentbox run -v -- true
	[ "$status" -eq 0 ]
	line=$(grep 'in force:' <<<"$output")
	[ "$(wc -l <<<"$line")" -eq 1 ]
	for name in user-ns pid-fence pid-view net-fence dns-fence write-fence \
		read-deny protected-names ipc-fence syscalls no-new-privs transparent; do
		[[ " $line " == *" $name "* ]]
	done
	# Without a door nothing is captured, so it is not claimed.
	agentbox run -v --net blocked -- true
	[[ "$output" != *transparent* ]]
}

@test "assurance: without -v a good run says nothing" {
	agentbox_split run -- echo out
	[ "$output" = out ]
	[ -z "$stderr" ]
}

@test "assurance: the record has the same properties" {
	agentbox run -v -- true
	line=$(sed -n 's/.*guarantees in force: //p' <<<"$output")
	record=$(find "$AGENTBOX_STATE/runs" -name audit.jsonl)
	holds=$(python3 -c '
import json, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["kind"] == "assurance":
        print(*r["holds"])' "$record")
	[ "$line" = "$holds" ]
}

@test "assurance: a required property that cannot hold stops the run" {
	agentbox run --net blocked --require transparent -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *transparent* ]]
	[[ "$output" == *"--fallback warn"* ]]
	[ ! -e made ]
	agentbox run --net allowed --require net-fence -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *net-fence* ]]
	[ ! -e made ]
	agentbox run --require write-fence,syscalls -- touch made
	[ "$status" -eq 0 ]
	[ -e made ]
}

@test "assurance: under warn it runs and says which property is missing" {
	agentbox run --net blocked --fallback warn --require transparent -- touch made
	[ "$status" -eq 0 ]
	[[ "$output" == *transparent* ]]
	[ -e made ]
	agentbox run -q --net blocked --fallback warn --require transparent -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *transparent* ]]
}

@test "assurance: the host's network is reported as such" {
	agentbox run -v --profile development -- true
	[ "$status" -eq 0 ]
	line=$(grep 'in force:' <<<"$output")
	[[ "$line" != *net-fence* ]]
	[[ "$line" != *dns-fence* ]]
	[[ "$line" == *write-fence* ]]
	agentbox run -v --net allowed -- true
	[[ "$output" == *"guarantees given up: net-fence (--net), dns-fence (--net)"* ]]
	agentbox run -v -- true
	[[ "$output" == *"in force: "*" net-fence dns-fence "* && "$output" != *"given up"* ]]
}

@test "assurance: an unknown property is refused and known ones are named" {
	agentbox run --require write-fense -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *write-fense* ]]
	[[ "$output" == *write-fence* ]]
	agentbox run --require zebra -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *zebra* ]]
	[[ "$output" == *net-fence* ]]
	[[ "$output" == *write-fence* ]]
	[ ! -e made ]
	agentbox run --require '' -- true
	[ "$status" -eq 125 ]
	agentbox run --fallback sometimes -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *strict* ]]
}

@test "assurance: every property that is proved can be required" {
	agentbox run -v -- true
	names=$(sed -n 's/.*guarantees in force: //p' <<<"$output")
	[ -n "$names" ]
	agentbox run --require "${names// /,}" -- true
	[ "$status" -eq 0 ]
}

@test "assurance: the profile ci says which limit the machine cannot hold, and starts without it" {
	[ -z "${AB_ENGINE:-}" ] || skip "ci wants the full engine"
	local limit lacks without
	for limit in "" "--memory 1G"; do
		lacks='' without=''
		if ! have_cgroup; then
			lacks=${limit:+'memory of the whole box'} without=${limit:+'--memory none'}
			# The kernel does not count root's.
			[ "$(id -u)" -ne 0 ] || lacks=processes${lacks:+, and $lacks} without="--processes none${without:+ $without}"
		fi
		agentbox run --profile ci $limit -- touch made
		if [ -n "$lacks" ]; then
			[ "$status" -eq 125 ]
			[ ! -e made ]
			[[ "$output" == *"missing guarantees: limits (not enforced: $lacks (no cgroup is delegated))"* ]]
			[[ "$output" == *" and none here: $without; to run without it, use --fallback warn"* ]]
			agentbox run --profile ci $limit $without -- touch made
		fi
		[ "$status" -eq 0 ]
		[ -z "$output" ]
		rm made
		# The other way out.
		agentbox run --profile ci $limit --fallback warn -- touch made
		[ "$status" -eq 0 ]
		[[ -z "$lacks" || "$output" == *"guarantees not in force: limits (not enforced: $lacks"* ]]
		rm made
	done
}

@test "assurance: the proof leaves the host as it was" {
	git init -q .
	echo '#!/bin/sh' >.git/hooks/pre-commit
	mkdir -p .vscode "$HOME/.ssh"
	echo key >"$HOME/.ssh/id_ed25519"
	before=$(host_snapshot "$HOME")
	agentbox run -v -- true
	[ "$status" -eq 0 ]
	[ "$(host_snapshot "$HOME")" = "$before" ]
	agentbox run --net blocked --fallback warn --require transparent,limits -- true
	[ "$(host_snapshot "$HOME")" = "$before" ]
	agentbox run --net blocked --require transparent -- true
	[ "$status" -eq 125 ]
	[ "$(host_snapshot "$HOME")" = "$before" ]
}

@test "assurance: the steps and what they took are said with -vv" {
	agentbox run -vv -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *" us  mounts"* ]]
	[[ "$output" == *"until the command starts"* ]]
}

@test "assurance: what the command sees agrees with what was said" {
	agentbox run -- sh -c '
		grep -E "^(NoNewPrivs|Seccomp|CapEff|CapBnd|CapPrm|CapInh|CapAmb):" /proc/self/status |
			tr -s "\t" " " | sort'
	[ "$output" = "CapAmb: 0000000000000000
CapBnd: 0000000000000000
CapEff: 0000000000000000
CapInh: 0000000000000000
CapPrm: 0000000000000000
NoNewPrivs: 1
Seccomp: 2" ]
}
