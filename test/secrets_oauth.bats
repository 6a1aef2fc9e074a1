# OAuth: the host exchanges refresh tokens, client secrets and keys of service
# accounts for access tokens; the box has placeholders of all of them.
UNJUDGED=1
load helpers
load internet
load secrets
load attack/attack

# As test/internet/oauth.py knows them.
CLIENT=client-1
SECRET=RealClientSecret0123456789

# What every client in the box begins with.
client='
import base64, json, os, ssl, sys, urllib.error, urllib.parse, urllib.request
# Once: to read all authorities takes longer than a request.
context = ssl.create_default_context()
urllib.request.install_opener(urllib.request.build_opener(urllib.request.HTTPSHandler(context=context)))
token, refresh = os.environ.get("API_TOKEN"), os.environ.get("API_TOKEN_REFRESH_TOKEN")
def send(url, data=None, **headers):
    rq = urllib.request.Request(url, data, {k.replace("_", "-"): v for k, v in headers.items()})
    try:
        with urllib.request.urlopen(rq) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.reason
def api(token=token):
    return send("https://api.auth.test/x", Authorization="Bearer " + token)
def ask(url="https://auth.test/token", **form):
    return send(url, urllib.parse.urlencode(form).encode())
'

# refresh_config KIND [JSON]: a refresh token of that kind, in a client'\''s file.
refresh_config()
{
	FAMILY=$1-$BATS_TEST_NUMBER-$RANDOM
	mkdir -p "$HOME/.tool"
	jq -n --arg r "RealRefresh.$FAMILY.0" '{ login: { refreshToken: $r,
		accessToken: "RealAccess-of-the-login", expiresAt: 1 } }' >"$HOME/.tool/login.json"
	config "$(jq -n --argjson more "${2:-{\}}" --arg client "$CLIENT" '{ secrets: { API_TOKEN: ({
		oauth: { url: "https://auth.test/token", client: $client },
		from: "file", file: "~/.tool/login.json", key: "login.refreshToken",
		files: ["~/.tool/login.json"], hosts: ["api.auth.test"], as: "bearer" } * $more) } }')"
}

box_client()
{
	{ printf '%s' "$client"; cat; } >client.py
	agentbox_split run "$@" -- /usr/bin/python3 client.py
	echo "$stderr" >&2
}

denials()
{
	audit 'select(.kind == "violation") | .reason'
}

# exchanges: how often a token was asked for in this test.
exchanges()
{
	since_mark origin | jq -r '.head // "" | select(startswith("POST /token ")) | 1' | wc -l
}

@test "oauth: the host exchanges a refresh token when it is first needed; the box never sees a token" {
	refresh_config shown
	box_client --env SCAN="$(scan "RealRefresh.$FAMILY.0")" --env SCAN2="$(scan RealAccess-)" <<-'END'
	print(api()[0], api()[1].split()[1].split("-")[0], "RealAccess" in api()[1], token[:16] in api()[1])
	login = json.load(open(os.path.expanduser("~/.tool/login.json")))["login"]
	print(login["refreshToken"] == refresh, login["accessToken"] == token, login["expiresAt"])
	# As tools do it, with the file: a form, then JSON.
	for data, kind in ((urllib.parse.urlencode, "x-www-form-urlencoded"), (json.dumps, "json")):
	    status, text = send("https://auth.test/token", data(dict(grant_type="refresh_token",
	        refresh_token=login["refreshToken"], client_id="client-1")).encode(),
	        Content_Type="application/" + kind)
	    new = json.loads(text)
	    print(status, new["access_token"] == token, new["refresh_token"] == refresh, new["token_type"],
	        new["expires_in"] > 600, flush=True)
	os.system(os.environ["SCAN"])
	os.system(os.environ["SCAN2"])
	END
	[ "$status" -eq 0 ]
	expect <<-'END'
	200 shown False True
	True True 1
	200 True True Bearer True
	200 True True Bearer True
	clean
	clean
	END
	[ "$(exchanges)" = 1 ]
	hidden "RealRefresh.$FAMILY.0"
	hidden RealAccess-
	[ -z "$(denials)" ]
	[ "$(audit 'select(.kind == "secret") | [.name, .event] | @csv')" = '"API_TOKEN","read"' ]
	[ "$(audit 'select(.kind == "request" and .path == "/token") | [.domain, .secret, .status] | @csv' | sort -u)" = \
		'"auth.test","API_TOKEN",200' ]
	# Without a request nothing is exchanged.
	internet_mark
	agentbox run -- true
	[ "$status" -eq 0 ]
	[ "$(exchanges)" = 0 ]
}

