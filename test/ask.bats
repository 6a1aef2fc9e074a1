# A connection to a host that is on no list waits for an answer: who may give it,
# how, and what happens to the connection. Every denial has its allowed twin.
UNJUDGED=1
load helpers
load internet
load attack/attack

socket_of_run()
{
	local found=("$AGENTBOX_STATE"/live/*/control)

	[ -S "${found[0]}" ] && echo "${found[0]}"
}

# control REQUEST: what the run answers.
control()
{
	# A run has its socket a moment after it has started.
	wait_for 90 socket_of_run >/dev/null
	timeout 240 python3 "$ROOT/test/attack/control.py" "$(socket_of_run)" "$1"
}

run_of_socket()
{
	basename "$(dirname "$(socket_of_run)")"
}

pending()
{
	[ "$(control '{"do":"pending"}' 2>/dev/null | jq '.pending | length' 2>/dev/null)" = "$1" ]
}

# waits [N]: until N questions are open.
waits()
{
	wait_for 90 pending "${1:-1}"
}

question()
{
	control '{"do":"pending"}' | jq -r ".pending[${2:-0}].$1"
}

# A client through the explicit door, and one that knows no proxy.
fetch='curl -s -o /dev/null -w %{http_code} --max-time 200'
straight='env -u HTTP_PROXY -u http_proxy -u HTTPS_PROXY -u https_proxy -u ALL_PROXY -u all_proxy'

@test "ask: a request waits, and goes on with a yes" {
	box_start run --unknown ask -c "$fetch http://origin.test/"
	waits
	[ "$(question domain):$(question port) $(question door)" = "origin.test:80 http" ]
	[ "$(question left_ms)" -gt 1000 ]
	[ "$(dns_asked)" = "" ]
	id=$(question id)
	[ "$(control "{\"do\":\"answer\",\"id\":\"$id\",\"answer\":\"once\"}" | jq -c '[.ok,.released]')" = "[true,1]" ]
	box_end
	[ "$status" -eq 0 ]
	[ "$(cat "$TEST_DIR/box.out")" = 200 ]
	[ "$(audit 'select(.kind == "question") | "\(.id) \(.domain) \(.port) \(.answer) \(.by)"')" = \
		"$id origin.test 80 once control" ]
	grep -q "origin.test:80 needs your approval.*agentbox allow $id" "$TEST_DIR/box.err"
}

# bats test_tags=root
@test "ask: who answers hears of it, though the command is over first" {
	local thread fault tracers=()

	only_root
	need program:strace
	box_start run --unknown ask -c "$fetch http://origin.test/"
	waits
	wait_for 90 eval '[ "$(question process | jq length)" -gt 0 ]'
	id=$(question id)
	# Between the word to the proxy and the question whether it is done
	# there is time for everything else, and the proxy is slow.
	for thread in $(ls "/proc/$BOX/task"); do
		fault=?epoll_wait,?epoll_pwait:delay_exit=200000
		[ "$thread" != "$BOX" ] || fault=write:delay_exit=2500000:when=1
		strace -qqq -o /dev/null -e "trace=${fault%%:*}" -e "inject=$fault" -p "$thread" 3>&- &
		tracers+=($!)
		wait_for 90 grep -q "^TracerPid:	$!$" "/proc/$BOX/task/$thread/status"
	done
	[ "${#tracers[@]}" -eq 2 ]
	control "{\"do\":\"answer\",\"id\":\"$id\",\"answer\":\"once\"}" >"$TEST_DIR/answer"
	cat "$TEST_DIR/answer"
	[ "$(jq -c '[.ok, .released]' "$TEST_DIR/answer")" = '[true,1]' ]
	box_end
	wait "${tracers[@]}" || true
	[ "$(cat "$TEST_DIR/box.out")" = 200 ]
}

@test "ask: a no is a 403, and is not asked about again" {
	box_start run --unknown ask -c "$fetch http://origin.test/; echo; $fetch http://origin.test/; echo; $fetch http://allowed.test/"
	waits
	id=$(question id)
	control "{\"do\":\"answer\",\"id\":\"$id\",\"answer\":\"no\"}" | grep -q '"ok":true'
	wait_for 90 eval '[ "$(question domain 2>/dev/null)" = allowed.test ]'
	control "{\"do\":\"answer\",\"id\":\"$(question id)\",\"answer\":\"run\"}" | grep -q '"ok":true'
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = $'403\n403\n200' ]
	[ "$(dns_asked)" = allowed.test ]
	[ "$(audit 'select(.kind == "violation") | "\(.id) \(.reason)"' | sort -u | head -n 1)" = \
		"$id not on the allow list (the answer was no)" ]
}

@test "ask: through every door, and a yes for the run is asked once" {
	box_start run --unknown ask -c "$fetch https://allowed.test/ --cacert $NET/ca.pem; echo
		$straight $fetch https://allowed.test/ --cacert $NET/ca.pem; echo
		$fetch --socks5-hostname \"\${ALL_PROXY#*//}\" --noproxy '' https://allowed.test/ --cacert $NET/ca.pem"
	waits
	[ "$(question door)" = connect ]
	control "{\"do\":\"answer\",\"id\":\"$(question id)\",\"answer\":\"run\"}" | grep -q '"released":1'
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = $'200\n200\n200' ]
	[ "$(audit 'select(.kind == "question") | .id' | wc -l)" -eq 1 ]
	box_start run --unknown ask -c "$straight $fetch https://allowed.test/ --cacert $NET/ca.pem"
	waits
	[ "$(question door)" = transparent ]
	[ "$(question domain)" = allowed.test ]
	control "{\"do\":\"allow\",\"entry\":\"allowed.test\"}" | grep -q '"released":1'
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = 200 ]
}

