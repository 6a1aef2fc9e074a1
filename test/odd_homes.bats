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

# bats test_tags=root
@test "odd homes: what another program serves is read-only, and a dead server stops nobody" {
	only_root
	need program:bindfs
	need path:/dev/fuse
	fill_home
	mkdir -p "$HOME/srv" "$TEST_DIR/served"
	echo served >"$TEST_DIR/served/f"
	run --separate-stderr timeout --kill-after=5 60 unshare --mount --propagation private sh -c '
		bindfs -f -o attr_timeout=0,entry_timeout=0 "$2/served" ~/srv & server=$!
		while ! mountpoint -q ~/srv; do kill -0 $server || exit 9; sleep 0.02; done
		"$1" run --yes -- sh -c "cat ~/srv/f; echo x >~/srv/x; echo x >~/new && cat ~/new"
		touch ~/one && mount --bind ~/srv/f ~/one
		"$1" run --yes -- sh -c "cat ~/one; echo x >~/one; echo x >~/new && cat ~/new"
		"$1" doctor | grep "home layer"
		kill -STOP $server
		timeout 20 "$1" run --yes -- sh -c "echo x >~/new && cat ~/new"; echo "status $?"
		kill -KILL $server; umount -l ~/one ~/srv' sh "$AGENTBOX" "$TEST_DIR" 3>&-
	printf '%s\n[stderr]\n%s\n' "$output" "$stderr"
	[ "${lines[0]}" = served ]
	[ "${lines[1]}" = x ]
	[ "${lines[2]}" = served ]
	[ "${lines[3]}" = x ]
	[[ "${lines[4]}" == "warn  home layer "*"; read-only, because of the file system: ~/one, ~/srv" ]]
	[ "${lines[5]}" = x ]
	[ "${lines[6]}" = "status 0" ]
	[[ "$stderr" == *"$HOME/one: Read-only file system"* ]]
	[ "$(cat "$TEST_DIR/served/f")" = served ]
	[[ "$stderr" == *"-f1  write $HOME/srv/x  your home folder has no layer here (doctor says why)"* ]]
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
	[ "$(stat -c %s "$HOME/large")" = 17825792 ]
}

# bats test_tags=root
@test "odd homes: on file systems of their own the home has a layer, or the run says that it has none" {
	only_root
	need path:/dev/loop-control
	local row tried=0
	for row in "ext4:" "xfs:" "btrfs:" "f2fs:" "ext4:-O casefold"; do
		local type=${row%%:*} options=${row#*:}
		command -v "mkfs.$type" >/dev/null || continue
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
		[ "$status" -ne 9 ] || continue # this kernel has none
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
}
