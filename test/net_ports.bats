# Ports of the box on the host, ports of the host in the box, private networks,
# and an upstream proxy: each is granted by name.
# root-in-turn: root may bind low ports and make devices, which the box must not inherit
UNJUDGED=1
load helpers
load internet
load attack/attack

answers()
{
	[ "$(inside curl -s -o /dev/null -w '%{http_code}' "$1")" = 200 ]
}

@test "ports: a published port is reachable on the host's loopback while the box lives" {
	mkfifo down
	echo published >page
	head -c 3000000 /dev/urandom >big
	box_start run --publish 18080 --publish 18081:18082 -- sh -c '
		python3 -m http.server -b 127.0.0.1 18080 >/dev/null 2>&1 &
		python3 -m http.server -b 127.0.0.1 18082 >/dev/null 2>&1 &
		read -r _ <down'
	wait_for 90 answers http://127.0.0.1:18080/page
	wait_for 90 answers http://127.0.0.1:18081/page
	[ "$(inside curl -sS http://127.0.0.1:18080/page)" = published ]
	[ "$(inside curl -sS http://localhost:18081/page)" = published ]
	[ "$(inside curl -sS http://127.0.0.1:18080/big | sha256sum)" = "$(sha256sum <big)" ]
	# Not on other addresses, and not what was not published.
	run ! answers http://192.0.2.7:18080/page
	run ! answers http://127.0.0.1:18082/page
	echo >down
	box_end
	[ "$status" -eq 0 ]
	[ -z "$(inside ss -Htln '( sport = :18080 or sport = :18081 )')" ]
	audit 'select(.kind == "request" and .door == "publish") | [.port, .allowed, .bytes_up > 0, .bytes_down > 0] | @tsv'
	[ "$(audit 'select(.kind == "request" and .door == "publish" and .bytes_down > 3000000) | .port')" = 18080 ]
}

@test "ports: a port is published while the run is active, and ends with it" {
	mkfifo down
	echo published >page
	box_start run --name dev -- sh -c '
		python3 -m http.server -b 127.0.0.1 18082 >/dev/null 2>&1 &
		read -r _ <down'
	wait_for 90 eval '[ "$("$AGENTBOX" ports --json | jq length)" = 1 ]'
	run ! answers http://127.0.0.1:18083/page
	agentbox_split publish dev 18083:18082
	[ "$status" -eq 0 ]
	[[ "$output" =~ ^port\ 18082\ of\ [a-z0-9]{5}\ is\ on\ 127.0.0.1:18083\ until\ the\ run\ ends$ ]]
	[ "$(inside curl -sS http://127.0.0.1:18083/page)" = published ]
	[ "$("$AGENTBOX" ports --json dev | jq -c 'map([.port, .published])')" = '[[18082,18083]]' ]
	[[ "$("$AGENTBOX" ports dev)" == "18082 "*"published on 127.0.0.1:18083" ]]
	# Once more is no mistake; but not a port that others have, nor what is not a port.
	agentbox_split publish dev 18083:18082
	[ "$status" -eq 0 ]
	agentbox_split publish dev 18083:18084
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"127.0.0.1:18083: Address already in use"*"as in 8080:18084"* ]]
	for c in 0 65536 x 1:2:3 -- ""; do
		agentbox_split publish dev -- "$c"
		[ "$status" -eq 2 ]
	done
	agentbox_split publish nothing 18082
	[ "$status" -eq 1 ]
	# A port on which nothing listens yet is published, too.
	agentbox_split publish dev 18121:18122
	[ "$status" -eq 0 ]
	[[ "$output" == *"is on 127.0.0.1:18121 until the run ends"$'\n'"nothing in the box listens on port 18122 yet" ]]
	# At most 16 in one run.
	for c in $(seq 14); do
		inside "$AGENTBOX" publish dev $((18100 + c)):18082 >/dev/null
	done
	agentbox_split publish dev 18120:18082
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"no room"* ]]
	run ! answers http://127.0.0.1:18120/page
	echo >down
	box_end
	[ "$status" -eq 0 ]
	run ! answers http://127.0.0.1:18083/page
	[ "$(audit 'select(.kind == "grant") | .entry' | head -n 1)" = "publish 18083:18082" ]
}

