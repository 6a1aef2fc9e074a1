# The ssh agent of the box: keys of the caller's own agent, for allowed hosts. The
# client, the agent and the servers are OpenSSH's.
load helpers
load internet

# Besides git.test:22 (Ed25519): two servers with other host keys on other ports.
setup_file()
{
	local dir kind uid

	internet_start
	dir=$NET/ssh2
	mkdir "$dir"
	for kind in "rsa -b 2048" ecdsa ed25519; do
		inside ssh-keygen -q -t $kind -N '' -f "$dir/${kind%% *}"
	done
	write_sshd_config 2223 rsa ecdsa
	write_sshd_config 2224 ed25519
	for kind in rsa ecdsa; do
		printf '[git.test]:2223 %s\n' "$(cat "$dir/$kind.pub")"
	done >"$dir/known_hosts"
	printf '[git.test]:2224 %s\n' "$(cat "$dir/ed25519.pub")" >>"$dir/known_hosts"
	uid=$(stat -c %u "$NET/ssh/host")
	[ "$(id -u)" -ne 0 ] || chown -R "$uid:$uid" "$dir"
	chmod 755 "$dir"
	start_sshd 2223
	start_sshd 2224
}

write_sshd_config()
{
	local port=$1 kind

	shift
	sed -e '/^HostKey/d' -e '/^ListenAddress/d' "$NET/ssh/config" >"$NET/ssh2/config.$port"
	echo "ListenAddress 203.0.113.30:$port" >>"$NET/ssh2/config.$port"
	for kind; do
		echo "HostKey $NET/ssh2/$kind" >>"$NET/ssh2/config.$port"
	done
}

start_sshd()
{
	local -a as=() WAY

	[ "$(id -u)" -ne 0 ] || as=(setpriv --reuid 12399 --regid 12399 --clear-groups)
	# Not with `inside`: $! must be the server itself.
	find_way
	"${WAY[@]}" "${as[@]}" /usr/sbin/sshd -D -e -f "$NET/ssh2/config.$1" \
		</dev/null >"$NET/sshd.$1.log" 2>&1 3>&- &
	echo $! >>"$NET/sshd.pids"
	wait_for 60 inside bash -c "exec 5<>/dev/tcp/203.0.113.30/$1" 2>/dev/null
}

teardown_file()
{
	xargs -r kill <"$NET/sshd.pids"
	internet_stop
}

setup()
{
	BOX=
	box_setup
	internet_mark
	mkdir -p "$HOME/.ssh" "$HOME/.config/agentbox"
	chmod 700 "$HOME/.ssh"
	cat "$NET/known_hosts" "$NET/ssh2/known_hosts" >"$HOME/.ssh/known_hosts"
	AGENT_PID=
	agent_start
	SSH="ssh -F /dev/null -o BatchMode=yes -o UserKnownHostsFile=$HOME/.ssh/known_hosts"
	KEY=$(inside ssh-keygen -lf "$NET/client.pub" | cut -d' ' -f2)
	lend '{ "hosts": ["git.test"], "ask": "never" }'
}

teardown()
{
	if [ -n "${BOX:-}" ]; then
		kill -TERM "$BOX" 2>/dev/null
		wait "$BOX"
	fi
	[ -z "$AGENT_PID" ] || { kill "$AGENT_PID"; wait "$AGENT_PID" || :; }
	box_teardown
}

# agent_start [VARIABLE...]: the caller's agent, with the one key that the servers know.
agent_start()
{
	local -a WAY

	[ -z "$AGENT_PID" ] || { kill "$AGENT_PID"; wait "$AGENT_PID" || :; }
	find_way
	export SSH_AUTH_SOCK=$TEST_DIR/agent
	rm -f "$SSH_AUTH_SOCK"
	"${WAY[@]}" env "$@" ssh-agent -D -a "$SSH_AUTH_SOCK" </dev/null >"$TEST_DIR/agent.log" 2>&1 3>&- &
	AGENT_PID=$!
	wait_for 60 agent_answers
	inside ssh-add -q "$NET/client" </dev/null
}

