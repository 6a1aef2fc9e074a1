# The layered home: the command sees the host's files and may write anywhere in its
# home folder, and nothing of that reaches the host. What is hidden stays hidden.
# root-in-turn: the home layer of root is mounted by root itself, not by the owner of a user namespace
UNJUDGED=1
load helpers
load attack/attack

setup_file()
{
	attack_build sockets
}

teardown_file()
{
	attack_clean
}

record()
{
	cat "$AGENTBOX_STATE"/runs/*/audit*.jsonl
}

# The home as the record has it.
home_is()
{
	record | jq -es "map(select(.kind == \"assurance\")) | sort_by(.timestamp) | last.home == \"$1\"" >/dev/null
}

# The home folder is compared without agentbox's own settings and the workspace.
snapshot()
{
	host_snapshot "$HOME" | grep -v '^[^ ]* *\./project/\|^\./project '
}

unchanged()
{
	diff "$TEST_DIR/before" <(snapshot)
}

fill_home()
{
	mkdir -p "$HOME/.ssh" "$HOME/.config/tool" "$HOME/folder/sub"
	chmod 700 "$HOME/.ssh"
	echo private >"$HOME/.ssh/id_rsa"
	echo known >"$HOME/.ssh/known_hosts"
	echo old >"$HOME/file"
	echo old >"$HOME/folder/sub/file"
	echo 'alias x=y' >"$HOME/.bashrc"
	ln -s file "$HOME/link"
	snapshot >"$TEST_DIR/before"
}

# in_namespace COMMAND: with mounts of its own, as root of a user namespace.
in_namespace()
{
	run --separate-stderr timeout --kill-after=5 120 unshare --user --map-root-user --mount \
		sh -c "$1" sh "$AGENTBOX" "$TEST_DIR" 3>&-
	printf '%s\n[stderr]\n%s\n[status %s]\n' "$output" "$stderr" "$status"
}

# ------------------------------------------------------------------- writing

@test "home layer: everything in it can be written, and the host's stays as it is" {
	fill_home
	agentbox_split run -- sh -c '
		set -e
		echo new >~/file; echo more >>~/folder/sub/file; mkdir ~/made; echo x >~/made/x
		rm ~/.bashrc; mv ~/folder ~/moved; chmod 700 ~/made; ln -sf /etc/passwd ~/link
		ln ~/file ~/hard; echo key >~/.ssh/id_new; touch -d 2001-01-01 ~/made/x; rmdir ~/.config/tool
		cat ~/file ~/moved/sub/file ~/hard ~/made/x; [ ! -e ~/.bashrc ]; [ ! -e ~/folder ]
		echo real >result'
	[ "$status" -eq 0 ]
	[ "$output" = $'new\nold\nmore\nnew\nx' ]
	unchanged
	[ "$(cat result)" = real ]
	home_is layered
}

@test "home layer: it is gone after the run, and the command is told what was in it" {
	agentbox_split run -- sh -c 'echo x >~/one; echo x >~/.two; mkdir ~/d; echo x >~/d/three; rm ~/.gitconfig'
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"agentbox: 4 changes in your home folder were temporary and are gone now: "*", ...; "*"--name NAME"* ]]
	agentbox_split run -- sh -c 'ls ~/one ~/.two ~/d; cat ~/.gitconfig | head -1'
	[ "$output" = '[user]' ]
	# One, with what it was.
	agentbox_split run -- rm "$HOME/.gitconfig"
	[ "$stderr" = "agentbox: 1 change in your home folder was temporary and is gone now: ~/.gitconfig (removed); to keep such files: agentbox run --name NAME" ]
	# Nothing to tell about caches, logs, histories and folders, or where nothing was written.
	agentbox_split run -- sh -c 'mkdir -p ~/.cache/a ~/.npm/_logs ~/empty
		echo x >~/.cache/a/b; echo x >~/.npm/_logs/l; echo x >~/.bash_history; echo x >~/x.log'
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
}

@test "home layer: a name in it cannot speak in agentbox's voice" {
	agentbox_split run -- python3 -c '
import os
os.chdir(os.path.expanduser("~"))
open("a\nagentbox: all is well\x1b[2J", "w")
os.makedirs("/".join(["d" * 200] * 12))
name = "."
for i in range(100):
    os.mkdir("e"); os.chdir("e")
open("deep", "w")'
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"at least 2 changes in your home folder"* ]]
	[[ "$stderr" != *$'\nagentbox: all is well'* ]]
	[[ "$stderr" != *$'\x1b'* ]]
}

@test "home layer: writes in it are not denied, so none is recorded" {
	agentbox_split run --trace-denials -- sh -c 'mkdir ~/x; echo x >~/x/y; mv ~/x ~/z; echo x >/etc/agentbox-test'
	[ "$status" -ne 0 ]
	# The twin is: outside the home folder.
	record | jq -es 'map(select(.kind == "violation")) | map(.path) == ["/etc/agentbox-test"] or . == []' >/dev/null
	[[ "$stderr" != *"$HOME/x"* ]]
}

@test "home layer: the temporary layer is bounded, and running into it is explained" {
	printf '{ "filesystem": { "tmpSize": "4M" } }' >"$TEST_DIR/small.json"
	agentbox_split run --config "$TEST_DIR/small.json" -- sh -c 'head -c 8M /dev/zero >~/big; echo "status $?"'
	[[ "$output" == "status "[1-9]* ]]
	[[ "$stderr" == *"No space left"* ]]
	[[ "$stderr" == *"are full (4M); increase filesystem.tmpSize"* ]]
	agentbox_split run --config "$TEST_DIR/small.json" -- sh -c 'head -c 1M /dev/zero >~/big'
	[ "$status" -eq 0 ]
	[[ "$stderr" != *tmpSize* ]]
}

# -------------------------------------------------------------------- hiding

@test "home layer: a key stays hidden under each of its names" {
	fill_home
	agentbox_split run -- sh -c '
		cat ~/.ssh/id_rsa; cat /proc/self/root$HOME/.ssh/id_rsa; cat ~/project/../.ssh/id_rsa
		ln -s .ssh ~/l; cat ~/l/id_rsa; ln ~/.ssh/id_rsa ~/hard; cat ~/hard
		mv ~/.ssh ~/s; cat ~/s/id_rsa; cp -a ~/.ssh ~/copy; cat ~/copy/id_rsa
		chmod 777 ~/.ssh/id_rsa; cat ~/.ssh/id_rsa; rm -rf ~/.ssh; cat ~/.ssh/id_rsa
		for fd in /proc/self/fd/*; do cat $fd/.ssh/id_rsa; done; cat ~/s/known_hosts' </dev/null
	[ "$output" = known ]
	unchanged
}

@test "home layer: a credential that the host creates later does not appear" {
	mkdir -p "$HOME/.config"
	launch run -- sh -c '
		touch ready; while [ ! -e go ]; do sleep 0.02; done
		while cat ~/.netrc ~/.aws/credentials ~/.config/gh/hosts.yml 2>/dev/null | grep -q .; do
			echo seen >&2; sleep 0.05
		done
		cat ~/plain
		for f in .netrc .aws .config/gh; do touch ~/$f && rm ~/$f; done
		mkdir ~/.aws ~/.config/gh; rmdir ~/.aws ~/.config/gh
		cat ~/.netrc ~/.aws/credentials ~/.config/gh/hosts.yml; ls -A ~ ~/.config
		echo mine >~/.netrc; cat ~/.netrc; :' >out 2>err &
	wait_for 60 test -e ready
	mkdir -p "$HOME/.aws" "$HOME/.config/gh"
	echo secret | tee "$HOME/.netrc" "$HOME/.aws/credentials" "$HOME/.config/gh/hosts.yml" >/dev/null
	echo plain >"$HOME/plain"
	touch go
	wait $!
	cat out err
	# The twin: what is not denied does appear, unless the box has looked for it before.
	[ "$(head -1 out)" = plain ]
	# In the first milliseconds of a run a name can appear; then it is told.
	if grep -q seen err; then grep -q 'created on the host during the run and is hidden now' err; fi
	run ! grep -q secret out
	# A regular look that meets a file of the box under such a name hides that one, and says so.
	if ! grep -q 'created on the host during the run and is hidden now' err; then
		[ "$(tail -1 out)" = mine ]
		run ! grep -q '\.netrc\|\.aws\|^gh' out
	fi
	[ "$(cat "$HOME/.netrc")" = secret ]
}

@test "home layer: a hidden file that the host replaces stays hidden, and nobody is alarmed" {
	fill_home
	launch run -- sh -c 'touch ready; while [ ! -e go ]; do sleep 0.02; done
		cat ~/.ssh/id_rsa; sleep 0.3; cat ~/.ssh/id_rsa; echo done' >out 2>err &
	wait_for 60 test -e ready
	echo newer >"$HOME/.ssh/new"
	mv "$HOME/.ssh/new" "$HOME/.ssh/id_rsa"
	touch go
	wait $!
	cat out err
	[ "$(cat out)" = done ]
	run ! grep -q replaced err
}

@test "home layer: a late key that only a pattern denies is hidden when it is seen, and told" {
	fill_home
	launch run -- sh -c 'touch ready; while [ ! -e go ]; do sleep 0.02; done
		cat ~/.ssh/id_late; cat ~/.ssh/late.pub; ssh=own; echo $ssh >~/.ssh/id_own; cat ~/.ssh/id_own' >out 2>err &
	wait_for 60 test -e ready
	echo secret >"$HOME/.ssh/id_late"
	echo public >"$HOME/.ssh/late.pub"
	wait_for 60 grep -q 'id_late was created on the host during the run and is hidden now' err
	touch go
	wait $!
	cat out err
	[ "$(cat out)" = $'public\nown' ]
}

@test "home layer: the state folder is closed, also when it is in the home folder" {
	unset AGENTBOX_STATE
	agentbox_split run -- sh -c 'ls ~/.local/state/agentbox; echo x >~/.local/state/agentbox/x
		mv ~/.local/state/agentbox ~/s; rm -rf ~/.local; echo fine >~/.local/state/other && cat ~/.local/state/other'
	[ "$output" = fine ]
	[[ "$stderr" == *"agentbox"*"Permission denied"* ]]
	[ -d "$HOME/.local/state/agentbox/runs" ]
	[ ! -e "$HOME/.local/state/other" ]
}

@test "home layer: no descriptor leads to the real folder, and a folder on 0 to 2 is refused" {
	fill_home
	exec 9<"$HOME"
	agentbox_split run -- sh -c 'ls /proc/self/fd; cat /proc/self/fd/9/.ssh/id_rsa /proc/self/cwd/../.ssh/id_rsa'
	[[ "$output" != *9* ]]
	[[ "$output" != *private* ]]
	run launch run -- true <"$HOME"
	exec 9<&-
	[ "$status" -eq 125 ]
	[[ "$output" == *"standard input is a folder"* ]]
	agentbox run -- true </dev/null
	[ "$status" -eq 0 ]
}

@test "home layer: a host's socket in it cannot be reached, one of the box can" {
	need program:python3
	python3 -c '
import socket, sys, os
s = socket.socket(socket.AF_UNIX); s.bind(os.path.expanduser("~/host.sock")); s.listen()
open("ready", "w"); s.settimeout(60)
try: s.accept(); open("reached", "w")
except OSError: pass' 3>&- &
	wait_for 60 test -e ready
	agentbox_split run -- python3 -c '
import os, socket
os.chdir(os.path.expanduser("~"))
for name in "host.sock", "project/../host.sock":
    s = socket.socket(socket.AF_UNIX)
    try: s.connect(name); print("HOLE")
    except OSError as e: print("closed")
own = socket.socket(socket.AF_UNIX); own.bind("own.sock"); own.listen()
s = socket.socket(socket.AF_UNIX); s.connect("own.sock"); print("connected")'
	kill "$!"
	wait "$!" || true
	[ "$output" = $'closed\nclosed\nconnected' ]
	[ ! -e reached ]
	# Named, it is shown above the layer.
	need program:python3
	rm -f "$HOME/host.sock" ready
	python3 -c '
import socket, os
s = socket.socket(socket.AF_UNIX); s.bind(os.path.expanduser("~/host.sock")); s.listen()
open("ready", "w"); s.settimeout(60); s.accept()' 3>&- &
	wait_for 60 test -e ready
	agentbox run --allow-unix "$HOME/host.sock" -- python3 -c '
import os, socket
s = socket.socket(socket.AF_UNIX); s.connect(os.path.expanduser("~/host.sock")); print("connected")'
	[ "$output" = connected ]
	wait $!
}

# --------------------------------------------------------------- other ways

@test "home layer: readonly and private are as they were" {
	fill_home
	agentbox_split run --home readonly -- sh -c 'cat ~/file; echo x >~/new; echo x >>~/file; echo x >here'
	[ "$output" = old ]
	[ "$(grep -c 'Read-only file system' <<<"$stderr")" -eq 2 ]
	[ -e here ]
	home_is readonly
	agentbox_split run --home private -- sh -c 'ls ~/file; echo x >~/new && cat ~/new'
	[ "$output" = x ]
	[ ! -e "$HOME/new" ]
	home_is private
	agentbox_split run --profile read-only -- sh -c 'cat ~/file; echo x >~/new'
	[ "$output" = old ]
	[[ "$stderr" == *"Read-only file system"* ]]
	agentbox_split run --read-only -- sh -c 'cat ~/file; echo x >~/new; echo x >new'
	[ "$output" = old ]
	[ "$(grep -c 'Read-only file system' <<<"$stderr")" -eq 2 ]
	unchanged
}

@test "home layer: a project's file can make the home stricter, not wider" {
	echo '{ "filesystem": { "home": "private" } }' >.agentbox.json
	agentbox config show --json
	[ "$(jq -r '.settings[]? // . | select(.key? == "filesystem.home") | .value' <<<"$output" | head -1)" = private ] ||
		[[ "$(jq -c . <<<"$output")" == *'"private"'* ]]
	echo '{ "filesystem": { "home": "kept" } }' >.agentbox.json
	agentbox_split run --home readonly -- sh -c 'echo x >~/new'
	[[ "$stderr" == *"Read-only file system"* ]]
	agentbox_split run -- true
	[[ "$stderr" == *".agentbox.json"* ]]
	home_is layered
}

@test "home layer: a home folder that is the workspace has none, and that is said" {
	agentbox_split run --workspace "$HOME" -- sh -c 'echo x >~/real'
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"your home folder is writable itself: there is no layer, and every change in it is real"* ]]
	[ "$(cat "$HOME/real")" = x ]
	home_is direct
	agentbox_split run --write "$TEST_DIR" -- sh -c 'echo y >~/real'
	[[ "$stderr" == *"which is writable: there is no layer"* ]]
	[ "$(cat "$HOME/real")" = y ]
}

@test "home layer: a list of readable paths shows no more because of it" {
	fill_home
	printf '{ "filesystem": { "read": ["@system", "%s"] } }' "$HOME/folder" >"$TEST_DIR/list.json"
	agentbox_split run --config "$TEST_DIR/list.json" -- sh -c '
		ls -A ~; cat ~/folder/sub/file; echo mine >~/new && cat ~/new; echo x >~/folder/x; cat ~/file ~/.bashrc'
	[ "$output" = $'folder\nproject\nold\nmine' ]
	unchanged
	# All of it on the list: then it is a layer above all of it.
	printf '{ "filesystem": { "read": ["@system", "%s"] } }' "$HOME" >"$TEST_DIR/list.json"
	agentbox_split run --config "$TEST_DIR/list.json" --yes -- sh -c 'echo new >~/file; cat ~/file ~/.bashrc; cat ~/.ssh/id_rsa'
	[ "$output" = $'new\nalias x=y' ]
	unchanged
	home_is layered
}

# ------------------------------------------------------------- odd machines

@test "home layer: a home below /tmp is visible, layered or read-only" {
	local tmp
	tmp=$(mktemp -d)
	mkdir -p "$tmp/home/project" "$tmp/bin" "$tmp/home/bin"
	echo old >"$tmp/home/file"
	printf '#!/bin/sh\necho ran\n' | tee "$tmp/bin/tool" "$tmp/home/bin/own" >/dev/null
	chmod +x "$tmp/bin/tool" "$tmp/home/bin/own"
	cd "$tmp/home/project"
	HOME=$tmp/home PATH=$PATH:$tmp/bin:$tmp/home/bin agentbox_split run -- sh -c '
		cat ~/file; echo new >~/file; cat ~/file; own; echo x >here; ls /tmp; tool || echo none'
	local out=$output err=$stderr
	HOME=$tmp/home agentbox_split run --home readonly -- sh -c 'cat ~/file; echo new >~/file; own; echo y >>here'
	[ "$(cat "$tmp/home/file")" = old ]
	[ "$(cat here)" = $'x\ny' ]
	cd "$WORKSPACE"
	rm -rf "$tmp"
	[ "$out" = $'old\nnew\nran\n'"${tmp##*/}"$'\nnone' ]
	[[ "$err" == *"programs in $tmp/bin (PATH) are not visible: the box has its own /tmp"* ]]
	[[ "$err" != *"$tmp/home/bin (PATH)"* ]]
	[ "$output" = old ]
	[[ "$stderr" == *"Read-only file system"* ]]
}

