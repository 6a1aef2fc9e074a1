# whole-tree: it reads the lists of unit tests and fuzz targets
# unsanitized: it tests the tests themselves
load helpers

# What decides whether a test run was good must itself be able to say no.

# counts STATUS LINE...: what scripts/tap makes of a log with these lines.
counts()
{
	local status=$1
	shift
	printf '%s\n' "$@" >log
	"$ROOT/scripts/tap" counts "$status" log
}

@test "scripts: passed, failed and skipped tests are told apart" {
	[ "$(counts 0 1..2 'ok 1 a' 'ok 2 b')" = "2 0 0" ]
	[ "$(counts 1 1..2 'ok 1 a' 'not ok 2 b' '# why')" = "1 1 0" ]
	[ "$(counts 0 'ok 1 - a # skip no kernel' 'ok 2 - b' 1..2)" = "1 0 1" ]
}

@test "scripts: several plans in one log add up" {
	[ "$(counts 0 'ok 1 - a' 1..1 'ok 1 - b' 'ok 2 - c' 1..2)" = "3 0 0" ]
}

@test "scripts: a log that ends early is a failure" {
	[ "$(counts 0 1..3 'ok 1 a' 'ok 2 b')" = "2 1 0" ]
	[ "$(counts 0 'ok 1 - a')" = "1 1 0" ]
	[ "$(counts 0 '')" = "0 1 0" ]
}

@test "scripts: a bad end without a failed test is a failure" {
	[ "$(counts 124 1..1 'ok 1 a')" = "1 1 0" ]
	[ "$(counts 1 1..1 'not ok 1 a')" = "0 1 0" ]
}

@test "scripts: the details name the test and what it said" {
	printf '%s\n' 1..2 'ok 1 good' 'not ok 2 bad' '# because' >log
	run "$ROOT/scripts/tap" details 1 log
	[ "$status" -eq 0 ]
	[[ "$output" == *"FAIL  bad"*"because"* ]]
	[[ "$output" != *good* ]]
}

@test "helpers: a process of a box that is left over is found" {
	need userns
	unshare --user --map-root-user --pid --fork --kill-child sleep 200 3>&- &
	# Until it is sleep, it is a copy of unshare.
	in_a_box() { [[ "$(our_processes)" == *sleep* ]]; }
	wait_for 90 in_a_box
	[[ "$(processes_left 1)" == *sleep* ]]
	kill -KILL $!
	wait $! || true
	[ -z "$(processes_left)" ]
}

@test "helpers: a missing feature skips, or fails where none may be missing" {
	skip() { echo "skipped: $1"; return 7; }
	AB_NO_SKIP='' run need path:/no/such/file "no such file"
	[ "$status" -eq 7 ]
	[ "$output" = "skipped: no such file" ]
	AB_NO_SKIP='' run need program:no-such-program
	[ "$status" -eq 7 ]
	[ "$output" = "skipped: no-such-program is not installed" ]
	AB_NO_SKIP=1 run need path:/no/such/file "no such file"
	[ "$status" -eq 1 ]
	AB_NO_SKIP=1 run need path:/ "no root"
	[ "$status" -eq 0 ]
}

