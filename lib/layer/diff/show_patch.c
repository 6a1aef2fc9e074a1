
#include "layer/diff/contents.h"
#include "layer/diff/labels.h"
#include "layer/diff/show.h"
#include "base/text/text_diff.h"
#include "layer/walk/changes.h"

enum { LINE_SHOWN = 2000 }; /* bytes of a line on a terminal */

#define RED "\033[31m"
#define GREEN "\033[32m"
#define CYAN "\033[36m"
#define YELLOW "\033[33m"
#define BOLD "\033[1m"
#define RESET "\033[m"

struct patch {
	struct ab_buf *b;
	const struct ab_show_style *style;
	bool crlf; /* lines of this file usually end so */
};

static void set_colour(const struct patch *p, const char *colour)
{
	if (p->style->colour)
		ab_buf_puts(p->b, colour);
}

/* Ends a line that began with a colour. */
static void end_line(const struct patch *p)
{
	set_colour(p, RESET);
	ab_buf_puts(p->b, "\n");
}

static void add_line(void *arg, char sign, const char *line, size_t len)
{
	const struct patch *p = arg;
	bool newline = len && line[len - 1] == '\n', cr = false;
	size_t shown;

	len -= newline;
	if (newline && len && line[len - 1] == '\r') {
		/* A return in front of the newline does no harm; on a terminal it is shown where it
		 * is a surprise. */
		cr = !p->style->colour || p->crlf;
		len -= cr;
	}
	shown = p->style->colour && len > LINE_SHOWN ? LINE_SHOWN : len;
	if (sign != ' ')
		set_colour(p, sign == '-' ? RED : GREEN);
	ab_buf_add(p->b, &sign, 1);
	ab_show_text(p->b, line, shown);
	if (shown < len)
		ab_buf_printf(p->b, " ... (%zu more bytes)", len - shown);
	if (sign != ' ')
		set_colour(p, RESET);
	if (cr && !p->style->colour)
		ab_buf_puts(p->b, "\r");
	ab_buf_puts(p->b, "\n");
	if (!newline)
		ab_buf_puts(p->b, "\\ No newline at end of file\n");
}

static void add_hunks(struct patch *p, const struct ab_hunks *hunks)
{
	char header[AB_HUNK_HEADER];

	for (size_t i = 0; i < hunks->len; i++) {
		set_colour(p, CYAN);
		ab_buf_puts(p->b, ab_hunk_header(&hunks->v[i], header));
		end_line(p);
		ab_hunk_each(hunks, &hunks->v[i], add_line, p);
	}
}

static void add_note(struct patch *p, const char *path, const char *text)
{
	set_colour(p, YELLOW);
	ab_buf_puts(p->b, "# ");
	ab_show_name(p->b, "", path);
	ab_buf_printf(p->b, ": %s", text);
	end_line(p);
}

static void add_labels(struct patch *p, const struct ab_shown *s)
{
	for (size_t i = 0; s->hits && i < s->hits->len; i++) {
		set_colour(p, BOLD YELLOW);
		ab_buf_puts(p->b, "! ");
		ab_show_name(p->b, "", s->change->path);
		ab_buf_puts(p->b, " ");
		ab_show_hit(p->b, &s->hits->v[i]);
		end_line(p);
	}
	if (s->change->conflict)
		add_note(p, s->change->path, "conflict: the host's file has changed as well");
	if (s->change->refused) {
		ab_buf_puts(p->b, "# ");
		ab_show_name(p->b, "", s->change->path);
		ab_buf_printf(p->b, ": never applied: %s\n", s->change->refused);
	}
}

static unsigned int get_git_mode(enum ab_change_type type, mode_t mode)
{
	if (type == AB_TYPE_LINK)
		return 0120000;
	return mode & 0100 ? 0100755 : 0100644;
}

static void add_header(struct patch *p, const char *path)
{
	set_colour(p, BOLD);
	ab_buf_puts(p->b, "diff --git ");
	ab_show_name(p->b, "a/", path);
	ab_buf_puts(p->b, " ");
	ab_show_name(p->b, "b/", path);
	end_line(p);
}

static void add_mode(struct patch *p, const char *text, unsigned int mode)
{
	set_colour(p, BOLD);
	ab_buf_printf(p->b, "%s %06o", text, mode);
	end_line(p);
}

static void add_place(struct patch *p, const char *prefix, const char *path, bool exists)
{
	if (exists)
		ab_show_name(p->b, prefix, path);
	else
		ab_buf_puts(p->b, "/dev/null");
}

static void add_side(struct patch *p, const char *mark, const char *prefix, const char *path,
		     bool exists)
{
	set_colour(p, BOLD);
	ab_buf_puts(p->b, mark);
	add_place(p, prefix, path, exists);
	/* A tab ends a name with blanks. */
	if (exists && strchr(path, ' '))
		ab_buf_puts(p->b, "\t");
	end_line(p);
}

/* Why no lines are shown. */
static const char *get_obstacle(const struct ab_contents *c)
{
	if (!c || c->old.errnum || c->fresh.errnum)
		return "the content cannot be read";
	if (c->binary)
		return "binary";
	return "too large to compare";
}