@test "home layer: a home behind a link is layered" {
	mkdir -p "$HOME/project"
	ln -s "$HOME" "$TEST_DIR/link"
	HOME=$TEST_DIR/link agentbox_split run -- sh -c 'echo x >~/new && cat ~/new && echo real >here'
	[ "$output" = x ]
	[ ! -e "$HOME/new" ]
	[ "$(cat here)" = real ]
	home_is layered
}

@test "home layer: a home that cannot be looked at is read-only, and the run says why" {
	ln -s loop "$TEST_DIR/loop"
	XDG_CONFIG_HOME=$HOME/.config HOME=$TEST_DIR/loop agentbox run -- sh -c 'echo real >here'
	[ "$status" -eq 0 ]
	[ "$output" = "agentbox: the home folder is read-only: it cannot be opened: Too many levels of symbolic links" ]
	[ "$(cat here)" = real ]
	home_is readonly
	# One that does not exist is no such case.
	XDG_CONFIG_HOME=$HOME/.config HOME=$TEST_DIR/missing agentbox run -- true
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "home layer: with a mount below the home its folders are layered one by one" {
	need userns
	mkdir -p "$HOME/mnt" "$HOME/.cache" "$HOME/.npm/_cacache" "$HOME/.config/tool"
	echo old >"$HOME/.npm/_cacache/x"
	echo '{}' >"$HOME/.config/agentbox/config.json"
	snapshot >"$TEST_DIR/before"
	in_namespace 'mount -t tmpfs none ~/mnt && exec "$1" run --yes -v -- sh -c "
		echo new >~/.npm/_cacache/x && cat ~/.npm/_cacache/x && echo x >~/.config/tool/new && echo x >~/.cache/x
		echo x >~/other; echo \$npm_config_cache \$CARGO_HOME; echo x >~/.config/.netrc; rm -r ~/.cache; cat ~/.config/tool/new"'
	[ "$status" -eq 0 ]
	# No tool needs another folder: all of the home can be written (odd_homes.bats).
	[ "$output" = $'new\n\nx' ]
	[[ "$stderr" == *"something is mounted below your home folder (~/mnt), so each folder in it has a layer of its own"* ]]
	[[ "$stderr" == *"3 changes in your home folder were temporary and are gone now: "*"~/.config/"* ]]
	record | jq -es 'map(select(.kind == "violation")) == []' >/dev/null
	unchanged
	home_is layered
}

@test "home layer: a credential that the host creates later in such a folder does not appear" {
	need userns
	mkdir -p "$HOME/mnt" "$HOME/.config"
	in_namespace 'mount -t tmpfs none ~/mnt && {
		"$1" run -- sh -c "touch ready; while [ ! -e go ]; do sleep 0.02; done
			while cat ~/.config/gh/hosts.yml 2>/dev/null | grep -q .; do echo seen >&2; sleep 0.05; done
			cat ~/.config/plain; ls ~/.config/gh" &
		while [ ! -e ready ]; do sleep 0.02; done
		mkdir ~/.config/gh; echo secret >~/.config/gh/hosts.yml; echo plain >~/.config/plain
		touch go; wait $!; }'
	[ "${lines[0]}" = plain ]
	[[ "$output" != *secret* && "$output" != *hosts.yml* ]]
	if [[ "$stderr" == *seen* ]]; then [[ "$stderr" == *"created on the host during the run and is hidden now"* ]]; fi
	home_is layered
}

