/*
 * Theory of operation.
 *
 *	AB_QUESTION_UNKNOWN	the host is on no list. Ends by an answer, a
 *				timeout, new lists, or when no connection waits
 *	AB_QUESTION_HELD	one question for all new connections, which are
 *				judged again when it ends
 *	AB_QUESTION_AGENT	a key of the ssh agent: ends by an answer, a timeout, or
 *				when the connection is gone
 *	AB_QUESTION_IDENTIFY	already denied; asks only which process it was. For a datagram
 *				no connection waits
 *
 * Everything runs on one thread: if an answer and a timeout meet, the second
 * finds no question.
 *
 * Should: end a question when no connection waits for it any more.
 */
#include "proxy/conn/waiting.h"

#include <sys/queue.h>

#include "base/data/list.h"
#include "netns/packet_log.h"
#include "proxy/conn/agent_terms.h"
#include "proxy/conn/conn.h"

struct ab_waiter;

struct ab_question {
	struct ab_engine *engine;
	struct ab_question *next, **link;
	enum ab_host_question_why why;
	uint32_t number;
	struct ab_host host;
	uint16_t port;
	enum ab_door door;
	struct ab_timer timer;
	TAILQ_HEAD(, ab_waiter) waiters;
	uint32_t nconns;
	uint64_t begun;
	char *who;		      /* the processes as JSON, or NULL */
	char *reason;		      /* of a hold */
	char *about;		      /* of a request to the ssh agent */
	struct ab_destination sender; /* of a datagram, or the first connection */
	bool sought;		      /* the process of a datagram */
};

struct ab_question_end {
	enum ab_settled how;
	enum ab_reply reply; /* for the clients; NONE and not yes: judge again */
	bool yes;
	bool released; /* the connections continue */
	const char *answer, *by, *why;
};

/* Of an allowed host: true, if it must wait after all. */
static bool admit_host(struct ab_conn *conn, struct ab_host *host, struct ab_request_record *r,
		       ab_resume_fn resume);

/*
 * A question leaves the table before its connections resume: each may wait
 * again at once, for another question.
 *
 * Mustn't: let a connection end without the record of its denial.
 */

struct ab_waiter {
	struct ab_conn *conn;
	struct ab_question *question;
	TAILQ_ENTRY(ab_waiter) link;
	struct ab_host *host;
	struct ab_request_record r;
	char *entry, *sni, *error, *why, *reply_why; /* copies that r points to */
	uint64_t since;
	ab_resume_fn resume;
};

static size_t *counter_of(struct ab_question *q)
{
	struct ab_waiting *p = &q->engine->waiting;

	return q->why == AB_QUESTION_IDENTIFY ? &p->nidentify : &p->nquestions;
}

static struct ab_question *open_question(struct ab_engine *engine, enum ab_host_question_why why,
					 void (*fire)(struct ab_timer *timer), uint64_t ms)
{
	struct ab_waiting *p = &engine->waiting;
	struct ab_question *q = ab_alloc(sizeof(*q));

	q->engine = engine;
	q->why = why;
	q->door = AB_DOOR_COUNT;
	q->begun = engine->loop.now;
	TAILQ_INIT(&q->waiters);
	q->timer = (struct ab_timer){ .fire = fire, .owner = q };
	ab_loop_timer(&engine->loop, &q->timer, ms);
	ab_list_push(&p->questions, q);
	(*counter_of(q))++;
	return q;
}

/* Remove it from the table and stop its timer. */
static void close_question(struct ab_question *q)
{
	if (!q->link)
		return;
	ab_loop_timer_stop(&q->engine->loop, &q->timer);
	ab_list_remove(q);
	(*counter_of(q))--;
	if (q->engine->waiting.hold == q)
		q->engine->waiting.hold = NULL;
}

static void free_question(struct ab_question *q)
{
	ab_free_all(q->who, q->reason, q->about, q);
}

