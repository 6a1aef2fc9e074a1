#!/usr/bin/env bats
# Home folders with something mounted below them: the layer works around it, and nothing that is hidden,
# closed or protected below such a mount is any less so.
UNJUDGED=1
load helpers

# The home as the record has it.
home_is()
{
	cat "$AGENTBOX_STATE"/runs/*/audit*.jsonl |
		jq -es "map(select(.kind == \"assurance\")) | sort_by(.timestamp) | last.home == \"$1\"" >/dev/null
}

# in_namespace COMMAND: with mounts of its own, as root of a user namespace.
in_namespace()
{
	run --separate-stderr timeout --kill-after=5 120 unshare --user --map-root-user --mount \
		sh -c "$1" sh "$AGENTBOX" "$TEST_DIR" 3>&-
	printf '%s\n[stderr]\n%s\n[status %s]\n' "$output" "$stderr" "$status"
}

fill_home()
{
	mkdir -p "$HOME/tm" "$HOME/.npm" "$HOME/folder/sub" "$HOME/.local/share/app" "$HOME/.ssh"
	echo old >"$HOME/file"
	echo old >"$HOME/folder/sub/file"
	echo key >"$HOME/.ssh/id_rsa"
	ln -s file "$HOME/link"
	host_snapshot "$HOME" | grep -v '^[^ ]* *\./project/\|^\./project ' >"$TEST_DIR/before"
}

unchanged()
{
	diff "$TEST_DIR/before" <(host_snapshot "$HOME" | grep -v '^[^ ]* *\./project/\|^\./project ')
}

# layer_has PATH...: the layer k has all of them.
layer_has()
{
	local path

	for path; do
		[ -e "$AGENTBOX_STATE/layers/k/home/upper/$path" ] || return 1
	done
}

# As an ordinary user, whom modes stop, in what in_namespace has mounted.
AS_USER='exec unshare --user --map-user=1000 --map-group=1000'

MOUNTED='mount -t tmpfs none ~/tm && echo old >~/tm/file &&'

@test "odd homes: around a mount everything can be written, and the host's stays as it is" {
	need userns
	fill_home
	in_namespace "$MOUNTED "'"$1" run --yes -- sh -c "
		set -e
		echo new >~/file; echo more >>~/folder/sub/file; mkdir ~/made; echo x >~/made/x; echo x >~/.npm/x
		echo new >~/tm/file; echo x >~/tm/made; echo x >~/.local/share/app/x; rm ~/link; ln -s made ~/link2
		echo a >~/.t; mv ~/.t ~/.config.toml
		cat ~/file ~/folder/sub/file ~/tm/file ~/link2/x ~/.config.toml; [ ! -e ~/link ]; echo real >result" &&
		cat ~/tm/file && ls -A ~/tm'
	[ "$status" -eq 0 ]
	[ "$output" = $'new\nold\nmore\nnew\nx\na\nold\nfile' ]
	[[ "$stderr" == *"changes in your home folder were temporary and are gone now: "* ]]
	unchanged
	[ "$(cat result)" = real ]
	home_is layered
	# The folders are mounts of their own.
	in_namespace "$MOUNTED "'"$1" run --yes -- sh -c "mv ~/folder ~/moved; mv ~/folder/sub ~/folder/moved && ls ~/folder"'
	[[ "$stderr" == *"'$HOME/folder'"*"Device or resource busy"* ]]
	[ "$output" = moved ]
}

@test "odd homes: the run, its preview, the settings and the doctor say the same" {
	need userns
	fill_home
	local line="something is mounted below your home folder (~/tm), so each folder in it has a layer of its own and cannot be renamed"
	in_namespace "$MOUNTED "'"$1" run --yes -v -- true 2>&1; echo ---; "$1" run --dry-run -- true; echo ---
		"$1" config show; echo ---; "$1" doctor'
	[ "$(grep -c "something is mounted below" <<<"$output")" -eq 4 ]
	[ "$(grep -cF "$line" <<<"$output")" -eq 4 ]
	[[ "$output" == *$'\nok    home layer  '* ]]
	# Without a mount nobody does; nor where there is no layer.
	in_namespace '"$1" run --yes -v -- true 2>&1; "$1" run --dry-run -- true; "$1" config show; "$1" doctor'
	[[ "$output" != *"something is mounted"* && "$output" == *"ok    home layer          boxes can write to a layer above it"* ]]
	in_namespace "$MOUNTED "'"$1" run --yes --home readonly -v -- true 2>&1; "$1" run --home readonly --dry-run -- true'
	[[ "$output" != *"something is mounted"* ]]
	in_namespace "$MOUNTED "'"$1" run --yes --engine no-namespaces -v -- true 2>&1; "$1" run --engine no-namespaces --dry-run -- true'
	[[ "$output" != *"something is mounted"* ]]
	# A list of readable paths, without the home and with it.
	local list='"/usr","/bin","/lib","/lib64","/etc"'
	echo "{\"filesystem\":{\"read\":[$list]}}" >"$HOME/.config/agentbox/config.json"
	in_namespace "$MOUNTED "'"$1" run --yes -v -- true 2>&1; "$1" run --dry-run -- true; "$1" config show'
	[[ "$output" != *"something is mounted"* ]]
	echo "{\"filesystem\":{\"read\":[$list,\"~\"]}}" >"$HOME/.config/agentbox/config.json"
	in_namespace "$MOUNTED "'"$1" run --yes -v -- true 2>&1; "$1" run --dry-run -- true; "$1" config show'
	[ "$(grep -cF "$line" <<<"$output")" -eq 3 ]
}

@test "odd homes: what is hidden below a mount stays hidden, its neighbour can be read" {
	need userns
	fill_home
	mkdir -p "$HOME/.config"
	in_namespace 'mount -t tmpfs none ~/.config && mkdir -p ~/.config/gh ~/.config/plain && echo secret >~/.config/gh/hosts.yml &&
		echo plain >~/.config/plain/f && mount -t tmpfs none ~/tm && mkdir ~/tm/d && echo secret >~/tm/d/s && echo plain >~/tm/d/p &&
		echo secret >~/.netrc && echo secret >~/own-secret && ln ~/own-secret ~/tm.link &&
		"$1" run --yes --deny-read "~/tm/d/s" --deny-read "~/own-secret" -- sh -c "
		cat ~/.config/plain/f ~/tm/d/p
		for f in ~/.config/gh/hosts.yml ~/tm/d/s ~/.netrc ~/own-secret ~/tm.link ~/.ssh/id_rsa; do cat \$f && echo seen \$f; done
		for f in ~/.config/gh/hosts.yml ~/tm/d/s ~/own-secret; do
			echo x >\$f && echo written; mv \$f ~/moved && echo moved; rm -f \$f && echo removed; done
		mv ~/tm/d ~/tm/e && cat ~/tm/e/s
		cat /proc/self/root\$HOME/tm/d/s; grep -rs secret ~ /dev/shm /run && echo found"'
	[[ "$output" == $'plain\nplain' ]]
	[[ "$stderr" == *"hosts.yml: Permission denied"* && "$stderr" == *"own-secret: Permission denied"* ]]
}

@test "odd homes: a credential that appears later below a mount, or beside it, does not appear in the box" {
	need userns
	fill_home
	mkdir -p "$HOME/.config"
	in_namespace 'mount -t tmpfs none ~/.config && {
		"$1" run --yes -- sh -c "touch ready; while [ ! -e go ]; do sleep 0.02; done
			while cat ~/.config/gh/hosts.yml ~/.netrc 2>/dev/null | grep -q .; do echo seen >&2; sleep 0.05; done
			cat ~/.config/plain; ls ~/.config/gh ~/.netrc" &
		while [ ! -e ready ]; do sleep 0.02; done
		mkdir ~/.config/gh; echo secret >~/.config/gh/hosts.yml; echo secret >~/.netrc; echo plain >~/.config/plain
		touch go; wait $!; }'
	[ "${lines[0]}" = plain ]
	[[ "$output" != *secret* && "$output" != *hosts.yml* ]]
	if [[ "$stderr" == *seen* ]]; then [[ "$stderr" == *"created on the host during the run and is hidden now"* ]]; fi
	home_is layered
}

@test "odd homes: names that are protected in the workspace are so below a mount in it" {
	need userns
	fill_home
	mkdir -p sub
	in_namespace 'mount -t tmpfs none sub && mkdir sub/dir && git init -q sub/repo && cp sub/repo/.git/config sub/config &&
		"$1" run --yes -- sh -c "
		echo x >sub/plain && echo x >sub/repo/plain && echo x >~/new && echo written
		echo evil >sub/repo/.git/hooks/pre-commit && echo hook; echo evil >>sub/repo/.git/config && echo config
		mv sub/repo/.git sub/repo/x && echo moved"
		cmp sub/config sub/repo/.git/config && ls sub/repo && [ ! -e sub/repo/.git/hooks/pre-commit ] && echo intact'
	[ "$output" = $'written\nplain\nintact' ]
	[ ! -e "$HOME/new" ]
	home_is layered
}

@test "odd homes: a mount on the way, in a mount, on a file, and on the workspace" {
	need userns
	fill_home
	echo mine >"$TEST_DIR/settings"
	echo '[user]' >"$HOME/.gitconfig"
	cp "$HOME/file" "$HOME/.local/beside"
	in_namespace 'mount -t tmpfs none ~/.local/share/app && echo deep >~/.local/share/app/f && mount -t tmpfs none ~/tm && mkdir ~/tm/in &&
		mount -t tmpfs none ~/tm/in && echo in >~/tm/in/f && mount --bind "$2/settings" ~/.gitconfig && mount --bind ~/project ~/project &&
		cd ~/project && "$1" run --yes -- sh -c "
		cat ~/.local/share/app/f ~/tm/in/f ~/.gitconfig ~/.local/beside &&
		echo x >~/.local/share/app/f && echo x >~/.local/share/new && echo x >~/.local/new && echo x >~/tm/in/f && echo x >~/tm/new &&
		echo x >~/.gitconfig && echo real >result && echo written"; cat ~/.local/share/app/f ~/tm/in/f ~/.gitconfig result'
	[ "$output" = $'deep\nin\nmine\nold\nwritten\ndeep\nin\nmine\nreal' ]
	[ ! -e "$HOME/.local/new" ]
	home_is layered
}

@test "odd homes: a kept layer is the same one with and without the mount" {
	need userns
	fill_home
	mkdir -p "$HOME/gone" "$HOME/again"
	echo host | tee "$HOME/gone/f" "$HOME/again/f" >/dev/null
	# Without: a folder that is removed, and one that is made again.
	agentbox run --yes --name k -- sh -c 'echo 1 >~/new; echo 1 >~/.npm/x; rm -r ~/gone ~/again; mkdir ~/again; echo own >~/again/own; rm ~/file'
	in_namespace "$MOUNTED "'"$1" run --yes --name k -- sh -c "
		cat ~/new ~/.npm/x; ls -A ~/again; ls -d ~/gone ~/file; echo 2 >~/.npm/y; rm ~/folder/sub/file; echo 2 >~/tm/y; echo 2 >~/.local/share/z; echo 2 >~/link"'
	[ "$output" = $'1\n1\nown' ]
	[[ "$stderr" == *"'$HOME/gone': No such file"* && "$stderr" == *"'$HOME/file': No such file"* ]]
	home_is kept
	agentbox_split run --yes --name k -- sh -c 'cat ~/.npm/y ~/tm/y ~/.local/share/z; ls -A ~/folder/sub ~/again; cat ~/link'
	[ "$output" = $'2\n2\n2\n'"$HOME/again:"$'\nown\n\n'"$HOME/folder/sub:"$'\n2' ]
	agentbox_split diff --home --stat k
	[[ "$output" == *".npm/y"* && "$output" == *"folder/sub/file"* ]]
	[ "$(cat "$HOME/again/f" "$HOME/folder/sub/file" "$HOME/file")" = $'host\nold\nold' ]
	# And it is removed as a whole, with what the kernel has left in it.
	agentbox layers rm --yes k
	[ "$status" -eq 0 ]
	[ -z "$(ls -A "$AGENTBOX_STATE/layers" | grep '^k$')" ]
}

@test "odd homes: a folder that no box has touched is no change of a kept layer" {
	need userns
	fill_home
	mkdir "$HOME/open" "$HOME/group"
	chmod 1777 "$HOME/open"
	chmod 2750 "$HOME/group"
	in_namespace "$MOUNTED "'"$1" run --yes --name k -- sh -c "stat -c %a ~/open ~/group; chmod 700 ~/folder; echo x >~/group/x"'
	[ "$output" = $'1777\n2750' ]
	agentbox_split diff --home --stat k
	[[ "$output" == *"folder"* && "$output" == *"group/x"* && "$output" != *"open"* ]]
	agentbox apply --home --all k
	[ "$(stat -c %a "$HOME/open" "$HOME/group" "$HOME/folder")" = $'1777\n2750\n700' ]
}

@test "odd homes: a folder that the host replaces, removes or changes later is not held by the layer" {
	need userns
	fill_home
	mkdir "$HOME"/{replaced,removed,closed,used}
	in_namespace "$MOUNTED "'"$1" run --yes --name k -- sh -c "echo x >~/used/x; ls -d ~/replaced"'
	[ "$output" = "$HOME/replaced" ]
	# What a box has written to is kept, and nothing else is.
	layer_has used/x
	run ! layer_has replaced
	run ! layer_has tm
	rmdir "$HOME"/{replaced,removed}
	ln -s folder "$HOME/replaced"
	chmod 700 "$HOME"/{closed,used}
	agentbox_split diff --home --stat k
	[[ "$output" == *"used/x"* && "$output" == *"1 change"* ]]
	agentbox_split run --yes --name k -- sh -c 'cat ~/replaced/sub/file; ls -d ~/removed; stat -c %a ~/closed'
	[ "$output" = $'old\n700' ]
	agentbox apply --home --all k
	[ "$(cat "$HOME/used/x")" = x ]
	[ "$(stat -c %a "$HOME/used")" = 700 ]
	[ ! -e "$HOME/removed" ]
}

@test "odd homes: a folder that a box has emptied stays empty, although agentbox made its place in the layer" {
	need userns
	fill_home
	echo host >"$HOME/.npm/host"
	in_namespace "$MOUNTED "'"$1" run --yes --name k -- sh -c "echo x >~/.npm/x; ls -A ~/.npm"'
	[ "$output" = $'host\nx' ]
	agentbox run --yes --name k -- sh -c 'rm -r ~/.npm; mkdir ~/.npm; chmod 755 ~/.npm'
	agentbox_split run --yes --name k -- ls -A "$HOME/.npm"
	[ -z "$output" ]
	in_namespace "$MOUNTED "'"$1" run --yes --name k -- ls -A ~/.npm'
	[ -z "$output" ]
	agentbox_split diff --home --stat k
	[[ "$output" == *".npm/host"* && "$output" == *"1 change"* ]]
}

@test "odd homes: the folder of a mount is no change of a kept layer, with the mount and without it" {
	need userns
	fill_home
	# While the box is there, with the mount in place; when it has ended; and without the mount.
	in_namespace 'mount -t tmpfs -o mode=1777 none ~/tm && {
		"$1" run --yes --name k -- sh -c "touch ready; while [ ! -e go ]; do sleep 0.02; done; echo x >~/tm/x; echo x >~/made" &
		while [ ! -e ready ]; do sleep 0.02; done; ls -d '"$AGENTBOX_STATE"'/layers/k/home/upper/tm
		"$1" diff --home --stat k; touch go; wait $!; "$1" diff --home --stat k; }'
	[ "${lines[0]}" = "$AGENTBOX_STATE/layers/k/home/upper/tm" ]
	[[ "$stderr" == *"agentbox: no changes"* ]]
	# What is below a mount can be compared when nothing is mounted there.
	[[ "${lines[1]}" == *" made "* && "${lines[2]}" == *" tm (never applied) "* && "${#lines[@]}" -eq 4 ]]
	agentbox_split diff --home --stat k
	[[ "$output" == *"tm/x"* && "$output" == *" 2 changes"* ]]
	agentbox apply --home --all k
	[ "$(stat -c %a "$HOME/tm")" = "$(stat -c %a "$HOME/folder")" ]
	[ "$(cat "$HOME/tm/x")" = x ]
}

@test "odd homes: a run that is killed leaves no folder in its kept layer that the next run believes" {
	need userns
	fill_home
	in_namespace "$MOUNTED "'{
		"$1" run --yes --name k -- sh -c "touch ready; while :; do sleep 0.02; done" &
		while [ ! -e ready ]; do sleep 0.02; done; kill -KILL $!; wait $!; :; }'
	# Its broker still has the lock.
	wait_for 60 flock --nonblock "$AGENTBOX_STATE/layers/k/lock" true
	layer_has folder
	rm -r "$HOME/folder"
	ln -s .npm "$HOME/folder"
	agentbox_split diff --home --stat k
	[ "$stderr" = "agentbox: no changes" ]
	agentbox_split run --yes --name k -- readlink "$HOME/folder"
	[ "$output" = .npm ]
	run ! layer_has folder
}

@test "odd homes: two runs beside each other, the second sees the layer of the first, not the host's files" {
	need userns
	fill_home
	mkdir -p "$HOME/.config/agentbox" "$HOME/folder/gone"
	echo '{ "filesystem": { "home": "kept" } }' >"$HOME/.config/agentbox/config.json"
	in_namespace "$MOUNTED "'cp ~/file ~/file2 && cp ~/file ~/plain && {
		"$1" run --yes -- sh -c "echo first >~/file; rm ~/file2; rmdir ~/folder/gone; echo first >~/folder/sub/file; rm ~/link; ln -s x ~/link
			echo first >~/tm/file; touch ready; while [ ! -e go ]; do sleep 0.02; done" &
		while [ ! -e ready ]; do sleep 0.02; done
		"$1" run --yes -- sh -c "cat ~/file ~/folder/sub/file ~/tm/file ~/plain; readlink ~/link; ls -d ~/file2 ~/folder/gone
			echo second >~/file; echo second >~/tm/file; cat ~/file ~/tm/file"
		touch go; wait $!; "$1" run --yes -- cat ~/file ~/tm/file; }'
	[ "$output" = $'first\nfirst\nfirst\nold\nx\nsecond\nsecond\nfirst\nfirst' ]
	[[ "$stderr" == *"this run sees it below a temporary one"* ]]
	[[ "$stderr" == *"'$HOME/file2': No such file"* && "$stderr" == *"'$HOME/folder/gone': No such file"* ]]
}

@test "odd homes: a kept layer that cannot be used is told, and the host's folder is there" {
	need userns
	fill_home
	echo old >"$HOME/.npm/x"
	agentbox run --yes --name k -- sh -c 'echo kept >~/.npm/x'
	chmod 500 "$AGENTBOX_STATE/layers/k/home/upper"
	in_namespace "$MOUNTED $AS_USER"' "$1" run --yes --name k -- sh -c "
		cat ~/.npm/x ~/folder/sub/file ~/tm/file; echo new >~/folder/x && cat ~/folder/x"'
	chmod 700 "$AGENTBOX_STATE/layers/k/home/upper"
	[ "$output" = $'kept\nold\nold\nnew' ]
	[[ "$stderr" == *"agentbox: without what is kept of it, which cannot be used (Permission denied): $HOME/"*" and "*" more"* ]]
	[ ! -e "$HOME/folder/x" ]
	# Its twin.
	in_namespace "$MOUNTED $AS_USER"' "$1" run --yes --name k -- sh -c "cat ~/.npm/x; echo new >~/folder/x"'
	[[ "$stderr" != *"cannot be used"* ]]
	layer_has folder/x
}

@test "odd homes: a folder that cannot be listed is shown as it is, read-only" {
	need userns
	fill_home
	in_namespace 'mount -t tmpfs none ~/folder/sub && echo deep >~/folder/sub/f && chmod 311 ~/folder &&
		'"$AS_USER"' "$1" run --yes -- sh -c "cat ~/folder/sub/f; echo x >~/folder/new; echo x >~/folder/sub/x; echo x >~/new && cat ~/new"'
	chmod 755 "$HOME/folder"
	[ "$output" = $'deep\nx' ]
	[[ "$stderr" == *"/folder/new: Read-only file system"* && "$stderr" == *"sub/x: Read-only file system"* ]]
	home_is layered
}

@test "odd homes: a link that a box left in its kept layer leads nowhere" {
	need userns
	fill_home
	mkdir -p "$TEST_DIR/target"
	agentbox run --yes --name k -- sh -c "rm -r ~/.npm ~/.local/share/app; ln -s '$TEST_DIR/target' ~/.npm; ln -s / ~/.local/share/app"
	in_namespace "$MOUNTED "'"$1" run --yes --name k -- sh -c "readlink ~/.npm; echo x >~/.npm/x; echo x >~/.local/share/app/tmp/x; echo x >~/folder/x && echo fine"'
	[ "$output" = "$TEST_DIR/target"$'\nfine' ]
	[ -z "$(ls -A "$TEST_DIR/target")" ]
	[ ! -e /tmp/x ]
}

@test "odd homes: a folder that a box has closed in its kept layer stops no later run, and stays a layer" {
	need userns
	local closed as
	fill_home
	for closed in '~/.npm' '~/folder' '~'; do
		agentbox layers rm --yes k
		agentbox run --yes --name k -- sh -c "chmod 000 $closed"
		[ "$status" -eq 0 ]
		for as in '' "$AS_USER"; do
			in_namespace 'mount -t tmpfs none ~/folder/sub && echo old >~/folder/sub/file && { ('"$as"' "$1" run -v --yes \
				--name k -- sh -c "chmod 755 '"$closed"'; cat ~/.ssh/id_rsa; echo new >~/folder/sub/file
				echo new >~/.npm/x; echo new >~/file; cat ~/folder/sub/file ~/.npm/x ~/file; chmod 000 '"$closed"'"); cat ~/folder/sub/file; }'
			[ "$output" = $'new\nnew\nnew\nold' ]
			[[ "$stderr" == *"guarantees in force: "*write-fence*read-deny* && "$stderr" == *"id_rsa: Permission denied"* ]]
		done
	done
	unchanged
}

# bats test_tags=root
@test "odd homes: what another program serves is read-only, and a dead server stops nobody" {
	only_root
	need program:bindfs
	need path:/dev/fuse
	fill_home
	mkdir -p "$HOME/srv" "$TEST_DIR/served/cache"
	echo served >"$TEST_DIR/served/f"
	rmdir "$HOME/.npm"
	ln -s srv "$HOME/way"
	ln -s way/cache "$HOME/.npm"
	run --separate-stderr timeout --kill-after=5 60 unshare --mount --propagation private sh -c '
		bindfs -f -o attr_timeout=0,entry_timeout=0 "$2/served" ~/srv & server=$!
		while ! mountpoint -q ~/srv; do kill -0 $server || exit 9; sleep 0.02; done
		"$1" run --yes -- sh -c "cat ~/srv/f; echo x >~/srv/x; echo x >~/new && cat ~/new"
		touch ~/one && mount --bind ~/srv/f ~/one
		"$1" run --yes -- sh -c "cat ~/one; echo x >~/one; echo x >~/new && cat ~/new"
		"$1" doctor | grep "home layer"
		kill -STOP $server
		timeout 60 "$1" run --yes -- sh -c "echo x >~/new && cat ~/new; echo \$npm_config_cache"; echo "status $?"
		timeout 60 "$1" run --dry-run -- true | grep -c "read-only, because of the file system"
		timeout 60 "$1" config show | grep -c "read-only, because of the file system"
		timeout 60 "$1" doctor | grep -c "read-only, because of the file system"
		timeout 60 python3 - "$1" "$3" "$PWD" <<-END
			import sys
			sys.path.insert(0, sys.argv[2] + "/test")
			from serve_client import Client
			c = Client(sys.argv[1])
			p = c.ask(do="pool", size=1, cwd=sys.argv[3])["pool"]
			warm = False
			while not warm:
			    run = c.run(pool=p, argv=["true"])
			    warm = c.event("started", run)["warm"]
			    assert c.result(run)["exit"] == 0
			print("warm")
		END
		kill -KILL $server; umount -l ~/one ~/srv' sh "$AGENTBOX" "$TEST_DIR" "$ROOT" 3>&-
	printf '%s\n[stderr]\n%s\n' "$output" "$stderr"
	[ "${lines[0]}" = served ]
	[ "${lines[1]}" = x ]
	[ "${lines[2]}" = served ]
	[ "${lines[3]}" = x ]
	[[ "${lines[4]}" == "warn  home layer "*"; read-only, because of the file system: ~/one, ~/srv" ]]
	[ "${lines[5]}" = x ]
	[ "${lines[6]}" = /dev/shm/agentbox-home/.npm ]
	[ "${lines[7]}" = "status 0" ]
	[ "${lines[8]}${lines[9]}${lines[10]}" = 111 ]
	[ "${lines[11]}" = warm ]
	[[ "$stderr" == *"$HOME/one: Read-only file system"* ]]
	[ "$(cat "$TEST_DIR/served/f")" = served ]
	[[ "$stderr" == *"-f1  write $HOME/srv/x  outside the writable folders"* ]]
	[[ "$stderr" == *"agentbox run --write $HOME/srv -- ..."* ]]
	[ ! -e "$TEST_DIR/served/x" ]
}

@test "odd homes: a large file beside a mount can be read, not written" {
	need userns
	fill_home
	truncate -s 17M "$HOME/large"
	in_namespace "$MOUNTED "'"$1" run --yes -- sh -c "stat -c %s ~/large; echo x >~/large; echo x >~/file && cat ~/file"'
	[ "$output" = $'17825792\nx' ]
	[[ "$stderr" == *"$HOME/large: Read-only file system"* ]]
	[[ "$stderr" == *"write $HOME/large  outside the writable folders"* ]]
	[ "$(stat -c %s "$HOME/large")" = 17825792 ]
}

@test "odd homes: a large file that comes and goes stops no run" {
	need userns
	fill_home
	in_namespace "$MOUNTED "'{
		while [ ! -e "$2/stop" ]; do truncate -s 20M ~/large; truncate -s 20M ~/large; rm ~/large; done &
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "$1" run --yes -- cat ~/file; done
		touch "$2/stop"; wait; }'
	[ "$(uniq -c <<<"$output" | xargs)" = "20 old" ]
	[[ "$stderr" != *"step: "* ]]
}

@test "odd homes: a large file that becomes a folder during a start stops no run" {
	need userns
	fill_home
	cat >"$TEST_DIR/exchange.py" <<-'END'
	import ctypes, os, sys
	os.chdir(os.environ["HOME"])
	while not os.path.exists(sys.argv[1]):
	    ctypes.CDLL(None).renameat2(-100, b"large", -100, b"other", 2)
	END
	in_namespace "$MOUNTED "'{
		mkdir ~/other; truncate -s 20M ~/large
		python3 "$2/exchange.py" "$2/stop" &
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "$1" run --yes -- cat ~/file; done
		touch "$2/stop"; wait; }'
	[ "$(uniq -c <<<"$output" | xargs)" = "20 old" ]
	[[ "$stderr" != *"step: "* ]]
}

@test "odd homes: many small files fill no more than a part of the box's memory" {
	need userns
	fill_home
	(cd "$HOME" && for i in {1..500}; do echo $i >small$i; done)
	printf '{ "filesystem": { "tmpSize": "4M" } }' >"$TEST_DIR/small.json"
	in_namespace "$MOUNTED "'"$1" run --yes --config "$2/small.json" -- sh -c "
		cat ~/small* | wc -l; head -c 2M /dev/zero >~/new && wc -c <~/new"'
	[ "$output" = $'500\n2097152' ]
	home_is layered
	# More than there may be files in it: everybody says so, and nobody blames the file system.
	(cd "$HOME" && for i in {501..1300}; do echo $i >small$i; done)
	local many="your home folder is read-only: something is mounted below it, and there are too many files and folders for layers of their own"
	in_namespace "$MOUNTED "'cd ~/project; cp "$2/small.json" ~/.config/agentbox/config.json; "$1" run --yes -- sh -c "
		cat ~/small* | wc -l; echo x >~/new; echo x >~/.npm/x; echo \$npm_config_cache" 2>&1; echo ---; "$1" run --dry-run -- true 2>&1; echo ---
		"$1" run --dry-run --json -- true; echo ---; "$1" config show; echo ---; "$1" doctor | grep "home layer"'
	[ "$(grep -cF "$many" <<<"$output")" -eq 5 ]
	[[ "$output" != *"has a layer of its own"* ]]
	[[ "$output" == *$'\n1300\n'* && "$output" == *"/new: Read-only file system"* && "$output" == *"/.npm/x: Read-only file system"* ]]
	[[ "$output" == *$'\n/dev/shm/agentbox-home/.npm\n'* && "$output" != *"because its file system"* ]]
	home_is readonly
}

@test "odd homes: with few open files at first there are as many layers, and the command has what the caller has" {
	need userns
	fill_home
	(cd "$HOME" && mkdir d{1..200})
	in_namespace "$MOUNTED "'ulimit -Sn 150; "$1" run --yes -- sh -c "for i in ~/d*; do echo x >\$i/x; done; cat ~/d*/x | wc -l; ulimit -Sn"'
	[ "$output" = $'200\n150' ]
}

