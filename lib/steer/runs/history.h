#pragma once
/*
 * One row for each run, from its records: `log --list`. Give it every line of
 * every run, oldest first. Texts are hostile; what it prints is escaped.
 */
#include "base/base.h"

struct ab_history;

struct ab_history *ab_history_new(void);
void ab_history_free(struct ab_history *history);

/* Returns whether a row begins with this line; then say if the run is active. */
bool ab_history_add(struct ab_history *history, const char *line, size_t len);
void ab_history_active(struct ab_history *history, bool active);

/* The newest `most` runs (0: all), the newest first: a table for a terminal of that
 * many columns (0: no limit), or JSON. */
char *ab_history_text(const struct ab_history *history, size_t most, size_t columns);
char *ab_history_json(const struct ab_history *history, size_t most);
