/*
 * A question leaves the table before those who wait for it hear of it: each of
 * them may come back at once and wait for another one.
 *
 * Mustn't: let a connection end without the record of its denial.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/mem.h"
#include "proxy/pending_state.h"

struct ab_waiter {
	struct ab_conn *conn;
	struct ab_question *question;
	struct ab_waiter *next, **link;
	struct ab_host *host;
	struct ab_request_record r;
	char *entry, *sni, *error, *why; /* of r: nobody else keeps them */
	uint64_t since;
	ab_resume_fn resume;
};

static size_t *count_of(struct ab_question *q)
{
	struct ab_pending *p = &q->engine->pending;

	return q->why == AB_WANTED_DENIED ? &p->nsought : &p->nquestions;
}

struct ab_question *ab_question_open(struct ab_engine *engine, enum ab_wanted_why why,
				     void (*fire)(struct ab_timer *timer), uint64_t ms)
{
	struct ab_pending *p = &engine->pending;
	struct ab_question *q = ab_alloc(sizeof(*q));

	q->engine = engine;
	q->why = why;
	q->door = AB_DOOR_COUNT;
	q->begun = engine->loop.now;
	q->end = &q->first;
	q->timer = (struct ab_timer){ .fire = fire, .owner = q };
	ab_loop_timer(&engine->loop, &q->timer, ms);
	q->next = p->questions;
	q->link = &p->questions;
	if (q->next)
		q->next->link = &q->next;
	p->questions = q;
	(*count_of(q))++;
	return q;
}

void ab_question_close(struct ab_question *q)
{
	if (!q->link)
		return;
	ab_loop_timer_stop(&q->engine->loop, &q->timer);
	*q->link = q->next;
	if (q->next)
		q->next->link = q->link;
	q->link = NULL;
	(*count_of(q))--;
	if (q->engine->pending.hold == q)
		q->engine->pending.hold = NULL;
}

static void free_question(struct ab_question *q)
{
	free(q->who);
	free(q->reason);
	free(q);
}

/* From the question; the connection does not wait any more. */
static struct ab_waiter *detach(struct ab_waiter *w)
{
	struct ab_question *q = w->question;

	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
	else
		q->end = w->link;
	w->conn->waiter = NULL;
	q->engine->pending.waiting--;
	w->r.process = q->who;
	w->r.ms += q->engine->loop.now - w->since;
	return w;
}

static void free_waiter(struct ab_waiter *w)
{
	free(w->entry);
	free(w->sni);
	free(w->error);
	free(w->why);
	free(w);
}

static void tell_settled(struct ab_question *q, const struct ab_question_end *end,
			 uint32_t released)
{
	struct ab_engine *engine = q->engine;
	struct ab_question_record record = {
		.number = q->number,
		.host = q->host.text,
		.port = q->port,
		.door = q->door,
		.answer = end->answer,
		.by = end->by,
		.waiting = q->waiting,
		.ms = engine->loop.now - q->begun,
		.process = q->who,
	};
	struct ab_error err;

	if (q->why == AB_WANTED_DENIED)
		return;
	if (ab_ledger_question(engine->ledger, &record, &err) < 0)
		engine->unrecorded(engine, &err);
	if (engine->pending.settled)
		engine->pending.settled(engine->pending.arg, q->number, end->how, released);
}

/* What holds for one that waited, as it is told it. */
static void hear(struct ab_waiter *w, const struct ab_question_end *end)
{
	struct ab_question *q = w->question;
	struct ab_request_record *r = &w->r;

	if (q->why == AB_WANTED_DENIED) {
		w->resume(w->conn, r);
		return;
	}
	r->reply = end->reply;
	r->waited = end->reply == AB_REPLY_TIME ? q->engine->pending.ask_ms : 0;
	if (end->yes)
		r->verdict = (struct ab_verdict){ AB_ACCESS_ALLOW, AB_BASIS_GRANT, w->host->text };
	if (end->yes || end->reply) {
		w->resume(w->conn, r);
		return;
	}
	r->fault = AB_FAULT_NONE;
	r->why = NULL;
	ab_conn_judge(w->conn, w->host, r->port, &r->verdict);
	if (!ab_pending_waits(w->conn, w->host, r, w->resume))
		w->resume(w->conn, r);
}

void ab_question_settle(struct ab_question *q, const struct ab_question_end *end)
{
	struct ab_waiter *w;

	ab_question_close(q);
	tell_settled(q, end, end->released ? q->waiting : 0);
	while ((w = q->first) != NULL) {
		detach(w);
		hear(w, end);
		free_waiter(w);
	}
	free_question(q);
}

