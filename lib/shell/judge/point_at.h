#pragma once
/*
 * Show a command to a person, with a mark under the decisive part. Only visible
 * characters reach the terminal.
 */
#include "base/base.h"
#include "shell/syntax/ast.h"

/* One character as shown. */
struct ab_glyph {
	char text[16];
	size_t len;   /* of text */
	size_t bytes; /* of the source that it shows */
	size_t cols;
	size_t room; /* maximum columns on any terminal */
};

struct ab_glyph ab_glyph_get(struct ab_text text, size_t at);

/*
 * Two lines, both starting with `indent`: the text, cut around the range if it is
 * longer than `room` columns, and marks under the range.
 */
void ab_point(struct ab_buf *b, struct ab_text text, struct ab_span range, const char *indent,
	      size_t room);
