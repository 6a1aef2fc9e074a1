#ifndef AB_AUDIT_QUERY_H
#define AB_AUDIT_QUERY_H
/*
 * Which records are meant. Pure. Texts are compared as they are: a host of the
 * record is canonical already.
 */
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "audit/audit.h"

enum ab_query_verdict { AB_QUERY_ANY, AB_QUERY_ALLOWED, AB_QUERY_DENIED };

struct ab_query {	/* all zero: every record */
	enum ab_query_verdict verdict;
	const char *host;	/* "x.y", or "*.x.y" for what is below it */
	const char *kind;
	/* As records spell it, from this on and before that; "": any. */
	char since[AB_STAMP_ROOM], until[AB_STAMP_ROOM];
};

/* "10m" (ago), "2026-01-31T12:00:00Z", "2026-01-31 12:00" and "2026-01-31" of
 * this machine's clock. -1: it is none of them. */
int ab_time_parse(const char *text, const struct timespec *now,
		  char ret[AB_STAMP_ROOM]);
/* The other way: "2026-01-31 12:00:00" of this machine's clock; returns ret. */
#define AB_LOCAL_ROOM 32
const char *ab_time_local(const char *stamp, char ret[AB_LOCAL_ROOM]);
/* Milliseconds since 1970; -1: it is no stamp. */
int64_t ab_time_ms(const char *stamp);

/* 1: it is meant, 0: it is not, -1: the line is no record. */
int ab_query_matches(const struct ab_query *query, const char *line,
		     size_t len);
/* Is every record meant? */
bool ab_query_empty(const struct ab_query *query);

#endif
