#pragma once
/*
 * The parts of a survey that the end of a run needs, as one JSON object in the run's
 * first record, so that the next start can sweep for a run whose processes were
 * all killed. Paths are bytes: everything except printable ASCII, and "%" itself,
 * is written as %XX.
 */
#include "base/base.h"

struct ab_survey;

/* A path as a JSON string; and back: a new string, or NULL if it is not one of these. */
void ab_journal_put_path(struct ab_buf *b, const char *path);
char *ab_journal_get_path(const char *text);

/* Returns a new string: one line, without a newline. */
char *ab_journal_write(const struct ab_survey *survey);
/* The same text for a survey that began at another time. */
char *ab_journal_restart(const char *text, const struct timespec *started);

/* Fills only the watches, roots, shared folders with their permissions, repositories and names. */
int ab_journal_read(const char *text, size_t len, struct ab_survey *ret, struct ab_error *err);
