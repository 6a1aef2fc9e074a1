# unsanitized: it tests a shell script
load helpers
load release

# another_release DIR: a copy that may be changed.
another_release()
{
	cp -r "$RELEASE" "$1"
}

# install_sh ARG...: run it; the output is in $output.
install_sh()
{
	run timeout 120 sh "$RELEASE/install.sh" "$@"
	echo "$output"
}

# Nothing below the home folder has changed since `remember`.
remember()
{
	host_snapshot --no-times "$HOME" >"$TEST_DIR/before"
}

unchanged()
{
	host_snapshot --no-times "$HOME" | diff "$TEST_DIR/before" -
}

@test "install.sh: installs for the user, and removes all of it" {
	mkdir -p "$HOME/.local/bin" "$HOME/.config/agentbox"
	echo mine >"$HOME/.local/bin/other"
	echo '{}' >"$HOME/.config/agentbox/config.json"
	remember
	install_sh
	[ "$status" -eq 0 ]
	[[ "$output" == *"agentbox "*" is installed: $HOME/.local/bin/agentbox"* ]]
	[[ "$output" == *"$HOME/.local/bin is not in PATH"* ]]
	[[ "$("$HOME/.local/bin/agentbox" version)" == "$("$AGENTBOX" version)" ]]
	cmp "$ROOT/man/agentbox-run.1" "$HOME/.local/share/man/man1/agentbox-run.1"
	cmp "$ROOT/completions/agentbox.bash" "$HOME/.local/share/bash-completion/completions/agentbox"
	[ -z "$(find "$HOME/.local" -name '.agentbox-install*')" ]
	install_sh --uninstall
	[ "$status" -eq 0 ]
	unchanged
	install_sh --uninstall
	[ "$status" -eq 1 ]
	[[ "$output" == *"has no agentbox that this script installed"* ]]
}

@test "install.sh: another prefix, and a box that works from there" {
	need userns
	cd "$TEST_DIR"
	install_sh --prefix usr/local --from "$RELEASE"
	[ "$status" -eq 0 ]
	cd "$WORKSPACE"
	run "$TEST_DIR/usr/local/bin/agentbox" run -- sh -c 'exit 5'
	[ "$status" -eq 5 ]
	install_sh --uninstall --prefix "$TEST_DIR/usr/local"
	[ -z "$(find "$TEST_DIR/usr/local" -mindepth 1)" ]
}

@test "install.sh: over HTTP the good tarball is installed, a tampered one leaves nothing" {
	local name
	remember
	another_release "$TEST_DIR/release"
	serve "$TEST_DIR/release"
	name=$(cd "$RELEASE" && echo agentbox-*.tar.gz)

	printf x >>"$TEST_DIR/release/$name"
	install_sh --from "$URL"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$name is not what SHA256SUMS says"*"nothing was installed"* ]]
	unchanged

	rm "$TEST_DIR/release/$name"
	install_sh --from "$URL"
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot download $URL/$name"* ]]
	unchanged

	cp "$RELEASE/$name" "$TEST_DIR/release"
	AGENTBOX_URL=$URL install_sh
	[ "$status" -eq 0 ]
	"$HOME/.local/bin/agentbox" version
}

@test "install.sh: --sha256 also holds a release against a checksum from elsewhere" {
	local sum name
	read -r sum name <"$RELEASE/SHA256SUMS"
	remember
	another_release "$TEST_DIR/release"
	# A whole release that somebody replaced, with sums that fit.
	printf x >>"$TEST_DIR/release/$name"
	list_sums "$TEST_DIR/release"
	install_sh --from "$TEST_DIR/release" --sha256 "$sum"
	[ "$status" -eq 1 ]
	[[ "$output" == *"not $sum as --sha256 wants; nothing was installed"* ]]
	unchanged
	install_sh --from "$RELEASE" --sha256 "$sum"
	[ "$status" -eq 0 ]
	install_sh --from "$RELEASE" --sha256 123
	[ "$status" -eq 2 ]
}

@test "install.sh: an address that anybody could change needs a checksum" {
	install_sh --from http://files.example.com/agentbox
	[ "$status" -eq 1 ]
	[[ "$output" == *"use https://, or pass --sha256"* ]]
	install_sh --from ftp://files.example.com/agentbox
	[ "$status" -eq 1 ]
	[[ "$output" == *"begins with https://"* ]]
}

@test "install.sh: a password in the address gets into no message" {
	install_sh --from https://user:secret@127.0.0.1:1/releases
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot download https://...@127.0.0.1:1/releases/SHA256SUMS"* ]]
	[[ "$output" != *secret* ]]
	install_sh --from ftp://user:secret@127.0.0.1:1/releases
	[[ "$output" == *"begins with https://"* ]]
	[[ "$output" != *secret* ]]
}

