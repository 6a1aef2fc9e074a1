# The terminal: a box has its own, and the caller's is restored afterwards.

load helpers

setup()
{
	need program:tmux
	box_setup
	export AGENTBOX
}

# An interactive shell on the terminal, from which the box is started.
outer_shell()
{
	cat >"$TEST_DIR/rc" <<-'RC'
	PS1='outer> '
	unset PROMPT_COMMAND HISTFILE
	bind 'set enable-bracketed-paste off' 2>/dev/null
	RC
	tty_start bash --noprofile --rcfile "$TEST_DIR/rc" -i
	tty_wait '^outer>'
}

# A line typed and sent.
tty_line()
{
	tty_type "$1"
	tty_key Enter
}

inner_shell()
{
	tty_line "PS1='inner> ' \$AGENTBOX run --pass-env PS1 -- bash --noprofile --norc -i"
	tty_wait '^inner>'
}

# The supervisor on the terminal.
supervisor()
{
	local tty

	tty=$(tty_tmux display-message -p '#{pane_tty}')
	pgrep -t "${tty#/dev/}" -x agentbox
}

# foreground NAME: a program of that name in the box has its terminal.
foreground()
{
	local pid

	pid=$(our_processes | awk -v name="$1" '$3 == name { print $1 }')
	[ -n "$pid" ] && [[ "$(ps -o stat= -p "$pid")" == S*+* ]]
}

alternate_screen()
{
	[ "$(tty_tmux display-message -p '#{alternate_on}')" = "$1" ]
}

cursor_shown()
{
	[ "$(tty_tmux display-message -p '#{cursor_flag}')" = "$1" ]
}

mouse_reported()
{
	[ "$(tty_tmux display-message -p '#{mouse_any_flag}')" = "$1" ]
}

@test "terminal: the command has one of its own, and the caller's is not there" {
	tty_run "$AGENTBOX" run -- sh -c \
		'tty; ls /dev/pts; ps -o tty= -p $$; echo by-name >/dev/tty'
	[ "$status" -eq 0 ]
	[[ "$output" == *"/dev/pts/0"* ]]
	[[ "$output" == *"0"*"ptmx"*"pts/0"*"by-name"* ]]
	[[ "$output" != *"pts/1"* ]]
}

@test "terminal: without one, /dev/tty is nobody's" {
	agentbox run -- sh -c 'tty; echo x >/dev/tty' </dev/null
	[ "$status" -ne 0 ]
	[[ "$output" == *"not a tty"* ]]
	[[ "$output" == *"No such device or address"* ]]
}

@test "terminal: the size is there from the start and follows a change" {
	outer_shell
	inner_shell
	tty_line 'stty size'
	tty_wait '^24 80$'
	tty_resize 100 30
	wait_for 90 eval 'tty_line "stty size"; tty_matches "^30 100$"'
	tty_line 'exit'
	tty_wait '^outer>$'
}

@test "terminal: a program inside is told that the size has changed" {
	tty_start "$AGENTBOX" run -- python3 -c '
import os, signal, time
def told(*_):
    # Not print(): the signal may come in the middle of one.
    os.write(1, b"now %d\n" % os.get_terminal_size().columns)
    raise SystemExit
signal.signal(signal.SIGWINCH, told)
os.write(1, b"ready\n")
time.sleep(300)'
	tty_wait '^ready'
	tty_resize 91 24
	tty_wait '^now 91'
	tty_end
	[ "$status" -eq 0 ]
}

@test "terminal: a shell inside has job control" {
	outer_shell
	inner_shell
	tty_line 'sleep 100'
	tty_wait '^inner> sleep 100$'
	wait_for 90 foreground sleep
	tty_key C-z
	tty_wait 'Stopped +sleep 100'
	tty_line 'jobs; echo state=$?'
	tty_wait '^state=0'
	tty_line 'fg'
	tty_wait '^sleep 100$'
	# The shell says so before sleep has the terminal.
	wait_for 90 foreground sleep
	tty_key C-c
	tty_line 'echo after=$?'
	tty_wait '^after=130'
	tty_line 'exit 7'
	# What is typed before the box has ended is the box's.
	tty_wait '^outer>$'
	tty_line 'echo outer=$?'
	tty_wait '^outer=7'
}

