#include "shell/expand/param.h"

#include "base/data/arena.h"

enum {
	PATTERN_MAX = 256,
	VALUE_MAX = 4096, /* matching takes time by the square of it */
	RESULT_MAX = 64 << 10,
};

struct pattern { /* special[i]: s[i] is * or ?, not quoted */
	char s[PATTERN_MAX];
	bool special[PATTERN_MAX];
	uint32_t len;
	bool any; /* one of them is */
};

static struct ab_text rest_of(struct ab_text t, uint32_t from)
{
	return (struct ab_text){ t.s + from, t.len - from };
}

static bool is_ascii(struct ab_text t)
{
	for (uint32_t i = 0; i < t.len; i++)
		if (t.s[i] & 0x80)
			return false;
	return true;
}

/* An operand without its quotes, up to an unquoted `end`. Not one with
 * expansions, brackets or extended patterns. */
static bool read_pattern(struct ab_text *op, char end, struct pattern *ret)
{
	char quote = 0;
	uint32_t i;

	*ret = (struct pattern){ 0 };
	for (i = 0; i < op->len && (quote || op->s[i] != end || !end); i++) {
		char c = op->s[i];
		bool literal = quote;

		if (c == '$' || c == '`' || c == AB_UNKNOWN)
			return false;
		if (c == quote || (!quote && (c == '\'' || c == '"'))) {
			quote = quote ? 0 : c;
			continue;
		}
		if (c == '\\' && quote)
			return false;
		if (c == '\\') {
			if (++i == op->len)
				return false;
			c = op->s[i];
			literal = true;
		}
		if (!literal && strchr("[(~&", c))
			return false;
		if (ret->len == PATTERN_MAX)
			return false;
		ret->special[ret->len] = !literal && (c == '*' || c == '?');
		ret->any |= ret->special[ret->len];
		ret->s[ret->len++] = c;
	}
	*op = rest_of(*op, i);
	return !quote;
}

/* All of the text. */
static bool matches(const struct pattern *p, struct ab_text t)
{
	uint32_t i = 0, j = 0, star = UINT32_MAX, from = 0;

	while (j < t.len) {
		if (i < p->len && p->special[i] && p->s[i] == '*') {
			star = i++;
			from = j;
		} else if (i < p->len && (p->special[i] || p->s[i] == t.s[j])) {
			i++;
			j++;
		} else if (star != UINT32_MAX) {
			i = star + 1;
			j = ++from;
		} else {
			return false;
		}
	}
	while (i < p->len && p->special[i] && p->s[i] == '*')
		i++;
	return i == p->len;
}

/* # ## % %% */
static bool trim(struct ab_text value, struct ab_text op, struct ab_text *ret)
{
	bool front = op.s[0] == '#';
	bool longest = op.len > 1 && op.s[1] == op.s[0];
	struct pattern p;

	op = rest_of(op, 1 + longest);
	if (value.len > VALUE_MAX || !read_pattern(&op, 0, &p) || (p.any && !is_ascii(value)))
		return false;
	*ret = value;
	for (uint32_t i = 0; i <= value.len; i++) {
		uint32_t n = longest ? value.len - i : i;
		struct ab_text cut = { front ? value.s : value.s + value.len - n, n };

		if (!matches(&p, cut))
			continue;
		*ret = front ? rest_of(value, n) : (struct ab_text){ value.s, value.len - n };
		break;
	}
	return true;
}

/* /a/b //a/b /#a/b /%a/b: `a` without special characters */
static bool replace(struct ab_arena *arena, struct ab_text value, struct ab_text op,
		    struct ab_text *ret)
{
	bool all = op.len > 1 && op.s[1] == '/';
	char anchor = op.len > 1 && strchr("#%", op.s[1]) ? op.s[1] : 0;
	struct pattern a, b = { 0 };
	uint32_t len = 0, i = 0;
	size_t room;
	char *s;

	op = rest_of(op, 1 + (all || anchor));
	if (!read_pattern(&op, '/', &a) || a.any || !a.len)
		return false;
	if (op.len) {
		op = rest_of(op, 1);
		if (!read_pattern(&op, 0, &b))
			return false;
	}
	room = value.len + (size_t)(value.len / a.len + 1) * b.len;
	if (room > RESULT_MAX)
		return false;
	s = ab_arena_alloc(arena, room + 1);
	while (i < value.len) {
		bool here = value.len - i >= a.len && memcmp(value.s + i, a.s, a.len) == 0;

		if (anchor == '#')
			here = here && i == 0;
		else if (anchor == '%')
			here = here && i + a.len == value.len;
		if (!here) {
			s[len++] = value.s[i++];
			continue;
		}
		memcpy(s + len, b.s, b.len);
		len += b.len;
		i += a.len;
		if (!all)
			break;
	}
	memcpy(s + len, value.s + i, value.len - i);
	*ret = (struct ab_text){ s, len + value.len - i };
	return true;
}

static bool read_offset(struct ab_text *t, int64_t *ret)
{
	bool minus, any = false;
	int64_t n = 0;

	while (t->len && t->s[0] == ' ')
		*t = rest_of(*t, 1);
	minus = t->len && t->s[0] == '-';
	*t = rest_of(*t, minus);
	while (t->len && t->s[0] >= '0' && t->s[0] <= '9' && n < 1 << 24) {
		n = n * 10 + (t->s[0] - '0');
		any = true;
		*t = rest_of(*t, 1);
	}
	*ret = minus ? -n : n;
	return any && (!t->len || t->s[0] == ':');
}

/* :offset :offset:length */
static bool cut(struct ab_text value, struct ab_text op, struct ab_text *ret)
{
	int64_t from, n;

	op = rest_of(op, 1);
	if (!is_ascii(value) || !read_offset(&op, &from))
		return false;
	if (from < 0)
		from += value.len;
	if (from < 0 || from > value.len)
		from = n = value.len;
	else
		n = value.len - from;
	if (op.len) {
		int64_t len;

		op = rest_of(op, 1);
		if (!read_offset(&op, &len) || op.len)
			return false;
		if (len < 0)
			len += n;
		if (len < 0)
			return false;
		n = len < n ? len : n;
	}
	if (from == value.len)
		n = 0;
	*ret = (struct ab_text){ value.s + from, (uint32_t)n };
	return true;
}

/* ^ ^^ , ,, */
static bool change_case(struct ab_arena *arena, struct ab_text value, struct ab_text op,
			struct ab_text *ret)
{
	bool all = op.len == 2 && op.s[1] == op.s[0];
	char first = op.s[0] == '^' ? 'a' : 'A';
	char *s;

	if ((op.len != 1 && !all) || !is_ascii(value))
		return false;
	s = ab_arena_ndup(arena, value.s, value.len);
	for (uint32_t i = 0; i < value.len && (all || i == 0); i++)
		if (s[i] >= first && s[i] < first + 26)
			s[i] ^= 0x20;
	*ret = (struct ab_text){ s, value.len };
	return true;
}

bool ab_param_operate(struct ab_arena *arena, struct ab_text value, struct ab_text op,
		      struct ab_text *ret)
{
	if (!op.len || (value.len && memchr(value.s, AB_UNKNOWN, value.len)))
		return false;
	switch (op.s[0]) {
	case '#':
	case '%':
		return trim(value, op, ret);
	case '/':
		return replace(arena, value, op, ret);
	case ':':
		return cut(value, op, ret);
	case '^':
	case ',':
		return change_case(arena, value, op, ret);
	default:
		return false;
	}
}