@test "home layer: where no program may run, none runs in the layer above it" {
	need userns
	mkdir -p "$HOME/mnt" "$HOME/bin"
	cp "$(type -P true)" "$HOME/bin/yes-run"
	in_namespace 'mount -t tmpfs -o noexec none ~/mnt && cp ~/bin/yes-run ~/mnt/no-run && exec "$1" run -- sh -c "
		~/bin/yes-run && echo ran; ~/mnt/no-run; echo \$?; echo new >~/mnt/file; cat ~/mnt/file"'
	[ "$output" = $'ran\n126\nnew' ]
	[[ "$stderr" == *"/mnt/no-run: Permission denied"* ]]
}

@test "home layer: a folder that is hidden with a mount in it" {
	need userns
	mkdir -p "$HOME/card/mnt" "$HOME/other/mnt"
	echo secret >"$HOME/card/file"
	echo open >"$HOME/other/file"
	in_namespace 'mount -t tmpfs none ~/card/mnt && mount -t tmpfs none ~/other/mnt && echo secret >~/card/mnt/x &&
		exec "$1" run --deny-read ~/card -- sh -c "
		cat ~/card/file ~/card/mnt/x; ls ~/card; grep -rls secret ~/; mv ~/card ~/moved; rm -rf ~/card; cat ~/other/file"'
	[ "$output" = open ]
	[ "$(cat "$HOME/card/file")" = secret ]
}

