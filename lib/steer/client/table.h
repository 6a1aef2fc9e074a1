#pragma once
/*
 * A table for a terminal, filled cell by cell. A title that begins with ">" aligns its column at the
 * right; one that begins with "?" is left out with its column if no cell of it says more than "-".
 * The last column takes the rest of the line. Cells may have any text: they are escaped. Pure.
 */
#include "base/base.h"

struct ab_table {
	const char *const *titles;
	size_t ncolumns;
	struct ab_strv cells; /* row by row */
	struct ab_strv below; /* lines between rows */
	size_t *after;	      /* for each of them, how many cells are before it */
};

/* clang-format off */
#define AB_TABLE(list) { .titles = (list), .ncolumns = AB_COUNT(list) }
/* clang-format on */

/* The next cell; "-" if there is no text. */
void ab_table_cell(struct ab_table *table, const char *text);
void ab_table_cellf(struct ab_table *table, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* How long ago something was: "5m". One unit is precise enough. */
#define AB_TABLE_AGE 24
const char *ab_table_age_text(int64_t ms, char ret[AB_TABLE_AGE]);
void ab_table_age(struct ab_table *table, int64_t ms);
/* A line of its own below the row so far. */
void ab_table_below(struct ab_table *table, const char *line);

/* The text, which the caller frees; the table is empty then. Lines are cut to `width` columns; 0: no
 * limit. */
char *ab_table_text(struct ab_table *table, size_t width);
