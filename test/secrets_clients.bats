# unsanitized: the clients take longer than the proxy; other files send the same to it
# Real programs use a key that they never see: the value reaches the server, and
# cannot be found anywhere in the box.
UNJUDGED=1
load helpers
load internet
load secrets
load attack/attack

@test "secrets: curl, told about the proxy and not" {
	agentbox_split run --secret OPENAI_API_KEY -- sh -c '
		for proxy in "" "-x socks5h://127.0.0.1:61080" "--noproxy *"; do
			curl -sS $proxy https://api.openai.com/v1/models \
				-H "Authorization: Bearer $OPENAI_API_KEY" \
				-o answer -w "%{http_code} %{http_version}\n"
			grep -c "Bearer $OPENAI_API_KEY" answer
		done
		env | grep -v BATS; cat /proc/self/environ /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep -a API_KEY
		sleep 100 & '"$(scan)"'; kill $!'
	[ "$status" -eq 0 ]
	[ "$(head -n 6 <<<"$output" | paste -sd' ')" = "200 1.1 1 200 1.1 1 200 1.1 1" ]
	[ "$(tail -n 1 <<<"$output")" = clean ]
	[ "$(since_mark origin | jq -r .head | grep -c "^Authorization: Bearer $KEY.$")" -eq 3 ]
	hidden
	# What stands for it looks like it.
	[[ "$output" =~ OPENAI_API_KEY=(sk-proj-[A-Za-z0-9]+) ]]
	[ "${#BASH_REMATCH[1]}" -eq "${#KEY}" ]
	[ "$(audit 'select(.kind == "request") | [.domain, .path, .status, .secret, .intercepted] | @csv' | sort -u)" = \
		'"api.openai.com","/v1/models",200,"OPENAI_API_KEY",true' ]
}

@test "secrets: git push over https, by a password in the URL and by a helper" {
	export GITHUB_TOKEN=ghp_RealValue0123456789abcdefghijklmnopq
	agentbox_split run --secret GITHUB_TOKEN -- sh -ec '
		git clone -q "https://x-access-token:$GITHUB_TOKEN@github.com/git/repo.git" one
		cd one
		git commit -q --allow-empty -m one
		git push -q
		cd ..
		git -c credential.helper="!f() { echo username=x; echo password=\$GITHUB_TOKEN; }; f" \
			clone -q https://github.com/git/repo.git two
		git -C two log --format=%s
		'"$(scan "$GITHUB_TOKEN")"
	[ "$status" -eq 0 ]
	expect <<-END
	one
	first
	clean
	END
	[ "$(git --git-dir="$NET/keys/repo.git" log -1 --format=%s)" = one ]
	origin_saw "$(printf 'x-access-token:%s' "$GITHUB_TOKEN" | base64 -w0)"
	hidden "$GITHUB_TOKEN"
	hidden "$(printf 'x-access-token:%s' "$GITHUB_TOKEN" | base64 -w0)"
	! grep -rqF "$GITHUB_TOKEN" one two || false
}

@test "secrets: python, by urllib and by http.client" {
	cat >client.py <<-'END'
	import http.client, os, ssl, urllib.request
	key = os.environ["OPENAI_API_KEY"]
	head = {"Authorization": "Bearer " + key}
	url = "https://api.openai.com/v1/models"
	body = urllib.request.urlopen(urllib.request.Request(url, headers=head)).read()
	print("urllib", key.encode() in body)
	there = http.client.HTTPSConnection("api.openai.com")
	for path in ("/v1/a", "/v1/b"):     # on one connection
	    there.request("POST", path, body=b"{}" * 20000, headers=head)
	    body = there.getresponse().read()
	    print("http.client", key.encode() in body, b'"length": 40000' in body)
	print(end="", flush=True)
	os.system(os.environ["SCAN"])
	END
	agentbox_split run --secret OPENAI_API_KEY --env SCAN="$(scan)" -- python3 client.py
	[ "$status" -eq 0 ]
	expect <<-END
	urllib True
	http.client True True
	http.client True True
	clean
	END
	[ "$(since_mark origin | grep -cF "Bearer $KEY")" -eq 3 ]
	hidden
}

