#include "shell/judge/verdict_rows.h"

enum { STEP = 3, WIDTH_MAX = 52 };

struct ab_row {
	size_t begin, len; /* in `texts` */
	size_t columns;	   /* its width, with indent and lead */
	const struct ab_judged *verdict;
	bool decided;
};

void ab_row_begin(struct ab_rows *r, size_t depth, const char *lead)
{
	ab_make_room(r->v, r->len);
	r->v[r->len] = (struct ab_row){ .begin = r->texts.len, .columns = (depth + 1) * STEP };
	ab_buf_printf(&r->texts, "%*s%2s ", (int)(depth * STEP), "", lead);
}

void ab_row_text(struct ab_rows *r, struct ab_text text)
{
	uint32_t i = 0, bytes;
	size_t columns = 0;

	for (; i < text.len && text.s[i] != '\n' && columns < AB_ROW_TEXT_MAX; i += bytes) {
		size_t n = ab_printable(text.s + i, text.len - i);

		bytes = n ? (uint32_t)n : 1;
		columns += n ? 1 : 4; /* \xNN */
		ab_buf_escape_n(&r->texts, text.s + i, bytes);
	}
	if (i < text.len) {
		ab_buf_puts(&r->texts, " ...");
		columns += 4;
	}
	r->v[r->len].columns += columns;
}

void ab_row_end(struct ab_rows *r, const struct ab_judged *verdict, bool decided)
{
	struct ab_row *row = &r->v[r->len++];

	row->len = r->texts.len - row->begin;
	row->verdict = verdict;
	row->decided = decided && !r->marked;
	r->marked |= decided;
}

static void print_verdict(const struct ab_row *row, size_t width, struct ab_buf *b)
{
	const struct ab_judged *c = row->verdict;
	size_t gap = row->columns < width ? width - row->columns : 0;
	const char *name = ab_decision_names[c->decision];

	ab_buf_printf(b, "%*s  ", (int)gap, "");
	if (c->rule[0])
		ab_buf_printf(b, "%-9s  %s", name, c->rule);
	else
		ab_buf_puts(b, name);
}

void ab_rows_print(const struct ab_rows *r, struct ab_buf *b)
{
	size_t width = 0;

	for (size_t i = 0; i < r->len; i++)
		if (r->v[i].verdict && r->v[i].columns > width)
			width = r->v[i].columns;
	width = width < WIDTH_MAX ? width : WIDTH_MAX;
	for (size_t i = 0; i < r->len; i++) {
		const struct ab_row *row = &r->v[i];

		ab_buf_add(b, r->texts.data + row->begin, row->len);
		if (row->verdict)
			print_verdict(row, width, b);
		ab_buf_puts(b, row->decided ? "  <--\n" : "\n");
	}
}

void ab_rows_fini(struct ab_rows *r)
{
	free(r->v);
	ab_buf_fini(&r->texts);
	*r = (struct ab_rows){ 0 };
}
