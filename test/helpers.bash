# Helpers of all bats files: `load helpers` at the top.
#
# Every test gets its own HOME, a workspace in it (the current folder) and a state
# folder, on a real file system. Afterwards the box must leave nothing behind: no
# process, no mount. A file with its own setup or teardown calls box_setup and
# box_teardown in them.
#
#   AGENTBOX       the program, with an engine in a suite for one (test/in_engine.c)
#   PROGRAM        the program's own file
#   ROOT           the source tree
#   TEST_DIR       this test's folder: home/, home/project/, state/
#   WORKSPACE      home/project
#   AB_TIMEOUT     bound for one call in seconds (240)
#   AB_ENGINE      every box of the suite is built by this engine (scripts/suite
#                  --engine); "": the program chooses
#
# A file that tests the walls of the box sets UNJUDGED=1: then no command is
# refused or asked about because of its text, and the attacks reach the walls.

bats_require_minimum_version 1.5.0

ROOT=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd -P)
AGENTBOX=${AGENTBOX:-$ROOT/build/cmd/agentbox}
PROGRAM=$AGENTBOX
[ -z "${AB_ENGINE:-}" ] || PROGRAM=$ROOT/build/cmd/agentbox

# jq 1.6 -e succeeds on empty input: require some output. gojq starts in a tenth of the
# time of jq 1.6, and sorts the members of objects.
jq()
{
	local out status=0 program=gojq

	[[ ! "$*" =~ keys_unsorted ]] || program=jq
	if [[ ! "$1" =~ ^-[a-z]*e ]]; then
		command "$program" "$@"
		return
	fi
	out=$(command "$program" "$@") || status=$?
	[ -z "$out" ] || printf '%s\n' "$out"
	[ -n "$out" ] || [ "$status" -ne 0 ] || status=4
	return "$status"
}

# bats records the call stack before every command, which takes a fifth of the
# time of a suite. Record it when a command fails instead. If the test ends in
# another way, bats prints the line where it begins.
trace_failures()
{
	local line

	declare -F bats_debug_trap bats_error_trap bats_timeout_trap >/dev/null || return 0
	[ "${BATS_TRACE_LEVEL:-0}" -eq 0 ] || return 0
	trap - DEBUG
	read -r _ line _ < <(shopt -s extdebug && declare -F "$BATS_TEST_NAME")
	BATS_DEBUG_LAST_STACK_TRACE=("$line $BATS_TEST_NAME $BATS_TEST_FILENAME")
	BATS_DEBUG_LASTLAST_STACK_TRACE=("${BATS_DEBUG_LAST_STACK_TRACE[@]}")
	trap 'BATS_ERROR_STATUS=${BATS_ERROR_STATUS:-$?}
		BATS_DEBUG_LAST_STACK_TRACE=("${BATS_DEBUG_LASTLAST_STACK_TRACE[@]}")
		bats_debug_trap "$BASH_SOURCE"
		BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
		bats_error_trap' ERR
	[ -z "${BATS_TEST_TIMEOUT:-}" ] || trap '
		echo "out of time at: $BASH_COMMAND (in ${FUNCNAME[*]})"
		bats_timeout_trap' ABRT
}

# bats' own starts two programs before each test, and two after it.
get_mills_since_epoch()
{
	echo "$((${EPOCHREALTIME/[.,]/} / 1000))"
}

# Programs that PID has started, and those that these have started, except this shell.
end_children()
{
	local child

	for child in $(pgrep -P "$1"); do
		[ "$child" != "$BASHPID" ] || continue
		end_children "$child"
		kill "$child"
	done
}

# bats' own starts two processes for each test. If the test ends before they are ready, its `sleep` is left and
# keeps the suite from its end until the time is over; and it ends children only, so the program of a `run` stays.
if [ -p "${AB_TEST_DIR:-}/never" ]; then
	bats_start_timeout_countdown()
	{
		local test=$$

		trap 'bats_timeout_trap' ABRT
		(
			exec >/dev/null 2>&1 3>&- 4>&-
			read -rt "$1" <>"$AB_TEST_DIR/never" || :
			! kill -ABRT "$test" || end_children "$test"
		) &
	}

	bats_abort_timeout_countdown()
	{
		kill "$1" 2>/dev/null || :
	}
fi

# nap 0.05: sleep in a loop, without a program that does it. Nothing is ever written to this pipe.
nap()
{
	if [ -p "${AB_TEST_DIR:-}/never" ]; then
		read -rt "$1" <>"$AB_TEST_DIR/never" || :
	else
		sleep "$1"
	fi
}