/* Remove it from its question; the connection no longer waits. */
static struct ab_waiter *detach_waiter(struct ab_waiter *w)
{
	struct ab_question *q = w->question;

	TAILQ_REMOVE(&q->waiters, w, link);
	w->conn->waiter = NULL;
	q->engine->waiting.nconns--;
	w->r.process = q->who;
	w->r.ms += q->engine->loop.now - w->since;
	return w;
}

static void free_waiter(struct ab_waiter *w)
{
	ab_free_all(w->entry, w->sni, w->error, w->why, w->reply_why, w);
}

static void report_settled(struct ab_question *q, const struct ab_question_end *end,
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
		.why = end->why,
		.waiting = q->nconns,
		.ms = engine->loop.now - q->begun,
		.process = q->who,
	};
	struct ab_error err;

	if (q->why == AB_QUESTION_IDENTIFY)
		return;
	if (ab_ledger_question(engine->ledger, &record, &err) < 0)
		engine->unrecorded(engine, &err);
	if (engine->setup->settled)
		engine->setup->settled(engine->setup->arg, q->number, end->how, released);
}

static void resume_waiter(struct ab_waiter *w, const struct ab_question_end *end)
{
	struct ab_question *q = w->question;
	struct ab_request_record *r = &w->r;

	if (q->why == AB_QUESTION_IDENTIFY) {
		w->resume(w->conn, r);
		return;
	}
	r->reply = end->reply;
	r->reply_why = end->why;
	r->waited = end->reply == AB_REPLY_TIME ? q->engine->setup->ask_ms : 0;
	if (q->why == AB_QUESTION_AGENT) {
		r->verdict.access = end->yes ? AB_ACCESS_ALLOW : AB_ACCESS_DENY;
		w->resume(w->conn, r);
		return;
	}
	if (end->yes)
		r->verdict = (struct ab_verdict){ AB_ACCESS_ALLOW, AB_BASIS_GRANT, w->host->text };
	if (end->reply || (end->yes && !admit_host(w->conn, w->host, r, w->resume)))
		w->resume(w->conn, r);
	if (end->yes || end->reply)
		return;
	r->fault = AB_FAULT_NONE;
	r->why = NULL;
	ab_conn_judge(w->conn, w->host, r->port, &r->verdict);
	if (!ab_waiting_begin(w->conn, w->host, r, w->resume))
		w->resume(w->conn, r);
}

static void seek_datagrams(struct ab_engine *engine);

/* Close it, resume its connections, free it. */
static void settle_question(struct ab_question *q, const struct ab_question_end *end)
{
	struct ab_engine *engine = q->engine;
	struct ab_waiter *w;

	close_question(q);
	report_settled(q, end, end->released ? q->nconns : 0);
	while ((w = TAILQ_FIRST(&q->waiters)) != NULL) {
		detach_waiter(w);
		resume_waiter(w, end);
		free_waiter(w);
	}
	if (q->door == AB_DOOR_UDP)
		ab_conn_deny_datagram(engine, q->host.text, q->port, q->who);
	engine->waiting.nsought -= q->sought;
	free_question(q);
	seek_datagrams(engine);
}

static const struct ab_question_end gone = { .how = AB_SETTLED_GONE, .answer = "gone" };

/* One that does not wait any longer. */
static void drop_waiter(struct ab_waiter *w)
{
	struct ab_question *q = w->question;

	free_waiter(w);
	/* A hold stays open even if no connection waits. */
	if (!q->nconns && q->link && q->why != AB_QUESTION_HELD)
		settle_question(q, &gone);
}

/* The step while it waits: only notice that the client has closed. */
static void wait_for_answer(struct ab_conn *conn)
{
	struct ab_waiter *w = conn->waiter;
	struct ab_question *q = w->question;

	if (!conn->client.hung || q->why == AB_QUESTION_IDENTIFY)
		return;
	detach_waiter(w);
	q->nconns--;
	w->r.reply = AB_REPLY_GONE;
	w->resume(conn, &w->r);
	drop_waiter(w);
}

