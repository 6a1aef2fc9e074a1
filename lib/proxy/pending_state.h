#ifndef AB_PROXY_PENDING_STATE_H
#define AB_PROXY_PENDING_STATE_H
/*
 * What the files of the questions share. Private to proxy/pending*.c.
 *
 *	pending.c		who must wait, and for what
 *	pending_questions.c	the table, and the end of each
 *	pending_words.c		what others say
 */
#include "proxy/conn.h"

struct ab_waiter;

struct ab_question {
	struct ab_engine *engine;
	struct ab_question *next, **link;
	enum ab_wanted_why why;
	uint32_t number;
	struct ab_host host;
	uint16_t port;
	enum ab_door door;
	struct ab_timer timer;
	struct ab_waiter *first, **end;
	uint32_t waiting;
	uint64_t begun;
	char *who;    /* JSON, or NULL */
	char *reason; /* of a hold */
};

struct ab_question_end {
	enum ab_settled how;
	enum ab_reply reply; /* what who waits is told */
	bool yes;	     /* neither: each is judged again */
	bool released;	     /* so that they go on */
	const char *answer, *by;
};

struct ab_question *ab_question_open(struct ab_engine *engine, enum ab_wanted_why why,
				     void (*fire)(struct ab_timer *timer), uint64_t ms);
/* Nobody finds it any more; its time does not end. */
void ab_question_close(struct ab_question *q);
/* Close it, tell all who wait, free it. */
void ab_question_settle(struct ab_question *q, const struct ab_question_end *end);
/* `sought`: among those that only want to know who it is. */
struct ab_question *ab_question_find(const struct ab_pending *pending, uint32_t number,
				     bool sought);
/* What holds for a question that somebody waits for. */
void ab_question_judge(struct ab_question *q, struct ab_verdict *ret);
void ab_question_join(struct ab_question *q, struct ab_conn *conn, struct ab_host *host,
		      const struct ab_request_record *r, ab_resume_fn resume);
/* Say that somebody waits; the first to join is the one who is asked about. */
void ab_question_announce(struct ab_question *q, const char *host, uint32_t ms);

#endif
