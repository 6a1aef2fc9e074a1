#include "layer/diff/show.h"

#include "base/text/units.h"
#include "layer/diff/labels.h"
#include "base/text/text_diff.h"
#include "layer/walk/changes.h"

const char *ab_show_kind(const struct ab_change *change)
{
	static const char *const names[] = {
		[AB_CHANGE_ADDED] = "added",	   [AB_CHANGE_MODIFIED] = "modified",
		[AB_CHANGE_DELETED] = "deleted",   [AB_CHANGE_MODE] = "mode",
		[AB_CHANGE_REPLACED] = "replaced",
	};

	return names[change->kind];
}

void ab_show_text(struct ab_buf *b, const char *s, size_t len)
{
	while (len > 0) {
		const char *tab = memchr(s, '\t', len);
		size_t n = tab ? (size_t)(tab - s) : len;

		ab_buf_escape_n(b, s, n);
		if (tab)
			ab_buf_puts(b, "\t");
		n += tab != NULL;
		s += n;
		len -= n;
	}
}

void ab_show_count(struct ab_show_totals *totals, const struct ab_shown *shown)
{
	totals->changes++;
	totals->labelled += shown->hits->bits != 0;
	totals->conflicts += shown->change->conflict;
	totals->refused += shown->change->refused != NULL;
	if (shown->hunks) {
		totals->added += shown->hunks->added;
		totals->removed += shown->hunks->removed;
	}
}

void ab_show_summary(struct ab_buf *b, const struct ab_show_totals *t)
{
	ab_buf_printf(b, "%zu change%s, %llu line%s added, %llu removed", t->changes,
		      t->changes == 1 ? "" : "s", (unsigned long long)t->added,
		      t->added == 1 ? "" : "s", (unsigned long long)t->removed);
	if (t->labelled)
		ab_buf_printf(b, "; %zu want%s a look", t->labelled, t->labelled == 1 ? "s" : "");
	if (t->conflicts)
		ab_buf_printf(b, "; %zu conflict%s", t->conflicts, t->conflicts == 1 ? "" : "s");
	if (t->refused)
		ab_buf_printf(b, "; %zu cannot be applied", t->refused);
}

void ab_show_hit(struct ab_buf *b, const struct ab_label_hit *hit)
{
	ab_buf_puts(b, ab_labels[hit->id].what);
	if (hit->who[0])
		ab_buf_printf(b, " (%s)", hit->who);
	if (hit->detail[0])
		ab_buf_printf(b, ": %s", hit->detail);
}

const char *ab_show_size(uint64_t bytes, char ret[32])
{
	char size[24];

	if (bytes < 1024)
		snprintf(ret, 32, "%u byte%s", (unsigned int)bytes, bytes == 1 ? "" : "s");
	else
		snprintf(ret, 32, "%s", ab_round_size(bytes, size));
	return ret;
}

static void add_quoted(struct ab_buf *b, const char *path)
{
	while (*path) {
		size_t n = ab_printable(path, strlen(path));

		if (*path == '"' || *path == '\\')
			ab_buf_printf(b, "\\%c", *path++);
		else if (*path == '\n' || *path == '\t')
			ab_buf_printf(b, "\\%c", *path++ == '\n' ? 'n' : 't');
		else if (n == 0)
			ab_buf_printf(b, "\\%03o", (unsigned char)*path++);
		else
			ab_buf_add(b, path, n), path += n;
	}
}

void ab_show_name(struct ab_buf *b, const char *prefix, const char *path)
{
	ab_autobuf struct ab_buf quoted = { 0 };

	add_quoted(&quoted, path);
	/* Each escape makes it longer. */
	if (quoted.len == strlen(path))
		ab_buf_printf(b, "%s%s", prefix, path);
	else
		ab_buf_printf(b, "\"%s%s\"", prefix, quoted.data);
}