@test "ports: a taken port names the form of another one" {
	mkfifo down
	box_start run --publish 18090 -- sh -c 'read -r _ <down'
	wait_for 90 eval '[ -n "$(inside ss -Htln sport = :18090)" ]'
	agentbox_split run --publish 18090 -- true
	[ "$status" -eq 125 ]
	[[ "$stderr" == *"--publish HOSTPORT:PORT, as in 8080:18090"* ]]
	echo >down
	box_end
}

@test "ports: a published port where nothing listens is refused, and a taken one stops the run" {
	mkfifo down
	box_start run --publish 18080 -- sh -c 'read -r _ <down'
	wait_for 90 eval '[ -n "$(inside ss -Htln sport = :18080)" ]'
	run inside curl -sS -m 60 http://127.0.0.1:18080/
	[ "$status" -ne 0 ]
	agentbox_split run --publish 18080 -- touch started
	[ "$status" -eq 125 ]
	[[ "$stderr" == *18080* ]]
	[ ! -e started ]
	echo >down
	box_end
	[ "$status" -eq 0 ]
}

@test "ports: a port of the host is reachable inside when it is named" {
	box_python --host-port 7 --host-port 8099 <<-'END'
	for host in ("127.0.0.1", "localhost", "::1"):
	    say(host, direct(host, 7, b"x"))
	say("another", direct("127.0.0.1", 80))
	say("by the host's address", direct("192.0.2.7", 7, b"x"))
	# Nobody is there.
	say("empty", direct("127.0.0.1", 8099, b"x"))
	END
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "127.0.0.1: ok" ]
	[ "${lines[1]}" = "localhost: ok" ]
	[ "${lines[3]}" = "another: ECONNREFUSED" ]
	[ "${lines[4]}" = "by the host's address: reset" ]
	[ "${lines[5]}" = "empty: reset" ]
	[ "$(audit 'select(.kind == "request" and .allowed) | .door' | sort -u)" = host-port ]
}

@test "ports: a private network is reachable where it was allowed" {
	box_python --allow private.test --allow private.test:7 --allow 10.0.0.5 --allow loop.test \
		--allow-private 10.0.0.0/24:80 <<-'END'
	say("by name", "%s %s %s" % (forward("private.test"), socks("private.test", 80), direct("private.test")))
	say("by address", "%s %s" % (forward("10.0.0.5"), direct("10.0.0.5")))
	say("another port", "%s %s" % (connect("private.test", 7), direct("private.test", 7, b"x")))
	say("another range", "%s %s" % (forward("loop.test"), direct("loop.test")))
	say("not listed", "%s %s" % (forward("mixed.test"), direct("10.0.0.6")))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	by name: 200 0 ok
	by address: 200 ok
	another port: 403 reset
	another range: 403 reset
	not listed: 403 reset
	END
	[ "$(origin_connections | sort -u)" = 10.0.0.5 ]
}

# upstream VALUE: a configuration with that network.upstream.
upstream()
{
	printf '{ "network": { "upstream": "%s" } }\n' "$1" >"$HOME/config.json"
}

