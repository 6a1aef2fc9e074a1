# Ports of the box on the host, of the host in the box, private networks, and
# an upstream proxy: each is one right, given by name.
load helpers
load internet
load attack/attack

setup_file()
{
	internet_start
}

teardown_file()
{
	internet_stop
}

answers()
{
	[ "$(inside curl -s -o /dev/null -w '%{http_code}' "$1")" = 200 ]
}

@test "ports: a published port is reachable on the host's loopback while the box lives" {
	mkfifo down
	echo published >page
	box_start run --publish 18080 --publish 18081:18082 -- sh -c '
		python3 -m http.server -b 127.0.0.1 18080 >/dev/null 2>&1 &
		python3 -m http.server -b 127.0.0.1 18082 >/dev/null 2>&1 &
		read -r _ <down'
	wait_for 10 answers http://127.0.0.1:18080/page
	wait_for 10 answers http://127.0.0.1:18081/page
	[ "$(inside curl -sS http://127.0.0.1:18080/page)" = published ]
	[ "$(inside curl -sS http://localhost:18081/page)" = published ]
	# Not on other addresses, and not what was not published.
	run ! answers http://192.0.2.7:18080/page
	run ! answers http://127.0.0.1:18082/page
	echo >down
	box_end
	[ "$status" -eq 0 ]
	[ -z "$(inside ss -Htln '( sport = :18080 or sport = :18081 )')" ]
}

@test "ports: a published port where nothing listens is refused, and a taken one stops the run" {
	mkfifo down
	box_start run --publish 18080 -- sh -c 'read -r _ <down'
	wait_for 10 eval '[ -n "$(inside ss -Htln sport = :18080)" ]'
	run inside curl -sS -m 10 http://127.0.0.1:18080/
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
	box_python --host-port 7 <<-'END'
	for host in ("127.0.0.1", "localhost", "::1"):
	    say(host, direct(host, 7, b"x"))
	say("another", direct("127.0.0.1", 80))
	say("by the host's address", direct("192.0.2.7", 7, b"x"))
	END
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "127.0.0.1: ok" ]
	[ "${lines[1]}" = "localhost: ok" ]
	[ "${lines[3]}" = "another: ECONNREFUSED" ]
	[ "${lines[4]}" = "by the host's address: reset" ]
	[ "$(audit 'select(.kind == "request") | .door' | sort -u)" = host-port ]
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
