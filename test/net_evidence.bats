# no-namespaces: connections reach the proxy in another way there
# The record tells the truth: what left, why something was denied, and under which id.
UNJUDGED=1
load helpers
load internet
load attack/attack

fetch='curl -s -o /dev/null -w %{http_code} --max-time 200'

@test "evidence: what leaves in heads is in the record, the totals and the statistics" {
	{ printf 'X-A: ' && head -c 6000 /dev/zero | tr '\0' a; } >head
	agentbox_split run -v --allow origin.test -c \
		"for i in 1 2 3 4 5; do $fetch -H @head http://origin.test/\$i; done"
	[ "$output" = 200200200200200 ]
	[ "$(audit 'select(.kind == "request") | .bytes_up > 6000 and .bytes_up < 6500' | sort -u)" = true ]
	[ "$(audit 'select(.kind == "request") | .bytes_down > 50' | sort -u)" = true ]
	[ "$(audit 'select(.kind == "end") | .bytes_up > 30000 and .bytes_up < 33000')" = true ]
	# The same totals at the end, for those who ask.
	[[ "$stderr" == *"network: 5 requests allowed, 0 denied, 0 failed; "*" sent, "*" received"* ]]
	agentbox_split run -v --allow origin.test -c "$fetch http://origin.test/"
	[[ "$stderr" == *"network: 1 request allowed, 0 denied, 0 failed; "* ]]
	agentbox_split run --allow origin.test -c "$fetch http://origin.test/"
	[ -z "$stderr" ]
}

