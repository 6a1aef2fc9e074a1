# What the host follows, runs or obeys on its own account: no link and no program
# that a box could have made.
# root-in-turn: no permission of a file stops root, so only the walls can
UNJUDGED=1
load helpers
load attack/attack

setup_file()
{
	attack_build peer
}

teardown_file()
{
	attack_clean
}

teardown()
{
	stop_peers
	box_teardown
}

# ----------------------------------------------------- links and writable paths

@test "a link that a box left under a writable name opens nothing in the next run" {
	echo old >"$HOME/notes"
	echo '{"filesystem":{"write":[".","target"]}}' >.agentbox.json
	agentbox trust --yes
	[ "$status" -eq 0 ]
	agentbox run -- ln -s .. target
	[ "$status" -eq 0 ]
	[[ "$output" == *"cannot make $WORKSPACE/target writable: it does not exist"* ]]
	agentbox run -- sh -c 'echo pwn >>target/notes'
	[ "$status" -eq 125 ]
	[[ "$output" == *"$WORKSPACE/target"*"symbolic link"*"leads out of its folder to $HOME"* ]]
	[[ "$output" == *"name its target instead"* ]]
	[ "$(cat "$HOME/notes")" = old ]
	# The same for the option, and with a folder on the way.
	rm .agentbox.json
	ln -s "$HOME" deep
	agentbox run --write target -- sh -c 'echo pwn >>target/notes'
	[ "$status" -eq 125 ]
	mkdir "$HOME/other"
	agentbox run --write deep/other -- sh -c 'echo pwn >deep/other/x'
	[ "$status" -eq 125 ]
	[ ! -e "$HOME/other/x" ]
	[ "$(cat "$HOME/notes")" = old ]
}

@test "a repository's link is not a writable path, whatever else is writable" {
	mkdir -p "$HOME/.config"
	ln -s ../.config build
	agentbox run --read-only --write build -- sh -c 'mkdir -p build/systemd/user; echo X >build/systemd/user/e.service'
	[ "$status" -eq 125 ]
	[[ "$output" == *"$WORKSPACE/build"*"leads out of its folder to $HOME/.config"* ]]
	[ ! -e "$HOME/.config/systemd" ]
	mkdir -p "$HOME/.config/agentbox"
	echo '{"filesystem":{"write":["build"]}}' >"$HOME/.config/agentbox/config.json"
	agentbox run -- true
	[ "$status" -eq 125 ]
	# A folder of that name is one.
	rm build
	mkdir build
	agentbox run -- sh -c 'echo X >build/x'
	[ "$status" -eq 0 ]
	[ "$(cat build/x)" = X ]
}

@test "links of the user's own, and links that stay inside, still work" {
	mkdir -p "$HOME/data" real
	ln -s data "$HOME/own"
	ln -s real inside
	ln -s "$WORKSPACE" "$HOME/way"
	agentbox run --write "$HOME/own" --write inside --write "$HOME/way/real" -- sh -c 'echo a >~/own/a; echo b >inside/b; echo c >~/data/c'
	[ "$status" -eq 0 ]
	[ "$(cat "$HOME/data/a" real/b "$HOME/data/c")" = $'a\nb\nc' ]
	agentbox run --read-only --write inside -- sh -c 'echo d >real/d; ! echo e >e'
	[ "$status" -eq 0 ]
	[ "$(cat real/d)" = d ]
	[ ! -e e ]
}

@test "a box that flips a folder and a link gets a second run to write nothing outside" {
	mkdir -p "$HOME/outside"
	mkdir flip
	agentbox run -- python3 - <<-'PYTHON' 3>&- &
	import os, time
	end = time.time() + 60
	os.symlink("../outside", "link")
	while time.time() < end and not os.path.exists("stop"):
	    try:
	        os.rename("flip", "kept"); os.rename("link", "flip")
	        os.rename("flip", "link"); os.rename("kept", "flip")
	    except OSError:
	        pass
	PYTHON
	flipper=$!
	wait_for 90 test -L link -o -L flip
	for ((i = 0; i < 25; i++)); do
		agentbox run --read-only --write flip -- sh -c 'echo pwn >flip/pwn'
		[ ! -e "$HOME/outside/pwn" ]
	done
	touch stop
	wait "$flipper"
	[ ! -e "$HOME/outside/pwn" ]
	rm -rf flip kept link
	mkdir flip
	agentbox run --read-only --write flip -- sh -c 'echo pwn >flip/pwn'
	[ "$status" -eq 0 ]
	[ -e flip/pwn ]
}

