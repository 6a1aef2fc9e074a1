#include "steer/client/table.h"

static void cut_line(struct ab_buf *line, size_t begin, size_t columns)
{
	size_t at = begin, n = 0;

	if (!columns || ab_utf8_count(line->data + begin) <= columns)
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

void ab_table_cell(struct ab_table *t, const char *text)
{
	ab_strv_give(&t->cells, ab_escape(text && *text ? text : "-"));
}

void ab_table_cellf(struct ab_table *t, const char *fmt, ...)
{
	ab_autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = ab_vprintf(fmt, ap);
	va_end(ap);
	ab_strv_give(&t->cells, ab_escape(text));
}

const char *ab_table_age_text(int64_t ms, char ret[AB_TABLE_AGE])
{
	static const struct {
		int64_t ms;
		char unit;
	} units[] = { { 86400000, 'd' }, { 3600000, 'h' }, { 60000, 'm' }, { 1000, 's' } };
	size_t i = 0;

	while (i + 1 < AB_COUNT(units) && ms < units[i].ms)
		i++;
	snprintf(ret, AB_TABLE_AGE, "%lld%c", (long long)(ms > 0 ? ms / units[i].ms : 0),
		 units[i].unit);
	return ret;
}

void ab_table_age(struct ab_table *t, int64_t ms)
{
	char age[AB_TABLE_AGE];

	ab_table_cell(t, ab_table_age_text(ms, age));
}

void ab_table_below(struct ab_table *t, const char *line)
{
	t->after = ab_realloc(t->after, (t->below.len + 1) * sizeof(t->after[0]));
	t->after[t->below.len] = t->cells.len;
	ab_strv_give(&t->below, ab_escape(line));
}

static const char *get_title(const struct ab_table *t, size_t column)
{
	return t->titles[column] + strspn(t->titles[column], ">?");
}

/* 0: the column is left out. */
static size_t measure_column(const struct ab_table *t, size_t column)
{
	size_t width = ab_utf8_count(get_title(t, column));
	bool shown = t->titles[column][0] != '?';

	for (size_t i = column; i < t->cells.len; i += t->ncolumns) {
		size_t n = ab_utf8_count(t->cells.v[i]);

		width = n > width ? n : width;
		shown |= n > 0 && strcmp(t->cells.v[i], "-") != 0;
	}
	return shown ? width : 0;
}

static void put_cell(const struct ab_table *t, size_t column, const char *text, size_t width,
		     struct ab_buf *b)
{
	int gap = (int)(width - ab_utf8_count(text));

	if (column + 1 == t->ncolumns)
		ab_buf_puts(b, text);
	else if (t->titles[column][0] == '>')
		ab_buf_printf(b, "%*s%s  ", gap, "", text);
	else
		ab_buf_printf(b, "%s%*s  ", text, gap, "");
}

/* cells NULL: the titles. */
static void put_row(const struct ab_table *t, char *const *cells, const size_t *widths,
		    size_t width, struct ab_buf *b)
{
	size_t begin = b->len;

	for (size_t k = 0; k < t->ncolumns; k++)
		if (widths[k])
			put_cell(t, k, cells ? cells[k] : get_title(t, k), widths[k], b);
	cut_line(b, begin, width);
	ab_buf_puts(b, "\n");
}

char *ab_table_text(struct ab_table *t, size_t width)
{
	ab_autofree size_t *widths = ab_alloc((t->ncolumns + 1) * sizeof(widths[0]));
	struct ab_buf b = { 0 };

	for (size_t k = 0; k < t->ncolumns; k++)
		widths[k] = measure_column(t, k);
	put_row(t, NULL, widths, width, &b);
	for (size_t at = 0, line = 0; at < t->cells.len;) {
		put_row(t, t->cells.v + at, widths, width, &b);
		for (at += t->ncolumns; line < t->below.len && t->after[line] == at; line++) {
			size_t begin = b.len;

			ab_buf_puts(&b, t->below.v[line]);
			cut_line(&b, begin, width);
			ab_buf_puts(&b, "\n");
		}
	}
	ab_strv_fini_all(&t->cells, &t->below);
	free(ab_take(t->after));
	return ab_buf_take(&b);
}
