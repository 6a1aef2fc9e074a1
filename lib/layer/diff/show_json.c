#include <string.h>

#include "base/data/buf.h"
#include "layer/diff/contents.h"
#include "layer/diff/labels.h"
#include "layer/diff/show.h"
#include "layer/diff/text_diff.h"
#include "layer/walk/changes.h"

static const char *get_type_name(enum ab_change_type type)
{
	switch (type) {
	case AB_TYPE_NONE:
		return "none";
	case AB_TYPE_FILE:
		return "file";
	case AB_TYPE_DIR:
		return "folder";
	case AB_TYPE_LINK:
		return "link";
	case AB_TYPE_OTHER:
		return "other";
	}
	return "?";
}

static bool is_utf8(const char *text)
{
	while (*text) {
		uint32_t c;
		size_t n = ab_utf8_get(text, strlen(text), &c);

		if (n == 0)
			return false;
		text += n;
	}
	return true;
}

/* JSON has no bytes: a path that is not UTF-8 is also given as %XX. */
void ab_show_json_path(struct ab_buf *b, const char *path)
{
	ab_buf_puts(b, "\"path\":");
	ab_buf_json(b, path);
	if (is_utf8(path))
		return;
	ab_buf_puts(b, ",\"path_percent\":\"");
	for (const unsigned char *p = (const unsigned char *)path; *p; p++)
		if (*p > ' ' && *p < 0x7f && *p != '%' && *p != '"' && *p != '\\')
			ab_buf_add(b, p, 1);
		else
			ab_buf_printf(b, "%%%02x", *p);
	ab_buf_puts(b, "\"");
}

static void add_side(struct ab_buf *b, const char *mode, const char *size, enum ab_change_type type,
		     mode_t bits, uint64_t bytes)
{
	if (type == AB_TYPE_NONE)
		ab_buf_printf(b, ",\"%s\":null,\"%s\":null", mode, size);
	else
		ab_buf_printf(b, ",\"%s\":\"%04o\",\"%s\":%llu", mode, bits, size,
			      (unsigned long long)bytes);
}

void ab_show_json_labels(struct ab_buf *b, const struct ab_label_hits *hits)
{
	ab_buf_puts(b, "\"labels\":[");
	for (size_t i = 0; i < hits->len; i++) {
		const struct ab_label_hit *hit = &hits->v[i];
		const struct ab_label *label = &ab_labels[hit->id];

		ab_buf_printf(b, "%s{\"name\":\"%s\",\"what\":\"%s\",\"why\":\"%s\",\"who\":",
			      i ? "," : "", label->name, label->what, label->why);
		ab_buf_json(b, hit->who);
		ab_buf_puts(b, ",\"detail\":");
		ab_buf_json(b, hit->detail);
		ab_buf_puts(b, "}");
	}
	ab_buf_puts(b, "]");
}

struct lines {
	struct ab_buf *b;
	size_t n;
};

static void add_line(void *arg, char sign, const char *line, size_t len)
{
	struct lines *l = arg;
	ab_autobuf struct ab_buf text = { 0 };

	ab_buf_add(&text, &sign, 1);
	ab_buf_add(&text, line, len);
	ab_buf_puts(l->b, l->n++ ? "," : "");
	ab_buf_json_n(l->b, text.data, text.len);
}

static void add_hunks(struct ab_buf *b, const struct ab_hunks *hunks)
{
	ab_buf_puts(b, ",\"hunks\":[");
	for (size_t i = 0; i < hunks->len; i++) {
		const struct ab_hunk *h = &hunks->v[i];
		struct lines lines = { .b = b };

		ab_buf_printf(b,
			      "%s{\"old_line\":%zu,\"old_lines\":%zu,\"new_line\":%zu,"
			      "\"new_lines\":%zu,\"lines\":[",
			      i ? "," : "", h->old_at + 1, h->old_n, h->new_at + 1, h->new_n);
		ab_hunk_each(hunks, h, add_line, &lines);
		ab_buf_puts(b, "]}");
	}
	ab_buf_puts(b, "]");
}

static void add_target(struct ab_buf *b, const char *key, enum ab_change_type type,
		       const struct ab_content *content)
{
	if (type != AB_TYPE_LINK || !content->data)
		return;
	ab_buf_printf(b, ",\"%s\":", key);
	ab_buf_json_n(b, content->data, content->len);
}

static void add_contents(struct ab_buf *b, const struct ab_shown *s, bool hunks)
{
	const struct ab_contents *c = s->contents;

	if (s->hunks)
		ab_buf_printf(b, ",\"added\":%zu,\"removed\":%zu,\"coarse\":%s", s->hunks->added,
			      s->hunks->removed, s->hunks->coarse ? "true" : "false");
	else
		ab_buf_puts(b, ",\"added\":null,\"removed\":null");
	if (!c)
		return;
	ab_buf_printf(b, ",\"binary\":%s", c->binary ? "true" : "false");
	add_target(b, "old_target", s->change->was, &c->old);
	add_target(b, "new_target", s->change->is, &c->new);
	if (hunks && s->hunks)
		add_hunks(b, s->hunks);
}

void ab_show_json(struct ab_buf *b, const struct ab_shown *shown, bool hunks)
{
	const struct ab_change *c = shown->change;

	ab_buf_puts(b, "{");
	ab_show_json_path(b, c->path);
	ab_buf_printf(b, ",\"kind\":\"%s\",\"was\":\"%s\",\"is\":\"%s\"", ab_show_kind(c),
		      get_type_name(c->was), get_type_name(c->is));
	add_side(b, "old_mode", "old_size", c->was, c->old_mode, c->old_size);
	add_side(b, "new_mode", "new_size", c->is, c->new_mode, c->new_size);
	ab_buf_printf(b, ",\"entries\":%llu,\"conflict\":%s,\"refused\":",
		      (unsigned long long)c->count, c->conflict ? "true" : "false");
	if (c->refused)
		ab_buf_json(b, c->refused);
	else
		ab_buf_puts(b, "null");
	ab_buf_puts(b, ",");
	ab_show_json_labels(b, shown->hits);
	add_contents(b, shown, hunks);
	ab_buf_puts(b, "}");
}

void ab_show_json_totals(struct ab_buf *b, const struct ab_show_totals *t)
{
	ab_buf_printf(b,
		      "{\"changes\":%zu,\"labelled\":%zu,\"conflicts\":%zu,\"refused\":%zu,"
		      "\"added\":%llu,\"removed\":%llu}",
		      t->changes, t->labelled, t->conflicts, t->refused,
		      (unsigned long long)t->added, (unsigned long long)t->removed);
}
