# For tests of questions on the terminal and of full-screen programs: `load
# screen` after internet. The terminal is the one of helpers (tty_start etc.).

UNJUDGED=1

setup()
{
	need program:tmux
	BOX=
	box_setup
	internet_mark
}

# A key counts only if no key was pressed for three quarters of a second: before
# that, nobody can have read the question. Twice and more that long, for a machine that is
# busy between drawing and taking the time.
read_it()
{
	sleep 2
}