@test "home layer: too many files and folders for layers of their own" {
	need userns
	mkdir -p "$HOME/.ssh" "$HOME/mnt"
	echo private >"$HOME/.ssh/id_rsa"
	# Larger than what is copied.
	(cd "$HOME" && seq -f big%g 1200 | xargs truncate -s 17M)
	echo old >"$HOME/file"
	in_namespace 'ulimit -n 1024; mount -t tmpfs none ~/mnt && "$1" run -- sh -c "
		cat ~/file ~/.ssh/id_rsa; echo x >~/file; ls ~ | grep -c big" && rm ~/big* && exec "$1" run -- sh -c "echo x >~/file; cat ~/file"'
	[ "$output" = $'old\n1200\nx' ]
	[[ "$stderr" == *"there are too many files and folders for layers of their own"* ]]
	[[ "$stderr" == *"/file: Read-only file system"* ]]
	[ "$(cat "$HOME/file")" = old ]
	# A few descriptors more: each can be read.
	(cd "$HOME" && seq -f big%g 300 | xargs truncate -s 17M)
	in_namespace 'ulimit -n 4096; mount -t tmpfs none ~/mnt && "$1" run -- sh -c "
		cat ~/big* | wc -c; echo x >~/file; cat ~/file"'
	[ "$output" = $'5347737600\nx' ]
}