@test "ask: who asks is told by the broker, as the box has it" {
	box_start run --unknown ask -c "sh -c '$fetch http://origin.test/; true'; true"
	waits
	wait_for 90 eval '[ "$(question process | jq length)" -gt 1 ]'
	question process | jq -c '.[] | [.pid, .exe, .argv[0]]'
	[ "$(question process | jq -r '.[0].exe | split("/") | last')" = curl ]
	[ "$(question process | jq -r '.[0].argv[0]')" = curl ]
	[ "$(question process | jq -r '.[0].pid')" -lt 100 ]
	question process | jq -r '.[1].exe' | grep -q sh
	control "{\"do\":\"answer\",\"id\":\"$(question id)\",\"answer\":\"no\"}" >/dev/null
	box_end
	[ "$(audit 'select(.kind == "question") | .process[0].exe | split("/") | last')" = curl ]
}

@test "ask: without an answer in time it is a 403 with an id" {
	echo '{"network":{"wait":"2s"}}' >"$TEST_DIR/wait.json"
	box_start run --config "$TEST_DIR/wait.json" --unknown ask -c "curl -s http://origin.test/"
	box_end
	id=$(audit 'select(.kind == "question" and .answer == "timeout") | .id')
	[ -n "$id" ]
	grep -q "origin.test:80.*nobody answered in 2 s.*$id" "$TEST_DIR/box.out"
	# The same with more patience.
	echo '{"network":{"wait":"1h"}}' >"$TEST_DIR/wait.json"
	box_start run --config "$TEST_DIR/wait.json" --unknown ask -c "$fetch http://origin.test/"
	waits
	[ "$(question left_ms)" -gt 3000000 ]
	control "{\"do\":\"answer\",\"id\":\"$(question id)\",\"answer\":\"once\"}" >/dev/null
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = 200 ]
}

@test "ask: without a terminal the default profile does not ask, a setting does" {
	agentbox_split run -c "$fetch http://origin.test/"
	[ "$output" = 403 ]
	[ "$(audit 'select(.kind == "question")')" = "" ]
	echo '{"network":{"unknown":"ask"}}' >"$HOME/.config/agentbox/config.json"
	box_start run -c "$fetch http://origin.test/"
	waits
	control "{\"do\":\"answer\",\"id\":\"$(question id)\",\"answer\":\"once\"}" >/dev/null
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = 200 ]
}

# teller FILE OUTPUT: a program that notes how it was called.
teller()
{
	mkdir -p "${1%/*}"
	printf '#!/bin/sh\nprintf "%%s|" "$@" >>"%s"\n' "$2" >"$1"
	chmod +x "$1"
}

