# What SECURITY.md says is outside: that it is so, and where it ends. The other tests for that section are in the
# files of their subjects; test/claims.txt names them all.
# root-in-turn: what root may do outside is another sentence, and only one test is about it
UNJUDGED=1
load helpers

# What a test that failed has left on the host.
teardown()
{
	[ "${#LEFT[@]}" -eq 0 ] || kill "${LEFT[@]}" 2>/dev/null || true
	box_teardown
}

LEFT=()

# box_begins NAME SCRIPT [ARG...]: a box that runs SCRIPT, says "ready" and waits; what it prints is in $TEST_DIR/NAME.
box_begins()
{
	local name=$1 script=$2
	shift 2

	launch run --name "$name" "$@" -- sh -c "$script; echo ready; sleep 200" \
		>"$TEST_DIR/$name" 2>&1 </dev/null &
	LEFT+=($!)
	wait_for 60 agentbox_runs "$name"
}

# box_waits: the same, when it has said so.
box_waits()
{
	box_begins "$@"
	wait_for 60 grep -q ready "$TEST_DIR/$1"
}

agentbox_runs()
{
	launch ps --json | jq -e --arg name "$1" 'map(select(.name == $name)) | length == 1' >/dev/null
}

@test "outside: a copy of a program under another name, and what a shell does itself, is not judged" {
	unset UNJUDGED
	mkdir bin
	printf '#!/bin/sh\necho "$0" >>%q\n' "$WORKSPACE/ran" >bin/shutdown
	chmod +x bin/shutdown
	mkdir -p "$HOME/.config/agentbox"
	echo '{"commands":{"enforce":"children"}}' >"$HOME/.config/agentbox/config.json"
	printf 'cp bin/shutdown bin/other\nbin/other\nbin/shutdown\necho "status $?"\n>made\n' >job
	agentbox run -- sh job
	[[ "$output" == *"status 126"* ]]
	[ "$(cat ran)" = bin/other ]
	[ -e made ]
}

@test "outside: to the judge of commands .GIT is not .git, and .git is protected" {
	rm "$HOME/.config/agentbox/config.json"
	agentbox check 'echo x >.GIT/hooks/pre-commit'
	[ "$status" -eq 0 ]
	[[ "$output" == sandboxed* ]]
	agentbox check 'echo x >.git/hooks/pre-commit'
	[ "$status" -eq 3 ]
	[[ "$output" == escalated* ]]
}

@test "outside: --write of a folder on your PATH lets the box replace a program, without it it cannot" {
	mkdir -p "$HOME/bin"
	echo mine >"$HOME/bin/tool"
	agentbox run --home readonly -- sh -c 'echo box >~/bin/tool'
	[ "$(cat ~/bin/tool)" = mine ]
	agentbox run --write "$HOME/bin" -- sh -c 'echo box >~/bin/tool'
	[ "$status" -eq 0 ]
	[ "$(cat ~/bin/tool)" = box ]
}

@test "outside: a key in a file that no list has can be read, one on the list cannot" {
	mkdir -p "$HOME/.ssh"
	echo a-key | tee "$HOME/notes" >"$HOME/.ssh/id_rsa"
	agentbox run -- sh -c 'cat ~/notes; cat ~/.ssh/id_rsa || echo closed'
	[[ "$output" == a-key$'\n'*closed* ]]
}

@test "outside: a pattern hides no file that appears in a writable folder later, and those at the start" {
	mkdir sub
	echo first >sub/one.pem
	box_begins late 'until [ -e sub/go ]; do :; done; cat sub/two.pem; cat sub/one.pem || echo closed' \
		--deny-read "$WORKSPACE/**/*.pem"
	echo second >sub/two.pem
	touch sub/go
	wait_for 60 grep -q ready "$TEST_DIR/late"
	cat "$TEST_DIR/late"
	grep -qx second "$TEST_DIR/late"
	grep -qx closed "$TEST_DIR/late"
	! grep -qx first "$TEST_DIR/late" || false
	launch stop late
}