@test "home layer: a tool's folder that is a link to a folder above the home changes nothing else" {
	need userns
	mkdir -p "$HOME/data/u" "$HOME/data/project"
	# The folder of the link cannot be a layer: the home is mounted in it.
	in_namespace 'mount -t tmpfs none ~/data/u && export HOME=$HOME/data/u &&
		mkdir -p ~/.cargo && ln -s .. ~/go && cd ~/../project &&
		"$1" run --yes --name kept -- sh -c "echo kept >~/.cargo/f" &&
		"$1" run --yes --name kept -- cat "$HOME/.cargo/f" &&
		"$1" run --yes -- sh -c "echo x >~/.cargo/f; echo x >~/g"'
	[ "$output" = kept ]
	[[ "$stderr" == *"2 changes in your home folder were temporary and are gone now: "*".cargo/f"* ]]
}

@test "home layer: a private folder inside the home hides no folder of a tool" {
	need userns
	mkdir -p "$HOME/mnt" "$HOME/.local/share"
	chmod 700 "$HOME/.local"
	echo old >"$HOME/.local/share/x"
	[[ "$HOME" < /run ]] # so that this is the first private folder of all
	in_namespace 'mount -t tmpfs none ~/mnt && XDG_RUNTIME_DIR=$HOME/.local exec "$1" run --yes -v -- sh -c "
		cat ~/.local/share/x && echo new >~/.local/share/x && cat ~/.local/share/x"'
	[ "$output" = $'old\nnew' ]
	[ "$(cat "$HOME/.local/share/x")" = old ]
}