# tells SETTINGS PATH: ask with this PATH until tmux, the last way, was told.
tells()
{
	printf '%s' "$1" >"$TEST_DIR/config.json"
	rm -f "$TEST_DIR"/told.*
	PATH=$2:$PATH TMUX=/nowhere,1,0 box_start run --config "$TEST_DIR/config.json" --unknown ask -c \
		"$fetch http://origin.test/"
	wait_for 90 [ -s "$TEST_DIR/told.tmux" ]
	id=$(question id)
	control "{\"do\":\"answer\",\"id\":\"$id\",\"answer\":\"once\"}"
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = 200 ]
}

@test "ask: a question without a terminal is told by notify-send and tmux, never by a program of the box" {
	local said="origin.test:80 needs your approval: agentbox watch "
	teller "$TEST_DIR/bin/notify-send" "$TEST_DIR/told.desktop"
	teller "$TEST_DIR/bin/tmux" "$TEST_DIR/told.tmux"
	tells '{}' "$TEST_DIR/bin"
	[ "$(cat "$TEST_DIR/told.desktop")" = "--app-name=agentbox|--|agentbox|$said${id%-*}|" ]
	[ "$(cat "$TEST_DIR/told.tmux")" = "display-message|agentbox: $said${id%-*}|" ]
	# Each of them is optional.
	tells '{ "network": { "notify": { "only": ["tmux"] } } }' "$TEST_DIR/bin"
	[ ! -e "$TEST_DIR/told.desktop" ]
	# A program in the workspace does not count, by PATH or by a link.
	teller "$PWD/bin/notify-send" "$TEST_DIR/told.by-box"
	tells '{}' "$PWD/bin:$TEST_DIR/bin"
	[ -s "$TEST_DIR/told.desktop" ]
	[ ! -e "$TEST_DIR/told.by-box" ]
	mkdir "$TEST_DIR/links"
	ln -s "$PWD/bin/notify-send" "$TEST_DIR/links/notify-send"
	tells '{}' "$TEST_DIR/links:$TEST_DIR/bin"
	[ ! -e "$TEST_DIR/told.by-box" ]
	agentbox config check "$TEST_DIR/config.json"
	printf '{ "network": { "notify": ["email"] } }' >"$TEST_DIR/config.json"
	agentbox run --config "$TEST_DIR/config.json" -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *'network.notify[0]: invalid value "email"'*"use bell, desktop or tmux"* ]]
}

@test "ask: an approver says yes to one and no to another, and a broken one no" {
	cat >"$TEST_DIR/approver" <<-'END'
	#!/bin/sh
	tee -a "$0.log" | grep -q '"host":"origin.test"' && echo '{"answer":"run","reason":"ours"}' ||
		printf '{"answer":"no","reason":"not on a\\u001b[31m Friday"}'
	END
	chmod +x "$TEST_DIR/approver"
	agentbox_split run --unknown ask --approver "$TEST_DIR/approver" -c "$fetch http://origin.test/; $fetch http://allowed.test/"
	[ "$output" = 200403 ]
	[ "$(jq -r '[.kind,.host,.port,.process[0].argv[0]] | join(" ")' "$TEST_DIR/approver.log" | head -n 1)" = \
		"host origin.test 80 curl" ]
	[ "$(audit 'select(.kind == "question") | .by' | sort -u)" = approver ]
	# Its reason is recorded and shown, and nothing in it reaches a terminal as it is.
	[ "$(audit 'select(.kind == "question") | [.domain, .reason] | join(" ")')" = \
		"origin.test ours"$'\n''allowed.test not on a\x1b[31m Friday' ]
	[[ "$stderr" == *'not on the allow list (the answer was no: not on a\x1b[31m Friday)'* ]]
	agentbox why last
	[[ "$output" == *'agentbox asked about it: denied by the approver: not on a'*' Friday, after '* ]]
	agentbox log
	[[ "$output" == *"origin.test:80"*"allowed for this run by the approver: ours"* ]]
	# A long one is cut, and the record is whole.
	printf '{"answer":"no","reason":"%s"}' "$(printf 'x%.0s\303\244' {1..400})" >"$TEST_DIR/long"
	agentbox_split run --unknown ask --approver "cat $TEST_DIR/long" -c "$fetch http://origin.test/"
	[ "$output" = 403 ]
	[[ "$stderr" == *"the answer was no: x"* ]]
	[ "$(audit 'select(.kind == "question") | .reason | length')" -gt 100 ]
	agentbox_split run --unknown ask --approver "exit 1" -c "$fetch http://origin.test/"
	[ "$output" = 403 ]
	[[ "$stderr" == *"approver gave no answer"* ]]
}

