# Every request is recorded, and a denial has the same id everywhere.
UNJUDGED=1
load helpers
load internet
load attack/attack

@test "records: each request has its line, with who, what, how much and how long" {
	box_python --allow origin.test --allow wire.test:7 <<-'END'
	say("forward", forward("origin.test", path="/bytes/1000?token=hidden"))
	sock = to_proxy()
	for n in range(2):
	    ask("POST http://origin.test/kept HTTP/1.1\r\nHost: origin.test\r\nContent-Length: 10\r\n\r\n0123456789", sock)
	for door, sock in tunnels("wire.test", 7):
	    sock.sendall(b"x" * 5000)
	    sock.shutdown(socket.SHUT_WR)
	    say(door, len(sock.makefile("rb").read()))
	say("direct", direct("origin.test"))
	say("tunnelled http", ask("GET /tunnelled?x HTTP/1.1\r\nHost: origin.test\r\n\r\n", connect_to("origin.test", 80)[1])[0].status)
	END
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	jq -e . "$(audit_file)" >/dev/null
	output=$(audit 'select(.kind == "request") |
		[.door, .domain, .port, .method // "", .path // "", .status // 0, .allowed] | @tsv' | sort)
	echo "$output"
	[ "$(grep -c . <<<"$output")" -eq 8 ]
	grep -qP '^http\torigin.test\t80\tGET\t/bytes/1000\t200\ttrue$' <<<"$output"
	[ "$(grep -cP '^http\torigin.test\t80\tPOST\t/kept\t200\ttrue$' <<<"$output")" -eq 2 ]
	grep -qP '^connect\twire.test\t7\tCONNECT\t.*\ttrue$' <<<"$output"
	grep -qP '^socks\twire.test\t7\t.*\ttrue$' <<<"$output"
	grep -qP '^transparent\twire.test\t7\t.*\ttrue$' <<<"$output"
	grep -qP '^transparent\torigin.test\t80\tGET\t/\t200\ttrue$' <<<"$output"
	grep -qP '^connect\torigin.test\t80\tGET\t/tunnelled\t200\ttrue$' <<<"$output"
	# Bytes and addresses are those of the wire.
	[ "$(audit 'select(.domain == "wire.test") | "\(.bytes_up) \(.bytes_down) \(.address)"' | sort -u)" = \
		"5000 5000 203.0.113.50" ]
	[ "$(audit 'select(.path == "/bytes/1000") | .bytes_down >= 1000')" = true ]
	[ "$(audit 'select(.path == "/kept") | .bytes_up >= 10' | sort -u)" = true ]
	[ "$(audit 'select(.kind == "request") | .ms | type' | sort -u)" = number ]
	[ "$(audit 'select(.kind == "request") | .timestamp | test("^20[0-9-]+T[0-9:.]+Z$")' | sort -u)" = true ]
	[ "$(audit '.run_id' | sort -u | wc -l)" -eq 1 ]
	[ "$(audit 'select(.kind == "request") | .rule' | sort -u | tr '\n' ' ')" = "network.allow " ]
	[ "$(audit 'select(.kind == "request") | .whitelist_matched' | sort -u | tr '\n' ' ')" = "origin.test wire.test:7 " ]
	# What follows a question mark may be a secret.
	run ! grep -q hidden "$(audit_file)"
	[ "$(stat -c %a "$(audit_file)")" = 600 ]
}

@test "records: a tunnel in which no request was completed is one" {
	box_python --allow origin.test --allow wire.test:7 --allow git.test <<-'END'
	# A word goes ahead of what it may become.
	for door, sock in tunnels("wire.test", 7):
	    sock.sendall(b"x" * 5000)
	    say(door, len(sock.recv(5000, socket.MSG_WAITALL)))
	    sock.sendall(b" /half HTTP/1.1\r\n")
	    time.sleep(0.2)
	    sock.close()
	# The server speaks first.
	for door, sock in tunnels("git.test", 22):
	    say(door, sock.recv(3, socket.MSG_WAITALL))
	    sock.sendall(b"GET / HTTP/1.1\r\n")
	    time.sleep(0.2)
	    sock.close()
	for door, sock in tunnels("origin.test", 80):
	    sock.sendall(b"GET / HTTP/1.1\r\n")
	    time.sleep(0.2)
	    sock.close()
	END
	[ "$status" -eq 0 ]
	[ "$(audit 'select(.kind == "request") | .domain' | sort | uniq -c | xargs)" = \
		"3 git.test 3 origin.test 3 wire.test" ]
	[ "$(audit 'select(.domain == "wire.test") | "\(.bytes_up) \(.bytes_down)"' | sort -u)" = "5000 5000" ]
	[ "$(audit 'select(.domain == "git.test") | .bytes_down > 8' | sort -u)" = true ]
}

@test "records: a denial has one id, in the answer, on record and at the end" {
	box_python --allow allowed.test <<-'END'
	first = ask("GET http://other.test/a?b HTTP/1.1\r\nHost: other.test\r\n\r\n")[0]
	again = ask("GET http://other.test/c HTTP/1.1\r\nHost: other.test\r\n\r\n")[0]
	tunnel = connect_to("other.test", 443)[0]
	say("ids", "%s %s %s" % (first.id(), again.id(), tunnel.id()))
	say("socks", socks("second.test", 22))
	say("direct", direct("203.0.113.20"))
	say("port", connect("allowed.test", 8443))
	say("dns", lookup("tunnel.evil.test"))
	END
	[ "$status" -eq 0 ]
	local first again tunnel run
	read -r _ first again tunnel <<<"${lines[0]}"
	[ "$first" = "$again" ]
	[ "$first" != "$tunnel" ]
	run=$(audit .run_id | head -n 1)
	[[ "$first" == "$run-"* && "$tunnel" == "$run-"* ]]
	# On record: a violation at once, and a request for what asked.
	audit 'select(.kind == "violation") | [.id, .door, .domain, .port // 0, .allowed, .rule, .hint // ""] | @tsv'
	[ "$(audit "select(.kind == \"violation\" and .domain == \"other.test\" and .port == 80) | .id" | sort -u)" = "$first" ]
	[ "$(audit "select(.kind == \"violation\" and .domain == \"other.test\" and .port == 443) | .id" | sort -u)" = "$tunnel" ]
	[ "$(audit 'select(.kind == "violation") | .allowed' | sort -u)" = false ]
	[[ "$(audit "select(.kind == \"violation\" and .id == \"$first\") | .hint" | head -n 1)" == *"--allow other.test"* ]]
	[[ "$(audit 'select(.kind == "violation" and .domain == "allowed.test") | .hint')" == *"--allow allowed.test:8443"* ]]
	[ -n "$(audit 'select(.kind == "violation" and .domain == "203.0.113.20") | .id')" ]
	[ -n "$(audit 'select(.kind == "violation" and .domain == "tunnel.evil.test" and .door == "dns") | .id')" ]
	[ -n "$(audit 'select(.kind == "violation" and .domain == "second.test" and .port == 22 and .door == "socks") | .id')" ]
	# The status is what was said in HTTP, if anything was.
	[ "$(audit 'select(.kind == "request") | "\(.door) \(.status)"' | sort -u | tr '\n' ';')" = \
		"connect 403;dns null;http 403;socks null;transparent null;" ]
	# At the end: each id once, with its host, and how to allow it.
	[[ "$stderr" == "agentbox: "*"denied"* ]]
	local id
	for id in $(audit 'select(.kind == "violation") | .id' | sort -u); do
		[ "$(grep -c "^  $id " <<<"$stderr")" -eq 1 ]
	done
	[[ "$stderr" == *"$first  other.test:80 "*"not on the allow list"* ]]
	[[ "$stderr" == *"agentbox run --allow other.test"* ]]
}

@test "records: every line has every key, and the end sums them up" {
	box_python --allow origin.test --allow refused.test <<-'END'
	forward("origin.test"), direct("origin.test"), forward("refused.test"), socks("refused.test")
	forward("second.test"), connect("second.test"), direct("203.0.113.20"), lookup("evil.test"), udp("8.8.8.8", 443)
	END
	[ "$status" -eq 0 ]
	local keys='["address","allowed","bytes_down","bytes_up","domain","door","id","kind","method","ms","path","port","rule","run_id","sni","status","timestamp","whitelist_matched"]'
	[ "$(audit "select(.kind == \"request\" or .kind == \"violation\") | $keys - keys" -c | sort -u)" = "[]" ]
	[ "$(audit 'select(.kind == "request") | [.allowed, .error != null]' -c | sort | uniq -c | tr -s ' ' | tr '\n' ';')" = \
		" 4 [false,false]; 2 [true,false]; 2 [true,true];" ]
	[ "$(audit 'select(.kind == "end") | [.requests_allowed, .requests_denied, .requests_failed]' -c)" = "[2,4,2]" ]
	[ "$(jq -s 'map(select(.kind == "request") | .bytes_down) | add' "$(audit_file)")" = "$(audit 'select(.kind == "end") | .bytes_down')" ]
	[[ "$stderr" == "agentbox: 4 requests and 1 packet were denied"* ]]
}

@test "records: a flood of equal denials is counted, not written" {
	local minute

	minute=$(this_minute)
	box_python --allow allowed.test <<-'END'
	for n in range(250):
	    forward("other.test")
	for n in range(20):
	    forward("host%d.test" % n)
	END
	[ "$status" -eq 0 ]
	[ "$(jq -s 'map(select(.kind == "violation" and .domain == "other.test") | 1 + (.repeated // 0)) | add' \
		"$(audit_file)")" -eq 250 ]
	# A hundred a minute, and the number of the others.
	[ "$(audit 'select(.kind == "violation" and .domain == "other.test") | .id' | wc -l)" -le \
		$((102 * ($(this_minute) - minute + 1))) ]
	[[ "$stderr" == *"agentbox: 270 requests were denied"* ]]
	[[ "$stderr" == *"other.test:80"*"250 times"* ]]
	[[ "$stderr" == *"and 11 more"* ]]
}

@test "records: nothing from the box is printed or kept as it came" {
	box_python --allow allowed.test <<-'END'
	for name in (b"evil\x1b[31m.test", b"a\nagentbox: all is well\n", b"\xff\xfe", b'"},{"x":"'):
	    text = name.decode("latin-1")
	    statuses("CONNECT %s:443 HTTP/1.1\r\n\r\n" % text)
	    statuses("GET http://%s/\x1b[2J HTTP/1.1\r\n\r\n" % text)
	    statuses("GET http://allowed.test/\x9b%s HTTP/1.1\r\nHost: %s\r\n\r\n" % (text, text))
	    socks(name)
	    lookup(bytes([len(name)]) + name + b"\0")
	print(forward("allowed.test"))
	END
	[ "$status" -eq 0 ]
	[ "$output" = 200 ]
	jq -e . "$(audit_file)" >/dev/null
	[ -z "$(LC_ALL=C grep -P '[\x00-\x08\x0b-\x1f\x7f-\xff]' "$(audit_file)")" ]
	[ -z "$(LC_ALL=C grep -P '[\x00-\x08\x0b-\x1f\x7f-\xff]' <<<"$stderr")" ]
	run ! grep -q '^agentbox: all is well' <<<"$stderr"
}

@test "records: the same lines go where the caller says" {
	agentbox_split run --allow origin.test --audit "$TEST_DIR/mine" -- curl -sS -o out http://origin.test/
	[ "$status" -eq 0 ]
	[ "$(jq -r 'select(.kind == "request") | .domain' "$TEST_DIR/mine")" = origin.test ]
	[ "$(stat -c %a "$TEST_DIR/mine")" = 600 ]
	# By descriptor.
	exec 8>"$TEST_DIR/other"
	agentbox_split run --allow origin.test --audit 8 -- curl -sS -o out http://origin.test/
	exec 8>&-
	[ "$status" -eq 0 ]
	[ "$(jq -r 'select(.kind == "request") | .domain' "$TEST_DIR/other")" = origin.test ]
	# Not through a link, and not where it cannot be written.
	ln -s target "$TEST_DIR/link"
	agentbox_split run --audit "$TEST_DIR/link" -- touch started
	[ "$status" -eq 125 ]
	[ ! -e "$TEST_DIR/target" ]
	agentbox_split run --audit /dev/full -- touch started
	[ "$status" -eq 125 ]
	agentbox_split run --audit /no/such/folder/file -- touch started
	[ "$status" -eq 125 ]
	[ ! -e started ]
}

@test "records: the environment names the doors, and no others" {
	agentbox_split run --allow origin.test --env CI=1 -- env
	[ "$status" -eq 0 ]
	local at
	at=$(sed -n 's|^http_proxy=http://||p' <<<"$output")
	[[ "$at" =~ ^127\.0\.0\.1:[0-9]+/?$ ]]
	at=${at%/}
	for name in HTTP_PROXY HTTPS_PROXY FTP_PROXY http_proxy https_proxy ftp_proxy; do
		grep -qxE "$name=http://$at/?" <<<"$output"
	done
	grep -qxE "ALL_PROXY=socks5h://$at/?" <<<"$output"
	grep -qxE "all_proxy=socks5h://$at/?" <<<"$output"
	grep -qx 'NO_PROXY=localhost,127.0.0.1,::1' <<<"$output"
	grep -qx 'no_proxy=localhost,127.0.0.1,::1' <<<"$output"
	grep -qx 'SANDBOX_RUNTIME=1' <<<"$output"
	run ! grep -qE '^(SSL_CERT|NODE_EXTRA_CA|GIT_SSH_COMMAND)' <<<"$output"
	# The caller's own proxy settings stay outside.
	HTTPS_PROXY=http://proxy.test:3128 NO_PROXY=* agentbox_split run --allow origin.test -- env
	grep -qxE "HTTPS_PROXY=http://$at/?|HTTPS_PROXY=http://127.0.0.1:[0-9]+/?" <<<"$output"
	[[ "$output" != *proxy.test* ]]
}

@test "records: the run says that the network is captured" {
	agentbox_split run -v --require net-fence,dns-fence,transparent --allow origin.test -- true
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"in force: "*net-fence*dns-fence*transparent* ]]
	[ "$(audit 'select(.kind == "assurance") | .holds | index("transparent") != null')" = true ]
	agentbox_split run -v --net allowed --fallback warn -- true
	run ! grep -q 'in force:.*net-fence' <<<"$stderr"
	[[ "$stderr" == *"given up: net-fence (--net)"* ]]
}
