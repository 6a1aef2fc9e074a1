
#include "audit/show/page.h"
#include "layer/diff/contents.h"
#include "layer/diff/labels.h"
#include "layer/diff/show.h"
#include "base/text/text_diff.h"
#include "layer/walk/changes.h"

enum { LINE_SHOWN = 2000, LINES_SHOWN = 5000 };

/* What the page of a record does not have. */
static const char diff_style[] =
	"pre.diff{margin:.5rem 0 0;overflow-x:auto;background:var(--code);"
	"border-radius:.5rem;padding:.6rem 0;font:.82rem/1.45 ui-monospace,"
	"SFMono-Regular,Menlo,Consolas,monospace;tab-size:8}"
	"pre.diff span{display:block;padding:0 .8rem;white-space:pre;min-height:1.45em}"
	"pre.diff .a{background:var(--goodground);color:var(--good)}"
	"pre.diff .d{background:var(--badground);color:var(--bad)}"
	"pre.diff .h{color:var(--accent)}"
	"ul.labels{list-style:none;padding:0;margin:.35rem 0}"
	"ul.labels li{color:var(--bad);overflow-wrap:anywhere}"
	"ul.labels small{color:var(--soft);display:block}"
	"section.change>details>summary{font-size:1rem;overflow-wrap:anywhere}"
	"section.change .kind{color:var(--soft);font-weight:400}";

static void add_escaped(struct ab_buf *b, const char *s, size_t len)
{
	ab_autobuf struct ab_buf safe = { 0 };

	ab_show_text(&safe, s, len);
	if (safe.len)
		ab_page_markup(b, safe.data, safe.len);
}

static void add_text(struct ab_buf *b, const char *text)
{
	add_escaped(b, text, strlen(text));
}

static void add_name(struct ab_buf *b, const char *path)
{
	ab_autobuf struct ab_buf name = { 0 };

	ab_show_name(&name, "", path);
	ab_page_markup(b, name.data, name.len);
}

static void add_hit(struct ab_buf *b, const struct ab_label_hit *hit)
{
	ab_autobuf struct ab_buf what = { 0 };

	ab_show_hit(&what, hit);
	ab_page_markup(b, what.data, what.len);
}

static void add_card(struct ab_buf *b, const char *kind, const char *name, uint64_t value)
{
	ab_buf_printf(b, "<div class=\"card%s\"><dt>%s</dt><dd>%llu</dd></div>", kind, name,
		      (unsigned long long)value);
}

void ab_show_page_open(struct ab_buf *b, const char *title, const struct ab_show_fact *facts,
		       size_t nfacts, const struct ab_show_totals *t)
{
	ab_page_begin(b, "agentbox diff", diff_style);
	ab_buf_puts(b, "<header><h1>agentbox diff <b>");
	add_text(b, title);
	ab_buf_puts(b, "</b></h1><dl class=\"facts\">");
	for (size_t i = 0; i < nfacts; i++) {
		ab_buf_printf(b, "<div><dt>%s</dt><dd>", facts[i].name);
		add_text(b, facts[i].value);
		ab_buf_puts(b, "</dd></div>");
	}
	ab_buf_puts(b, "</dl></header><dl class=\"cards\">");
	add_card(b, "", "Changes", t->changes);
	add_card(b, t->labelled ? " bad" : " good", "Want a look", t->labelled);
	add_card(b, t->conflicts ? " bad" : "", "Conflicts", t->conflicts);
	add_card(b, "", "Lines added", t->added);
	add_card(b, "", "Lines removed", t->removed);
	ab_buf_puts(b, "</dl>");
	if (t->labelled)
		ab_buf_puts(b, "<section><h2>Want a look</h2><div class=\"scroll\"><table "
			       "class=\"stack\"><thead><tr><th scope=\"col\">Path</th><th "
			       "scope=\"col\">What</th><th scope=\"col\">Why</th></tr></thead>"
			       "<tbody>\n");
	else
		ab_buf_puts(b, "<section><p>No change has a label.</p><div><table><tbody>");
}

void ab_show_page_label(struct ab_buf *b, const struct ab_shown *shown)
{
	for (size_t i = 0; i < shown->hits->len; i++) {
		ab_buf_puts(b, "<tr><td class=\"w\" data-name=\"Path\"><code>");
		add_name(b, shown->change->path);
		ab_buf_puts(b, "</code></td><td class=\"w\" data-name=\"What\">");
		add_hit(b, &shown->hits->v[i]);
		ab_buf_puts(b, "</td><td class=\"w\" data-name=\"Why\">");
		add_text(b, ab_labels[shown->hits->v[i].id].why);
		ab_buf_puts(b, "</td></tr>\n");
	}
}

