#include "terminal/tty.h"

#include <sys/ioctl.h>
#include <termios.h>

bool ab_tty_foreground(int fd)
{
	pid_t group = tcgetpgrp(fd);

	/* ENOTTY: not our controlling terminal; using it never stops us. */
	return group == getpgrp() || (group < 0 && errno == ENOTTY);
}

static uint32_t find_terminals(void)
{
	struct termios termios;
	uint32_t fds = 0;

	for (int fd = 0; fd < 3; fd++)
		if (tcgetattr(fd, &termios) == 0)
			fds |= 1u << fd;
	return fds;
}

/* The first terminal in this order whose access mode is not `unfit`; else the
 * first terminal, which perhaps can be opened again. */
static int pick_descriptor(uint32_t fds, const int order[3], int unfit)
{
	int any = -1;

	for (int i = 0; i < 3; i++) {
		int fd = order[i], mode = fcntl(fd, F_GETFL);

		if (!(fds & (1u << fd)) || mode < 0)
			continue;
		if ((mode & O_ACCMODE) != unfit)
			return fd;
		if (any < 0)
			any = fd;
	}
	return any;
}

static int reopen_terminal(int fd)
{
	const int flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
	unsigned int number;
	char path[32];
	int own;

	/* Opening a master again would create a new terminal. */
	if (ioctl(fd, TIOCGPTN, &number) == 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, flags);
	/* After su or sudo the terminal belongs to another user, but we can
	 * always open our controlling one. */
	if (own < 0 && tcgetpgrp(fd) >= 0)
		own = open("/dev/tty", flags);
	return own;
}

static int open_own(int fd, int unfit, bool *ret_shared)
{
	int own = reopen_terminal(fd), mode = fcntl(fd, F_GETFL);

	*ret_shared = own < 0;
	if (own < 0 && mode >= 0 && (mode & O_ACCMODE) != unfit)
		own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return own;
}

static bool same_terminal(int a, int b)
{
	unsigned int x, y;

	return a == b || (ioctl(a, TIOCGDEV, &x) == 0 && ioctl(b, TIOCGDEV, &y) == 0 && x == y);
}

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

bool ab_tty_bypassed(void)
{
	return is_pipe(0) || is_pipe(1) || is_pipe(2);
}

void ab_tty_open(struct ab_tty *ret)
{
	static const int in_order[] = { 0, 1, 2 }, out_order[] = { 1, 2, 0 };
	struct ab_tty tty = { .fds = find_terminals(), .in = -1, .out = -1 };
	int in, out;

	*ret = tty;
	if (!tty.fds)
		return;
	in = pick_descriptor(tty.fds, in_order, O_WRONLY);
	out = pick_descriptor(tty.fds, out_order, O_RDONLY);
	tty.same = same_terminal(in, out);
	tty.in = open_own(in, O_WRONLY, &tty.in_shared);
	if (tty.same && tty.in >= 0 && !tty.in_shared)
		tty.out = fcntl(tty.in, F_DUPFD_CLOEXEC, 3);
	else
		tty.out = open_own(out, O_RDONLY, &tty.out_shared);
	tty.pipeline = is_pipe(0) || is_pipe(1);
	tty.bypassed = ab_tty_bypassed();
	/*
	 * A script without job control starts its background jobs in its own
	 * group, which may be the foreground group, with something else on 0.
	 * So the terminal is ours only if it is on 0.
	 */
	tty.ours = (tty.fds & 1) && !tty.pipeline && tcgetpgrp(tty.in) == getpgrp();
	*ret = tty;
}

size_t ab_tty_columns(int fd, size_t unknown)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : unknown;
}

bool ab_tty_dumb(void)
{
	const char *term = getenv("TERM");

	return term && strcmp(term, "dumb") == 0;
}
