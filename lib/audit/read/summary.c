#include "audit/read/summary.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"

enum { WIDTH = 40 }; /* of a column; a longer text breaks it */

struct ab_summary_row *ab_summary_add(struct ab_summary *s, uint64_t count)
{
	if (s->len == AB_SUMMARY_ROWS) {
		s->rest += count;
		return NULL;
	}
	s->rows[s->len].count = count;
	return &s->rows[s->len++];
}

static void widen_column(int *width, const char *text)
{
	size_t len = strlen(text);

	if (len <= WIDTH && (int)len > *width)
		*width = (int)len;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool has_same_remedy(const struct ab_summary_row *a, const struct ab_summary_row *b)
{
	return is_same_text(a->next, b->next) && is_same_text(a->always, b->always) &&
	       is_same_text(a->advice, b->advice);
}

static void add_row(const struct ab_summary_row *row, const int width[3], struct ab_strv *ret)
{
	struct ab_buf b = { 0 };

	ab_buf_printf(&b, "  %-*s  %-*s  ", width[0], row->id, width[1], row->about);
	if (row->more)
		ab_buf_printf(&b, "%-*s  %s", width[2], row->reason, row->more);
	else
		ab_buf_puts(&b, row->reason);
	if (row->count > 1)
		ab_buf_printf(&b, ", %" PRIu64 " times", row->count);
	ab_strv_give(ret, ab_buf_take(&b));
}

static void add_remedy(const struct ab_summary_row *row, int indent, struct ab_strv *ret)
{
	if (row->next)
		ab_strv_addf(ret, "%*sallow it next time:  %s", indent, "", row->next);
	if (row->always)
		ab_strv_addf(ret, "%*sallow it always:     %s", indent, "", row->always);
	if (row->advice)
		ab_strv_addf(ret, "%*s%s", indent, "", row->advice);
}

static void free_rows(struct ab_summary *s)
{
	for (size_t i = 0; i < s->len; i++) {
		free(s->rows[i].about);
		free(s->rows[i].reason);
		free(s->rows[i].more);
		free(s->rows[i].next);
		free(s->rows[i].always);
		free(s->rows[i].advice);
	}
	s->len = 0;
}

void ab_summary_end(struct ab_summary *s, const char *headline, struct ab_strv *ret)
{
	int width[3] = { 0 };

	if (!s->len && !s->rest)
		return;
	ab_strv_add(ret, headline);
	for (size_t i = 0; i < s->len; i++) {
		widen_column(&width[0], s->rows[i].id);
		widen_column(&width[1], s->rows[i].about);
		widen_column(&width[2], s->rows[i].reason);
	}
	for (size_t i = 0; i < s->len; i++) {
		add_row(&s->rows[i], width, ret);
		/* Print a remedy that several rows share once, below them. */
		if (i + 1 == s->len || !has_same_remedy(&s->rows[i], &s->rows[i + 1]))
			add_remedy(&s->rows[i], width[0] + 4, ret);
	}
	if (s->rest)
		ab_strv_addf(ret, "  and %" PRIu64 " more: agentbox log %s --denied", s->rest,
			     s->run_id);
	free_rows(s);
}
