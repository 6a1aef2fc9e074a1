/*
 * Theory of operation.
 *
 * A question is asked from ab_host_prompt_show to ab_host_prompt_hide. As long as we are
 * in the terminal's foreground it stands there (the prompt is the terminal's
 * guest); in the background it waits, and every second is a chance to look
 * again. It is answered at most once.
 *
 * Should: take a key for an answer only if somebody can have read the question
 * before: alone, and after a pause. The box chooses when it asks, and may do so
 * while somebody types to its program, or put one question in the place of
 * another: who is typing is not reading, and every key begins the pause anew.
 * Mustn't: take a yes from anything but a letter that was typed by itself.
 */
#include "session/ask/host_prompt.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "session/terminal/key_reader.h"
#include "session/terminal/terminal.h"
#include "session/terminal/tty.h"

enum {
	/* Nobody reads and answers faster; who types leaves shorter pauses,
	 * and sees within this time that the screen is another one. */
	READ_MS = 750,
	TICK_MS = 1000,
};

struct ab_host_prompt {
	struct ab_terminal *terminal;
	bool own; /* the terminal is only for us */
	struct ab_host_prompt_watch watch;
	struct ab_timer tick, lone;
	struct ab_key_reader keys;
	struct ab_host_prompt_question question; /* its texts are ours */
	bool asking, answered, more, gone;
	bool seen;	/* it has been drawn: a screen may be slow */
	uint64_t rests; /* since when nobody types, in the loop's time */
	uint64_t ends;
};

static uint64_t now(const struct ab_host_prompt *p)
{
	return p->watch.loop->now;
}

static void forget(struct ab_host_prompt *p)
{
	struct ab_host_prompt_question *q = &p->question;
	const char *texts[] = { q->run_id, q->host, q->door, q->who };

	for (size_t i = 0; i < AB_COUNT(texts); i++)
		free((char *)(uintptr_t)texts[i]);
	*q = (struct ab_host_prompt_question){ 0 };
}

static void remember(struct ab_host_prompt *p, const struct ab_host_prompt_question *q)
{
	struct ab_host_prompt_question copy = *q;

	copy.run_id = ab_strdup(q->run_id);
	copy.host = ab_strdup(q->host);
	copy.door = ab_strdup(q->door);
	copy.who = ab_strdup(q->who);
	forget(p);
	p->question = copy;
	p->ends = now(p) + q->left_ms;
}

static void draw(void *arg, struct ab_buf *b, size_t rows, size_t cols)
{
	struct ab_host_prompt *p = arg;
	ab_autobuf struct ab_buf text = { 0 };
	const char *line;
	size_t row = 1;

	p->question.left_ms = p->ends > now(p) ? p->ends - now(p) : 0;
	ab_host_prompt_text(&text, &p->question, p->more, rows, cols);
	for (line = text.data; line; row++) {
		size_t len = strcspn(line, "\n");

		ab_buf_printf(b, "\033[%zu;1H\033[2K", row);
		ab_buf_add(b, line, len);
		line = line[len] ? line + len + 1 : NULL;
	}
	if (row <= rows)
		ab_buf_printf(b, "\033[%zu;1H\033[J", row);
}

static void drawn(void *arg)
{
	struct ab_host_prompt *p = arg;

	if (!p->seen)
		p->rests = now(p);
	p->seen = true;
}

static void give(struct ab_host_prompt *p, enum ab_answer answer, bool said)
{
	if (!p->asking || p->answered)
		return;
	p->answered = true;
	ab_loop_timer_stop(p->watch.loop, &p->lone);
	p->watch.answered(p->watch.arg, p->question.number, answer, said);
}

/* true: it is one of ours. */
static bool take_key(struct ab_host_prompt *p, int key)
{
	/* Ctrl-C, Ctrl-D, Ctrl-\ and Escape are no answer, and so a no. */
	static const struct {
		int key;
		enum ab_answer answer;
	} meaning[] = {
		{ 'o', AB_ANSWER_ONCE },   { 'r', AB_ANSWER_SESSION },
		{ 'a', AB_ANSWER_ALWAYS }, { 'n', AB_ANSWER_NO },
		{ 3, AB_ANSWER_NO },	   { 4, AB_ANSWER_NO },
		{ 28, AB_ANSWER_NO },	   { AB_KEY_ESCAPE, AB_ANSWER_NO },
	};

	if (key == '?') {
		p->more = !p->more;
		ab_terminal_redraw(p->terminal);
		return true;
	}
	for (size_t i = 0; i < AB_COUNT(meaning); i++)
		if (meaning[i].key == key) {
			give(p, meaning[i].answer, key >= ' ');
			return true;
		}
	return false;
}

static bool can_be_read(const struct ab_host_prompt *p)
{
	return p->seen && now(p) - p->rests >= READ_MS;
}

