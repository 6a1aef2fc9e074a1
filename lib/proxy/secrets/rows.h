#pragma once
/*
 * Rows: characters of which each may follow the one before in a needle with line breaks, as they are in
 * lines. They rule out nearly all places without decoding anything. Pure; private to search.c.
 */
#include "proxy/secrets/search.h"

enum { AB_ROW_BESIDE = 4 };

/*
 * Does the line break from `at` to `after`, or one that ends there, part two characters of a needle? Yes also if
 * it is not known. It has at least four of the needle's characters before it, or after it.
 */
bool ab_row_has_break(const struct ab_search *l, enum ab_escape escape, size_t at, size_t after);
/* The same about the line end at `at`. */
bool ab_row_has_line_end(const struct ab_search *l, size_t at);
/* Is the pair at `at`, which may have a line end, in a row as long as the shortest needle with line breaks? */
bool ab_row_has_pair(const struct ab_search *l, size_t at);
/* Where the row begins that goes to the end of the data. */
size_t ab_row_at_end(const struct ab_search *l);