# 2: nobody listens at the socket, which is there a moment earlier.
agent_answers()
{
	local rc=0

	inside ssh-add -l >/dev/null 2>&1 || rc=$?
	[ "$rc" -ne 2 ]
}

# lend JSON: the section "ssh" of the user's settings.
lend()
{
	echo "{ \"ssh\": $1 }" >"$HOME/.config/agentbox/config.json"
}

in_box()
{
	agentbox_split run --yes "$@"
}

# The requests to the agent in the last record, without what differs between runs.
agent_records()
{
	audit 'select(.door == "ssh-agent" and .kind != "question") | "\(.kind) \(.allowed) \(.rule)"'
}

# agent_client: a client of the agent in Python, for the script on standard input.
agent_client()
{
	{
		cat <<-'PYTHON'
			import base64, os, socket, struct, sys, time
			def s(b): return struct.pack(">I", len(b)) + b
			def frame(b): return s(b)
			def connect():
			    c = socket.socket(socket.AF_UNIX)
			    c.settimeout(60)
			    c.connect(os.environ["SSH_AUTH_SOCK"])
			    return c
			def get(c, n):
			    d = b""
			    while len(d) < n:
			        more = c.recv(n - len(d))
			        if not more: raise EOFError
			        d += more
			    return d
			def ask(c, body):
			    c.sendall(frame(body))
			    return get(c, struct.unpack(">I", get(c, 4))[0])
			def keys(c):
			    d = ask(c, bytes([11]))
			    n, at, out = struct.unpack(">I", d[1:5])[0], 5, []
			    for i in range(2 * n):
			        l = struct.unpack(">I", d[at:at + 4])[0]
			        out.append(d[at + 4:at + 4 + l]); at += 4 + l
			    return out[::2]
			def sign(key, data, flags=0): return bytes([13]) + s(key) + s(data) + struct.pack(">I", flags)
			def login(session, key, user=b"git", method=b"publickey", more=b""):
			    return s(session) + bytes([50]) + s(user) + s(b"ssh-connection") + s(method) + b"\1" + s(b"ssh-ed25519") + s(key) + more
			def document(space): return b"SSHSIG" + s(space) + s(b"") + s(b"sha512") + s(bytes(64))
			def bind(key, session, signature, forwards=0):
			    return bytes([27]) + s(b"session-bind@openssh.com") + s(key) + s(session) + s(signature) + bytes([forwards])
		PYTHON
		cat
	} >client.py
}

# A request waits a tenth of a second for the name of the process. On a slow machine that may be too short.
named()
{
	in_box -- sh -c "test \"\$SSH_AUTH_SOCK\" != \"$SSH_AUTH_SOCK\" && $SSH git@git.test echo there"
	[ "$status" -ne 0 ] || [ -n "$(audit 'select(.door == "ssh-agent") | .process[0].argv[0] // empty')" ]
}

@test "ssh agent: a login at an allowed host is signed, and recorded" {
	wait_for 90 named
	[ "$status" -eq 0 ]
	[ "$output" = there ]
	audit "select(.door == \"ssh-agent\") | [.kind, .allowed, .domain, .port, .key, .user,
		.namespace, .route, .process[0].argv[0]] | @csv" >"$TEST_DIR/got"
	cat "$TEST_DIR/got"
	[ "$(cat "$TEST_DIR/got")" = \
		"\"request\",true,\"git.test\",22,\"$KEY\",\"git\",,\"proxy\",\"ssh\"" ]

	agentbox log
	[[ "$output" == *"ssh"*"a login as git at git.test:22 with $KEY"* ]]

	# Without the setting there is no agent.
	lend '{ "hosts": [] }'
	in_box --allow git.test -- sh -c 'echo "agent: $SSH_AUTH_SOCK"'
	[ "$output" = "agent: " ]
}

