# root-in-turn: root gives up capabilities that a user never had
load helpers

# What the doctor must not be: a list of version numbers. Each failure here is
# made, and each has a row that says it and a run where it is well.

# doctor_json [ARG...]: the diagnosis in $output, checked to be one JSON object.
doctor_json()
{
	agentbox_split doctor --json "$@"
	jq -e . <<<"$output" >/dev/null
}

# row NAME: "result seen" of that row, a line for each.
row()
{
	jq -r --arg name "$1" \
		'.checks[] | select(.name == $name) | "\(.result) \(.seen)"' <<<"$output"
}

remedy()
{
	jq -r --arg name "$1" \
		'.checks[] | select(.name == $name) | .remedy // ""' <<<"$output"
}

# without_userns CMD...: where user.max_user_namespaces is 0, as this user.
without_userns()
{
	unshare --user --map-current-user --keep-caps sh -c '
		echo 0 >/proc/sys/user/max_user_namespaces || exit 99
		exec "$@"' sh "$@"
}

# restricted CMD...: where a user namespace can be made and not used, and the
# switch of AppArmor is on. The /proc there is only a picture of one.
# PROFILES: a folder that is /etc/apparmor.d there.
restricted()
{
	unshare --user --map-root-user --mount sh -c '
		if [ -n "$PROFILES" ]; then
			mount -t tmpfs none /etc && cp -r "$PROFILES" /etc/apparmor.d
		fi &&
		mount -t tmpfs none /proc &&
		mkdir -p /proc/self /proc/sys/kernel &&
		touch /proc/self/setgroups /proc/self/uid_map /proc/self/gid_map &&
		chmod 0444 /proc/self/* && ln -s "$1" /proc/self/exe &&
		echo 1 >/proc/sys/kernel/apparmor_restrict_unprivileged_userns &&
		exec "$@"' sh "$@"
}

nothing_planted()
{
	[ -z "$(find /tmp /dev/shm -maxdepth 1 -user "$(id -u)" \
		\( -name 'agentbox-planted-*' -o -name 'agentbox-inside-*' \))" ]
}

# can_run_all SUMMARY: only root may lack something: without a cgroup the profile ci has no limits.
can_run_all()
{
	[ "$1" = "this machine can run every profile" ] ||
		[ "$(id -u) $1" = "0 this machine cannot run these profiles: ci (limits)" ]
}

@test "doctor: this machine can run every profile" {
	need userns
	need landlock:1
	agentbox doctor
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "ok    user namespaces "*"mapped $(id -u)"* ]]
	can_run_all "${lines[-1]}"
	[[ "$output" != *fail* ]]
	[[ "$output" == *"a whole box"*"net-fence"*"write-fence"* ]]
}

@test "doctor: the same as JSON, one object" {
	need userns
	doctor_json
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "$(jq .ok <<<"$output")" = true ]
	can_run_all "$(jq -r .summary <<<"$output")"
	[ "$(jq '[.checks[] | select(.name and .seen and
		(.result | IN("ok", "warn", "fail", "skip")) and has("remedy"))] | length' <<<"$output")" \
		-eq "$(jq '.checks | length' <<<"$output")" ]
	[[ "$(row seccomp)" == "ok filter loads, "*" calls allowed" ]]
	[[ "$(row 'network fence')" == "ok no route out, loopback up" ]]
	[[ "$(row transparent)" == "ok nftables "*" works" ]]
}

@test "doctor: an ABI of Landlock without pathname sockets is a warning" {
	need landlock:1
	doctor_json
	[[ "$(row landlock)" == "ok ABI "*files* ]]
	if have_landlock 9; then
		[[ "$(row landlock)" != *warn* ]]
	else
		[[ "$(row landlock)" == *warn*ABI* ]]
	fi
}

# bats test_tags=root
@test "doctor: root is told what that means" {
	only_root
	doctor_json
	[ "$status" -eq 0 ]
	[[ "$(row user)" == "warn root"* ]]
	[[ "$(remedy user)" == *"ordinary user"* ]]
	have_cgroup || [[ "$(row 'process limit')" == "warn "*root* ]]
}

@test "doctor: an ordinary user is held to the process limit" {
	only_user
	need userns
	doctor_json
	[[ "$(row user)" == "ok uid $(id -u)"* ]]
	[[ "$(row 'process limit')" == "ok "* ]]
	[[ "$(row 'a whole box')" == *limits* ]]
}

@test "doctor: with user namespaces switched off it names the switch" {
	need userns
	run without_userns "$AGENTBOX" doctor
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "warn  user namespaces "*"user.max_user_namespaces=0"*"no-namespaces" ]]
	[[ "${lines[1]}" == *"sysctl -w user.max_user_namespaces="* ]]
	[[ "${lines[-1]}" == "this machine cannot run these profiles: ci ("* ]]
	[[ "$output" == *"ok    seccomp "* ]]
}

@test "doctor: with user namespaces switched off a full box ends with 125 and the remedy" {
	need userns
	run without_userns "$AGENTBOX" run --engine full -- true
	echo "$output"
	[ "$status" -eq 125 ]
	[[ "$output" == *"sysctl user.max_user_namespaces="* ]]
	# Without that demand the next engine is attacked, and does what it says.
	run without_userns "$AGENTBOX" doctor --attack
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"attempts, all stopped; "*" worked, as this engine says"* ]]
	[ -z "$(find "$AGENTBOX_STATE" -name 'trial-*')" ]
}

@test "doctor: namespaces that can be made and not used are AppArmor's doing" {
	need userns
	run --separate-stderr restricted "$AGENTBOX" doctor
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "${lines[0]}" == "warn  user namespaces "*"apparmor_restrict_unprivileged_userns=1"* ]]
	[[ "${lines[1]}" == *"agentbox doctor --fix | sudo tee /etc/apparmor.d/agentbox && sudo apparmor_parser -r /etc/apparmor.d/agentbox" ]]
	run --separate-stderr restricted "$AGENTBOX" doctor --fix
	[ "$status" -eq 0 ]
	[[ "$output" == *"profile agentbox "*"userns,"* ]]
	grep -qF "\"$AGENTBOX\"" <<<"$output"
	[[ "$stderr" == *"sudo apparmor_parser -r /etc/apparmor.d/agentbox"* ]]
}

@test "doctor: a profile that is there twice, not loaded, or for another path is told" {
	need userns
	export PROFILES=$TEST_DIR/profiles
	mkdir "$PROFILES"
	echo "profile agentbox /opt/agentbox flags=(unconfined) { userns, }" >"$PROFILES/agentbox"
	run --separate-stderr restricted "$AGENTBOX" doctor --fix
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	name=${AGENTBOX#/} && name=${name//\//.}
	[[ "$output" == *"profile $name \"$AGENTBOX\""* ]]
	[[ "$stderr" == *"apparmor_parser -r /etc/apparmor.d/$name"* ]]

	echo "$output" >"$PROFILES/$name"
	run --separate-stderr restricted "$AGENTBOX" doctor
	[[ "${lines[1]}" == *"load the profile that is there, as root:  apparmor_parser -r /etc/apparmor.d/$name" ]]
	run --separate-stderr restricted "$AGENTBOX" doctor --fix
	[ "$status" -ne 0 ]
	[ -z "$output" ]
	[[ "$stderr" == *"already: /etc/apparmor.d/$name"*"apparmor_parser -r"* ]]

	echo "\"$AGENTBOX\" { }" >"$PROFILES/zz"
	run --separate-stderr restricted "$AGENTBOX" doctor
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "${lines[0]}" == *"two are for the same path: /etc/apparmor.d/$name and /etc/apparmor.d/zz"* ]]
	[[ "${lines[1]}" == *"apparmor_parser -R /etc/apparmor.d/zz && rm /etc/apparmor.d/zz"* ]]
	# One that is switched off does not count.
	mkdir "$PROFILES/disable" && ln -s ../zz "$PROFILES/disable/zz"
	run --separate-stderr restricted "$AGENTBOX" doctor
	[[ "${lines[0]}" != *"two are"* ]]
}

@test "doctor --fix: the profile is for this very file" {
	mkdir -p "$HOME/my {tools},*"
	cp "$AGENTBOX" "$HOME/my {tools},*/box"
	run --separate-stderr "$HOME/my {tools},*/box" doctor --fix
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"include <tunables/global>"* ]]
	grep -qF "profile agentbox \"$HOME/my \\{tools\\}\\,\\*/box\" flags=(unconfined) {" <<<"$output"
	[ "$(tail -n 2 <<<"$output")" = $'  userns,\n}' ]
}