static void add_sizes(struct patch *p, const struct ab_change *c, const char *why, bool old,
		      bool fresh)
{
	char was[32], is[32];

	ab_buf_puts(p->b, "# ");
	ab_show_name(p->b, "", c->path);
	ab_buf_printf(p->b, ": %s", why);
	if (old)
		ab_buf_printf(p->b, ", %s %s", fresh ? "was" : "had",
			      ab_show_size(c->old_size, was));
	if (fresh)
		ab_buf_printf(p->b, ", %s %s", old ? "now" : "has", ab_show_size(c->new_size, is));
	ab_buf_puts(p->b, "\n");
}

static bool has_content(enum ab_change_type type)
{
	return type == AB_TYPE_FILE || type == AB_TYPE_LINK;
}

static bool starts_crlf(const struct ab_content *content)
{
	const char *nl = content->data ? memchr(content->data, '\n', content->len) : NULL;

	return nl && nl > content->data && nl[-1] == '\r';
}

/* One file or link: from one side to the other, or only one of them. */
static void add_file(struct patch *p, const struct ab_shown *s, bool old, bool fresh,
		     const struct ab_hunks *hunks)
{
	const struct ab_change *c = s->change;
	unsigned int was = get_git_mode(c->was, c->old_mode), is = get_git_mode(c->is, c->new_mode);
	bool text = hunks || c->kind == AB_CHANGE_MODE;

	if (!text)
		add_sizes(p, c, get_obstacle(s->contents), old, fresh);
	else if (hunks && hunks->coarse)
		add_note(p, c->path,
			 "too different to compare line by line; a part is shown as replaced");
	/* git has only two modes. */
	if (old && fresh && was == is && c->old_mode != c->new_mode)
		ab_buf_printf(p->b, "# mode %04o, was %04o\n", c->new_mode, c->old_mode);
	add_header(p, c->path);
	if (!old) {
		add_mode(p, "new file mode", is);
	} else if (!fresh) {
		add_mode(p, "deleted file mode", was);
	} else if (was != is) {
		add_mode(p, "old mode", was);
		add_mode(p, "new mode", is);
	}
	if (c->kind == AB_CHANGE_MODE)
		return;
	if (!text) {
		ab_buf_puts(p->b, "Binary files ");
		add_place(p, "a/", c->path, old);
		ab_buf_puts(p->b, " and ");
		add_place(p, "b/", c->path, fresh);
		ab_buf_puts(p->b, " differ\n");
		return;
	}
	if (!hunks->len)
		return;
	add_side(p, "--- ", "a/", c->path, old);
	add_side(p, "+++ ", "b/", c->path, fresh);
	add_hunks(p, hunks);
}

static void add_folder(struct patch *p, const struct ab_change *c)
{
	ab_buf_puts(p->b, "# ");
	ab_show_name(p->b, "", c->path);
	if (c->was == AB_TYPE_DIR && c->is != AB_TYPE_DIR)
		ab_buf_printf(p->b, ": folder deleted, with %llu entr%s\n",
			      (unsigned long long)c->count, c->count == 1 ? "y" : "ies");
	else if (c->was == AB_TYPE_DIR)
		ab_buf_printf(p->b, ": folder, mode %04o, was %04o\n", c->new_mode, c->old_mode);
	else
		ab_buf_printf(p->b, ": new folder, mode %04o\n", c->new_mode);
}

/* Another type: what was there goes, and what is there comes. */
static void add_replaced(struct patch *p, const struct ab_shown *s)
{
	const struct ab_contents *c = s->contents;
	const struct ab_content none = { 0 };
	const struct ab_content *old = c ? &c->old : &none, *fresh = c ? &c->fresh : &none;
	bool text = c && ab_contents_are_text(c);
	ab_autohunks struct ab_hunks gone = { 0 }, come = { 0 };

	if (text) {
		ab_hunks_find(old->data ? old->data : "", old->len, "", 0, &gone);
		ab_hunks_find("", 0, fresh->data ? fresh->data : "", fresh->len, &come);
	}
	if (has_content(s->change->was))
		add_file(p, s, true, false, text ? &gone : NULL);
	if (has_content(s->change->is))
		add_file(p, s, false, true, text ? &come : NULL);
}

void ab_show_patch(struct ab_buf *b, const struct ab_show_style *style,
		   const struct ab_shown *shown)
{
	const struct ab_change *c = shown->change;
	struct patch p = { .b = b, .style = style };

	if (shown->contents)
		p.crlf = starts_crlf(shown->contents->old.data ? &shown->contents->old
							       : &shown->contents->fresh);
	add_labels(&p, shown);
	if (c->was == AB_TYPE_DIR || c->is == AB_TYPE_DIR)
		add_folder(&p, c);
	if (c->kind == AB_CHANGE_REPLACED)
		add_replaced(&p, shown);
	else if (has_content(c->was) || has_content(c->is))
		add_file(&p, shown, has_content(c->was), has_content(c->is), shown->hunks);
}
