# The internet that the other net_*.bats files use, without a box: everything that
# they find denied must be reachable here.
# root-in-turn: root may bind low ports and make devices, which the box must not inherit
UNJUDGED=1
load helpers
load internet

ssh_to()
{
	inside ssh -F /dev/null -o BatchMode=yes -i "$NET/client" \
		-o UserKnownHostsFile="$NET/known_hosts" "$@"
}

@test "internet: web servers answer by name, over both families" {
	[ "$(inside curl -sS http://allowed.test/)" = "hello allowed.test http HTTP/1.1" ]
	[ "$(inside curl -sS --cacert "$NET/ca.pem" https://allowed.test/)" = \
		"hello allowed.test https HTTP/2.0" ]
	[ "$(inside curl -sS --cacert "$NET/ca.pem" https://v6.test/)" = \
		"hello v6.test https HTTP/2.0" ]
	[ "$(inside curl -sS -o /dev/null -w '%{http_code}' http://big.test/)" = 200 ]
	[ "$(inside curl -sS http://cname.test/)" = "hello cname.test http HTTP/1.1" ]
	[ "$(dns_asked | tr '\n' ' ')" = "allowed.test big.test cname.test v6.test " ]
	since_mark dns | grep -qx 'big.test A tcp'
}

@test "internet: where no box may go somebody answers" {
	local name

	for name in private private6 loop loop6 metadata metadata6 alibaba own zero mapped; do
		[ "$(inside curl -sS -o /dev/null -w '%{http_code}' "http://$name.test/")" = 200 ]
	done
	[ "$(origin_connections | sort -u | wc -l)" -eq 8 ]
	[ "$(inside curl -sS http://a.rebind.test/ | jq -r .line)" = "GET / HTTP/1.1" ]
	inside curl -sS -o /dev/null http://a.rebind.test/
	[ "$(origin_connections | tail -n 2 | tr '\n' ' ')" = "203.0.113.20 127.0.0.1 " ]
}

@test "internet: ssh, git, redis and a server that speaks first" {
	[ "$(ssh_to git@git.test echo there)" = there ]
	[ "$(ssh_to -p 2222 git@git.test echo there)" = there ]
	inside git -c http.sslCAInfo="$NET/ca.pem" clone -q https://git.test/repo.git
	[ "$(cat repo/file)" = content ]
	[ "$(inside redis-cli -h redis.test ping)" = PONG ]
	[ "$(inside bash -c 'exec 5<>/dev/tcp/wire.test/25; head -n 1 <&5')" = $'220 wire.test ready\r' ]
	[ "$(inside curl -sS -p -x http://proxy.test:3128 http://origin.test/chunked)" = "one two three" ]
}

@test "internet: who runs there is nobody special" {
	only_user
	[ "$(inside id -u)" = "$(id -u)" ]
	inside grep -qx 'CapEff:	0000000000000000' /proc/self/status
	run inside ip link set lo down
	[ "$status" -ne 0 ]
}

@test "internet: the host's own network is another" {
	[ "$(readlink /proc/self/ns/net)" != "$(inside readlink /proc/self/ns/net)" ]
	run ! grep -q 203.0.113.53 /etc/resolv.conf
}