@test "doctor --fix: where nothing needs fixing it says so, beside the profile" {
	need userns
	agentbox_split doctor --fix
	[ "$status" -eq 0 ]
	[[ "$output" == *userns,* ]]
	[[ "$stderr" == *"not needed here"* ]]
}

@test "doctor --fix: AppArmor's own parser takes the profile" {
	command -v apparmor_parser >/dev/null || skip "apparmor_parser is not installed"
	[ -e /etc/apparmor.d/abi/4.0 ] || skip "its version does not know the restriction"
	agentbox_split doctor --fix
	apparmor_parser --skip-kernel-load --skip-cache <<<"$output"
}

@test "doctor: a state folder that cannot be used is a failure with a remedy" {
	mkdir -m 0777 "$TEST_DIR/open"
	AGENTBOX_STATE=$TEST_DIR/open doctor_json
	[ "$status" -eq 1 ]
	[[ "$(row 'state folder')" == "fail others can write to $TEST_DIR/open" ]]
	[[ "$(remedy 'state folder')" == *"chmod 700 $TEST_DIR/open"* ]]
	[[ "$(row 'a whole box')" == "skip "* ]]
	[[ "$(jq -r .summary <<<"$output")" == *"state folder"* ]]
	echo file >"$TEST_DIR/file"
	AGENTBOX_STATE=$TEST_DIR/file doctor_json
	[ "$status" -eq 1 ]
	[[ "$(row 'state folder')" == fail* ]]
}

