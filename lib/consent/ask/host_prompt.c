/*
 * Theory of operation.
 *
 * A question is open from ab_host_prompt_show to ab_host_prompt_hide. It is on
 * the screen (the prompt is the terminal's guest) while we are in the
 * terminal's foreground; in the background it waits, and a timer tries again
 * every second. It is answered at most once.
 *
 * Should: accept a key only if the person had time to read the question: a
 * single key, after a pause. The box chooses when it asks, and may do so while
 * the person types to its program, or replace one question with another. A
 * person who types does not read, so every key restarts the pause.
 * Mustn't: accept a yes from anything but a letter that was typed by itself.
 */
#include "consent/ask/host_prompt.h"

#include "terminal/key_reader.h"
#include "terminal/terminal.h"
#include "terminal/tty.h"

enum {
	/* Nobody reads and answers faster. A person who types pauses for less,
	 * and notices within this time that the screen has changed. */
	READ_MS = 750,
	TICK_MS = 1000,
};

struct ab_host_prompt {
	struct ab_terminal *terminal;
	bool own; /* the terminal is only for us */
	struct ab_host_prompt_watch watch;
	struct ab_timer tick, escape;
	struct ab_key_reader keys;
	struct ab_host_prompt_question question; /* its texts are ours */
	bool asking, answered, more, gone;
	bool drawn;	     /* the terminal, which may be slow, has taken it */
	uint64_t idle_since; /* the last key or the drawing, in the loop's time */
	uint64_t expires_at;
};

static uint64_t get_time(const struct ab_host_prompt *p)
{
	return p->watch.loop->now;
}

void ab_host_prompt_question_fini(struct ab_host_prompt_question *q)
{
	const char *texts[] = { q->run_id, q->host, q->door, q->about, q->who, q->group };

	for (size_t i = 0; i < AB_COUNT(texts); i++)
		free((char *)(uintptr_t)texts[i]);
	*q = (struct ab_host_prompt_question){ 0 };
}

struct ab_host_prompt_question ab_host_prompt_question_copy(const struct ab_host_prompt_question *q)
{
	struct ab_host_prompt_question copy = *q;

	copy.run_id = ab_strdup(q->run_id);
	copy.host = ab_strdup(q->host);
	copy.door = ab_strdup(q->door);
	copy.about = ab_strdup(q->about);
	copy.who = ab_strdup(q->who);
	copy.group = ab_strdup(q->group);
	return copy;
}