@test "home layer: a tool's folder that is a link to the home itself is a part of it" {
	need userns
	mkdir -p "$HOME/mnt"
	ln -s . "$HOME/.npm"
	agentbox_split run -- sh -c 'echo x >~/.npm/new && cat ~/new'
	[ "$output" = x ]
	[ ! -e "$HOME/new" ]
	in_namespace 'mount -t tmpfs none ~/mnt && exec "$1" run --yes -- sh -c "echo x >~/.npm/new && cat ~/new"'
	[ "$output" = x ]
	[ ! -e "$HOME/new" ]
}

# below_two COMMAND: in a namespace, with the home on two overlays, which is the kernel's limit.
below_two()
{
	mkdir -p "$TEST_DIR"/image/{home/project,upper,work,upper2,top,top2}
	in_namespace 'cd "$2/image" && export HOME=$PWD/top2 && mount -t tmpfs none upper2 && mkdir upper2/u upper2/w &&
		mount -t overlay -o userxattr,lowerdir=home,upperdir=upper,workdir=work none top &&
		mount -t overlay -o userxattr,lowerdir=top,upperdir=upper2/u,workdir=upper2/w none top2 && cd top2/project && '"$1"
}

@test "home layer: where no folder can be layered, the tools' variables lead to a private one" {
	need userns
	mkdir -p "$TEST_DIR"/image/home/{.npm,.config,.cache}
	below_two 'GOMODCACHE=/mine exec "$1" run -v -- sh -c "
		echo \$npm_config_cache \$XDG_CACHE_HOME \$GOMODCACHE; mkdir -p \$npm_config_cache && echo x >\$npm_config_cache/y && cat \$npm_config_cache/y; echo x >~/.npm/x"'
	[ "$output" = $'/dev/shm/agentbox-home/.npm /dev/shm/agentbox-home/.cache /mine\nx' ]
	[[ "$stderr" == *"it is read-only"* ]]
	[[ "$stderr" == *".npm/x: Read-only file system"* ]]
	[[ "$stderr" == *"set for tools that would write to others: "*CARGO_HOME* ]]
	home_is variables
}

