# shared-proc: every wall must hold, or be reported as missing
# Which files a box sees, and where it may write. Where nothing may change, the
# host's files are compared byte by byte.
# root: root owns what others may not touch
# shared-proc-root: what that engine shares is more dangerous for root
# asan-root: what root does differs
UNJUDGED=1
load helpers
load attack/attack

setup_file()
{
	attack_build files sockets peer
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

# ------------------------------------------------------------------- writing

@test "the five steps of a break-in all fail and change nothing" {
	mkdir "$HOME/.ssh"
	echo private >"$HOME/.ssh/id_ed25519"
	echo public >"$HOME/.ssh/id_ed25519.pub"
	git init -q .
	echo content >file
	git add file
	git commit -qm first
	host_snapshot "$HOME" >"$TEST_DIR/before"
	agentbox_split run --home readonly -- sh -c 'cat ~/.ssh/id_ed25519; echo x > ../outside; echo x >> .git/hooks/pre-commit; mount -t tmpfs x /mnt; kill -9 1'
	[ "$status" -ne 0 ]
	[ -z "$output" ]
	[[ "$stderr" == *"id_ed25519: Permission denied"* ]]
	[[ "$stderr" == *"../outside: Read-only file system"* ]]
	[[ "$stderr" == *"pre-commit: Read-only file system"* ]]
	[[ "$stderr" == *"mount"*"permission denied"* || "$stderr" == *"mount"*"must be superuser"* ]]
	[[ "$stderr" == *"kill"*"ermitted"* ]]
	host_snapshot "$HOME" | diff "$TEST_DIR/before" -
	# The same command line does all that is its own business.
	agentbox run -- sh -c 'cat ~/.ssh/id_ed25519.pub && echo x >inside && git commit -qam second --allow-empty'
	[ "$status" -eq 0 ]
	[ "$output" = public ]
	[ "$(cat inside)" = x ]
}

@test "a run that does nothing changes nothing, not even a time" {
	git init -q .
	mkdir -p "$HOME/other" .vscode
	echo x >.vscode/settings.json
	host_snapshot "$HOME" >"$TEST_DIR/before"
	agentbox run -- true
	[ "$status" -eq 0 ]
	host_snapshot "$HOME" | diff "$TEST_DIR/before" -
}

@test "writing works in the workspace and nowhere else" {
	mkdir "$HOME/other" sub
	echo old >"$HOME/other/file"
	agentbox run --home readonly -- sh -c '
		for dir in / /etc /usr /usr/bin /var /var/lib /opt /home /root /mnt /boot /srv /media \
			"$HOME" "$HOME/other" .. ../other "$1"; do
			[ -d "$dir" ] || continue
			echo x >"$dir/agentbox-test" && echo "HOLE $dir"
			mkdir "$dir/agentbox-dir" && echo "HOLE $dir"
			"$2" tmpfile "$dir" | grep ok && echo "HOLE $dir"
		done
		echo x >>"$HOME/other/file" && echo HOLE
		rm -f "$HOME/other/file"; mv "$HOME/other" sub; ln "$HOME/other/file" link
		chmod 777 "$HOME/other" && echo HOLE
		touch "$HOME/other/file" && echo HOLE
		truncate -s 0 "$HOME/other/file" && echo HOLE
		echo new >file; mkdir -p sub/deep; mv file sub/deep; ln sub/deep/file hard; ln -s hard soft
		chmod 700 sub; rm hard; cat sub/deep/file' sh "$TEST_DIR" "$ATTACK/files"
	no_hole
	unsaid
	[ "${lines[-1]}" = new ]
	[ "$(cat "$HOME/other/file")" = old ]
	[ ! -e link ]
	[ "$(cat sub/deep/file)" = new ]
}

@test "further folders and single files become writable by name" {
	mkdir "$HOME/out" "$HOME/other"
	echo old >"$HOME/one"
	jq '.filesystem.write = ["~/late"]' "$HOME/.config/agentbox/config.json" >own.json
	agentbox run --config own.json --home readonly --write "$HOME/out" --write "$HOME/one" -- sh -c '
		echo x >"$HOME/out/x" && echo y >"$HOME/one" && echo z >here
		echo x >"$HOME/other/x" && echo HOLE; echo x >"$HOME/two" && echo HOLE; :'
	[ "$status" -eq 0 ]
	no_hole
	# One of the settings that does not exist is said to be missing, not made.
	[[ "$output" == *late* ]]
	[ ! -e "$HOME/late" ]
	[ "$(cat "$HOME/out/x")" = x ]
	[ "$(cat "$HOME/one")" = y ]
	[ "$(cat here)" = z ]
}

@test "read-only leaves the private folders" {
	echo old >file
	agentbox run --read-only -- sh -c '
		echo x >file && echo HOLE; echo x >new && echo HOLE
		echo fine >/tmp/x && cat file /tmp/x'
	no_hole
	unsaid
	[ "${lines[-2]}" = old ]
	[ "${lines[-1]}" = fine ]
	[ ! -e new ]
}

@test "a workspace is chosen by name" {
	mkdir "$HOME/chosen"
	agentbox run --home readonly --workspace "$HOME/chosen" -- sh -c 'echo x >"$HOME/chosen/x"; echo x >"$HOME/project/x" && echo HOLE; :'
	no_hole
	[ -e "$HOME/chosen/x" ]
	[ ! -e x ]
}

@test "the whole system and the home folder are no accidental workspace" {
	cd "$HOME"
	agentbox run -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"home folder"*"--workspace"* ]]
	cd /
	agentbox run -- true
	[ "$status" -eq 125 ]
	agentbox run --workspace / -- true
	[ "$status" -eq 125 ]
	agentbox run --write / -- true
	[ "$status" -eq 125 ]
	# Asked for by name, the home is a workspace, and its secrets stay closed.
	mkdir -p "$HOME/.ssh"
	echo key >"$HOME/.ssh/id_rsa"
	echo 'old' >"$HOME/.bashrc"
	cd "$HOME"
	agentbox run --workspace "$HOME" -- sh -c 'echo x >new && cat .ssh/id_rsa && echo HOLE
		echo evil >>.bashrc && echo HOLE; echo evil >.ssh/authorized_keys && echo HOLE; :'
	[ "$status" -eq 0 ]
	no_hole
	[ -e new ]
	[ "$(cat .bashrc)" = old ]
}