@test "oauth: a refresh token that is replaced is kept on the host, and runs take turns" {
	local pids=
	refresh_config rotate
	for i in 1 2; do
		box_client <<<'print(api())'
		[ "$output" = "(200, 'hello $FAMILY\\n')" ]
	done
	[ "$(cat "$AGENTBOX_STATE"/oauth/????????????????????????????????)" = "RealRefresh.$FAMILY.2" ]
	[ "$(stat -c %a "$AGENTBOX_STATE/oauth")" = 700 ]
	printf '%s' "$client" >client.py
	echo 'print(api())' >>client.py
	for i in 1 2 3; do
		launch run -- /usr/bin/python3 client.py >"out.$i" 2>&1 &
		pids+=" $!"
	done
	wait $pids
	[ "$(cat out.1 out.2 out.3 | grep -c '200')" = 3 ] || { cat out.*; false; }
	[ "$(cat "$AGENTBOX_STATE"/oauth/????????????????????????????????)" = "RealRefresh.$FAMILY.5" ]
	# A new login is used at once; one that is not valid any more is told.
	refresh_config rotate
	box_client <<<'print(api()[0])'
	[ "$output" = 200 ]
	rm -r "$AGENTBOX_STATE/oauth"
	box_client <<<'print(*api())'
	[[ "$output" == "502 Bad Gateway (agentbox: no access token: secret API_TOKEN: get an access token from auth.test: the service refused (400 invalid_grant)"* ]]
	[[ "$stderr" == *"API_TOKEN"*"invalid_grant"* ]]
	[ "$(audit 'select(.kind == "secret") | .event' | tail -n 1)" = failed ]
}

@test "oauth: an access token is renewed before it expires, and several requests wait for one" {
	refresh_config short '{ "oauth": { "body": "json" } }'
	box_client <<-'END'
	import threading, time
	got = []
	def one():
	    got.append(api()[0])
	threads = [threading.Thread(target=one) for _ in range(8)]
	for t in threads: t.start()
	for t in threads: t.join()
	print(got)
	end = time.monotonic() + 10
	while time.monotonic() < end:
	    got.append(api()[0])
	    time.sleep(0.6)
	# On a slow machine the renewal may come too late for one of them, never for long.
	print(got[-1], got.count(401) < 4)
	END
	[ "$status" -eq 0 ]
	[ "$(head -n 1 <<<"$output")" = '[200, 200, 200, 200, 200, 200, 200, 200]' ]
	[ "$(tail -n 1 <<<"$output")" = '200 True' ]
	[ "$(exchanges)" -ge 2 ]
	[ "$(exchanges)" -le 8 ]
}

@test "oauth: a token does not come back in an answer that began before it was there" {
	refresh_config short
	box_client <<-'END'
	import threading
	def watch():
	    with urllib.request.urlopen("https://api.auth.test/next") as answer:
	        print(answer.readline(), flush=True)
	        begun.set()
	        text = answer.read().decode()
	        print(len(text) > 16, "RealAccess" in text, text[:16] == token[:16])
	# The first one; then one that is got when that is about to expire.
	for i in range(2):
	    begun = threading.Event()
	    watcher = threading.Thread(target=watch)
	    watcher.start()
	    begun.wait()
	    while watcher.is_alive():
	        api()
	        watcher.join(0.3)
	print(api())
	END
	[ "$status" -eq 0 ]
	expect <<-END
	b'begun\n'
	True False True
	b'begun\n'
	True False True
	(200, 'hello $FAMILY\n')
	END
	hidden RealAccess-
	[ "$(exchanges)" -ge 2 ]
}