@test "home layer: a home that cannot have one is told by the run, the denial and the doctor" {
	need userns
	below_two '"$1" run -- sh -c "echo x >~/new"; "$1" doctor'
	[[ "$stderr" == *"agentbox: the home folder cannot be layered as a whole (Invalid argument), because its file system cannot be below an overlay: it is read-only"* ]]
	[[ "$stderr" == *"-f1  write $TEST_DIR/image/top2/new  your home folder has no layer here (doctor says why)"* ]]
	[[ "$stderr" == *"allow it next time:  agentbox run --home private -- ..."* ]]
	[[ "$output" == *$'\nwarn  home layer          the home folder cannot be layered as a whole (Invalid argument), because '* ]]
	# Its preview and the settings say the same.
	below_two '"$1" run --dry-run -- true; "$1" config show; "$1" run --dry-run --json -- true'
	[ "$(grep -c "the home folder cannot be layered as a whole (Invalid argument), because its file system cannot be below an overlay: it is read-only" <<<"$output")" -eq 3 ]
	record | jq -es 'map(select(.kind == "violation").path | split("/") | last) == ["new"]' >/dev/null
	# With a mount in it, only what is mounted, and files.
	mkdir -p "$TEST_DIR"/image/home/{.npm,.cache,tm}
	below_two 'mount -t tmpfs none ~/tm && mount -t tmpfs none ~/.cache && "$1" run -v -- sh -c "
		echo x >~/new && echo x >~/tm/x && echo x >~/.cache/x && cat ~/new; echo x >~/.npm/x; echo \$npm_config_cache \$XDG_CACHE_HOME; exit 1"
		"$1" run --dry-run -- true; "$1" config show; "$1" doctor | grep -A1 "home layer"'
	[ "${lines[0]}" = x ]
	[ "${lines[1]}" = /dev/shm/agentbox-home/.npm ]
	[ "$(grep -c "read-only, because its file system cannot be below an overlay: .*$TEST_DIR/image/top2/.npm" <<<"$output")" -eq 3 ]
	[[ "$output" == *$'\nwarn  home layer  '* ]]
	[[ "$stderr" == *"write $TEST_DIR/image/top2/.npm/x  your home folder has no layer here (doctor says why)"* ]]
	[[ "$stderr" == *"read-only, because its file system cannot be below an overlay: "*"$TEST_DIR/image/top2/.npm"* ]]
	[[ "$stderr" == *".npm/x: Read-only file system"* ]]
	[ -z "$(ls -A "$TEST_DIR/image/home/.npm")" ]
}

