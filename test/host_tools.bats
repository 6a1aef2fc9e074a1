# Programs of the host that the box may call: its own commands hand their words outside, where they are
# judged, and the program runs in a box of its own.
# root-in-turn: no permission of a file stops root, so only the walls can
load helpers
load internet
load secrets

setup()
{
	box_setup
	internet_mark
	export OPENAI_API_KEY=$KEY
	mkdir -p "$TEST_DIR/bin" "$HOME/.config/agentbox"
	# A stand-in for gh: it says what it got, and asks an API with its token.
	cat >"$TEST_DIR/bin/gh" <<-'END'
	#!/bin/sh
	case $1 in
	api) exec curl -sS -m 20 -H "Authorization: Bearer $OPENAI_API_KEY" "https://api.openai.com/$2" ;;
	status) exit "$2" ;;
	die) kill -TERM $$ ;;
	copy) exec cat ;;
	wait) trap 'echo stopped; exit 9' TERM INT; echo ready; sleep 100 & wait ;;
	env) exec env ;;
	write) echo x >"$2" ;;
	tty) [ -t 1 ] && echo terminal || echo "no terminal" ;;
	*) printf '%s|' "$PWD" "$@" ;;
	esac
	END
	chmod 755 "$TEST_DIR/bin/gh"
	tools '"allow": ["pr view *", "status *", "die", "copy", "wait", "env", "write *", "tty", "api *"],
		"ask": ["pr merge *"]'
}

# tools MEMBERS: the settings of the tool gh.
tools()
{
	printf '{ "tools": { "gh": { "program": "%s/bin/gh", %s } } }\n' "$TEST_DIR" "$1" \
		>"$HOME/.config/agentbox/config.json"
}

