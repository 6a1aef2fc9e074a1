#pragma once
/* The sentences of `why`. Pure. */
#include <jansson.h>

#include "base/base.h"

struct ab_why_case { /* members are NULL if there is no such record */
	const char *id;
	json_t *denied, *request, *question; /* records */
	json_t *start;			     /* of the run */
	bool live;
	uint64_t count;
	const char *first, *last; /* stamps; NULL: an open question */
	/* The entry of network.deny that covers the host today, if the user can remove it. */
	const char *barred;
};

void ab_why_text(const struct ab_why_case *c, struct ab_buf *b);
/* A run that was refused: `c->start` is its only record. */
void ab_why_refused(const struct ab_why_case *c, struct ab_buf *b);

/* Ways to allow it are pairs of lines, the effect and the command. Add one; show them in columns. */
void ab_why_add_way(struct ab_strv *ways, const char *effect, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void ab_why_put_ways(struct ab_buf *b, const char *margin, const struct ab_strv *ways);

/* How to allow it. */
void ab_why_remedies(const struct ab_why_case *c, struct ab_strv *ret);
/* If there is no command to run: a clause that says why, or NULL. */
const char *ab_why_advice(const struct ab_why_case *c);