@test "a link in the workspace adds nothing to a read list" {
	mkdir -p "$HOME/.config/agentbox" shown
	echo secret >"$HOME/hidden"
	echo open >shown/file
	ln -s ../hidden door
	ln -s shown near
	echo '{"filesystem":{"read":["@system",".","door"]}}' >"$HOME/.config/agentbox/config.json"
	agentbox run -- cat "$HOME/hidden"
	[ "$status" -eq 125 ]
	[[ "$output" == *"cannot show $WORKSPACE/door"*"symbolic link"* ]]
	echo '{"filesystem":{"read":["@system",".","near"]}}' >"$HOME/.config/agentbox/config.json"
	agentbox run -- cat near/file
	[ "$status" -eq 0 ]
	[ "$output" = open ]
	agentbox run -- cat "$HOME/hidden"
	[ "$status" -eq 1 ]
}

# ----------------------------------------------------------------- sockets

@test "a link does not open a socket, and what is not a socket is refused" {
	host_peer stream "$HOME/docker.sock"
	host_peer stream "$WORKSPACE/own.sock"
	ln -s ../docker.sock app.sock
	agentbox run --allow-unix app.sock -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"cannot allow the socket $WORKSPACE/app.sock"*"symbolic link"* ]]
	echo x >plain
	mkdir folder
	for path in plain folder; do
		agentbox run --allow-unix "$path" -- true
		[ "$status" -eq 125 ]
		[[ "$output" == *"$path: it is not a socket"* ]]
	done
	# A socket, a link to it that stays inside, and the user's own link.
	ln -s own.sock near.sock
	ln -s docker.sock "$HOME/link.sock"
	agentbox run --allow-unix own.sock --allow-unix near.sock --allow-unix "$HOME/link.sock" -- \
		python3 -c 'import os, socket
for p in "own.sock", os.path.expanduser("~/docker.sock"): socket.socket(socket.AF_UNIX).connect(p)'
	[ "$status" -eq 0 ]
}

# -------------------------------------------------- programs on the host

@test "an approver in the workspace is refused, however it is named" {
	echo 'touch "$HOME/PWNED"' >appr.sh
	chmod +x appr.sh
	ln -s "$WORKSPACE/appr.sh" "$HOME/appr"
	for approver in ./appr.sh "$WORKSPACE/appr.sh" "sh $WORKSPACE/appr.sh" "$HOME/appr" \
		"cd $WORKSPACE && ./appr.sh" "cd ~/project; sh appr.sh" '$HOME/project/appr.sh' \
		"cat >$WORKSPACE/log" "cat | tee -a ~/project/log" "sh -c '. $WORKSPACE/appr.sh'" \
		"PATH=$WORKSPACE:\$PATH appr.sh" 'x=appr.sh; "$y/$x"' "env PYTHONPATH=$WORKSPACE true" \
		"cd ~; sh project/appr.sh" 'cd "$X" && sh appr.sh' "make -f$WORKSPACE/appr.sh" "curl -d @$WORKSPACE/log h.test"; do
		agentbox run --unknown ask --approver "$approver" -- true
		[ "$status" -eq 125 ]
		[[ "$output" == *"--approver"* ]]
	done
	agentbox run --unknown ask --on-violation ./appr.sh -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"--on-violation: ./appr.sh: the program is a relative path"*"runs in /"* ]]
	[ ! -e "$HOME/PWNED" ]
	# The same program where no box can write.
	mkdir "$TEST_DIR/bin"
	printf '#!/bin/sh\ncat >"%s/asked"; pwd >"%s/where"; echo "{\\"answer\\":\\"no\\"}"\n' "$TEST_DIR" "$TEST_DIR" >"$TEST_DIR/bin/appr"
	chmod +x "$TEST_DIR/bin/appr"
	PATH=$PATH:$TEST_DIR/bin agentbox run --unknown ask --approver appr -- curl -s -o /dev/null http://x.test/
	jq -e '.host == "x.test"' "$TEST_DIR/asked"
	[ "$(cat "$TEST_DIR/where")" = / ]
}