# A client of the broker's socket that can say anything: call(words, ...) prints the broker's reply.
client()
{
	cat >client.py <<-'END'
	import array, os, socket, struct, sys
	def call(words, cwd=None, fds=None, env=(), more=b"", head=None):
	    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	    s.connect("/run/agentbox-tools.sock")
	    here = os.open(".", os.O_PATH)
	    fds = [0, 1, 2, here] if fds is None else fds(here)
	    data = head or b"ABt1" + struct.pack("=II", len(words), len(env))
	    for text in [cwd or os.getcwd(), *words, *env]:
	        data += text.encode() + b"\0"
	    try:
	        s.sendmsg([data + more], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
	    except OSError as e:
	        return "not sent: %d" % e.errno
	    reply = s.recv(4096)
	    event, status = struct.unpack("=Ii", reply[:8])
	    return "%d %d %s" % (event, status, reply[8:].split(b"\0")[0].decode())
	END
}

@test "tools: words that a pattern matches run, others are denied and told" {
	mkdir sub
	run --separate-stderr "$AGENTBOX" run -- sh -c 'cd sub && gh pr view 5 "a b"; echo " $?"
		gh pr list; echo " $?"'
	[ "$status" -eq 0 ]
	[ "$output" = "$WORKSPACE/sub|pr|view|5|a b| 0"$'\n'" 126" ]
	[[ "$stderr" == *"gh: denied: no pattern of its list matches these words; agentbox why "*-t1* ]]
	[[ "$stderr" == *"1 call of host tools was denied"*"gh pr list"*"add a pattern to tools.gh.allow"* ]]
	run "$AGENTBOX" log
	[[ "$output" == *"tool     gh pr view 5 'a b'"*"rule tools.allow"*"exit 0"*"denied   gh pr list"* ]]
	run "$AGENTBOX" why "$(grep -o '[a-z0-9]*-t1' <<<"$stderr" | head -1)"
	[ "$status" -eq 0 ]
	[[ "$output" == *"denied gh pr list"*"rule tools.allow"* ]]
	run "$AGENTBOX" log --json
	jq -se 'map(select(.kind == "tool" and .allowed)) | length == 1 and .[0].boxed' <<<"$output"
	# The runs of tools do not push out the records of others: each kind is counted on its own.
	run "$AGENTBOX" gc --keep 1
	[ "$status" -eq 0 ]
	[ "$(ls -d "$AGENTBOX_STATE"/runs/*/ | wc -l)" -eq 2 ]
}

@test "tools: flags that run something else are denied although a pattern matches" {
	local words

	need program:git
	git init -q . && git commit -q --allow-empty -m one
	printf '{ "tools": { "git": { "program": "%s", "allow": ["*"] } } }' "$(command -v git)" \
		>"$HOME/.config/agentbox/config.json"
	run --separate-stderr "$AGENTBOX" run --yes -- sh -c 'git log --format=%s; git status -s
		git -c alias.x=!id x; git --exec-pa=/x status; git fetch ext::id; git config -l
		git grep -Oid x; git -C / status'
	[ "$output" = one ]
	[ "$(grep -c 'git: denied:' <<<"$stderr")" -eq 6 ]
	for words in "-c: it changes" "--exec-pa=/x: it runs" "ext::id: it runs" "config: it changes" \
		"-Oid: it opens" "-C: it makes"; do
		[[ "$stderr" == *"$words"* ]]
	done
	# Nor does it obey a hook of the workspace, which git in the box does.
	printf '{ "tools": { "vcs": { "program": "%s", "allow": ["*"], "filesystem": { "write": ["."] } } } }' \
		"$(command -v git)" >"$HOME/.config/agentbox/config.json"
	printf '#!/bin/sh\ntouch hit\n' >.git/hooks/pre-commit
	chmod 755 .git/hooks/pre-commit
	run "$AGENTBOX" run --yes -- sh -c 'git commit -q --allow-empty -m two; rm hit && echo there
		vcs commit -q --allow-empty -m three; git log --format=%s; ls hit'
	echo "$output"
	[[ "$output" == *"there"*three*two*"cannot access 'hit'"* ]]
	# Nor a setting that turns another word into a command.
	git init -q repo && git -C repo config help.autocorrect immediate
	run "$AGENTBOX" run --yes -- sh -c 'cd repo; git confg -l | grep -c autocorrect; vcs confg -l'
	echo "$output"
	[[ "$output" == *"Continuing under the assumption"*$'\n'1$'\n'*"'confg' is not a git command"* ]]
}

@test "tools: status, signals, pipes and files are as if it were local" {
	printf 'from a file' >in
	run "$AGENTBOX" run -- bash -c '
		gh status 42; echo $?
		gh die; echo $?
		echo piped | gh copy | tr a-z A-Z
		gh copy <in >out; cat out; echo
		gh tty
		: >log; gh wait >log & until grep -q ready log; do sleep 0.05; done; kill $!; wait $!; echo $?
		cat log'
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "42
143
PIPED
from a file
no terminal
9
ready
stopped" ]
	run "$AGENTBOX" run -- timeout -k 1 20 sh -c 'gh wait & sleep 0.3; exit 3'
	[ "$status" -eq 3 ]
}

# Types into a terminal on which a shell in the box calls tools.
@test "tools: the terminal is the caller's, with its keys and job control" {
	cat >"$TEST_DIR/typist.py" <<-'END'
	import os, pty, select, sys, time
	pid, fd = pty.fork()
	if pid == 0:
	    os.environ["PS1"] = "here$ "
	    os.execvp(sys.argv[1], [sys.argv[1], "run", "--pass-env", "PS1", "--", "bash", "--norc", "-i"])
	seen = b""
	def until(text):
	    global seen
	    end = time.time() + 60
	    while text not in seen:
	        if not select.select([fd], [], [], max(0, end - time.time()))[0]:
	            sys.exit("no %r in %r" % (text, seen))
	        seen += os.read(fd, 4096)
	    seen = seen.partition(text)[2]
	def type(text):
	    os.write(fd, text)
	until(b"here$")
	type(b"PS1=; bind 'set enable-bracketed-paste off'; stty -echo\n")
	type(b"gh tty; echo status-$?\n")
	until(b"terminal"); until(b"status-0")
	type(b"gh wait; echo status-$?\n")
	until(b"ready"); type(b"\3"); until(b"stopped"); until(b"status-9")
	type(b"gh copy; echo status-$?\n")
	type(b"one\n"); until(b"one\r\n")
	type(b"\32"); until(b"Stopped"); type(b"echo between; fg; echo done-$?\n"); until(b"between")
	type(b"two\n"); until(b"two\r\n")
	type(b"\4"); until(b"done-0"); type(b"exit\n")
	print("typed")
	END
	run timeout 200 python3 "$TEST_DIR/typist.py" "$AGENTBOX" 3>&-
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = typed ]
}

