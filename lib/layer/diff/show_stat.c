
#include "layer/diff/labels.h"
#include "layer/diff/show.h"
#include "base/text/text_diff.h"
#include "layer/walk/changes.h"

enum { NAME_MIN = 20, BARS_MAX = 40 };

static void describe_sizes(const struct ab_change *c, struct ab_stat_row *row)
{
	char was[32], is[32];

	if (c->is == AB_TYPE_FILE && c->was == AB_TYPE_FILE)
		snprintf(row->size, sizeof(row->size), "%s -> %s", ab_show_size(c->old_size, was),
			 ab_show_size(c->new_size, is));
	else if (c->is == AB_TYPE_FILE)
		snprintf(row->size, sizeof(row->size), "new, %s", ab_show_size(c->new_size, is));
	else
		snprintf(row->size, sizeof(row->size), "deleted, %s",
			 ab_show_size(c->old_size, was));
}

/* What is said instead of a number of lines, or nothing. */
static void describe_row(const struct ab_shown *s, struct ab_stat_row *row)
{
	const struct ab_change *c = s->change;

	if (c->kind == AB_CHANGE_MODE)
		snprintf(row->size, sizeof(row->size), "mode %04o -> %04o", c->old_mode,
			 c->new_mode);
	else if (c->was == AB_TYPE_DIR && c->is != AB_TYPE_DIR)
		snprintf(row->size, sizeof(row->size), "folder deleted, %llu entr%s",
			 (unsigned long long)c->count, c->count == 1 ? "y" : "ies");
	else if (c->is == AB_TYPE_DIR)
		snprintf(row->size, sizeof(row->size), "new folder");
	else if (c->is == AB_TYPE_OTHER)
		snprintf(row->size, sizeof(row->size), "device, FIFO or socket");
	else if (c->is == AB_TYPE_LINK)
		snprintf(row->size, sizeof(row->size),
			 c->was == AB_TYPE_LINK ? "link" : "new link");
	else if (!s->hunks)
		describe_sizes(c, row);
	else if (c->is == AB_TYPE_FILE && !s->hunks->len)
		snprintf(row->size, sizeof(row->size), "new, empty");
}

void ab_stat_add(struct ab_stat_table *table, const struct ab_shown *shown)
{
	struct ab_buf name = { 0 };
	struct ab_stat_row *row;

	row = ab_append(table->v, table->len);
	*row = (struct ab_stat_row){ 0 };
	ab_show_name(&name, "", shown->change->path);
	if (shown->change->conflict)
		ab_buf_puts(&name, " (conflict)");
	if (shown->change->refused)
		ab_buf_puts(&name, " (never applied)");
	row->name = ab_buf_take(&name);
	describe_row(shown, row);
	for (size_t i = 0, n = 0; i < shown->hits->len && n < sizeof(row->labels); i++)
		n += (size_t)snprintf(row->labels + n, sizeof(row->labels) - n, "%s%s",
				      i ? "," : "!", ab_labels[shown->hits->v[i].id].name);
	if (shown->hunks) {
		row->added = shown->hunks->added;
		row->removed = shown->hunks->removed;
	}
}

void ab_stat_fini(struct ab_stat_table *table)
{
	ab_free_rows(table->v, table->len, name);
	*table = (struct ab_stat_table){ 0 };
}

/* The end of a name says more than its beginning. */
static void add_name(struct ab_buf *b, const char *name, size_t width)
{
	size_t n = ab_utf8_count(name);

	ab_buf_puts(b, " ");
	if (n > width) {
		ab_buf_puts(b, "...");
		name = ab_utf8_tail(name, width - 3);
		n = width;
	}
	ab_buf_puts(b, name);
	ab_buf_printf(b, "%*s | ", (int)(width - n), "");
}

static void add_bars(struct ab_buf *b, const struct ab_show_style *style, char sign, uint64_t n,
		     uint64_t most, size_t room)
{
	uint64_t bars = most > room ? (n * room + most - 1) / most : n;

	if (bars && style->colour)
		ab_buf_puts(b, sign == '+' ? "\033[32m" : "\033[31m");
	for (uint64_t i = 0; i < bars; i++)
		ab_buf_add(b, &sign, 1);
	if (bars && style->colour)
		ab_buf_puts(b, "\033[m");
}

static void add_row(struct ab_buf *b, const struct ab_show_style *style,
		    const struct ab_stat_row *row, size_t width, uint64_t most, size_t bars)
{
	add_name(b, row->name, width);
	if (row->size[0]) {
		ab_buf_puts(b, row->size);
	} else {
		ab_buf_printf(b, "%llu ", (unsigned long long)(row->added + row->removed));
		add_bars(b, style, '+', row->added, most, bars);
		add_bars(b, style, '-', row->removed, most, bars);
	}
	if (row->labels[0])
		ab_buf_printf(b, "%s  %s%s", style->colour ? "\033[1;33m" : "", row->labels,
			      style->colour ? "\033[m" : "");
	ab_buf_puts(b, "\n");
}

void ab_stat_show(struct ab_buf *b, const struct ab_show_style *style,
		  const struct ab_stat_table *table)
{
	size_t width = 0, room = style->columns > 60 ? style->columns - 40 : NAME_MIN;
	uint64_t most = 0;

	for (size_t i = 0; i < table->len; i++) {
		size_t n = ab_utf8_count(table->v[i].name);
		uint64_t lines = table->v[i].added + table->v[i].removed;

		width = n > width ? n : width;
		if (!table->v[i].size[0])
			most = lines > most ? lines : most;
	}
	/* Without a terminal nothing is cut. */
	if (style->columns && width > room)
		width = room;
	for (size_t i = 0; i < table->len; i++)
		add_row(b, style, &table->v[i], width, most, BARS_MAX / 2);
}