@test "terminal: Ctrl-C ends a plain command, which says so" {
	outer_shell
	tty_line '$AGENTBOX run -- sh -c "echo up; exec sleep 100"'
	tty_wait '^up$'
	tty_key C-c
	tty_wait '^(\^C)?outer>$'
	tty_line 'echo status=$?'
	tty_wait '^status=130'
}

@test "terminal: Ctrl-Z stops a plain command in the caller's shell, fg goes on" {
	outer_shell
	tty_line 'stty -a >before; $AGENTBOX run -- sh -c "echo up; exec sleep 100"'
	tty_wait '^up$'
	tty_key C-z
	tty_wait 'Stopped'
	tty_line 'stty -a >stopped; jobs; echo listed'
	tty_wait '^listed'
	diff before stopped
	tty_line 'fg'
	tty_wait '^.AGENTBOX run -- sh'
	wait_for 90 eval 'tty_key C-c; tty_line "echo status=\$?"; tty_matches "^status=130"'
	tty_line 'stty -a >after; echo done'
	tty_wait '^done'
	diff before after
}

@test "terminal: stopped, it can go on in the background" {
	outer_shell
	# It forks nothing meanwhile: a stop between vfork and exec stops only
	# the child, with any terminal.
	mkfifo go
	tty_line '$AGENTBOX run -- sh -c "echo up; read x <go; echo behind; sleep 100"'
	tty_wait '^up'
	tty_key C-z
	tty_wait 'Stopped'
	tty_line 'bg; echo on >go'
	tty_wait '^(outer> )?behind'
	tty_line 'echo typed-for-the-shell'
	tty_wait '^typed-for-the-shell'
	tty_line 'kill %1; wait; echo gone'
	tty_wait '^gone'
}

@test "terminal: in the background it prints, and stops when it wants to read" {
	outer_shell
	tty_line '$AGENTBOX run -- sh -c "echo printed; read x; echo got=\$x" &'
	tty_wait '^(outer> )?printed'
	wait_for 90 eval 'tty_line "jobs"; tty_matches "Stopped"'
	tty_line 'echo not-taken'
	tty_wait '^not-taken'
	tty_line 'fg'
	tty_wait '^.AGENTBOX run -- sh'
	tty_line 'answer'
	tty_wait '^got=answer'
	tty_wait '^outer>$'
	tty_line 'echo status=$?'
	tty_wait '^status=0'
}

@test "terminal: in a pipeline the keys are for whoever reads them" {
	need program:less
	outer_shell
	tty_line '$AGENTBOX run -- seq 1 500 | less'
	tty_wait '^20$'
	tty_key G
	tty_wait '^500$'
	tty_key q
	tty_wait '^outer>$'
	tty_line 'stty -a | grep -o " icanon"; echo ended'
	tty_wait '^ended'
	tty_wait '^ icanon'
}

@test "terminal: in a pipeline the command can still ask" {
	outer_shell
	# What is typed while the shell still edits its line has another end of the line.
	tty_line '$AGENTBOX run -- sh -c "echo asks; read x; echo got=\$x" | cat'
	tty_wait '^asks$'
	tty_line 'answer'
	# The echo comes another way, and may come later.
	tty_wait 'got=answer$'
	tty_wait '^outer>$'
	tty_line 'echo one | $AGENTBOX run -- sh -c "echo asks-again; read x </dev/tty; read y; echo both=\$x,\$y"'
	tty_wait '^asks-again$'
	tty_line 'two'
	tty_wait 'both=two,one$'
}