@test "outside: what a secret's command leaves in a session of its own lives on, in its group it ends" {
	mkdir -p "$HOME/.config/agentbox"
	cat >"$TEST_DIR/get" <<-X
		#!/bin/sh
		setsid sleep 300 >/dev/null 2>&1 &
		echo \$! >$TEST_DIR/left
		sleep 300 >/dev/null 2>&1 &
		echo \$! >$TEST_DIR/ended
		wait_for_session() { [ "\$(ps -o sid= -p "\$(cat $TEST_DIR/left)")" -eq "\$(cat $TEST_DIR/left)" ]; }
		until wait_for_session; do :; done
		echo value-of-the-secret
	X
	chmod +x "$TEST_DIR/get"
	printf '{"secrets":{"KEY":{"from":"command","command":["%s"],"hosts":["h.test"]}}}' "$TEST_DIR/get" \
		>"$HOME/.config/agentbox/config.json"
	agentbox run --secret KEY -- true
	[ "$status" -eq 0 ]
	LEFT+=("$(cat "$TEST_DIR/left")" "$(cat "$TEST_DIR/ended")")
	kill -0 "${LEFT[0]}"
	wait_for 60 is_gone "${LEFT[1]}"
}

is_gone()
{
	! kill -0 "$1" 2>/dev/null || false
}

@test "outside: locks do not cross a layered home, and they do in a writable folder" {
	echo data | tee "$HOME/db" >db
	flock "$HOME/db" flock "$WORKSPACE/db" sh -c 'exec "$@"' sh \
		timeout 200 "$AGENTBOX" run -- sh -c 'flock -n ~/db echo home; flock -n db echo workspace || echo held' \
		>"$TEST_DIR/out" 2>&1 3>&-
	cat "$TEST_DIR/out"
	grep -qx home "$TEST_DIR/out"
	grep -qx held "$TEST_DIR/out"
}

@test "outside: a kept layer keeps the copy of a file that is hidden later, and goes with layers rm" {
	echo a-token >"$HOME/token"
	agentbox run --home kept --name keeps -- sh -c 'cp ~/token ~/copy'
	[ "$status" -eq 0 ]
	agentbox run --home kept --name keeps --deny-read "$HOME/token" -- sh -c 'cat ~/copy; cat ~/token || echo closed'
	[[ "$output" == *a-token$'\n'*closed* ]]
	agentbox layers rm --yes keeps
	[ "$status" -eq 0 ]
	agentbox run --home kept --name keeps -- cat "$HOME/copy"
	[ "$status" -ne 0 ]
	[[ "$output" != *a-token* ]]
}

@test "outside: an apply does not know the boxes of another state folder, and those of its own it does" {
	echo 1 >a
	agentbox run --review --name dev -- sh -c 'echo 2 >a'
	[ "$status" -eq 0 ]
	AGENTBOX_STATE=$TEST_DIR/other box_waits elsewhere true
	box_waits here true
	agentbox apply dev --all
	[ "$status" -ne 0 ]
	[ "$(cat a)" = 1 ]
	launch stop here
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[ "$(cat a)" = 2 ]
	AGENTBOX_STATE=$TEST_DIR/other launch stop elsewhere
}

@test "outside: a project selects built-in presets only" {
	echo '{"with":["node"]}' >.agentbox.json
	agentbox config check
	[ "$status" -eq 0 ]
	echo '{"with":["mine"]}' >.agentbox.json
	mkdir -p "$HOME/.config/agentbox/profiles"
	echo '{"network":{"allow":["a.test"]}}' >"$HOME/.config/agentbox/profiles/mine.json"
	agentbox config check
	[ "$status" -ne 0 ]
	[[ "$output" == *mine* ]]
}

@test "outside: by default processes and private folders are bounded, memory and files are not" {
	run --separate-stderr launch config show --json --all
	[ "$status" -eq 0 ]
	[ "$(jq -r '.["limits.processes"].value, .["filesystem.tmpSize"].value' <<<"$output" | grep -c '^[1-9]')" -eq 2 ]
	[ "$(jq -r '.["limits.memory"].value, .["limits.files"].value, .["limits.fileSize"].value' <<<"$output" |
		sort -u)" = none ]
}