@test "ssh agent: git clones and pushes, with every kind of host key and hashed names" {
	local n=0 port=2223 type

	lend '{ "hosts": ["git.test", "git.test:2223"], "ask": "never", "users": ["git"] }'
	inside ssh-keygen -q -H -f "$HOME/.ssh/known_hosts"
	run ! grep -q git.test "$HOME/.ssh/known_hosts"
	in_box --env GIT_SSH_COMMAND="$SSH" -- sh -ec '
		git clone -q git@git.test:repo.git clone && cd clone && git checkout -q -b "b$$"
		git commit -q --allow-empty -m more && git push -q origin HEAD && git ls-remote -q | grep -c "heads/b$$"'
	[ "$status" -eq 0 ]
	[ "$output" = 1 ]
	[ "$(agent_records | sort | uniq -c | tr -s ' ')" = " 3 request true ssh.hosts" ]
	for type in rsa-sha2-256 rsa-sha2-512 ecdsa-sha2-nistp256; do
		in_box -- $SSH -o HostKeyAlgorithms=$type -p 2223 git@git.test echo there
		[ "$output" = there ]
	done
}

@test "ssh agent: another host, user or key gets no signature" {
	lend "{ \"hosts\": [\"git.test\"], \"ask\": \"never\", \"users\": [\"deploy\"] }"
	in_box -- $SSH git@git.test true
	[ "$status" -eq 255 ]
	[[ "$stderr" == *"Permission denied"* ]]
	[ "$(agent_records | sort -u)" = "$(printf 'request false ssh.users\nviolation false ssh.users')" ]
	[[ "$stderr" == *"an ssh key for git.test:22"*"the user name is not in ssh.users"* ]]

	lend '{ "hosts": ["git.test"], "ask": "never" }'
	in_box --allow git.test:2224 -- $SSH -p 2224 git@git.test true
	[ "$status" -eq 255 ]
	[ "$(agent_records | sort -u)" = "$(printf 'request false ssh.hosts\nviolation false ssh.hosts')" ]
	[[ "$stderr" == *"the host is not in ssh.hosts"* ]]
	agentbox why "$(audit 'select(.kind == "violation") | .id')"
	[[ "$output" == *"agentbox run --ssh git.test:2224 -- ssh"* ]]
	agentbox allow "$(audit 'select(.kind == "violation") | .id')"
	[ "$status" -eq 1 ]
	in_box --ssh git.test:2224 -- $SSH -p 2224 git@git.test echo there
	[ "$output" = there ]

	lend '{ "hosts": ["git.test"], "keys": ["SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"], "ask": "never" }'
	in_box -- sh -c "ssh-add -l; $SSH git@git.test true"
	[ "$output" = "The agent has no identities." ]
	lend "{ \"hosts\": [\"git.test\"], \"keys\": [\"$KEY\"], \"ask\": \"never\" }"
	in_box -- sh -c "ssh-add -l | cut -d' ' -f2; $SSH git@git.test echo there"
	[ "$output" = "$KEY"$'\n'there ]
}

@test "ssh agent: the host's key must be in known_hosts, and not revoked" {
	grep -v '^git.test' "$HOME/.ssh/known_hosts" >"$HOME/.ssh/less"
	cp "$HOME/.ssh/less" "$HOME/.ssh/known_hosts"
	in_box -- $SSH -o StrictHostKeyChecking=no git@git.test true
	[ "$status" -eq 255 ]
	[[ "$stderr" == *"known_hosts has no key of git.test, so no login there is signed"* ]]
	[ "$(agent_records | sort -u | tail -n 1)" = "violation false ssh-known-hosts" ]

	cat "$NET/known_hosts" >>"$HOME/.ssh/known_hosts"
	in_box -- $SSH git@git.test echo there
	[ "$output" = there ]
	sed 's/^git.test[^ ]*/@revoked */' "$NET/known_hosts" | head -n 1 >>"$HOME/.ssh/known_hosts"
	in_box -- ${SSH/"$HOME/.ssh"/"$NET"} git@git.test true
	[ "$status" -eq 255 ]
	[ "$(agent_records | sort -u | tail -n 1)" = "violation false ssh-revoked" ]
}

