#ifndef AB_SESSION_CONTROL_OPEN_QUESTIONS_H
#define AB_SESSION_CONTROL_OPEN_QUESTIONS_H
/*
 * The open questions about hosts in a run, in the order of their arrival. The
 * proxy's own table (proxy/conn/waiting.h) decides; this is the supervisor's copy,
 * to show and to answer them. Pure.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/values/host.h"
#include "proxy/record/events.h"

enum { AB_OPEN_QUESTIONS_MAX = 2048 };

struct ab_open_question {
	struct ab_wanted wanted;
	char *who;	   /* JSON, or NULL: not known (yet) */
	uint64_t asked_ms; /* when, by the caller's clock */
	bool told;	   /* the user was told that it waits */
};

struct ab_open_questions {
	struct ab_open_question **v;
	size_t len, room;
};

/* NULL: there are too many to be shown; the proxy lets them run out. */
struct ab_open_question *ab_open_questions_add(struct ab_open_questions *questions,
					       const struct ab_wanted *wanted, uint64_t now_ms);
struct ab_open_question *ab_open_questions_find(const struct ab_open_questions *questions,
						uint32_t number);
/* The one with the lowest number that is not below this one, or NULL. A number
 * belongs to a host and is used again, so this is not the order of arrival. */
struct ab_open_question *ab_open_questions_from(const struct ab_open_questions *questions,
						uint32_t number);
void ab_open_questions_remove(struct ab_open_questions *questions, uint32_t number);
void ab_open_questions_fini(struct ab_open_questions *questions);

/* Milliseconds until it ends without an answer. */
uint64_t ab_question_left(const struct ab_open_question *question, uint64_t now_ms);
/* "x.y", or "x.y:8080": what a rule for it would be. */
void ab_question_entry(const struct ab_open_question *question, char ret[AB_HOST_ENTRY_TEXT]);

#endif