@test "outside: output to a pipe or a file is not filtered" {
	launch run -- printf 'a\033]52;c;aGk=\007b' >"$TEST_DIR/file"
	[ "$(cat "$TEST_DIR/file")" = $'a\033]52;c;aGk=\007b' ]
	[ "$(launch run -- printf 'a\033]52;c;aGk=\007b' | cat)" = $'a\033]52;c;aGk=\007b' ]
}

@test "outside: what a label of a command in the home's configuration follows is its first word" {
	make_repo
	mkdir tools
	echo true | tee tools/first tools/second >/dev/null
	chmod +x tools/first tools/second
	git add tools
	git commit -qm tools
	printf '[core]\n\tpager = %s/tools/first %s/tools/second\n' "$WORKSPACE" "$WORKSPACE" >"$HOME/.gitconfig"
	agentbox run --review --name dev -- sh -c 'echo false >tools/first; echo false >tools/second'
	[ "$status" -eq 0 ]
	agentbox_split diff dev --json
	jq -c . <<<"$output" | head -c 2000
	[ "$(jq -r '.changes[] | select(.labels | map(.name) | index("git")) | .path' <<<"$output")" = tools/first ]
}

@test "outside: a tool that is unconfined has everything that you may do, another one writes what it may" {
	local more

	mkdir -p "$TEST_DIR/bin" "$HOME/.config/agentbox"
	printf '#!/bin/sh\necho tool >%q\n' "$HOME/target" >"$TEST_DIR/bin/gh"
	chmod 755 "$TEST_DIR/bin/gh"
	for more in '' ', "unconfined": true'; do
		echo mine >"$HOME/target"
		printf '{ "tools": { "gh": { "program": "%s/bin/gh", "allow": ["write"]%s } } }\n' "$TEST_DIR" "$more" \
			>"$HOME/.config/agentbox/config.json"
		agentbox run -- gh write
		if [ -z "$more" ]; then
			[ "$(cat ~/target)" = mine ]
		else
			[ "$status" -eq 0 ]
			[ "$(cat ~/target)" = tool ]
		fi
	done
}

@test "outside: with --net allowed the box reaches what the machine reaches, filtered it does not" {
	python3 - "$TEST_DIR/port" "$TEST_DIR/heard" <<-'PYTHON' 3>&- &
		import os, socket, sys
		s = socket.create_server(("127.0.0.1", 0))
		open(sys.argv[1] + ".new", "w").write(str(s.getsockname()[1]))
		os.rename(sys.argv[1] + ".new", sys.argv[1])
		said = s.accept()[0].recv(100)
		open(sys.argv[2], "wb").write(said)
	PYTHON
	LEFT+=($!)
	local server=$! send='import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20).send(b"sent")'
	wait_for 60 test -e "$TEST_DIR/port"
	agentbox run --net filtered -- python3 -c "$send" "$(cat "$TEST_DIR/port")"
	[ "$status" -ne 0 ]
	[ ! -e "$TEST_DIR/heard" ]
	agentbox run --net allowed -- python3 -c "$send" "$(cat "$TEST_DIR/port")"
	[ "$status" -eq 0 ]
	wait "$server"
	[ "$(cat "$TEST_DIR/heard")" = sent ]
}

@test "outside: a setting that is written through a memory mapping is found, another one stays" {
	agentbox run -- sh -c 'git init -q new && cd new && git config user.name me &&
		for i in 1 2 3 4 5; do echo "# a line that is long enough for what comes"; done >>.git/config &&
		exec python3 -c "$1"' sh "$(cat <<-'PYTHON'
		import mmap, os, time
		# So that it is not found because of what was written before: what comes later is gone.
		os.symlink(os.getcwd() + "/..", "/tmp/way")
		open("/tmp/way/.envrc", "w").close()
		while os.path.exists("../.envrc"):
		    time.sleep(0.01)
		with open(".git/config", "r+b") as f:
		    m = mmap.mmap(f.fileno(), 0)
		    at = m.find(b"# a line")
		    m[at:at + 37] = b"[core]\n fsmonitor = /planted/program \n"[:37]
		    m.flush()
		end = time.time() + 60
		while b"planted" in open(".git/config", "rb").read() and time.time() < end:
		    time.sleep(0.01)
		text = open(".git/config").read()
		print("gone" if "planted" not in text else "there", "kept" if "name = me" in text else "lost")
		PYTHON
	)"
	[[ "$output" == *"gone kept"* ]]
	[[ "$output" == *fsmonitor* ]]
	! grep -r planted new/.git || false
}