void ab_waiting_leave(struct ab_conn *conn)
{
	struct ab_waiter *w = detach_waiter(conn->waiter);
	struct ab_question *q = w->question;

	q->nconns--;
	if (q->why != AB_QUESTION_IDENTIFY)
		w->r.reply = AB_REPLY_GONE;
	/* Of a request that nobody has denied, only its process was to be found. */
	if ((w->r.verdict.access != AB_ACCESS_ALLOW || w->r.fault != AB_FAULT_NONE) &&
	    ab_conn_deny(conn, &w->r) == 0)
		conn->denial = w->r.denial;
	drop_waiter(w);
}

static const char *keep_copy(char **owner, const char *text)
{
	return *owner = ab_strdup(text);
}

static void join_question(struct ab_question *q, struct ab_conn *conn, struct ab_host *host,
			  const struct ab_request_record *r, ab_resume_fn resume)
{
	struct ab_waiter *w = ab_alloc(sizeof(*w));

	*w = (struct ab_waiter){ .conn = conn,
				 .question = q,
				 .host = host,
				 .r = *r,
				 .since = conn->engine->loop.now,
				 .resume = resume };
	w->r.verdict.entry = keep_copy(&w->entry, r->verdict.entry);
	w->r.sni = keep_copy(&w->sni, r->sni);
	w->r.error = keep_copy(&w->error, r->error);
	w->r.why = keep_copy(&w->why, r->why);
	w->r.reply_why = keep_copy(&w->reply_why, r->reply_why);
	w->r.number = q->number;
	TAILQ_INSERT_TAIL(&q->waiters, w, link);
	q->nconns++;
	q->engine->waiting.nconns++;
	conn->waiter = w;
	conn->step = wait_for_answer;
	ab_conn_deadline(conn, 0);
}

/* Call `asked`, with the first connection as peer. */
static void announce_question(struct ab_question *q, uint32_t ms)
{
	const struct ab_proxy_setup *setup = q->engine->setup;
	const struct ab_waiter *first = TAILQ_FIRST(&q->waiters);
	struct ab_host_question question = {
		.number = q->number, .why = q->why, .port = q->port, .door = "", .ms = ms
	};

	if (q->door < AB_DOOR_COUNT)
		question.door = ab_door_names[q->door];
	snprintf(question.host, sizeof(question.host), "%s", q->host.text);
	snprintf(question.about, sizeof(question.about), "%s", q->about ? q->about : "");
	if (first && q->door == AB_DOOR_AGENT)
		question.peer.pid = first->conn->sender;
	else if (first)
		ab_destination_peer(ab_conn_socket(first->conn), &q->sender);
	question.peer.udp = q->door == AB_DOOR_UDP;
	question.peer.v6 = q->sender.v6;
	question.peer.port = q->sender.port;
	memcpy(question.peer.addr, q->sender.addr, sizeof(question.peer.addr));
	setup->asked(setup->arg, &question);
}

/* `identify`: among the AB_QUESTION_IDENTIFY, else among the others. */
static struct ab_question *find_question(const struct ab_waiting *p, uint32_t number, bool identify)
{
	for (struct ab_question *q = p->questions; q; q = q->next)
		if (q->number == number && (q->why == AB_QUESTION_IDENTIFY) == identify)
			return q;
	return NULL;
}

/* Nothing waits for that of a datagram, so a busy machine may take longer. */
enum { IDENTIFY_MS = 100, IDENTIFY_DATAGRAM_MS = 3000 };

/* The oldest first, and one at a time: connections wait for the same workers, and other requests for
 * room in the broker's socket. */