@test "odd homes: where the home can be read as an entry of a list, tools keep their folders in it" {
	need userns
	fill_home
	rmdir "$HOME/.npm"
	mkdir "$HOME/folder/npm"
	ln -s folder/npm "$HOME/.npm"
	echo '{"filesystem":{"read":["@system","~"]}}' >"$HOME/.config/agentbox/config.json"
	in_namespace "$MOUNTED "'"$1" run --yes -- sh -c "echo new >~/.npm/x && cat ~/.npm/x ~/file; echo \$npm_config_cache"'
	[ "$output" = $'new\nold' ]
	home_is layered
}

@test "odd homes: a named layer with the home on a file system of its own" {
	need userns
	in_namespace 'mkdir "$2/on" && mount -t tmpfs none "$2/on" && export HOME="$2/on/home" && mkdir -p ~/project ~/folder && cd ~/project &&
		echo old >~/folder/file && "$1" run --yes --name k -- sh -c "echo new >~/folder/file; echo x >~/made; echo real >result" &&
		"$1" run --yes --name k -- cat "$HOME/folder/file" "$HOME/made" && cat ~/folder/file result && ls ~'
	[ "$output" = $'new\nx\nold\nreal\nfolder\nproject' ]
	home_is kept
}

# bats test_tags=root
@test "odd homes: on file systems of their own the home has a layer, or the run says that it has none" {
	only_root
	need path:/dev/loop-control
	local row tried=0 unmade=
	for row in "ext4:" "xfs:" "btrfs:" "f2fs:" "ext4:-O casefold"; do
		local type=${row%%:*} options=${row#*:}
		grep -qw "$type" /proc/filesystems || modprobe -q "$type" || continue # this kernel has none
		if ! command -v "mkfs.$type" >/dev/null; then
			unmade+=" mkfs.$type"
			continue
		fi
		rm -rf "$TEST_DIR/image" "$TEST_DIR/on"
		mkdir "$TEST_DIR/on"
		truncate -s 400M "$TEST_DIR/image"
		"mkfs.$type" -q $options "$TEST_DIR/image" >/dev/null
		run --separate-stderr timeout --kill-after=5 60 unshare --mount --propagation private sh -c '
			mount -o loop "$2/image" "$2/on" 2>/dev/null || exit 9
			HOME=$2/on/home; export HOME; mkdir -p ~/project ~/folder; cd ~/project; echo old >~/folder/file
			echo secret >~/.netrc; "$1" run --yes -- sh -c "
			cat ~/folder/file; echo new >~/folder/file; echo new >~/made; cat ~/folder/file; cat ~/.netrc; echo real >result"
			cat ~/folder/file ~/project/result; "$1" doctor | grep "home layer"; cd /; umount "$2/on"' \
			sh "$AGENTBOX" "$TEST_DIR" 3>&-
		printf '== %s\n%s\n[stderr]\n%s\n' "$row" "$output" "$stderr"
		[ "$status" -ne 9 ] || continue # or not with these options
		tried=1
		case $output in
		$'old\nnew\nold\nreal\nok    home layer '*) home_is layered ;;
		$'old\nold\nold\nreal\nwarn  home layer '*)
			home_is variables
			[[ "$stderr" == *"the home folder cannot be layered as a whole ("* ]]
			;;
		*) false ;;
		esac
		[[ "$stderr" == *".netrc: Permission denied"* ]]
	done
	[ "$tried" = 1 ] || lacks "no file system can be mounted from a loop device"
	[ -z "$unmade" ] || lacks "not installed:$unmade"
}
