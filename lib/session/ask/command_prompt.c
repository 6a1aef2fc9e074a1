#include "session/ask/command_prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/system/clock.h"
#include "base/system/fd.h"
#include "session/terminal/signal_hold.h"
#include "session/terminal/tty.h"

/* Nobody reads and answers faster. The rest of a pasted text arrives within
 * this time. */
enum { READ_MS = 200 };

enum heard {
	HEARD_ANSWER,
	HEARD_MORE,
	HEARD_STOP,   /* Ctrl-Z */
	HEARD_SIGNAL, /* one is pending */
	HEARD_END,    /* the terminal is gone */
};

static size_t get_columns(int tty)
{
	struct winsize size;

	return ioctl(tty, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static void write_text(int tty, const struct ab_buf *b)
{
	/* If the terminal cannot be written, the next read fails too. */
	(void)ab_write_all(tty, b->data, b->len);
}

/* The next keys; 0: the terminal is gone, or a signal is pending. */
static size_t get_keys(int tty, const struct ab_signal_hold *hold, char *keys, size_t room,
		       bool *ret_signal)
{
	struct pollfd poll_for[] = { { .fd = tty, .events = POLLIN },
				     { .fd = hold->fd, .events = POLLIN } };
	ssize_t n;

	*ret_signal = false;
	while (poll(poll_for, 2, -1) < 0)
		if (errno != EINTR)
			return 0;
	if (poll_for[1].revents) {
		*ret_signal = true;
		return 0;
	}
	do
		n = read(tty, keys, room);
	while (n < 0 && errno == EINTR);
	return n < 0 ? 0 : (size_t)n;
}

static enum heard read_answer(int tty, const struct ab_signal_hold *hold, enum ab_answer *ret,
			      bool *ret_said)
{
	int64_t shown = ab_now_ms();
	bool signal;

	for (;;) {
		char keys[64];
		size_t n = get_keys(tty, hold, keys, sizeof(keys), &signal);

		if (n == 0)
			return signal ? HEARD_SIGNAL : HEARD_END;
		if (ab_now_ms() - shown < READ_MS)
			continue;
		if (n == 1 && keys[0] == '?')
			return HEARD_MORE;
		if (n == 1 && keys[0] == 26)
			return HEARD_STOP;
		if (ab_command_prompt_key(keys, n, ret)) {
			*ret_said = keys[0] >= ' ';
			return HEARD_ANSWER;
		}
	}
}

/* Asks until there is an answer, or a stop or signal to handle first. */
static enum heard show_and_read(int tty, const struct ab_question *q,
				const struct ab_signal_hold *hold, enum ab_answer *ret,
				bool *ret_said)
{
	ab_autobuf struct ab_buf text = { 0 };
	enum heard heard;
	bool more = false;

	do {
		text.len = 0;
		if (more)
			ab_buf_puts(&text, "more\n");
		(more ? ab_command_prompt_more : ab_command_prompt_question)(&text, q,
									     get_columns(tty));
		write_text(tty, &text);
		tcflush(tty, TCIFLUSH);
		heard = read_answer(tty, hold, ret, ret_said);
		more = heard == HEARD_MORE;
	} while (more);
	text.len = 0;
	if (heard == HEARD_ANSWER)
		ab_buf_printf(&text, "%s\n", ab_answer_names[*ret]);
	else
		ab_buf_puts(&text, "\n");
	write_text(tty, &text);
	return heard;
}

/* No line editing, no echo, and no key raises a signal. */
static int make_quiet(int tty, struct termios *ret_before)
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

static enum heard ask_once(int tty, const struct ab_question *q, enum ab_answer *ret,
			   bool *ret_said)
{
	struct termios before;
	struct ab_error err;
	struct ab_signal_hold hold;
	enum heard heard = HEARD_END;

	if (ab_signal_hold_begin(&hold, &err) < 0)
		return HEARD_END;
	if (make_quiet(tty, &before) == 0) {
		heard = show_and_read(tty, q, &hold, ret, ret_said);
		/* Discards excess keys: the command must not read them either. */
		tcsetattr(tty, TCSAFLUSH, &before);
	}
	/* A pending signal takes effect here: we end, or stop and continue. */
	ab_signal_hold_end(&hold);
	return heard;
}

enum ab_asked ab_command_prompt(const struct ab_question *q, enum ab_answer *ret_answer,
				bool *ret_said)
{
	ab_autoclose int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	enum ab_answer answer = AB_ANSWER_NO;
	bool said = false;
	enum heard heard;

	if (tty < 0)
		return AB_ASK_NO_TERMINAL;
	do {
		if (!ab_tty_foreground(tty))
			return AB_ASK_BACKGROUND;
		heard = ask_once(tty, q, &answer, &said);
		if (heard == HEARD_STOP)
			kill(0, SIGTSTP);
	} while (heard == HEARD_STOP || heard == HEARD_SIGNAL);
	*ret_answer = heard == HEARD_ANSWER ? answer : AB_ANSWER_NO;
	*ret_said = said;
	return AB_ASKED;
}