@test "ask: always is kept in the user's own file, and its formatting too" {
	printf '{\n    "network": { "unknown": "ask",\n        "allow": [ "allowed.test" ] }\n}\n' >"$HOME/.config/agentbox/config.json"
	box_start run -c "$fetch http://origin.test/"
	waits
	control "{\"do\":\"answer\",\"id\":\"$(question id)\",\"answer\":\"always\"}" | grep -q '"ok":true'
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = 200 ]
	cat "$HOME/.config/agentbox/config.json"
	[ "$(jq -c .network.allow "$HOME/.config/agentbox/config.json")" = '["allowed.test","origin.test"]' ]
	grep -q '^    "network": { "unknown": "ask",$' "$HOME/.config/agentbox/config.json"
	agentbox_split run -c "$fetch http://origin.test/"
	[ "$output" = 200 ]
}

@test "ask: what is on the deny list or in a closed range is not asked about, nor can it be allowed" {
	box_start run --unknown ask --deny denied.test -c "$fetch http://denied.test/; echo; $fetch http://10.0.0.5/; echo; $fetch http://origin.test/"
	waits
	[ "$(question domain)" = origin.test ]
	control '{"do":"allow","entry":"denied.test"}' | grep -q 'deny list'
	control '{"do":"allow","entry":"10.0.0.5"}' | grep -q 'private addresses'
	control '{"do":"allow","entry":"origin.test"}' | grep -q '"released":1'
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = $'403\n403\n200' ]
}

@test "ask: a deny beats the allow list, and an end comes to what has one" {
	mkfifo go
	box_start run --allow origin.test -c "$fetch http://origin.test/; read x <go; $fetch http://origin.test/; read x <go; $fetch http://origin.test/; read x <go; $fetch http://origin.test/"
	wait_for 90 socket_of_run >/dev/null
	wait_for 90 eval '[ "$(cat "$TEST_DIR/box.out")" = 200 ]'
	control '{"do":"deny","entry":"origin.test"}' | grep -q '"ok":true'
	echo >go
	wait_for 90 eval '[ "$(cat "$TEST_DIR/box.out")" = 200403 ]'
	control '{"do":"allow","entry":"origin.test","for_ms":60000}' | grep -q '"ok":true'
	echo >go
	wait_for 90 eval '[ "$(cat "$TEST_DIR/box.out")" = 200403200 ]'
	control '{"do":"deny","entry":"*.test"}' | grep -q '"ok":true'
	echo >go
	box_end
	# The last one that was said holds.
	[ "$(cat "$TEST_DIR/box.out")" = 200403200403 ]
	[ "$(audit 'select(.kind == "grant") | "\(.entry) \(.allowed) \(.by)"' | tr '\n' ,)" = \
		"origin.test false control,origin.test true control,*.test false control," ]
}

