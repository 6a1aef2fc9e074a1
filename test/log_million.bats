# A record of a million lines is counted correctly in bounded memory.
# unsanitized: the sanitizers need more memory than the test allows
load helpers

@test "log: a million lines are counted in memory that does not grow" {
	dir=$AGENTBOX_STATE/runs/aaaaa
	mkdir -p -m 700 "$dir"
	awk -v lines=1000000 -v hosts=5000 -v run=aaaaa -f "$ROOT/test/bench/log.awk" >"$dir/audit.jsonl"
	# All of its address space, the program itself included.
	run --separate-stderr bash -c 'ulimit -v 65536; exec timeout 240 "$@"' sh "$AGENTBOX" log --stats --json
	echo "$output" | head -c 1000
	echo "$stderr"
	[ "$status" -eq 0 ]
	jq -e '.records == 1000002 and .requests == 900000 and .denied == 300000 and
		.bytes_up == 90000000 and .bytes_down == 900000000 and .lost == 0' <<<"$output"
	# 4096 hosts have a row; the others are one.
	jq -e '(.hosts | length == 4097) and .hosts[-1].host == null and (.hosts | map(.requests) | add) == 900000' <<<"$output"
	run bash -c 'ulimit -v 65536; exec timeout 240 "$@" | tail -n 3' sh "$AGENTBOX" log --stats
	[[ "$output" == *"(others) are all hosts after the first 4096"* ]]
	run bash -c 'ulimit -v 131072; exec timeout 240 "$@"' sh "$AGENTBOX" log --html "$TEST_DIR/page.html"
	[ "$status" -eq 0 ]
	grep -q 'The newest 10000 of 1000000' "$TEST_DIR/page.html"
}