@test "ssh agent: commits are signed if ssh.sign has git, and nothing else is" {
	local sign='git -c gpg.format=ssh -c user.signingkey=key.pub commit -q -S --allow-empty -m signed'

	make_repo
	cp "$NET/client.pub" key.pub
	echo "test@example.com $(cat key.pub)" >signers
	lend '{ "sign": ["git"], "ask": "never" }'
	in_box -- sh -c "$sign && git -c gpg.ssh.allowedSignersFile=signers log -1 --format=%G?"
	[ "$output" = G ]
	[ "$(audit 'select(.door == "ssh-agent") | "\(.kind) \(.allowed) \(.rule) \(.namespace) \(.key)"')" = \
		"request true ssh.sign git $KEY" ]
	agentbox log
	[[ "$output" == *"a signature for git with $KEY"* ]]

	in_box -- sh -c 'echo text | ssh-keygen -Y sign -f key.pub -n file'
	[ "$status" -ne 0 ]
	[ "$(agent_records | sort -u | tail -n 1)" = "violation false ssh.sign" ]

	lend '{ "hosts": ["git.test"], "ask": "never" }'
	in_box -- sh -c "$sign"
	[ "$status" -ne 0 ]
	[[ "$stderr" == *"ssh.sign does not have this kind of signature"* ]]
}

@test "ssh agent: it is not lent to another machine" {
	local onward="ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes git@203.0.113.30 echo onward"

	in_box -- $SSH -A git@git.test "echo first; $onward 2>&1"
	[[ "$output" == "first"*"Permission denied"* ]]
	[ "$(agent_records | sort -u | tail -n 1)" = "violation false ssh-forward" ]
	[ "$(agent_records | head -n 1)" = "request true ssh.hosts" ]
	# The same way with the caller's own agent, outside.
	run inside $SSH -A git@git.test "$onward 2>/dev/null"
	[ "$output" = onward ]
}

@test "ssh agent: behind a jump host the connection is not proven, and ssh.route decides" {
	local jump="ssh -F /dev/null -o BatchMode=yes -o UserKnownHostsFile=$HOME/.ssh/known_hosts"

	lend '{ "hosts": ["git.test", "git.test:2224"], "ask": "never" }'
	in_box -- $SSH -o ProxyCommand="$jump -W [%h]:%p git@git.test" -p 2224 git@git.test true
	[ "$status" -eq 255 ]
	[ "$(agent_records)" = "$(printf 'request true ssh.hosts\nviolation false ssh.route\nrequest false ssh.route')" ]
	lend '{ "hosts": ["git.test", "git.test:2224"], "ask": "never", "route": "any" }'
	in_box -- $SSH -o ProxyCommand="$jump -W [%h]:%p git@git.test" -p 2224 git@git.test echo there
	[ "$output" = there ]
	[ "$(audit 'select(.door == "ssh-agent") | "\(.port) \(.route)"' | tr '\n' ,)" = "22 proxy,2224 unproven," ]
}

@test "ssh agent: a key that asks for confirmation asks its owner" {
	printf '#!/bin/sh\necho "$1" >>"%s/asked"\ntest -e "%s/yes"\n' "$TEST_DIR" "$TEST_DIR" >"$TEST_DIR/askpass"
	chmod +x "$TEST_DIR/askpass"
	agent_start DISPLAY=:9 SSH_ASKPASS="$TEST_DIR/askpass" SSH_ASKPASS_REQUIRE=force
	inside ssh-add -q -D
	inside ssh-add -q -c "$NET/client" </dev/null
	in_box -- $SSH git@git.test true
	[ "$status" -eq 255 ]
	[ "$(audit 'select(.door == "ssh-agent") | .error')" = "your ssh agent refused" ]
	touch "$TEST_DIR/yes"
	in_box -- $SSH git@git.test echo there
	[ "$output" = there ]
	[ "$(grep -c 'Allow use of key' "$TEST_DIR/asked")" -eq 2 ]
}

