/*
 * What others say about those who wait.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "proxy/grants.h"
#include "proxy/pending_state.h"

/* The same host and port, for the rest of the run. */
static void remember(struct ab_question *q, bool allow)
{
	struct ab_host_entry entry = ab_host_entry_of(&q->host, q->port);
	char text[AB_HOST_ENTRY_TEXT];

	ab_host_entry_format(&entry, text);
	ab_grants_add(&q->engine->grants, q->engine->loop.now, text,
		      allow ? AB_GRANT_ALLOW : AB_GRANT_ANSWER, 0);
}

static const struct ab_question_end ends[] = {
	[AB_WORD_NO] = { .reply = AB_REPLY_NO, .answer = "no" },
	[AB_WORD_ONCE] = { .yes = true, .released = true, .answer = "once" },
	[AB_WORD_RUN] = { .yes = true, .released = true, .answer = "run" },
};

/* What it held is refused: by the time that it hears of it there is no network
 * any more. */
static void cut_held(struct ab_question *q, const struct ab_question_end *end)
{
	ab_question_close(q);
	ab_overseer_cut(q->engine, q->reason);
	ab_question_settle(q, end);
}

static void hold_is_over(struct ab_timer *timer)
{
	static const struct ab_question_end late = { .how = AB_SETTLED_TIME,
						     .answer = "timeout",
						     .by = "timeout" };

	cut_held(timer->owner, &late);
}

static void answer_hold(struct ab_engine *engine, enum ab_word word, const char *by)
{
	struct ab_question_end end = ends[word];

	if (!engine->pending.hold)
		return;
	end.by = by;
	end.yes = false;
	end.reply = AB_REPLY_NONE;
	if (word == AB_WORD_NO)
		cut_held(engine->pending.hold, &end);
	else
		ab_question_settle(engine->pending.hold, &end);
}

void ab_pending_answer(struct ab_engine *engine, uint32_t number, enum ab_word word, const char *by)
{
	struct ab_question *q = ab_question_find(&engine->pending, number, false);
	struct ab_question_end end = ends[word];

	if (!number) {
		answer_hold(engine, word, by);
		return;
	}
	if (!q)
		return;
	end.by = by;
	if (word != AB_WORD_ONCE)
		remember(q, word == AB_WORD_RUN);
	ab_question_settle(q, &end);
}

void ab_pending_who(struct ab_engine *engine, uint32_t number, const char *who, const char *nearest)
{
	static const struct ab_question_end known = { .how = AB_SETTLED_WORD };
	struct ab_question *q;

	if (nearest)
		ab_ledger_who(engine->ledger, number, nearest);
	q = ab_question_find(&engine->pending, number, false);
	if (q && number && who && !q->who)
		q->who = ab_strdup(who);
	q = ab_question_find(&engine->pending, number, true);
	if (!q)
		return;
	if (who)
		q->who = ab_strdup(who);
	ab_question_settle(q, &known);
}

void ab_pending_review(struct ab_engine *engine, const char *by)
{
	struct ab_question *q, *next;

	for (q = engine->pending.questions; q; q = next) {
		struct ab_verdict verdict;
		struct ab_question_end end = { .how = AB_SETTLED_WORD, .by = by };

		next = q->next;
		if (q->why != AB_WANTED_UNKNOWN)
			continue;
		ab_question_judge(q, &verdict);
		if (verdict.access == AB_ACCESS_ASK)
			continue;
		end.released = verdict.access == AB_ACCESS_ALLOW;
		end.answer = end.released ? "run" : "no";
		ab_question_settle(q, &end);
	}
}

void ab_pending_hold(struct ab_engine *engine, const char *reason)
{
	struct ab_pending *p = &engine->pending;

	if (p->hold || engine->cut)
		return;
	p->hold = ab_question_open(engine, AB_WANTED_HELD, hold_is_over, p->hold_ms);
	p->hold->reason = ab_strdup(reason);
	if (p->wanted)
		ab_question_announce(p->hold, "", p->hold_ms);
}

void ab_pending_cut(struct ab_engine *engine)
{
	static const struct ab_question_end cut = { .how = AB_SETTLED_GONE, .answer = "gone" };
	struct ab_question *q, *next;

	for (q = engine->pending.questions; q; q = next) {
		next = q->next;
		if (q->why != AB_WANTED_DENIED)
			ab_question_settle(q, &cut);
	}
}
