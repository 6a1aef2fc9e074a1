#pragma once
/*
 * Connections that wait for an answer. Private to lib/proxy.
 *
 * A question is about one host and port; later connections join it. It has the
 * number of the denial that it becomes without a yes. Open questions, new ones
 * per minute, and waiting connections are limited; beyond the limits the answer
 * is no at once. A waiting connection is not read: its bytes stay in the socket.
 *
 * When the wait ends, `resume` is called once with the connection's record:
 * r->verdict, r->fault and r->reply are the result.
 */
#include "base/data/bucket.h"
#include "proxy/record/events.h"

struct ab_conn;
struct ab_denied_datagram;
struct ab_engine;
struct ab_host;
struct ab_question;
struct ab_request_record;

enum {
	AB_QUESTIONS_MAX = 1024, /* open at a time */
	AB_QUESTIONS_BURST = 1200,
	AB_QUESTIONS_PER_SECOND = 10,
};

struct ab_waiting {
	struct ab_question *questions, *hold;
	size_t nquestions;   /* that a person answers */
	size_t nidentify;    /* that only identify the process */
	size_t nconns;	     /* waiting connections of all questions */
	size_t nsought;	     /* datagrams whose process is looked for: at most one */
	uint32_t ndatagrams; /* so far */
	size_t max_conns;
	struct ab_bucket ask_rate, identify_rate, datagram_rate; /* full at first */
};

typedef void (*ab_resume_fn)(struct ab_conn *conn, struct ab_request_record *r);

void ab_waiting_fini(struct ab_engine *engine);

/*
 * Call it with the verdict of the lists (r->verdict). True: the connection
 * waits, and `host` and what r points to must live until `resume`. False: r has
 * the result.
 */
bool ab_waiting_begin(struct ab_conn *conn, struct ab_host *host, struct ab_request_record *r,
		      ab_resume_fn resume);
/* For a denied connection. True: it waits a moment until its process is
 * identified. */
bool ab_waiting_identify(struct ab_conn *conn, const struct ab_request_record *r,
			 ab_resume_fn resume);
/* A request to the ssh agent, about which a person is asked (r->why: "sign in to ..."), or, with NULL,
 * only which process makes it. False: r->reply says why it cannot be asked, or it cannot be identified. */
bool ab_waiting_agent(struct ab_conn *conn, struct ab_request_record *r, ab_resume_fn resume);
/* Record a denied datagram, as soon as its process is identified. Nothing waits for that: the process
 * may have closed the socket meanwhile. */
void ab_waiting_datagram(struct ab_engine *engine, const struct ab_denied_datagram *datagram);
/* The box has ended: record the datagrams whose processes are still looked for. */
void ab_waiting_end_datagrams(struct ab_engine *engine);
/* The connection is closed while it waits: record a denial. */
void ab_waiting_leave(struct ab_conn *conn);

void ab_waiting_answer(struct ab_engine *engine, uint32_t number, enum ab_host_answer answer,
		       const char *by, const char *why);
/* `who`: JSON on one line; `nearest`: its first process, for people; or NULL. */
void ab_waiting_who(struct ab_engine *engine, uint32_t number, const char *who,
		    const char *nearest);
/* The lists or the grants have changed: judge the open questions again. */
void ab_waiting_review(struct ab_engine *engine, const char *by);
void ab_waiting_hold(struct ab_engine *engine, const char *reason);
/* The network was cut (engine->cut): end all questions. */
void ab_waiting_cut(struct ab_engine *engine);
