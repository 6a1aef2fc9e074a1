#include "consent/ask/tty_keys.h"

/* Nobody reads and answers faster. The rest of a pasted text arrives within
 * this time. */
enum { READ_MS = 200 };

int ab_tty_keys_begin(int tty, struct termios *ret_before)
{
	struct termios quiet;

	if (tcgetattr(tty, ret_before) < 0)
		return -1;
	quiet = *ret_before;
	quiet.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	quiet.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
	quiet.c_oflag |= OPOST | ONLCR;
	quiet.c_cc[VMIN] = 1;
	quiet.c_cc[VTIME] = 0;
	return tcsetattr(tty, TCSAFLUSH, &quiet);
}

void ab_tty_keys_end(int tty, const struct termios *before)
{
	tcsetattr(tty, TCSAFLUSH, before);
}

size_t ab_tty_keys_read(int tty, int wake, int64_t shown, char *keys, size_t room, bool *ret_woken)
{
	struct pollfd poll_for[] = { { .fd = tty, .events = POLLIN },
				     { .fd = wake, .events = POLLIN } };

	*ret_woken = false;
	for (;;) {
		ssize_t n;

		if (poll(poll_for, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return 0;
		}
		if (poll_for[1].revents) {
			*ret_woken = true;
			return 0;
		}
		n = read(tty, keys, room);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return 0;
		if (ab_now_ms() - shown >= READ_MS)
			return (size_t)n;
	}
}
