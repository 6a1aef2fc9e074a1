# Real programs reach an allowed host, with and without proxy variables; and what
# each prints if the host is denied.
UNJUDGED=1
load helpers
load internet
load attack/attack

# Without the variables a program knows nothing of a proxy.
bare="env -u HTTP_PROXY -u HTTPS_PROXY -u FTP_PROXY -u ALL_PROXY"
bare+=" -u http_proxy -u https_proxy -u ftp_proxy -u all_proxy"

setup_file()
{
	attack_build resolve
	internet_start
}

teardown_file()
{
	internet_stop
	attack_clean
}

@test "clients: curl over http, https and HTTP/2, by both families" {
	agentbox_split run --allow allowed.test --allow v4.test --allow v6.test --allow cname.test -- \
		sh -c 'for with in "" "$0"; do
			for url in http://allowed.test/ https://allowed.test/ http://v4.test/ \
				http://v6.test/ https://v6.test/ http://cname.test/; do
				$with curl -sS --cacert "$NET/ca.pem" $url
			done
			$with curl -sS --http1.1 --cacert "$NET/ca.pem" https://allowed.test/
			$with curl -sS -4 http://allowed.test/
		done
		$with curl -sS -6 http://allowed.test/' "$bare"
	[ "$status" -eq 0 ]
	output=$(sort <<<"$output" | uniq -c | sed 's/^ *//')
	expect <<-END
	5 hello allowed.test http HTTP/1.1
	2 hello allowed.test https HTTP/1.1
	2 hello allowed.test https HTTP/2.0
	2 hello cname.test http HTTP/1.1
	2 hello v4.test http HTTP/1.1
	2 hello v6.test http HTTP/1.1
	2 hello v6.test https HTTP/2.0
	END
	[ -z "$stderr" ]
}

