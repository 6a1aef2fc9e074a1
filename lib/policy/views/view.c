#include "policy/views/view.h"

#include "base/text/json_scan.h"
#include "base/text/words.h"
#include "policy/views/tree.h"

enum { URLS_MAX = 64, WHOLE_MAX = 16384 };

struct filter {
	const struct ab_view_format *format;
	const struct ab_tree *in;
	struct ab_tree *out;
	struct ab_view *view;
	const char *keys[AB_TREE_DEPTH + 1]; /* of the file, from the outermost; NULL: an element */
	size_t depth;
	bool changed; /* something is not shown, or is written in another way */
};

/* "@scope:registry" */
static bool is_npm_scope(const char *key)
{
	const char *colon = strchr(key, ':');

	return key[0] == '@' && colon && strcmp(colon, ":registry") == 0 &&
	       ab_view_is_name(key + 1, (size_t)(colon - key - 1), "._~-");
}

/* "BUNDLE_MIRROR__ALL", or the same with the URL of a source. Bundler writes "__" for a dot and
 * "___" for a dash. */
static bool is_bundle_mirror(const char *key)
{
	static const char start[] = "BUNDLE_MIRROR__";
	const char *s = key + sizeof(start) - 1;
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *url = NULL;

	if (strncmp(key, start, sizeof(start) - 1) != 0 ||
	    !ab_view_is_name(key, strlen(key), "_:/"))
		return false;
	if (strcmp(s, "ALL") == 0)
		return true;
	for (; *s; s++) {
		size_t bars = strspn(s, "_");

		bars = bars > 3 ? 3 : bars;
		ab_buf_printf(&b, "%c", bars == 3 ? '-' : bars == 2 ? '.' : ab_lower(*s));
		s += bars > 1 ? bars - 1 : 0;
	}
	url = b.len ? ab_clean_url(b.data, b.len) : NULL;
	return url && strcmp(url, b.data) == 0;
}

static bool is_plain_name(const char *key)
{
	return ab_view_is_name(key, strlen(key), "._/-");
}

static bool is_scope(const char *key)
{
	return key[0] == '@' && is_plain_name(key + 1);
}

static const struct {
	const char *word;
	bool (*has)(const char *key);
} wildcards[] = {
	{ "*", is_plain_name },
	{ "@*", is_scope },
	{ "@*:registry", is_npm_scope },
	{ "BUNDLE_MIRROR__*", is_bundle_mirror },
};

static bool is_word(const char *word, size_t len, const char *text)
{
	return strlen(text) == len && memcmp(word, text, len) == 0;
}

static bool matches_key(const char *word, size_t len, const char *key)
{
	if (!key)
		return is_word(word, len, "[]");
	for (size_t i = 0; i < AB_COUNT(wildcards); i++)
		if (is_word(word, len, wildcards[i].word))
			return wildcards[i].has(key);
	return is_word(word, len, key);
}

/* Does one of the paths lead to where the filter is, or, if `below`, further? */
static bool leads_here(const struct filter *f, const char *paths, bool below)
{
	size_t at = 0;
	bool good = true;
	const char *word;

	for (size_t n; (word = ab_word_next(&paths, &n));) {
		if (is_word(word, n, "|")) {
			if (good && (below ? at > f->depth : at == f->depth))
				return true;
			good = true;
			at = 0;
			continue;
		}
		good = good && (at >= f->depth || matches_key(word, n, f->keys[at]));
		at++;
	}
	return good && (below ? at > f->depth : at == f->depth);
}

static const struct ab_view_row *find_row(const struct filter *f, bool group)
{
	for (size_t i = 0; i < f->format->nrows; i++) {
		const struct ab_view_row *row = &f->format->rows[i];

		if ((row->kind == AB_VIEW_GROUP) == group && leads_here(f, row->paths, false))
			return row;
	}
	return NULL;
}

/* Is there a row for something in this object? */
static bool has_rows_below(const struct filter *f)
{
	for (size_t i = 0; i < f->format->nrows; i++)
		if (leads_here(f, f->format->rows[i].paths, true))
			return true;
	return false;
}

static size_t count_values(const struct ab_tree_node *n)
{
	size_t values = 0;

	for (uint32_t i = 0; i < n->span; i++)
		values += ab_tree_is_value(&n[i]);
	return values ? values : 1;
}