setup()
{
	box_setup
}

teardown()
{
	box_teardown
}

box_setup()
{
	local base=${AB_TEST_DIR:-} found

	trace_failures
	if [ -z "$base" ]; then
		base=$HOME/.cache/agentbox-test
		mkdir -p "$base"
	fi
	TEST_DIR=$base/t.$$
	export HOME=$TEST_DIR/home
	export AGENTBOX_STATE=$TEST_DIR/state
	export WORKSPACE=$HOME/project
	mkdir "$TEST_DIR" "$HOME" "$WORKSPACE"
	export GIT_CONFIG_NOSYSTEM=1
	printf '[user]\n\tname = Test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n' \
		>"$HOME/.gitconfig"
	unset XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME
	unset XDG_CACHE_HOME SSH_AUTH_SOCK
	unset AGENTBOX_PROFILE AGENTBOX_CONFIG AGENTBOX_NET
	cd "$WORKSPACE" || return 1
	[ -z "${UNJUDGED:-}" ] || judge_nothing
	mark_processes
	find_processes
	PROCESSES=$found
	mapfile MOUNTS </proc/self/mountinfo
}

# Make every built-in rule say "sandboxed". The first test of a file writes the
# settings for the others.
judge_nothing()
{
	local unjudged=$BATS_FILE_TMPDIR/unjudged.json

	[ -s "$unjudged" ] || "$AGENTBOX" rules list --json |
		jq '{ commands: { override: .builtin | map({ (.name): "sandboxed" }) | add } }' \
			>"$unjudged"
	mkdir -p "$HOME/.config/agentbox"
	cp "$unjudged" "$HOME/.config/agentbox/config.json"
}

# The walls around the home folder are the subject: without them being hidden by
# its layer, a write there is denied. Keeps other settings of the user's file.
readonly_home()
{
	local file=$HOME/.config/agentbox/config.json

	mkdir -p "${file%/*}"
	[ -s "$file" ] || echo '{}' >"$file"
	jq '.filesystem.home = "readonly"' "$file" >"$file.new"
	mv "$file.new" "$file"
}

box_teardown()
{
	local found mounts

	[ -n "${TEST_DIR:-}" ] || return 0
	tty_stop
	cd /
	wait_for_processes
	if [ -n "$found" ]; then
		echo "left running:"
		echo "$found"
		# The next test must not see them.
		awk '{ print $1 }' <<<"$found" | xargs -r kill -KILL 2>/dev/null
		return 1
	fi
	mapfile mounts </proc/self/mountinfo
	if [ "${mounts[*]}" != "${MOUNTS[*]}" ] && mounts_differ; then
		echo "mounts changed on the host"
		return 1
	fi
	in_engine || return 1
	rm -rf --one-file-system "$TEST_DIR" 2>/dev/null && return 0
	chmod -R u+rwX "$TEST_DIR" 2>/dev/null
	rm -rf --one-file-system "$TEST_DIR"
}

# Print what differs between MOUNTS and mounts. Somebody else may remove the folder that is a mount's place, which
# ends the mount here too: that is none of ours.
mounts_differ()
{
	local sign point line differ=1

	while read -r line; do
		read -r sign _ _ _ _ point _ <<<"$line"
		case $sign in
		'>') ;;
		'<') [ -e "$(printf '%b' "$point")" ] || continue ;;
		*) continue ;;
		esac
		echo "$line"
		differ=0
	done < <(diff <(printf '%s' "${MOUNTS[@]}" | sort) <(printf '%s' "${mounts[@]}" | sort))
	return "$differ"
}

# In a suite for one engine every run of the test must have used it.
in_engine()
{
	local others

	[ -n "${AB_ENGINE:-}" ] || return 0
	others=$(find "$AGENTBOX_STATE/runs" -name audit.jsonl -exec grep -h '"kind":"assurance"' {} + 2>/dev/null |
		grep -vF "\"engine\":\"$AB_ENGINE\"" || true)
	[ -z "$others" ] || {
		echo "not in the engine $AB_ENGINE: $others"
		return 1
	}
}