@test "evidence: each request has its own reason, and its own id if the words differ" {
	echo '{"network":{"allow":["origin.test"],"http":[{"host":"origin.test","methods":["GET"],"paths":["/ok"]}]}}' >"$TEST_DIR/h.json"
	agentbox_split run --config "$TEST_DIR/h.json" -c \
		"$fetch http://origin.test/a; $fetch -X DELETE http://origin.test/ok; $fetch http://origin.test/a; $fetch http://origin.test/ok"
	[ "$output" = 403403403200 ]
	audit 'select(.kind == "violation") | "\(.id) \(.method) \(.path) \(.reason)"' | sed 's/^[a-z0-9]*-//' >said
	cat said
	[ "$(cat said)" = "1 GET /a network.http does not allow GET /a
2 DELETE /ok network.http does not allow DELETE /ok
1 GET /a network.http does not allow GET /a" ]
}

@test "evidence: a request that breaks the protocol keeps its reason, everywhere" {
	box_python --allow origin.test <<-'END'
	sock = to_proxy()
	sock.sendall(b"POST http://origin.test/ HTTP/1.1\r\nHost: origin.test\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc")
	print("got:", sock.makefile("rb").read().decode().split("\r\n")[0])
	sock = to_proxy()
	sock.sendall(b"GET http://origin.test/ HTTP/1.1\r\nHost: origin.test\r\nBad Name: x\r\n\r\n")
	print("got:", sock.makefile("rb").read().decode().split("\r\n")[0])
	END
	echo "$output"
	audit 'select(.kind == "violation") | "\(.id) \(.rule) \(.reason)"' | sed 's/^[a-z0-9]*-//' >said
	cat said
	[ "$(wc -l <said)" -eq 2 ]
	[ "$(cut -d' ' -f1 said | sort -u | wc -l)" -eq 2 ]
	why=$(sed -n '1s/.*claims to use: //p' said)
	[ -n "$why" ]
	[[ "$output" == *"$why"* ]]
	agentbox why "$(audit 'select(.kind == "violation") | .id' | head -n 1)"
	[[ "${lines[0]}" == *"$why"* ]]
	[[ "$output" == *"with the reason above"* ]]
}

@test "evidence: a tunnel that went well has the name from its TLS hello" {
	agentbox_split run --allow allowed.test --allow wire.test:7 -c "
		curl -s -k -o /dev/null --max-time 200 https://allowed.test/
		env -u https_proxy -u HTTPS_PROXY -u all_proxy -u ALL_PROXY curl -s -k -o /dev/null --max-time 200 https://allowed.test/
		python3 -c 'import socket; s = socket.create_connection((\"wire.test\", 7)); s.sendall(b\"\\1\"); s.recv(1)'"
	audit 'select(.kind == "request") | "\(.door) \(.domain) \(.sni) \(.tls)"' | sort >said
	cat said
	[ "$(cat said)" = "connect allowed.test allowed.test true
transparent allowed.test allowed.test true
transparent wire.test null null" ]
	agentbox log
	[ "$(grep -c 'allowed.test.*TLS' <<<"$output")" -eq 2 ]
}

@test "evidence: a question that is denied by name keeps its id" {
	box_start run --unknown ask -c "$fetch http://origin.test/; $fetch http://origin.test/"
	wait_for 90 eval '"$AGENTBOX" ps --json 2>/dev/null | jq -e ".[0].pending == 1" >/dev/null'
	agentbox deny origin.test
	[ "$status" -eq 0 ]
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = 403403 ]
	audit 'select(.kind == "violation" or .kind == "question") | "\(.kind) \(.id) \(.reason)"' | sed 's/ [a-z0-9]*-/ /' >said
	cat said
	[ "$(cat said)" = "question 1 null
violation 1 denied for this run (origin.test)
violation 1 denied for this run (origin.test)" ]
}

@test "evidence: the guarantees that are missing are a list, here and in the result" {
	agentbox_split run --result "$TEST_DIR/r.json" -- true
	[ "$(audit 'select(.kind == "assurance") | .missing | type')" = array ]
	[ "$(jq -r '.assurance.missing | type' "$TEST_DIR/r.json")" = array ]
}

@test "evidence: a changed network.mode is not dropped without a word" {
	echo '{"network":{"unknown":"deny","allow":["origin.test"]}}' >"$TEST_DIR/l.json"
	box_start run --config "$TEST_DIR/l.json" -c "$fetch http://origin.test/; until [ -e go ]; do sleep 0.1; done; $fetch http://origin.test/"
	wait_for 90 grep -q 200 "$TEST_DIR/box.out"
	echo '{"network":{"mode":"blocked","unknown":"deny","allow":["origin.test"]}}' >"$TEST_DIR/l.json"
	wait_for 90 grep -q 'network.mode is now blocked: this run stays filtered until it ends' "$TEST_DIR/box.err"
	touch go
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = 200200 ]
}

@test "evidence: half-open requests do not fill the memory of the supervisor" {
	! sanitized || skip "a sanitizer keeps what was freed"
	# Many processes, so that the limit on descriptors of each does not matter.
	cat >half.py <<-'PY'
	import os, socket, sys, time
	at = ("127.0.0.1", int(os.environ["http_proxy"].rsplit(":", 1)[1].strip("/")))
	head = b"GET http://origin.test/ HTTP/1.1\r\nHost: origin.test\r\nX: "
	for child in range(8):
	    if os.fork():
	        continue
	    socks = []
	    for i in range(350):
	        s = socket.create_connection(at)
	        s.settimeout(5)
	        try:
	            s.sendall(head + b"a" * 65000)
	        except OSError:
	            pass
	        socks.append(s)
	    open("sent%d" % child, "w").close()
	    while not os.path.exists("go"):
	        time.sleep(0.05)
	    os._exit(0)
	while not os.path.exists("go"):
	    time.sleep(0.05)
	# Others are served meanwhile.
	s = socket.create_connection(at)
	s.sendall(b"GET http://origin.test/ HTTP/1.1\r\nHost: origin.test\r\nConnection: close\r\n\r\n")
	print(s.makefile("rb").read().split(b" ")[1].decode(), flush=True)
	PY
	box_start run --allow origin.test -- python3 half.py
	wait_for 90 eval '[ "$(ls sent* 2>/dev/null | wc -l)" -eq 8 ]'
	# Until the proxy has read what it will read.
	kb=0 before=-1
	while [ "$kb" -ne "$before" ]; do
		before=$kb
		sleep 1
		kb=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$BOX/status")
		echo "$kb KiB"
	done
	touch go
	box_end
	grep -qx 200 "$TEST_DIR/box.out"
	# 32 MiB of heads and what a supervisor needs; without a limit it is twice that.
	[ "$kb" -lt 56000 ]
}