static void seek_datagrams(struct ab_engine *engine)
{
	struct ab_question *oldest = NULL;

	if (engine->waiting.nsought || engine->ending)
		return;
	for (struct ab_question *q = engine->waiting.questions; q; q = q->next)
		if (q->door == AB_DOOR_UDP)
			oldest = q;
	if (!oldest)
		return;
	oldest->sought = true;
	engine->waiting.nsought++;
	announce_question(oldest, IDENTIFY_DATAGRAM_MS);
}

static void question_timed_out(struct ab_timer *timer)
{
	static const struct ab_question_end late = {
		.how = AB_SETTLED_TIME, .reply = AB_REPLY_TIME, .answer = "timeout", .by = "timeout"
	};

	settle_question(timer->owner, &late);
}

static void identify_timed_out(struct ab_timer *timer)
{
	static const struct ab_question_end over = { .how = AB_SETTLED_GONE };

	settle_question(timer->owner, &over);
}

static struct ab_question *find_host_question(const struct ab_waiting *p,
					      const struct ab_host *host, uint16_t port)
{
	for (struct ab_question *q = p->questions; q; q = q->next)
		if (q->why == AB_QUESTION_UNKNOWN && q->port == port &&
		    strcmp(q->host.text, host->text) == 0)
			return q;
	return NULL;
}

static bool take_turn(const struct ab_engine *engine, struct ab_bucket *rate)
{
	return ab_bucket_take(rate, engine->loop.now, AB_QUESTIONS_BURST, AB_QUESTIONS_PER_SECOND);
}

static enum ab_reply check_limits(struct ab_engine *engine, bool is_new)
{
	struct ab_waiting *p = &engine->waiting;

	if (p->nconns >= p->max_conns)
		return AB_REPLY_FULL;
	if (is_new && p->nquestions >= AB_QUESTIONS_MAX)
		return AB_REPLY_MANY;
	if (is_new && !take_turn(engine, &p->ask_rate))
		return AB_REPLY_FAST;
	return AB_REPLY_NONE;
}

/* Open a question with the number of this denial, and let the connection wait for it: true. `host`:
 * that must be admitted after a yes, or NULL. */
static bool ask(struct ab_conn *conn, struct ab_host *host, const struct ab_request_record *r,
		ab_resume_fn resume, enum ab_host_question_why why, uint32_t number)
{
	struct ab_engine *engine = conn->engine;
	bool identify = why == AB_QUESTION_IDENTIFY;
	uint32_t ms = identify ? IDENTIFY_MS : engine->setup->ask_ms;
	struct ab_question *q =
		open_question(engine, why, identify ? identify_timed_out : question_timed_out, ms);

	q->number = number;
	q->port = r->port;
	q->door = r->door;
	if (host)
		q->host = *host;
	else
		snprintf(q->host.text, sizeof(q->host.text), "%s", r->host);
	if (why == AB_QUESTION_AGENT)
		q->about = ab_strdup(r->why);
	/* The question itself identifies the process. */
	if (!identify)
		(void)ab_ledger_seeks(engine->ledger, number);
	join_question(q, conn, host, r, resume);
	announce_question(q, ms);
	return true;
}

/* Let it wait for this question, or for a new one if there is none. False: r->reply says why it cannot. */
static bool wait_for(struct ab_question *q, enum ab_host_question_why why, struct ab_conn *conn,
		     struct ab_host *host, struct ab_request_record *r, ab_resume_fn resume)
{
	r->reply = conn->client.hung ? AB_REPLY_GONE : check_limits(conn->engine, !q);
	if (r->reply)
		return false;
	if (q)
		join_question(q, conn, host, r, resume);
	else
		ask(conn, host, r, resume, why, ab_ledger_number(conn->engine->ledger, r));
	return true;
}

static bool hold_conn(struct ab_conn *conn, struct ab_host *host, struct ab_request_record *r,
		      ab_resume_fn resume)
{
	struct ab_question *hold = conn->engine->waiting.hold;

	r->fault = AB_FAULT_HELD;
	r->why = hold->reason;
	return !conn->engine->ending && wait_for(hold, AB_QUESTION_HELD, conn, host, r, resume);
}

