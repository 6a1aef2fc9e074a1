# Any system call of any process of a command fails, or the process that makes it is killed:
# test/fault.c does it. The state folder and the workspace are on one mount in memory, or on two. A
# good end is the state before, the state after, or what the command said; and the next command is right.
# unsanitized: the fault program is not built, and a sanitizer's calls are not ours
UNJUDGED=1
load helpers

errors=(EIO ENOSPC ENOMEM EACCES EMFILE EINTR EPERM)

setup()
{
	box_setup
	umask 022
	fault=${AGENTBOX%/cmd/*}/test/agentbox-fault witness=${AGENTBOX%/cmd/*}/test/agentbox-witness
	[ -x "$fault" ] && [ -x "$witness" ] || lacks "the fault program is not built"
	# Which part of the range is tried.
	export fault witness start=$RANDOM seconds=2 bound=580
	[ -z "${AB_ALL:-}" ] || seconds= bound=7100
	echo "# start=$start"
}

# in_memory near|far FUNCTION...: call it where the state folder and the workspace are on one mount,
# or on two.
in_memory()
{
	need userns
	mkdir "$TEST_DIR/memory"
	export AGENTBOX_STATE=$TEST_DIR/memory/state WORKSPACE=$TEST_DIR/memory/project TEST_DIR AGENTBOX
	{
		declare -f
		declare -p errors changes walls leave_login ROOT
	} >"$TEST_DIR/functions"
	run timeout --kill-after=5 "$bound" unshare --user --map-current-user --keep-caps --mount bash -c '
		mount -t tmpfs -o mode=700 memory "$TEST_DIR/memory" || exit 1
		mkdir -m 700 "$AGENTBOX_STATE"
		mkdir "$WORKSPACE"
		if [ "$1" = far ]; then mount -t tmpfs -o mode=755 memory "$WORKSPACE" || exit 1; fi
		shift
		exec setpriv --inh-caps=-all --ambient-caps=-all bash -euc "
			. \"\$TEST_DIR/functions\"
			cd \"\$WORKSPACE\"
			\"\$@\"" bash "$@"' bash "$@" 3>&-
	echo "$output"
	[ "$status" -eq 0 ]
}

fail()
{
	printf 'after %s %s%s (%s): %s\n' "${error:-}" "${k:-}" "${second:+, in the recovery $second}" "$(hit)" "$1"
	printf '[status %s]\n%s\n' "${status:-}" "${output:-}"
	[ -z "${next:-}" ] || printf 'next command: %s\n' "$next"
	exit 1
}

hit()
{
	cat "$TEST_DIR/hit" 2>/dev/null
}

# ab ARG...: the program; sets $status and $output.
ab()
{
	status=0
	output=$(timeout --kill-after=5 60 "$AGENTBOX" "$@" </dev/null 2>&1) || status=$?
}

# faulty ARG...: the same with $error at call $k; with $call, only those of $process count.
faulty()
{
	status=0
	output=$(timeout --kill-after=5 60 "$fault" ${after:+-f "$after"} ${call:+-c "$call" -p "$process"} \
		-k "$k" -e "$error" -o "$TEST_DIR/hit" "$AGENTBOX" "$@" </dev/null 2>&1) || status=$?
	[ "$status" -ne 124 ] || fail "it hangs"
}

# calls ARG...: how many there are without a fault.
calls()
{
	"$fault" ${after:+-f "$after"} ${call:+-c "$call" -p "$process"} -o "$TEST_DIR/hit" "$AGENTBOX" "$@" \
		</dev/null >/dev/null 2>&1 || true
	cut -d' ' -f1 "$TEST_DIR/hit"
}

# positions TOTAL kills|errors FUNCTION: call it for each position, in steps through the whole range, until
# the time is up; with $seconds empty for all of them.
positions()
{
	local total=$1 kind=$2 what=$3 i step=$((${1:-0} * 382 / 1000 | 1)) end

	tried=0
	[ "$total" -gt 20 ]
	while [ "$(gcd "$total" "$step")" -ne 1 ]; do
		step=$((step + 2))
	done
	end=$((SECONDS + ${seconds:-100000}))
	for ((i = 0; i < total; i++)); do
		[ $SECONDS -lt $end ] || break
		k=$(((start + i * step) % total + 1))
		error=KILL
		[ "$kind" = kills ] || error=${errors[(start + i) % ${#errors[@]}]}
		"$what"
		tried=$((tried + 1))
	done
	echo "$tried of $total positions"
	[ $tried -gt 0 ]
}

gcd()
{
	local a=$1 b=$2

	while [ "$b" -ne 0 ]; do
		set -- $((a % b))
		a=$b b=$1
	done
	echo "$a"
}

# ------------------------------------------------------------------ the files

# Types, modes, sizes, times, targets, contents. The time of a folder changes with the names in it.
tree()
{
	find . ! -type d -printf '%p %y %m %s %T@ %l\n' >"$TEST_DIR/tree"
	find . -type d -printf '%p %y %m\n' >>"$TEST_DIR/tree"
	find . -path './docs*' -type d -printf '%p %T@\n' >>"$TEST_DIR/tree"
	find . -type f -exec cksum {} + >>"$TEST_DIR/tree"
	LC_ALL=C sort "$TEST_DIR/tree"
}

make_host()
{
	local n

	mkdir src old docs docs/deep
	echo 1 >a
	echo 1 >src/b
	echo 1 >src/c
	echo 1 >old/f
	ln -s a link
	for n in 1 2 3 4 5 6 7 8; do
		echo "$n" >docs/$n
	done
	echo deep >docs/deep/f
	chmod 600 docs/1
	chmod 755 docs/2
	chmod 500 docs/deep
	chmod 2750 docs
	touch -d @1000000 a docs/3 docs/deep docs
	before=$(tree)
}

# make_layer KEY SCRIPT: a set of layers in which SCRIPT was run above the workspace.
make_layer()
{
	local set=$AGENTBOX_STATE/layers/$1 now

	mkdir -p -m 700 "$AGENTBOX_STATE/layers" "$set"
	mkdir -m 700 "$set/project" "$set/project/work"
	mkdir -m 755 "$set/project/upper"
	sleep 0.02
	now=$(date +%s%N)
	sleep 0.02
	(
		umask 077
		jq -n --arg key "$1" --arg workspace "$WORKSPACE" --arg home "$HOME" --argjson now "$now" '{
			version: 1, key: $key, name: $key, profile: "default", workspace: $workspace,
			home: $home, kernel: "", policy: "", created: $now, started: $now, used: $now,
			runs: [], returns: [], form: "overlay", project: $now, waiting: -1 }' >"$set/meta.json"
		: >"$set/lock"
	)
	unshare --user --map-root-user --mount sh -ec '
		mount -t overlay overlay -o userxattr,lowerdir="$1",upperdir="$2/project/upper",workdir="$2/project/work" "$1"
		cd "$1"
		umask 022
		eval "$3"' sh "$WORKSPACE" "$set" "$2"
}

changes='echo 22 >a; rm -rf docs; mkdir zz zz/y; echo 1 >zz/f; echo 2 >zz/y/g; chmod 700 old
	rm src/c; echo 2 >src/b; mkdir src/n; echo 3 >src/n/h; ln -sf b link'

nothing_left()
{
	[ -z "$(find . -name '.agentbox-*')" ] || fail "left: $(find . -name '.agentbox-*')"
}

# undo_all: take everything back; the last refusal says that there is nothing more.
undo_all()
{
	local i

	for i in 1 2 3 4; do
		next=undo
		ab undo dev
		[ "$status" -eq 0 ] || break
	done
	[[ "$output" == *"no apply to take back"* ]] || fail "undo fails"
	[ "$(tree)" = "$before" ] || fail "the files are not as they were: $(diff <(echo "$before") <(tree))"
	nothing_left
}

apply_all()
{
	next=apply
	ab apply dev --all
	# What could not be recorded as our own change looks like one of the host.
	if [[ "${error:-KILL}" != KILL && "$output" == *"the host changed it since"* ]]; then
		ab apply dev --all --theirs
	fi
	[ "$status" -eq 0 ] || fail "the next apply fails"
	[ "$(tree)" = "$applied" ] || fail "not everything is applied: $(diff <(echo "$applied") <(tree))"
	nothing_left
}

prepare()
{
	make_host
	make_layer dev "$changes"
	ab apply dev --all
	[ "$status" -eq 0 ] || fail "without a fault"
	applied=$(tree)
	next=
}

# whole: all of an apply or nothing of it is on the host, also of a new folder with files in it, or the
# command says what it left.
whole()
{
	local now=$(tree)

	[ "$error" = KILL ] || [ "$now" = "$before" ] || [ "$now" = "$applied" ] ||
		[[ "$output" == *"next command"* || "$output" == *left:* || "$output" == *"is left:"* ]] ||
		fail "half of it: $(diff <(echo "$before") <(echo "$now"))"
}

# told: a command that failed said so; one that did not has done all of its work.
told()
{
	[ "$error" != KILL ] || return 0
	if [ "$status" -eq 0 ]; then
		[ "$(tree)" = "$1" ] || fail "status 0, but: $(diff <(echo "$1") <(tree))"
	else
		[[ "$output" == *agentbox:* || "$output" == *left:* ]] || fail "nothing is said"
	fi
}

# ------------------------------------------------------------------ apply, undo, discard

try_apply()
{
	next=
	faulty apply dev --all
	told "$applied"
	whole
	apply_all
	undo_all
}

apply_with()
{
	prepare
	undo_all
	after=1
	positions "$(calls apply dev --all; ab undo dev)" "$1" try_apply
}

try_undo()
{
	apply_all
	next=
	faulty undo dev
	# The one before needs another undo.
	[[ "$output" == *earlier* ]] || told "$before"
	undo_all
}

undo_with()
{
	prepare
	after=1
	positions "$(calls undo dev)" "$1" try_undo
}

# recover_killed: the next command completes what was killed or takes it back, and is killed, too; so is the
# one after it.
recover_killed()
{
	local k=$k

	for second in $((k * 131 % range + 1)) $((k * 37 % range + 1)); do
		k=$second
		faulty diff dev
	done
}

# how_many COMMAND: the calls of a command that recovers, when COMMAND was killed at most of its calls.
how_many()
{
	local k most=0 all

	all=$(calls "$1" dev ${2:+"$2"})
	[ "$1" = undo ] || ab undo dev
	for k in $((all / 3)) $((all / 2)) $((all * 3 / 4)); do
		[ "$1" = apply ] || apply_all
		error=KILL
		faulty "$1" dev ${2:+"$2"}
		range=$(calls diff dev)
		most=$((range > most ? range : most))
		undo_all
	done
	range=$most
	echo "$range calls of a recovery"
	[ "$range" -gt 20 ]
}

try_apply_twice()
{
	next=
	faulty apply dev --all
	recover_killed
	apply_all
	undo_all
}

apply_twice()
{
	prepare
	undo_all
	after=1
	how_many apply --all
	positions "$(calls apply dev --all; ab undo dev)" kills try_apply_twice
}

try_undo_twice()
{
	apply_all
	next=
	faulty undo dev
	recover_killed
	undo_all
}

undo_twice()
{
	prepare
	after=1
	how_many undo
	apply_all
	positions "$(calls undo dev)" kills try_undo_twice
}

# The host stays as it is, and what was not discarded stays in the layer.
try_discard()
{
	local left

	faulty discard dev --yes src a
	[ "$(tree)" = "$before" ] || fail "the files changed: $(diff <(echo "$before") <(tree))"
	told "$before"
	next=discard
	if [ "$status" -ne 0 ] || [ "$error" = KILL ]; then
		ab discard dev --yes src a
		[ "$status" -eq 0 ] || [[ "$output" == *"no change in"* ]] || fail "the next discard fails"
	fi
	next=diff
	ab diff dev --json
	left=$(jq -r '[.changes[].path] | join(" ")' <<<"$output") || fail "no list"
	# One of the two may be gone already, and is then no change any more.
	case $left in
	'docs link old zz zz/f zz/y zz/y/g' | 'a docs link old zz zz/f zz/y zz/y/g' | 'docs link old src/b src/c src/n src/n/h zz zz/f zz/y zz/y/g') ;;
	*) fail "left in the layer: $left" ;;
	esac
	chmod -R u+rwx "$AGENTBOX_STATE/layers/dev"
	rm -rf "$AGENTBOX_STATE/layers/dev"
	make_layer dev "$changes"
}

discard_with()
{
	make_host
	make_layer dev "$changes"
	after=1
	positions "$(calls discard dev --yes src a)" "$1" try_discard
}

# bats test_tags=slow
@test "faults: an apply killed at any call, on one mount" {
	in_memory near apply_with kills
}

@test "faults: an apply killed at any call, across mounts" {
	in_memory far apply_with kills
}

# bats test_tags=slow
@test "faults: a call of an apply that fails, on one mount" {
	in_memory near apply_with errors
}

# bats test_tags=slow
@test "faults: a call of an apply that fails, across mounts" {
	in_memory far apply_with errors
}

# bats test_tags=slow
@test "faults: an undo killed at any call, on one mount" {
	in_memory near undo_with kills
}

# bats test_tags=slow
@test "faults: an undo killed at any call, across mounts" {
	in_memory far undo_with kills
}

# bats test_tags=slow
@test "faults: a call of an undo that fails, on one mount" {
	in_memory near undo_with errors
}

@test "faults: a call of an undo that fails, across mounts" {
	in_memory far undo_with errors
}

@test "faults: an apply killed at any call, and then its recovery, on one mount" {
	in_memory near apply_twice
}

# bats test_tags=slow
@test "faults: an apply killed at any call, and then its recovery, across mounts" {
	in_memory far apply_twice
}

# bats test_tags=slow
@test "faults: an undo killed at any call, and then its recovery, on one mount" {
	in_memory near undo_twice
}

@test "faults: an undo killed at any call, and then its recovery, across mounts" {
	in_memory far undo_twice
}

# bats test_tags=slow
@test "faults: a discard killed at any call, on one mount" {
	in_memory near discard_with kills
}

# bats test_tags=slow
@test "faults: a discard killed at any call, across mounts" {
	in_memory far discard_with kills
}

@test "faults: a call of a discard that fails, on one mount" {
	in_memory near discard_with errors
}

# bats test_tags=slow
@test "faults: a call of a discard that fails, across mounts" {
	in_memory far discard_with errors
}

# ------------------------------------------------------------------ boxes

# A command that tries the walls (test/witness.c) and then works.
walls='"$@"
	echo 22 >a; rm -r docs; echo n >new; echo done'

# make_boxed: the files of a box, and $boxed, its command; what it tries to reach on the host is there. Another
# word is the hook that it tries to write: in a layer it may.
make_boxed()
{
	make_host
	git init -q .
	mkdir "$HOME/.ssh"
	echo key >"$HOME/.ssh/id_ed25519"
	read -r peer port < <("$witness" -l "$TEST_DIR")
	trap "kill $peer" EXIT
	boxed=(sh -c "$walls" sh "$witness" "$TEST_DIR" "$peer" "$port")
	hook=.git/hooks/pre-commit
	witnessed=0
}

# Did the host's process get a signal?
signalled()
{
	local name value

	while read -r name value; do
		[ "$name" = ShdPnd: ] || continue
		[[ ! "$value" =~ ^0+$ ]]
		return
	done <"/proc/$peer/status"
	fail "the process of the host is gone"
}

# walls_hold: nothing got through, as the command saw it and as the host does.
walls_hold()
{
	[[ "$output" != *HOLE* && ! -e "$TEST_DIR/outside" && ! -e $hook ]] && ! signalled || fail "a wall is open"
	[[ "$output" != *tried* ]] || witnessed=$((witnessed + 1))
}

# was_witnessed kills|errors: most calls that fail let the command come as far as that.
was_witnessed()
{
	echo "$witnessed runs tried the walls"
	[ "$1" = kills ] || [ "$witnessed" -ge $((tried / 10)) ]
}

# The call was one of ours, and not of the command or of another program.
ours()
{
	[ "$(cut -d' ' -f3 "$TEST_DIR/hit")" = agentbox ]
}

# A line of ours that is not about what the witness tried, or of the loader of our static program before it begins.
said()
{
	local line

	while read -r line; do
		[[ ! "$line" =~ ^agentbox:\ (agentbox-witnes|[0-9]+\ (file\ access|system\ call)) ]] || continue
		[[ ! "$line" =~ agentbox:\ [^\ ]|"error while loading shared libraries" ]] || return 0
	done <<<"$output"
	return 1
}

sound()
{
	walls_hold
	[ "$error" = KILL ] || [ "$status" -ne 125 ] || said || fail "nothing is said"
	[ "$error" = KILL ] || [ "$status" -eq 0 ] || ! ours || said || fail "no reason is given"
	# A call of the command itself may have failed, and it has many.
	[ "$error" = KILL ] || [ "$status" -ne 0 ] || [[ "$output" == *done* || "$output" == *"access"* ]] ||
		[ ! -e docs ] || [ "$(cat a)" = 22 ] || fail "status 0 and no command"
}

# The witness finds nothing in a box, and outside each hole that it can find.
witness_walls()
{
	local holes='outside hook key socket abstract port mount unshare' call process

	make_boxed
	ab run -- "${boxed[@]}" "$hook"
	[[ "$status" -eq 0 && "$output" == *tried* && "$output" == *done* ]] || fail "in a box"
	walls_hold
	# What the guard takes for a connection that is not made yet, nobody answers.
	call=connect process=agentbox-guard error=EINTR k=$(calls run -- "${boxed[@]}")
	[ "$k" -ge 1 ] || fail "the guard makes no connection"
	for (( ; k > 0; k--)); do
		faulty run -- "${boxed[@]}"
		walls_hold
	done
	output=$(unshare --user --map-root-user --mount "${boxed[@]}" "$hook" 2>&1)
	[ "$output" = "$(printf 'HOLE: %s\n' $holes; printf 'tried\ndone')" ] || fail "outside"
	[[ -e "$TEST_DIR/outside" && -e $hook ]] && signalled || fail "the host"
}

try_review()
{
	next=
	faulty run --review --name t -- "${boxed[@]}"
	sound
	[ "$(tree)" = "$before" ] || fail "the host changed: $(diff <(echo "$before") <(tree))"
	next='run that reads the layer'
	ab run --review --name t -- cat early
	[[ "$status $output" == "0 early"* ]] || fail "the layer has lost something"
}

review_with()
{
	make_boxed
	before=$(tree)
	ab run --review --name t -- sh -c 'echo early >early'
	[ "$status" -eq 0 ] || fail "without a fault"
	positions "$(calls run --review --name t -- "${boxed[@]}")" "$1" try_review
	was_witnessed "$1"
}

try_run()
{
	next=
	faulty run -- "${boxed[@]}" "$hook"
	sound
	[ ! -d docs ] || chmod -R u+w docs
	rm -rf docs new
	mkdir docs
	next='plain run'
	ab run -- sh -c 'echo well'
	[[ "$status $output" == "0 well"* ]] || fail "the next run fails"
}

run_with()
{
	make_boxed
	positions "$(calls run -- "${boxed[@]}" "$hook")" "$1" try_run
	was_witnessed "$1"
}

# fill_quarantine: $id-q1 is from the box, and something is in its place.
fill_quarantine()
{
	rm -rf "$AGENTBOX_STATE/runs" .envrc
	next='run that fills the quarantine'
	ab run --yes -- sh -c 'echo from the box >x; mv x way/.envrc; until [ ! -e .envrc ]; do sleep 0.01; done'
	id=$(ls "$AGENTBOX_STATE/runs")
	[ "$status" -eq 0 ] && [ -e "$AGENTBOX_STATE/runs/$id/quarantine.jsonl" ] ||
		fail "runs: $id; live: $(ls "$AGENTBOX_STATE/live")"
	echo "of the user" >.envrc
}

# What is in the place goes to quarantine, and the other one comes out of it.
try_restore()
{
	local id

	fill_quarantine
	next=
	faulty quarantine restore --yes --force "$id-q1"
	[[ "$(cat .envrc)" == "from the box" || "$(cat .envrc)" == "of the user" ]] || fail "half a file"
	# 127: the start of a static program.
	[ "$error" = KILL ] || [ "$status" -eq 0 ] || [ "$status" -eq 127 ] || [[ "$output" == *agentbox:* ]] ||
		fail "nothing is said"
	[ "$error" = KILL ] || [ "$status" -ne 0 ] || [ "$(cat .envrc)" = "from the box" ] || fail "not restored"
	for text in "of the user" "from the box"; do
		grep -qrxF "$text" .envrc "$AGENTBOX_STATE/runs" || fail "lost: $text"
	done
	next='quarantine list'
	ab quarantine list
	[ "$status" -eq 0 ] || fail "no list"
	rm -f .agentbox-restore-*
}

restore_with()
{
	local id

	ln -s . way
	fill_quarantine
	after=0
	positions "$(calls quarantine restore --yes --force "$id-q1")" "$1" try_restore
}

# The requests of a client are in a file; serve ends with it.
try_serve()
{
	local result

	next=
	status=0
	output=$(timeout --kill-after=5 60 "$fault" ${call:+-c "$call"} -k "$k" -e "$error" -o "$TEST_DIR/hit" \
		python3 "$TEST_DIR/client.py" 2>&1) || status=$?
	[ "$status" -ne 124 ] || fail "it hangs"
	walls_hold
	[[ "$output" != *"exit 125 None"* ]] || fail "no reason is given"
	[ ! -d docs ] || chmod -R u+w docs
	rm -rf docs new
	mkdir docs
	next=serve
	result=$(timeout 60 python3 "$TEST_DIR/client.py" 2>&1) || true
	[[ "$result" == *"exit 0"*done* ]] || fail "the next one fails: $result"
	[ ! -d docs ] || chmod -R u+w docs
	rm -rf docs new
	mkdir docs
}

make_client()
{
	make_boxed
	# In a file of its own: a traceback of Python has the line that failed.
	jq -n '$ARGS.positional' --args -- "${boxed[@]}" "$hook" >"$TEST_DIR/command"
	cat >"$TEST_DIR/client.py" <<-PYTHON
		import json, sys
		sys.path.insert(0, "$ROOT/test")
		from serve_client import Client
		c = Client("$AGENTBOX")
		r = c.result(c.run(argv=json.load(open("$TEST_DIR/command")), cwd="$WORKSPACE"))
		print("exit", r["exit"], r.get("error"), r["stdout"])
		c.close()
	PYTHON
	"$fault" ${call:+-c "$call"} -o "$TEST_DIR/hit" python3 "$TEST_DIR/client.py" >/dev/null 2>&1
	total=$(cut -d' ' -f1 "$TEST_DIR/hit")
}

serve_with()
{
	make_client
	positions "$total" "$1" try_serve
	was_witnessed "$1"
}

# Nothing tells a second time that a child has ended.
wait_with()
{
	local call=waitid

	make_client
	[ "$total" -ge 3 ]
	for error in ENOSPC EINTR; do
		for ((k = 1; k <= total; k++)); do
			try_serve
		done
	done
}

@test "faults: outside of a box the witness of the walls finds every hole" {
	in_memory near witness_walls
}

# bats test_tags=slow
@test "faults: a restore from quarantine killed at any call, on one mount" {
	in_memory near restore_with kills
}

@test "faults: a restore from quarantine killed at any call, across mounts" {
	in_memory far restore_with kills
}

# bats test_tags=slow
@test "faults: a call of a restore from quarantine that fails, on one mount" {
	in_memory near restore_with errors
}

# bats test_tags=slow
@test "faults: a call of a restore from quarantine that fails, across mounts" {
	in_memory far restore_with errors
}

# bats test_tags=slow
@test "faults: a reviewed run killed at any call, on one mount" {
	in_memory near review_with kills
}

# bats test_tags=slow
@test "faults: a reviewed run killed at any call, across mounts" {
	in_memory far review_with kills
}

@test "faults: a call of a reviewed run that fails, on one mount" {
	in_memory near review_with errors
}

# bats test_tags=slow
@test "faults: a call of a reviewed run that fails, across mounts" {
	in_memory far review_with errors
}

# bats test_tags=slow
@test "faults: a run killed at any call, on one mount" {
	in_memory near run_with kills
}

# bats test_tags=slow
@test "faults: a run killed at any call, across mounts" {
	in_memory far run_with kills
}

@test "faults: a call of a run that fails, on one mount" {
	in_memory near run_with errors
}

# bats test_tags=slow
@test "faults: a call of a run that fails, across mounts" {
	in_memory far run_with errors
}

# in_turn NAME STATUS TEXT ARG...: each message of processes with this name that is not sent, alone or with all
# later ones (-a), ends the command with the status and the text.
in_turn()
{
	local name=$1 want=$2 text=$3 all k
	shift 3

	"$fault" -c sendmsg -p "$name" -o "$TEST_DIR/hit" "$AGENTBOX" "$@" </dev/null
	all=$(cut -d' ' -f1 "$TEST_DIR/hit")
	echo "# $all messages: $*"
	[ "$all" -ge 3 ]
	for ((k = 1; k <= all; k++)); do
		run timeout --kill-after=5 60 "$fault" -c sendmsg -p "$name" -k "$k" $later -e ENOMEM \
			-o "$TEST_DIR/hit" "$AGENTBOX" "$@" </dev/null
		echo "$k: $status $output"
		[ "$status" -eq "$want" ]
		[[ "$output" =~ $text ]]
	done
}

@test "faults: a message of the box that cannot be sent ends the run with a reason" {
	need userns
	need landlock:6
	local later options
	for options in "" --trace-denials "--net filtered" "--engine no-namespaces"; do
		later=
		in_turn agentbox-init 125 '^agentbox: send .*: Cannot allocate memory    \(step: ' run $options -- true
		later=-a
		in_turn agentbox-init 125 \
			'^agentbox: the box.s first process ended without a report    \(step: (network|start|init)\)' \
			run $options -- true
	done
}

# What is refused once, in a folder that can be searched, is not taken for absent.
@test "faults: a look at .git that is refused once leaves no hook open" {
	need userns
	local call all k ran
	git init -q .
	for call in newfstatat openat2; do
		ran=0
		"$fault" -c "$call" -p agentbox -o "$TEST_DIR/hit" "$AGENTBOX" run --yes -- true
		all=$(cut -d' ' -f1 "$TEST_DIR/hit")
		[ "$all" -ge 30 ]
		for ((k = 20; k <= all && k < 90; k++)); do
			run timeout 60 "$fault" -c "$call" -p agentbox -k "$k" -e EACCES -o "$TEST_DIR/hit" \
				"$AGENTBOX" run --yes -- sh -c 'echo RAN; echo x >.git/hooks/pre-commit && echo HOOK' </dev/null
			echo "$call $k: $output"
			[[ "$output" != *HOOK* ]]
			[ ! -e .git/hooks/pre-commit ]
			[[ "$output" != *RAN* ]] || ran=$((ran + 1))
		done
		echo "$call: the command ran in $ran runs"
		# Elsewhere the refusal ends the start, as it should.
		[ "$ran" -ge 3 ]
	done
}

# The broker removes what the supervisor cannot: it has locked itself in, or half of that.
@test "faults: a supervisor that cannot lock itself in leaves nothing" {
	need userns
	need landlock:6
	run timeout 120 unshare --user --map-current-user --keep-caps --mount sh -ec '
		mount -t tmpfs -o mode=1777 tmpfs /tmp
		exec setpriv --inh-caps=-all --ambient-caps=-all sh -c "$0" sh "$@"' '
		for k in 0 1; do
			timeout 60 "$1" -c seccomp -p agentbox -k $k -e ENOMEM -o "$2" "$3" run --engine no-namespaces -- \
				sh -c "echo \$TMPDIR" | sed "s/[^.]*$/X/"
			ls -d /tmp/agentbox.*
		done' "$fault" "$TEST_DIR/hit" "$AGENTBOX" </dev/null 3>&-
	echo "$output"
	# It was there while the command ran.
	[ "${lines[0]}" = /tmp/agentbox.X ]
	[ "$(grep -c "cannot access '/tmp/agentbox" <<<"$output")" -eq 2 ]
	[[ "$output" == *"step: supervisor's lock)"* ]]
}

# The proof lowers the limit of processes: a command that kept that limit could not start a program, and would
# not know why.
@test "faults: a limit that cannot be set ends the start with a reason" {
	need userns
	local all k started=0
	"$fault" -c prlimit64 -p agentbox-init -o "$TEST_DIR/hit" "$AGENTBOX" run -- sh -c '(true); echo forked'
	all=$(cut -d' ' -f1 "$TEST_DIR/hit")
	[ "$all" -ge 6 ]
	for ((k = 1; k <= all; k++)); do
		run timeout 60 "$fault" -c prlimit64 -p agentbox-init -k "$k" -e EACCES -o "$TEST_DIR/hit" \
			"$AGENTBOX" run -- sh -c '(true); echo forked' </dev/null
		echo "$k: $status $output"
		case $status in
		0)
			[[ "$output" == *forked* ]]
			started=$((started + 1))
			;;
		125) [[ "$output" =~ ^agentbox:.*(set|missing).*step:\ (limits|proof) ]] ;;
		*) return 1 ;;
		esac
	done
	[ "$started" -lt "$all" ]
}

# The second of these calls sends the rules with the log, the third asks for what it logs.
@test "faults: where the kernel refuses its log of datagrams, they are only counted, and -v says so" {
	need userns
	local k
	for k in 0 2 3; do
		run timeout 60 "$fault" -c sendto -p agentbox -k "$k" -e EPERM -o "$TEST_DIR/hit" "$AGENTBOX" run -v \
			--net filtered -- python3 -c '
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("203.0.113.9", 443))' </dev/null
		echo "$k: $output"
		[ "$status" -eq 0 ]
		[[ "$output" == *net-fence*transparent* ]]
		told=$("$AGENTBOX" log --json | jq -r 'select(.protocol == "udp") | "\(.packets) \(.domain)"')
		if [ "$k" -eq 0 ]; then
			[ "$told" = "1 203.0.113.9" ]
			[[ "$output" != *"only counted"* ]]
		else
			[ "$told" = "1 null" ]
			[[ "$output" == *"denied UDP packets are only counted: the kernel gives no log of them"* ]]
		fi
	done
}

# The first renameat2() of the review would put the file in its place.
@test "faults: an automatic apply that fails says what happened, and the file waits" {
	need userns
	local error review="run --review=auto --name dev -- sh -c"
	for error in EEXIST ESTALE EIO; do
		run timeout 60 "$fault" -c renameat2 -p agentbox-review -k 1 -e "$error" -o "$TEST_DIR/hit" \
			"$AGENTBOX" $review 'echo new >new' </dev/null
		echo "$error: $output"
		[ "$status" -eq 0 ]
		case $error in
		EIO) [ "${lines[0]}" = "agentbox: cannot apply new: Input/output error. Nothing was applied." ] ;;
		*) [ "${lines[0]}" = "agentbox: cannot apply: new changed meanwhile. Nothing was applied." ] ;;
		esac
		[[ "${lines[1]}" == *"see them with: agentbox diff dev" ]]
		[ ! -e new ]
		agentbox diff dev
		[[ "$output" == *new* ]]
	done
	# The same without a fault.
	agentbox $review 'echo new >new'
	[[ "$output" == *"1 change; all applied"* ]]
	[ "$(cat new)" = new ]
}

@test "faults: an answer of the reviewer that cannot be sent is told" {
	need userns
	run timeout --kill-after=5 60 "$fault" -c sendmsg -p agentbox-review -k 1 -e ENOMEM -o "$TEST_DIR/hit" \
		"$AGENTBOX" run --review --name t -- touch new </dev/null 3>&-
	echo "$output"
	[[ "$(cat "$TEST_DIR/hit")" == *"agentbox-review" ]]
	[ "$status" -eq 0 ]
	[[ "$output" == *"the changes wait, but the reviewer has died"*"agentbox diff t"* ]]
	agentbox diff t
	[[ "$output" == *new* ]]
}

# each_answer COMMAND...: each message of the broker that is not sent, with the error: the command ends.
each_answer()
{
	local all k

	"$fault" -c sendmsg -p agentbox-broker -o "$TEST_DIR/hit" "$@" </dev/null >/dev/null
	all=$(cut -d' ' -f1 "$TEST_DIR/hit")
	echo "# $all messages: $*"
	[ "$all" -ge "$least" ]
	for ((k = 1; k <= all; k++)); do
		run timeout --kill-after=5 60 "$fault" -c sendmsg -p agentbox-broker -k "$k" -e ENOMEM \
			-o "$TEST_DIR/hit" "$@" </dev/null
		echo "$k: $status $output"
		# Their number varies.
		[ "$k" -gt 1 ] || [[ "$(cat "$TEST_DIR/hit")" == *agentbox-broker ]]
		ended
	done
}

@test "faults: an answer of the broker that cannot be sent holds no call of the box for ever" {
	need userns
	local least=2
	make_repo
	mkdir d
	ended()
	{
		[[ "$output" == *"went on"* ]]
		# What the broker has done, or a denial of the kernel.
		[[ "$output" == *"as asked"* || "$output" == *"No such file"* || "$output" == *"busy"* ]]
	}
	each_answer "$AGENTBOX" run -- sh -c 'git config user.name box && echo as asked; echo went on'
	ended()
	{
		[[ "$output" == *"went on"* ]]
		[[ "$output" == *"as asked"* || "$output" == *"Invalid cross-device link"* || "$output" == *"No such file"* ]]
	}
	each_answer "$AGENTBOX" run --review --name t -- sh -c 'python3 -c "import os; os.rename(\"d\", \"e\")" &&
		echo as asked; rm -rf d e; mkdir d; echo went on'
}

@test "faults: an answer of a waiting box that cannot be sent costs that box only" {
	need userns
	local least=2
	cat >"$TEST_DIR/client.py" <<-PYTHON
		import sys, time
		sys.path.insert(0, "$ROOT/test")
		from serve_client import Client
		c = Client("$AGENTBOX")
		end = time.time() + 40
		while True:
		    reply = c.ask(do="pool", size=1, cwd="$WORKSPACE")
		    # By others on this machine, such as a socket that a box hides.
		    if reply["ok"] or "has changed" not in reply["error"] or time.time() > end:
		        break
		assert reply["ok"], reply
		r = c.result(c.run(pool=reply["pool"], argv=["echo", "done"]))
		print("exit", r["exit"], r.get("error"), r["stdout"])
		c.close()
	PYTHON
	ended()
	{
		[[ "$output" == *"exit 0"*done* || "$output" == *"exit 125 the broker has died"* ]]
	}
	each_answer python3 "$TEST_DIR/client.py"
}

@test "faults: a wait of serve that fails is made again" {
	in_memory near wait_with
}

# bats test_tags=slow
@test "faults: serve killed at any call, on one mount" {
	in_memory near serve_with kills
}

# bats test_tags=slow
@test "faults: serve killed at any call, across mounts" {
	in_memory far serve_with kills
}

# bats test_tags=slow
@test "faults: a call of serve that fails, on one mount" {
	in_memory near serve_with errors
}

# bats test_tags=slow
@test "faults: a call of serve that fails, across mounts" {
	in_memory far serve_with errors
}

# ------------------------------------------------------------------ logins

# login TOKEN NUMBER
login()
{
	printf '{"claudeAiOauth":{"accessToken":"%s","expiresAt":%s}}' "$1" "$2"
}

# The command of the box: a new login with the placeholder of this run's secret in it, and of one of an earlier run,
# which the kept home has. Neither may come to the host.
leave_login='printf "{\"claudeAiOauth\":{\"accessToken\":\"%s\",\"expiresAt\":%s" "$1" "$2" >~/.claude/.credentials.json
	printf ",\"refreshToken\":\"%s\",\"clientId\":\"%s\"}}" "$(cat ~/.claude/kept)" "$ANTHROPIC_API_KEY" \
		>>~/.claude/.credentials.json; echo done'

# run_claude WHAT TOKEN NUMBER: WHAT is ab, calls or faulty.
run_claude()
{
	"$1" run --profile claude --unknown deny --secret ANTHROPIC_API_KEY -- sh -c "$leave_login" sh "$2" "$3"
}

try_return()
{
	local now

	login old 1 >"$credentials"
	chmod 640 "$credentials"
	next=
	run_claude faulty new 2
	now=$(cat "$credentials")
	[ "$now" = "$(login old 1)" ] || [ "$now" = "$(login new 2)" ] || fail "neither the old nor the new login: $now"
	[ "$(stat -c %a "$credentials")" = 640 ] || fail "the mode of the login"
	[ "$error" = KILL ] || [ "$status" -ne 0 ] || [ "$now" = "$(login new 2)" ] || ! ours || said ||
		fail "no reason is given"
	next='run that returns a login'
	run_claude ab next 3
	[ "$(cat "$credentials")" = "$(login next 3)" ] || fail "the next run returns: $(cat "$credentials")"
	[ "$(ls -A "$HOME/.claude" | xargs)" = ".credentials.json projects todos" ] || fail "left: $(ls -A "$HOME/.claude")"
}

prepare_return()
{
	export OPENAI_API_KEY=sk-0123456789abcdefghij0123456789abcdefghij01234567
	export ANTHROPIC_API_KEY=sk-ant-api03-0123456789abcdefghij0123456789
	credentials=$HOME/.claude/.credentials.json
	# The profile's shared folders: those that a killed run made may stay.
	mkdir -p "$HOME/.claude/"{projects,todos}
	ab run --profile claude --unknown deny --secret OPENAI_API_KEY -- sh -c 'echo "$OPENAI_API_KEY" >~/.claude/kept'
	[ "$status" -eq 0 ] || fail "without a fault"
	login old 1 >"$credentials"
	run_claude ab new 2
	[ "$(cat "$credentials")" = "$(login new 2)" ] || fail "without a fault: $(cat "$credentials")"
}

# return_with near|far kills|errors: the home folder is on the mount of the state folder, too, or not.
return_with()
{
	if [ "$1" = near ]; then
		cp -a "$HOME" "$TEST_DIR/memory/home"
		export HOME=$TEST_DIR/memory/home
	fi
	prepare_return
	positions "$(run_claude calls old 1)" "$2" try_return
}

# bats test_tags=slow
@test "faults: the return of a login killed at any call, on one mount" {
	in_memory near return_with near kills
}

@test "faults: the return of a login killed at any call, across mounts" {
	in_memory far return_with far kills
}

# bats test_tags=slow
@test "faults: a call of the return of a login that fails, on one mount" {
	in_memory near return_with near errors
}

# bats test_tags=slow
@test "faults: a call of the return of a login that fails, across mounts" {
	in_memory far return_with far errors
}

# each_login PROCESS CALL ERROR COUNT: each of these calls fails, beginning with the last one, until so many were
# $found; their number varies. The login is the old one or the new one.
each_login()
{
	local process=$1 call=$2 error=$3 k now

	found=0
	login old 1 >"$credentials"
	k=$(run_claude calls new 2)
	for (( ; k > 0 && found < $4; k--)); do
		login old 1 >"$credentials"
		run_claude faulty new 2
		echo "$process $call $k: $status $output"
		now=$(cat "$credentials")
		[ "$now" = "$(login old 1)" ] || [ "$now" = "$(login new 2)" ]
		"$each"
	done
	[ "$found" -ge 1 ]
}

@test "faults: a login that is not returned is told" {
	need userns
	local credentials each=told_login found
	prepare_return
	told_login()
	{
		[ "$now" != "$(login new 2)" ] || return 0
		[ "$status" -ne 0 ] || said
		found=$((found + 1))
	}
	each_login agentbox-broker openat2 ENOSPC 3
}

@test "faults: what a killed return of a login left goes with the next one" {
	need userns
	local credentials each=next_cleans found
	prepare_return
	next_cleans()
	{
		[ ! -e "$HOME/.claude/.agentbox-return" ] || found=$((found + 1))
		run_claude ab next 3
		[ "$(cat "$credentials")" = "$(login next 3)" ]
		[ "$(ls -A "$HOME/.claude" | xargs)" = ".credentials.json projects todos" ]
	}
	each_login agentbox-broker fsync KILL 1
}