@test "oauth: a client secret of a variable is exchanged, in the body or in Authorization" {
	export API_SECRET=$SECRET
	for login in body basic; do
		config "$(jq -n --arg login "$login" '{ secrets: { API_TOKEN: { oauth: {
			grant: "client_credentials", url: "https://auth.test/token", client: "client-1",
			scopes: ["read", "list"], login: $login }, from: "env", env: "API_SECRET",
			hosts: ["api.auth.test"] } } }')"
		box_client --env SCAN="$(scan "$SECRET")" <<-'END'
		secret = os.environ["API_TOKEN_CLIENT_SECRET"]
		print(*api())
		print(json.loads(ask(grant_type="client_credentials", client_id="client-1", client_secret=secret,
		    scope="read")[1])["access_token"] == token)
		basic = base64.b64encode(("client-1:" + secret).encode()).decode()
		print(send("https://auth.test/token", b"grant_type=client_credentials", Authorization="Basic " + basic)[0],
		    send("https://auth.test/token", b"grant_type=client_credentials", Authorization="Basic " +
		        base64.b64encode(b"client-1:other").decode())[0])
		print(ask(grant_type="client_credentials", client_id="client-1", client_secret=secret, scope="write")[0],
		    "API_SECRET" in os.environ, flush=True)
		os.system(os.environ["SCAN"])
		END
		[ "$status" -eq 0 ]
		expect <<-'END'
		200 hello client-read list

		True
		200 403
		403 False
		clean
		END
		[ "$(exchanges)" = 1 ]
		internet_mark
	done
	hidden "$SECRET"
	grep -F 'it asks for a scope that the settings do not list' <<<"$(denials)"
}

@test "oauth: the client secret of a refresh token is not in the box, whatever its source is" {
	refresh_config fixed
	export LOGIN_OF_APP=$SECRET OTHER=stays
	mkdir sub
	echo "$SECRET" >sub/client
	echo visible >sub/twin
	config "$(jq -n --arg f "$PWD/sub/client" '{ secrets: { API_TOKEN: { oauth: {
		clientSecret: { from: "file", file: $f } } } } }')"
	box_client --pass-env OTHER --pass-env LOGIN_OF_APP <<-'END'
	try:
	    print(open("sub/client").read())
	except OSError as e:
	    print(e.strerror)
	print(open("sub/twin").read(), *api(), os.environ.get("LOGIN_OF_APP"), os.environ["OTHER"])
	# It would be read again.
	for way in (lambda: os.rename("sub", "old"), lambda: os.remove("sub/client")):
	    try:
	        way()
	        print("gone")
	    except OSError:
	        print("stays")
	END
	[ "$status" -eq 0 ]
	expect <<-END
	Permission denied
	visible
	 200 hello $FAMILY
	 None stays
	stays
	stays
	END
	origin_saw "client_secret=$SECRET"
	rm -r sub
	jq '.secrets.API_TOKEN.oauth.clientSecret = { from: "env", env: "LOGIN_OF_APP" }' \
		"$HOME/.config/agentbox/config.json" >"$TEST_DIR/config"
	mv "$TEST_DIR/config" "$HOME/.config/agentbox/config.json"
	internet_mark
	box_client --pass-env OTHER --pass-env LOGIN_OF_APP \
		<<<'print(api()[0], os.environ.get("LOGIN_OF_APP"), os.environ["OTHER"])'
	[ "$output" = "200 None stays" ]
	origin_saw "client_secret=$SECRET"
}

@test "oauth: other requests to the token URL are denied, and so is the placeholder elsewhere" {
	refresh_config fixed
	box_client --allow keys.test <<-'END'
	good = dict(grant_type="refresh_token", refresh_token=refresh, client_id="client-1")
	print(ask(**good)[0])
	for change in (dict(refresh_token="RealRefresh.fixed-x.0"), dict(grant_type="authorization_code", code="x"),
	               dict(client_id="other")):
	    print(ask(**dict(good, **change)), flush=True)
	form = urllib.parse.urlencode(good).encode()
	print(send("https://auth.test/token")[0], send("https://auth.test/token?x=1", form)[0],
	    send("https://auth.test/token", form, Content_Type="text/plain")[0],
	    send("https://auth.test/token", form + b"&refresh_token=x")[0],
	    send("https://auth.test/token", form, Content_Encoding="gzip")[0],
	    send("https://auth.test/token", form + b"&x=" + b"x" * 70000)[0])
	# The refresh token is never injected, and not known to other hosts.
	print(api(refresh)[0], send("https://auth.test/x", Authorization="Bearer " + refresh)[0],
	    send("https://auth.test/x", form)[0], send("http://keys.test/x", form)[0],
	    send("http://keys.test/x", Authorization="Bearer " + token)[0])
	END
	[ "$status" -eq 0 ]
	[ "$(head -n 1 <<<"$output")" = 200 ]
	[ "$(grep -c '^(403, .Denied by agentbox (.*-.*)' <<<"$output")" = 3 ]
	[ "$(tail -n 2 <<<"$output" | head -n 1)" = '403 403 403 403 403 403' ]
	[ "$(tail -n 1 <<<"$output")" = '403 403 401 403 403' ]
	[ "$(exchanges)" = 1 ]
	! origin_saw "RealRefresh.fixed-x.0" || false
	for why in 'its refresh_token is not the placeholder' 'its grant_type is not one that the host exchanges' \
		'its client_id is not the one in the settings' 'only POST requests are' 'its URL has a query' \
		'neither a form nor JSON' 'a parameter is there twice' 'its body is compressed' 'larger than 64 KiB'; do
		grep -F "the request for a token is not answered: " <<<"$(denials)" | grep -F "$why"
	done
	grep -F "a placeholder of another host's secret (API_TOKEN)" <<<"$(denials)"
	[ "$(audit 'select(.kind == "violation" and .rule == "secret-oauth") | .id' | sort -u | wc -l)" -ge 9 ]
}

