#pragma once
/*
 * Lines for people, with the verdicts aligned in a column. All text is escaped.
 */
#include "base/base.h"
#include "shell/judge/judge.h"

enum { AB_ROW_TEXT_MAX = 64 }; /* columns of one text */

struct ab_row;

/* Zero-initialised is empty. */
struct ab_rows {
	struct ab_row *v;
	size_t len;
	struct ab_buf texts;
	bool marked; /* a row is already marked as decisive */
};

/* Call begin, then text or words, then end. `lead` has at most two columns. */
void ab_row_begin(struct ab_rows *r, size_t depth, const char *lead);
/* The text is cut at a newline and at AB_ROW_TEXT_MAX columns. */
void ab_row_text(struct ab_rows *r, struct ab_text text);
/* `verdict` may be NULL. Only the first decisive row is marked. */
void ab_row_end(struct ab_rows *r, const struct ab_judged *verdict, bool decided);

void ab_rows_print(const struct ab_rows *r, struct ab_buf *b);
void ab_rows_fini(struct ab_rows *r);