static void leave_out(struct filter *f, size_t values)
{
	f->view->left += values;
	f->changed = true;
}

static const struct ab_tree_node *find_child(const struct ab_tree_node *n, const char *word,
					     size_t len)
{
	ab_tree_each(child, n) if (child->key && is_word(word, len, child->key)) return child;
	return NULL;
}

static size_t count_children(const struct ab_tree_node *n)
{
	size_t children = 0;

	ab_tree_each(child, n) children++;
	return children;
}

static bool meets(const struct ab_tree_node *in, const struct ab_tree_node *out, const char *word,
		  size_t len)
{
	if (is_word(word, len, "[["))
		return true;
	if (is_word(word, len, "="))
		return count_children(in) == count_children(out);
	if (word[0] == '!')
		return !find_child(in, word + 1, len - 1) || find_child(out, word + 1, len - 1);
	return find_child(out, word, len) != NULL;
}

/* Does what is shown of a group mean the same as the group? */
static bool meets_any(const struct ab_tree_node *in, const struct ab_tree_node *out,
		      const char *alternatives)
{
	bool good = true;
	const char *word;

	for (size_t n; (word = ab_word_next(&alternatives, &n));) {
		if (!is_word(word, n, "|"))
			good = good && meets(in, out, word, n);
		else if (good)
			return true;
		else
			good = true;
	}
	return good;
}

static void show_value(struct filter *f, const struct ab_view_row *row, const char *key,
		       const struct ab_tree_node *n)
{
	bool typed = n->kind == 'w' && row->kind != AB_VIEW_URL;
	ab_autofree char *text = ab_view_value(row->kind, row->more, n->text);

	if (!text) {
		leave_out(f, n->text[0] != '\0');
		return;
	}
	f->changed |= strcmp(text, n->text) != 0;
	ab_tree_add(f->out, key, row->kind == AB_VIEW_URL ? 'u' : typed ? 'w' : '"', text);
}

/* "a b c" becomes a list of those words that are of the row's kind. */
static void show_words(struct filter *f, const struct ab_view_row *row,
		       const struct ab_tree_node *n)
{
	static const char blanks[] = " \t\r\n\f\v";
	size_t at = f->out->len;

	if (!ab_tree_open(f->out, n->key, '[')) {
		leave_out(f, 1);
		return;
	}
	for (const char *s = n->text; *s;) {
		size_t len = strcspn(s, blanks);
		ab_autofree char *word = ab_strndup(s, len);
		const struct ab_tree_node one = { .kind = n->kind, .span = 1, .text = word };

		if (len)
			show_value(f, row, NULL, &one);
		s += len + (s[len] != '\0');
	}
	ab_tree_close(f->out);
	if (f->out->len == at + 1)
		ab_tree_cut(f->out, at);
}

static void filter_value(struct filter *f, const struct ab_tree_node *n)
{
	const struct ab_view_row *row = find_row(f, false);

	if (!row)
		leave_out(f, 1);
	else if (row->words && n->kind == '"')
		show_words(f, row, n);
	else
		show_value(f, row, n->key, n);
}

static void filter_node(struct filter *f, const struct ab_tree_node *n);

static void filter_group(struct filter *f, const struct ab_tree_node *n)
{
	const struct ab_view_row *row = find_row(f, true);
	size_t at = f->out->len, left = f->view->left;
	bool table = row && memcmp(row->more, "[[", 2) == 0;

	if (!has_rows_below(f) || !ab_tree_open(f->out, n->key, table ? '[' : n->kind)) {
		leave_out(f, count_values(n));
		return;
	}
	ab_tree_each(child, n) filter_node(f, child);
	ab_tree_close(f->out);
	if (f->out->len > at + 1 && (!row || meets_any(n, &f->out->v[at], row->more)))
		return;
	ab_tree_cut(f->out, at);
	f->view->left = left;
	leave_out(f, n->span > 1 ? count_values(n) : 0);
}

/* A key that a row has, or that a wildcard let through, is shown as it is. */
static void filter_node(struct filter *f, const struct ab_tree_node *n)
{
	if (f->depth == AB_COUNT(f->keys)) {
		leave_out(f, count_values(n));
		return;
	}
	f->keys[f->depth++] = n->key;
	(ab_tree_is_value(n) ? filter_value : filter_group)(f, n);
	f->depth--;
}

