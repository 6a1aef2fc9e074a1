# The record of a run with many requests, for test/bench/log.sh and
# test/log.bats: awk -v lines=N -v hosts=N -v run=ID -f log.awk
#
# Every tenth line is a violation that stands for itself and two more; all
# others are requests with 100 bytes up and 1000 down.
function head(kind, i) {
	return sprintf("{\"timestamp\":\"2026-01-%02dT%02d:%02d:%02d.%03dZ\"," \
		"\"run_id\":\"%s\",\"kind\":\"%s\"", 1 + i / 86400000 % 28,
		i / 3600000 % 24, i / 60000 % 60, i / 1000 % 60, i % 1000, run, kind)
}
BEGIN {
	print head("start", 0) ",\"command\":[\"make\",\"test\"]," \
		"\"cwd\":\"/work\",\"policy\":{\"profile\":\"default\"}}"
	for (i = 1; i <= lines; i++) {
		host = "host" i % hosts ".example.org"
		if (i % 10 == 0)
			print head("violation", i) ",\"id\":\"" run "-" 1 + i % hosts \
				"\",\"domain\":\"" host "\",\"port\":443,\"path\":null," \
				"\"method\":null,\"status\":null,\"allowed\":false," \
				"\"rule\":\"network.allow\",\"whitelist_matched\":null," \
				"\"door\":\"connect\",\"sni\":null,\"address\":null," \
				"\"bytes_up\":0,\"bytes_down\":0,\"ms\":0," \
				"\"reason\":\"not on the allow list\",\"hint\":" \
				"\"agentbox run --allow " host " -- ...\",\"repeated\":2}"
		else
			print head("request", i) ",\"id\":null,\"domain\":\"" host \
				"\",\"port\":443,\"path\":\"/a/path/of/some/length\"," \
				"\"method\":\"GET\",\"status\":200,\"allowed\":true," \
				"\"rule\":\"network.allow\",\"whitelist_matched\":\"" host \
				"\",\"door\":\"connect\",\"sni\":null,\"address\":" \
				"\"192.0.2.7\",\"bytes_up\":100,\"bytes_down\":1000," \
				"\"ms\":12,\"intercepted\":true}"
	}
	print head("end", lines) ",\"status\":0,\"ms\":1000}"
}
