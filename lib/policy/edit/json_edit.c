#include "policy/edit/json_edit.h"

#include "base/text/json_scan.h"
#include "policy/model/keys.h"

/* A text and how it is formatted. */
struct page {
	const char *text;
	size_t len;
	struct ab_json_scan scan;
	char *unit; /* one step of indentation */
	const char *newline;
	bool tight;	 /* no space after a colon */
	const char *raw; /* the new member's value, as JSON; NULL: a list of one string */
	/* How many of the wanted keys exist, and the last value found. */
	size_t found;
	const struct ab_json_scan_node *at;
};

/* The indentation of the line that contains `at`. */
static char *indent_of(const struct page *p, size_t at)
{
	size_t from = at, n = 0;

	while (from > 0 && p->text[from - 1] != '\n')
		from--;
	while (from + n < at && ab_is_blank(p->text[from + n]))
		n++;
	return ab_strndup(p->text + from, n);
}

static bool has_newline(const char *text, size_t len)
{
	return memchr(text, '\n', len) != NULL;
}

/* The end of the comment that begins here; a line comment ends before its line break. */
static size_t skip_comment(const struct page *p, size_t at)
{
	bool line = p->text[at + 1] == '/';

	for (at += 2; at < p->len; at++) {
		if (line && p->text[at] == '\n')
			return p->text[at - 1] == '\r' ? at - 1 : at;
		if (!line && p->text[at] == '*' && p->text[at + 1] == '/')
			return at + 2;
	}
	return at;
}

/* Between two values there are only space, commas, colons and comments. */
static bool has_comment(const struct page *p, size_t from, size_t to)
{
	return memchr(p->text + from, '/', to - from) != NULL;
}

/* The same for a range that has strings in it. */
static bool has_comment_inside(const struct page *p, size_t from, size_t to)
{
	bool string = false;

	for (; from < to; from++) {
		char c = p->text[from];

		if (c == '/' && !string)
			return true;
		if (c == '\\')
			from++;
		else if (c == '"')
			string = !string;
	}
	return false;
}

/* The comma between two values, or `to`: there is none. */
static size_t find_comma(const struct page *p, size_t from, size_t to)
{
	while (from < to && p->text[from] != ',')
		from = p->text[from] == '/' ? skip_comment(p, from) : from + 1;
	return from < to ? from : to;
}

static size_t begin_of(const struct ab_json_scan_node *n)
{
	return n->key ? n->key_begin : n->begin;
}

/* Is it the first thing in its line? */
static bool begins_line(const struct page *p, size_t at)
{
	while (at > 0 && ab_is_blank(p->text[at - 1]))
		at--;
	return at > 0 && p->text[at - 1] == '\n';
}

/* How much further is it indented than its parent? NULL: not at all. */
static char *step_of(const struct page *p, const struct ab_json_scan_node *n)
{
	ab_autofree char *mine = indent_of(p, begin_of(n));
	ab_autofree char *theirs = indent_of(p, begin_of(n - n->up));
	size_t k = strlen(theirs);

	return strncmp(mine, theirs, k) == 0 && mine[k] ? ab_strdup(mine + k) : NULL;
}

/* Learn the file's style from its first values on lines of their own and from
 * its first colon. */
static void learn_style(struct page *p)
{
	enum { TRIES = 64 };
	const char *line = memchr(p->text, '\n', p->len);

	p->newline = line && line > p->text && line[-1] == '\r' ? "\r\n" : "\n";
	if (p->scan.len > 1)
		p->tight = p->text[p->scan.nodes[1].begin - 1] == ':';
	for (size_t i = 1, tries = 0; i < p->scan.len && !p->unit && tries < TRIES; i++)
		if (begins_line(p, begin_of(&p->scan.nodes[i]))) {
			p->unit = step_of(p, &p->scan.nodes[i]);
			tries++;
		}
	if (!p->unit)
		p->unit = ab_strdup("  ");
}

static bool is_empty_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!ab_is_space(text[i]))
			return false;
	return true;
}

