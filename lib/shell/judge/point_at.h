#ifndef AB_SHELL_JUDGE_POINT_AT_H
#define AB_SHELL_JUDGE_POINT_AT_H
/*
 * A command for the eyes of a person: nothing in it reaches a terminal but
 * characters that can be seen, and the part that matters is pointed at.
 */
#include "shell/syntax/ast.h"

struct ab_buf;

/* One character as it is shown. */
struct ab_glyph {
	char text[16];
	size_t len;   /* of text */
	size_t bytes; /* what it stands for */
	size_t cols;
	size_t room; /* columns on any terminal, at most */
};

struct ab_glyph ab_glyph_get(struct ab_text text, size_t at);

/*
 * Two lines, each behind `indent`: the text, cut around the part where it is
 * longer than `room` columns, and marks below the part.
 */
void ab_point(struct ab_buf *b, struct ab_text text, struct ab_span range, const char *indent,
	      size_t room);

#endif
