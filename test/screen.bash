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
# that, nobody can have read the question.
read_it()
{
	sleep 1
}