/* An empty text is a page without keys. */
static int open_page(struct page *p, const char *text, size_t len, struct ab_error *err)
{
	static const char blank[] = "{}\n";
	const struct ab_json_scan *scan = &p->scan;

	*p = is_empty_text(text, len) ? (struct page){ .text = blank, .len = strlen(blank) }
				      : (struct page){ .text = text, .len = len };
	if (ab_jsonc_scan_parse(&p->scan, p->text, p->len) < 0) {
		ab_autofree char *key = ab_escape(scan->key);

		ab_fail(err, AB_ECONFIG, 0, "line %u, column %u: %s%s%.80s", scan->line,
			scan->column, scan->wrong, key[0] ? " " : "", key);
		return ab_hint(err, "%s", scan->right);
	}
	if (scan->nodes->kind != '{')
		return ab_fail(err, AB_ECONFIG, 0, "line %u: expected an object",
			       scan->nodes->line);
	learn_style(p);
	return 0;
}

static void close_page(struct page *p)
{
	ab_json_scan_fini(&p->scan);
	free(p->unit);
}
#define ab_autopage __attribute__((cleanup(close_page)))

/* The list in { "only": [...] }, or the value itself. */
static const struct ab_json_scan_node *find_list(const struct ab_json_scan_node *value)
{
	const struct ab_json_scan_node *only =
		value->kind == '{' && value->count == 1 ? ab_json_scan_find(value, "only") : NULL;

	return only && only->kind == '[' ? only : value;
}

/* Open it at these keys. `last`: '[' if the value must be a list, 0 if it may be anything. */
static int open_at(struct page *p, const char *text, size_t len, const char *const *keys,
		   size_t nkeys, char last, struct ab_error *err)
{
	if (open_page(p, text, len, err) < 0)
		return -1;
	p->at = p->scan.nodes;
	for (size_t i = 0; i < nkeys; i++) {
		const struct ab_json_scan_node *next = ab_json_scan_find(p->at, keys[i]);
		char kind = i + 1 < nkeys ? '{' : last;

		if (!next)
			break;
		if (kind == '[')
			next = find_list(next);
		if (kind && next->kind != kind)
			return ab_fail(err, AB_ECONFIG, 0, "line %u: %s is not %s", next->line,
				       keys[i], kind == '{' ? "an object" : "a list");
		p->at = next;
		p->found++;
	}
	return 0;
}

/* The last child of a parent that has one, and where the space before it begins:
 * after a comma or bracket. */
static const struct ab_json_scan_node *
find_last(const struct page *p, const struct ab_json_scan_node *parent, size_t *ret_lead)
{
	const struct ab_json_scan_node *last = parent + 1;

	*ret_lead = parent->begin + 1;
	while (last + last->span < parent + parent->span) {
		const struct ab_json_scan_node *next = last + last->span;

		*ret_lead = find_comma(p, last->end, begin_of(next)) + 1;
		last = next;
	}
	return last;
}

static void put_line(const struct page *p, struct ab_buf *b, const char *indent, size_t steps)
{
	ab_buf_puts(b, p->newline);
	ab_buf_puts(b, indent);
	while (steps--)
		ab_buf_puts(b, p->unit);
}

/* "network": { "allow": ["value"] }; without keys the value itself, an element of a list. `indent` is
 * that of its first line; NULL: put all in one line. */
static void put_member(const struct page *p, struct ab_buf *b, const char *const *keys,
		       size_t nkeys, const char *value, const char *indent)
{
	const char *pad = p->tight ? "" : " ";

	if (!nkeys) {
		ab_buf_json(b, value);
		return;
	}
	for (size_t i = 0; i < nkeys; i++) {
		ab_buf_json(b, keys[i]);
		ab_buf_puts(b, p->tight ? ":" : ": ");
		if (i + 1 == nkeys)
			break;
		ab_buf_puts(b, "{");
		if (indent)
			put_line(p, b, indent, i + 1);
		else
			ab_buf_puts(b, pad);
	}
	if (p->raw) {
		ab_buf_puts(b, p->raw);
	} else {
		ab_buf_puts(b, "[");
		ab_buf_json(b, value);
		ab_buf_puts(b, "]");
	}
	for (size_t i = nkeys - 1; i-- > 0;) {
		if (indent)
			put_line(p, b, indent, i);
		else
			ab_buf_puts(b, pad);
		ab_buf_puts(b, "}");
	}
}