@test "secrets: node's fetch and https" {
	cat >client.js <<-'END'
	const key = process.env.OPENAI_API_KEY
	const headers = { Authorization: `Bearer ${key}` }
	const url = "https://api.openai.com/v1/models"
	const https = require("https")
	;(async () => {
		const answer = await (await fetch(url, { headers })).json()
		console.log("fetch", JSON.stringify(answer).includes(key))
		https.get(url, { headers }, async (answer) => {
			let text = ""
			for await (const part of answer) text += part
			console.log("https", answer.statusCode, text.includes(key))
			require("child_process").execSync(process.env.SCAN, { stdio: "inherit" })
		})
	})()
	END
	agentbox_split run --secret OPENAI_API_KEY --env SCAN="$(scan)" -- node client.js
	[ "$status" -eq 0 ]
	expect <<-END
	fetch true
	https 200 true
	clean
	END
	[ "$(since_mark origin | grep -ciF "Bearer $KEY")" -eq 2 ]
	hidden
}

@test "secrets: java's HttpClient, by the keystore as it finds it" {
	cat >Client.java <<-'END'
	import java.net.URI;
	import java.net.http.*;

	class Client {
		public static void main(String[] args) throws Exception {
			String key = System.getenv("OPENAI_API_KEY");
			var request = HttpRequest.newBuilder(URI.create("https://api.openai.com/v1/models"))
				.header("Authorization", "Bearer " + key).build();
			var answer = HttpClient.newHttpClient().send(request,
				HttpResponse.BodyHandlers.ofString());
			System.out.println(answer.statusCode() + " " + answer.body().contains(key));
		}
	}
	END
	agentbox_split run --secret OPENAI_API_KEY --env SCAN="$(scan)" -- sh -c '
		java -XX:TieredStopAtLevel=1 -Xshare:auto Client.java; sleep 100 & $SCAN; kill $!'
	[ "$status" -eq 0 ]
	expect <<-END
	200 true
	clean
	END
	origin_saw "Bearer $KEY"
	hidden
}

@test "secrets: openssl s_client sees the run's authority and speaks through it" {
	agentbox_split run --secret OPENAI_API_KEY -- sh -c '
		for field in Authorization: X-Other:; do
			printf "GET /v1/x HTTP/1.1\r\nHost: api.openai.com\r\n$field Bearer %s\r\nConnection: close\r\n\r\n" \
				"$OPENAI_API_KEY" |
				openssl s_client -quiet -verify_return_error -connect api.openai.com:443 \
					-servername api.openai.com 2>err | head -n 1
		done
		grep -c "agentbox run authority" err'
	[ "$status" -eq 0 ]
	[ "$(tail -n 1 <<<"$output")" -gt 0 ]
	[[ "$output" == "HTTP/1.1 200 OK"*"HTTP/1.1 403 "* ]]
	# Where this provider has its keys is known: no other field will do.
	[ "$(origin_requests | wc -l)" -eq 1 ]
	origin_saw "uthorization: Bearer $KEY"
	hidden
}

@test "secrets: every provider's own way to carry its key" {
	local name how host out

	# Variable, host, what a client sends with P, what arrives with V.
	while read -r name host how; do
		export "$name=Real_${name}_0123456789abcdefghijklmnop"
		echo "$name $host $how" >>list
	done <<-'END'
	OPENROUTER_API_KEY openrouter.ai Authorization: Bearer P
	OPENAI_API_KEY api.openai.com Authorization: Bearer P
	GROQ_API_KEY api.groq.com Authorization: Bearer P
	TOGETHER_API_KEY api.together.xyz Authorization: Bearer P
	DEEPSEEK_API_KEY api.deepseek.com Authorization: Bearer P
	MISTRAL_API_KEY api.mistral.ai Authorization: Bearer P
	XAI_API_KEY api.x.ai Authorization: Bearer P
	NOUS_API_KEY inference-api.nousresearch.com Authorization: Bearer P
	ANTHROPIC_API_KEY api.anthropic.com x-api-key: P
	ANTHROPIC_API_KEY api.anthropic.com Authorization: Bearer P
	AZURE_OPENAI_API_KEY here.openai.azure.com api-key: P
	GEMINI_API_KEY generativelanguage.googleapis.com x-goog-api-key: P
	GITHUB_TOKEN api.github.com Authorization: Bearer P
	GITHUB_TOKEN api.github.com Authorization: token P
	NPM_TOKEN registry.npmjs.org Authorization: Bearer P
	HF_TOKEN huggingface.co Authorization: Bearer P
	END
	cat >ask.sh <<-'END'
	while read -r name host how; do
		eval "key=\$$name"
		curl -sS -o /dev/null -w "%{http_code}\n" "https://$host/x" -H "${how%P}$key"
	done <list
	curl -sS -o /dev/null -w "%{http_code}\n" \
		"https://generativelanguage.googleapis.com/x?a=1&key=$GEMINI_API_KEY"
	curl -sS -o /dev/null -w "%{http_code}\n" -u "__token__:$TWINE_PASSWORD" https://upload.pypi.org/legacy/
	END
	export TWINE_PASSWORD=pypi-RealValue0123456789abcdefghij
	agentbox_split run $(cut -d' ' -f1 list | sort -u | sed 's/^/--secret /') \
		--secret TWINE_PASSWORD -- sh ask.sh
	[ "$status" -eq 0 ]
	[ "$(sort -u <<<"$output")" = 200 ]
	since_mark origin | jq -r .head >"$TEST_DIR/seen"
	while read -r name host how; do
		grep -qF -e "${how%P}${!name}" "$TEST_DIR/seen"
		hidden "${!name}"
	done <list
	grep -qF "/x?a=1&key=$GEMINI_API_KEY " "$TEST_DIR/seen"
	grep -qF "Basic $(printf '__token__:%s' "$TWINE_PASSWORD" | base64 -w0)" "$TEST_DIR/seen"
}

