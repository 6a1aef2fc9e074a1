#ifndef AB_AUDIT_SHOW_LINES_H
#define AB_AUDIT_SHOW_LINES_H
/*
 * A record as a line that people read. Pure but for the machine's time zone;
 * everything is escaped.
 *
 *	2026-01-31 12:00:00  denied   x.y:443  not on the allow list  7kq2x-1
 */
#include <stdbool.h>
#include <stddef.h>

struct ab_buf;

struct ab_line_style {
	bool colour;
	bool run; /* say which run it is of */
};

/* Adds nothing for a line that only repeats another record or is not one. */
void ab_line_show(struct ab_buf *b, const struct ab_line_style *style, const char *line,
		  size_t len);

#endif
