#include "policy/edit/json_edit.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text/ascii.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "policy/read/json_scan.h"

enum { NOWHERE = UINT32_MAX };

/* A text and the manner in which it is written. */
struct page {
	const char *text;
	size_t len;
	struct ab_json_scan scan;
	char *unit; /* one step of indentation */
	const char *newline;
	bool tight; /* no blank behind a colon */
};

static const struct ab_json_scan_node *node_at(const struct page *p, uint32_t i)
{
	return &p->scan.nodes[i];
}

/* The blanks at the begin of the line in which `at` is. */
static char *indent_of(const struct page *p, size_t at)
{
	size_t from = at, n = 0;

	while (from > 0 && p->text[from - 1] != '\n')
		from--;
	while (from + n < at && ab_is_blank(p->text[from + n]))
		n++;
	return ab_strndup(p->text + from, n);
}

static bool breaks(const char *text, size_t len)
{
	return memchr(text, '\n', len) != NULL;
}

static size_t begin_of(const struct ab_json_scan_node *n)
{
	return n->key_begin < n->key_end ? n->key_begin : n->begin;
}

/* Is there nothing but blanks in front of it in its line? */
static bool begins_line(const struct page *p, size_t at)
{
	while (at > 0 && ab_is_blank(p->text[at - 1]))
		at--;
	return at > 0 && p->text[at - 1] == '\n';
}

/* By how much is it further in than what it is in? NULL: by nothing. */
static char *step_of(const struct page *p, const struct ab_json_scan_node *n)
{
	ab_autofree char *mine = indent_of(p, begin_of(n));
	ab_autofree char *theirs = indent_of(p, begin_of(node_at(p, n->parent)));
	size_t k = strlen(theirs);

	return strncmp(mine, theirs, k) == 0 && mine[k] ? ab_strdup(mine + k) : NULL;
}

/* How the file does it: by its first values that stand on lines of their own,
 * and its first colon. */
static void learn_manner(struct page *p)
{
	enum { TRIES = 64 };
	const char *line = memchr(p->text, '\n', p->len);

	p->newline = line && line > p->text && line[-1] == '\r' ? "\r\n" : "\n";
	if (p->scan.len > 1)
		p->tight = p->text[node_at(p, 1)->begin - 1] == ':';
	for (uint32_t i = 1, tries = 0; i < p->scan.len && !p->unit && tries < TRIES; i++)
		if (begins_line(p, begin_of(node_at(p, i)))) {
			p->unit = step_of(p, node_at(p, i));
			tries++;
		}
	if (!p->unit)
		p->unit = ab_strdup("  ");
}

static int open_page(struct page *p, const char *text, size_t len, struct ab_error *err)
{
	json_error_t wrong;
	json_t *json;

	*p = (struct page){ .text = text, .len = len };
	if (ab_json_scan_parse(&p->scan, text, len) < 0)
		return ab_fail(err, AB_ECONFIG, 0, "line %u: %s", p->scan.line, p->scan.wrong);
	/* What the scanner has no part in: keys that are there twice. */
	json = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &wrong);
	if (!json) {
		ab_autofree char *what = ab_escape(wrong.text);

		return ab_fail(err, AB_ECONFIG, 0, "line %d: %s", wrong.line, what);
	}
	json_decref(json);
	if (node_at(p, 0)->kind != '{')
		return ab_fail(err, AB_ECONFIG, 0, "line %u: it is not an object",
			       node_at(p, 0)->line);
	learn_manner(p);
	return 0;
}

static void close_page(struct page *p)
{
	ab_json_scan_fini(&p->scan);
	free(p->unit);
}
#define ab_autopage __attribute__((cleanup(close_page)))

/* Are these bytes this text as a JSON string? */
static bool says(const struct page *p, size_t begin, size_t end, const char *want)
{
	json_t *json;
	bool same;

	if (begin == end || p->text[begin] != '"')
		return false;
	json = json_loadb(p->text + begin, end - begin, JSON_DECODE_ANY, NULL);
	same = json && strcmp(json_string_value(json), want) == 0;
	json_decref(json);
	return same;
}

static uint32_t find_member(const struct page *p, uint32_t object, const char *key)
{
	for (uint32_t k = object + 1; k < node_at(p, object)->next; k = node_at(p, k)->next)
		if (says(p, node_at(p, k)->key_begin, node_at(p, k)->key_end, key))
			return k;
	return NOWHERE;
}

/* How many of the keys lead somewhere, and where. */
static int follow(const struct page *p, const char *const *keys, size_t nkeys, size_t *ret_found,
		  uint32_t *ret_node, struct ab_error *err)
{
	uint32_t at = 0;
	size_t i;

	for (i = 0; i < nkeys; i++) {
		uint32_t next = find_member(p, at, keys[i]);
		char kind = i + 1 < nkeys ? '{' : '[';

		if (next == NOWHERE)
			break;
		if (node_at(p, next)->kind != kind)
			return ab_fail(err, AB_ECONFIG, 0, "line %u: %s is not %s",
				       node_at(p, next)->line, keys[i],
				       kind == '{' ? "an object" : "a list");
		at = next;
	}
	*ret_found = i;
	*ret_node = at;
	return 0;
}

static bool is_empty(const struct page *p, uint32_t i)
{
	return node_at(p, i)->next == i + 1;
}

/* The last child and the one before it; NOWHERE. */
static void last_two(const struct page *p, uint32_t parent, uint32_t *ret_last,
		     uint32_t *ret_before)
{
	*ret_last = *ret_before = NOWHERE;
	for (uint32_t k = parent + 1; k < node_at(p, parent)->next; k = node_at(p, k)->next) {
		*ret_before = *ret_last;
		*ret_last = k;
	}
}