@test "outside: a UDP socket that is passed in sends anywhere, one of the box does not" {
	# sends passed|own: what arrives outside
	sends()
	{
		python3 - "$1" "$AGENTBOX" <<-'PYTHON' 3>&-
			import socket, subprocess, sys
			here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
			here.bind(("127.0.0.1", 0))
			here.setblocking(False)
			passed = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
			code = """import socket, sys
			s = socket.socket(fileno=0) if sys.argv[2] == "passed" else socket.socket(type=socket.SOCK_DGRAM)
			s.sendto(b"sent", ("127.0.0.1", int(sys.argv[1])))"""
			subprocess.run([sys.argv[2], "run", "--", "python3", "-c", code.replace("\t", ""),
			                str(here.getsockname()[1]), sys.argv[1]], stdin=passed, timeout=200)
			try:
			    print(here.recv(10))
			except BlockingIOError:
			    print("nothing")
		PYTHON
	}
	run sends passed
	echo "$output"
	[[ "$output" == *"b'sent'"* ]]
	run sends own
	echo "$output"
	[[ "$output" == *nothing* ]]
}

@test "outside: without namespaces a server of the box is on the machine's loopback device, and ends with it" {
	local port connect='import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)'
	cat >server.py <<-'PYTHON'
		import socket, time
		s = socket.create_server(("127.0.0.1", 0))
		print("port", s.getsockname()[1], flush=True)
		time.sleep(200)
	PYTHON
	launch run --name server --engine no-namespaces --fallback warn -- python3 server.py >"$TEST_DIR/server" 2>&1 </dev/null &
	LEFT+=($!)
	wait_for 60 grep -q '^port' "$TEST_DIR/server"
	port=$(awk '/^port/ { print $2 }' "$TEST_DIR/server")
	python3 -c "$connect" "$port"
	launch stop server
	run ! python3 -c "$connect" "$port"
}

@test "outside: without namespaces and with the only listener taken, the box gets no sockets" {
	local code='import socket; socket.socket(); print("made")'
	agentbox run --engine no-namespaces --fallback warn -- python3 -c "$code"
	[[ "$output" == *made* ]]
	run busy timeout 200 "$AGENTBOX" run --engine no-namespaces --fallback warn -- python3 -c "$code" 3>&-
	echo "$output"
	[ "$status" -ne 0 ]
	[[ "$output" != *made* && "$output" == *"PermissionError"* ]]
}

@test "outside: settings of package tools can be changed by another name in a writable folder, and not by their own" {
	mkdir -p "$HOME/.cargo"
	printf '[net]\ngit-fetch-with-cli = true\n' >"$HOME/.cargo/config.toml"
	ln "$HOME/.cargo/config.toml" alias
	agentbox run --write "$HOME/.cargo" -- sh -c 'echo "# own" >>~/.cargo/config.toml'
	[ "$status" -ne 0 ]
	agentbox run -- sh -c 'echo "# other" >>alias'
	[ "$(grep '#' "$HOME/.cargo/config.toml")" = "# other" ]
}

@test "outside: what only another setting of a tool names is not hidden, what its variable names is" {
	mkdir -p "$HOME/prefix/etc"
	echo '//npm.test/:_authToken=hunter2' | tee "$HOME/prefix/etc/npmrc" >"$HOME/npmrc"
	export NPM_CONFIG_PREFIX=$HOME/prefix
	NPM_CONFIG_USERCONFIG='${HOME}/npmrc' agentbox run -- cat "$HOME/prefix/etc/npmrc" "$HOME/npmrc"
	[ "$(grep -c hunter2 <<<"$output")" -eq 2 ]
	NPM_CONFIG_GLOBALCONFIG=$HOME/prefix/etc/npmrc NPM_CONFIG_USERCONFIG=$HOME/npmrc \
		agentbox run -- cat "$HOME/prefix/etc/npmrc" "$HOME/npmrc"
	[[ "$output" != *hunter2* ]]
}

