#ifndef AB_WORKSPACE_QUARANTINE_JOURNAL_H
#define AB_WORKSPACE_QUARANTINE_JOURNAL_H
/*
 * The parts of a survey that the end of a run needs, as one JSON object in the run's
 * first record, so that the next start can sweep for a run whose processes were
 * all killed. Paths are bytes: everything except printable ASCII, and "%" itself,
 * is written as %XX.
 */
#include <stddef.h>

struct ab_error;
struct ab_survey;

/* Returns a new string: one line, without a newline. */
char *ab_journal_write(const struct ab_survey *survey);

/* Fills only the watches, roots, repositories and names. */
int ab_journal_read(const char *text, size_t len, struct ab_survey *ret, struct ab_error *err);

#endif