void ab_show_page_middle(struct ab_buf *b)
{
	ab_buf_puts(b, "</tbody></table></div></section>\n");
}

struct block {
	struct ab_buf *b;
	size_t n, left_out;
};

static void add_line(void *arg, char sign, const char *line, size_t len)
{
	struct block *block = arg;
	struct ab_buf *b = block->b;
	size_t shown;

	if (block->n++ >= LINES_SHOWN) {
		block->left_out++;
		return;
	}
	ab_buf_puts(b, sign == '+'   ? "<span class=\"a\">+"
		       : sign == '-' ? "<span class=\"d\">-"
				     : "<span> ");
	if (len && line[len - 1] == '\n')
		len--;
	if (len && line[len - 1] == '\r')
		len--;
	shown = len > LINE_SHOWN ? LINE_SHOWN : len;
	add_escaped(b, line, shown);
	if (shown < len)
		ab_buf_printf(b, " ... (%zu more bytes)", len - shown);
	ab_buf_puts(b, "</span>");
}

static void add_hunks(struct ab_buf *b, const struct ab_hunks *hunks)
{
	struct block block = { .b = b };
	char header[AB_HUNK_HEADER];

	if (!hunks->len)
		return;
	if (hunks->coarse)
		ab_buf_puts(b, "<p>Too different to compare line by line: a part is shown as "
			       "replaced.</p>");
	ab_buf_puts(b, "<pre class=\"diff\">");
	for (size_t i = 0; i < hunks->len; i++) {
		if (block.n < LINES_SHOWN)
			ab_buf_printf(b, "<span class=\"h\">%s</span>",
				      ab_hunk_header(&hunks->v[i], header));
		ab_hunk_each(hunks, &hunks->v[i], add_line, &block);
	}
	ab_buf_puts(b, "</pre>");
	if (block.left_out)
		ab_buf_printf(b, "<p>%zu more lines are not shown.</p>", block.left_out);
}

static void add_facts(struct ab_buf *b, const struct ab_change *c)
{
	char was[32], is[32];

	ab_buf_puts(b, "<p class=\"chain\">");
	if (c->was != AB_TYPE_NONE)
		ab_buf_printf(b, "Was %s, mode %04o. ", ab_show_size(c->old_size, was),
			      c->old_mode);
	if (c->is != AB_TYPE_NONE)
		ab_buf_printf(b, "Now %s, mode %04o. ", ab_show_size(c->new_size, is), c->new_mode);
	if (c->count)
		ab_buf_printf(b, "%llu entries. ", (unsigned long long)c->count);
	if (c->conflict)
		ab_buf_puts(b, "<span class=\"no\">Conflict: the host's file has changed as "
			       "well.</span> ");
	if (c->refused) {
		ab_buf_puts(b, "<span class=\"no\">Never applied: ");
		add_text(b, c->refused);
		ab_buf_puts(b, ".</span>");
	}
	ab_buf_puts(b, "</p>");
}

void ab_show_page_change(struct ab_buf *b, const struct ab_shown *shown)
{
	const struct ab_change *c = shown->change;

	ab_buf_puts(b, "<section class=\"change\"><details open><summary><code>");
	add_name(b, c->path);
	ab_buf_printf(b, "</code> <span class=\"kind\">%s</span></summary>", ab_show_kind(c));
	if (shown->hits->len) {
		ab_buf_puts(b, "<ul class=\"labels\">");
		for (size_t i = 0; i < shown->hits->len; i++) {
			ab_buf_puts(b, "<li>");
			add_hit(b, &shown->hits->v[i]);
			ab_buf_puts(b, "</li>");
		}
		ab_buf_puts(b, "</ul>");
	}
	add_facts(b, c);
	if (shown->contents && c->is == AB_TYPE_LINK && shown->contents->fresh.data) {
		ab_buf_puts(b, "<p>Link to <code>");
		add_escaped(b, shown->contents->fresh.data, shown->contents->fresh.len);
		ab_buf_puts(b, "</code></p>");
	}
	if (shown->hunks)
		add_hunks(b, shown->hunks);
	else if (shown->contents && shown->contents->binary)
		ab_buf_puts(b, "<p>Binary.</p>");
	else if (shown->contents && (shown->contents->old.cut || shown->contents->fresh.cut))
		ab_buf_puts(b, "<p>Too large to compare.</p>");
	ab_buf_puts(b, "</details></section>\n");
}

void ab_show_page_note(struct ab_buf *b, const char *text)
{
	ab_buf_puts(b, "<section><p>");
	add_text(b, text);
	ab_buf_puts(b, "</p></section>\n");
}

void ab_show_page_close(struct ab_buf *b)
{
	ab_buf_puts(b, "</main></body></html>\n");
}