@test "home layer: a home that is an overlay itself, as in a container's image" {
	need userns
	mkdir -p "$TEST_DIR"/image/{home/project,upper,work,top}
	echo old >"$TEST_DIR/image/home/file"
	in_namespace 'cd "$2/image" && export HOME=$PWD/top
		mount -t overlay -o userxattr,lowerdir=home,upperdir=upper,workdir=work none top &&
		cd top/project && exec "$1" run -v -- sh -c "cat ~/file; echo new >~/file; cat ~/file"'
	[ "$output" = $'old\nnew' ]
	[[ "$stderr" != *"cannot be layered"* ]]
	[ "$(cat "$TEST_DIR/image/home/file")" = old ]
	home_is layered
	# Two overlays are the kernel's limit: the next one falls back, and says so.
	mkdir -p "$TEST_DIR"/image/{upper2,work2,top2}
	in_namespace 'cd "$2/image" && export HOME=$PWD/top2
		mount -t tmpfs none upper2 && mkdir upper2/u upper2/w &&
		mount -t overlay -o userxattr,lowerdir=home,upperdir=upper,workdir=work none top &&
		mount -t overlay -o userxattr,lowerdir=top,upperdir=upper2/u,workdir=upper2/w none top2 &&
		cd top2/project && exec "$1" run -v -- sh -c "cat ~/file; echo new >~/file; echo \$npm_config_cache"'
	[ "$output" = $'old\n/dev/shm/agentbox-home/.npm' ]
	[[ "$stderr" == *"cannot be layered as a whole"* ]]
}

@test "home layer: a box in a box leaves the home alone, and gives tools another folder" {
	agentbox_split run -- "$AGENTBOX" run -v -- sh -c 'echo x >~/new; echo $npm_config_cache; echo x >here'
	[ "$output" = /dev/shm/agentbox-home/.npm ]
	[[ "$stderr" == *"inside a box the home folder is read-only"* ]]
	[ -e here ]
	# The outer one alone may write it.
	agentbox run -- sh -c 'echo x >~/.cache.log && cat ~/.cache.log'
	[ "$output" = x ]
}

@test "home layer: a cache that a link moves out of the home is layered too" {
	mkdir -p "$TEST_DIR/disk/cache"
	echo old >"$TEST_DIR/disk/cache/x"
	ln -s "$TEST_DIR/disk/cache" "$HOME/.cache"
	agentbox_split run -- sh -c 'echo new >~/.cache/x; cat ~/.cache/x; echo x >~/.cache/../y'
	[ "$output" = new ]
	[ "$(cat "$TEST_DIR/disk/cache/x")" = old ]
	[[ "$stderr" == *"Read-only file system"* ]]
}

# bats test_tags=root
@test "home layer: files of other owners are told with -v" {
	only_root
	echo x >"$HOME/foreign"
	chown 1:1 "$HOME/foreign"
	agentbox_split run -v -- sh -c 'cat ~/foreign; echo y >>~/foreign; echo z >~/own && cat ~/own'
	[ "$output" = $'x\nz' ]
	[[ "$stderr" == *"1 file in your home folder belongs to another user or group, such as $HOME/foreign"* ]]
	agentbox_split run -- true
	[[ "$stderr" != *foreign* ]]
}

@test "home layer: what a box has closed in its kept layer is told with what removes the layer" {
	need userns
	git init -q .
	agentbox run --yes --name k -- sh -c 'chmod 000 ~'
	agentbox run --name k -- echo ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"cannot examine $PWD/.git"*"a box has closed a folder on the way in its kept layer; agentbox layers rm"* ]]
	agentbox run --name other -- echo ran
	[ "$output" = ran ]
	agentbox layers rm k --yes
	agentbox run --name k -- echo ran
	[ "$output" = ran ]
}