@test "ask: a thousand questions at once, and allowed hosts still answer" {
	cat >many.py <<-'END'
	import os, socket, sys
	host, port = os.environ["HTTP_PROXY"].rsplit("/", 1)[-1].split("@")[-1].split(":")
	socks = []
	for n in range(1000):
	    s = socket.create_connection((host, int(port)))
	    s.sendall(b"CONNECT n%d.many.test:443 HTTP/1.1\r\n\r\n" % n)
	    socks.append(s)
	s = socket.create_connection((host, int(port)))
	s.sendall(b"GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n")
	print(s.recv(100).split()[1].decode(), flush=True)
	codes = {}
	for s in socks:
	    code = s.recv(100).split()[1].decode()
	    codes[code] = codes.get(code, 0) + 1
	print(codes, flush=True)
	END
	box_start run --unknown ask --allow allowed.test -- python3 many.py
	wait_for 90 eval '[ "$(control "{\"do\":\"status\"}" 2>/dev/null | jq .pending 2>/dev/null)" = 1000 ]'
	wait_for 90 grep -q 200 "$TEST_DIR/box.out"
	n=0 from=0
	while :; do
		page=$(control "{\"do\":\"pending\",\"from\":$from}")
		n=$((n + $(jq '.pending | length' <<<"$page")))
		from=$(jq .next <<<"$page")
		[ "$from" -ne 0 ] || break
	done
	[ "$n" -eq 1000 ]
	# One says no to half of them, a rule says yes to the rest.
	control '{"do":"deny","entry":"n7.many.test"}' | grep -q '"ok":true'
	control '{"do":"allow","entry":"*.many.test"}' | jq -e '.released == 999'
	box_end
	[ "$status" -eq 0 ]
	grep -q "'403': 1[,}]" "$TEST_DIR/box.out"
	grep -q "'502': 999" "$TEST_DIR/box.out"
	[ "$(grep -c 'needs your approval' "$TEST_DIR/box.err")" -le 20 ]
}

# bats test_tags=root
@test "control: the box sees nothing of it, another user is refused, garbage changes nothing" {
	only_root
	mkfifo go
	# Not all of /: a machine may have millions of files.
	box_start run -c "find '$TEST_DIR' /run /tmp -xdev -type s -name control 2>/dev/null; ls '$AGENTBOX_STATE' 2>&1; echo done; read x <go"
	wait_for 90 grep -q done "$TEST_DIR/box.out"
	wait_for 90 socket_of_run >/dev/null
	[ "$(stat -c %a "$(socket_of_run)")" = 600 ]
	[ "$(stat -c %a "$(dirname "$(socket_of_run)")")" = 700 ]
	run ! setpriv --reuid 23999 --clear-groups python3 "$ROOT/test/attack/control.py" "$(socket_of_run)" '{"do":"status"}'
	control '{"do":"format"}' | grep -q '"ok":false'
	[ "$(control '{"do":"status"}' | jq -r .run)" = "$(run_of_socket)" ]
	name=$(run_of_socket)/control
	echo >go
	box_end
	[ "$status" -eq 0 ]
	# Others' tests may run beside this one: their sockets are not meant.
	run ! grep -qF "$name" "$TEST_DIR/box.out"
	run ! socket_of_run
	[ "$(find "$AGENTBOX_STATE" -type s)" = "" ]
}

@test "control: status, follow and stop" {
	box_start run --allow origin.test -c "trap '' TERM; $fetch http://origin.test/; while :; do sleep 1; done"
	wait_for 90 grep -q 200 "$TEST_DIR/box.out"
	control '{"do":"status"}' >"$TEST_DIR/status"
	cat "$TEST_DIR/status"
	[ "$(jq -r '[.profile,.network.allowed,.network.denied,.pending] | join(" ")' "$TEST_DIR/status")" = "default 1 0 0" ]
	[ "$(jq -r '.command[0]' "$TEST_DIR/status")" = /bin/sh ]
	control '{"do":"stop","grace_ms":300}' | grep -q '"ok":true'
	box_end
	[ "$status" -eq 137 ]
}

@test "on-violation: each violation as JSON, and nothing for what is allowed" {
	agentbox_split run --allow origin.test --on-violation "cat >>'$TEST_DIR/hook'" -c "$fetch http://origin.test/; $fetch http://allowed.test/; $fetch http://other.test/"
	[ "$output" = 200403403 ]
	[ "$(jq -r '"\(.kind) \(.domain)"' "$TEST_DIR/hook" | tr '\n' ,)" = "violation allowed.test,violation other.test," ]
	[ "$(wc -l <"$TEST_DIR/hook")" -eq 2 ]
	# It is told while the run goes on.
	box_start run --on-violation "exit 3" -c "$fetch http://other.test/; until [ -e go ]; do sleep 0.1; done"
	wait_for 90 grep -q -e '--on-violation.*status 3' "$TEST_DIR/box.err"
	touch go
	box_end
	[ "$status" -eq 0 ]
}