static void heard(void *arg, const char *data, size_t len)
{
	struct ab_host_prompt *p = arg;
	int keys[256];
	size_t n;

	if (len == 0) {
		p->gone = true;
		give(p, AB_ANSWER_NO, false);
		return;
	}
	n = ab_key_reader_feed(&p->keys, data, len < 256 ? len : 256, keys);
	if (ab_key_reader_open(&p->keys))
		ab_loop_timer(p->watch.loop, &p->lone, AB_KEYS_MS);
	else
		ab_loop_timer_stop(p->watch.loop, &p->lone);
	/* Several at once were not typed. */
	if (n == 1 && can_be_read(p) && take_key(p, keys[0]))
		return;
	if (n)
		p->rests = now(p);
}

static void escape_alone(struct ab_timer *timer)
{
	struct ab_host_prompt *p = timer->owner;

	if (!ab_key_reader_alone(&p->keys))
		return;
	if (can_be_read(p))
		(void)take_key(p, AB_KEY_ESCAPE);
	else
		p->rests = now(p);
}

/* On the screen, if we may. */
static void put_up(struct ab_host_prompt *p)
{
	struct ab_terminal_guest guest = { .draw = draw, .drawn = drawn, .keys = heard, .arg = p };

	if (!p->gone && ab_terminal_hold(p->terminal, &guest)) {
		p->keys = (struct ab_key_reader){ 0 };
		p->rests = now(p);
		p->seen = false;
	}
}

static void second_passed(struct ab_timer *timer)
{
	struct ab_host_prompt *p = timer->owner;

	if (ab_terminal_held(p->terminal))
		ab_terminal_redraw(p->terminal);
	else
		put_up(p);
	ab_loop_timer(p->watch.loop, &p->tick, TICK_MS);
}

int ab_host_prompt_open(struct ab_terminal *terminal, struct ab_host_prompt **ret,
			struct ab_error *err)
{
	struct ab_terminal *own = NULL;

	*ret = NULL;
	if (ab_tty_dumb())
		return 0;
	if (!terminal && ab_terminal_open_own(&own, err) < 0)
		return -1;
	if (!terminal)
		terminal = own;
	if (!terminal || !ab_terminal_suits(terminal)) {
		ab_terminal_close(own);
		return 0;
	}
	*ret = ab_alloc(sizeof(**ret));
	(*ret)->terminal = terminal;
	(*ret)->own = own != NULL;
	return 0;
}

void ab_host_prompt_rescue_get(const struct ab_host_prompt *p, struct ab_terminal_rescue *ret)
{
	ab_terminal_rescue_get(p ? p->terminal : NULL, ret);
}

int ab_host_prompt_attach(struct ab_host_prompt *p, const struct ab_host_prompt_watch *watch,
			  struct ab_error *err)
{
	p->watch = *watch;
	p->tick = (struct ab_timer){ .fire = second_passed, .owner = p };
	p->lone = (struct ab_timer){ .fire = escape_alone, .owner = p };
	return p->own ? ab_terminal_attach(p->terminal, -1, watch->loop, err) : 0;
}

void ab_host_prompt_show(struct ab_host_prompt *p, const struct ab_host_prompt_question *q)
{
	bool same = p->asking && p->question.number == q->number;

	remember(p, q);
	p->asking = true;
	if (same && ab_terminal_held(p->terminal)) {
		ab_terminal_redraw(p->terminal);
		return;
	}
	if (!same)
		p->more = p->answered = false;
	put_up(p);
	ab_loop_timer(p->watch.loop, &p->tick, TICK_MS);
}

/* Off the screen; true: it was there. */
static bool take_down(struct ab_host_prompt *p)
{
	bool held = ab_terminal_held(p->terminal);

	ab_loop_timer_stop(p->watch.loop, &p->tick);
	ab_loop_timer_stop(p->watch.loop, &p->lone);
	ab_terminal_release(p->terminal);
	return held;
}

void ab_host_prompt_hide(struct ab_host_prompt *p)
{
	if (!p->asking)
		return;
	p->asking = false;
	if (take_down(p))
		p->watch.redraw(p->watch.arg);
	forget(p);
}

bool ab_host_prompt_asking(const struct ab_host_prompt *p)
{
	return p->asking;
}

void ab_host_prompt_resize(struct ab_host_prompt *p)
{
	ab_terminal_redraw(p->terminal);
}

void ab_host_prompt_suspend(struct ab_host_prompt *p)
{
	if (p->own)
		ab_terminal_suspend(p->terminal);
}

void ab_host_prompt_resume(struct ab_host_prompt *p)
{
	if (p->own)
		ab_terminal_resume(p->terminal);
	if (p->asking)
		put_up(p);
}

bool ab_host_prompt_able(const struct ab_host_prompt *p)
{
	return !p->gone && ab_terminal_able(p->terminal);
}

void ab_host_prompt_close(struct ab_host_prompt *p)
{
	if (!p)
		return;
	if (p->watch.loop)
		take_down(p);
	if (p->own)
		ab_terminal_close(p->terminal);
	forget(p);
	free(p);
}