@test "ssh agent: with ssh.ask a person decides, once or for the run" {
	local id

	lend '{ "hosts": ["git.test"] }'
	box_start run --yes -- sh -c "$SSH git@git.test echo one; $SSH git@git.test echo two"
	wait_for 90 grep -q 'agentbox allow' "$TEST_DIR/box.err"
	grep -q "the box wants to log in to git.test as git with the key $KEY; approve it within" "$TEST_DIR/box.err"
	id=$(sed -n 's/.*agentbox allow //p' "$TEST_DIR/box.err")
	agentbox why "$id"
	[[ "$output" == *"waiting for an answer"* ]]
	agentbox allow "$id"
	[ "$status" -eq 0 ]
	box_end
	[ "$(cat "$TEST_DIR/box.out")" = $'one\ntwo' ]
	[ "$(audit 'select(.kind == "question") | "\(.door) \(.answer)"')" = "ssh-agent run" ]

	box_start run --yes -- $SSH git@git.test echo one
	wait_for 90 grep -q 'agentbox allow' "$TEST_DIR/box.err"
	agentbox deny "$(sed -n 's/.*agentbox allow //p' "$TEST_DIR/box.err")"
	[ "$status" -eq 0 ]
	box_end
	[ "$status" -eq 255 ]
	[ "$(agent_records | sort -u | tail -n 1)" = "violation false ssh.ask" ]
	[[ "$(cat "$TEST_DIR/box.err")" == *"it needs your approval: log in to git.test"*"the answer was no"* ]]
}

@test "ssh agent: ssh.maxSignatures and ssh.maxTime end it" {
	lend '{ "hosts": ["git.test"], "ask": "never", "maxSignatures": 1 }'
	in_box -- sh -c "$SSH git@git.test echo one; $SSH git@git.test echo two"
	[ "$output" = one ]
	[ "$(agent_records | tail -n 1)" = "request false ssh.maxSignatures" ]
	lend '{ "hosts": ["git.test"], "ask": "never", "maxTime": "1ms" }'
	in_box -- $SSH git@git.test echo one
	[ -z "$output" ]
	[ "$(agent_records | tail -n 1)" = "request false ssh.maxTime" ]
}

