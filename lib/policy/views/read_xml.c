/*
 * XML: elements, attributes and texts. A file with a document type or another instruction is not read:
 * it could define entities. What has a reference or CDATA in it is marked with a byte that no kind of
 * value accepts.
 */
#include "policy/views/tree.h"
#include "policy/views/view.h"

static const char blanks[] = " \t\r\n";

struct xml {
	const char *at;
	struct ab_tree *tree;
	struct ab_buf text; /* of the innermost one, since its last tag */
	bool rooted;	    /* the outermost element was there */
};

static bool take(struct xml *x, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(x->at, text, n) != 0)
		return false;
	x->at += n;
	return true;
}

static bool skip_behind(struct xml *x, const char *text)
{
	const char *end = strstr(x->at, text);

	if (end)
		x->at = end + strlen(text);
	return end != NULL;
}

static char *read_name(struct xml *x)
{
	const char *s = x->at;

	while (ab_is_alnum(*x->at) || (*x->at && strchr("_.:-", *x->at)))
		x->at++;
	return x->at > s ? ab_strndup(s, (size_t)(x->at - s)) : NULL;
}

/* name="value" */
static bool read_attribute(struct xml *x)
{
	ab_autofree char *name = read_name(x), *key = NULL;
	char *value;
	size_t n;
	char quote;

	x->at += strspn(x->at, blanks);
	if (!name || !take(x, "="))
		return false;
	x->at += strspn(x->at, blanks);
	quote = *x->at;
	if (quote != '"' && quote != '\'')
		return false;
	n = strcspn(++x->at, (char[]){ quote, '<', '\0' });
	if (x->at[n] != quote)
		return false;
	value = ab_strndup(x->at, n);
	x->at += n + 1;
	key = ab_printf("@%s", name);
	/* Which names mean what, and where that is described: nothing that a tool obeys. */
	if (strncmp(name, "xmlns", 5) != 0 && strncmp(name, "xsi:", 4) != 0)
		ab_tree_add(x->tree, key, '"', value);
	ab_free_wiped(value);
	return true;
}

static char *trim_text(struct ab_buf *text)
{
	char *s = text->data;
	size_t len = text->len;

	while (len && strchr(blanks, s[len - 1]))
		len--;
	if (!s)
		return NULL;
	s[len] = '\0';
	s += strspn(s, blanks);
	return *s ? s : NULL;
}

/* An element without attributes and elements is a value. */
static void end_element(struct xml *x)
{
	struct ab_tree *t = x->tree;
	size_t at = t->open[t->depth - 1];
	const char *text = trim_text(&x->text);

	ab_tree_close(t);
	if (t->v[at].span == 1) {
		t->v[at].kind = '"';
		t->v[at].text = ab_strdup(text ? text : "");
	} else if (text) {
		t->lost++;
	}
	ab_buf_fini(&x->text);
}

static bool begin_element(struct xml *x)
{
	ab_autofree char *name = read_name(x);

	if (!name || (x->rooted && x->tree->depth == 1) || !ab_tree_open(x->tree, name, '{'))
		return false;
	/* Text beside elements is not a value. */
	if (trim_text(&x->text))
		x->tree->lost++;
	ab_buf_fini(&x->text);
	x->rooted = true;
	for (;;) {
		size_t gap = strspn(x->at, blanks);

		x->at += gap;
		if (take(x, "/>")) {
			end_element(x);
			return true;
		}
		if (take(x, ">"))
			return true;
		if (!gap || !read_attribute(x))
			return false;
	}
}

static bool read_end_tag(struct xml *x)
{
	ab_autofree char *name = read_name(x);
	size_t depth = x->tree->depth;

	x->at += strspn(x->at, blanks);
	if (!name || depth == 1 || strcmp(name, ab_tree_opened(x->tree, depth - 2)->key) != 0 ||
	    !take(x, ">"))
		return false;
	end_element(x);
	return true;
}

/* False: it is not XML, or has something in it that is not read here. */
static bool read_part(struct xml *x)
{
	size_t n = strcspn(x->at, "<");

	ab_buf_add(&x->text, x->at, n);
	x->at += n;
	if (!*x->at)
		return true;
	if (take(x, "<!--"))
		return skip_behind(x, "-->");
	if (take(x, "<![CDATA[")) {
		ab_buf_puts(&x->text, "&");
		return skip_behind(x, "]]>");
	}
	if (take(x, "</"))
		return read_end_tag(x);
	return take(x, "<") && begin_element(x);
}

bool ab_read_xml(const char *text, struct ab_tree *ret)
{
	struct xml x = { .at = text, .tree = ret, .text = { .wipe = true } };
	bool good = true;

	if (take(&x, "<?xml "))
		good = skip_behind(&x, "?>");
	while (good && *x.at)
		good = read_part(&x);
	good = good && ret->depth == 1 && !trim_text(&x.text);
	while (ret->depth > 1)
		end_element(&x);
	ab_buf_fini(&x.text);
	return good && !ret->full;
}