@test "tools: the program has its own environment, and writes only what its settings say" {
	export GH_SECRET=not-for-it
	run "$AGENTBOX" run -- env PATH="$PWD/bin:$PATH" NODE_OPTIONS=-x GIT_DIR=/x TERM=box LANG=C.UTF-8 \
		/dev/agentbox-tools/gh env
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *TERM=box* && "$output" == *LANG=C.UTF-8* && "$output" == *core.hooksPath* ]]
	[[ "$output" != *NODE_OPTIONS* && "$output" != *GIT_DIR* && "$output" != *"$PWD/bin"* ]]
	[[ "$output" != *agentbox-tools:* ]]
	# The box would type in its editor and its pager.
	EDITOR=vim PAGER=less GH_EDITOR=vim run "$AGENTBOX" run -- gh env
	[ "$(grep -cE '^(EDITOR=false|GH_EDITOR=false|PAGER=cat)$' <<<"$output")" -eq 3 ]
	run "$AGENTBOX" run -- gh write "$PWD/new"
	[ "$status" -ne 0 ]
	[ ! -e new ]
	tools '"allow": ["write *"], "filesystem": { "write": ["."] }'
	run "$AGENTBOX" run -- gh write "$PWD/new"
	[ "$status" -eq 0 ]
	[ -e new ]
	# Outside of any box only if the settings say so in as many words.
	run "$AGENTBOX" run -- gh write "$HOME/outside"
	[ "$status" -ne 0 ]
	[ ! -e "$HOME/outside" ]
	tools '"allow": ["write *", "env"], "unconfined": true'
	EDITOR=vim run "$AGENTBOX" run -- gh env
	[ "$(grep EDITOR= <<<"$output" | sort | tr '\n' ' ')" = "EDITOR=false GH_EDITOR=false GIT_EDITOR=false GIT_SEQUENCE_EDITOR=false " ]
	run "$AGENTBOX" run -- gh write "$HOME/outside"
	[ "$status" -eq 0 ]
	[ -e "$HOME/outside" ]
	run "$AGENTBOX" log
	[[ "$output" == *"outside of any box"* ]]
}

@test "tools: its hosts and secrets are its own" {
	need program:curl
	tools "\"allow\": [\"api *\", \"env\"],
		\"network\": { \"mode\": \"filtered\", \"roots\": [\"$NET/ca.pem\"] },
		\"secrets\": { \"OPENAI_API_KEY\": {} }"
	run --separate-stderr inside "$AGENTBOX" run -- sh -c 'gh api echo; echo " $?"; gh env | grep OPENAI
		env | grep OPENAI; curl -sS -m 20 https://api.openai.com/x'
	echo "$output" "$stderr"
	[[ "$output" == *" 0"*"OPENAI_API_KEY=sk-"* ]]
	origin_saw "Bearer $KEY"
	hidden
	[ "$(grep -c OPENAI_API_KEY= <<<"$output")" -eq 1 ]
	[[ "$stderr" == *"api.openai.com:443"*"not on the allow list"* ]]
}

@test "tools: a command that shadows one gains nothing" {
	mkdir bin
	printf '#!/bin/sh\necho mine "$@"\n' >bin/gh
	chmod 755 bin/gh
	cat >attack <<-'END'
	PATH=$PWD/bin:$PATH; gh pr list
	d=/dev/agentbox-tools; rm -f $d/gh; ln -sf /bin/sh $d/gh; : >$d/x; mv $d /dev/y; ls $d
	PATH=${PATH#*:}; gh pr view
	END
	run "$AGENTBOX" run -- bash attack
	echo "$output"
	[[ "$output" == "mine pr list"* ]]
	[[ "$output" == *$'\ngh\n'"$WORKSPACE|pr|view|"* ]]
	# Nor does a layer with another agentbox in it, wherever the program is.
	mkdir -p ~/.local/bin
	cp "$AGENTBOX" ~/.local/bin/agentbox
	for how in 'cp /bin/echo' 'ln -sf /bin/echo'; do
		run ~/.local/bin/agentbox run --name dev -- sh -c "rm -f ~/.local/bin/agentbox; $how ~/.local/bin/agentbox; gh pr view"
		[[ "$output" == *"$WORKSPACE|pr|view|"* ]]
		echo 'readlink /dev/agentbox-tools/gh; cp /bin/echo /dev/agentbox-program; gh pr view again' >attack
		run ~/.local/bin/agentbox run --name dev -- sh attack
		echo "$output"
		[[ "$output" == *"/dev/agentbox-program"*"$WORKSPACE|pr|view|again|"* ]]
	done
	run ~/.local/bin/agentbox run --home private -- gh pr view
	[[ "$output" == *"$WORKSPACE|pr|view|"* ]]
	# A program where a box can write is no tool.
	printf '{ "tools": { "gh": { "program": "%s/bin/gh", "allow": ["*"] } } }' "$PWD" \
		>"$HOME/.config/agentbox/config.json"
	run "$AGENTBOX" run -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"tools.gh would run $PWD/bin/gh on the host, which a box can write"* ]]
}

