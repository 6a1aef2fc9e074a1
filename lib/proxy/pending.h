#ifndef AB_PROXY_PENDING_H
#define AB_PROXY_PENDING_H
/*
 * Connections that wait for somebody's word. Private to lib/proxy.
 *
 * A question is about one host and port; who comes later joins it. Its number
 * is that of the denial that it becomes when nobody says yes. All questions,
 * new ones in a minute, and connections that wait are bounded; beyond that it
 * is a no at once. A connection that waits is not read from: what it says
 * stays where it is.
 *
 * Who waits hears of it by `resume`, once, with its record: r->verdict (and
 * r->fault, r->reply) say what holds then.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy/proxy.h"

struct ab_conn;
struct ab_engine;
struct ab_host;
struct ab_question;
struct ab_request_record;

enum {
	AB_QUESTIONS_MAX = 1024,	/* open at a time */
	AB_QUESTIONS_BURST = 1200,
	AB_QUESTION_EVERY_MS = 100,	/* so many more: 600 a minute */
};

struct ab_bucket {	/* how many may come; zeroed it is full */
	uint64_t at;
	uint64_t left;
};

struct ab_pending {
	struct ab_question *questions, *hold;
	size_t nquestions;	/* those that are asked */
	size_t nsought;		/* those that only want to know who it is */
	size_t waiting;		/* connections, of all */
	size_t room;		/* for so many */
	struct ab_bucket asked, sought;
	uint32_t ask_ms, hold_ms;
	bool tell_who;
	void (*wanted)(void *arg, const struct ab_wanted *wanted);
	void (*settled)(void *arg, uint32_t number, enum ab_settled how,
			uint32_t released);
	void *arg;
};

typedef void (*ab_resume_fn)(struct ab_conn *conn,
			     struct ab_request_record *r);

void ab_pending_init(struct ab_pending *pending,
		     const struct ab_proxy_setup *setup);
void ab_pending_fini(struct ab_engine *engine);

/*
 * The lists have spoken (r->verdict). true: it waits all the same, and `host`
 * and what r points to live as long as that. false: r says what holds.
 */
bool ab_pending_waits(struct ab_conn *conn, struct ab_host *host,
		      struct ab_request_record *r, ab_resume_fn resume);
/* It is denied. true: it waits a moment, until it is known who it was. */
bool ab_pending_seeks(struct ab_conn *conn, const struct ab_request_record *r,
		      ab_resume_fn resume);
/* The connection is closed while it waits: that is a denial. */
void ab_pending_leave(struct ab_conn *conn);

void ab_pending_answer(struct ab_engine *engine, uint32_t number,
		       enum ab_word word, const char *by);
/* `who` is JSON on one line, `nearest` the first of it for people; or NULL. */
void ab_pending_who(struct ab_engine *engine, uint32_t number,
		    const char *who, const char *nearest);
/* The lists, or the words about this run, are different ones. */
void ab_pending_review(struct ab_engine *engine, const char *by);
void ab_pending_hold(struct ab_engine *engine, const char *reason);
/* There is no network any more (engine->cut): nobody waits for it. */
void ab_pending_cut(struct ab_engine *engine);

#endif