@test "secrets: events arrive as they are sent, and the value in them does not" {
	cat >client.py <<-'END'
	import os, urllib.request
	key = os.environ["OPENAI_API_KEY"]
	def ask(path):
	    return urllib.request.urlopen(urllib.request.Request(
	        "https://api.openai.com" + path, headers={"Authorization": "Bearer " + key}))
	stream = ask("/stream/one")
	print(stream.readline(), stream.readline())    # before the rest is sent
	ask("/open/one").read()
	print(stream.read() == b"data: " + key.encode() + b"\n\n")
	END
	agentbox_split run --secret OPENAI_API_KEY -- python3 client.py
	[ "$status" -eq 0 ]
	expect <<-'END'
	b'data: first\n' b'\n'
	True
	END
	hidden
}

@test "secrets: big bodies arrive whole, both ways" {
	head -c 3000000 /dev/urandom | base64 -w0 >up
	agentbox_split run --secret OPENAI_API_KEY -- sh -c '
		for more in "" "-HTransfer-Encoding:chunked"; do
			curl -sS $more -T up https://api.openai.com/up -H "Authorization: Bearer $OPENAI_API_KEY" |
				grep -o "\"sha256.*"
		done
		curl -sS https://api.openai.com/bytes/20000000 -H "Authorization: Bearer $OPENAI_API_KEY" |
			sha256sum'
	[ "$status" -eq 0 ]
	[ "$(grep -c "$(sha256sum <up | cut -d' ' -f1)" <<<"$output")" -eq 2 ]
	[ "$(tail -n 1 <<<"$output")" = "$(head -c 20000000 /dev/zero | tr '\0' x | sha256sum)" ]
}

@test "secrets: a websocket after its upgrade" {
	cat >client.py <<-'END'
	import base64, os, socket, ssl
	key = os.environ["OPENAI_API_KEY"]
	raw = socket.create_connection(("api.openai.com", 443))
	sock = ssl.create_default_context().wrap_socket(raw, server_hostname="api.openai.com")
	sock.sendall(("GET /ws HTTP/1.1\r\nHost: api.openai.com\r\nConnection: Upgrade\r\n"
	    "Upgrade: websocket\r\nSec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n"
	    "Sec-WebSocket-Extensions: permessage-deflate\r\n"
	    "Authorization: Bearer %s\r\n\r\n" % (base64.b64encode(b"x" * 16).decode(), key)).encode())
	file = sock.makefile("rb")
	print(file.readline().decode().strip())
	while file.readline() != b"\r\n":
	    pass
	sock.sendall(b"\x81\x85\0\0\0\0hello")
	print(file.read(7))
	sock.sendall(b"\x88\x80\0\0\0\0")
	END
	agentbox_split run --secret OPENAI_API_KEY -- python3 client.py
	[ "$status" -eq 0 ]
	expect <<-'END'
	HTTP/1.1 101 Switching Protocols
	b'\x81\x05hello'
	END
	origin_saw "Bearer $KEY"
	! origin_saw permessage-deflate || false
}

