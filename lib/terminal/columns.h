#pragma once
/*
 * Fits untrusted text into a number of columns. Of non-ASCII characters only
 * letters that stand alone and read from left to right are shown; the rest is
 * escaped. Pure.
 *
 * Terminals disagree on the width of a non-ASCII letter: it counts as two
 * columns.
 */
#include "base/base.h"

/* Adds as much as fits into `room` columns; returns the bytes used of `text`.
 * ret_cols, if not NULL, gets the columns used. */
size_t ab_columns_fit(struct ab_buf *b, const char *text, size_t len, size_t room,
		      size_t *ret_cols);
size_t ab_columns_width(const char *text);

/* On one line, without its end or without its beginning if it is too long;
 * "..." marks the cut if there is room. Returns the columns. */
size_t ab_columns_head(struct ab_buf *b, const char *text, size_t room);
size_t ab_columns_tail(struct ab_buf *b, const char *text, size_t room);

/* Adds the lines it needs, with the prefix `first` and then `rest`: ASCII, of
 * the same length. */
void ab_columns_wrap(struct ab_strv *lines, const char *first, const char *rest, const char *text,
		     size_t cols);
/* The same for our own text: breaks it between `gap`, such as two blanks, where it can. */
void ab_columns_words(struct ab_strv *lines, const char *first, const char *rest, const char *text,
		      const char *gap, size_t cols);
