#include "proxy/secrets/rows.h"

#include "proxy/secrets/finder.h"

/* Where the escape or line end before `at` begins, and which character it is of; `at`: there is none. */
static size_t find_escape_before(const struct ab_search *l, enum ab_escape escape, size_t at,
				 uint8_t *ret)
{
	size_t longest = ab_escape_longest(escape), from = at > longest ? at - longest : 0;
	const uint8_t *p;

	if (at && ab_is_line_end(l->s[at - 1])) {
		*ret = l->s[at - 1];
		return at - 1;
	}
	p = memrchr(l->s + from, ab_escape_mark(escape), at - from);
	return p && ab_escape_read(p, (size_t)(l->s + at - p), escape, ret) ==
				       (size_t)(l->s + at - p)
		       ? (size_t)(p - l->s)
		       : at;
}

/* May these two be characters of a needle, perhaps with a line break or an escape there? */
static bool may_follow(const struct ab_search *l, enum ab_escape escape, const uint8_t *two)
{
	if (ab_is_line_end(two[0]) || ab_is_line_end(two[1]))
		return true;
	return ab_find_has(l->f->joins, two) ||
	       (escape != AB_ESCAPE_WRAP &&
		(two[0] == ab_escape_mark(escape) || two[1] == ab_escape_mark(escape)));
}

/* The same of so many bytes, as far as an escape. */
static bool may_be_row(const struct ab_search *l, enum ab_escape escape, const uint8_t *s)
{
	for (size_t i = 0; i + 1 < AB_ROW_BESIDE; i++) {
		if (!may_follow(l, escape, s + i))
			return false;
		if (escape != AB_ESCAPE_WRAP && s[i + 1] == ab_escape_mark(escape))
			break;
	}
	return true;
}

bool ab_row_has_break(const struct ab_search *l, enum ab_escape escape, size_t at, size_t after)
{
	const uint8_t *s = l->s;
	uint8_t pair[2], c = 0;
	size_t before, n;

	if (after >= l->len)
		return false;
	pair[1] = s[after];
	n = ab_escape_read(s + after, l->len - after, escape, &pair[1]);
	if (ab_is_line_end(pair[1]) ||
	    (!l->f->within[pair[1]] && pair[1] != ab_escape_mark(escape)))
		return false;
	before = find_escape_before(l, escape, at, &c);
	if (before < at && c == '\r') {
		at = before;
		before = find_escape_before(l, escape, at, &c);
	}
	if (!at || (before < at && ab_is_line_end(c)))
		return false;
	pair[0] = before < at ? c : s[at - 1];
	return may_follow(l, escape, pair) &&
	       (before < at || n || after + AB_ROW_BESIDE > l->len ||
		may_be_row(l, escape, s + after) ||
		(at >= AB_ROW_BESIDE && may_be_row(l, escape, s + at - AB_ROW_BESIDE)));
}

static bool has_join(const struct ab_search *l, size_t left, size_t right)
{
	return ab_find_has(l->f->joins, (const uint8_t[2]){ l->s[left], l->s[right] });
}

/* To what is behind the line end at `p`, if there is one. */
static size_t skip_line_end(const struct ab_search *l, size_t p)
{
	if (p < l->len && l->s[p] == '\r')
		p++;
	if (p < l->len && l->s[p] == '\n')
		p++;
	return p;
}

/* To the next character, which may be behind a line break; false: it does not follow this one in a needle. */
static bool step_forth(const struct ab_search *l, size_t *p)
{
	size_t next = skip_line_end(l, *p + 1);

	if (next >= l->len || !has_join(l, *p, next))
		return false;
	*p = next;
	return true;
}

/* To the begin of the line end before `p`, if there is one. */
static size_t skip_back(const struct ab_search *l, size_t p)
{
	if (p && l->s[p - 1] == '\n')
		p--;
	if (p && l->s[p - 1] == '\r')
		p--;
	return p;
}

/* As step_forth(), to the character before this one. */
static bool step_back(const struct ab_search *l, size_t *p)
{
	size_t before = skip_back(l, *p);

	if (!before || !has_join(l, before - 1, *p))
		return false;
	*p = before - 1;
	return true;
}

bool ab_row_has_line_end(const struct ab_search *l, size_t at)
{
	return ab_row_has_break(l, AB_ESCAPE_WRAP, at, skip_line_end(l, at));
}

bool ab_row_has_pair(const struct ab_search *l, size_t at)
{
	size_t n = 0, right;

	while (at < l->len && ab_is_line_end(l->s[at]))
		at++;
	if (at == l->len)
		return false;
	for (right = at; n < l->f->joined && step_forth(l, &right); n++)
		;
	while (n < l->f->joined && step_back(l, &at))
		n++;
	return n == l->f->joined;
}

size_t ab_row_at_end(const struct ab_search *l)
{
	size_t p = skip_back(l, l->len), far = 2 * l->f->max + 2;

	if (p <= l->from)
		return l->len;
	p--;
	while (p > l->from && l->len - p < far && step_back(l, &p))
		;
	return p > l->from ? p : l->from;
}