/* The text with [from, to) replaced. */
static char *splice_text(const struct page *p, size_t from, size_t to, const struct ab_buf *with)
{
	struct ab_buf b = { 0 };

	ab_buf_add(&b, p->text, from);
	ab_buf_add(&b, with->data, with->len);
	ab_buf_add(&b, p->text + to, p->len - to);
	return ab_buf_take(&b);
}

/* The end of the comments that follow in the line; *ret_line: the last is a line comment. */
static size_t skip_own_comments(const struct page *p, size_t at, size_t to, bool *ret_line)
{
	size_t end = at;

	*ret_line = false;
	while (at < to && !*ret_line) {
		if (p->text[at] == '/') {
			*ret_line = p->text[at + 1] == '/';
			at = end = skip_comment(p, at);
		} else if (ab_is_blank(p->text[at])) {
			at++;
		} else {
			break;
		}
	}
	return end;
}

/* Add after the last child of a parent that has one. */
static char *append_child(const struct page *p, const struct ab_json_scan_node *parent,
			  const char *const *keys, size_t nkeys, const char *value)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *indent = NULL;
	size_t lead, close = parent->end - 1;
	const struct ab_json_scan_node *last = find_last(p, parent, &lead);
	size_t begin = begin_of(last), comma = find_comma(p, last->end, close);
	bool trailing = comma < close, lines = has_newline(p->text + lead, begin - lead), line;
	size_t to = skip_own_comments(p, trailing ? comma + 1 : last->end, close, &line);

	if (!trailing)
		ab_buf_puts(&b, ",");
	ab_buf_add(&b, p->text + last->end, to - last->end);
	if (lines || line)
		indent = indent_of(p, begin);
	if (line || (lines && has_comment(p, lead, begin)))
		put_line(p, &b, indent, 0);
	else if (!lines && (parent->count == 1 || has_comment(p, lead, begin)))
		ab_buf_puts(&b, p->tight ? "" : " ");
	else
		ab_buf_add(&b, p->text + lead, begin - lead);
	put_member(p, &b, keys, nkeys, value, indent);
	if (trailing)
		ab_buf_puts(&b, ",");
	return splice_text(p, last->end, to, &b);
}

/* Add between brackets that have only white space, or comments in front of it, between them. */
static char *fill_empty(const struct page *p, const struct ab_json_scan_node *n,
			const char *const *keys, size_t nkeys, const char *value)
{
	bool commented = has_comment(p, n->begin, n->end);
	size_t from = n->begin + 1, to = n->end - 1;
	ab_autofree char *outer = indent_of(p, begin_of(n));
	ab_autofree char *inner = ab_printf("%s%s", outer, p->unit);
	ab_autofree char *gap =
		nkeys && !p->tight ? ab_strdup(" ") : ab_strndup(p->text + from, to - from);
	/* Break an object into lines if the file has line breaks, a list only
	 * if it has one itself. */
	bool lines = commented || has_newline(p->text + from, to - from) ||
		     (nkeys && (n->up == 0 || has_newline(p->text, n->begin)));
	ab_autobuf struct ab_buf b = { 0 };

	for (from = commented ? to : from; commented && ab_is_space(p->text[from - 1]);)
		from--;
	if (lines)
		put_line(p, &b, inner, 0);
	else
		ab_buf_puts(&b, gap);
	put_member(p, &b, keys, nkeys, value, lines ? inner : NULL);
	if (lines)
		put_line(p, &b, outer, 0);
	else
		ab_buf_puts(&b, gap);
	return splice_text(p, from, to, &b);
}

static char *add_child(const struct page *p, const struct ab_json_scan_node *n,
		       const char *const *keys, size_t nkeys, const char *value)
{
	return (n->count ? append_child : fill_empty)(p, n, keys, nkeys, value);
}

static bool has_value(const struct ab_json_scan_node *list, const char *value)
{
	ab_json_scan_each(k, list) if (k->text && strcmp(k->text, value) == 0) return true;
	return false;
}

