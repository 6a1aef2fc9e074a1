#ifndef AB_STEER_CLIENT_TABLE_H
#define AB_STEER_CLIENT_TABLE_H
/* A table for a terminal. Pure: cells are one line of printable text (ab_escape()). */
#include <stdbool.h>
#include <stddef.h>

#include "base/data/strv.h"

struct ab_table_column {
	const char *title;
	bool right; /* align at the right */
};

struct ab_table {
	const struct ab_table_column *columns;
	size_t ncolumns;
	const bool *hidden; /* columns that are left out; NULL: none */
	char *const *cells; /* row by row; a cell of a hidden column may be NULL */
	size_t nrows;
	const struct ab_strv *below; /* for each row, lines that follow it; or NULL */
};

/* Lines are cut to `width` columns; 0: no limit. Free it. */
char *ab_table_text(const struct ab_table *table, size_t width);

#endif