@test "install.sh: without curl an address needs a checksum, because wget may accept any server" {
	local name sum
	read -r sum _ <"$RELEASE/SHA256SUMS"
	mkdir "$TEST_DIR/bin"
	for name in sh sed awk id ls uname sha256sum mktemp mkdir rmdir rm cat dirname; do
		ln -s "$(command -v $name)" "$TEST_DIR/bin"
	done
	printf '#!/bin/sh\necho "wget $*"; exit 4\n' >"$TEST_DIR/bin/wget"
	chmod +x "$TEST_DIR/bin/wget"
	PATH=$TEST_DIR/bin run sh "$RELEASE/install.sh" --from https://files.example.com
	[ "$status" -eq 1 ]
	[[ "$output" == *"install curl, or pass --sha256"* ]]
	[[ "$output" != *"wget -q"* ]]
	PATH=$TEST_DIR/bin run sh "$RELEASE/install.sh" --from https://files.example.com --sha256 "$sum"
	[[ "$output" == *"wget -q"*"https://files.example.com/SHA256SUMS"* ]]
}

@test "install.sh: root writes and removes nothing in a folder of another user" {
	only_user
	install_sh --prefix "$HOME/usr"
	[ "$status" -eq 0 ]
	remember
	mkdir "$TEST_DIR/bin"
	printf '#!/bin/sh\necho 0\n' >"$TEST_DIR/bin/id"
	chmod +x "$TEST_DIR/bin/id"
	for args in "" --uninstall; do
		PATH=$TEST_DIR/bin:$PATH install_sh --prefix "$HOME/usr" $args
		[ "$status" -eq 1 ]
		[[ "$output" == *"$HOME/usr belongs to another user, who could redirect what root writes"* ]]
		unchanged
	done
	install_sh --prefix "$HOME/usr" --uninstall
	[ "$status" -eq 0 ]
}

@test "install.sh: an update removes what the new version does not have" {
	local name
	name=$(cd "$RELEASE" && echo agentbox-*.tar.gz)
	mkdir "$TEST_DIR/old"
	tar -C "$TEST_DIR/old" -xzf "$RELEASE/$name"
	mv "$TEST_DIR/old"/agentbox-* "$TEST_DIR/old/agentbox-0.0.9-linux-$(uname -m)"
	echo old >"$TEST_DIR/old/agentbox-0.0.9-linux-$(uname -m)/share/man/man1/agentbox-gone.1"
	another_release "$TEST_DIR/release"
	tar -C "$TEST_DIR/old" -I 'gzip -1' -cf "$TEST_DIR/release/agentbox-0.0.9-linux-$(uname -m).tar.gz" \
		"agentbox-0.0.9-linux-$(uname -m)"
	list_sums "$TEST_DIR/release"

	install_sh --from "$TEST_DIR/release"
	[ "$status" -eq 1 ]
	[[ "$output" == *"several versions"*"choose one with --version"* ]]
	remember
	install_sh --from "$TEST_DIR/release" --version 0.0.9
	[ "$status" -eq 0 ]
	[ -e "$HOME/.local/share/man/man1/agentbox-gone.1" ]
	install_sh --from "$RELEASE"
	[ "$status" -eq 0 ]
	[ ! -e "$HOME/.local/share/man/man1/agentbox-gone.1" ]
	[ -e "$HOME/.local/share/man/man1/agentbox.1" ]
	install_sh --uninstall
	rmdir "$HOME/.local"
	unchanged
	install_sh --from "$TEST_DIR/release" --version 0.0.8
	[ "$status" -eq 1 ]
	[[ "$output" == *"has no tarball of agentbox 0.0.8 for $(uname -m)"* ]]
}

