#ifndef AB_SESSION_TERMINAL_COLUMNS_H
#define AB_SESSION_TERMINAL_COLUMNS_H
/*
 * Text on a screen whose lines are so many columns wide, whatever the text
 * holds: of what is not ASCII only letters are shown that stand alone and read
 * from the left, the rest is written out. Pure.
 *
 * Terminals do not agree on how wide a letter is that is not ASCII: it counts
 * as two columns.
 */
#include <stddef.h>

struct ab_buf;
struct ab_strv;

/* As much as fits into `room` columns: the bytes of the text that did.
 * ret_cols, if not NULL, is what they took. */
size_t ab_columns_fit(struct ab_buf *b, const char *text, size_t len, size_t room,
		      size_t *ret_cols);
size_t ab_columns_width(const char *text);

/* On one line: cut at its end, or at its beginning; marked where there is room
 * for a mark. Returns the columns. */
size_t ab_columns_head(struct ab_buf *b, const char *text, size_t room);
size_t ab_columns_tail(struct ab_buf *b, const char *text, size_t room);

/* On as many lines as it takes, the first behind `first` and the others behind
 * `rest`, which are ASCII of the same length. */
void ab_columns_wrap(struct ab_strv *lines, const char *first, const char *rest, const char *text,
		     size_t cols);

#endif