# claims GUARANTEE: did the latest run claim it? The engine of a suite may lack it,
# but then the run must have said so. Without --engine nothing may be missing.
claims()
{
	local record

	record=$(find "$AGENTBOX_STATE/runs" -name audit.jsonl -printf '%T@ %p\n' | sort -n | tail -n 1)
	record=$(grep '"kind":"assurance"' "${record#* }")
	! jq -e ".holds | index(\"$1\")" >/dev/null <<<"$record" || return 0
	[ -n "${AB_ENGINE:-}" ] && jq -e ".missing | index(\"$1\")" >/dev/null <<<"$record" && return 1
	echo "neither claimed nor reported as missing: $1: $record"
	exit 1
}

# Mark the processes of this test, so that other suites and other people's runs
# are left alone. The mark is oom_score_adj: children inherit it even if their
# parent ends, and everybody may read and raise it.
mark_processes()
{
	local now

	read -r now </proc/self/oom_score_adj
	echo $((now + 1 + $$ % 250)) >/proc/self/oom_score_adj
}

# Set $found to the processes of this test that belong to a box or are our program, a line for each:
# "PID START NAME STATE". /proc/PID/exe and environ cannot be read if a process is not dumpable, but
# its name and its NSpid line can (more than one number: a pid namespace below ours). Called before and
# after each test, so it starts no program.
find_processes()
{
	local IFS=$' \t\n' mark other dir line name state uid box
	local -a lines fields

	found=''
	read -r mark </proc/self/oom_score_adj
	for dir in /proc/[0-9]*; do
		# A process may end while its files are read.
		read -r other 2>/dev/null <"$dir/oom_score_adj" || continue
		[ "$other" = "$mark" ] || continue
		mapfile -t lines 2>/dev/null <"$dir/status" || continue
		name='' state='' uid='' box=''
		for line in "${lines[@]}"; do
			case $line in
			Name:*) name=${line#*$'\t'} ;;
			State:*) state=${line#*$'\t'} ;;
			Uid:*) uid=${line#*$'\t'} ;;
			NSpid:*$'\t'*$'\t'*) box=1 ;;
			esac
		done
		[ "${uid%%$'\t'*}" = "$EUID" ] || continue
		[ -n "$box" ] || [[ "$name" == agentbox* ]] || continue
		read -r line 2>/dev/null <"$dir/stat" || continue
		read -ra fields <<<"${line##*) }"
		found+="${dir#/proc/} ${fields[19]} ${name%% *} ${state%% *}"$'\n'
	done
	found=${found%$'\n'}
}

our_processes()
{
	local found

	find_processes
	[ -z "$found" ] || echo "$found"
}

# wait_for_processes [SECONDS]: set $found to the processes that did not exist when the test started.
# A killed process takes a moment to disappear, so wait for it (60 s).
wait_for_processes()
{
	local deadline=$((SECONDS + ${1:-60}))

	while :; do
		find_processes
		# Compare pid and start time: the state may have changed.
		[ -z "$found" ] || found=$(awk '
			!now { before[$1 " " $2] = 1; next }
			!(($1 " " $2) in before)' - now=1 <(echo "$found") <<<"$PROCESSES")
		[ -n "$found" ] && [ "$SECONDS" -lt "$deadline" ] || break
		nap 0.05
	done
}

processes_left()
{
	local found

	wait_for_processes "$@"
	[ -z "$found" ] || echo "$found"
}

# Run the program without bats' descriptor 3. This is a function because `run`
# itself needs the descriptor.
launch()
{
	timeout --kill-after=5 "${AB_TIMEOUT:-240}" "$AGENTBOX" "$@" 3>&-
}

# agentbox ARG...: run the program; sets $status, $output (both streams) and
# $lines. Prints the output, so that a failed test shows it.
agentbox()
{
	run launch "$@"
	printf '$ agentbox %s\n%s\n[status %s]\n' "$*" "$output" "$status"
}

# unsaid: leave the summary of denied files at the end out of $output and $lines.
unsaid()
{
	output=${output%%$'\n'agentbox: [0-9]*' file access'*}
	mapfile -t lines <<<"$output"
}

# The same with separate $output and $stderr.
agentbox_split()
{
	run --separate-stderr launch "$@"
	printf '$ agentbox %s\n%s\n[stderr]\n%s\n[status %s]\n' \
		"$*" "$output" "$stderr" "$status"
}

# make_repo [DIR]: a repository with one commit, and with a folder for hooks whatever git's template.
make_repo()
{
	local dir=${1:-.}

	git init -q "$dir"
	mkdir -p "$dir/.git/hooks"
	echo one >"$dir/file"
	git -C "$dir" add file
	git -C "$dir" commit -qm first
}

# Was the program built with sanitizers?
sanitized()
{
	grep -q __asan_init "$AGENTBOX"
}

# The id of the active run.
run_id()
{
	(cd "$AGENTBOX_STATE/live" && echo [a-z2-9]*)
}

# need FEATURE [REASON]: skip the test if this machine lacks FEATURE, or fail if
# every feature is expected (AB_NO_SKIP=1). FEATURE is one of
#   userns           unprivileged user namespaces
#   landlock:N       Landlock with at least ABI N
#   kernel:X.Y       Linux X.Y or newer
#   program:NAME     NAME on the PATH
#   runs:NAME        NAME --version succeeds: rustup's programs do not run in a home
#                    folder without a toolchain
#   cgroup           a cgroup v2 folder that this user may make children in
#   path:FILE        FILE exists
need()
{
	local what=${1%%:*} value=${1#*:} why

	if "have_$what" "$value"; then
		return 0
	fi
	why=${2:-$(name_missing "$what" "$value")}
	lacks "$why"
}

# lacks REASON: skip the test because this machine cannot do it, or fail if every
# feature is expected.
lacks()
{
	if [ "${AB_NO_SKIP:-}" = 1 ]; then
		echo "required (AB_NO_SKIP=1): $1"
		return 1
	fi
	skip "$1"
}

name_missing()
{
	case $1 in
	userns) echo "unprivileged user namespaces are not available" ;;
	landlock) echo "Landlock ABI $2 is not available" ;;
	kernel) echo "Linux $(uname -r) is older than $2" ;;
	program) echo "$2 is not installed" ;;
	runs) echo "$2 is not installed, or not for every user" ;;
	cgroup) echo "no cgroup v2 folder is writable" ;;
	path) echo "$2 does not exist" ;;
	*) echo "$1 is missing" ;;
	esac
}

