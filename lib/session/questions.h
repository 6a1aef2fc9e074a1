#ifndef AB_SESSION_QUESTIONS_H
#define AB_SESSION_QUESTIONS_H
/*
 * The questions about hosts that are open in a run, in the order in which they
 * came. What the proxy holds is the truth; this is what the supervisor knows
 * of it, to show and to answer. Pure.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"
#include "proxy/proxy.h"

enum { AB_QUESTIONS_MAX = 2048 };

struct ab_open_question {
	struct ab_wanted wanted;
	char *who;		/* JSON, or NULL: not known (yet) */
	uint64_t asked_ms;	/* when, by the caller's clock */
	bool told;		/* somebody was pointed at it */
};

struct ab_questions {
	struct ab_open_question **v;
	size_t len, room;
};

/* NULL: there are too many to be shown; the proxy lets them run out. */
struct ab_open_question *ab_questions_add(struct ab_questions *questions,
					  const struct ab_wanted *wanted,
					  uint64_t now_ms);
struct ab_open_question *ab_questions_find(const struct ab_questions *questions,
					   uint32_t number);
/* That with the lowest number from this one on, or NULL: a number is that of a
 * host, and comes again, so that the order of coming is another one. */
struct ab_open_question *ab_questions_from(const struct ab_questions *questions,
					   uint32_t number);
void ab_questions_remove(struct ab_questions *questions, uint32_t number);
void ab_questions_fini(struct ab_questions *questions);

/* Of the time that it has. */
uint64_t ab_question_left(const struct ab_open_question *question,
			  uint64_t now_ms);
/* "x.y", or "x.y:8080": what a rule for it would be. */
void ab_question_entry(const struct ab_open_question *question,
		       char ret[AB_HOST_ENTRY_TEXT]);

#endif