@test "outside: links on the way to a page and to a file of settings are followed" {
	mkdir real
	ln -s real link
	agentbox run -- true
	agentbox log --html link/page.html
	[ "$status" -eq 0 ]
	grep -qi '<html' real/page.html
	echo '{"network":{"mode":"blocked"}}' >real/settings.json
	agentbox_split config show --json --config link/settings.json network.mode
	[ "$status" -eq 0 ]
	[[ "$output" == *blocked* ]]
}

@test "outside: a socket that the host makes in a writable folder during the run can be reached" {
	box_begins sockets 'until [ -e go ]; do :; done
		for path in here.sock "$HOME/there.sock"; do
			python3 -c "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])" "$path" && echo "reached $path"
		done'
	python3 -c 'import socket, sys, time
all = [socket.socket(socket.AF_UNIX) for _ in sys.argv[1:]]
for s, path in zip(all, sys.argv[1:]):
    s.bind(path)
    s.listen(5)
open("go", "w").close()
time.sleep(100)' here.sock "$HOME/there.sock" 3>&- &
	LEFT+=($!)
	wait_for 60 grep -q ready "$TEST_DIR/sockets"
	cat "$TEST_DIR/sockets"
	grep -qx 'reached here.sock' "$TEST_DIR/sockets"
	! grep -q 'reached .*there.sock' "$TEST_DIR/sockets" || false
	launch stop sockets
}

@test "outside: a layered home shows what programs outside write there during the run" {
	echo first >"$HOME/notes"
	box_begins reads 'cat ~/notes; until [ -e go ]; do :; done; cat ~/notes ~/later'
	wait_for 60 grep -qx first "$TEST_DIR/reads"
	echo second >>"$HOME/notes"
	echo third >"$HOME/later"
	touch go
	wait_for 60 grep -q ready "$TEST_DIR/reads"
	grep -qx second "$TEST_DIR/reads"
	grep -qx third "$TEST_DIR/reads"
	launch stop reads
}

# bats test_tags=root
@test "outside: what root's box makes belongs to root, set-user-id files too, which gain nothing in a box" {
	only_root
	agentbox run -- sh -c 'cp "$(command -v id)" own; chmod 4755 own; ./own -u'
	[ "$status" -eq 0 ]
	[ "$(stat -c '%u %a' own)" = "0 4755" ]
	agentbox run -- grep NoNewPrivs /proc/self/status
	[[ "$output" == *1* ]]
}

@test "outside: a link in a shared folder can be followed until it is moved, and not when the run is over" {
	local deep=a/b/c/d/e/f/g/h

	mkdir -p "$HOME/.codex/sessions/old/$deep"
	echo precious >"$HOME/precious"
	box_begins codex "ln -s ~/precious ~/.codex/sessions/old/$deep/link" --profile codex --unknown deny
	wait_for 60 grep -q precious "$HOME/.codex/sessions/old/$deep/link"
	launch stop codex
	[ ! -L "$HOME/.codex/sessions/old/$deep/link" ]
	[ "$(cat "$HOME/precious")" = precious ]
}

@test "outside: permissions of a shared folder are those before the runs of one state folder, others are not known" {
	local state dir=$HOME/.codex/sessions

	mkdir -p "$dir"
	for state in "$AGENTBOX_STATE" "$TEST_DIR/other"; do
		chmod 750 "$dir"
		box_waits first 'chmod 777 ~/.codex/sessions' --profile codex --unknown deny
		rm -f go
		AGENTBOX_STATE=$state box_begins second 'until [ -e go ]; do :; done; chmod 777 ~/.codex/sessions' \
			--profile codex --unknown deny
		launch stop first
		touch go
		wait_for 60 grep -q ready "$TEST_DIR/second"
		AGENTBOX_STATE=$state launch stop second
		# The second one went by what the first one's box had done, and ended last.
		[ "$state" = "$AGENTBOX_STATE" ] || [ "$(stat -c %a "$dir")" = 777 ]
		[ "$state" != "$AGENTBOX_STATE" ] || [ "$(stat -c %a "$dir")" = 750 ]
	done
}