@test "terminal: each of 0-2 that is one gets the box's, others stay as they are" {
	outer_shell
	cat >look <<-'LOOK'
	for fd in 0 1 2; do
		[ -t $fd ] && printf "t" >>seen || printf "f" >>seen
	done
	cat
	echo to-out
	echo to-err >&2
	LOOK
	echo in-file >in

	tty_line '$AGENTBOX run -- sh look <in; cat seen; rm seen; echo " 1st"'
	tty_wait '^ftt 1st'
	tty_wait '^in-file'
	tty_line '$AGENTBOX run -- sh look <in >out; cat seen; rm seen; echo " 2nd"'
	tty_wait '^to-err'
	tty_wait '^fft 2nd'
	[ "$(cat out)" = $'in-file\nto-out' ]
	tty_line '$AGENTBOX run -- sh look <in 2>err; cat seen; rm seen; echo " 3rd"'
	tty_wait '^ftf 3rd'
	[ "$(cat err)" = to-err ]
	tty_line '$AGENTBOX run -- sh look >out 2>err; cat seen; rm seen; echo " 4th"'
	# A C-d that comes before the terminal is raw would be the shell's.
	wait_for 90 grep -qs tff seen
	tty_line 'typed'
	tty_key C-d
	tty_wait '^tff 4th'
	[ "$(cat out)" = $'typed\nto-out' ]
	tty_line '$AGENTBOX run -- sh look <in >out 2>err; cat seen; rm seen; echo " 5th"'
	tty_wait '^fff 5th'
}

@test "terminal: an editor works" {
	need program:vim
	outer_shell
	tty_line '$AGENTBOX run -- vim -u NONE -N -n note.txt'
	# Not the name in the last line: a redraw may have wiped it.
	wait_for 90 alternate_screen 1
	tty_wait '^~'
	tty_type 'ihello from the box'
	tty_key Escape
	tty_line ':wq'
	wait_for 90 alternate_screen 0
	tty_wait '^outer>$'
	tty_line 'echo status=$?'
	tty_wait '^status=0'
	[ "$(cat note.txt)" = "hello from the box" ]
}

@test "terminal: raw mode inside gets every key as it is" {
	tty_start "$AGENTBOX" run -- python3 -c '
import os, sys, tty
tty.setraw(0)
sys.stdout.write("ready\r\n"); sys.stdout.flush()
got = b""
while not got.endswith(b"q"):
    got += os.read(0, 1)
sys.stdout.write(got.hex() + "\r\n")'
	tty_wait '^ready'
	tty_key C-c C-z C-d Escape 'C-\' q
	tty_wait '^031a041b1c71'
	tty_end
	[ "$status" -eq 0 ]
}

@test "terminal: after the end it is as it was before" {
	outer_shell
	tty_line 'stty -a >before; $AGENTBOX run -- stty raw -echo; stty -a >after; echo compared'
	tty_wait '^compared'
	diff before after
	tty_line 'stty -echoctl intr ^X; stty -a >before; $AGENTBOX run -- stty -a >inside; stty -a >after; echo again'
	tty_wait '^again'
	diff before after
	grep -q 'intr = ^X' before
}

@test "terminal: the settings of the caller's are those of the box's" {
	outer_shell
	tty_line 'stty intr ^X; $AGENTBOX run -- sh -c "stty -a >settings"; echo done'
	tty_wait '^done'
	grep -q 'intr = ^X' settings
}

@test "terminal: a killed program's full screen, mouse and hidden cursor go" {
	outer_shell
	tty_line '$AGENTBOX run -- sh -c "printf \"\\033[?1049h\\033[?25l\\033[?1002hfull\"; kill -9 \$\$"; echo status=$?'
	tty_wait '^status=137'
	alternate_screen 0
	cursor_shown 1
	mouse_reported 0
}

@test "terminal: a killed supervisor gives it back" {
	outer_shell
	tty_line 'stty -a >before; $AGENTBOX run -- sh -c "printf \"\\033[?1049h\\033[?25l\"; echo up; exec sleep 100"'
	tty_wait '^up$'
	alternate_screen 1
	kill -9 "$(supervisor)"
	wait_for 90 alternate_screen 0
	wait_for 90 cursor_shown 1
	tty_key Enter
	tty_line 'stty -a >after; echo alive'
	tty_wait '^alive'
	diff before after
}

