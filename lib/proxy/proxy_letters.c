/*
 * What the thread is told. Before it is there nobody else uses what is its
 * own, and the same is done at once.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "audit/processes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "proxy/proxy_state.h"

enum letter {
	LETTER_STOP,
	LETTER_DIALLED,
	LETTER_FILTER,
	LETTER_SECRET,
	LETTER_ANSWER,
	LETTER_WHO,
	LETTER_GRANT,
	LETTER_HOLD,
	LETTER_CUT,
	LETTER_CUT_DENIED,
	LETTER_SURVEY,
	LETTER_COUNT,
};

struct secret {
	size_t len;
	char value[];
};

struct note {
	uint32_t number;
	enum ab_word word;
	struct ab_grant grant;
	char *text;    /* who it was, or a reason */
	char *nearest; /* of who it was */
	char *by;
};

/* A dial that was refused may still have to tell by which entry: it is in the
 * queue already. */
struct old {
	struct ab_later later;
	struct ab_filter *filter;
};

static void free_old(struct ab_later *later)
{
	struct old *old = later->owner;

	ab_filter_free(old->filter);
	free(old);
}

void ab_proxy_use_filter(struct ab_proxy *p, struct ab_filter *filter)
{
	struct old *old;

	if (p->filter) {
		old = ab_alloc(sizeof(*old));
		*old = (struct old){ .later = { .run = free_old, .owner = old },
				     .filter = p->filter };
		ab_loop_later(&p->engine.loop, &old->later);
	}
	p->filter = filter;
	p->engine.filter = filter;
}

static void stop(struct ab_proxy *p, struct ab_letter *letter)
{
	(void)letter;
	if (!p->engine.loop.stop)
		ab_proxy_end(p);
}

static void dialled(struct ab_proxy *p, struct ab_letter *letter)
{
	ab_keeper_dialled(&p->keeper, letter->value, letter->fd);
}

static void use_filter(struct ab_proxy *p, struct ab_letter *letter)
{
	ab_proxy_use_filter(p, ab_take(letter->data));
	ab_pending_review(&p->engine, "reload");
}

static void use_secret(struct ab_proxy *p, struct ab_letter *letter)
{
	struct secret *s = letter->data;

	ab_insight_renew(&p->engine.insight, (size_t)letter->value, s->value, s->len);
}

static void answer(struct ab_proxy *p, struct ab_letter *letter)
{
	struct note *note = letter->data;

	ab_pending_answer(&p->engine, note->number, note->word, note->by);
}

static void who(struct ab_proxy *p, struct ab_letter *letter)
{
	struct note *note = letter->data;

	ab_pending_who(&p->engine, note->number, note->text, note->nearest);
}

static void grant(struct ab_proxy *p, struct ab_letter *letter)
{
	struct note *note = letter->data;
	const struct ab_grant *g = &note->grant;
	struct ab_engine *e = &p->engine;
	uint64_t until = g->ms ? e->loop.now + g->ms : 0;
	bool taken = ab_grants_add(&e->grants, e->loop.now, g->entry,
				   g->deny ? AB_GRANT_DENY : AB_GRANT_ALLOW, until);
	struct ab_error err;

	if (ab_ledger_grant(e->ledger, g->entry, !g->deny, g->ms, taken, note->by, &err) < 0)
		e->unrecorded(e, &err);
	ab_pending_review(e, note->by);
}

static void hold(struct ab_proxy *p, struct ab_letter *letter)
{
	struct note *note = letter->data;

	ab_pending_hold(&p->engine, note->text);
}

static void cut(struct ab_proxy *p, struct ab_letter *letter)
{
	struct note *note = letter->data;

	ab_overseer_cut(&p->engine, note->text);
}

static void cut_denied(struct ab_proxy *p, struct ab_letter *letter)
{
	(void)letter;
	ab_overseer_cut_denied(&p->engine);
}

static void survey(struct ab_proxy *p, struct ab_letter *letter)
{
	(void)letter;
	p->setup.surveyed(p->setup.arg, ab_overseer_survey(&p->engine));
}

static void free_secret(void *data)
{
	struct secret *s = data;

	explicit_bzero(s->value, s->len);
	free(s);
}

static void free_note(void *data)
{
	struct note *note = data;

	free(note->text);
	free(note->nearest);
	free(note->by);
	free(note);
}

static void free_filter(void *data)
{
	ab_filter_free(data);
}