@test "monitor: too many denials warn, cut, hold or stop" {
	settings='{"network":{"unknown":"deny"},"monitor":{"denialsPerMinute":3,"action":"%s"}}'
	flood="for i in 1 2 3 4 5; do $fetch http://n\$i.other.test/; done; until [ -e go ]; do :; done; $fetch http://origin.test/"
	printf "$settings" warn >"$TEST_DIR/m.json"
	touch go
	agentbox_split run --config "$TEST_DIR/m.json" --allow origin.test -c "$flood"
	[ "$output" = 403403403403403200 ]
	[[ "$stderr" == *"monitor.denialsPerMinute"* ]]
	rm go
	printf "$settings" cut >"$TEST_DIR/m.json"
	box_start run --config "$TEST_DIR/m.json" --allow origin.test -c "$flood"
	wait_for 90 grep -q 'network is cut' "$TEST_DIR/box.err"
	touch go
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = 403403403403403403 ]
	rm go
	printf "$settings" hold >"$TEST_DIR/m.json"
	box_start run --config "$TEST_DIR/m.json" --allow origin.test -c "$flood"
	wait_for 90 grep -q 'network is paused' "$TEST_DIR/box.err"
	touch go
	waits
	[ "$(question why)" = held ]
	control "{\"do\":\"answer\",\"id\":\"$(question id)\",\"answer\":\"run\"}" | grep -q '"ok":true'
	box_end
	[[ "$(cat "$TEST_DIR/box.out")" == *200 ]]
	printf "$settings" stop >"$TEST_DIR/m.json"
	agentbox_split run --config "$TEST_DIR/m.json" --allow origin.test -c "$flood; sleep 300"
	[ "$status" -eq 125 ]
	[ "$(audit 'select(.kind == "monitor") | .action' | tail -n 1)" = stop ]
}

@test "monitor: denials of one host count, also those that share a line of the record" {
	settings='{"network":{"unknown":"deny"},"monitor":{"denialsPerMinute":150,"action":"stop"}}'
	printf "$settings" >"$TEST_DIR/m.json"
	cat >flood.py <<-'END'
	import socket, sys, time
	for n in range(int(sys.argv[1])):
	    s = socket.create_connection(("127.0.0.1", 61080))
	    s.sendall(b"GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n")
	    assert b" 403 " in s.recv(100)
	    s.close()
	if len(sys.argv) > 2:
	    time.sleep(300)
	END
	# As many as are allowed, of which a hundred have a line at once.
	agentbox_split run --config "$TEST_DIR/m.json" -- python3 flood.py 150
	[ "$status" -eq 0 ]
	[[ "$stderr" != *"monitor.denialsPerMinute"* ]]
	# The minute of the record may turn on the way, so more than twice as many.
	agentbox_split run --config "$TEST_DIR/m.json" -- python3 flood.py 900 wait
	[ "$status" -eq 125 ]
	[[ "$stderr" == *"monitor.denialsPerMinute 150"* ]]
	[ "$(audit 'select(.kind == "violation")' | jq -s 'length < 450')" = true ]
}

@test "monitor: what is held before anybody used the network can be answered" {
	mkdir "$HOME/other"
	printf 'for i in 1 2 3 4 5; do echo x >"%s/$i"; done; until [ -e go ]; do :; done\n%s http://origin.test/\n' "$HOME/other" "$fetch" >job
	echo '{"monitor":{"denialsPerMinute":3,"action":"hold"},"filesystem":{"home":"readonly"}}' >"$TEST_DIR/m.json"
	for answer in run no; do
		rm -f go
		box_start run --trace-denials --config "$TEST_DIR/m.json" --allow origin.test -- sh job
		wait_for 90 grep -q 'network is paused' "$TEST_DIR/box.err"
		waits
		[ "$(question why)" = held ]
		control "{\"do\":\"answer\",\"id\":\"$(question id)\",\"answer\":\"$answer\"}" | grep -q '"ok":true'
		pending 0
		touch go
		box_end
		cat "$TEST_DIR/box.out" >>said
	done
	[ "$(cat said)" = 200403 ]
}