@test "terminal: a shell without line editing gets it back after a kill too" {
	tty_start dash -i
	tty_wait '^[$#]'
	tty_line 'PS1="dash> "'
	tty_wait '^dash>'
	tty_line 'stty -a >before; $AGENTBOX run -- sh -c "echo up; exec sleep 100"'
	tty_wait '^up$'
	kill -9 "$(supervisor)"
	tty_wait 'Killed'
	wait_for 90 eval 'tty_line "stty -a >after; echo alive"; tty_matches "^alive"'
	diff before after
}

@test "terminal: a supervisor that was stopped and continued still relays" {
	outer_shell
	inner_shell
	pid=$(supervisor)
	kill -STOP "$pid"
	tty_wait 'Stopped'
	tty_line 'fg'
	tty_wait '^PS1=.*AGENTBOX run'
	tty_line 'echo again-$((40 + 2))'
	tty_wait '^again-42'
	tty_line 'exit'
	tty_wait '^outer>$'
}

@test "terminal: nothing of the output is lost at the end" {
	# Not by the end of the pane: tmux may miss there what it has not read.
	tty_start sh -c '"$0" run -- seq 1 4000; echo "status=$?"; read -r _' "$AGENTBOX"
	tty_wait '^status=0'
	tty_screen >"$TEST_DIR/screen"
	[ "$(grep -c '^[0-9][0-9]*$' "$TEST_DIR/screen")" -eq 4000 ]
	grep -B 1 '^status=0' "$TEST_DIR/screen" | grep -qx 4000
}

