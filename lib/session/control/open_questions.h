#pragma once
/*
 * The open questions about hosts in a run, in the order of their arrival. The proxy's own table
 * (proxy/conn/waiting.h) decides; this is the supervisor's copy, used to show and answer them.
 * Pure.
 */
#include "base/base.h"
#include "policy/values/host.h"
#include "proxy/record/events.h"

enum { AB_OPEN_QUESTIONS_MAX = 2048 };

struct ab_open_question {
	struct ab_host_question wanted;
	char *who;	   /* JSON, or NULL: not known yet */
	uint64_t asked_ms; /* time by the caller's clock */
	bool hinted;	   /* the user was told how to answer it */
	bool noticed;	   /* or was told outside of the terminal, or that there are more */
};

struct ab_open_questions {
	struct ab_open_question **v;
	size_t len;
};

/* NULL: there are too many to show; the proxy lets this one time out. */
struct ab_open_question *ab_open_questions_add(struct ab_open_questions *questions,
					       const struct ab_host_question *wanted,
					       uint64_t now_ms);
struct ab_open_question *ab_open_questions_find(const struct ab_open_questions *questions,
						uint32_t number);
/* The question with the lowest number that is at least `number`, or NULL. A number belongs to a
 * host and is reused, so this is not the order of arrival. */
struct ab_open_question *ab_open_questions_from(const struct ab_open_questions *questions,
						uint32_t number);
void ab_open_questions_remove(struct ab_open_questions *questions, uint32_t number);
void ab_open_questions_fini(struct ab_open_questions *questions);

/*
 * When to tell the user outside of the terminal about questions that wait, and about which: at once
 * if nobody can see the oldest such question (`seen`: a terminal or a client shows it), else when it
 * has been open for a while; and not soon after the last time (`last_ms`, 0: never). NULL: about none.
 * *ret_ms: the milliseconds until then, 0: now.
 */
enum { AB_NOTICE_AFTER_MS = 8000, AB_NOTICE_GAP_MS = 5000 };
struct ab_open_question *ab_open_questions_unseen(const struct ab_open_questions *questions,
						  bool seen, uint64_t last_ms, uint64_t now_ms,
						  uint64_t *ret_ms);
/* It was told, and how many others there are. */
void ab_open_questions_noticed(struct ab_open_questions *questions);

/* Milliseconds until it times out. */
uint64_t ab_question_left(const struct ab_open_question *question, uint64_t now_ms);
/* The rule that would allow it: "x.y", or "x.y:8080". */
void ab_question_entry(const struct ab_open_question *question, char ret[AB_HOST_ENTRY_TEXT]);
