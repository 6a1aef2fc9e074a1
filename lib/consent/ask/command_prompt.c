#include "consent/ask/command_prompt.h"

#include "consent/ask/tty_keys.h"
#include "terminal/signal_hold.h"
#include "terminal/tty.h"

enum heard {
	HEARD_ANSWER,
	HEARD_MORE,
	HEARD_STOP,   /* Ctrl-Z */
	HEARD_SIGNAL, /* one is pending */
	HEARD_END,    /* the terminal is gone */
};

static enum heard read_answer(int tty, const struct ab_signal_hold *hold, enum ab_answer *ret,
			      bool *ret_said)
{
	int64_t shown = ab_now_ms();
	bool signal;

	for (;;) {
		char keys[64];
		size_t n = ab_tty_keys_read(tty, hold->fd, shown, keys, sizeof(keys), &signal);

		if (n == 0)
			return signal ? HEARD_SIGNAL : HEARD_END;
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
		(more ? ab_command_prompt_more
		      : ab_command_prompt_question)(&text, q, ab_tty_columns(tty, 80));
		/* If it cannot be written, the next read fails too. */
		(void)ab_write_all(tty, text.data, text.len);
		tcflush(tty, TCIFLUSH);
		heard = read_answer(tty, hold, ret, ret_said);
		more = heard == HEARD_MORE;
	} while (more);
	text.len = 0;
	if (heard == HEARD_ANSWER)
		ab_buf_printf(&text, "%s\n", ab_answer_names[*ret]);
	else
		ab_buf_puts(&text, "\n");
	(void)ab_write_all(tty, text.data, text.len);
	return heard;
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
	if (ab_tty_keys_begin(tty, &before) == 0) {
		heard = show_and_read(tty, q, &hold, ret, ret_said);
		ab_tty_keys_end(tty, &before);
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