static void draw_question(void *arg, struct ab_buf *b, size_t rows, size_t cols)
{
	struct ab_host_prompt *p = arg;
	ab_autobuf struct ab_buf text = { 0 };
	const char *line;
	size_t row = 1;

	p->question.left_ms = p->expires_at > get_time(p) ? p->expires_at - get_time(p) : 0;
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

static void note_drawn(void *arg)
{
	struct ab_host_prompt *p = arg;

	if (!p->drawn)
		p->idle_since = get_time(p);
	p->drawn = true;
}

static void give_answer(struct ab_host_prompt *p, enum ab_host_choice choice, bool said)
{
	if (!p->asking || p->answered)
		return;
	p->answered = true;
	ab_loop_timer_stop(p->watch.loop, &p->escape);
	p->watch.answered(p->watch.arg, p->question.number, choice, said);
}

/* True: the key has a meaning here. */
static bool take_key(struct ab_host_prompt *p, int key)
{
	/* Ctrl-C, Ctrl-D and Ctrl-\ count as no, like Escape. */
	static const int no[] = { 3, 4, 28, AB_KEY_ESCAPE };
	enum ab_host_choice choice;

	if (key == '?') {
		p->more = !p->more;
		ab_terminal_redraw(p->terminal);
		return true;
	}
	for (size_t i = 0; i < AB_COUNT(no); i++)
		if (no[i] == key) {
			give_answer(p, AB_CHOICE_NO, false);
			return true;
		}
	if (!ab_host_prompt_choice(&p->question, key, &choice))
		return false;
	give_answer(p, choice, true);
	return true;
}

static bool had_time_to_read(const struct ab_host_prompt *p)
{
	return p->drawn && get_time(p) - p->idle_since >= READ_MS;
}

static void receive_keys(void *arg, const char *data, size_t len)
{
	struct ab_host_prompt *p = arg;
	int keys[256];
	size_t n;

	if (len == 0) {
		p->gone = true;
		give_answer(p, AB_CHOICE_NO, false);
		return;
	}
	n = ab_key_reader_feed(&p->keys, data, len < 256 ? len : 256, keys);
	if (ab_key_reader_open(&p->keys))
		ab_loop_timer(p->watch.loop, &p->escape, AB_KEYS_MS);
	else
		ab_loop_timer_stop(p->watch.loop, &p->escape);
	/* Several keys at once are a paste. */
	if (n == 1 && had_time_to_read(p) && take_key(p, keys[0]))
		return;
	if (n)
		p->idle_since = get_time(p);
}

static void escape_timed_out(struct ab_timer *timer)
{
	struct ab_host_prompt *p = timer->owner;

	if (!ab_key_reader_alone(&p->keys))
		return;
	if (had_time_to_read(p))
		(void)take_key(p, AB_KEY_ESCAPE);
	else
		p->idle_since = get_time(p);
}

static void note_uncovered(void *arg)
{
	struct ab_host_prompt *p = arg;

	p->watch.uncovered(p->watch.arg);
}

/* Shows the question if we may use the terminal now. */
static void put_on_screen(struct ab_host_prompt *p)
{
	struct ab_terminal_guest guest = { .draw = draw_question,
					   .drawn = note_drawn,
					   .keys = receive_keys,
					   .uncovered = note_uncovered,
					   .arg = p };

	if (!p->gone && ab_terminal_hold(p->terminal, &guest)) {
		p->keys = (struct ab_key_reader){ 0 };
		p->idle_since = get_time(p);
		p->drawn = false;
	}
}

static void second_passed(struct ab_timer *timer)
{
	struct ab_host_prompt *p = timer->owner;

	if (ab_terminal_held(p->terminal))
		ab_terminal_redraw(p->terminal);
	else
		put_on_screen(p);
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
	if (!terminal || !ab_terminal_supports_guest(terminal)) {
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
	p->escape = (struct ab_timer){ .fire = escape_timed_out, .owner = p };
	return p->own ? ab_terminal_attach(p->terminal, -1, watch->loop, err) : 0;
}

void ab_host_prompt_show(struct ab_host_prompt *p, const struct ab_host_prompt_question *q)
{
	bool same = p->asking && p->question.number == q->number;
	struct ab_host_prompt_question copy = ab_host_prompt_question_copy(q);

	ab_host_prompt_question_fini(&p->question);
	p->question = copy;
	p->expires_at = get_time(p) + q->left_ms;
	p->asking = true;
	if (same && ab_terminal_held(p->terminal)) {
		ab_terminal_redraw(p->terminal);
		return;
	}
	if (!same)
		p->more = p->answered = false;
	put_on_screen(p);
	ab_loop_timer(p->watch.loop, &p->tick, TICK_MS);
}

/* True: the question was on the screen. */
static bool take_off_screen(struct ab_host_prompt *p)
{
	bool held = ab_terminal_held(p->terminal);

	ab_loop_timer_stop(p->watch.loop, &p->tick);
	ab_loop_timer_stop(p->watch.loop, &p->escape);
	ab_terminal_release(p->terminal);
	return held;
}

void ab_host_prompt_hide(struct ab_host_prompt *p)
{
	if (!p->asking)
		return;
	p->asking = false;
	if (take_off_screen(p))
		p->watch.redraw(p->watch.arg);
	ab_host_prompt_question_fini(&p->question);
}

bool ab_host_prompt_asking(const struct ab_host_prompt *p)
{
	return p->asking || ab_terminal_covered(p->terminal);
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
		put_on_screen(p);
}

bool ab_host_prompt_usable(const struct ab_host_prompt *p)
{
	return !p->gone && ab_terminal_can_hold(p->terminal);
}

void ab_host_prompt_close(struct ab_host_prompt *p)
{
	if (!p)
		return;
	if (p->watch.loop)
		take_off_screen(p);
	ab_terminal_uncover(p->terminal);
	if (p->own)
		ab_terminal_close(p->terminal);
	ab_host_prompt_question_fini(&p->question);
	free(p);
}