@test "monitor: uploads to one host and in all, and new hosts" {
	head -c 3000000 /dev/zero >big
	echo '{"monitor":{"uploadPerHost":"1M","action":"cut"}}' >"$TEST_DIR/m.json"
	agentbox_split run --config "$TEST_DIR/m.json" --allow origin.test -c "$fetch --data-binary @big http://origin.test/; $fetch http://origin.test/"
	[[ "$stderr" == *"uploadPerHost"* ]]
	[[ "$output" == *403 ]]
	# What is in heads is sent, too; and nothing is counted twice, however
	# long a connection is kept.
	{ printf 'X-A: ' && head -c 40000 /dev/zero | tr '\0' a; } >head
	echo '{"monitor":{"uploadPerHost":"350K","action":"cut"}}' >"$TEST_DIR/m.json"
	agentbox_split run --config "$TEST_DIR/m.json" --allow origin.test -c "$fetch -H @head 'http://origin.test/[1-12]'"
	[[ "$stderr" == *"uploadPerHost"* ]]
	agentbox_split run --config "$TEST_DIR/m.json" --allow origin.test -c "$straight $fetch -H @head --rate 200/m 'http://origin.test/[1-4]'"
	[ "$output$stderr" = 200200200200 ]
	echo '{"monitor":{"newHosts":1,"action":"stop"}}' >"$TEST_DIR/m.json"
	agentbox_split run --config "$TEST_DIR/m.json" --allow origin.test --allow allowed.test -c "$fetch http://origin.test/; $fetch http://allowed.test/; sleep 300"
	[ "$status" -eq 125 ]
	[[ "$stderr" == *"newHosts"* ]]
	agentbox_split run --config "$TEST_DIR/m.json" --allow origin.test -c "$fetch http://origin.test/; $fetch http://origin.test/"
	[ "$status" -eq 0 ]
	[ "$output" = 200200 ]
}

@test "reload: new lists while it runs, a bad file keeps the old ones, and what is denied is cut by choice" {
	echo '{"network":{"unknown":"deny","allow":["origin.test"]}}' >"$TEST_DIR/l.json"
	mkfifo go
	box_start run --config "$TEST_DIR/l.json" -c "$fetch http://allowed.test/; read x <go; $fetch http://allowed.test/; read x <go; $fetch http://allowed.test/"
	wait_for 90 grep -q 403 "$TEST_DIR/box.out"
	echo '{"network":{"unknown":"deny","allow":["origin.test","allowed.test"]}}' >"$TEST_DIR/l.json"
	wait_for 90 socket_of_run >/dev/null
	control '{"do":"reload"}' >"$TEST_DIR/reload"
	cat "$TEST_DIR/reload"
	jq -e '.ok' "$TEST_DIR/reload"
	echo >go
	wait_for 90 eval '[ "$(cat "$TEST_DIR/box.out")" = 403200 ]'
	echo '{"network":{"allow":["not a host"]}}' >"$TEST_DIR/l.json"
	control '{"do":"reload"}' | tee "$TEST_DIR/reload"
	grep -q 'l.json:1' "$TEST_DIR/reload"
	echo >go
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = 403200200 ]
	[ "$(audit 'select(.kind == "reload" and .error) | .kind' | wc -l)" -ge 1 ]
}

@test "reload: a changed file is read by itself" {
	echo '{"network":{"unknown":"deny","allow":[]}}' >"$TEST_DIR/l.json"
	box_start run --config "$TEST_DIR/l.json" -c "until [ \"\$($fetch http://allowed.test/)\" = 200 ]; do sleep 0.2; done; echo changed"
	wait_for 90 socket_of_run >/dev/null
	echo '{"network":{"unknown":"deny","allow":["allowed.test"]}}' >"$TEST_DIR/l.json.new"
	mv "$TEST_DIR/l.json.new" "$TEST_DIR/l.json"
	wait_for 90 grep -q changed "$TEST_DIR/box.out"
	box_end
	[ "$status" -eq 0 ]
	[ "$(audit 'select(.kind == "reload") | .changes[0]' | head -n 1)" != "" ]
}
