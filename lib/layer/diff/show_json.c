#include <jansson.h>

#include "layer/diff/contents.h"
#include "layer/diff/labels.h"
#include "layer/diff/show.h"
#include "base/text/text_diff.h"
#include "layer/walk/changes.h"
#include "workspace/quarantine/journal.h"

static const char *const type_names[] = {
	[AB_TYPE_NONE] = "none", [AB_TYPE_FILE] = "file",   [AB_TYPE_DIR] = "folder",
	[AB_TYPE_LINK] = "link", [AB_TYPE_OTHER] = "other",
};

/* JSON has no bytes: a path that is not UTF-8 is also given as %XX. */
void ab_show_json_path(struct ab_buf *b, const char *path)
{
	json_auto_t *text = json_string(path);

	ab_buf_jsonf(b, "'path':%s", path);
	if (text)
		return;
	ab_buf_puts(b, ",\"path_percent\":");
	ab_journal_put_path(b, path);
}

static void add_side(struct ab_buf *b, const char *mode, const char *size, enum ab_change_type type,
		     mode_t bits, uint64_t bytes)
{
	char text[16];

	snprintf(text, sizeof(text), "%04o", bits);
	ab_buf_jsonf(b, ",%s:%s", mode, type == AB_TYPE_NONE ? NULL : text);
	ab_buf_json_number(b, size, type != AB_TYPE_NONE, (int64_t)bytes);
}

void ab_show_json_labels(struct ab_buf *b, const struct ab_label_hits *hits)
{
	ab_buf_jsonf(b, "'labels':[");
	for (size_t i = 0; i < hits->len; i++) {
		const struct ab_label_hit *hit = &hits->v[i];
		const struct ab_label *label = &ab_labels[hit->id];

		ab_buf_jsonf(b, ",{'name':%s,'what':%s,'why':%s,'who':%s,'detail':%s}", label->name,
			     label->what, label->why, hit->who, hit->detail);
	}
	ab_buf_puts(b, "]");
}

static void add_line(void *arg, char sign, const char *line, size_t len)
{
	ab_autobuf struct ab_buf text = { 0 };

	ab_buf_add(&text, &sign, 1);
	ab_buf_add(&text, line, len);
	ab_buf_jsonf(arg, ",%.*s", (int)text.len, text.data);
}

static void add_hunks(struct ab_buf *b, const struct ab_hunks *hunks)
{
	ab_buf_jsonf(b, ",'hunks':[");
	for (size_t i = 0; i < hunks->len; i++) {
		const struct ab_hunk *h = &hunks->v[i];

		ab_buf_jsonf(b,
			     ",{'old_line':%zu,'old_lines':%zu,'new_line':%zu,'new_lines':%zu,"
			     "'lines':[",
			     h->old_at + 1, h->old_n, h->new_at + 1, h->new_n);
		ab_hunk_each(hunks, h, add_line, b);
		ab_buf_puts(b, "]}");
	}
	ab_buf_puts(b, "]");
}

static void add_target(struct ab_buf *b, const char *key, enum ab_change_type type,
		       const struct ab_content *content)
{
	if (type != AB_TYPE_LINK || !content->data)
		return;
	ab_buf_jsonf(b, ",%s:%.*s", key, (int)content->len, content->data);
}

static void add_contents(struct ab_buf *b, const struct ab_shown *s, bool hunks)
{
	const struct ab_contents *c = s->contents;

	if (s->hunks)
		ab_buf_jsonf(b, ",'added':%zu,'removed':%zu,'coarse':%hhd", s->hunks->added,
			     s->hunks->removed, s->hunks->coarse);
	else
		ab_buf_jsonf(b, ",'added':null,'removed':null");
	if (!c)
		return;
	ab_buf_jsonf(b, ",'binary':%hhd", c->binary);
	add_target(b, "old_target", s->change->was, &c->old);
	add_target(b, "new_target", s->change->is, &c->fresh);
	if (hunks && s->hunks)
		add_hunks(b, s->hunks);
}

void ab_show_json(struct ab_buf *b, const struct ab_shown *shown, bool hunks)
{
	const struct ab_change *c = shown->change;

	ab_buf_puts(b, "{");
	ab_show_json_path(b, c->path);
	ab_buf_jsonf(b, ",'kind':%s,'was':%s,'is':%s", ab_show_kind(c), type_names[c->was],
		     type_names[c->is]);
	add_side(b, "old_mode", "old_size", c->was, c->old_mode, c->old_size);
	add_side(b, "new_mode", "new_size", c->is, c->new_mode, c->new_size);
	ab_buf_jsonf(b, ",'entries':%ju,'conflict':%hhd,'refused':%s,", c->count, c->conflict,
		     c->refused);
	ab_show_json_labels(b, shown->hits);
	add_contents(b, shown, hunks);
	ab_buf_puts(b, "}");
}

void ab_show_json_totals(struct ab_buf *b, const struct ab_show_totals *t)
{
	ab_buf_jsonf(b,
		     "{'changes':%zu,'labelled':%zu,'conflicts':%zu,'refused':%zu,'added':%ju,"
		     "'removed':%ju}",
		     t->changes, t->labelled, t->conflicts, t->refused, t->added, t->removed);
}
