#include "audit/read/summary.h"

#include <inttypes.h>

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

static const char command[] = "agentbox run ", rest[] = " -- ...";

/* The options in "agentbox run --allow x.y -- ..."; 0: it is another remedy. */
static size_t get_options(const char *next, const char **ret)
{
	size_t before = sizeof(command) - 1, after = sizeof(rest) - 1;
	size_t len = next ? strlen(next) : 0;

	if (len <= before + after || strncmp(next, command, before) != 0 ||
	    strcmp(next + len - after, rest) != 0)
		return 0;
	*ret = next + before;
	return len - before - after;
}

/* Add each of these options once, with its value. A quoted value may contain anything. */
static void add_options(const char *text, size_t len, struct ab_strv *ret)
{
	bool quoted = false;
	size_t start = 0;

	for (size_t i = 0; i <= len; i++) {
		ab_autofree char *one = NULL;

		quoted ^= i < len && text[i] == '\'';
		if (!quoted && i < len && text[i] == '\\')
			i++; /* a quote that does not end the value */
		if (i < len && (quoted || strncmp(text + i, " --", 3) != 0))
			continue;
		one = ab_strndup(text + start, i - start);
		ab_strv_add_once(ret, one);
		start = i + 1;
	}
}

/* One command for all rows: their options, each once. Returns how many rows it is for. */
static size_t make_command(const struct ab_summary *s, struct ab_buf *ret)
{
	ab_autostrv struct ab_strv options = { 0 };
	size_t rows = 0;

	for (size_t i = 0; i < s->len; i++) {
		const char *text;
		size_t len = get_options(s->rows[i].next, &text);

		rows += len > 0;
		if (len)
			add_options(text, len, &options);
	}
	for (size_t i = 0; i < options.len; i++)
		ab_buf_printf(ret, " %s", options.v[i]);
	return rows;
}

/* For the settings. Of commands for one row each, one is an example. */
static void add_always(const struct ab_summary *s, int indent, int label, struct ab_strv *ret)
{
	static const char example[] = "agentbox allow ";
	ab_autostrv struct ab_strv all = { 0 };
	size_t commands = 0;

	for (size_t i = 0; i < s->len; i++)
		if (s->rows[i].always)
			ab_strv_add_once(&all, s->rows[i].always);
	for (size_t i = 0; i < all.len; i++) {
		bool is_command = strncmp(all.v[i], example, sizeof(example) - 1) == 0;

		if (!is_command || commands++ == 0)
			ab_strv_addf(ret, "%*s%-*s  %s%s", indent, "", label,
				     all.len == 1 ? "allow it always:" : "allow one always:",
				     all.v[i], is_command ? " (or --project)" : "");
	}
}

static void add_remedies(const struct ab_summary *s, int indent, struct ab_strv *ret)
{
	ab_autobuf struct ab_buf options = { 0 };
	size_t rows = make_command(s, &options);
	const char *label = rows > 1 ? "allow them next time:" : "allow it next time:";

	if (rows)
		ab_strv_addf(ret, "%*s%s  agentbox run%s%s", indent, "", label, options.data, rest);
	add_always(s, indent, (int)strlen(label), ret);
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* What is not an option, below the last row to which it applies. */
static void add_other(const struct ab_summary *s, size_t i, int indent, struct ab_strv *ret)
{
	const struct ab_summary_row *row = &s->rows[i];
	const struct ab_summary_row *after = i + 1 < s->len ? row + 1 : NULL;
	const char *text;

	if (row->next && !get_options(row->next, &text) &&
	    !(after && is_same_text(row->next, after->next)))
		ab_strv_addf(ret, "%*sallow it next time:  %s", indent, "", row->next);
	if (row->advice && !(after && is_same_text(row->advice, after->advice)))
		ab_strv_addf(ret, "%*s%s", indent, "", row->advice);
}

void ab_summary_fini(struct ab_summary *s)
{
	for (size_t i = 0; i < s->len; i++)
		ab_free_all(s->rows[i].about, s->rows[i].reason, s->rows[i].more, s->rows[i].next,
			    s->rows[i].always, s->rows[i].advice);
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
		add_other(s, i, width[0] + 4, ret);
	}
	if (s->rest)
		ab_strv_addf(ret, "  and %" PRIu64 " more: agentbox log %s --denied", s->rest,
			     s->run_id);
	add_remedies(s, width[0] + 4, ret);
	ab_summary_fini(s);
}

struct ab_summary_row *ab_summary_count(struct ab_summary *s, char letter, uint32_t number)
{
	struct ab_summary_row *row;
	char id[sizeof(row->id)];

	snprintf(id, sizeof(id), "%s-%c%" PRIu32, s->run_id, letter, number);
	for (size_t i = 0; i < s->len; i++)
		if (strcmp(s->rows[i].id, id) == 0) {
			s->rows[i].count++;
			return NULL;
		}
	row = ab_summary_add(s, 1);
	if (row)
		memcpy(row->id, id, sizeof(id));
	return row;
}

void ab_summary_denied(struct ab_summary *s, const char *one, const char *many, struct ab_strv *ret)
{
	ab_autofree char *headline = NULL;
	uint64_t n = s->rest;

	for (size_t i = 0; i < s->len; i++)
		n += s->rows[i].count;
	headline = ab_printf("%" PRIu64 " %s denied", n, n == 1 ? one : many);
	ab_summary_end(s, headline, ret);
}