@test "helpers: what a machine lacks is told by need and lacks only" {
	# The others are what another suite has: of another engine, kernel or build, or with the registry.
	diff <(grep -hoE '\bskip "[^"]*"' "$ROOT"/test/*.bats | sort -u) - <<-'END'
	skip "$name: $why"
	skip "$why"
	skip "a sanitizer keeps what was freed"
	skip "a sanitizer's memory is too large to be read"
	skip "a user namespace has no binfmt_misc of its own"
	skip "apparmor_parser is not installed"
	skip "ci wants the full engine"
	skip "its version does not know the restriction"
	skip "the fault program is not built with sanitizers"
	skip "the kernel limits the whole box here"
	skip "the kernel makes the connections"
	skip "there are no mounts"
	skip "this build has no shared library"
	skip "this kernel has what the test wants to lack"
	END
}

@test "helpers: a snapshot changes with content, mode, name and link" {
	mkdir d && echo a >d/f && ln -s f d/l
	host_snapshot --no-times d >before
	host_snapshot --no-times d | diff before -
	echo b >d/f
	run ! diff before <(host_snapshot --no-times d)
	echo a >d/f && chmod 600 d/f
	run ! diff before <(host_snapshot --no-times d)
	chmod 644 d/f && ln -sfn g d/l
	run ! diff before <(host_snapshot --no-times d)
	ln -sfn f d/l && touch d/new
	run ! diff before <(host_snapshot --no-times d)
	rm d/new
	host_snapshot --no-times d | diff before -
}

@test "helpers: a terminal shows the screen, takes keys and gives the status" {
	tty_start bash --norc --noprofile
	tty_type 'echo a$((1 + 1))b'
	tty_key Enter
	tty_wait '^a2b$'
	tty_resize 100 30
	tty_type 'stty size; exit 3'
	tty_key Enter
	tty_end
	[ "$status" -eq 3 ]
	[[ "$output" == *"30 100"* ]]
}

@test "helpers: keys that make signals reach the command on the terminal" {
	tty_start sh -c 'trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.1; done'
	tty_wait '^ready$'
	tty_key C-c
	tty_end
	[ "$status" -eq 5 ]
	[[ "$output" == *caught* ]]
	tty_stop
	tty_run sh -c 'kill -KILL $$'
	[ "$status" -eq 137 ]
}

@test "scripts: every unit test and fuzz target is on the list of its folder" {
	local file name

	for file in "$ROOT"/test/unit/*.c "$ROOT"/test/fuzz/*.c; do
		name=${file##*/}
		echo "${file#"$ROOT/"}"
		grep -qF "'${name%.c}'" "${file%/*}/meson.build"
	done
}

