#ifndef AB_PROXY_CONN_WAITING_H
#define AB_PROXY_CONN_WAITING_H
/*
 * Connections that wait for an answer. Private to lib/proxy.
 *
 * A question is about one host and port; later connections join it. Its number
 * is that of the denial it becomes if nobody says yes. The number of open
 * questions, of new ones per minute, and of waiting connections is bounded;
 * beyond that the answer is no at once. A waiting connection is not read from:
 * its bytes stay in the socket.
 *
 * When the wait is over, `resume` is called once with the connection's record:
 * r->verdict (and r->fault, r->reply) say what holds then.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy/record/events.h"

struct ab_conn;
struct ab_engine;
struct ab_host;
struct ab_question;
struct ab_request_record;

enum {
	AB_QUESTIONS_MAX = 1024, /* open at a time */
	AB_QUESTIONS_BURST = 1200,
	AB_QUESTION_EVERY_MS = 100, /* so many more: 600 a minute */
};

struct ab_bucket { /* how many may come; zeroed it is full */
	uint64_t at;
	uint64_t left;
};

struct ab_waiting {
	struct ab_question *questions, *hold;
	size_t nquestions; /* those that are asked */
	size_t nsought;	   /* those that only want to know who it is */
	size_t waiting;	   /* connections, of all */
	size_t room;	   /* for so many */
	struct ab_bucket asked, sought;
	uint32_t ask_ms, hold_ms;
	bool tell_who;
	void (*wanted)(void *arg, const struct ab_wanted *wanted);
	void (*settled)(void *arg, uint32_t number, enum ab_settled how, uint32_t released);
	void *arg;
};

typedef void (*ab_resume_fn)(struct ab_conn *conn, struct ab_request_record *r);

void ab_waiting_init(struct ab_waiting *pending, const struct ab_proxy_setup *setup);
void ab_waiting_fini(struct ab_engine *engine);

/*
 * After the lists have decided (r->verdict). True: the connection waits, and
 * `host` and what r points to must live as long as it does. False: r says what
 * holds.
 */
bool ab_waiting_begin(struct ab_conn *conn, struct ab_host *host, struct ab_request_record *r,
		      ab_resume_fn resume);
/* It is denied. True: it waits a moment, until it is known which process it
 * was. */
bool ab_waiting_identify(struct ab_conn *conn, const struct ab_request_record *r,
			 ab_resume_fn resume);
/* The connection is closed while it waits: that is a denial. */
void ab_waiting_leave(struct ab_conn *conn);

void ab_waiting_answer(struct ab_engine *engine, uint32_t number, enum ab_host_answer word,
		       const char *by);
/* `who` is JSON on one line, `nearest` the first of it for people; or NULL. */
void ab_waiting_who(struct ab_engine *engine, uint32_t number, const char *who,
		    const char *nearest);
/* The lists or the grants have changed: judge what waits again. */
void ab_waiting_review(struct ab_engine *engine, const char *by);
void ab_waiting_hold(struct ab_engine *engine, const char *reason);
/* There is no network any more (engine->cut): nobody waits for it. */
void ab_waiting_cut(struct ab_engine *engine);

#endif
