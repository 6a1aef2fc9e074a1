#
# User namespaces inside the box: denied, told by name, and what --allow-userns gives.
UNJUDGED=1
load helpers
load attack/attack

setup_file()
{
	attack_build userns
}

teardown_file()
{
	attack_clean
}

setup()
{
	box_setup
	only_user
	need userns
	need landlock:1
}

@test "a sandbox inside the box is denied by name, once, and on record" {
	need program:bwrap
	agentbox_split run --result "$TEST_DIR/result" -- sh -c '
		for i in 1 2; do bwrap --ro-bind / / --unshare-all true && echo HOLE; done
		exit 3'
	[ "$status" -eq 3 ]
	no_hole
	[ "$(grep -c 'bwrap (pid [0-9]*) wanted a new namespace: the box denies mount namespaces' <<<"$stderr")" -eq 1 ]
	[[ "$stderr" == *"2 system calls were denied"*"the box denies mount namespaces"*"2 times"* ]]
	jq -e 'any(.violations[]; .rule == "namespaces" and .call == "clone")' "$TEST_DIR/result"
	agentbox why
	[[ "$output" == *"the box denies mount namespaces"*"switch it off"* ]]
	# A thing of everyday use that forks and makes threads tells nothing.
	agentbox_split run -- python3 -c 'import subprocess, threading
t = threading.Thread(target=subprocess.run, args=(["true"],)); t.start(); t.join(); print("fine")'
	[ "$output" = fine ]
	[ -z "$stderr" ]
}

@test "user namespaces are denied, and --allow-userns gives them and gives up user-ns" {
	agentbox_split run -v -- unshare --user --map-root-user --net --pid --fork id -u
	[ "$status" -ne 0 ]
	[[ "$stderr" == *"in force: user-ns "* ]]
	[[ "$stderr" == *"unshare (pid "*"the box denies user namespaces"*"--allow-userns"* ]]
	agentbox_split run -v --allow-userns --result "$TEST_DIR/result" -- \
		unshare --user --map-root-user --net --pid --fork id -u
	[ "$status" -eq 0 ]
	[ "$output" = 0 ]
	[[ "$stderr" != *"in force: user-ns"* ]]
	[[ "$stderr" == *"guarantees given up: user-ns (--allow-userns)"* ]]
	[[ "$stderr" != *denied* ]]
	jq -e '.assurance.given_up == ["user-ns"] and .assurance.missing == [] and
		(.assurance.holds | index("user-ns") == null and index("write-fence") != null)' "$TEST_DIR/result"
	agentbox log
	[[ "$output" == *"given up user-ns (--allow-userns)"* ]]
	agentbox run --dry-run --allow-userns -- true
	[[ "$output" == *"given up: user-ns (--allow-userns)"* ]]
	agentbox run --allow-userns --require user-ns -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *'missing guarantees: user-ns (given up: userNamespaces is "allow")'* ]]
}

@test "a project cannot allow user namespaces before you trust it, and your own file can" {
	echo '{ "userNamespaces": "allow" }' >.agentbox.json
	agentbox run -- unshare --user true
	[ "$status" -ne 0 ]
	rm .agentbox.json
	mkdir -p "$HOME/.config/agentbox"
	echo '{ "userNamespaces": "allow" }' >"$HOME/.config/agentbox/config.json"
	agentbox run --yes -- unshare --user true
	[ "$status" -eq 0 ]
	agentbox doctor
	[[ "$output" == *"guarantees given up: user-ns (~/.config/agentbox/config.json:1)"* ]]
	# A run inside can take it back.
	echo '{}' >"$TEST_DIR/plain.json"
	agentbox run --yes -- "$AGENTBOX" run --yes --fallback warn --config "$TEST_DIR/plain.json" -- unshare --user true
	[ "$status" -eq 1 ]
	agentbox run --yes -- "$AGENTBOX" run --yes -- unshare --user true
	[ "$status" -eq 0 ]
}

@test "with every capability in a namespace of its own, a process takes no wall off" {
	make_repo
	mkdir -p "$HOME/.ssh" "$HOME/.gnupg" "$HOME/outside"
	echo key | tee "$HOME/.ssh/id_rsa" >"$HOME/.gnupg/key"
	export MASKED_FILE="$HOME/.ssh/id_rsa" MASKED_FOLDER="$HOME/.gnupg" WORK="$PWD" OUTSIDE="$HOME/outside"
	agentbox_split run --allow-userns --home readonly --processes 60 -- "$ATTACK/userns"
	[ "$status" -eq 0 ]
	expect <<-END
	enter: ok
	umount-mask: EPERM
	cover-mask: EPERM
	bind-root: EPERM
	remount: EPERM
	share-mounts: EPERM
	clone-tree: EPERM
	new-proc: EPERM
	set-attributes: EPERM
	swap-roots: EPERM
	enter-namespace: EPERM
	mount-namespace: EPERM
	ipc-namespace: EPERM
	uts-namespace: EPERM
	all-namespaces: EPERM
	raw-socket: EPERM
	packet-socket: EAFNOSUPPORT
	firewall: EPROTONOSUPPORT
	device: EPERM
	host-name: EPERM
	bpf: EPERM
	other-user: EINVAL
	trace-init: EPERM
	init-memory: EACCES
	init-root: EACCES
	sysctl: EROFS
	read-secret: EACCES
	list-secrets: EACCES
	write-outside: EROFS
	write-config: EROFS
	make-protected: EACCES
	make-plain: ok
	root-protected: EACCES
	root-dots: EACCES
	root-plain: ok
	own-number-protected: EACCES
	own-number-plain: ok
	leave-network: ENETUNREACH
	raise-limit: EPERM
	fork-on: EAGAIN
	many-networks: ENOSPC
	END
	absent .envrc "$HOME/outside/made"
	[ -e plain ]
	[ -e other ]
	[ -e third ]
	# Without the option not even the first step succeeds.
	agentbox_split run -- "$ATTACK/userns" enter
	[ "$output" = "enter: EPERM" ]
}

@test "in a box that stays, each command is told about, and may create user namespaces if allowed" {
	agentbox run -q --keep --name plain -- true
	agentbox run -q --keep --name open --allow-userns -- true
	agentbox run --in plain -- unshare --user true
	[ "$status" -ne 0 ]
	[[ "$output" == *"the box denies user namespaces"* ]]
	agentbox run --in open -- unshare --user --map-root-user id -u
	[ "$output" = 0 ]
	agentbox stop --grace 0s plain open
}
