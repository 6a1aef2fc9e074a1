# Questions on a terminal, and a run on the whole screen: `load screen` after
# internet. The terminal is that of helpers (tty_start and the like).

UNJUDGED=1

setup()
{
	need program:tmux
	BOX=
	box_setup
	internet_mark
}

# Keys count only after a person can have read what is there, which is three
# quarters of a second without any.
read_it()
{
	sleep 1
}