# ------------------------------------------------------------------- reading

@test "the system and the home are readable, secrets are not" {
	local f secrets=".ssh/id_ed25519 .ssh/deploy .aws/credentials .netrc .gnupg/key
		.config/gh/hosts.yml .git-credentials .npmrc .docker/config.json
		.bash_history .mozilla/cookies .kube/config .password-store/x"
	for f in $secrets .ssh/known_hosts .ssh/config .ssh/id_ed25519.pub notes; do
		mkdir -p "$(dirname "$HOME/$f")"
		echo "content of $f" >"$HOME/$f"
	done
	agentbox run -- sh -c '
		cd "$HOME"
		for f in '"$(echo $secrets)"' /etc/shadow; do
			cat $f && echo "HOLE $f"
			cp $f /tmp/x && echo "HOLE $f"
			echo x >>$f && echo "HOLE $f"
			chmod 644 $f && echo "HOLE $f"
		done
		cat notes .ssh/known_hosts .ssh/config .ssh/id_ed25519.pub
		head -c 1 /etc/passwd >/dev/null && echo system'
	no_hole
	unsaid
	[ "$(tail -n 5 <<<"$output")" = "content of notes
content of .ssh/known_hosts
content of .ssh/config
content of .ssh/id_ed25519.pub
system" ]
	[ "$(cat "$HOME/.netrc")" = "content of .netrc" ]
}

@test "deny-read hides a file, a folder and a pattern" {
	mkdir -p hidden/sub keys
	echo secret | tee hidden/sub/x one keys/a.pem keys/b.pem keys/c.txt >/dev/null
	agentbox run --deny-read hidden --deny-read one --deny-read 'keys/*.pem' -- sh -c '
		cat one hidden/sub/x keys/a.pem keys/b.pem && echo HOLE
		ls hidden && echo HOLE
		mv hidden x && echo HOLE; rm -rf hidden one && echo HOLE; mv one x && echo HOLE
		mv keys x && echo HOLE; ln one x && echo HOLE; chmod 777 hidden && echo HOLE
		cat keys/c.txt'
	no_hole
	[ "$(grep -c secret <<<"$output")" -eq 1 ]
	unsaid
	[ "${lines[-1]}" = secret ]
	[ "$(cat hidden/sub/x one)" = $'secret\nsecret' ]
}

@test "deny-read hides a name in every folder below one" {
	mkdir -p certs/deep/.er node_modules/x "$HOME/other"
	echo hidden-key | tee top.pem certs/deep/.er/a.pem node_modules/x/b.pem "$HOME/other/c.pem" >/dev/null
	echo shown >certs/readme
	ln -s "$HOME/other" link
	ln -s "$HOME/other/c.pem" d.pem
	echo beyond >"$HOME/other/e.pem"
	agentbox run --deny-read '**/*.pem' -- sh -c 'cat certs/readme; cat top.pem certs/deep/.er/a.pem node_modules/x/b.pem d.pem
		cat link/c.pem; mv certs moved; cat moved/deep/.er/a.pem; echo mine >own.pem && cat own.pem; cat link/e.pem'
	# Neither a later one, nor one behind a link to a folder.
	[[ "$output" == *shown*mine*beyond* ]]
	[[ "$output" != *hidden-key* ]]
	agentbox run -- sh -c 'cat top.pem'
	[ "$output" = hidden-key ]
	agentbox run --deny-read '**/*.pem' --read top.pem -- sh -c 'cat top.pem; cat node_modules/x/b.pem'
	[[ "$output" == *hidden-key* ]]
	[ "$(grep -c hidden-key <<<"$output")" -eq 1 ]
	for pattern in '/**/*.pem' '**/a/**/*.pem' '!**/*.pem'; do
		agentbox run --deny-read "$pattern" -- true
		[ "$status" -eq 125 ]
		[[ "$output" == *"cannot be enforced"* ]]
	done
}

@test "a login in the settings of a package manager stays outside, unless the file is opened" {
	mkdir -p ~/.config/pip
	printf '[global]\nindex-url = https://me:hunter2@pip.test/simple\ntimeout = 7\n' >~/.config/pip/pip.conf
	printf ':sources:\n- https://hunter2@gems.test/\n' >~/.gemrc
	echo 'cat ~/.config/pip/pip.conf ~/.gemrc' >show.sh
	agentbox run -- sh show.sh
	[ "$status" -eq 0 ]
	[ "$output" = $'[global]\nindex-url = https://pip.test/simple\ntimeout = 7\n---\n:sources:\n- https://gems.test/' ]
	grep hunter2 ~/.config/pip/pip.conf ~/.gemrc
	agentbox run --yes --read ~/.config/pip -- sh show.sh
	[[ "$output" == *"me:hunter2@pip.test"*"https://gems.test"* ]]
}

@test "of a package manager's settings the box sees what is known to be harmless, and nothing else" {
	mkdir -p ~/.cargo ~/.config/pip ~/.config/go ~/.config/uv ~/.config/composer
	printf '%s\n' '[registries.corp]' 'index = "https://c.test/?k=hunter2"' 'token = "hunter2"' '[http]' \
		'proxy = "joe:hunter2@p.test:3128"' 'timeout = 30' '[env]' 'KEY = "hunter2"' >~/.cargo/config.toml
	printf '%s\n' '# hunter2' '[global]' 'index-url = https://pip.test/simple?token=hunter2' 'proxy = joe:hunter2@p.test' \
		'password =' '    extra-index-url = https://hunter2.test/' 'timeout = 7' >~/.config/pip/pip.conf
	printf '%s\n' 'GOAUTH=netrc hunter2' 'GOPROXY=https://joe:hunter2@go.test' >~/.config/go/env
	printf '%s\n' 'x = """' 'index-url = "https://hunter2.test/"' '"""' 'offline = true' >~/.config/uv/uv.toml
	echo '{"config":{"sort-packages":true,"github-oauth":{"github.com":"hunter2"}}}' >~/.config/composer/config.json
	echo 'cat ~/.cargo/config.toml ~/.config/pip/pip.conf ~/.config/go/env ~/.config/uv/uv.toml ~/.config/composer/config.json' >show.sh
	agentbox run -v -- sh show.sh
	[ "$status" -eq 0 ]
	[[ "$output" != *hunter2* ]]
	[[ "$output" == *'registries.corp.index = "https://c.test/"'*'http.timeout = 30'* ]]
	[[ "$output" == *"index-url = https://pip.test/simple"*"timeout = 7"*"GOPROXY=https://go.test"*"offline = true"* ]]
	[[ "$output" == *'"sort-packages": true'* ]]
	[[ "$output" == *"pip.conf: the box does not see 2 settings of it; to show the file as it is: --read "* ]]
	# The twins: one of which everything may be shown is shown itself, and one that is opened as well.
	printf '[net]\n   retry = 3\n' >~/.cargo/config.toml
	agentbox run --yes --read ~/.config/pip -- cat ~/.cargo/config.toml ~/.config/pip/pip.conf
	[[ "$output" == *"[net]"$'\n'"   retry = 3"*"joe:hunter2@p.test"* ]]
}

@test "of the settings of yarn, bun and pnpm the box sees registries, and no login" {
	local files=(~/.yarnrc ~/.bunfig.toml ~/.config/.bunfig.toml ~/.config/pnpm/rc ~/.config/pnpm/auth.ini ~/.config/pnpm/config.yaml)

	mkdir -p ~/.config/pnpm
	printf '%s\n' 'registry "https://me:hunter2@yarn.test/"' '"//yarn.test/:_authToken" hunter2' >~/.yarnrc
	printf '%s\n' '[install.scopes]' '"@a" = { url = "https://bun.test/", token = "hunter2" }' | tee ~/.bunfig.toml >~/.config/.bunfig.toml
	printf '%s\n' '//pnpm.test/:_authToken=hunter2' '@a:registry=https://pnpm.test/' | tee ~/.config/pnpm/rc >~/.config/pnpm/auth.ini
	printf '%s\n' 'registries:' '  "@b": https://b.test/' '_auth:' '  //b.test/:' '    authToken: hunter2' >~/.config/pnpm/config.yaml
	agentbox run -- cat "${files[@]}"
	[ "$status" -eq 0 ]
	[[ "$output" != *hunter2* ]]
	[ "$output" = '"registry" "https://yarn.test/"
install.scopes."@a".url = "https://bun.test/"
install.scopes."@a".url = "https://bun.test/"
@a:registry=https://pnpm.test/
@a:registry=https://pnpm.test/
---
registries:
  "@b": "https://b.test/"' ]
	agentbox run --yes --read ~/.yarnrc --read ~/.config/pnpm/rc -- cat "${files[@]}"
	[ "$(grep -c hunter2 <<<"$output")" -eq 3 ]
}

@test "of settings that are not understood the box sees nothing, and is told so" {
	local file

	mkdir -p ~/.cargo ~/.config/pip ~/.config/composer
	echo 'registry.token = "hunter2' >~/.cargo/config.toml
	printf ':sources: &a\n- https://gems.test/hunter2\n' >~/.gemrc
	echo '{"config":{},"config":{"x":"hunter2"}}' >~/.config/composer/config.json
	printf '[global]\ntimeout = 3\n\0hunter2\n' >~/.config/pip/pip.conf
	for file in .cargo/config.toml .gemrc .config/composer/config.json .config/pip/pip.conf; do
		agentbox run -- cat "$HOME/$file"
		[ "$status" -eq 0 ]
		[[ "$output" != *hunter2* ]]
		[[ "$output" == *"$file cannot be read as settings of its tool"* ]]
	done
	# Too large, and a link to the settings.
	{ echo '[global]'; head -c 300000 /dev/zero | tr '\0' '\n'; echo 'password = hunter2'; } >~/real.conf
	ln -sf ~/real.conf ~/.config/pip/pip.conf
	agentbox run -- cat "$HOME/.config/pip/pip.conf"
	[[ "$output" != *hunter2* && "$output" == *"pip.conf cannot be read"* ]]
	printf '[global]\npassword = hunter2\ntimeout = 3\n' >~/real.conf
	agentbox run -- cat "$HOME/.config/pip/pip.conf"
	[[ "$output" == *$'[global]\ntimeout = 3' && "$output" != *hunter2* ]]
	# Programs of Gradle are hidden as a whole.
	mkdir -p ~/.gradle/init.d
	echo hunter2 | tee ~/.gradle/init.gradle >~/.gradle/init.d/a.gradle
	agentbox run -- sh -c 'cat ~/.gradle/init.gradle ~/.gradle/init.d/a.gradle || echo closed'
	[[ "$output" != *hunter2* && "$output" == *closed* ]]
	agentbox run --yes --read ~/.gradle/init.gradle -- cat "$HOME/.gradle/init.gradle"
	[[ "$output" == *hunter2 ]]
}

@test "credentials are hidden where a variable has moved them, and what is beside them is not" {
	local tools=$HOME/tools file

	mkdir -p "$tools/cargo" "$tools/docker" "$tools/config/gh"
	echo 'token = "hunter2"' >"$tools/cargo/credentials.toml"
	printf '%s\n' '[registries.corp]' 'index = "https://c.test/"' 'token = "hunter2"' >"$tools/cargo/config.toml"
	echo shown >"$tools/cargo/env"
	echo '{ "auths": { "r.test": { "auth": "hunter2" } } }' >"$tools/docker/config.json"
	echo 'oauth_token: hunter2' >"$tools/config/gh/hosts.yml"
	echo '//npm.test/:_authToken=hunter2' >"$tools/npmrc"
	printf '%s\n' '[global]' 'index-url = https://me:hunter2@pip.test/simple' 'timeout = 7' >"$tools/pip.conf"
	for file in a b; do
		echo hunter2 >"$tools/kube-$file"
	done
	echo "cd $tools && cat cargo/credentials.toml cargo/config.toml cargo/env docker/config.json config/gh/hosts.yml npmrc pip.conf kube-a kube-b" >show.sh
	# Without the variables they are files like others.
	agentbox run -- sh show.sh
	[ "$status" -eq 0 ]
	[ "$(grep -c hunter2 <<<"$output")" -eq 8 ]
	export CARGO_HOME=$tools/cargo DOCKER_CONFIG=$tools/none/../docker XDG_CONFIG_HOME=$tools/config \
		npm_config_userconfig=$tools/npmrc PIP_CONFIG_FILE=$tools/pip.conf KUBECONFIG=$tools/kube-a:$tools/kube-b
	agentbox run -- sh show.sh
	[[ "$output" != *hunter2* ]]
	[[ "$output" == *'registries.corp.index = "https://c.test/"'*shown*"index-url = https://pip.test/simple"*"timeout = 7"* ]]
	for file in cargo/credentials.toml docker/config.json config/gh/hosts.yml npmrc kube-a kube-b; do
		[[ "$output" == *"$file: Permission denied"* ]]
	done
	# It does not matter whether the box gets the variable.
	mkdir -p "$XDG_CONFIG_HOME/agentbox"
	echo '{ "env": { "strip": ["CARGO_HOME", "PIP_*"] } }' >"$XDG_CONFIG_HOME/agentbox/config.json"
	agentbox run -- sh -c "env | grep CARGO_HOME; . ./show.sh"
	[[ "$output" != *hunter2* && "$output" != *CARGO_HOME* && "$output" == *"timeout = 7"* ]]
	agentbox run --yes --read "$tools/cargo/credentials.toml" -- sh show.sh
	[ "$(grep -c hunter2 <<<"$output")" -eq 1 ]
	agentbox why --read "$tools/cargo/credentials.toml"
	[[ "$output" == *"filesystem.denyRead"* ]]
}

@test "a variable that renames or moves one file hides that file, of tools and of agents" {
	local tools=$HOME/tools
	local -a moved=(PGPASSFILE="$tools/pg" PASSWORD_STORE_DIR="$tools/pass" RCLONE_CONFIG="$tools/rclone.conf"
		CLAUDE_CONFIG_DIR="$tools/claude" CODEX_HOME="$tools/codex")

	mkdir -p "$tools/pass" "$tools/claude" "$tools/codex"
	echo hunter2 | tee "$tools/pg" "$tools/pass/mail.gpg" "$tools/rclone.conf" "$tools/claude/.credentials.json" \
		"$tools/codex/auth.json" >/dev/null
	echo shown | tee "$tools/claude/notes" >"$tools/codex/notes"
	printf '%s\n' 'npmRegistryServer: "https://y.test/"' 'npmAuthToken: hunter2' >"$HOME/.work.yml"
	cat >show.sh <<-EOF
		cat $HOME/.work.yml
		cd $tools && cat pg pass/mail.gpg rclone.conf claude/.credentials.json codex/auth.json claude/notes codex/notes
	EOF
	agentbox run -- sh show.sh
	[ "$status" -eq 0 ]
	[ "$(grep -c hunter2 <<<"$output")" -eq 6 ]
	# Yarn looks for a file of that name in the home folder.
	export YARN_RC_FILENAME=.work.yml "${moved[@]}"
	agentbox run --allow @npm -- sh show.sh
	[[ "$output" != *hunter2* && "$output" == *'npmRegistryServer: "https://y.test/"'*shown*shown* ]]
}

@test "what a variable moves into the workspace is the project's, but not what a link there leads to" {
	mkdir .cargo "$HOME/cargo"
	echo token | tee .cargo/credentials.toml >"$HOME/cargo/credentials.toml"
	ln -s "$HOME/cargo" out
	CARGO_HOME=.cargo agentbox run -- sh -c 'cat .cargo/credentials.toml; echo more >>.cargo/credentials.toml; cat ~/cargo/credentials.toml'
	[ "$status" -eq 0 ]
	[ "$output" = $'token\ntoken' ]
	[ "$(cat .cargo/credentials.toml)" = $'token\nmore' ]
	CARGO_HOME=$PWD/out agentbox run -- sh -c 'cat .cargo/credentials.toml; cat ~/cargo/credentials.toml || cat out/credentials.toml'
	[ "$status" -ne 0 ]
	[[ "$output" == token* && "$output" != *token*token* && "$output" == *"Permission denied"*"Permission denied"* ]]
	# A device or a pipe is nobody's settings.
	NETRC=/dev/null npm_config_userconfig=/dev/stdin agentbox run -- sh -c 'echo x >/dev/null && cat </dev/null && echo well'
	[ "$output" = well ]
}

@test "read shows one hidden file for one run, and nothing of agentbox's own" {
	mkdir -p ~/.aws
	echo token >~/.npmrc
	echo key | tee ~/.pypirc >~/.aws/config
	agentbox run --yes --read ~/.npmrc -- sh -c 'cat ~/.npmrc; cat ~/.pypirc || echo closed; echo x >>~/.npmrc'
	[[ "$output" == *token*closed* ]]
	[ "$(cat ~/.npmrc)" = token ]
	agentbox run --yes -- sh -c 'cat ~/.npmrc || echo closed'
	[[ "$output" == *closed* && "$output" != *token* ]]
	# A folder that is hidden as a whole is shown as a whole.
	agentbox run --yes --read ~/.aws/config -- cat ~/.aws/config
	[ "$status" -eq 125 ]
	[[ "$output" == *"show all of it: --read $HOME/.aws"* ]]
	agentbox run --yes --read ~/.aws -- cat ~/.aws/config
	[ "$output" = key ]
	agentbox run --yes --read "$AGENTBOX_STATE" -- ls "$AGENTBOX_STATE"
	[ "$status" -ne 0 ]
	[[ "$output" != *runs* ]]
}

@test "deny-read follows a link to the object, from both sides" {
	mkdir real
	echo secret >real/key
	ln -s real alias
	ln -s real/key key
	agentbox run --deny-read alias/key -- sh -c 'cat real/key || cat alias/key || cat key || echo closed'
	[ "${lines[-1]}" = closed ]
	agentbox run --deny-read key -- sh -c 'cat real/key || cat alias/key || echo closed
		ln -s real/key new; cat new || echo closed; ln real/key hard && echo HOLE
		cat /proc/self/cwd/real/key || echo closed'
	no_hole
	[ "$(grep -c '^closed$' <<<"$output")" -eq 3 ]
	[[ "$output" != *secret* ]]
	agentbox run -- cat key
	[ "$output" = secret ]
}

@test "a hidden file is hidden under each of its names" {
	local elsewhere=$TEST_DIR/elsewhere
	mkdir -p "$HOME/backup" deep/{1..40}/x "$elsewhere"
	echo hunter2word >"$HOME/.netrc"
	ln "$HOME/.netrc" "$HOME/backup/netrc"
	ln "$HOME/.netrc" copy
	ln "$HOME/.netrc" deep/40/x/third
	# Twin: an ordinary file with two names.
	echo plain >"$HOME/plain"
	ln "$HOME/plain" linked
	cat >read.sh <<-'END'
		cat ~/.netrc ~/backup/netrc copy deep/40/x/third
		mv copy moved && cat moved
		mv deep/40 deep/41 && cat deep/41/x/third
		ln ~/backup/netrc again && cat again
		cat linked ~/plain
	END
	for option in --yes --review "--home readonly" "--profile development"; do
		agentbox run -v $option --name "n${#option}" -- sh read.sh
		[[ "$output" != *hunter2* ]]
		[[ "$output" == *" read-deny "* ]]
		[[ "$output" == *"plain
plain"* && "$output" != *"another name"* ]]
	done
	# A name in another hidden place is hidden, too.
	ln "$HOME/.netrc" "$elsewhere/fourth"
	for option in "$elsewhere" "$elsewhere/fourth"; do
		agentbox run -v --deny-read "$option" -- cat "$elsewhere/fourth"
		[[ "$output" == *" read-deny "* && "$output" != *hunter2* && "$output" != *"another name"* ]]
	done
}

@test "settings that the box sees in part are hidden under their other names" {
	mkdir -p "$HOME/.config/pip" "$HOME/backup" "$TEST_DIR/elsewhere"
	printf '[global]\nindex-url = https://me:hunter2@pip.test/simple\ntimeout = 7\n' >"$HOME/.config/pip/pip.conf"
	ln "$HOME/.config/pip/pip.conf" "$HOME/backup/pip.conf"
	ln "$HOME/.config/pip/pip.conf" copy
	# Twin: settings of which all may be seen.
	printf -- '---\n:backtrace: false\n' >"$HOME/.gemrc"
	ln "$HOME/.gemrc" linked
	cat >read.sh <<-'END'
		cat ~/.config/pip/pip.conf ~/backup/pip.conf copy
		mv copy moved && cat moved
		ln ~/backup/pip.conf again && cat again
		cat linked ~/.gemrc
	END
	for option in --yes --review "--home readonly" "--home private" "--profile development"; do
		agentbox run -v $option --name "n${#option}" -- sh read.sh
		[[ "$output" != *hunter2* ]]
		[[ "$output" == *" read-deny "* && "$output" == *"backtrace: false"* ]]
		[[ "$option" == *private || "$output" == *"timeout = 7"* ]]
		[[ "$output" == *"$PWD/copy is hidden: it is the same file as $HOME/.config/pip/pip.conf; to show both: --read $HOME/.config/pip/pip.conf"* ]]
		[ "$(grep -c "is hidden: it is the same file" <<<"$output")" -eq 2 ]
	done
	grep hunter2 copy
	# Opened, it is open under each name.
	agentbox run -v --yes --read "$HOME/.config/pip/pip.conf" -- cat copy
	[[ "$output" == *hunter2* && "$output" != *"is hidden: it is"* ]]
	# Another name opens only itself, as the message about a denial says.
	agentbox run --yes -- sh -c 'cat copy; mv copy moved'
	[[ "$output" != *hunter2* && "$output" == *"agentbox run --read $PWD/copy -- ..."* ]]
	agentbox run --yes --read "$PWD/copy" -- sh -c 'grep -c hunter2 copy; cat ~/.config/pip/pip.conf'
	[[ "$output" == *"1"* && "$output" != *hunter2* && "$output" == *"timeout = 7"* ]]
	# A name that is not found is told, and one name is nothing to tell.
	mv copy "$TEST_DIR/elsewhere/copy"
	agentbox run -v -- sh -c 'cat ~/.config/pip/pip.conf'
	[ "$status" -eq 0 ]
	[[ "$output" == *"not in force: "*"read-deny (readable under another name: $HOME/.config/pip/pip.conf)"* ]]
	[[ "$output" == *"find / -xdev -samefile $HOME/.config/pip/pip.conf;"* && "$output" == *"timeout = 7"* ]]
	[ "$(grep -c "find / -xdev -samefile" <<<"$output")" -eq 1 ]
	agentbox run -v --deny-read "$TEST_DIR/elsewhere/copy" -- cat "$TEST_DIR/elsewhere/copy"
	[[ "$output" == *" read-deny "* && "$output" != *hunter2* && "$output" != *"another name"* ]]
	rm "$TEST_DIR/elsewhere/copy" "$HOME/backup/pip.conf"
	agentbox run -v -- cat "$HOME/.config/pip/pip.conf"
	[[ "$output" == *" read-deny "* && "$output" == *"timeout = 7"* && "$output" != *hunter2* && "$output" != *"another name"* ]]
}

@test "what is hidden, or seen in part, is so where its folder is mounted a second time" {
	need userns
	mkdir -p "$HOME/.gnupg/private" "$HOME/.config/pip" "$TEST_DIR"/{again,"a part",key}
	printf '[global]\nindex-url = https://me:hunter2@pip.test/simple\n' >"$HOME/.config/pip/pip.conf"
	printf '[net]\nretry = 3\n' >"$HOME/.config/pip/harmless"
	echo hunter2word | tee "$HOME/.netrc" "$HOME/.gnupg/key" >"$HOME/.gnupg/private/key"
	echo plain >"$HOME/plain"
	cat >mounted.sh <<-'END'
		mount --bind "$HOME" "$1/again" && mount --bind "$HOME/.gnupg/private" "$1/a part" &&
			mount --bind "$HOME/.netrc" "$1/again/plain2" || exit 77
		shift
		exec "$@"
	END
	touch "$HOME/plain2"
	local options=(--yes "--home readonly") option
	[ -n "${AB_ENGINE:-}" ] || options+=("--engine no-namespaces --net blocked")
	for option in "${options[@]}"; do
		run timeout 100 unshare --user --map-current-user --keep-caps --mount sh mounted.sh "$TEST_DIR" \
			"$AGENTBOX" run -v $option -- sh -c 'cat "$1"/again/.netrc "$1"/again/.gnupg/key "$1/a part/key" "$1"/again/plain2
				cat "$1"/again/.config/pip/*; cat "$1"/again/plain; ls "$1"/again/.gnupg' sh "$TEST_DIR" 3>&-
		echo "$output"
		[ "$status" -ne 77 ] || lacks "nothing can be mounted here"
		[[ "$output" != *hunter2* ]]
		# The twins: a file, and settings, without a secret.
		[[ "$output" == *" read-deny "* && "$output" == *plain* && "$output" == *"retry = 3"* ]]
	done
}

@test "a reviewed workspace that is mounted a second time is not hidden with its first folder" {
	need userns
	mkdir "$TEST_DIR"/{first,second}
	echo plain | tee "$TEST_DIR/first/note" >"$TEST_DIR/first/hidden"
	cat >mounted.sh <<-'END'
		mount --bind "$1/first" "$1/second" && cd "$1/second" || exit 77
		shift
		exec "$@"
	END
	run timeout 100 unshare --user --map-current-user --keep-caps --mount sh mounted.sh "$TEST_DIR" \
		"$AGENTBOX" run --review --deny-read "$TEST_DIR/first" -- sh -c 'cat note; echo x >new; ls' 3>&-
	[ "$status" -ne 77 ] || lacks "nothing can be mounted here"
	[ "$status" -eq 0 ]
	[[ "$output" == *plain* && "$output" == *new* ]]
	# Its twin: what is hidden in the workspace stays hidden there.
	run timeout 100 unshare --user --map-current-user --keep-caps --mount sh mounted.sh "$TEST_DIR" \
		"$AGENTBOX" run --review --deny-read "$TEST_DIR/first/hidden" -- cat hidden 3>&-
	[ "$status" -ne 0 ]
	[[ "$output" != *plain* ]]
}

@test "a hidden file with a name that was not found is not claimed to be hidden" {
	local elsewhere=$TEST_DIR/elsewhere
	mkdir "$elsewhere"
	echo hunter2word >"$HOME/.netrc"
	ln "$HOME/.netrc" "$elsewhere/name"
	# Who asks for the guarantee gets no box without it.
	for option in "--require read-deny" "--fallback strict" "--profile ci --processes none"; do
		agentbox run $option -- sh -c 'cat "$1"; touch made' sh "$elsewhere/name"
		[[ "$output" != *hunter2* ]]
		[ "$status" -eq 125 ]
		[ ! -e made ]
		[[ "$output" == *"missing guarantees: "*"read-deny (readable under another name: $HOME/.netrc)"* ]]
		[ "$(grep -c "^agentbox: $HOME/.netrc can be read under another name" <<<"$output")" -eq 1 ]
		[[ "$output" == *"find / -xdev -samefile $HOME/.netrc; to hide it: --deny-read"* ]]
	done
	for option in --yes "--fallback warn" "--profile workspace-write" "--profile development"; do
		agentbox run -v $option --result "$TEST_DIR/result.json" -- cat "$elsewhere/name"
		[ "$status" -eq 0 ]
		[[ "$output" == *hunter2word* && "$output" == *"not in force: "*"read-deny (readable under another name: $HOME/.netrc)"* ]]
		[ "$(grep -c "^agentbox: $HOME/.netrc can be read under another name" <<<"$output")" -eq 1 ]
		[[ "$(grep 'guarantees in force' <<<"$output")" != *read-deny* ]]
		jq -e '.assurance | (.missing | index("read-deny")) and (.holds | index("read-deny") | not)' "$TEST_DIR/result.json"
	done
	# Twins: the same file with one name; a folder that is hidden, whose files are hidden by their names.
	rm "$elsewhere/name"
	mkdir "$HOME/.gnupg"
	echo key >"$HOME/.gnupg/key"
	ln "$HOME/.gnupg/key" "$elsewhere/key"
	agentbox run -v -- cat "$HOME/.netrc" "$HOME/.gnupg/key"
	[[ "$output" == *" read-deny "* && "$output" != *hunter2* && "$output" != *"another name"* ]]
}

@test "deny-read holds in a folder that nobody can enter at the start" {
	mkdir locked
	echo secret >locked/key
	chmod 000 locked
	agentbox run --deny-read locked/key -- sh -c 'chmod 755 locked; cat locked/key && echo HOLE; echo fine'
	chmod 755 locked
	no_hole
	unsaid
	[[ "$output" == *fine ]]
}

@test "deny-read beats deny-write beats write" {
	mkdir a b
	echo secret >a/x
	echo old >b/x
	agentbox run --write a --deny-read a --deny-write b --write b/x -- sh -c '
		cat a/x && echo HOLE; echo x >a/x && echo HOLE
		echo x >b/x && echo HOLE; echo x >b/new && echo HOLE; cat b/x'
	no_hole
	unsaid
	[ "${lines[-1]}" = old ]
	agentbox run --deny-read b/x --deny-write b -- sh -c 'cat b/x && echo HOLE; ls b'
	no_hole
	[ "${lines[-1]}" = x ]
}

@test "a list of readable trees leaves nothing else" {
	mkdir "$HOME/shown" "$HOME/other"
	echo yes >"$HOME/shown/file"
	echo no >"$HOME/other/file"
	cat >"$TEST_DIR/config.json" <<-END
	{ "filesystem": { "read": ["@system", "$HOME/shown", "$ATTACK"] } }
	END
	agentbox run --home readonly --config "$TEST_DIR/config.json" -- sh -c '
		cat "$HOME/shown/file"; ls "$HOME/other" && echo HOLE
		ls -A / "$HOME"; ls /home/* | grep -v agentbox
		echo x >file && cat file
		echo x >/x && echo HOLE; mkdir "$HOME/new" && echo HOLE; echo x >"$HOME/shown/x" && echo HOLE
		chmod 777 / && echo HOLE; touch /home && echo HOLE
		"$1" tmpfile /; cd /; cd ../../..; ls -d lost+found boot && echo HOLE
		ls /proc/1/root/ && echo HOLE; echo x >/tmp/t && cat /dev/null && echo fine' sh "$ATTACK/files"
	no_hole
	[ "${lines[0]}" = yes ]
	[[ "$output" == *"tmpfile: E"* ]]
	[[ "$output" != *other* || "$output" == *"other': No such file"* ]]
	unsaid
	[ "${lines[-1]}" = fine ]
	[ "$(cat file)" = x ]
}

@test "a list of readable trees keeps links and programs working" {
	ln -s /usr/share "$HOME/link"
	cat >"$TEST_DIR/config.json" <<-END
	{ "filesystem": { "read": ["@system", "$HOME/link"] } }
	END
	agentbox run --config "$TEST_DIR/config.json" -- sh -c '
		readlink "$HOME/link" && ls "$HOME/link/" >/dev/null && git init -q r && git -C r status | head -n 1
		ls /bin/sh /lib >/dev/null && echo fine'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = /usr/share ]
	[ "${lines[-1]}" = fine ]
	[ -d r/.git ]
}

@test "without the system on the list no program runs" {
	cat >"$TEST_DIR/config.json" <<-END
	{ "filesystem": { "read": ["$HOME"] } }
	END
	run -127 "$AGENTBOX" run --config "$TEST_DIR/config.json" -- sh -c true
	[[ "$output" == *"sh: command not found"* ]]
}

@test "a private home is empty, writable and gone afterwards" {
	echo mine >"$HOME/notes"
	mkdir -p "$HOME/.config/x"
	agentbox run --home private -- sh -c '
		cat ~/notes && echo HOLE; ls -A ~/.config/x && echo HOLE
		git config user.name && echo hi >~/new && cat ~/new && echo work >here && stat -c %a ~'
	no_hole
	[ "$(tail -n 3 <<<"$output")" = $'Test\nhi\n700' ]
	[ ! -e "$HOME/new" ]
	[ "$(cat here)" = work ]
	[ "$(cat "$HOME/notes")" = mine ]
}

# ---------------------------------------------------------- private folders

@test "/tmp, /var/tmp, /run and /dev/shm are the box's own" {
	local dir mark
	mark=$(mktemp /tmp/agentbox-test.XXXXXX)
	agentbox run -- sh -c '
		for dir in /tmp /var/tmp /run /dev/shm; do
			[ -z "$(ls -A $dir)" ] || ls -A $dir
			echo x >$dir/agentbox-mark && mkdir $dir/sub && mv $dir/sub $dir/other || echo "broken $dir"
		done
		stat -c "%a" /tmp /var/tmp /dev/shm; echo "$TMPDIR"; mktemp; df --output=fstype /tmp | tail -n 1
		[ -e "$1" ] && echo HOLE' sh "$mark"
	rm -f "$mark"
	no_hole
	[[ "$output" != *broken* ]]
	[ "$(head -n 4 <<<"$output")" = $'1777\n1777\n1777\n/tmp' ]
	[[ "${lines[4]}" == /tmp/tmp.* ]]
	[ "${lines[5]}" = tmpfs ]
	for dir in /tmp /var/tmp /run /dev/shm; do
		[ ! -e "$dir/agentbox-mark" ]
	done
	agentbox run -- sh -c 'ls -A /tmp /var/tmp /run /dev/shm | grep -c mark'
	[ "$output" = 0 ]
}

@test "XDG_RUNTIME_DIR is private, wherever it is" {
	local dir
	for dir in "$HOME/runtime" "$WORKSPACE/a/b/runtime"; do
		mkdir -p "$dir"
		echo secret >"$dir/file"
		host_peer stream "$dir/bus"
		XDG_RUNTIME_DIR=$dir agentbox run -- sh -c '
			ls -A "$1"; cat "$1/file" && echo HOLE; "$2" stream "$1/bus"
			mv a/b a/c && mkdir -p a/b/runtime && echo HOLE; mv a c && echo HOLE
			echo x >"$1/new" && cat "$1/new"' sh "$dir" "$ATTACK/sockets"
		no_hole
		[[ "$output" == *"stream: ENOENT"* ]]
		unsaid
		[ "${lines[-1]}" = x ]
		[ ! -e "$dir/new" ]
		[ "$(cat "$dir/file")" = secret ]
		[ "$(heard)" -eq 0 ]
	done
}

@test "the private folders have a size" {
	cat >"$TEST_DIR/config.json" <<-END
	{ "filesystem": { "tmpSize": "8M" } }
	END
	agentbox run --config "$TEST_DIR/config.json" -- sh -c '
		head -c 4M /dev/zero >/tmp/a && echo fits; head -c 9M /dev/zero >/dev/shm/b && echo HOLE; :'
	no_hole
	[ "${lines[0]}" = fits ]
	[[ "$output" == *"No space left"* ]]
}

@test "a host folder that is made writable by name is the host's" {
	local dir
	dir=$(mktemp -d /tmp/agentbox-test.XXXXXX)
	agentbox run --write "$dir" -- sh -c 'echo x >"$1/x"; ls -A /tmp' sh "$dir"
	[ "$output" = "${dir##*/}" ]
	[ "$(cat "$dir/x")" = x ]
	rm -rf "$dir"
}

@test "a workspace below /tmp works" {
	local dir
	dir=$(mktemp -d /tmp/agentbox-test.XXXXXX)
	mkdir "$dir/neighbour" "$dir/project"
	git init -q "$dir/project"
	cd "$dir/project"
	agentbox run -- sh -c 'pwd; echo x >file; git add file && git commit -qm one && git log --oneline | wc -l
		ls ..; echo evil >>.git/config && echo HOLE; echo x >../other; rm -rf ../neighbour; :'
	cd "$WORKSPACE"
	[ "${lines[0]}" = "$dir/project" ]
	[ "${lines[1]}" = 1 ]
	no_hole
	[ -d "$dir/neighbour" ]
	[ ! -e "$dir/other" ]
	[ -e "$dir/project/file" ]
	rm -rf "$dir"
}

@test "a workspace is reached through a symbolic link" {
	mkdir "$HOME/real"
	git init -q "$HOME/real"
	ln -s real "$HOME/alias"
	cd "$HOME/alias"
	agentbox run --home readonly -- sh -c 'echo x >file && echo y >"$HOME/alias/second" && pwd -P
		echo evil >>"$HOME/alias/.git/config" && echo HOLE; rm "$HOME/alias" && echo HOLE; :'
	[ "${lines[0]}" = "$HOME/real" ]
	no_hole
	[ "$(cat "$HOME/real/file" "$HOME/real/second")" = $'x\ny' ]
	cd "$WORKSPACE"
	agentbox run --workspace "$HOME/alias" -- sh -c 'echo z >"$HOME/real/third"'
	[ "$status" -eq 0 ]
}

# ------------------------------------------------------------- /dev and /proc

@test "/dev is small and usable" {
	agentbox run -- sh -c '
		ls /dev | tr "\n" " "; echo
		echo x >/dev/null; head -c 2 /dev/zero | wc -c; head -c 2 /dev/urandom | wc -c
		head -c 2 /dev/random | wc -c; head -c 1 /dev/zero >/dev/full; echo x | cat /dev/stdin
		echo through >/dev/stdout; [ -c /dev/tty ] && echo tty
		echo x >/dev/shm/x && rm /dev/shm/x && echo shm
		ls /dev/pts; echo x >/dev/new && echo HOLE; mkdir /dev/dir && echo HOLE; :'
	[ "$status" -eq 0 ]
	no_hole
	[ "${lines[0]}" = "agentbox agentbox-program fd full null ptmx pts random shm stderr stdin stdout tty urandom zero " ]
	[[ "$output" == *"No space left"* ]]
	[ "$(grep -c '^2$' <<<"$output")" -eq 3 ]
	[[ "$output" == *$'x\nthrough\ntty\nshm\nptmx'* ]]
}

@test "a FIFO of the host can be read, and not written" {
	local reader
	mkfifo "$TEST_DIR/fifo"
	cat >use.py <<-'END'
	import os, sys
	try:
	    os.close(os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK))
	    print("HOLE")
	except OSError as e:
	    print(e.strerror)
	END
	# Somebody reads it, so that another program can write to it.
	exec {reader}<>"$TEST_DIR/fifo"
	[ "$(python3 use.py "$TEST_DIR/fifo")" = HOLE ]
	agentbox run -- sh -c 'python3 use.py "$0"; ls -l "$0" >/dev/null && echo seen' "$TEST_DIR/fifo"
	no_hole
	[ "${lines[0]}" = "Permission denied" ]
	[[ "$output" == *seen* ]]
	echo word >&"$reader"
	agentbox run -- head -n 1 "$TEST_DIR/fifo"
	exec {reader}>&-
	[ "$output" = word ]
}

@test "terminals can be made inside" {
	need program:script
	agentbox run -- script -qec 'tty; stty size >/dev/null && echo sized' /dev/null </dev/null
	[ "$status" -eq 0 ]
	[[ "$output" == */dev/pts/0* ]]
	[[ "$output" == *sized* ]]
}

@test "/proc is the box's own" {
	agentbox run -- sh -c '
		ls /proc | grep -c "^[0-9]"; readlink /proc/self/ns/pid
		cat /proc/self/status | grep -c ^Name; cat /proc/loadavg /proc/cpuinfo >/dev/null && echo fine'
	[ "$status" -eq 0 ]
	# What an engine cannot tell apart, it does not list.
	if claims pid-view; then
		[ "${lines[0]}" -ge 2 ]
		[ "${lines[0]}" -lt 8 ]
	else
		[ "${lines[0]}" -eq 0 ]
	fi
	[ "${lines[1]}" != "$(readlink /proc/self/ns/pid)" ]
	[ "${lines[-1]}" = fine ]
}

# --------------------------------------------------------------------- mixed

# bats test_tags=root
@test "mounts that the host makes later do not appear in the box" {
	only_root
	mkdir mounted
	mkfifo go up
	"$AGENTBOX" run -- sh -c 'echo up >up; read line <go; ls -A mounted; echo x >mounted/x' \
		>"$TEST_DIR/out" 2>&1 3>&- &
	local pid=$!
	PEERS+=($pid)
	read -r _ <up
	mount -t tmpfs none mounted || {
		echo go >go
		wait "$pid"
		lacks "root may not mount a tmpfs here"
	}
	echo late >mounted/late
	echo go >go
	wait "$pid"
	[ ! -e mounted/x ]
	umount mounted
	[ "$(cat "$TEST_DIR/out")" = "" ]
	[ -e mounted/x ]
}

# bats test_tags=root
@test "a mount below the workspace is part of it" {
	only_root
	mkdir -p sub
	mount -t tmpfs none sub || lacks "mounting a tmpfs is not permitted"
	cp "$(command -v id)" sub/id
	chmod u+s sub/id
	agentbox run -- sh -c 'echo x >sub/x && cat sub/x; umount sub && echo HOLE; mv sub other && echo HOLE; :'
	umount sub
	no_hole
	[ "${lines[0]}" = x ]
}

@test "the current folder that the box does not have is explained" {
	local dir
	dir=$(mktemp -d /tmp/agentbox-test.XXXXXX)
	cd "$dir"
	agentbox run --workspace "$WORKSPACE" -- sh -c 'pwd; echo x >file'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "$WORKSPACE" ]
	[ -e "$WORKSPACE/file" ]
	cd "$WORKSPACE"
	rm -rf "$dir"
	agentbox run --deny-read "$HOME" -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"$WORKSPACE"* ]]
}

@test "a writable path in a denied folder stays closed, and that is said" {
	mkdir -p secret/part open
	agentbox run --deny-read "$PWD/secret" --write "$PWD/secret/part" -- \
		sh -c 'echo x >secret/part/f || echo closed; echo x >open/f && echo fine'
	[[ "$output" == *"secret/part is not writable"* ]]
	[[ "$output" == *closed* ]]
	[[ "$output" == *fine* ]]
	[ ! -e secret/part/f ]
}