@test "tools: a client that forges its request gets nothing" {
	client
	mkdir -p sub "$HOME/other"
	run --separate-stderr "$AGENTBOX" run -- python3 - <<-'END'
	import sys; sys.path.insert(0, ".")
	from client import *
	def say(name, *a, **k):
	    print(name + ":", call(*a, **k))
	sys.stdout.reconfigure(line_buffering=True)
	view = ["gh", "pr", "view"]
	say("\ngood", view)
	say("other folder", view, cwd=os.path.expanduser("~/other"))
	say("root", view, cwd="/")
	say("dots", view, cwd=os.getcwd() + "/../other")
	say("not where it is", view, cwd=os.getcwd() + "/sub")
	say("no such tool", ["sh", "-c", "id"])
	say("path as a tool", ["/bin/sh", "-c", "id"])
	say("three descriptors", view, fds=lambda h: [0, 1, 2])
	say("five descriptors", view, fds=lambda h: [0, 1, 2, h, 0])
	say("a folder as a stream", view, fds=lambda h: [0, h, 2, h])
	say("a file of /proc", view, fds=lambda h: [os.open("/proc/self/status", os.O_RDONLY), 1, 2, h])
	say("a socket", view, fds=lambda h: [socket.socket(socket.AF_INET).detach(), 1, 2, h])
	say("a terminal's master", view, fds=lambda h: [os.open("/dev/ptmx", os.O_RDWR), 1, 2, h])
	say("a variable", view, env=["PATH=/x"])
	say("more bytes", view, more=b"x\0")
	say("many words", ["gh"] + ["x"] * 5000)
	say("large", ["gh", "pr", "view", "x" * 140000])
	say("nothing", [], head=b"")
	say("\ngood again", view)
	END
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^good.*: 1 0' <<<"$output")" -eq 2 ]
	[ "$(grep -cE ': (3 126|not sent)' <<<"$output")" -eq 17 ]
	[[ "$output" == *"other folder: 3 126 gh: denied: the current folder is not in the workspace"* ]]
	[[ "$output" == *"not where it is: 3 126 gh: denied: the current folder is not the one"* ]]
	[[ "$output" == *"/proc: 3 126 gh: denied: a stream of the caller: it is a file of the kernel"* ]]
	[[ "$output" == *"many words: 3 126"*"too many words"* ]]
}

@test "tools: a call that needs approval waits for the answer" {
	local run

	"$AGENTBOX" run --yes -- sh -c 'gh pr merge 1; echo "one $?"; gh pr merge 1; echo "two $?"
		gh pr merge 2; echo "three $?"' >out 2>err 3>&- &
	wait_for 60 grep -q 'wants to run gh pr merge 1; approve it' err
	run=$(grep -o '[a-z0-9]*-t1' err)
	"$AGENTBOX" allow "$run"
	wait_for 60 grep -q 'wants to run gh pr merge 2' err
	[[ "$(cat out)" == *"one 0"*"two 0"* ]]
	"$AGENTBOX" deny "${run%-*}-t2"
	wait $!
	[[ "$(cat out)" == *"three 126" ]]
	run "$AGENTBOX" run --yes -- sh -c "gh pr merge $(printf '%0300d')"
	[[ "$output" == *"it needs approval, and is too long to be shown"* ]]
	grep -q 'denied: you answered no' err
	# A signal ends a call that waits.
	run timeout 50 "$AGENTBOX" run --yes -- sh -c 'timeout 1 gh pr merge 7; echo "status $?"'
	[[ "$output" == *"status 124"* ]]
	run "$AGENTBOX" log "${run%-*}"
	[[ "$output" == *"asked    gh pr merge 1  allowed for this run"*"asked    gh pr merge 2  denied"* ]]
}

@test "tools: an untrusted project adds none, and hostTools turns them off" {
	printf '{ "tools": { "sh": { "program": "/bin/sh", "allow": ["*"] } } }' >.agentbox.json
	run "$AGENTBOX" run -- sh -c 'ls /dev/agentbox-tools'
	[ "${lines[-1]}" = gh ]
	[[ "$output" == *"tools: 1 entry ignored"* || "$output" == *"not trusted"* ]]
	printf '{ "hostTools": "deny" }' >.agentbox.json
	run "$AGENTBOX" run -- sh -c 'ls /dev/agentbox-tools; echo "$PATH"'
	[[ "$output" == *"No such file"* && "$output" != *agentbox-tools:* ]]
	rm .agentbox.json
	run "$AGENTBOX" run --engine no-namespaces -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"engine no-namespaces: "* ]]
	run "$AGENTBOX" run --review -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"cannot be combined with a review"* ]]
	tools '"alow": []'
	run "$AGENTBOX" config check
	[[ "$output" == *"tools.gh.alow: unknown key"*"allow"* ]]
	tools '"network": { "allow": ["no host!"] }'
	run "$AGENTBOX" config check
	[[ "$output" == *"tools.gh.network.allow[0]"* ]]
}

@test "tools: they end with the run, also if it is killed" {
	local pid

	"$AGENTBOX" run -- sh -c 'gh wait & echo $! >started; sleep 100' >out 2>&1 3>&- &
	pid=$!
	wait_for 60 grep -q ready out
	kill -KILL "$pid"
	wait "$pid" || :
	wait_for 60 no_tool
	rm -f started
}

no_tool()
{
	! pgrep -f "$TEST_DIR/bin/gh wait" >/dev/null || false
}
