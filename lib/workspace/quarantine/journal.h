#ifndef AB_WORKSPACE_QUARANTINE_JOURNAL_H
#define AB_WORKSPACE_QUARANTINE_JOURNAL_H
/*
 * What the end of a run needs from its survey, as one JSON object: written
 * into the run's first record, so that the next start can sweep for a run
 * whose processes were all killed. Paths are bytes: everything but printable
 * ASCII, and "%" itself, stands as %XX.
 */
#include <stddef.h>

struct ab_error;
struct ab_survey;

/* A new string, one line, without a line end. */
char *ab_journal_write(const struct ab_survey *survey);

/* The watches, roots, repositories and names; nothing else is filled. */
int ab_journal_read(const char *text, size_t len, struct ab_survey *ret, struct ab_error *err);

#endif