@test "scripts: every engine but the best has a suite, and its files are in it" {
	local known

	known=$("$AGENTBOX" run --help=all | sed -n 's/^ *--engine *auto|full|\([^ ]*\).*/\1/p')
	grep -qxF "ENGINES = (\"${known//|/\", \"}\")" "$ROOT/scripts/test"
	for known in ${known//|/ }; do
		[ "$(grep -lE "^# $known(-in-turn)?: ." "$ROOT"/test/{escape,net_*,secrets_*}.bats | wc -l)" -ge 3 ]
	done
}

@test "scripts: a mark of a bats file is one that scripts/test knows" {
	local known

	known=$(sed -n 's/^    # \([a-zA-Z-]*\): WHY.*/\1/p' "$ROOT/scripts/test" |
		sed 's/^ENGINE/(shared-proc|no-namespaces)/' | paste -sd'|')
	[[ "$known" == *root-in-turn* ]]
	run ! awk -v known="^# ($known|asan-root): " '
		FNR == 1 { top = 1 }
		!/^#/ { top = 0 }
		top && /^# [a-z]+(-[a-z]+)*: / && $0 !~ known { print FILENAME ": " $0; bad = 1 }
		END { exit !bad }' "$ROOT"/test/*.bats
}

# ignored FILE...: conditions in tests whose failure bash ignores: "! CMD", but on the last line, and all
# but the last of "[ A ] && [ B ]".
ignored()
{
	awk '
		FNR == 1 { close_test() }
		/^@test / { inside = 1; quoted = 0; held = ""; next }
		/^}/ { held = ""; close_test(); next }
		!inside { next }
		held != "" { print held; held = "" }
		!quoted && !/\|\|/ && /^\t+\[.*\] && \[.*\]$/ { print FILENAME ": " $0 }
		!quoted && !/\|\|/ && /^\t+! / { held = FILENAME ": " $0 }
		{ quoted = (quoted + gsub(/\047/, "")) % 2 }
		function close_test() { inside = 0 }' "$@"
}

@test "scripts: no condition in a test is one whose failure bash ignores" {
	local wrong

	ignored "$ROOT"/test/*.bats
	[ -z "$(ignored "$ROOT"/test/*.bats)" ]
	for wrong in '! true' '[ -e a ] && [ -e b ]' '[ "$x" = 1 ] && [[ "$y" == *z* ]]'; do
		printf '@test "x" {\n\t%s\n\ttrue\n}\n' "$wrong" >wrong.bats
		[ "$(ignored wrong.bats | wc -l)" -eq 1 ]
	done
	# The twins.
	for wrong in '! true || false' '[ -e a ] && [ -e b ] || false' 'run ! true' "sh -c '" '[[ a && b ]]'; do
		printf '@test "x" {\n\t%s\n\t! true\n}\n' "$wrong" >right.bats
		[ -z "$(ignored right.bats)" ]
	done
}

@test "scripts: a test for root only is run as root every time" {
	local -a others

	mapfile -t others < <(grep -LE '^# root: .' "$ROOT"/test/*.bats)
	[ "${#others[@]}" -ge 5 ]
	run ! awk '/^@test/ { name = $0; tag = before ~ /^# bats test_tags=.*root/ }
		/^[ \t]+only_root/ && !tag { print FILENAME ": " name; bad = 1 }
		{ before = $0 }
		END { exit !bad }' "${others[@]}"
}

@test "scripts: the parts of a file have each of its tests once" {
	local k

	printf '@%s {\ntrue\n}\n' 'test "one (a|b) [x] \"quoted\" \$dollar"' 'test "one"' \
		'test "one more. Really?"' 'test "two"' 'test "two + two"' >some.bats
	# shellcheck disable=SC1090
	source <(sed -n '/^choose_part()/,/^}/p' "$ROOT/scripts/suite")
	for k in 1 2 3; do
		part=$k/3
		bats --tap --filter "^($(choose_part some.bats))\$" some.bats
	done | grep '^ok' | sed 's/^ok [0-9]* //' | sort >seen
	bats --tap some.bats | grep '^ok' | sed 's/^ok [0-9]* //' | sort >all
	diff all seen
	[ "$(wc -l <all)" -eq 5 ]
}

@test "scripts: a mistake in a text of the judge ends the build" {
	local file change says n=0

	cp -r "$ROOT/lib/shell" whole
	run -0 "$ROOT/scripts/judge-tables" out.c whole
	grep -q 'ab_toolbox ab_tools_clouds' out.c
	run -0 "$ROOT/scripts/judge-tables" out.h whole
	grep -q AB_RULE_FORK_BOMB out.h
	grep -q 'AB_TABLE_SYSTEM = 1 << 0' out.h
	# File, expression for sed, what it says.
	while IFS='|' read -r file change says; do
		rm -rf wrong
		cp -r whole wrong
		sed -i "$change" "wrong/tables/$file"
		run ! cmp -s "whole/tables/$file" "wrong/tables/$file"
		run ! "$ROOT/scripts/judge-tables" out.c wrong
		echo "$change: $output"
		[[ "$output" == *"tables/$file: "*"$says"* ]]
		n=$((n + 1))
	done <<-'END'
		containers.txt|s/^kubectl oc/oc kubectl/|not sorted
		containers.txt|s/^ctr (/helm (/|two rows
		containers.txt|s/^ctr (help: -h)/ctr (help: -x)/|no such help
		containers.txt|s/[$]DRY/$WET/|no such list
		clouds.txt|s/^\t\treason: /&An explanation that is by far too long for the place that it has. /|longer than
		git.txt|0,/^\t\twithout:/s//\t\twitout:/|what is witout
		git.txt|0,/^\t\twithout: .*/s//&\n\t\twithout: --quiet/|twice
		git_reads.txt|s/^RUNS = .*/&\nRUNS = --quiet/|twice
		clouds.txt|s/^\tcloud-change/\t\t\tcloud-change/|indented too far
		options.txt|s/^\tappend$/\tb a/|not sorted
		options.txt|s/^zip: /zypper: /|two rows
		options.txt|s/^zip: bintx/zip bintx/|not NAMES
		rules.txt|s/^\tinstead: /\tanyway: /|what is anyway
	END
	[ "$n" -eq 13 ]
}

@test "release: it replaces a release and an empty folder, and nothing else" {
	mkdir mine
	echo mine >mine/file
	run timeout 60 "$ROOT/scripts/release" --out mine
	[ "$status" -eq 1 ]
	[[ "$output" == *"mine is not empty and not a release"* ]]
	[ "$(cat mine/file)" = mine ]
	# With another mistake it does not come so far as to build.
	mkdir empty
	run timeout 60 "$ROOT/scripts/release" --out empty --url http://files.example.com
	[[ "$output" == *'does not begin with https://'* ]]
}

@test "scripts: embed takes a file whose path has a =" {
	mkdir a=b
	echo text >a=b/file
	echo other >a=b/c=d
	"$ROOT/scripts/embed" texts out.c a=b/file a=b/file=name a=b/c=d
	[ "$(grep -c '"text\\n"' out.c)" -eq 2 ]
	grep -q '"file" "\\0"' out.c
	grep -q '"name" "\\0"' out.c
	grep -q '"c=d" "\\0"' out.c
}