@test "secrets: a server may take half a minute for its handshake; then the client is told" {
	config '{ "secrets": { "OPENAI_API_KEY": { "hosts": ["slow.test", "deaf.test"] } } }'
	agentbox_split run -- sh -c '
		for host in slow deaf; do
			for as in --http1.1 --http2; do
				curl -sS $as -w "\n$as %{http_code}\n" -H "Authorization: Bearer $OPENAI_API_KEY" \
					https://$host.test/x >$host$as &
			done
		done
		wait
		tail -qn 1 slow*; cat deaf*'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "--http1.1 200" ]
	[ "${lines[1]}" = "--http2 200" ]
	[ "$(grep -c 'deaf.test:443: the server did not complete its TLS handshake within 30 seconds' <<<"$output")" -eq 2 ]
	[[ "$output" == *"--http1.1 502"*"--http2 502"* ]]
	[ "$(audit 'select(.kind == "request" and .error != null) | .status' | tr '\n' ' ')" = "502 502 " ]
	origin_saw "Bearer $KEY"
}

@test "secrets: the gateway, without any certificate of ours" {
	config '{ "secrets": { "OPENAI_API_KEY": { "via": "gateway" } } }'
	agentbox_split run -- sh -c '
		curl -sS "$OPENAI_BASE_URL/models?x=1" -H "Authorization: Bearer $OPENAI_API_KEY" -o answer \
			-w "%{http_code}\n"
		grep -c "Bearer $OPENAI_API_KEY" answer
		echo "$OPENAI_BASE_URL" "$SSL_CERT_FILE"
		curl -sS -o /dev/null -w "%{http_code}\n" "${OPENAI_BASE_URL%/v1}/chat/completions" \
			-H "Authorization: Bearer $OPENAI_API_KEY"
		curl -sS -o /dev/null -w "%{http_code}\n" http://127.0.0.1:61080/anthropic/x
		curl -sS -o /dev/null -w "%{http_code}\n" "$OPENAI_BASE_URL/models" -H "Host: evil.test" \
			-H "Authorization: Bearer $OPENAI_API_KEY"'
	[ "$status" -eq 0 ]
	expect <<-END
	200
	1
	http://127.0.0.1:61080/openai/v1 
	200
	400
	400
	END
	origin_saw "GET /v1/models?x=1 HTTP/1.1"
	# A client that does not expect the version in the URL.
	origin_saw "GET /v1/chat/completions HTTP/1.1"
	origin_saw "Host: api.openai.com"
	origin_saw "Bearer $KEY"
	[ "$(audit 'select(.door == "gateway") | .path' | sort | tr '\n' ' ')" = "/v1/chat/completions /v1/models " ]
	hidden
}

@test "secrets: inject and require" {
	config '{ "secrets": { "OPENAI_API_KEY": { "mode": "inject" } } }'
	agentbox_split run -- curl -sS -o /dev/null -w '%{http_code}\n' https://api.openai.com/x
	[ "$output" = 200 ]
	origin_saw "uthorization: Bearer $KEY"
	internet_mark
	config '{ "secrets": { "OPENAI_API_KEY": { "mode": "swap", "require": true } } }'
	agentbox_split run -- sh -c '
		curl -sS -o answer -w "%{http_code}\n" https://api.openai.com/x; cat answer
		curl -sS -o answer -w "%{http_code}\n" https://api.openai.com/x \
			-H "Authorization: Bearer $OPENAI_API_KEY"'
	[ "$status" -eq 0 ]
	[ "$(head -n 1 <<<"$output")" = 403 ]
	[[ "$output" == *"the request lacks the required placeholder (OPENAI_API_KEY)"* ]]
	[ "$(tail -n 1 <<<"$output")" = 200 ]
	[ "$(origin_requests | wc -l)" -eq 1 ]
}

@test "secrets: path and body by opt-in" {
	config '{ "secrets": { "BOT": { "hosts": ["keys.test"], "also": ["path", "body"] },
		"OTHER": { "hosts": ["keys.test"] } } }'
	export BOT=1234567:RealBotValue0123456789abcdef OTHER=AnotherRealValue0123456789
	agentbox_split run -- sh -c '
		curl -sS -o /dev/null -w "%{http_code}\n" "https://keys.test/bot$BOT/send" -d "a=1&t=$BOT&b=2"
		curl -sS -o /dev/null -w "%{http_code}\n" "https://keys.test/x/$OTHER"
		echo "t=$BOT" | gzip | curl -sS -o /dev/null -w "%{http_code}\n" https://keys.test/x \
			-H "Content-Encoding: gzip" --data-binary @-'
	[ "$status" -eq 0 ]
	[ "$(paste -sd' ' <<<"$output")" = "200 403 403" ]
	origin_saw "POST /bot$BOT/send HTTP/1.1"
	origin_saw "a=1&t=$BOT&b=2"
	! origin_saw "$OTHER" || false
	hidden "$BOT"
}
