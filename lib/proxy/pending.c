/*
 * Theory of operation.
 *
 *	asked	AB_WANTED_UNKNOWN: on no list. Answered, or out of time, or
 *		nobody waits any more; or other lists answer it
 *	held	AB_WANTED_HELD: one question for all that is new, judged again
 *		when it is over
 *	sought	AB_WANTED_DENIED: the answer is known; who was it?
 *
 * Everything happens on one thread, so of an answer and the end of its time
 * one comes first, and the other finds no question.
 *
 * Should: let nobody wait for somebody who is gone.
 */
#include "proxy/pending.h"

#include <string.h>

#include "proxy/pending_state.h"

enum { SEEK_MS = 100 };

void ab_pending_init(struct ab_pending *pending, const struct ab_proxy_setup *setup)
{
	*pending = (struct ab_pending){
		.ask_ms = setup->ask_ms ? setup->ask_ms : AB_ASK_MS,
		.hold_ms = setup->hold_ms ? setup->hold_ms : AB_HOLD_MS,
		.tell_who = setup->tell_who,
		.wanted = setup->wanted,
		.settled = setup->settled,
		.arg = setup->arg,
	};
}

static bool take(struct ab_bucket *bucket, uint64_t now)
{
	uint64_t more = (now - bucket->at) / AB_QUESTION_EVERY_MS;

	if (more) {
		bucket->at += more * AB_QUESTION_EVERY_MS;
		bucket->left += more;
		if (bucket->left > AB_QUESTIONS_BURST)
			bucket->left = AB_QUESTIONS_BURST;
	}
	if (!bucket->left)
		return false;
	bucket->left--;
	return true;
}

static void nobody_answers(struct ab_timer *timer)
{
	static const struct ab_question_end late = {
		.how = AB_SETTLED_TIME, .reply = AB_REPLY_TIME, .answer = "timeout", .by = "timeout"
	};

	ab_question_settle(timer->owner, &late);
}

static void nobody_knows(struct ab_timer *timer)
{
	static const struct ab_question_end over = { .how = AB_SETTLED_GONE };

	ab_question_settle(timer->owner, &over);
}

static struct ab_question *find_about(const struct ab_pending *p, const struct ab_host *host,
				      uint16_t port)
{
	for (struct ab_question *q = p->questions; q; q = q->next)
		if (q->why == AB_WANTED_UNKNOWN && q->port == port &&
		    strcmp(q->host.text, host->text) == 0)
			return q;
	return NULL;
}

static enum ab_reply why_not(struct ab_engine *engine, bool is_new)
{
	struct ab_pending *p = &engine->pending;

	if (p->waiting >= p->room)
		return AB_REPLY_FULL;
	if (is_new && p->nquestions >= AB_QUESTIONS_MAX)
		return AB_REPLY_MANY;
	if (is_new && !take(&p->asked, engine->loop.now))
		return AB_REPLY_FAST;
	return AB_REPLY_NONE;
}

static bool ask(struct ab_conn *conn, struct ab_host *host, struct ab_request_record *r,
		ab_resume_fn resume)
{
	struct ab_engine *engine = conn->engine;
	struct ab_question *q = find_about(&engine->pending, host, r->port);
	bool is_new = !q;

	r->reply = conn->client.hung ? AB_REPLY_GONE : why_not(engine, is_new);
	if (r->reply)
		return false;
	if (is_new) {
		q = ab_question_open(engine, AB_WANTED_UNKNOWN, nobody_answers,
				     engine->pending.ask_ms);
		q->host = *host;
		q->port = r->port;
		q->door = r->door;
		q->number = ab_ledger_number(engine->ledger, r);
		/* The question itself says who it was, in time. */
		(void)ab_ledger_seeks(engine->ledger, q->number);
	}
	ab_question_join(q, conn, host, r, resume);
	if (is_new)
		ab_question_announce(q, host->text, engine->pending.ask_ms);
	return true;
}

static bool hold(struct ab_conn *conn, struct ab_host *host, struct ab_request_record *r,
		 ab_resume_fn resume)
{
	struct ab_pending *p = &conn->engine->pending;

	r->fault = AB_FAULT_HELD;
	r->why = p->hold->reason;
	r->reply = conn->client.hung	   ? AB_REPLY_GONE
		   : p->waiting >= p->room ? AB_REPLY_FULL
					   : AB_REPLY_NONE;
	if (r->reply)
		return false;
	ab_question_join(p->hold, conn, host, r, resume);
	return true;
}

bool ab_pending_waits(struct ab_conn *conn, struct ab_host *host, struct ab_request_record *r,
		      ab_resume_fn resume)
{
	struct ab_engine *engine = conn->engine;

	if (engine->cut) {
		r->fault = AB_FAULT_CUT;
		r->why = engine->cut;
		return false;
	}
	if (r->verdict.access == AB_ACCESS_DENY || engine->ending)
		return false;
	if (engine->pending.hold)
		return hold(conn, host, r, resume);
	return r->verdict.access == AB_ACCESS_ASK && engine->pending.wanted &&
	       ask(conn, host, r, resume);
}

bool ab_pending_seeks(struct ab_conn *conn, const struct ab_request_record *r, ab_resume_fn resume)
{
	struct ab_engine *engine = conn->engine;
	struct ab_pending *p = &engine->pending;
	struct ab_question *q;
	uint32_t number;

	if (!p->tell_who || !p->wanted || !r->port || engine->ending || r->process ||
	    p->waiting >= p->room)
		return false;
	number = ab_ledger_number(engine->ledger, r);
	q = ab_question_find(p, number, true);
	if (q) {
		ab_question_join(q, conn, NULL, r, resume);
		return true;
	}
	if (p->nsought >= AB_QUESTIONS_MAX || !ab_ledger_seeks(engine->ledger, number) ||
	    !take(&p->sought, engine->loop.now))
		return false;
	q = ab_question_open(engine, AB_WANTED_DENIED, nobody_knows, SEEK_MS);
	q->number = number;
	q->port = r->port;
	q->door = r->door;
	ab_question_join(q, conn, NULL, r, resume);
	ab_question_announce(q, r->host, SEEK_MS);
	return true;
}