@test "ports: an upstream proxy gets the names that are allowed, and no others" {
	upstream http://user:hidden@proxy.test:3128
	box_python --config "$HOME/config.json" --allow origin.test --allow allowed.test --allow private.test \
		--allow refuse.test --allow wire.test:7 <<-'END'
	say("http", "%s %s" % (forward("origin.test", path="/by-upstream"), forward("second.test")))
	say("connect", "%s %s" % (connect("allowed.test", 443), connect("second.test", 443)))
	say("socks", "%s %s" % (socks("origin.test", 80), socks("second.test", 80)))
	say("direct", "%s %s" % (direct("origin.test"), direct("203.0.113.20")))
	# Where the name leads is for the upstream proxy to judge.
	say("private", connect("private.test", 80))
	say("address", "%s %s" % (connect("10.0.0.5", 80), connect("127.0.0.1", 80)))
	say("it refuses", "%s %s %s" % (forward("refuse.test"), connect("refuse.test"), socks("refuse.test")))
	END
	[ "$status" -eq 0 ]
	expect <<-END
	http: 200 403
	connect: 200 403
	socks: 0 2
	direct: ok reset
	private: 200
	address: 403 403
	it refuses: 502 502 1
	END
	since_mark proxy
	since_mark proxy | grep -q '^GET http://origin.test/by-upstream HTTP/1.1|'
	since_mark proxy | grep -q '^CONNECT allowed.test:443 HTTP/1.1|'
	[ "$(since_mark proxy | grep -c 'Proxy-Authorization: Basic dXNlcjpoaWRkZW4=')" -eq "$(since_mark proxy | wc -l)" ]
	run ! grep -q 'second\|127.0.0.1\|10.0.0.5' <(since_mark proxy)
	# Only its own name was looked up here.
	[ "$(dns_asked)" = proxy.test ]
	[ "$(audit 'select(.kind == "request" and .allowed) | .upstream' | sort -u)" = true ]
	run ! grep -q hidden "$(audit_file)"
}

@test "ports: an upstream proxy that fails is named, with the setting or variable that names it" {
	local reached="could not be reached: connection refused"

	agentbox_split run --upstream http://127.0.0.1:1 --allow allowed.test -- \
		curl -sS http://allowed.test/
	[[ "$output" == *"the upstream proxy 127.0.0.1:1 (from --upstream or network.upstream) $reached"* ]]
	[[ "$(audit 'select(.kind == "request") | .error')" == *"upstream proxy 127.0.0.1:1"*"$reached"* ]]
	HTTPS_PROXY=http://127.0.0.1:2 agentbox_split run --upstream env --allow allowed.test -- sh -c '
		curl -sS -p http://allowed.test/ || :
		curl -sS http://allowed.test/'
	[[ "$output" == *"127.0.0.1:2 (from HTTPS_PROXY) $reached"* ]]
	[ "$(audit 'select(.kind == "request") | .error' | grep -c "from HTTPS_PROXY) $reached")" -eq 2 ]
	# One that works is not blamed for more than its own answer.
	upstream http://proxy.test:3128
	agentbox_split run --config "$HOME/config.json" --allow refuse.test --allow allowed.test -- sh -c '
		curl -sS -p http://refuse.test/; curl -sS -p http://allowed.test/'
	[[ "$output" == "hello allowed.test http HTTP/1.1" ]]
	[[ "$(audit 'select(.kind == "request" and .domain == "refuse.test") | .error')" == \
		*"the upstream proxy proxy.test:3128 (from --upstream or network.upstream) refused the request with status "* ]]
}

@test "ports: the caller's proxy variables count only when they are asked to" {
	HTTPS_PROXY=http://proxy.test:3128 agentbox_split run --allow allowed.test -- \
		curl -sS --cacert "$NET/ca.pem" https://allowed.test/
	[ "$output" = "hello allowed.test https HTTP/2.0" ]
	[ -z "$(since_mark proxy)" ]
	upstream env
	HTTPS_PROXY=http://proxy.test:3128 NO_PROXY=v4.test agentbox_split run \
		--yes --config "$HOME/config.json" --allow allowed.test --allow v4.test -- sh -c '
		curl -sS --cacert "$NET/ca.pem" https://allowed.test/
		curl -sS --cacert "$NET/ca.pem" https://v4.test/'
	[ "$output" = $'hello allowed.test https HTTP/2.0\nhello v4.test https HTTP/2.0' ]
	since_mark proxy | grep -q '^CONNECT allowed.test:443 '
	run ! grep -q v4.test <(since_mark proxy)
}