@test "clients: curl through SOCKS, whoever resolves the name" {
	agentbox_split run --allow allowed.test -- sh -c '
		at=${ALL_PROXY#*://}
		curl -sS --cacert "$NET/ca.pem" -x socks5h://$at https://allowed.test/
		curl -sS --cacert "$NET/ca.pem" -x socks5://$at https://allowed.test/
		curl -sS -x socks5://$at http://allowed.test/
		env -u http_proxy -u HTTP_PROXY curl -sS http://allowed.test/'
	[ "$status" -eq 0 ]
	expect <<-END
	hello allowed.test https HTTP/2.0
	hello allowed.test https HTTP/2.0
	hello allowed.test http HTTP/1.1
	hello allowed.test http HTTP/1.1
	END
}

@test "clients: what goes up and down arrives whole" {
	local sum up

	head -c 3000000 /dev/urandom >up
	sum=$(sha256sum <"$NET/www/big")
	up=$(sha256sum <up | cut -d' ' -f1)
	agentbox_split run --allow allowed.test --allow origin.test -- sh -c '
		for with in "" "$0"; do
			$with curl -sS http://allowed.test/big | sha256sum
			$with curl -sS --cacert "$NET/ca.pem" https://allowed.test/big | sha256sum
			$with curl -sS -T up http://origin.test/up | grep -o "\"sha256.*"
			$with curl -sS -T - http://origin.test/up <up | grep -o "\"sha256.*"
		done' "$bare"
	[ "$status" -eq 0 ]
	[ "$(grep -cxF "$sum" <<<"$output")" -eq 4 ]
	[ "$(grep -cF "$up" <<<"$output")" -eq 4 ]
}

@test "clients: curl says why when a host is not allowed" {
	agentbox_split run --allow allowed.test -- sh -c '
		curl -sS http://other.test/
		curl -sS https://other.test/ 2>&1
		'"$bare"' curl -sS https://other.test/ 2>&1'
	[ "$status" -eq 6 ]
	[[ "${lines[0]}" == "agentbox denied other.test:80: not on the allow list"*", id "* ]]
	[[ "$output" == *"response 403"* ]]
	[[ "${lines[-1]}" == *"Could not resolve host: other.test" ]]
	[ -z "$(dns_asked)" ]
}

@test "clients: git clones over https and ssh" {
	local ssh="ssh -F /dev/null -o BatchMode=yes -i $NET/client -o UserKnownHostsFile=$NET/known_hosts"

	agentbox_split run --allow git.test --env GIT_SSH_COMMAND="$ssh" \
		--env GIT_SSL_CAINFO="$NET/ca.pem" -- sh -e -c '
		git clone -q https://git.test/repo.git a
		git clone -q git@git.test:repo.git b
		'"$bare"' git clone -q https://git.test/repo.git c
		'"$bare"' git clone -q ssh://git@git.test/~/repo.git d
		cat a/file b/file c/file d/file'
	[ "$status" -eq 0 ]
	[ "$output" = $'content\ncontent\ncontent\ncontent' ]
	git -C b fsck --strict
}

@test "clients: git says why when a host is not allowed" {
	agentbox_split run --allow allowed.test --env GIT_SSL_CAINFO="$NET/ca.pem" -- \
		sh -c 'git clone https://git.test/repo.git a; git clone git@git.test:repo.git b'
	[ "$status" -eq 128 ]
	[[ "$stderr" == *403* ]]
	[[ "$stderr" == *"Could not resolve hostname git.test"* ]]
	[[ "$stderr" == *"git.test:443"*"--allow git.test"* ]]
	[ -z "$(dns_asked)" ]
}

@test "clients: ssh, on its port and on another one" {
	local ssh="ssh -F /dev/null -o BatchMode=yes -i $NET/client -o UserKnownHostsFile=$NET/known_hosts"

	agentbox_split run --allow git.test -- sh -c "
		echo up | $ssh git@git.test 'cat; echo there; exit 3'
		echo \$?
		$ssh -p 2222 git@git.test echo there"
	[ "$status" -eq 255 ]
	[ "$output" = $'up\nthere\n3' ]
	agentbox_split run --allow git.test:2222 -- $ssh -p 2222 git@git.test echo there
	[ "$status" -eq 0 ]
	[ "$output" = there ]
}

@test "clients: wget" {
	agentbox_split run --allow allowed.test -- sh -c '
		for with in "" "$0"; do
			for url in http://allowed.test/ https://allowed.test/; do
				$with wget -q --ca-certificate="$NET/ca.pem" -O - $url
			done
			$with wget -nv --ca-certificate="$NET/ca.pem" -O - https://other.test/
		done' "$bare"
	expect <<-END
	hello allowed.test http HTTP/1.1
	hello allowed.test https HTTP/1.1
	hello allowed.test http HTTP/1.1
	hello allowed.test https HTTP/1.1
	END
	[[ "$stderr" == *"Proxy tunneling failed: Denied by agentbox ("* ]]
	[[ "$stderr" == *"unable to resolve host address"* ]]
}

@test "clients: python's urllib, and a socket of its own" {
	cat >script.py <<-'END'
	import os, socket, ssl, urllib.error, urllib.request
	context = ssl.create_default_context(cafile=os.environ["NET"] + "/ca.pem")
	def fetch(url):
	    try:
	        with urllib.request.urlopen(url, context=context) as reply:
	            return reply.read().decode().strip()
	    except urllib.error.HTTPError as error:
	        return "%d %s" % (error.code, error.read().decode().split("\n")[0])
	    except urllib.error.URLError as error:
	        return str(error.reason)
	for url in ("http://allowed.test/", "https://allowed.test/",
	            "http://other.test/", "https://other.test/"):
	    print(fetch(url))
	with socket.create_connection(("allowed.test", 80)) as sock:
	    sock.sendall(b"GET / HTTP/1.0\r\nHost: allowed.test\r\n\r\n")
	    print(sock.makefile().read().split("\n")[-2])
	END
	agentbox_split run --allow allowed.test -- python3 script.py
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "hello allowed.test http HTTP/1.1" ]
	[ "${lines[1]}" = "hello allowed.test https HTTP/1.1" ]
	[[ "${lines[2]}" == "403 agentbox denied other.test:80: not on the allow list"* ]]
	[[ "${lines[3]}" == *"403"* ]]
	[ "${lines[4]}" = "hello allowed.test http HTTP/1.0" ]
	agentbox_split run --allow allowed.test -- $bare python3 script.py
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "hello allowed.test http HTTP/1.1" ]
	[ "${lines[1]}" = "hello allowed.test https HTTP/1.1" ]
	[[ "${lines[2]}" == *"Name or service not known"* ]]
	[[ "${lines[3]}" == *"Name or service not known"* ]]
	[ "${lines[4]}" = "hello allowed.test http HTTP/1.0" ]
}

@test "clients: node's fetch and http" {
	cat >script.js <<-'END'
	const http = require("http"), https = require("https");
	const get = (module, url) => new Promise((done) => {
		module.get(url, (reply) => {
			let text = "";
			reply.on("data", (part) => text += part);
			reply.on("end", () => done(text.trim()));
		}).on("error", (error) => done(error.code));
	});
	(async () => {
		for (const url of ["http://allowed.test/", "https://allowed.test/", "https://other.test/"]) {
			try {
				console.log((await (await fetch(url)).text()).trim());
			} catch (error) {
				console.log(error.cause.code);
			}
			console.log(await get(url.startsWith("https") ? https : http, url));
		}
	})();
	END
	agentbox_split run --allow allowed.test --env NODE_EXTRA_CA_CERTS="$NET/ca.pem" -- node script.js
	[ "$status" -eq 0 ]
	expect <<-END
	hello allowed.test http HTTP/1.1
	hello allowed.test http HTTP/1.1
	hello allowed.test https HTTP/1.1
	hello allowed.test https HTTP/1.1
	ENOTFOUND
	ENOTFOUND
	END
}