@test "what a box puts into a folder of PATH is not run outside" {
	mkdir -p .venv/bin "$TEST_DIR/bin"
	ln -s "$WORKSPACE/.venv/bin" "$HOME/venv"
	printf '#!/bin/sh\ntouch "%s/PWNED"\n' "$HOME" >evil
	chmod +x evil
	printf '#!/bin/sh\necho "$PWD $PATH $PYTHONPATH" >"%s/noted"\n' "$TEST_DIR" >"$TEST_DIR/bin/noter"
	chmod +x "$TEST_DIR/bin/noter"
	PYTHONPATH=$WORKSPACE PATH=.:.venv/bin:$WORKSPACE/.venv/bin:$HOME/venv:$PATH:$TEST_DIR/bin \
		agentbox run --unknown deny --on-violation noter -- \
		sh -c 'cp evil .venv/bin/noter; cp evil noter; curl -s http://x.test/'
	wait_for 90 test -s "$TEST_DIR/noted"
	[ ! -e "$HOME/PWNED" ]
	run cat "$TEST_DIR/noted"
	[[ "$output" == "/ "* && "$output" != *"$WORKSPACE"* && "$output" != *venv* && "$output" != .:* && "$output" != *:.:* ]]
	# One that is only there is refused before anything runs.
	cp evil .venv/bin/onlythere
	PATH=$WORKSPACE/.venv/bin:$PATH agentbox run --on-violation onlythere -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"would use $WORKSPACE/.venv/bin/onlythere on the host"* ]]
	[ ! -e "$HOME/PWNED" ]
}

@test "the command of a secret is not the workspace's, even in a read-only run" {
	mkdir -p "$HOME/.config/agentbox"
	printf '#!/bin/sh\necho value-of-the-secret\n' >get
	chmod +x get
	cp get "$TEST_DIR/get"
	settings() { printf '{"secrets":{"KEY":{"from":"command","command":["%s"],"hosts":["h.test"]}}}' "$1"; }
	settings "$WORKSPACE/get" >"$HOME/.config/agentbox/config.json"
	agentbox run --read-only --secret KEY -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"$WORKSPACE/get"*"box can write"* ]]
	settings "$TEST_DIR/get" >"$HOME/.config/agentbox/config.json"
	agentbox run --read-only --secret KEY -- true
	[ "$status" -eq 0 ]
}

@test "a login that a secret's command writes into a tool's settings stays outside" {
	mkdir -p "$HOME/.config/agentbox" "$HOME/.config/pip"
	printf '{"secrets":{"KEY":{"from":"command","command":["%s"],"hosts":["h.test"]}}}' "$TEST_DIR/get" \
		>"$HOME/.config/agentbox/config.json"
	# A command that writes at once, and one that takes longer than the rest of a start.
	for before in : 'sleep 0.2'; do
		rm -f "$HOME/.config/pip/pip.conf"
		cat >"$TEST_DIR/get" <<-X
			#!/bin/sh
			$before
			printf '[global]\nindex-url = https://me:%s@mirror.test/simple\n' hunter2word >~/.config/pip/pip.conf
			echo value-of-the-secret
		X
		chmod +x "$TEST_DIR/get"
		agentbox run --secret KEY -- cat "$HOME/.config/pip/pip.conf"
		[ "$status" -eq 0 ]
		[[ "$output" == *"index-url = https://mirror.test/simple"* ]]
		[[ "$output" != *hunter2* ]]
		grep -q hunter2word "$HOME/.config/pip/pip.conf"
	done
}

@test "a protected pattern closes the user's files and moves only those of the run" {
	echo mine >a.sh
	agentbox run --deny-write './*.sh' -- sh -c 'echo x >>a.sh; echo y >b.sh; echo z >c.txt'
	[ "$(cat a.sh)" = mine ]
	[ ! -e b.sh ]
	[ "$(cat c.txt)" = z ]
}

@test "certificates to trust are not read through a link of the workspace" {
	need path:/etc/ssl/certs/ca-certificates.crt
	export KEY=0123456789abcdef0123456789abcdef
	mkdir -p "$HOME/.config/agentbox"
	cp /etc/ssl/certs/ca-certificates.crt "$HOME/roots.pem"
	ln -s ../roots.pem roots.pem
	roots() { printf '{"network":{"roots":["%s"]},"secrets":{"KEY":{"hosts":["h.test"]}}}' "$1"; }
	roots roots.pem >"$HOME/.config/agentbox/config.json"
	agentbox run --secret KEY -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"network.roots: $WORKSPACE/roots.pem leads through a link"* ]]
	roots ../roots.pem >"$HOME/.config/agentbox/config.json"
	agentbox run --secret KEY -- true
	[ "$status" -eq 0 ]
}
