#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/system/clock.h"
#include "base/system/fd.h"
#include "session/review/reviewer.h"

/* Nobody reads and answers faster. The rest of a pasted text arrives within this time. */
enum { READ_MS = 200 };

static volatile sig_atomic_t interrupted;

static void note_signal(int sig)
{
	(void)sig;
	interrupted = 1;
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

/* One key that was typed alone, after the question was shown; 0: the terminal is gone. */
static char read_key(int tty)
{
	int64_t shown = ab_now_ms();

	for (;;) {
		char keys[64];
		ssize_t n = read(tty, keys, sizeof(keys));

		if (n < 0 && errno == EINTR && !interrupted)
			continue;
		if (n < 0 && errno == EAGAIN && !interrupted) {
			struct pollfd p = { .fd = tty, .events = POLLIN };

			(void)poll(&p, 1, -1);
			continue;
		}
		if (n <= 0)
			return 0;
		/* Several bytes are another key, or pasted text. */
		if (n == 1 && ab_now_ms() - shown >= READ_MS)
			return keys[0];
	}
}

static const struct {
	char key;
	enum ab_review_answer answer;
	const char *name;
} answers[] = {
	{ 'a', AB_REVIEW_APPLY, "apply" },     { 'r', AB_REVIEW_SHOW, "review" },
	{ 'd', AB_REVIEW_DISCARD, "discard" }, { 'l', AB_REVIEW_LATER, "later" },
	{ 'q', AB_REVIEW_LATER, "later" },     { 0, AB_REVIEW_LATER, "later" },
	{ 3, AB_REVIEW_LATER, "later" },  /* Ctrl-C */
	{ 4, AB_REVIEW_LATER, "later" },  /* Ctrl-D */
	{ 28, AB_REVIEW_LATER, "later" }, /* Ctrl-\ */
};

static enum ab_review_answer read_answer(int tty)
{
	for (;;) {
		char key = read_key(tty);

		if (key >= 'A' && key <= 'Z')
			key = (char)(key - 'A' + 'a');
		for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
			if (answers[i].key == key) {
				(void)ab_write_all(tty, answers[i].name, strlen(answers[i].name));
				(void)ab_write_all(tty, "\n", 1);
				return answers[i].answer;
			}
	}
}

/* Only this answer destroys something. */
static bool confirm_discard(int tty, const struct ab_review_sum *sum)
{
	ab_autobuf struct ab_buf text = { 0 };
	char key;

	ab_buf_printf(&text, "Discard %" PRIu64 " change%s? [y/N] ", sum->waiting,
		      sum->waiting == 1 ? "" : "s");
	(void)ab_write_all(tty, text.data, text.len);
	key = read_key(tty);
	(void)ab_write_all(tty, key == 'y' || key == 'Y' ? "yes\n" : "no\n",
			   key == 'y' || key == 'Y' ? 4 : 3);
	return key == 'y' || key == 'Y';
}

enum ab_review_answer ab_review_prompt(int tty, const struct ab_review_sum *sum)
{
	const char *question = sum->cut	   ? "[r]eview  [d]iscard  [l]ater "
			       : sum->held ? "[a]pply the safe ones  [r]eview  [d]iscard  [l]ater "
					   : "[a]pply  [r]eview  [d]iscard  [l]ater ";
	/* The supervisor ends: restore the terminal first. */
	const struct sigaction note = { .sa_handler = note_signal };
	enum ab_review_answer answer = AB_REVIEW_LATER;
	struct termios before;

	sigaction(SIGTERM, &note, NULL);
	sigaction(SIGHUP, &note, NULL);
	if (make_quiet(tty, &before) < 0)
		return AB_REVIEW_LATER;
	do {
		(void)ab_write_all(tty, question, strlen(question));
		tcflush(tty, TCIFLUSH);
		answer = read_answer(tty);
	} while (!interrupted && ((answer == AB_REVIEW_DISCARD && !confirm_discard(tty, sum)) ||
				  (answer == AB_REVIEW_APPLY && sum->cut)));
	/* Discards excess keys. */
	tcsetattr(tty, TCSAFLUSH, &before);
	return interrupted ? AB_REVIEW_INTERRUPTED : answer;
}