/* An allowed host may be one host too many. */
static bool admit_host(struct ab_conn *conn, struct ab_host *host, struct ab_request_record *r,
		       ab_resume_fn resume)
{
	struct ab_engine *engine = conn->engine;
	struct ab_open_conns *o = &engine->open_conns;

	/* Else the alarm tells why. */
	if (ab_budgets_admit(o->budgets, host->text))
		return false;
	if (o->action == AB_ALARM_HOLD && !engine->ending) {
		ab_waiting_hold(engine, o->alarm);
		return hold_conn(conn, host, r, resume);
	}
	r->fault = AB_FAULT_CUT;
	r->why = o->alarm;
	return false;
}

bool ab_waiting_begin(struct ab_conn *conn, struct ab_host *host, struct ab_request_record *r,
		      ab_resume_fn resume)
{
	struct ab_engine *engine = conn->engine;

	if (engine->cut) {
		r->fault = AB_FAULT_CUT;
		r->why = engine->cut;
		return false;
	}
	if (r->verdict.access == AB_ACCESS_DENY)
		return false;
	if (engine->waiting.hold)
		return hold_conn(conn, host, r, resume);
	if (r->verdict.access == AB_ACCESS_ALLOW)
		return admit_host(conn, host, r, resume);
	return engine->setup->asked && !engine->ending &&
	       wait_for(find_host_question(&engine->waiting, host, r->port), AB_QUESTION_UNKNOWN,
			conn, host, r, resume);
}

bool ab_waiting_identify(struct ab_conn *conn, const struct ab_request_record *r,
			 ab_resume_fn resume)
{
	struct ab_engine *engine = conn->engine;
	struct ab_waiting *p = &engine->waiting;
	struct ab_question *q;
	uint32_t number;

	if (!engine->setup->identify_denied || !engine->setup->asked ||
	    (!r->port && r->door != AB_DOOR_AGENT) || engine->ending || r->process ||
	    p->nconns >= p->max_conns)
		return false;
	number = ab_ledger_number(engine->ledger, r);
	q = find_question(p, number, true);
	if (q) {
		join_question(q, conn, NULL, r, resume);
		return true;
	}
	if (p->nidentify >= AB_QUESTIONS_MAX || !ab_ledger_seeks(engine->ledger, number) ||
	    !take_turn(engine, &p->identify_rate))
		return false;
	return ask(conn, NULL, r, resume, AB_QUESTION_IDENTIFY, number);
}

void ab_waiting_datagram(struct ab_engine *engine, const struct ab_denied_datagram *d)
{
	struct ab_waiting *p = &engine->waiting;
	struct ab_question *q = open_question(engine, AB_QUESTION_IDENTIFY, identify_timed_out,
					      IDENTIFY_DATAGRAM_MS);

	q->number = AB_TICKET_UDP | ++p->ndatagrams;
	q->door = AB_DOOR_UDP;
	q->port = d->to.port;
	q->sender = d->from;
	ab_host_from_addr(d->to.v6, d->to.addr, &q->host);
	ab_conn_name(engine, &q->host);
	if (engine->setup->identify_denied && engine->setup->asked && !engine->ending &&
	    p->nidentify < AB_QUESTIONS_MAX && take_turn(engine, &p->datagram_rate))
		seek_datagrams(engine);
	else
		identify_timed_out(&q->timer);
}

void ab_waiting_end_datagrams(struct ab_engine *engine)
{
	struct ab_question *q, *next;

	for (q = engine->waiting.questions; q; q = next) {
		next = q->next;
		if (q->door == AB_DOOR_UDP)
			identify_timed_out(&q->timer);
	}
}

