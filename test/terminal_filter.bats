# What the command writes to the caller's terminal: sequences that do more than
# control the screen do not get there, and late answers do not reach the shell.

load helpers

setup()
{
	box_setup
	export AGENTBOX
	cat >"$TEST_DIR/on_terminal.py" <<-'END'
	# on_terminal.py COMMAND...: run it on a terminal, print what the terminal gets, in
	# hexadecimal digits. The terminal answers a question about its cursor only
	# when it is asked what it is, or when the shell says that the box is gone.
	import os, pty, select, sys, time
	pid, fd = pty.fork()
	if pid == 0:
	    os.execvp(sys.argv[1], sys.argv[1:])
	seen, end, asked, keys = b"", time.time() + 60, False, os.environ.get("KEYS", "")
	while time.time() < end:
	    if select.select([fd], [], [], 0.5)[0]:
	        try:
	            part = os.read(fd, 65536)
	        except OSError:
	            break
	        if not part:
	            break
	        seen += part
	    if keys and os.environ["WHEN"].encode() in seen:
	        os.write(fd, keys.encode())
	        keys = ""
	    asked = asked or b"\x1b[6n" in seen
	    if asked is True and (b"\x1b[c" in seen or b"box is gone" in seen):
	        asked = "answered"
	        os.write(fd, b"\x1b[1;1R")
	        if b"\x1b[c" in seen:
	            os.write(fd, b"\x1b[?62;22c")
	print(seen.hex())
	sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
}

# on_terminal COMMAND...: its output there is in $shown.
on_terminal()
{
	run timeout 90 python3 "$TEST_DIR/on_terminal.py" "$@"
	[ "$status" -eq 0 ]
	shown=$(tail -n 1 <<<"$output" | python3 -c '
import sys
sys.stdout.write(bytes.fromhex(sys.stdin.read()).decode("latin-1").encode("unicode_escape").decode())')
}

dangerous='printf "a\033]52;c;cm0gLXJmIH4K\ab\033]52;c;?\033\\\\c\033[21td\033[5ie\033P\$qm\033\\\\f\033P+q544e\033\\\\g\005h\033]50;?\ai\302\23552;c;eA==\aj\033_Gx\033\\\\k\033]777;notify;a;b\al\n"'
harmless='printf "\033[1;31mred\033[0m \033]0;title\a\033]8;;http://x/\alink\033]8;;\a \303\251\342\200\224\n"'

@test "terminal: clipboard, print and reports do not reach it, colours and titles do" {
	on_terminal "$AGENTBOX" run --yes -- sh -c "$dangerous; $harmless"
	[ "$shown" = 'abcdefghijkl\r\n\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x/\x07link\x1b]8;;\x07 \xc3\xa9\xe2\x80\x94\r\n' ]
}

@test "terminal: raw passes everything, as an option and as a setting" {
	on_terminal "$AGENTBOX" run --yes --terminal raw -- sh -c "$dangerous"
	[[ "$shown" == 'a\x1b]52;c;cm0gLXJmIH4K\x07b'*'d\x1b[5ie\x1b'*'g\x05h'* ]]
	mkdir -p "$HOME/.config/agentbox"
	echo '{ "terminal": "raw" }' >"$HOME/.config/agentbox/config.json"
	on_terminal "$AGENTBOX" run --yes -- sh -c "$dangerous"
	[[ "$shown" == 'a\x1b]52;c;'* ]]
	echo '{ "terminal": "filtered" }' >"$HOME/.config/agentbox/config.json"
	echo '{ "terminal": "raw" }' >.agentbox.json
	on_terminal "$AGENTBOX" run --yes -- sh -c "$dangerous"
	[[ "$shown" == *'abcdefghijkl\r\n' ]]
	[[ "$shown" != *']52'* ]]
}

@test "terminal: an answer that comes late does not reach the shell" {
	cat >"$TEST_DIR/shell" <<-'END'
	#!/bin/sh
	$AGENTBOX run --yes -- sh -c 'printf "ask\033[6n"'
	stty raw -echo min 0 time 10
	printf "box is gone"
	dd bs=100 count=1 2>/dev/null | od -An -tx1 >"$1"
	END
	chmod +x "$TEST_DIR/shell"
	on_terminal "$TEST_DIR/shell" "$TEST_DIR/typed"
	[[ "$shown" == *'ask\x1b[6n'*'box is gone'* ]]
	[ ! -s "$TEST_DIR/typed" ]
}

@test "terminal: programs of the full screen look the same with and without the filter" {
	local kind program

	seq 100 >numbers
	cat >full.py <<-'END'
	import curses
	def main(screen):
	    curses.start_color(), curses.use_default_colors(), curses.mousemask(curses.ALL_MOUSE_EVENTS)
	    curses.init_pair(1, curses.COLOR_BLACK, curses.COLOR_CYAN)
	    screen.bkgd(" ", curses.color_pair(1)), screen.box(), screen.addstr(2, 2, "drawn \u2014 here", curses.A_BOLD)
	    screen.refresh(), screen.getch()
	curses.wrapper(main)
	END
	export TERM=xterm-256color LC_ALL=C.UTF-8
	for program in 'less numbers' 'python3 full.py' 'vim -N -u NONE -i NONE numbers'; do
		for kind in raw filtered; do
			case $program in
			less*) export WHEN=numbers KEYS=q ;;
			python3*) export WHEN=here KEYS=q ;;
			vim*) export WHEN=$'\033[?25h' KEYS=$':q!\r' ;;
			esac
			on_terminal "$AGENTBOX" run --yes --terminal "$kind" -- $program
			printf '%s' "$shown" >"$TEST_DIR/$kind"
		done
		# Questions that vim asks depend on how fast it is, and of its
		# strings for the terminal one has no meaning on purpose.
		python3 - "$TEST_DIR/raw" "$TEST_DIR/filtered" <<-'END'
		import re, sys
		raw, filtered = (open(name).read() for name in sys.argv[1:])
		raw = re.sub(r"\\x1bP.*?\\x1b\\\\", "", raw)
		raw, filtered = (re.sub(r"\\x1b\[(\?4m|c$)", "", text) for text in (raw, filtered))
		assert len(raw) > 100
		assert raw == filtered, (raw, filtered)
		END
	done
}