have_userns()
{
	unshare --user --map-root-user --mount --pid --fork true 2>/dev/null
}

have_landlock()
{
	# landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	# its number is the same on every architecture.
	python3 - "$1" <<-'PYTHON'
	import ctypes, sys
	libc = ctypes.CDLL(None, use_errno=True)
	sys.exit(libc.syscall(444, None, 0, 1) < int(sys.argv[1]))
	PYTHON
}

have_kernel()
{
	printf '%s\n%s\n' "$1" "$(uname -r)" | sort -V -C
}

have_program()
{
	command -v "$1" >/dev/null
}

have_runs()
{
	"$1" --version >/dev/null 2>&1
}

have_cgroup()
{
	local own
	own=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
	[ -w "$own" ] && [ -w "$own/cgroup.procs" ] &&
		[ -w "$own/cgroup.subtree_control" ]
}

have_path()
{
	[ -e "$1" ]
}

# Tests that only make sense for one kind of user. The suite also runs as the
# other kind, so this is not a missing feature.
only_root()
{
	[ "$(id -u)" -eq 0 ] || skip "as root only"
}

only_user()
{
	[ "$(id -u)" -ne 0 ] || skip "as an unprivileged user only"
}

# is_locked NAME: has a process of this user and name a filter, no new privileges, no capability?
is_locked()
{
	local pid

	for pid in $(pgrep -x -u "$(id -u)" "$1"); do
		if grep -qx 'Seccomp:.2' "/proc/$pid/status" && grep -qx 'NoNewPrivs:.1' "/proc/$pid/status" &&
			grep -qx 'CapEff:.0*' "/proc/$pid/status"; then
			return 0
		fi
	done 2>/dev/null
	return 1
}

# wait_for SECONDS CMD...: wait until CMD succeeds, or fail.
wait_for()
{
	local deadline=$((SECONDS + $1))
	shift

	until "$@"; do
		if [ "$SECONDS" -ge "$deadline" ]; then
			echo "waited in vain for: $*"
			return 1
		fi
		nap 0.05
	done
}

# The minute of the clock that limits how many records are written. Crossing into another one
# allows as many again.
this_minute()
{
	python3 -c 'import time; print(int(time.monotonic() // 60))'
}

# host_snapshot [--no-times] DIR: print everything below DIR: name, type, mode,
# owner, size, time, link target and checksum. If two snapshots are equal, nothing
# has changed. The user must be able to read all of it.
host_snapshot()
{
	local time=' %T@'

	if [ "$1" = --no-times ]; then
		time=
		shift
	fi
	(
		cd "$1" || exit 1
		find . -xdev \( -type f -printf "%p %y %m %U:%G %n %s$time\n" \
			-o -type d -printf "%p %y %m %U:%G$time\n" \
			-o -printf "%p %y %m %U:%G$time %l\n" \) | LC_ALL=C sort
		find . -xdev -type f -print0 | LC_ALL=C sort -z |
			xargs -0 -r sha256sum
	)
}