@test "install.sh: a failure in the middle leaves everything as it was" {
	local name
	# Nothing was there: a file where a folder must be.
	mkdir -p "$HOME/.local/share"
	echo mine >"$HOME/.local/share/zsh"
	remember
	install_sh
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot create $HOME/.local/share/zsh"* ]]
	unchanged
	rm "$HOME/.local/share/zsh"

	# An older one was there, and a file cannot be replaced.
	install_sh
	[ "$status" -eq 0 ]
	echo older >"$HOME/.local/bin/agentbox"
	mkdir "$TEST_DIR/bin"
	cat >"$TEST_DIR/bin/mv" <<-'SH'
		#!/bin/sh
		case "$*" in
		*man5*/.local/*) exit 1 ;;
		esac
		exec /bin/mv "$@"
	SH
	chmod +x "$TEST_DIR/bin/mv"
	remember
	PATH=$TEST_DIR/bin:$PATH install_sh
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot write $HOME/.local/share/man/man5/agentbox.json.5"* ]]
	unchanged
	install_sh
	[ "$status" -eq 0 ]
	"$HOME/.local/bin/agentbox" version
}

@test "install.sh: a signal leaves everything as it was" {
	remember
	# The program is started before anything is replaced: stop there.
	mkdir "$TEST_DIR/bin"
	printf '#!/bin/sh\necho x >"%s/reached"\nexec sleep 200\n' "$TEST_DIR" >"$TEST_DIR/bin/tar"
	chmod +x "$TEST_DIR/bin/tar"
	PATH=$TEST_DIR/bin:$PATH setsid sh "$RELEASE/install.sh" 3>&- &
	wait_for 60 test -e "$TEST_DIR/reached"
	kill -TERM -- -$!
	wait $! || [ $? -eq 143 ]
	unchanged
}

@test "install.sh: an agentbox that it did not install is not replaced without --force" {
	mkdir -p "$HOME/.local/bin"
	echo other >"$HOME/.local/bin/agentbox"
	remember
	install_sh
	[ "$status" -eq 1 ]
	[[ "$output" == *"did not install it; remove it or pass --force"* ]]
	unchanged
	install_sh --force
	[ "$status" -eq 0 ]
	"$HOME/.local/bin/agentbox" version
}

@test "install.sh: another architecture is told, and chosen by the machine alone" {
	mkdir "$TEST_DIR/bin"
	printf '#!/bin/sh\n[ "$1" = -s ] && echo Linux || echo riscv64\n' >"$TEST_DIR/bin/uname"
	chmod +x "$TEST_DIR/bin/uname"
	PATH=$TEST_DIR/bin:$PATH install_sh
	[ "$status" -eq 1 ]
	[[ "$output" == *"there is no agentbox for riscv64, only for x86_64 and aarch64"* ]]
}

@test "install.sh: a script that was cut off on its way does nothing" {
	local size
	remember
	size=$(stat -c %s "$ROOT/install.sh")
	for part in 4 2; do
		head -c $((size / part)) "$ROOT/install.sh" >cut.sh
		AGENTBOX_URL=$RELEASE timeout 60 sh cut.sh || true
		rm cut.sh
	done
	head -c $((size - 12)) "$ROOT/install.sh" >cut.sh
	AGENTBOX_URL=$RELEASE timeout 60 sh cut.sh || true
	rm cut.sh
	unchanged
}

@test "install.sh: usage errors have their own status, and the help fits" {
	install_sh --prefix
	[ "$status" -eq 2 ]
	install_sh --nonsense
	[ "$status" -eq 2 ]
	[[ "$output" == *'unexpected argument "--nonsense"'*usage:* ]]
	install_sh --help
	[ "$status" -eq 0 ]
	[[ "$output" == *--uninstall*--sha256* ]]
	# Nothing is chosen in silence when there is nothing to install from.
	cp "$RELEASE/install.sh" "$TEST_DIR"
	run timeout 60 sh "$TEST_DIR/install.sh"
	[ "$status" -eq 1 ]
	[[ "$output" == *"pass --from with the folder or the address of a release"* ]]
}

# plant: a release of somebody else in a project, with files that have the names of shells, which is the current
# folder; and in $release the script as it is published, with an address that answers nothing.
plant()
{
	local name

	release=$TEST_DIR/release
	another_release hostile
	for name in sh bash dash busybox install.sh; do
		cp "$RELEASE/install.sh" "hostile/$name"
	done
	another_release "$release"
	sed -i "s|^default_url=.*|default_url='https://127.0.0.1:9'|" "$release/install.sh"
	remember
	cd hostile
}

# took_nothing: of what lies in the current folder.
took_nothing()
{
	[ ! -e "$HOME/.local/bin/agentbox" ]
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot download https://127.0.0.1:9/SHA256SUMS"* || "$output" == *"curl is not installed"* ]]
}

@test "install.sh: a script from a pipe takes no release from the current folder" {
	local name release

	plant
	run timeout 60 sh <"$release/install.sh"
	took_nothing
	cd ..
	unchanged
	# The twins: the script that a person names, by any path.
	cd "$RELEASE"
	for name in install.sh ./install.sh "$RELEASE/install.sh"; do
		run timeout 120 sh "$name"
		[ "$status" -eq 0 ]
		[[ "$output" == *"installing agentbox-"*" from "*" in $HOME/.local"* ]]
	done
	cd ..
	run timeout 120 bash "$RELEASE/install.sh" --uninstall
	[ "$status" -eq 0 ]
}

@test "install.sh: a pipe into another shell takes no release from the current folder" {
	local shell release

	plant
	ln -s "$(command -v sh)" "$TEST_DIR/sh"
	for shell in bash "sh -s" "sh -s -- --force" "$TEST_DIR/sh"; do
		run timeout 60 $shell <"$release/install.sh"
		took_nothing
	done
	cd ..
	unchanged
}

@test "install.sh: the script as the text of a command takes no release from the current folder" {
	local name release

	plant
	for name in sh install.sh ./install.sh; do
		run timeout 60 sh -c "$(cat "$release/install.sh")" "$name"
		took_nothing
		[[ "$output" != *"installing agentbox"* ]]
	done
	cd ..
	unchanged
}