/* How each is read, and how what is in it is freed. */
static const struct {
	void (*read)(struct ab_proxy *p, struct ab_letter *letter);
	void (*free)(void *data);
} letters[LETTER_COUNT] = {
	[LETTER_STOP] = { stop, NULL },
	[LETTER_DIALLED] = { dialled, NULL },
	[LETTER_FILTER] = { use_filter, free_filter },
	[LETTER_SECRET] = { use_secret, free_secret },
	[LETTER_ANSWER] = { answer, free_note },
	[LETTER_WHO] = { who, free_note },
	[LETTER_GRANT] = { grant, free_note },
	[LETTER_HOLD] = { hold, free_note },
	[LETTER_CUT] = { cut, free_note },
	[LETTER_CUT_DENIED] = { cut_denied, NULL },
	[LETTER_SURVEY] = { survey, NULL },
};

static void discard(struct ab_letter *letter)
{
	if (letter->data)
		letters[letter->kind].free(letter->data);
}

static void read_letters(struct ab_source *source, uint32_t events)
{
	struct ab_proxy *p = source->owner;
	struct ab_letter *letter;

	(void)events;
	while ((letter = ab_mailbox_take(&p->in)) != NULL) {
		letters[letter->kind].read(p, letter);
		discard(letter);
		free(letter);
	}
}

int ab_proxy_listen(struct ab_proxy *p, struct ab_error *err)
{
	if (ab_mailbox_init(&p->in, err) < 0)
		return -1;
	p->letters = (struct ab_source){ .fd = p->in.fd, .ready = read_letters, .owner = p };
	return ab_loop_add(&p->engine.loop, &p->letters, EPOLLIN, err);
}

void ab_proxy_drop_letters(struct ab_proxy *p)
{
	struct ab_letter *letter;

	while ((letter = ab_mailbox_take(&p->in)) != NULL) {
		if (letter->fd >= 0)
			close(letter->fd);
		discard(letter);
		free(letter);
	}
}

static void send_letter(struct ab_proxy *p, enum letter kind, int value, void *data)
{
	struct ab_letter now = { .kind = kind, .value = value, .fd = -1, .data = data };

	if (p->started) {
		ab_mailbox_post(&p->in, kind, value, -1, data);
		return;
	}
	/* The loop's time stands still until it runs. */
	p->engine.loop.now = (uint64_t)ab_now_ms();
	ab_proxy_ledger(p);
	letters[kind].read(p, &now);
	discard(&now);
}

void ab_proxy_dialled(struct ab_proxy *p, int errnum, int fd)
{
	ab_mailbox_post(&p->in, LETTER_DIALLED, errnum, fd, NULL);
}

void ab_proxy_replace(struct ab_proxy *p, struct ab_filter *filter)
{
	send_letter(p, LETTER_FILTER, 0, filter);
}

void ab_proxy_cut_denied(struct ab_proxy *p)
{
	send_letter(p, LETTER_CUT_DENIED, 0, NULL);
}

static char *copy(const char *text)
{
	return text ? ab_strdup(text) : NULL;
}

void ab_proxy_answer(struct ab_proxy *p, uint32_t number, enum ab_word word, const char *by)
{
	struct note *note = ab_alloc(sizeof(*note));

	*note = (struct note){ .number = number, .word = word, .by = copy(by) };
	send_letter(p, LETTER_ANSWER, 0, note);
}

void ab_proxy_who(struct ab_proxy *p, uint32_t number, const char *who)
{
	struct note *note = ab_alloc(sizeof(*note));

	*note = (struct note){
		.number = number,
		.text = who ? ab_processes_line(who) : NULL,
		.nearest = who ? ab_processes_nearest(who) : NULL,
	};
	send_letter(p, LETTER_WHO, 0, note);
}

void ab_proxy_grant(struct ab_proxy *p, const struct ab_grant *grant, const char *by)
{
	struct note *note = ab_alloc(sizeof(*note));

	*note = (struct note){ .grant = *grant, .by = copy(by) };
	send_letter(p, LETTER_GRANT, 0, note);
}

void ab_proxy_hold(struct ab_proxy *p, const char *reason)
{
	struct note *note = ab_alloc(sizeof(*note));

	note->text = ab_strdup(reason);
	send_letter(p, LETTER_HOLD, 0, note);
}

void ab_proxy_cut(struct ab_proxy *p, const char *reason)
{
	struct note *note = ab_alloc(sizeof(*note));

	note->text = ab_strdup(reason);
	send_letter(p, LETTER_CUT, 0, note);
}

void ab_proxy_survey(struct ab_proxy *p)
{
	if (p->setup.surveyed)
		send_letter(p, LETTER_SURVEY, 0, NULL);
}

void ab_proxy_secret(struct ab_proxy *p, size_t i, const char *value, size_t len)
{
	struct secret *s = ab_alloc(sizeof(*s) + len);

	s->len = len;
	memcpy(s->value, value, len);
	send_letter(p, LETTER_SECRET, (int)i, s);
}

void ab_proxy_ask_end(struct ab_proxy *p)
{
	send_letter(p, LETTER_STOP, 0, NULL);
}