@test "doctor: a configuration that is wrong is a failure, a right one is counted" {
	mkdir -p "$HOME/.config/agentbox"
	echo '{"network": {"modes": "blocked"}}' >"$HOME/.config/agentbox/config.json"
	doctor_json
	[ "$status" -eq 1 ]
	[[ "$(row configuration)" == "fail "*"network.modes"* ]]
	[[ "$(remedy configuration)" == *"agentbox config check"* ]]
	echo '{"network": {"mode": "blocked"}}' >"$HOME/.config/agentbox/config.json"
	doctor_json
	[[ "$(row configuration)" == "ok 1 file, valid" ]]
}

@test "doctor: a profile that asks for more than there is cannot run, by name" {
	need userns
	have_landlock 9 && skip "this kernel has what the test wants to lack"
	mkdir -p "$HOME/.config/agentbox/profiles"
	echo '{"extends": "ci", "network": {"mode": "allowed"},
		"assurance": {"require": ["ipc-fence-late"], "fallback": "strict"}}' \
		>"$HOME/.config/agentbox/profiles/stern.json"
	doctor_json
	[ "$status" -eq 0 ]
	[[ "$(jq -r .summary <<<"$output")" == "this machine cannot run these profiles: "*"stern (ipc-fence-late"* ]]
}

@test "doctor: it works in the home folder and leaves nothing there" {
	need userns
	cd "$HOME"
	host_snapshot --no-times . >"$TEST_DIR/before"
	agentbox doctor
	[ "$status" -eq 0 ]
	host_snapshot --no-times . | diff "$TEST_DIR/before" -
	[ -z "$(ls -A "$AGENTBOX_STATE/live")" ]
	[ -z "$(find "$AGENTBOX_STATE" -name 'trial-*')" ]
}

@test "doctor: what a killed one left is swept, what a live one uses is not" {
	need userns
	mkdir -p -m 0700 "$AGENTBOX_STATE"/trial-dead/home/x "$AGENTBOX_STATE"/trial-live/home
	mkdir -m 0000 "$AGENTBOX_STATE/trial-dead/home/x/closed"
	ln -s "$HOME" "$AGENTBOX_STATE/trial-dead/link"
	touch "$HOME/stays"
	flock "$AGENTBOX_STATE/trial-live" "$AGENTBOX" doctor >/dev/null
	[ ! -e "$AGENTBOX_STATE/trial-dead" ]
	[ -d "$AGENTBOX_STATE/trial-live/home" ]
	[ -e "$HOME/stays" ]
}

