#pragma once
/*
 * The summary of denials that a run prints on standard error when it ends. Pure.
 * A line that begins with a blank belongs to the one before.
 *
 *	2 requests were denied
 *	  7kq2x-1  x.y:443       not on the allow list  curl, pid 3
 *	  7kq2x-2  pypi.org:443  not on the allow list  pip, pid 5
 *	           allow them next time:  agentbox run --allow x.y --allow @pypi -- ...
 */
#include "base/base.h"

enum { AB_SUMMARY_ROWS = 10 };

struct ab_summary_row { /* safe to print; texts are freed by the summary */
	char id[24];
	char *about, *reason;
	char *more; /* who it was, or by which rule; or NULL */
	uint64_t count;
	/* How to allow it, or NULL: commands, and a clause. */
	char *next, *always, *advice;
};

struct ab_summary {
	const char *run_id;
	struct ab_summary_row rows[AB_SUMMARY_ROWS];
	size_t len;
	uint64_t rest; /* denials without a row */
};

/* The next row, to be filled in; NULL if there is no room, and `count` is
 * added to the rest. */
struct ab_summary_row *ab_summary_add(struct ab_summary *summary, uint64_t count);
/* Count a denial whose id is RUN-LETTERnumber. A new row, to be filled in; NULL: it has one, or there is
 * no room. */
struct ab_summary_row *ab_summary_count(struct ab_summary *summary, char letter, uint32_t number);
/* "N NOUN were denied", and a row for each. Frees the rows. Nothing if nothing
 * was denied. */
void ab_summary_end(struct ab_summary *summary, const char *headline, struct ab_strv *ret);
/* The same, with "2 programs were" of "program was" and "programs were". */
void ab_summary_denied(struct ab_summary *summary, const char *one, const char *many,
		       struct ab_strv *ret);
/* Frees the rows. */
void ab_summary_fini(struct ab_summary *summary);