# For clients that ask for tokens in other spellings of the URL: post(path), with the request that the host answers,
# and post(path, new), with one that its server would answer with a new token. tried(paths): both, of each.
spelled='
import http.client
form = urllib.parse.urlencode(dict(grant_type="refresh_token", refresh_token=refresh, client_id="client-1"))
new = "grant_type=client_credentials&client_id=client-1&client_secret=RealClientSecret0123456789"
def post(path, body=form, **more):
    there = http.client.HTTPSConnection("auth.test", context=context)
    head = { "Content-Type": "application/x-www-form-urlencoded", "Authorization": "Bearer " + token }
    there.request("POST", path, body, { **head, **{k.replace("_", "-"): v for k, v in more.items()} })
    answer = there.getresponse()
    text = answer.read().decode()
    return "HOLE" if "RealAccess" in text or answer.status == 200 and body is new else answer.status
def tried(paths):
    print(*(post(path) for path in paths))
    print(*(post(path, new) for path in paths))
'

# box_spelled: a client of these, with a secret for the host of the token URL, too.
box_spelled()
{
	local client=$client$spelled

	refresh_config fixed '{ "hosts": ["api.auth.test", "auth.test"] }'
	box_client
	no_hole
	[ "$status" -eq 0 ]
}

# The paths that reached its server.
reached()
{
	since_mark origin | jq -r 'select(.at == "203.0.113.93") | .head // "" | split(" ")[1] // empty' |
		LC_ALL=C sort | paste -sd' '
}

@test "oauth: no spelling of the token URL reaches its server, and its other paths do" {
	box_spelled <<-'END'
	tried(["/token", "//token", "/./token", "/a/../token", "/%74oken", "/%2e/token", "/a/%2e%2e/token", "http://auth.test//token"])
	# The allowed twin: the host's other paths, sent in the form that was judged.
	print(*(post(path) for path in ("/x", "/tokens", "/tokeninfo", "/a//b/../x", "/x?y=/token", "/x/token",
	                                "/api/v4/projects/group%2Fname", "/x%2ftoken", "/tokens%2Fx")))
	END
	expect <<-'END'
	200 200 200 200 200 200 200 200
	403 403 403 403 403 403 403 403
	200 200 200 200 200 200 200 200 200
	END
	[ "$(exchanges)" = 1 ]
	# Nothing else that reached it is about tokens.
	[ "$(reached)" = \
		"/a/x /api/v4/projects/group%2Fname /token /tokeninfo /tokens /tokens%2Fx /x /x%2Ftoken /x/token /x?y=/token" ]
}

@test "oauth: a path that a server may take for the token URL is denied" {
	box_spelled <<-'END'
	tried(["/token/", "/token;a=b", "/Token", "/;a/token", "/token.json", "/token%20", "/%20token", "/token/x",
	       "/to%E2%84%AAen", "/token;a=b/", "/TOKEN;/", "/token?x=1", "//token?x",
	       "/token%2f", "/token%2F%2Fx", "/%74oken%2Fx", "/a/../Token%2f"])
	# The twin.
	print(post("/tokens"))
	END
	expect <<-'END'
	403 403 403 403 403 403 403 403 403 403 403 403 403 403 403 403 403
	403 403 403 403 403 403 403 403 403 403 403 403 403 403 403 403 403
	200
	END
	[ "$(reached)" = "/token /tokens" ]
	grep -F 'a server may take its path for the token URL' <<<"$(denials)"
}