/* An empty list replaces those of earlier layers, if its key has lists that add up. What is added
 * to it must not bring them back. */
static bool replaces_others(const struct ab_json_scan_node *list, const char *name)
{
	const struct ab_key *key = ab_key_find(name, strlen(name));

	return list->count == 0 && key && key->merge == AB_MERGE_ADD &&
	       strcmp(list->key, "only") != 0;
}

static int refuse_comments(const struct ab_json_scan_node *at, struct ab_error *err)
{
	ab_fail(err, AB_ECONFIG, 0, "line %u: %s has comments inside, which would be lost",
		at->line, at->key);
	return ab_hint(err, "edit the file: agentbox config edit");
}

static char *fill_only(const struct page *p, const struct ab_json_scan_node *list,
		       const char *value)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_puts(&b, p->tight ? "{\"only\":[" : "{ \"only\": [");
	ab_buf_json(&b, value);
	ab_buf_puts(&b, p->tight ? "]}" : "] }");
	return splice_text(p, list->begin, list->end, &b);
}

/* The section of a list, if it has one, and its own name. */
struct list_key {
	char section[32];
	const char *names[2];
	size_t n;
};

static int open_list(struct page *p, const char *text, size_t len, const char *key,
		     struct list_key *ret, struct ab_error *err)
{
	const char *dot = strchr(key, '.');

	snprintf(ret->section, sizeof(ret->section), "%.*s", (int)strcspn(key, "."), key);
	ret->names[0] = ret->section;
	ret->names[1] = dot ? dot + 1 : NULL;
	ret->n = dot ? 2 : 1;
	return open_at(p, text, len, ret->names, ret->n, '[', err);
}

int ab_json_edit_add(const char *text, size_t len, const char *key, const char *value, char **ret,
		     struct ab_error *err)
{
	ab_autopage struct page p = { 0 };
	struct list_key list;

	if (open_list(&p, text, len, key, &list, err) < 0)
		return -1;
	if (p.found == list.n && has_value(p.at, value))
		return 0;
	if (p.found == list.n && replaces_others(p.at, key)) {
		if (has_comment_inside(&p, p.at->begin, p.at->end))
			return refuse_comments(p.at, err);
		*ret = fill_only(&p, p.at, value);
		return 1;
	}
	*ret = add_child(&p, p.at, list.names + p.found, list.n - p.found, value);
	return 1;
}

/* Widen a cut to its line, if nothing else is in it. */
static void widen_cut(const struct page *p, size_t *from, size_t *to)
{
	size_t begin = *from, end = *to;

	while (ab_is_blank(p->text[begin - 1]))
		begin--;
	while (ab_is_blank(p->text[end]) || p->text[end] == '\r')
		end++;
	if (p->text[begin - 1] == '\n' && p->text[end] == '\n') {
		*from = begin;
		*to = end + 1;
	}
}

/* Remove a child and one comma, and leave the comments around them. */
static char *remove_between_comments(const struct page *p, const struct ab_json_scan_node *parent,
				     const struct ab_json_scan_node *before,
				     const struct ab_json_scan_node *child)
{
	size_t begin = begin_of(child), end = child->end;
	const struct ab_json_scan_node *next = child + child->span;
	size_t to = next < parent + parent->span ? begin_of(next) : parent->end - 1;
	size_t after = find_comma(p, end, to);
	ab_autobuf struct ab_buf kept = { .data = ab_strdup("") };

	if (after < to && has_comment(p, end, after)) {
		ab_buf_add(&kept, p->text + end, after - end);
		return splice_text(p, begin, after + 1, &kept);
	}
	if (after < to)
		end = after + 1;
	widen_cut(p, &begin, &end);
	if (after == to && before) {
		size_t comma = find_comma(p, before->end, begin);

		ab_buf_add(&kept, p->text + comma + 1, begin - comma - 1);
		begin = comma;
	}
	return splice_text(p, begin, end, &kept);
}

