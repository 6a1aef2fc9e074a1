#include "steer/client/table.h"

#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"

/* Each character of an escaped text counts as one column. Wide characters only
 * spoil the alignment. */
static size_t count_columns(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void cut_line(struct ab_buf *line, size_t begin, size_t columns)
{
	size_t at = begin, n = 0;

	if (!columns || count_columns(line->data + begin) <= columns)
		return;
	while (n + 3 < columns && at < line->len) {
		uint32_t c;
		size_t len = ab_utf8_get(line->data + at, line->len - at, &c);

		at += len ? len : 1;
		n++;
	}
	line->len = at;
	line->data[at] = '\0';
	ab_buf_puts(line, columns < 4 ? "" : "...");
}

static bool is_hidden(const struct ab_table *t, size_t column)
{
	return t->hidden && t->hidden[column];
}

/* Row 0 is the title. */
static const char *get_cell(const struct ab_table *t, size_t row, size_t column)
{
	return row ? t->cells[(row - 1) * t->ncolumns + column] : t->columns[column].title;
}

static size_t measure_column(const struct ab_table *t, size_t column)
{
	size_t width = 0;

	for (size_t row = 0; row <= t->nrows; row++) {
		size_t n = count_columns(get_cell(t, row, column));

		width = n > width ? n : width;
	}
	return width;
}

/* The last column takes the rest of the line. */
static void put_row(const struct ab_table *t, size_t row, const size_t *widths, struct ab_buf *b)
{
	for (size_t k = 0; k < t->ncolumns; k++) {
		const char *text = is_hidden(t, k) ? NULL : get_cell(t, row, k);
		int gap = text ? (int)(widths[k] - count_columns(text)) : 0;

		if (text && k + 1 == t->ncolumns)
			ab_buf_puts(b, text);
		else if (text && t->columns[k].right)
			ab_buf_printf(b, "%*s%s  ", gap, "", text);
		else if (text)
			ab_buf_printf(b, "%s%*s  ", text, gap, "");
	}
}

static void put_below(const struct ab_strv *lines, size_t width, struct ab_buf *b)
{
	for (size_t i = 0; i < lines->len; i++) {
		size_t begin = b->len;

		ab_buf_puts(b, lines->v[i]);
		cut_line(b, begin, width);
		ab_buf_puts(b, "\n");
	}
}

char *ab_table_text(const struct ab_table *table, size_t width)
{
	ab_autofree size_t *widths = ab_alloc((table->ncolumns + 1) * sizeof(widths[0]));
	struct ab_buf b = { 0 };

	for (size_t k = 0; k < table->ncolumns; k++)
		widths[k] = is_hidden(table, k) ? 0 : measure_column(table, k);
	for (size_t row = 0; row <= table->nrows; row++) {
		size_t begin = b.len;

		put_row(table, row, widths, &b);
		cut_line(&b, begin, width);
		ab_buf_puts(&b, "\n");
		if (row && table->below)
			put_below(&table->below[row - 1], width, &b);
	}
	return ab_buf_take(&b);
}