@test "oauth: an ambiguous path is refused, and a header that names another path" {
	box_spelled <<-'END'
	tried(["/%2ftoken", "/a/..//%2fx/token", "/token%252f", "/..%2ftoken", "/x%2f.%2f%2e%2e/token", "/x;%2f/token",
	       "/token%00", "/token%5c", "/token\\", "/\\token", "/a%2f..%2ftoken", "/%252e/token",
	       "/..;/token", "/../token", "/token%", "/%c0%aftoken"])
	print(post("/x", new, X_Original_URL="/token"), post("/x", new, X_Rewrite_URL="/token"))
	# The twin.
	print(post("/x"))
	END
	expect <<-'END'
	400 400 400 400 400 400 400 400 400 400 400 400 400 400 400 400
	400 400 400 400 400 400 400 400 400 400 400 400 400 400 400 400
	400 400
	200
	END
	[ "$(reached)" = "/token /x" ]
	grep -F 'it has dots or a parameter beside an escaped slash' <<<"$(denials)"
}

@test "oauth: a request that waits for a token goes to its own server, not to the kept one" {
	FAMILY=fixed-$BATS_TEST_NUMBER-$RANDOM
	unset OPENAI_API_KEY
	echo "RealRefresh.$FAMILY.0" >"$HOME/refresh"
	config '{ "secrets": { "OPENAI_API_KEY": { "via": "gateway", "from": "file", "file": "~/refresh",
		"oauth": { "url": "https://auth.test/token", "client": "client-1" } } } }'
	box_client --allow keys.test <<-'END'
	import http.client
	proxy = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
	kept = http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=100)
	login = { "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"] }
	def get(target, **headers):
	    kept.request("GET", target, headers=headers)
	    answer = kept.getresponse()
	    return answer.status, json.loads(answer.read())["headers"][0][1]
	print(*get("http://keys.test/one"), *get("/openai/v1/x", **login), *get("http://keys.test/two"))
	END
	[ "$status" -eq 0 ]
	# The name of the second would have a port without TLS.
	[ "$output" = '200 keys.test 200 api.openai.com 200 keys.test' ]
	[ "$(since_mark origin | jq -r 'select(.at == "203.0.113.80") |
		.event + " " + ((.head // "") | split(" ")[1] // "")' | paste -sd,)" = \
		"connection ,request /one,connection ,request /v1/x,connection ,request /two" ]
	origin_saw "Bearer RealAccess-"
	hidden RealAccess-
}

@test "oauth: a token URL that fails is told with its reason, and a later request tries again" {
	refresh_config bad
	box_client <<<'print(*api())'
	[[ "$output" == "502 "*"its answer has no access_token"* ]]
	refresh_config fixed '{ "oauth": { "url": "https://stranger.test/token" } }'
	box_client <<<'print(*api())'
	[[ "$output" == "502 "*"get an access token from stranger.test"*"certificate"* ]]
	refresh_config fixed '{ "oauth": { "url": "https://refused.test/token" } }'
	box_client <<<'print(*api())'
	[[ "$output" == "502 "*"cannot connect"* ]]
	refresh_config slow
	# The process that waits for the answer can do nothing else.
	wait_for 60 is_locked agentbox-token 3>&- &
	box_client <<<'print(*api())'
	[[ "$output" == "200 hello slow"* ]]
	wait $!
}

# look_into NAME TEXT...: which of these are in the memory of a process of this name? Who owns the user namespace in
# which its program was started may look; nobody else can, as it is not dumpable.
look_into()
{
	local pid name=$1

	shift
	stopped()
	{
		pid=$(pgrep -nx "$name") && kill -STOP "$pid"
	}
	wait_for 60 stopped
	python3 -c '
import ctypes, os, sys
pid, texts, found = int(sys.argv[1]), sys.argv[2:], set()
libc = ctypes.CDLL(None, use_errno=True)
if os.getuid():
    assert libc.setns(os.open("/proc/%s/ns/user" % os.environ["NET_PID"], os.O_RDONLY), 0) == 0
class Piece(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]
for line in open("/proc/%s/maps" % pid):
    start, end = (int(n, 16) for n in line.split()[0].split("-"))
    if end - start > 1 << 30:
        continue # what a sanitizer knows of the memory
    piece = ctypes.create_string_buffer(end - start)
    ours, theirs = Piece(ctypes.addressof(piece), end - start), Piece(start, end - start)
    n = libc.process_vm_readv(pid, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
    found.update(text for text in texts if n > 0 and text.encode() in piece.raw[:n])
print(*[text for text in texts if text in found], sep=chr(10))' "$pid" "$@"
	kill -CONT "$pid"
}

@test "oauth: the process that gets a token has what the broker holds in its memory, and no more" {
	export API_SECRET=$SECRET PLAIN_TOKEN=RealPlainValue0123456789abcdef
	refresh_config slow
	config '{ "secrets": { "PLAIN_TOKEN": { "hosts": ["api.openai.com"] }, "OTHER_TOKEN": { "oauth": {
		"grant": "client_credentials", "url": "https://auth.test/token", "client": "client-1" },
		"from": "env", "env": "API_SECRET", "hosts": ["other.auth.test"] } } }'
	look_into agentbox-token "RealRefresh.$FAMILY.0" "$SECRET" "$PLAIN_TOKEN" >"$TEST_DIR/found" 3>&- &
	box_client <<<'print(*api())'
	[[ "$output" == "200 hello slow"* ]]
	wait $!
	# The value of another secret that the supervisor alone has is not there. (A sanitizer copies the
	# environment.)
	! sanitized || sed -i "/^$PLAIN_TOKEN\$/d" "$TEST_DIR/found"
	[ "$(cat "$TEST_DIR/found")" = "RealRefresh.$FAMILY.0
$SECRET" ]
}