@test "outside: the text of an approver is not examined, only which files it is" {
	local how

	mkdir "$TEST_DIR/bin"
	printf '#!/bin/sh\ntouch "%s/ran"\n' "$TEST_DIR" >helper
	chmod +x helper
	printf '#!/bin/sh\n"%s/helper"\necho "{\\"answer\\":\\"once\\"}"\n' "$WORKSPACE" >"$TEST_DIR/bin/approve"
	chmod +x "$TEST_DIR/bin/approve"
	agentbox run --unknown ask --approver "$WORKSPACE/helper" -- curl -s -o /dev/null http://x.test/
	[ "$status" -eq 125 ]
	[ ! -e "$TEST_DIR/ran" ]
	agentbox run --unknown ask --approver "$TEST_DIR/bin/approve" -- curl -s -o /dev/null http://x.test/
	[ -e "$TEST_DIR/ran" ]
}

@test "outside: apply --safe takes what it does not know for harmful, whatever it means" {
	agentbox run --review --name dev -- sh -c 'echo "int main(void) { return system(\"rm -rf ~\"); }" >main.c
		echo "all:; rm -rf ~" >Makefile'
	[ "$status" -eq 0 ]
	agentbox apply dev --safe
	[ -e main.c ]
	[ ! -e Makefile ]
}

@test "outside: what git is told by -c and variables is not read, what its settings say is closed" {
	local how

	make_repo
	mkdir said set
	git config core.hooksPath set
	agentbox run -- sh -c 'for dir in said set; do printf "#!/bin/sh\necho $dir >ran.$dir\n" >$dir/pre-commit
		chmod +x $dir/pre-commit; done; true'
	[ ! -e set/pre-commit ]
	git commit -q --allow-empty -m one
	[ ! -e ran.set ]
	for how in 'git -c core.hooksPath=said' \
		'env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=said git'; do
		rm -f ran.said
		$how commit -q --allow-empty -m two
		[ -e ran.said ]
	done
}

@test "outside: a file with a secret that was not declared can be read, a declared one has a placeholder" {
	local file

	mkdir -p "$HOME/.config/agentbox"
	for file in one two; do
		echo a-value-of-a-secret >"$HOME/$file"
	done
	printf '{"secrets":{"KEY":{"files":["~/one"],"hosts":["h.test"]}}}' >"$HOME/.config/agentbox/config.json"
	KEY=a-value-of-a-secret agentbox run --secret KEY -- sh -c 'echo "one: $(cat ~/one)"; echo "two: $(cat ~/two)"'
	[ "$status" -eq 0 ]
	[[ "$output" =~ one:\ .+ && "$output" != *"one: a-value-of-a-secret"* ]]
	[[ "$output" == *"two: a-value-of-a-secret"* ]]
}

@test "outside: what the pipes of a box may hold is taken from the user's" {
	# Root's own are not counted.
	local smaller=-lt
	[ "$(id -u)" -ne 0 ] || smaller=-eq
	cat >pipes.py <<-'END'
		import fcntl, os, time
		keep = [os.pipe()]
		try:
		    while len(keep) < 400:
		        fcntl.fcntl(keep[-1][1], fcntl.F_SETPIPE_SZ, 1 << 20)
		        keep.append(os.pipe())
		except OSError:
		    pass
		while len(keep) < 400 and fcntl.fcntl(keep[-1][1], fcntl.F_GETPIPE_SZ) >= 65536:
		    keep.append(os.pipe())
		print("ready", flush=True)
		time.sleep(200)
	END
	fresh() { python3 -c 'import fcntl, os; print(fcntl.fcntl(os.pipe()[0], fcntl.F_GETPIPE_SZ))'; }
	[ "$(fresh)" -eq 65536 ]
	box_begins pipes 'python3 pipes.py'
	wait_for 60 grep -q ready "$TEST_DIR/pipes"
	[ "$(fresh)" "$smaller" 65536 ]
	launch stop pipes
	wait_for 60 eval '[ "$(fresh)" -eq 65536 ]'
}