@test "doctor: inside a box it says so" {
	need userns
	agentbox run -- "$AGENTBOX" doctor
	[ "$status" -eq 0 ]
	[[ "$output" == *"skip  user namespaces "*"inside a box"* ]]
	[ "${lines[-1]}" = "inside a box, a run can only tighten it" ]
	agentbox run -- "$AGENTBOX" doctor --attack
	[ "$status" -eq 2 ]
}

@test "doctor: wrong arguments are mistakes" {
	agentbox doctor --atack
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean --attack"* ]]
	agentbox doctor now
	[ "$status" -eq 2 ]
	agentbox doctor --fix --json
	[ "$status" -eq 2 ]
}

@test "doctor --attack: every wall holds" {
	need userns
	need landlock:6
	host_snapshot --no-times "$HOME" >"$TEST_DIR/before"
	agentbox doctor --attack
	[ "$status" -eq 0 ]
	[[ "$output" != *BROKEN* ]]
	[[ "${lines[-1]}" =~ ^[0-9]+" attempts, all stopped" ]]
	[ "$(grep -c '^  stopped ' <<<"$output")" -ge 180 ]
	for wall in files mounts processes users network "services of the host" \
		"system calls" terminal limits environment secrets containers "afterwards, outside"; do
		grep -qxF "$wall" <<<"$output"
	done
	host_snapshot --no-times "$HOME" | diff "$TEST_DIR/before" -
	[ -z "$(find "$AGENTBOX_STATE" -name 'trial-*')" ]
	nothing_planted
}

# outcomes WALL: how often each result is there, of the last doctor --attack --json.
outcomes()
{
	jq -r --arg wall "$1" '.attempts[] | select(.wall == $wall) | .result' <<<"$output" | sort | uniq -c |
		tr -s ' \n' ' '
}