static void collect_urls(const struct ab_tree *t, struct ab_strv *ret)
{
	for (size_t i = 0; i < t->len && ret->len < URLS_MAX; i++)
		for (const char *s = t->v[i].text; s && *s;) {
			size_t n = strcspn(s, ",");
			ab_autofree char *url = ab_strndup(s, n);

			/* Of a list of proxies each counts; a URL may have a comma in it. */
			if (t->v[i].kind == 'u')
				n = strlen(s);
			if (t->v[i].kind == 'u' || strstr(url, "://"))
				ab_strv_add_once(ret, t->v[i].kind == 'u' ? s : url);
			s += n + (s[n] != '\0');
		}
}

static size_t measure_word(const char *s)
{
	size_t n = 0;

	while (ab_is_alnum(s[n]) || (unsigned char)s[n] >= 0x80)
		n++;
	return n;
}

/* How often is the word in the text, up to `end`? */
static size_t count_word(const char *text, const char *end, const char *word, size_t len)
{
	size_t count = 0;

	while (text < end) {
		size_t n = measure_word(text);

		count += n == len && memcmp(text, word, n) == 0;
		text += n ? n : 1;
	}
	return count;
}

/* Whatever the reader understood: is there nothing in the file that the view does not show? A password may be
 * a word that is in the view for another reason, so each must be there as often as in the file. */
static bool has_all_words(const char *shown, const char *text)
{
	const char *end = shown + strlen(shown);

	for (const char *s = text; *s;) {
		size_t n = measure_word(s);

		if (n && count_word(shown, end, s, n) < count_word(text, s + n, s, n))
			return false;
		s += n ? n : 1;
	}
	return true;
}

/* Programs of Windows, and NuGet everywhere, write it in front of UTF-8. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void ab_view_make(const struct ab_view_format *format, const char *text, size_t len,
		  struct ab_view *ret)
{
	ab_autotree struct ab_tree in = { 0 }, out = { 0 };
	struct filter f = { .format = format, .in = &in, .out = &out, .view = ret };
	size_t mark = strncmp(text, BYTE_ORDER_MARK, 3) == 0 ? 3 : 0;

	text += mark;
	len -= mark;
	ret->whole = strspn(text, " \t\r\n") == len;
	if (ret->whole)
		return;
	ret->broken = strlen(text) != len || !ab_tree_open(&in, NULL, '{') ||
		      !format->read(text, &in) || in.full;
	while (in.depth)
		ab_tree_close(&in);
	ret->left = in.lost;
	if (ret->broken || !ab_tree_open(&out, NULL, '{'))
		return;
	ab_tree_each(child, in.v) filter_node(&f, child);
	ab_tree_close(&out);
	collect_urls(&out, &ret->urls);
	if (out.len > 1)
		format->write(&out, &ret->text);
	ret->whole = !f.changed && !in.lost && len <= WHOLE_MAX &&
		     has_all_words(ret->text.data ? ret->text.data : "", text);
}

void ab_view_fini(struct ab_view *view)
{
	ab_strv_fini(&view->urls);
	ab_buf_fini(&view->text);
}

static void add_json(struct ab_tree *t, const struct ab_json_scan_node *n)
{
	static const char numbers[] = "0.";
	ab_autofree char *number = NULL;

	switch (n->kind) {
	case '{':
	case '[':
		if (!ab_tree_open(t, n->key, n->kind))
			return;
		ab_json_scan_each(child, n) add_json(t, child);
		ab_tree_close(t);
		return;
	case '"':
		ab_tree_add(t, n->key, '"', n->text);
		return;
	case 't':
	case 'f':
		ab_tree_add(t, n->key, 'w', n->kind == 't' ? "true" : "false");
		return;
	default:
		number = n->kind == numbers[0] ? ab_printf("%jd", (intmax_t)n->integer) : NULL;
		ab_tree_add(t, n->key, 'w', number ? number : "?");
	}
}

bool ab_read_json(const char *text, struct ab_tree *ret)
{
	ab_autoscan struct ab_json_scan s = { 0 };

	if (ab_json_scan_parse(&s, text, strlen(text)) < 0 || s.nodes[0].kind != '{')
		return false;
	ab_json_scan_each(child, s.nodes) add_json(ret, child);
	return true;
}