# A terminal: each one has its own tmux server and socket. A server that was told
# to end still takes connections for a moment, so a socket is used only once.
#
#   tty_start CMD...       CMD on an 80x24 terminal
#   tty_type TEXT          type TEXT;  tty_key Enter C-c C-z ... keys by name
#   tty_wait REGEX [S]     wait until a line of the screen matches (90 s), or fail
#   tty_screen             print the screen and what has scrolled off the top
#   tty_resize COLS ROWS
#   tty_end [S]            wait for CMD to end; its status in $status and the
#                          screen in $output
#   tty_run CMD...         start and end
tty_tmux()
{
	timeout --kill-after=2 60 tmux -S "$TEST_DIR/tmux.$TTY_NUMBER" -f "$TEST_DIR/tmux.conf" "$@" 3>&-
}

tty_start()
{
	cat >"$TEST_DIR/tmux.conf" <<-CONF
	set -g remain-on-exit on
	set -g default-shell /bin/bash
	set -g default-terminal screen-256color
	set -g escape-time 0
	set -g status off
	set -g history-limit 5000
	CONF
	# Count in a file: a subshell may start a terminal too.
	echo >>"$TEST_DIR/tmux.count"
	TTY_NUMBER=$(wc -l <"$TEST_DIR/tmux.count")
	rm -f "$TEST_DIR/tty-status"
	# tmux may lose the status and the last output of a pane whose process has
	# ended. So a shell saves the status, sets the title, which tmux reads
	# after all output, and stays. It ignores the signals of keys, which are
	# for CMD.
	tty_tmux new-session -d -x 80 -y 24 "exec $(printf '%q ' sh -c '
		trap : INT QUIT TSTP
		"$@"
		echo "$?" >"$0.new"
		mv "$0.new" "$0"
		printf "\033\\\\\033]2;ended\033\\\\"
		trap "" INT QUIT TSTP
		exec sleep 3600' "$TEST_DIR/tty-status" "$@")" &&
		tty_tmux resize-window -x 80 -y 24
}

tty_type()
{
	tty_tmux send-keys -l -- "$1"
}

tty_key()
{
	tty_tmux send-keys "$@"
}

tty_screen()
{
	tty_tmux capture-pane -p -S -
}

# The output in one line, without the line breaks and indents of a narrow terminal.
unwrap()
{
	tr -s ' \n' ' ' <<<"$output"
}

tty_matches()
{
	tty_screen | grep -qE -- "$1"
}

tty_wait()
{
	wait_for "${2:-90}" tty_matches "$1" && return 0
	echo "the screen:"
	tty_screen
	return 1
}

tty_resize()
{
	tty_tmux resize-window -x "$1" -y "$2"
}

# Once the title is set, the screen is complete.
tty_ended()
{
	[ -e "$TEST_DIR/tty-status" ] &&
		[ "$(tty_tmux display-message -p '#{pane_title}')" = ended ]
}

tty_end()
{
	wait_for "${1:-90}" tty_ended || {
		tty_screen
		return 1
	}
	status=$(cat "$TEST_DIR/tty-status")
	output=$(tty_screen)
	printf '%s\n[status %s]\n' "$output" "$status"
}

tty_run()
{
	tty_start "$@" && tty_end
}

tty_stop()
{
	[ -e "$TEST_DIR/tmux.count" ] || return 0
	for TTY_NUMBER in $(seq "$(wc -l <"$TEST_DIR/tmux.count")"); do
		tty_tmux kill-server 2>/dev/null || true
	done
}

# busy CMD...: run CMD in a process that has a seccomp listener already; the
# kernel allows only one.
busy()
{
	python3 - "$@" <<-'PY'
	import ctypes, os, struct, sys
	libc = ctypes.CDLL(None, use_errno=True)
	libc.prctl(38, 1, 0, 0, 0)
	code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
	prog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
	call = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
	fd = libc.syscall(call, 1, 8, prog)
	assert fd >= 0, ctypes.get_errno()
	os.set_inheritable(fd, True)
	os.execvp(sys.argv[1], sys.argv[1:])
	PY
}

# guard_of SUPERVISOR: the pid of the run's judge, which the broker has forked.
guard_of()
{
	pgrep -P "$(pgrep -P "$1" -x agentbox-broker)" -x agentbox-guard
}
