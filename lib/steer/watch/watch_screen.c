#include "steer/watch/watch_screen.h"

#include <sys/ioctl.h>

#include "terminal/tty.h"

static const char enter[] = "\033[?1049h\033[?25l\033[?7l\033[H\033[2J";
static const char leave[] = "\033[0m\033[?7h\033[?25h\033[?1049l";

static void write_out(const char *text, size_t len)
{
	/* If writing fails, reading fails too and ends the loop. */
	(void)ab_write_all(STDOUT_FILENO, text, len);
}

static int take_terminal(struct ab_watch_screen *s, struct ab_error *err)
{
	struct termios raw;

	/* In the background this stops us until we get the terminal. */
	tcdrain(STDIN_FILENO);
	if (tcgetattr(STDIN_FILENO, &s->before) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "read the terminal settings");
	raw = s->before;
	raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INLCR | ISTRIP | IXON);
	raw.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
	/* Reads do not block. */
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	if (ab_signal_hold_begin(&s->hold, err) < 0)
		return -1;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	write_out(enter, sizeof(enter) - 1);
	ab_strv_fini(&s->shown);
	return 0;
}

static void release_terminal(struct ab_watch_screen *s)
{
	write_out(leave, sizeof(leave) - 1);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &s->before);
	/* Held signals are delivered here. */
	ab_signal_hold_end(&s->hold);
}

int ab_watch_screen_open(struct ab_watch_screen *ret, struct ab_error *err)
{
	*ret = (struct ab_watch_screen){ .hold = { .fd = -1 } };
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		ab_fail(err, AB_EUSAGE, 0, "watch needs a terminal");
		return ab_hint(err, "without a terminal, use:  agentbox log -f");
	}
	if (ab_tty_dumb()) {
		ab_fail(err, AB_EUSAGE, 0,
			"watch needs a terminal that can draw, and TERM says "
			"\"dumb\"");
		return ab_hint(err, "here:  agentbox log -f");
	}
	return take_terminal(ret, err);
}

void ab_watch_screen_close(struct ab_watch_screen *s)
{
	release_terminal(s);
	ab_strv_fini(&s->shown);
}

bool ab_watch_screen_look(struct ab_watch_screen *s)
{
	struct winsize size = { 0 };
	size_t rows, cols;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	rows = size.ws_row ? size.ws_row : 24;
	cols = size.ws_col ? size.ws_col : 80;
	if (rows == s->rows && cols == s->cols)
		return false;
	s->rows = rows;
	s->cols = cols;
	ab_strv_fini(&s->shown);
	return true;
}

void ab_watch_screen_draw(struct ab_watch_screen *s, const struct ab_strv *lines)
{
	ab_autobuf struct ab_buf b = { 0 };

	if (s->shown.len == 0)
		ab_buf_puts(&b, "\033[H\033[2J");
	for (size_t i = 0; i < lines->len && i < s->rows; i++)
		if (i >= s->shown.len || strcmp(lines->v[i], s->shown.v[i]) != 0)
			ab_buf_printf(&b, "\033[%zu;1H\033[2K%s", i + 1, lines->v[i]);
	if (lines->len < s->shown.len)
		ab_buf_printf(&b, "\033[%zu;1H\033[J", lines->len + 1);
	ab_strv_fini(&s->shown);
	ab_strv_extend(&s->shown, lines);
	if (b.len)
		write_out(b.data, b.len);
}

void ab_watch_screen_wait(const struct ab_watch_screen *s, int other, int ms,
			  struct ab_watch_wait *ret)
{
	struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				{ .fd = s->hold.fd, .events = POLLIN },
				{ .fd = other, .events = POLLIN } };

	*ret = (struct ab_watch_wait){ 0 };
	if (poll(fds, 3, ms) <= 0)
		return;
	ret->keys = fds[0].revents;
	ret->signal = fds[1].revents;
	ret->other = fds[2].revents;
}

long ab_watch_screen_keys(struct ab_watch_screen *s, int *ret, size_t room)
{
	char bytes[256];
	ssize_t n = read(STDIN_FILENO, bytes, room < sizeof(bytes) ? room : sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	/* Readable without data: the terminal is gone, or we are in the
	 * background. */
	if (n <= 0)
		return -1;
	n = (ssize_t)ab_key_reader_feed(&s->keys, bytes, (size_t)n, ret);
	/* Escape alone does nothing, but it must not join the next key. */
	if (ab_key_reader_open(&s->keys) && ab_poll(STDIN_FILENO, POLLIN, AB_KEYS_MS) == 0)
		ab_key_reader_alone(&s->keys);
	return n;
}

int ab_watch_screen_yield(struct ab_watch_screen *s, bool stop, struct ab_error *err)
{
	release_terminal(s);
	if (stop)
		kill(0, SIGTSTP);
	return take_terminal(s, err);
}
