#include <inttypes.h>

#include "consent/ask/tty_keys.h"
#include "session/review/reviewer.h"

struct person {
	int tty, supervisor;
	bool interrupted; /* the supervisor has closed its socket: the run ends */
};

/* One key that was typed alone, after the question was shown; 0: there will be none. */
static char read_key(struct person *p)
{
	int64_t shown = ab_now_ms();
	char keys[64];
	size_t n;

	/* Several bytes are another key, or pasted text. */
	do
		n = ab_tty_keys_read(p->tty, p->supervisor, shown, keys, sizeof(keys),
				     &p->interrupted);
	while (n > 1);
	return n ? keys[0] : 0;
}

static void say(const struct person *p, const char *text)
{
	(void)ab_write_all(p->tty, text, strlen(text));
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

static enum ab_review_answer read_answer(struct person *p)
{
	for (;;) {
		char key = read_key(p);

		if (key >= 'A' && key <= 'Z')
			key = (char)(key - 'A' + 'a');
		for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
			if (answers[i].key == key) {
				say(p, answers[i].name);
				say(p, "\n");
				return answers[i].answer;
			}
	}
}

/* Only this answer destroys something. */
static bool confirm_discard(struct person *p, const struct ab_review_sum *sum)
{
	ab_autobuf struct ab_buf text = { 0 };
	bool yes;
	char key;

	ab_buf_printf(&text, "Discard %" PRIu64 " change%s? [y/N] ", sum->waiting,
		      sum->waiting == 1 ? "" : "s");
	say(p, text.data);
	key = read_key(p);
	yes = key == 'y' || key == 'Y';
	say(p, yes ? "yes\n" : "no\n");
	return yes;
}

enum ab_review_answer ab_review_prompt(int tty, int supervisor, const struct ab_review_sum *sum)
{
	const char *question = sum->cut	   ? "[r]eview  [d]iscard  [l]ater "
			       : sum->held ? "[a]pply the safe ones  [r]eview  [d]iscard  [l]ater "
					   : "[a]pply  [r]eview  [d]iscard  [l]ater ";
	struct person p = { .tty = tty, .supervisor = supervisor };
	enum ab_review_answer answer = AB_REVIEW_LATER;
	struct termios before;

	if (ab_tty_keys_begin(tty, &before) < 0)
		return AB_REVIEW_LATER;
	do {
		say(&p, question);
		tcflush(tty, TCIFLUSH);
		answer = read_answer(&p);
	} while (!p.interrupted && ((answer == AB_REVIEW_DISCARD && !confirm_discard(&p, sum)) ||
				    (answer == AB_REVIEW_APPLY && sum->cut)));
	ab_tty_keys_end(tty, &before);
	return p.interrupted ? AB_REVIEW_INTERRUPTED : answer;
}