static void settle_gone(struct ab_question *q)
{
	static const struct ab_question_end gone = { .how = AB_SETTLED_GONE, .answer = "gone" };

	/* A hold is there whether anybody waits or not. */
	if (q->link && q->why != AB_WANTED_HELD)
		ab_question_settle(q, &gone);
}

/* Its client goes, which is noticed without reading. */
static void wait_for_word(struct ab_conn *conn)
{
	struct ab_waiter *w = conn->waiter;
	struct ab_question *q = w->question;

	if (!conn->client.hung || q->why == AB_WANTED_DENIED)
		return;
	detach(w);
	q->waiting--;
	w->r.reply = AB_REPLY_GONE;
	w->resume(conn, &w->r);
	free_waiter(w);
	if (!q->waiting)
		settle_gone(q);
}

void ab_pending_leave(struct ab_conn *conn)
{
	struct ab_waiter *w = detach(conn->waiter);
	struct ab_question *q = w->question;

	q->waiting--;
	if (q->why != AB_WANTED_DENIED)
		w->r.reply = AB_REPLY_GONE;
	if (ab_conn_deny(conn, &w->r) == 0)
		conn->denial = w->r.denial;
	free_waiter(w);
	if (!q->waiting)
		settle_gone(q);
}

static const char *keep(char **owner, const char *text)
{
	*owner = text ? ab_strdup(text) : NULL;
	return *owner;
}

void ab_question_join(struct ab_question *q, struct ab_conn *conn, struct ab_host *host,
		      const struct ab_request_record *r, ab_resume_fn resume)
{
	struct ab_waiter *w = ab_alloc(sizeof(*w));

	*w = (struct ab_waiter){ .conn = conn,
				 .question = q,
				 .link = q->end,
				 .host = host,
				 .r = *r,
				 .since = conn->engine->loop.now,
				 .resume = resume };
	w->r.verdict.entry = keep(&w->entry, r->verdict.entry);
	w->r.sni = keep(&w->sni, r->sni);
	w->r.error = keep(&w->error, r->error);
	w->r.why = keep(&w->why, r->why);
	w->r.number = q->number;
	*q->end = w;
	q->end = &w->next;
	q->waiting++;
	q->engine->pending.waiting++;
	conn->waiter = w;
	conn->step = wait_for_word;
	ab_conn_deadline(conn, 0);
}

static void name_peer(int fd, struct ab_peer *ret)
{
	struct sockaddr_storage at = { 0 };
	struct sockaddr_in *v4 = (struct sockaddr_in *)&at;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&at;
	socklen_t len = sizeof(at);

	*ret = (struct ab_peer){ 0 };
	if (getpeername(fd, (struct sockaddr *)&at, &len) < 0)
		return;
	ret->v6 = at.ss_family == AF_INET6;
	ret->port = ntohs(ret->v6 ? v6->sin6_port : v4->sin_port);
	if (ret->v6)
		memcpy(ret->addr, &v6->sin6_addr, 16);
	else
		memcpy(ret->addr, &v4->sin_addr, 4);
}

void ab_question_announce(struct ab_question *q, const char *host, uint32_t ms)
{
	struct ab_pending *p = &q->engine->pending;
	struct ab_wanted wanted = { .number = q->number,
				    .why = q->why,
				    .port = q->port,
				    .door = q->door < AB_DOOR_COUNT ? ab_door_names[q->door] : "",
				    .ms = ms };

	snprintf(wanted.host, sizeof(wanted.host), "%s", host);
	if (q->first)
		name_peer(q->first->conn->client.source.fd, &wanted.peer);
	p->wanted(p->arg, &wanted);
}

struct ab_question *ab_question_find(const struct ab_pending *p, uint32_t number, bool sought)
{
	for (struct ab_question *q = p->questions; q; q = q->next)
		if (q->number == number && (q->why == AB_WANTED_DENIED) == sought)
			return q;
	return NULL;
}

void ab_question_judge(struct ab_question *q, struct ab_verdict *ret)
{
	ab_conn_judge(q->first->conn, &q->host, q->port, ret);
}

void ab_pending_fini(struct ab_engine *engine)
{
	while (engine->pending.questions) {
		struct ab_question *q = engine->pending.questions;

		ab_question_close(q);
		free_question(q);
	}
}
