#pragma once
/*
 * Select records. Pure. Hosts in records are canonical, so they are compared
 * byte by byte.
 */
#include "audit/write/audit.h"

enum ab_query_verdict { AB_QUERY_ANY, AB_QUERY_ALLOWED, AB_QUERY_DENIED };

struct ab_query { /* all zero: every record */
	enum ab_query_verdict verdict;
	const char *host; /* "x.y", or "*.x.y" for its subdomains */
	const char *kind;
	/* From `since` on, before `until`, in the format of records; "": any. */
	char since[AB_STAMP_ROOM], until[AB_STAMP_ROOM];
};

/* "10m" (ago), "2026-01-31T12:00:00Z", or local time: "2026-01-31 12:00",
 * "2026-01-31". -1 if it is none of these. */
int ab_time_parse(const char *text, const struct timespec *now, char ret[AB_STAMP_ROOM]);
/* The reverse: local time, "2026-01-31 12:00:00"; returns ret. */
#define AB_LOCAL_ROOM 32
const char *ab_time_local(const char *stamp, char ret[AB_LOCAL_ROOM]);
/* Milliseconds since 1970; -1 if it is not a record's time. */
int64_t ab_time_ms(const char *stamp);

/* 1: it matches; 0: it does not; -1: the line is not a record. */
int ab_query_matches(const struct ab_query *query, const char *line, size_t len);
/* Does every record match? */
bool ab_query_empty(const struct ab_query *query);