@test "outside: in a kept layer a link to agentbox, or a program of its name that is found first, is the layer's own" {
	mkdir -p ~/.local/bin ~/bin
	cp "$PROGRAM" ~/.local/bin/agentbox
	ln -s ../.local/bin/agentbox ~/bin/ab
	export AGENTBOX=$HOME/.local/bin/agentbox
	agentbox run --home kept --name dev -- sh -c 'ln -sf /bin/echo ~/bin/ab; ln -s /bin/echo ~/bin/agentbox'
	[ "$status" -eq 0 ]
	agentbox run --home kept --name dev -- sh -c 'PATH=~/bin:~/.local/bin:$PATH
		agentbox --version; ab --version; ~/.local/bin/agentbox --version'
	[ "$status" -eq 0 ]
	[ "$(grep -c '^agentbox 0' <<<"$output")" -eq 1 ]
	# A box that does not share the layer has the host's.
	agentbox run -- sh -c '~/bin/ab --version'
	[[ "$output" == *"agentbox 0"* ]]
}

@test "outside: the box has the machine's own kernel, and reaches less of it" {
	agentbox run -- sh -c 'uname -rv; unshare --user true && echo reached || echo closed'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "$(uname -rv)" ]
	grep -qx closed <<<"$output"
	need userns
	unshare --user true
}

@test "outside: a box sees in /proc how much the whole machine does, and not which process does it" {
	box_begins counts 'n=$(sed -n "s/^processes //p" /proc/stat)
		echo begun; until [ -e go ]; do :; done
		echo $(($(sed -n "s/^processes //p" /proc/stat) - n)); grep -l "[b]ats" /proc/[0-9]*/cmdline | wc -l'
	wait_for 60 grep -qx begun "$TEST_DIR/counts"
	for i in {1..300}; do
		(:)
	done
	touch go
	wait_for 60 grep -q ready "$TEST_DIR/counts"
	grep -q '[b]ats' /proc/[0-9]*/cmdline
	cat "$TEST_DIR/counts"
	[ "$(sed -n 2p "$TEST_DIR/counts")" -ge 300 ]
	[ "$(sed -n 3p "$TEST_DIR/counts")" -eq 0 ]
	launch stop counts
}

@test "outside: what a program outside does for the box is not fenced, what the box does is" {
	echo a-token >"$HOME/.netrc"
	# A watcher, which runs what was saved.
	(until [ -e job ]; do :; done; . ./job >made 2>&1; echo end >>made) 3>&- &
	LEFT+=($!)
	agentbox run -- sh -c 'cat ~/.netrc || echo closed; echo "cat ~/.netrc" >new; mv new job'
	[[ "$output" == *closed* && "$output" != *a-token* ]]
	wait_for 60 grep -qx end made
	[ "$(cat made)" = $'a-token\nend' ]
}

@test "outside: Java does not apply the name constraints of an authority, OpenSSL does" {
	need program:java
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -subj /CN=ca -days 2 \
		-addext 'nameConstraints=critical,permitted;DNS:allowed.test'
	for name in allowed.test localhost; do
		openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$name.key" -out req -subj "/CN=$name"
		openssl x509 -req -in req -CA ca.pem -CAkey ca.key -days 2 -out "$name.pem" \
			-extfile <(echo "subjectAltName=DNS:$name")
	done
	openssl verify -CAfile ca.pem allowed.test.pem
	run openssl verify -CAfile ca.pem localhost.pem
	[[ "$output" == *"permitted subtree violation"* ]]
	python3 -c '
import http.server, ssl
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain("localhost.pem", "localhost.key")
s.socket = c.wrap_socket(s.socket, server_side=True)
print(s.server_port, file=open("new", "w"))
__import__("os").rename("new", "port")
s.serve_forever()' >/dev/null 2>&1 3>&- &
	LEFT+=($!)
	wait_for 60 test -e port
	echo hello from the server >page
	run java -XX:TieredStopAtLevel=1 "$ROOT/test/internet/Fetch.java" ca.pem "https://localhost:$(cat port)/page"
	echo "$output"
	[ "$output" = "hello from the server" ]
}