@test "clients: java, which knows nothing of the variables" {
	agentbox_split run --allow allowed.test -- java -XX:TieredStopAtLevel=1 \
		"$ROOT/test/internet/Fetch.java" "$NET/ca.pem" \
		http://allowed.test/ https://allowed.test/ http://other.test/
	[ "$status" -eq 0 ]
	expect <<-END
	hello allowed.test http HTTP/1.1
	hello allowed.test http HTTP/1.1
	hello allowed.test https HTTP/2.0
	failed ConnectException
	failed UnknownHostException
	END
}

@test "clients: static programs with a resolver of their own" {
	need program:musl-gcc
	musl-gcc -static -O1 -o "$ATTACK/resolve-musl" "$ROOT/test/attack/resolve.c"
	agentbox_split run --allow allowed.test --allow v6.test --allow wire.test:25 -- sh -c '
		for program in resolve resolve-musl; do
			for name in allowed.test v6.test other.test; do
				"$0/$program" $name 80 http | tail -n 1
			done
			"$0/$program" wire.test 25 QUIT
		done' "$ATTACK"
	[ "$status" -eq 0 ]
	output=${output//$'\r'/}
	expect <<-END
	hello allowed.test http HTTP/1.0
	hello v6.test http HTTP/1.0
	other.test: Name or service not known
	220 wire.test ready
	221 bye
	hello allowed.test http HTTP/1.0
	hello v6.test http HTTP/1.0
	other.test: Name does not resolve
	220 wire.test ready
	221 bye
	END
}

@test "clients: a database that knows no proxy" {
	agentbox_split run --allow redis.test:6379 -- sh -c '
		redis-cli -h redis.test set key value
		redis-cli -h redis.test get key
		redis-cli -h 203.0.113.40 get key'
	[ "$status" -ne 0 ]
	[ "$output" = $'OK\nvalue' ]
	agentbox_split run --allow redis.test -- redis-cli -h redis.test get key
	[ "$status" -ne 0 ]
	[[ "$stderr" == *"redis.test:6379"*"--allow redis.test:6379"* ]]
	agentbox_split run --allow 203.0.113.40:6379 -- redis-cli -h 203.0.113.40 get key
	[ "$status" -eq 0 ]
	[ "$output" = value ]
}

@test "clients: apt-get reads its lists" {
	local name

	mkdir -p apt/{lists,cache,parts}
	: >apt/status
	for name in apt other; do
		echo "deb [trusted=yes] http://$name.test/apt ./" >apt/$name.list
	done
	update()
	{
		agentbox_split run --allow apt.test -- apt-get \
			-o Dir::Etc::SourceList="$PWD/apt/$1.list" -o Dir::Etc::SourceParts="$PWD/apt/parts" \
			-o Dir::State::Lists="$PWD/apt/lists" -o Dir::State::Status="$PWD/apt/status" \
			-o Dir::Cache="$PWD/apt/cache" -o APT::Sandbox::User=root \
			-o Acquire::Retries=0 -o APT::Update::Error-Mode=any update
	}
	update apt
	[ "$status" -eq 0 ]
	grep -rq 'Package: nothing' apt/lists
	update other
	[ "$status" -ne 0 ]
	[[ "$output$stderr" == *403* ]]
}

@test "clients: servers of the box itself are reached without the door" {
	echo mine >page
	agentbox_split run --allow allowed.test -- sh -c '
		python3 -m http.server -b 127.0.0.1 8000 >/dev/null 2>&1 &
		server=$!
		until curl -s -o /dev/null http://127.0.0.1:8000/; do sleep 0.05; done
		curl -sS http://127.0.0.1:8000/page
		curl -sS http://localhost:8000/page
		'"$bare"' curl -sS http://localhost:8000/page
		curl -sS http://allowed.test/
		kill $server'
	[ "$status" -eq 0 ]
	expect <<-END
	mine
	mine
	mine
	hello allowed.test http HTTP/1.1
	END
	[ -z "$stderr" ]
	[ "$(audit 'select(.kind == "request") | .domain')" = allowed.test ]
}