/* With the comma that it no longer needs. */
static char *remove_child(const struct page *p, const struct ab_json_scan_node *parent,
			  const struct ab_json_scan_node *child)
{
	const struct ab_buf nothing = { .data = (char[]){ "" } };
	const struct ab_json_scan_node *next = child + child->span, *before = NULL;
	bool is_last = next >= parent + parent->span;
	size_t from;

	ab_json_scan_each(k, parent) if (k < child) before = k;
	from = before ? before->end : parent->begin + 1;
	if (has_comment(p, from, begin_of(child)) ||
	    has_comment(p, child->end, is_last ? parent->end - 1 : begin_of(next)))
		return remove_between_comments(p, parent, before, child);
	if (before)
		return splice_text(p, before->end, child->end, &nothing);
	if (!is_last)
		return splice_text(p, begin_of(child), begin_of(next), &nothing);
	return splice_text(p, parent->begin + 1, parent->end - 1, &nothing);
}

/* Remove a value, and with it the objects around it that have nothing else in them, no comment
 * either. The outermost one stays. */
static int remove_whole(const struct page *p, const struct ab_json_scan_node *at, char **ret,
			struct ab_error *err)
{
	const struct ab_json_scan_node *parent = at - at->up;

	if (has_comment_inside(p, begin_of(at), at->end))
		return refuse_comments(at, err);
	while (parent->up && parent->count == 1 &&
	       !has_comment_inside(p, begin_of(parent), parent->end)) {
		at = parent;
		parent = at - at->up;
	}
	*ret = remove_child(p, parent, at);
	return 1;
}

/* An empty list would mean "nothing", so the last element takes its list with it. The list in
 * { "only": [...] } stays: it means the same when it is empty. */
static int remove_element(const struct page *p, const struct ab_json_scan_node *list,
			  const struct ab_json_scan_node *element, char **ret, struct ab_error *err)
{
	if (list->count == 1 && strcmp(list->key, "only") != 0)
		return remove_whole(p, list, ret, err);
	*ret = remove_child(p, list, element);
	return 1;
}

int ab_json_edit_remove(const char *text, size_t len, const char *key, const char *value,
			char **ret, struct ab_error *err)
{
	ab_autopage struct page p = { 0 };
	struct list_key list;

	if (open_list(&p, text, len, key, &list, err) < 0)
		return -1;
	if (p.found < list.n)
		return 0;
	ab_json_scan_each(k, p.at)
	{
		if (k->text && strcmp(k->text, value) == 0)
			return remove_element(&p, p.at, k, ret, err);
	}
	return 0;
}

int ab_json_edit_set(const char *text, size_t len, const char *const *keys, size_t nkeys,
		     const char *json, char **ret, struct ab_error *err)
{
	const struct ab_buf with = { .data = (char *)(uintptr_t)json, .len = strlen(json) };
	ab_autopage struct page p = { 0 };

	if (open_at(&p, text, len, keys, nkeys, 0, err) < 0)
		return -1;
	p.raw = json;
	if (p.found < nkeys) {
		*ret = add_child(&p, p.at, keys + p.found, nkeys - p.found, NULL);
		return 1;
	}
	if (has_comment_inside(&p, p.at->begin, p.at->end))
		return refuse_comments(p.at, err);
	if (p.at->end - p.at->begin == with.len &&
	    memcmp(p.text + p.at->begin, json, with.len) == 0)
		return 0;
	*ret = splice_text(&p, p.at->begin, p.at->end, &with);
	return 1;
}

int ab_json_edit_unset(const char *text, size_t len, const char *const *keys, size_t nkeys,
		       char **ret, struct ab_error *err)
{
	ab_autopage struct page p = { 0 };

	if (open_at(&p, text, len, keys, nkeys, 0, err) < 0)
		return -1;
	return p.found < nkeys ? 0 : remove_whole(&p, p.at, ret, err);
}

void ab_json_edit_list(const char *text, size_t len, const char *key, struct ab_strv *ret)
{
	ab_autopage struct page p = { 0 };
	struct ab_error none = { 0 };
	struct list_key list;

	if (open_list(&p, text, len, key, &list, &none) < 0 || p.found < list.n)
		return;
	ab_json_scan_each(k, p.at) if (k->text) ab_strv_add(ret, k->text);
}