/* Only for a moment, and one at a time: two would be told the same process. */
static bool identify_agent_client(struct ab_conn *conn, struct ab_request_record *r,
				  ab_resume_fn resume)
{
	struct ab_engine *engine = conn->engine;
	struct ab_waiting *p = &engine->waiting;
	uint32_t number;

	if (!engine->setup->asked || engine->ending || p->nidentify >= AB_QUESTIONS_MAX ||
	    !take_turn(engine, &p->identify_rate))
		return false;
	number = ab_ledger_number(engine->ledger, r);
	if (find_question(p, number, true))
		return false;
	return ask(conn, NULL, r, resume, AB_QUESTION_IDENTIFY, number);
}

bool ab_waiting_agent(struct ab_conn *conn, struct ab_request_record *r, ab_resume_fn resume)
{
	struct ab_engine *engine = conn->engine;

	if (!r->why)
		return identify_agent_client(conn, r, resume);
	/* Its text is in the reason, so the same number is the same question. A new one keeps it. */
	r->number = ab_ledger_number(engine->ledger, r);
	r->reply = AB_REPLY_GONE;
	return !engine->ending && engine->setup->asked &&
	       wait_for(find_question(&engine->waiting, r->number, false), AB_QUESTION_AGENT, conn,
			NULL, r, resume);
}

void ab_waiting_fini(struct ab_engine *engine)
{
	while (engine->waiting.questions) {
		struct ab_question *q = engine->waiting.questions;

		close_question(q);
		free_question(q);
	}
}

static bool is_web_port(uint16_t port)
{
	return port == 80 || port == 443;
}

static void remember_grant(struct ab_question *q, uint16_t port, enum ab_grant_kind kind)
{
	struct ab_host_entry entry = ab_host_entry_of(&q->host, port);
	char text[AB_HOST_ENTRY_TEXT];

	ab_host_entry_format(&entry, text);
	ab_grants_add(&q->engine->grants, q->engine->loop.now, text, kind, 0);
}

/* For the rest of the run: a no covers every port of the host; a yes covers its port, and 80 and
 * 443 together, because sites redirect from one to the other. */
static void remember_answer(struct ab_question *q, bool allow)
{
	bool web = is_web_port(q->port);

	if (!allow)
		remember_grant(q, 0, AB_GRANT_ANSWER);
	else
		remember_grant(q, web ? 80 : q->port, AB_GRANT_ALLOW);
	if (allow && web)
		remember_grant(q, 443, AB_GRANT_ALLOW);
}

static const struct ab_question_end answer_ends[] = {
	[AB_HOST_ANSWER_NO] = { .reply = AB_REPLY_NO, .answer = "no" },
	[AB_HOST_ANSWER_ONCE] = { .yes = true, .released = true, .answer = "once" },
	[AB_HOST_ANSWER_RUN] = { .yes = true, .released = true, .answer = "run" },
};

/* Cut first, so that the held connections are denied when they resume. */
static void cut_hold(struct ab_question *q, const struct ab_question_end *end)
{
	close_question(q);
	ab_open_conns_cut(q->engine, q->reason);
	settle_question(q, end);
}

static void hold_timed_out(struct ab_timer *timer)
{
	static const struct ab_question_end late = { .how = AB_SETTLED_TIME,
						     .answer = "timeout",
						     .by = "timeout" };

	cut_hold(timer->owner, &late);
}

static void answer_hold(struct ab_engine *engine, enum ab_host_answer answer, const char *by)
{
	struct ab_question_end end = answer_ends[answer];

	if (!engine->waiting.hold)
		return;
	end.by = by;
	end.yes = false;
	end.reply = AB_REPLY_NONE;
	if (answer == AB_HOST_ANSWER_NO) {
		cut_hold(engine->waiting.hold, &end);
		return;
	}
	ab_open_conns_resume(engine);
	settle_question(engine->waiting.hold, &end);
}