@test "terminal: nor is it lost on a screen that is slow to take it" {
	cat >"$TEST_DIR/slow.py" <<-'PYTHON'
	import os, pty, sys, time
	pid, fd = pty.fork()
	if pid == 0:
	    os.execv(sys.argv[1], sys.argv[1:])
	while not os.path.exists("ended"):
	    time.sleep(0.05)
	time.sleep(2)
	got = b""
	try:
	    while part := os.read(fd, 65536):
	        got += part
	except OSError:
	    pass
	print(got.count(b"\n"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	PYTHON
	run timeout 240 python3 "$TEST_DIR/slow.py" "$AGENTBOX" run -- sh -c 'seq 1 4000; : >ended' 3>&-
	echo "$output"
	[ "$output" = "4000 0" ]
}

@test "terminal: a closed window ends the command" {
	tty_start "$AGENTBOX" run -- sh -c 'echo up; exec sleep 100'
	tty_wait '^up'
	pid=$(supervisor)
	kill -0 "$pid"
	tty_stop
	wait_for 90 eval '! kill -0 "$pid" 2>/dev/null'
}

@test "terminal: keys cannot be pushed into it, other requests work" {
	outer_shell
	cat >push <<-'PUSH'
	import ctypes, fcntl, os, termios
	libc = ctypes.CDLL(None, use_errno=True)
	libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p]
	def ask(name, request, arg):
	    r = libc.ioctl(0, request, arg)
	    print(name, "ok" if r == 0 else os.strerror(ctypes.get_errno()))
	for c in b"echo pushed\n":
	    r = libc.ioctl(0, 0x5412, bytes([c]))
	ask("TIOCSTI", 0x5412, b"x")
	ask("TIOCSTI-high", 0x100005412, b"x")
	ask("TIOCLINUX", 0x541c, b"\2")
	ask("TIOCLINUX-high", 0xffffffff0000541c, b"\2")
	ask("TIOCGWINSZ", termios.TIOCGWINSZ, bytes(8))
	PUSH
	tty_line '$AGENTBOX run -- python3 push; echo ended'
	tty_wait '^ended'
	tty_wait '^TIOCSTI Operation not permitted'
	tty_wait '^TIOCSTI-high Operation not permitted'
	tty_wait '^TIOCLINUX Operation not permitted'
	tty_wait '^TIOCLINUX-high Operation not permitted'
	tty_wait '^TIOCGWINSZ ok'
	tty_line 'echo prompt'
	tty_wait '^prompt'
	! tty_matches '^pushed' || false
}

# asks_behind TRICK: the box prints TRICK, and then its question is on the screen. This counts
# only before tmux itself gives such a string up, after five seconds; a slow machine tries again.
asks_behind()
{
	local again begun

	for again in {1..5}; do
		rm -f go
		tty_start "$AGENTBOX" run --unknown ask -- sh -c "echo up; until [ -e go ]; do sleep 0.05; done; printf '\\033$1'; curl -sf -o /dev/null http://new.test/"
		tty_wait '^up'
		begun=$SECONDS
		: >go
		tty_wait 'wants new.test:80'
		[ $((SECONDS - begun)) -ge 4 ] || return 0
		tty_stop
		[ -z "$(processes_left)" ]
		rm -r "$AGENTBOX_STATE"
	done
	return 1
}

@test "terminal: nothing that was printed before hides a question, or answers it" {
	for trick in 'P0;\007' 'P0;\033'; do
		asks_behind "$trick"
		# What somebody types who does not look is no answer: each key comes soon
		# after another one. One tmux types them all, so that a slow machine makes
		# no pause, and the first one means nothing.
		tty_tmux send-keys x \; run-shell 'sleep 0.1' \; send-keys a \; run-shell 'sleep 0.1' \; \
			send-keys o \; run-shell 'sleep 0.1' \; send-keys r
		tty_matches 'wants new.test:80'
		# Read together with the keys before it, it would be no answer either.
		wait_for 90 eval 'tty_key n; sleep 1; tty_ended'
		tty_end
		[ "$status" -eq 22 ]
		[ "$(jq -r 'select(.kind == "question") | .answer' "$AGENTBOX_STATE"/runs/*/audit.jsonl)" = no ]
		rm -r "$AGENTBOX_STATE"
		tty_stop
	done
}

# From a shell: what tmux starts itself ignores SIGTTIN, and is never stopped.
@test "terminal: a command gets back the terminal of a job that was killed" {
	cat >job.py <<-'PYTHON'
	import os, signal
	pid = os.fork()
	if pid == 0:
	    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
	    os.setpgid(0, 0)
	    os.tcsetpgrp(0, os.getpgrp())
	    os.kill(os.getpid(), signal.SIGKILL)
	os.waitpid(pid, 0)
	print("asks")
	print("got=" + input())
	PYTHON
	outer_shell
	tty_line '$AGENTBOX run -- python3 job.py; echo status=$?'
	tty_wait '^asks'
	tty_line 'answer'
	tty_wait '^got=answer'
	tty_wait '^status=0'
}

@test "terminal: a command that stops for the terminal again and again is ended" {
	outer_shell
	tty_line '$AGENTBOX run -- sh -c "kill -TTIN \$\$; echo once; kill -TTIN \$\$; echo twice"; echo status=$?'
	tty_wait '^once'
	tty_wait '^twice'
	tty_wait '^status=0'
	tty_line '$AGENTBOX run -- sh -c "while :; do kill -TTIN \$\$; done"; echo status=$?'
	tty_wait 'stopped for the terminal 16 times in 10 seconds'
	tty_wait '^status=125'
}

@test "terminal: Ctrl-C ends a loop of the shell, a status of 130 does not" {
	outer_shell
	tty_line "for i in 1 2 3; do $AGENTBOX run -- sh -c 'echo at-'\$i'; exec sleep 100'; done"
	tty_wait '^at-1'
	tty_key C-c
	tty_wait '^outer> *$'
	! tty_matches '^at-2' || false
	tty_line "for i in a b; do $AGENTBOX run -- sh -c 'echo at-'\$i'; exit 130'; done"
	tty_wait '^at-b'
}
