#pragma once
/*
 * A record as one line of text. Pure except for the machine's time zone;
 * everything is escaped.
 *
 *	2026-01-31 12:00:00  denied   x.y:443  not on the allow list  7kq2x-1
 */
#include "base/base.h"

struct ab_line_style {
	bool colour;
	bool run; /* with the id of the run */
};

/* Adds nothing if the line is not a record or only repeats another one. */
void ab_line_show(struct ab_buf *b, const struct ab_line_style *style, const char *line,
		  size_t len);