/* An open question about this host that the answer also covers. */
static struct ab_question *find_covered(const struct ab_waiting *p, const struct ab_host *host,
					uint16_t port, bool yes)
{
	for (struct ab_question *q = p->questions; q; q = q->next)
		if (q->why == AB_QUESTION_UNKNOWN && strcmp(q->host.text, host->text) == 0 &&
		    (!yes || (q->port != port && is_web_port(q->port) && is_web_port(port))))
			return q;
	return NULL;
}

/* Settle it, and what else the answer covers. After a yes a connection may ask again at once, so
 * only the question that was open before is settled with it. */
static void settle_host(struct ab_question *q, const struct ab_question_end *end)
{
	struct ab_engine *engine = q->engine;
	struct ab_host host = q->host;
	const struct ab_question *other =
		end->yes ? find_covered(&engine->waiting, &host, q->port, true) : NULL;
	uint32_t number = other ? other->number : 0;

	settle_question(q, end);
	if (number && (q = find_question(&engine->waiting, number, false)) != NULL)
		settle_question(q, end);
	while (!end->yes && (q = find_covered(&engine->waiting, &host, 0, false)) != NULL)
		settle_question(q, end);
}

void ab_waiting_answer(struct ab_engine *engine, uint32_t number, enum ab_host_answer answer,
		       const char *by, const char *why)
{
	struct ab_question *q = find_question(&engine->waiting, number, false);
	struct ab_question_end end = answer_ends[answer];

	if (!number) {
		answer_hold(engine, answer, by);
		return;
	}
	if (!q)
		return;
	end.by = by;
	end.why = why;
	if (q->why == AB_QUESTION_AGENT) {
		if (answer == AB_HOST_ANSWER_RUN && engine->agent->grants.len < AB_AGENT_GRANTS)
			ab_strv_add_once(&engine->agent->grants, q->about);
		settle_question(q, &end);
		return;
	}
	if (answer != AB_HOST_ANSWER_ONCE)
		remember_answer(q, answer == AB_HOST_ANSWER_RUN);
	settle_host(q, &end);
}

void ab_waiting_who(struct ab_engine *engine, uint32_t number, const char *who, const char *nearest)
{
	static const struct ab_question_end known = { .how = AB_SETTLED_ANSWERED };
	struct ab_question *q;

	if (nearest)
		ab_ledger_who(engine->ledger, number, nearest);
	q = find_question(&engine->waiting, number, false);
	if (q && number && who && !q->who)
		q->who = ab_strdup(who);
	q = find_question(&engine->waiting, number, true);
	if (!q)
		return;
	if (who)
		q->who = ab_strdup(who);
	settle_question(q, &known);
}

void ab_waiting_review(struct ab_engine *engine, const char *by)
{
	struct ab_question *q, *next;

	for (q = engine->waiting.questions; q; q = next) {
		struct ab_verdict verdict;
		struct ab_question_end end = { .how = AB_SETTLED_ANSWERED, .by = by };

		next = q->next;
		if (q->why != AB_QUESTION_UNKNOWN)
			continue;
		ab_conn_judge(TAILQ_FIRST(&q->waiters)->conn, &q->host, q->port, &verdict);
		if (verdict.access == AB_ACCESS_ASK)
			continue;
		end.released = verdict.access == AB_ACCESS_ALLOW;
		end.answer = end.released ? "run" : "no";
		settle_question(q, &end);
	}
}

void ab_waiting_hold(struct ab_engine *engine, const char *reason)
{
	struct ab_waiting *p = &engine->waiting;

	if (p->hold || engine->cut)
		return;
	p->hold = open_question(engine, AB_QUESTION_HELD, hold_timed_out, engine->setup->hold_ms);
	p->hold->reason = ab_strdup(reason);
	if (engine->setup->asked)
		announce_question(p->hold, engine->setup->hold_ms);
}

void ab_waiting_cut(struct ab_engine *engine)
{
	struct ab_question *q, *next;

	for (q = engine->waiting.questions; q; q = next) {
		next = q->next;
		if (q->why != AB_QUESTION_IDENTIFY)
			settle_question(q, &gone);
	}
}