@test "oauth: Google's client library works with a key file whose key the box does not have" {
	openssl genrsa -out "$NET/account.key" 2048
	key=$(cat "$NET/account.key")
	jq -n --arg key "$key" '{ type: "service_account", project_id: "project-1",
		private_key_id: "real-key-id-0123456789", private_key: $key, client_id: "1",
		client_email: "box@project-1.iam.gserviceaccount.com",
		token_uri: "https://oauth2.googleapis.com/token" }' >"$HOME/key.json"
	config '{ "secrets": { "GCLOUD": { "oauth": { "grant": "service_account",
		"scopes": ["https://www.googleapis.com/auth/devstorage.read_only"] },
		"from": "file", "file": "~/key.json", "hosts": ["storage.googleapis.com"], "as": "bearer" } } }'
	box_client --env SCAN="$(scan "$(sed -n 3p <<<"$key")")" <<-'END'
	sys.path.insert(0, "/usr/lib/python3/dist-packages")
	import google.auth, google.auth.transport.requests
	from google.oauth2 import service_account
	def get(scope, **more):
	    found, project = google.auth.default(scopes=["https://www.googleapis.com/auth/" + scope])
	    if more:
	        found = found.with_subject(more["subject"])
	    try:
	        answer = google.auth.transport.requests.AuthorizedSession(found).get("https://storage.googleapis.com/b")
	        return project, answer.status_code, answer.text
	    except google.auth.exceptions.GoogleAuthError as e:
	        return "denied" if "agentbox denied" in str(e) else str(e)
	print(get("devstorage.read_only"))
	print(get("cloud-platform"), get("devstorage.read_only", subject="admin@example.com"))
	# Another key proves nothing.
	import subprocess
	key = json.load(open(os.environ["GOOGLE_APPLICATION_CREDENTIALS"]))
	print(sorted(key), key["private_key_id"].startswith("real"))
	key["private_key"] = subprocess.run(["openssl", "genrsa", "2048"], capture_output=True, text=True).stdout
	json.dump(key, open("other.json", "w"))
	os.environ["GOOGLE_APPLICATION_CREDENTIALS"] = "other.json"
	print(get("devstorage.read_only"), flush=True)
	os.system(os.environ["SCAN"])
	END
	[ "$status" -eq 0 ]
	expect <<-'END'
	('project-1', 200, 'hello account-https://www.googleapis.com/auth/devstorage.read_only\n')
	denied denied
	['client_email', 'client_id', 'private_key', 'private_key_id', 'project_id', 'token_uri', 'type'] False
	denied
	clean
	END
	[ "$(exchanges)" = 1 ]
	hidden "$(sed -n 3p <<<"$key")"
	grep -F 'it asks for a scope that the settings do not list' <<<"$(denials)"
	grep -F 'it asks for a token of another user' <<<"$(denials)"
	grep -F 'its assertion is not signed with the key file in the box' <<<"$(denials)"
	# A file that is not such a key is refused before the run.
	echo '{}' >"$HOME/key.json"
	agentbox run -- true
	[ "$status" -ne 0 ]
	[[ "$output" == *"key.json is not the key file of a service account"* ]]
}