@test "ssh agent: a hostile client gets a list, and nothing signed" {
	lend "{ \"hosts\": [\"git.test\"], \"keys\": [\"$KEY\"], \"sign\": [\"git\"], \"ask\": \"never\" }"
	cut -d' ' -f2 "$NET/ssh/host.pub" >host.key
	agent_client <<-'PYTHON'
		key = keys(connect())[0]
		c = connect()
		assert ask(c, sign(key, document(b"git")))[0] == 14
		refused = [
		    sign(key, login(bytes(32), key)),                  # no server announced
		    sign(key, b"anything"),
		    sign(key, bytes(32)),                              # a bare session
		    sign(key, document(b"file")),
		    sign(key, document(b"git") + b"x"),
		    sign(key, b"SSHSIG" + s(b"git") + s(b"") + s(b"md5") + s(bytes(16))),
		    sign(key, document(b"git"), 0x80),
		    sign(key[:-1] + bytes([key[-1] ^ 1]), document(b"git")), # a key that is not there
		    bytes([17]) + s(b"ssh-ed25519") + s(bytes(32)) + s(bytes(64)) + s(b""), # add
		    bytes([18]) + s(key), bytes([19]), bytes([9]), bytes([22]) + s(b"x"), bytes([23]) + s(b"x"),
		    bytes([20]) + s(b"/usr/lib/x.so") + s(b""), bytes([25]) + s(key), bytes([1]), bytes([255]),
		    bytes([27]) + s(b"query"), bytes([27]) + s(b"restrict-destination-v00@openssh.com"),
		]
		for r in refused:
		    assert ask(c, r)[0] in (5, 28), r
		c = connect()
		host = base64.b64decode(open("host.key").read())      # of git.test
		assert ask(c, bind(host, bytes(64), s(b"ssh-ed25519") + s(bytes(64))))[0] == 28
		assert keys(c) == []
		assert ask(c, sign(key, login(bytes(64), key)))[0] == 5
		for bad in (b"\0\0\0\0", b"\xff\xff\xff\xff", struct.pack(">I", 70000), frame(bytes([13]) + b"\0\0\1\0x"),
		            frame(bytes([27]) + s(b"session-bind@openssh.com") + b"\0\0\0\1")):
		    c = connect(); c.sendall(bad)
		    try: assert c.recv(1) == b""
		    except ConnectionError: pass
		c = connect()                                          # one byte at a time
		for b in frame(bytes([11])): c.sendall(bytes([b])); time.sleep(0.01)
		assert get(c, 4)
		many = [connect() for i in range(80)]                  # more than it takes
		time.sleep(0.1)
		gone = 0
		for m in many[64:]:
		    try: gone += m.recv(1) == b""
		    except ConnectionError: gone += 1
		assert gone > 0
		for m in many: m.close()
		c = connect(); c.sendall(frame(bytes([11]))[:3]); c.close()
		for i in range(200):                                   # back to normal, soon
		    try: assert keys(connect()) == [key]; break
		    except (EOFError, ConnectionError): time.sleep(0.1)
		else: raise SystemExit("it stays closed")
		print("done")
	PYTHON
	in_box -- python3 client.py
	[ "$output" = "done" ]
	[ "$(inside ssh-add -l | wc -l)" -eq 1 ]
	[ "$(audit 'select(.door == "ssh-agent" and .allowed and .kind == "request") | .namespace')" = git ]
	audit 'select(.kind == "violation") | .rule' | sort -u | tr '\n' ' ' >"$TEST_DIR/rules"
	cat "$TEST_DIR/rules"
	[ "$(cat "$TEST_DIR/rules")" = "ssh-agent ssh-bind ssh-data ssh.keys ssh.sign " ]
}

@test "ssh agent: a project cannot turn it on, but off, and it needs an agent outside" {
	rm "$HOME/.config/agentbox/config.json"
	echo '{ "ssh": { "hosts": ["git.test"], "sign": ["git"], "ask": "never" } }' >.agentbox.json
	in_box -- sh -c 'echo "agent: $SSH_AUTH_SOCK"'
	[ "$output" = "agent: " ]
	[[ "$stderr" == *".agentbox.json is not trusted and asks for more"* ]]
	agentbox trust --yes
	[[ "$output" == *"ssh.hosts: git.test"* ]]
	in_box -- sh -c 'echo "agent: $SSH_AUTH_SOCK"'
	[ "$output" = "agent: /run/agentbox-ssh-agent.sock" ]
	# A project can make it stricter.
	rm .agentbox.json
	lend '{ "hosts": ["git.test"], "ask": "never" }'
	echo '{ "ssh": { "hosts": { "only": [] } } }' >.agentbox.json
	in_box -- sh -c 'echo "agent: $SSH_AUTH_SOCK"'
	[ "$output" = "agent: " ]
	rm .agentbox.json
	unset SSH_AUTH_SOCK
	in_box -- sh -c 'echo "agent: $SSH_AUTH_SOCK"'
	[ "$output" = "agent: " ]
	[[ "$stderr" == *"ssh: no key can be used: SSH_AUTH_SOCK is not set"* ]]
}