@test "doctor --attack: servers of its own lie to the proxy and the container filter, without a network" {
	need userns
	need landlock:6
	# Not even a loopback address but the first, and no name server.
	run unshare --user --map-current-user --net --keep-caps sh -c 'ip link set lo up && exec "$@"' sh \
		"$AGENTBOX" doctor --attack --json
	[ "$status" -eq 0 ]
	[ "$(outcomes secrets)" = " 20 held " ]
	[ "$(outcomes containers)" = " 4 held " ]
	[ "$(jq -r '.attempts[] | select(.name == "servers that the box may ask" or .name == "the container engine") |
		"\(.result) \(.seen)"' <<<"$output")" = "held only what is allowed
held only judged requests" ]
	[ -z "$(processes_left)" ]
	# Where no box can have the filter, the rest is tried, and that is said.
	run without_userns "$AGENTBOX" doctor --attack --json
	[ "$status" -eq 0 ]
	[ "$(outcomes secrets)" = " 20 held " ]
	[ "$(outcomes containers)" = " 4 untried " ]
	[ "$(jq -r '.attempts[] | select(.wall == "containers").seen' <<<"$output" | uniq)" = \
		"no box with a container filter starts here: engine no-namespaces: the filter of a container engine listens in a private folder, which needs a mount" ]
}

# disturbed all|tcp|word [ARG]: doctor --attack with the network to itself, beside attack/disturb.py. With "all" that
# is another user.
disturbed()
{
	local as=() space=(unshare --user --map-current-user --net --keep-caps)
	[ "$(id -u)" -ne 0 ] || space=(unshare --net)
	[ "$1" != all ] || as=(setpriv --reuid 23555 --regid 23555 --clear-groups)

	chmod go+x "$TEST_DIR"
	install -d -m 1777 "$TEST_DIR/said"
	rm -f "$TEST_DIR/said/all"
	cp "$ROOT/test/attack/disturb.py" "$TEST_DIR/said"
	run "${space[@]}" sh -c '
		ip link set lo up || exit 99
		said=$2 program=$1
		shift 2
		"$@" 2>>"$said.errors" &
		timeout 120 "$program" doctor --attack --json
		status=$?
		kill $!
		exit $status' sh "$AGENTBOX" "$TEST_DIR/said/all" "${as[@]}" \
		python3 "$TEST_DIR/said/disturb.py" "$TEST_DIR/said/all" "$@" 3>&-
	echo "$output" | jq -c '.attempts[] | select(.result == "broken")'
	cat "$TEST_DIR/said"/all*
	sort -u "$TEST_DIR/said/all" >"$TEST_DIR/did"
}

# bats test_tags=root
@test "doctor --attack: other users of the machine change no verdict" {
	need userns
	need landlock:6
	local how=tcp
	[ "$(id -u)" -ne 0 ] || how=all
	disturbed $how
	[ "$status" -eq 0 ]
	[ "$(jq '.attempts | map(select(.result == "broken")) | length' <<<"$output")" -eq 0 ]
	[ "$(outcomes secrets)" = " 20 held " ]
	[ "$(outcomes containers)" = " 4 held " ]
	for what in 'tcp 0' 'tcp 1' 'tcp 2' 'tcp 3'; do
		grep -qxF "$what" "$TEST_DIR/did"
	done
	if [ $how = all ]; then
		for what in unix 'file /tmp' 'file /dev/shm' process; do
			grep -qxF "$what" "$TEST_DIR/did"
		done
		find /tmp /dev/shm -maxdepth 1 -user 23555 -name 'agentbox-inside-*' -delete
	fi
	# The twin: who knows the word is the box, or comes through our proxy.
	disturbed word "$AGENTBOX_STATE/trial-*/home/project/word"
	[ "$(jq -r '.attempts[] | select(.result == "broken") | "\(.wall): \(.name)"' <<<"$output")" = \
"afterwards, outside: sockets of the host
afterwards, outside: servers that the box may ask" ]
}

@test "doctor --attack: the same as JSON, one object" {
	need userns
	agentbox_split doctor --attack --json
	[ "$status" -eq 0 ]
	[ "$(jq .ok <<<"$output")" = true ]
	[ "$(jq '.attempts | length' <<<"$output")" -ge 180 ]
	[ "$(jq -r '.attempts[].result' <<<"$output" | sort -u | grep -vxE 'held|untried')" = "" ]
	only_user
	[ "$(jq -r '.attempts[] | select(.name == "a fork bomb") | .result' <<<"$output")" = held ]
}

@test "doctor --attack: on a terminal it leaves the terminal alone" {
	need userns
	need program:tmux
	tty_run sh -c 'before=$(stty -g)
		"$1" doctor --attack | tail -n 1
		[ "$(stty -g)" = "$before" ] && echo as before' sh "$AGENTBOX"
	[ "$status" -eq 0 ]
	[[ "$output" == *"attempts, all stopped"*"as before"* ]]
}

@test "doctor --attack: a signal ends it, and leaves nothing" {
	need userns
	for delay in 0.005 0.02 0.05; do
		timeout --signal=INT "$delay" "$AGENTBOX" doctor --attack >/dev/null 3>&- || true
		[ -z "$(find "$AGENTBOX_STATE" -name 'trial-*')" ]
	done
	nothing_planted
	[ -z "$(processes_left)" ]
}

# Who tries one attempt after the other: those that it forks have the same name and end at once.
attacker()
{
	local pid

	for pid in $(our_processes | awk '$3 ~ /^aba-/ { print $1 }'); do
		! grep -qsx 'NSpid:.*[[:space:]]2' "/proc/$pid/status" || { echo "$pid"; return 0; }
	done
	return 1
}

# A shell starts background jobs with the signal ignored. An attack that ends before it is stopped is begun again.
start_attack_and_stop_it()
{
	local tries

	for ((tries = 0; tries < 20; tries++)); do
		env --default-signal=INT "$AGENTBOX" doctor --attack >"$TEST_DIR/said" 2>&1 3>&- &
		pid=$!
		wait_for 60 attacker >/dev/null && attacker=$(attacker) && kill -STOP "$attacker" &&
			wait_for 10 stopped "$attacker" && return 0
		wait "$pid" || true
	done
	return 1
}

stopped()
{
	grep -qx 'State:.*T (stopped)' "/proc/$1/status"
}

# told_to_end PID: SIGTERM waits for it.
told_to_end()
{
	grep -qx 'ShdPnd:.*[4-7c-f]...' "/proc/$1/status"
}

@test "doctor --attack: a signal to it alone ends its box" {
	need userns
	local pid attacker ended=0
	start_attack_and_stop_it
	kill -INT "$pid"
	wait_for 60 told_to_end "$attacker"
	kill -CONT "$attacker"
	wait "$pid" || ended=$?
	[ "$ended" -eq 130 ]
	[ ! -s "$TEST_DIR/said" ]
	[ -z "$(find "$AGENTBOX_STATE" -name 'trial-*')" ]
	nothing_planted
	[ -z "$(processes_left)" ]
}

@test "doctor --attack: a signal that it ignores does not end it" {
	need userns
	local pid ended=0
	env --ignore-signal=INT "$AGENTBOX" doctor --attack >"$TEST_DIR/said" 2>&1 3>&- &
	pid=$!
	wait_for 60 attacker >/dev/null
	kill -INT "$pid"
	wait "$pid" || ended=$?
	[ "$ended" -eq 0 ]
	[[ "$(cat "$TEST_DIR/said")" == *"attempts, all stopped"* ]]
}

@test "doctor --attack: killed, it leaves nothing but a folder that the next one sweeps" {
	need userns
	for delay in 0.005 0.02 0.05; do
		timeout --signal=KILL "$delay" "$AGENTBOX" doctor --attack >/dev/null 3>&- || true
	done
	wait_for 90 nothing_planted
	[ -z "$(processes_left)" ]
	agentbox doctor
	[ "$status" -eq 0 ]
	[ -z "$(find "$AGENTBOX_STATE" -name 'trial-*')" ]
}

@test "doctor --attack: its inside does nothing outside a box" {
	agentbox agentbox-trial-attack "$TEST_DIR" "$HOME" tag "1 1 1 1"
	[ "$status" -eq 2 ]
	[[ "$output" == *"unknown command"* ]]
}

# The attempts against almost no walls: what the attack calls held must be able
# to break. The reports are 4 bytes of index, 4 of result, 160 of text.
@test "doctor --attack: where the walls are missing it says so" {
	need userns
	base=$TEST_DIR/weak
	mkdir -p "$base"/{outside,state,dev,home/.ssh,home/.aws} \
		"$base"/home/project/{,1/2/3/4/5/6/7/8/9/,node_modules/m/}.git/{hooks,rebase-merge} \
		"$base"/home/{shared,.pip}
	echo key | tee "$base"/home/.ssh/{id_ed25519,known_hosts} "$base"/home/{.netrc,.bashrc} \
		"$base"/home/.aws/credentials "$base"/outside/target "$base"/state/record \
		"$base"/home/project/{,1/2/3/4/5/6/7/8/9/,node_modules/m/}.git/config \
		"$base"/home/project/{second.inc,.git/rebase-merge/git-rebase-todo} >/dev/null
	ln "$base/home/project/.git/config" "$base/home/project/alias"
	echo planted-login | tee "$base"/home/{.npmrc,.pip/pip.conf} >/dev/null
	PLANTED_TOKEN=x PLANTED_HARMLESS=1 SSH_AUTH_SOCK=x timeout 60 \
		unshare --user --map-root-user --mount --pid --fork --mount-proc sh -c '
		mount -t tmpfs none /tmp &&
		cd "$1" && mount -t tmpfs none dev && mkdir dev/shm &&
		for device in null zero tty; do
			touch dev/$device && mount --bind /dev/$device dev/$device || exit
		done
		touch dev/agentbox && mount --rbind dev /dev && cd home/project || exit
		"$2" agentbox-trial-attack "$1" "$3" tagtag "999999 9 9 99"
		exit $?	# a shell stays as process 1
	' sh "$base" "$AGENTBOX" "$HOME" >reports </dev/null 3>&-
	python3 - reports <<-'PYTHON'
	import struct, sys
	data = open(sys.argv[1], "rb").read()
	broken = {i for i, hold, _ in struct.iter_unpack("II160s", data) if hold == 1}
	print(len(data) // 168, "attempts,", len(broken), "broken")
	sys.exit(len(data) % 168 != 0 or len(broken) < 84)
	PYTHON
}

@test "doctor --attack: a state folder that the box would hide is refused" {
	AGENTBOX_STATE=/tmp/agentbox-attack-$$ agentbox doctor --attack
	rm -rf "/tmp/agentbox-attack-$$"
	[ "$status" -eq 2 ]
	[[ "$output" == *"below /tmp"* ]]
	[[ "$output" == *AGENTBOX_STATE* ]]
}