/* What stands in front of the last child: behind a comma, or behind the
 * bracket. */
static void lead_of(const struct page *p, uint32_t parent, const char **ret, size_t *ret_len)
{
	uint32_t last, before;
	size_t from, to;

	last_two(p, parent, &last, &before);
	to = begin_of(node_at(p, last));
	from = before == NOWHERE ? node_at(p, parent)->begin + 1 : node_at(p, before)->end;
	/* Blanks may be on both sides of the comma: what is behind it. */
	while (from < to && before != NOWHERE && p->text[from] != ',')
		from++;
	from += before != NOWHERE;
	*ret = p->text + from;
	*ret_len = to - from;
}

static void put_line(const struct page *p, struct ab_buf *b, const char *indent, size_t steps)
{
	ab_buf_puts(b, p->newline);
	ab_buf_puts(b, indent);
	while (steps--)
		ab_buf_puts(b, p->unit);
}

/* "network": { "allow": ["value"] }; `indent`: of its first line, NULL: all in
 * one. */
static void put_member(const struct page *p, struct ab_buf *b, const char *const *keys,
		       size_t nkeys, const char *value, const char *indent)
{
	const char *pad = p->tight ? "" : " ";

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
	ab_buf_puts(b, "[");
	ab_buf_json(b, value);
	ab_buf_puts(b, "]");
	for (size_t i = nkeys - 1; i-- > 0;) {
		if (indent)
			put_line(p, b, indent, i);
		else
			ab_buf_puts(b, pad);
		ab_buf_puts(b, "}");
	}
}

/* The text with [from, to) replaced. */
static char *splice(const struct page *p, size_t from, size_t to, const struct ab_buf *with)
{
	struct ab_buf b = { 0 };

	ab_buf_add(&b, p->text, from);
	ab_buf_add(&b, with->data, with->len);
	ab_buf_add(&b, p->text + to, p->len - to);
	return ab_buf_take(&b);
}

/* Behind the last child of something that has one. */
static char *append(const struct page *p, uint32_t parent, const char *const *keys, size_t nkeys,
		    const char *value)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *indent = NULL;
	uint32_t last, before;
	const char *lead;
	size_t len, at;

	last_two(p, parent, &last, &before);
	lead_of(p, parent, &lead, &len);
	at = node_at(p, last)->end;
	ab_buf_puts(&b, ",");
	if (before == NOWHERE && !breaks(lead, len))
		ab_buf_puts(&b, p->tight ? "" : " ");
	else
		ab_buf_add(&b, lead, len);
	if (breaks(lead, len))
		indent = indent_of(p, begin_of(node_at(p, last)));
	if (nkeys)
		put_member(p, &b, keys, nkeys, value, indent);
	else
		ab_buf_json(&b, value);
	return splice(p, at, at, &b);
}

/* Into brackets with nothing but blanks between them. */
static char *fill(const struct page *p, uint32_t parent, const char *const *keys, size_t nkeys,
		  const char *value)
{
	const struct ab_json_scan_node *n = node_at(p, parent);
	size_t from = n->begin + 1, to = n->end - 1;
	ab_autofree char *outer = indent_of(p, begin_of(n));
	ab_autofree char *inner = ab_printf("%s%s", outer, p->unit);
	/* An object is broken into lines where the file is, a list only where
	 * it is already. */
	bool lines = breaks(p->text + from, to - from) ||
		     (nkeys && (parent == 0 || breaks(p->text, n->begin)));
	ab_autobuf struct ab_buf b = { 0 };

	if (lines)
		put_line(p, &b, inner, 0);
	else if (nkeys && !p->tight)
		ab_buf_puts(&b, " ");
	else
		ab_buf_add(&b, p->text + from, to - from);
	if (nkeys)
		put_member(p, &b, keys, nkeys, value, lines ? inner : NULL);
	else
		ab_buf_json(&b, value);
	if (lines)
		put_line(p, &b, outer, 0);
	else if (nkeys && !p->tight)
		ab_buf_puts(&b, " ");
	else
		ab_buf_add(&b, p->text + from, to - from);
	return splice(p, from, to, &b);
}

static bool is_nothing(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!ab_is_space(text[i]))
			return false;
	return true;
}

static uint32_t find_value(const struct page *p, uint32_t list, const char *value)
{
	for (uint32_t k = list + 1; k < node_at(p, list)->next; k = node_at(p, k)->next)
		if (says(p, node_at(p, k)->begin, node_at(p, k)->end, value))
			return k;
	return NOWHERE;
}

int ab_json_edit_find(const char *text, size_t len, const char *const *keys, size_t nkeys,
		      bool *ret_there, struct ab_error *err)
{
	ab_autopage struct page p = { 0 };
	size_t found = 0;
	uint32_t at;

	if (!is_nothing(text, len) &&
	    (open_page(&p, text, len, err) < 0 || follow(&p, keys, nkeys, &found, &at, err) < 0))
		return -1;
	*ret_there = found == nkeys;
	return 0;
}

int ab_json_edit_add(const char *text, size_t len, const char *const *keys, size_t nkeys,
		     const char *value, char **ret, struct ab_error *err)
{
	static const char blank[] = "{}\n";
	ab_autopage struct page p = { 0 };
	size_t found;
	uint32_t at;

	if (is_nothing(text, len)) {
		text = blank;
		len = strlen(blank);
	}
	if (open_page(&p, text, len, err) < 0 || follow(&p, keys, nkeys, &found, &at, err) < 0)
		return -1;
	if (found == nkeys && find_value(&p, at, value) != NOWHERE)
		return 0;
	*ret = is_empty(&p, at) ? fill(&p, at, keys + found, nkeys - found, value)
				: append(&p, at, keys + found, nkeys - found, value);
	return 1;
}
