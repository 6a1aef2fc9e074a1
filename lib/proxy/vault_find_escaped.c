/*
 * Texts with escapes. A stretch of the data is decoded once, as far as it is
 * needed, and searched as bytes without escapes are.
 *
 * A text may begin within what is decoded as an escape: the digits of it, or
 * the second of two backslashes. Its first AB_FIND_HEAD characters are longer
 * than that, so behind them it is in step with the stretch: the rest of it,
 * its core, is searched for there, and the head is compared with the data.
 */
#include <string.h>

#include "base/mem.h"
#include "proxy/vault_find_state.h"

enum {
	STEP = 1024, /* bytes in which texts of one stretch begin */
	/* Characters that are decoded ahead: first few, as it may be found. */
	AHEAD_MIN = 16,
	AHEAD_MAX = 256,
};

struct stretch {
	const struct ab_look *l;
	enum ab_escape escape;
	size_t base, next; /* what of the data is decoded */
	size_t len, room;
	uint8_t *s;
	uint32_t *at; /* where each begins, from base on; one more */
};

/* What each digit stands for, and one more. */
static const uint8_t digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static int hex(uint8_t c)
{
	return digits[c] - 1;
}

static uint8_t mark_of(enum ab_escape escape)
{
	return escape == AB_ESCAPE_URL ? '%' : '\\';
}

/* Characters of the stretch in which a head is: as in JSON its first one may
 * begin with the second of two backslashes, and then be six of them. */
static size_t head_of(enum ab_escape escape)
{
	return escape == AB_ESCAPE_URL ? AB_FIND_HEAD : AB_FIND_HEAD + AB_FIND_SPREAD;
}

static bool is_short(uint8_t c)
{
	return c == '"' || c == '\\' || c == '/';
}

unsigned ab_escape_read(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t *ret)
{
	unsigned n = 1;
	int high, low;

	if (s[0] != mark_of(escape) || left < 2)
		return 0;
	if (escape == AB_ESCAPE_JSON) {
		if (is_short(s[1])) {
			*ret = s[1];
			return 2;
		}
		if (left < 6 || memcmp(s + 1, "u00", 3) != 0)
			return 0;
		n = 4;
	}
	if (left < n + 2)
		return 0;
	high = hex(s[n]);
	low = hex(s[n + 1]);
	if (high < 0 || low < 0)
		return 0;
	*ret = (uint8_t)(high << 4 | low);
	return n + 2;
}

/* Is what is here cut off, and the begin of an escape of `c`? Or of another one,
 * and `c` is the mark: then it is not known yet whether that is here. */
static bool is_cut(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t c)
{
	const char *zeros = escape == AB_ESCAPE_URL ? "" : "u00";
	size_t n = 1 + strlen(zeros);

	if (s[0] != mark_of(escape) || left >= n + 2)
		return false;
	if (memcmp(s + 1, zeros, (left < n ? left : n) - 1) != 0)
		return false;
	return left <= n || hex(s[n]) == c >> 4 || (c == s[0] && hex(s[n]) >= 0);
}

/* The character `c` here, escaped or not: its length; 0: with more bytes it
 * may be; -1: no. */
static int match_char(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t c)
{
	uint8_t got;
	unsigned n = ab_escape_read(s, left, escape, &got);

	if (n && got == c)
		return (int)n;
	if (is_cut(s, left, escape, c))
		return 0;
	return s[0] == c ? 1 : -1;
}

size_t ab_escape_next(const struct ab_look *l, enum ab_escape escape, size_t from, size_t to)
{
	uint8_t c;

	while (from < to) {
		const uint8_t *p = memchr(l->s + from, mark_of(escape), to - from);

		if (!p)
			break;
		from = (size_t)(p - l->s);
		if (ab_escape_read(p, l->len - from, escape, &c) && l->f->within[c])
			return from;
		from++;
	}
	return to;
}

static void wipe(struct stretch *st)
{
	if (st->s) {
		explicit_bzero(st->s, st->len);
		explicit_bzero(st->at, (st->len + 1) * sizeof(st->at[0]));
	}
	free(st->s);
	free(st->at);
}

static void widen(struct stretch *st)
{
	struct stretch more = *st;

	more.room = 2 * st->room + AHEAD_MAX;
	more.s = ab_alloc(more.room);
	more.at = ab_alloc((more.room + 1) * sizeof(more.at[0]));
	if (st->len) {
		memcpy(more.s, st->s, st->len);
		memcpy(more.at, st->at, (st->len + 1) * sizeof(more.at[0]));
	}
	wipe(st);
	*st = more;
}

/* Has it so many characters? */
static bool decode(struct stretch *st, size_t want)
{
	const uint8_t *s = st->l->s;
	size_t end = st->l->len, ahead = st->len, stop;
	uint8_t mark = mark_of(st->escape);

	if (want <= st->len)
		return true;
	if (ahead < AHEAD_MIN)
		ahead = AHEAD_MIN;
	stop = want + (ahead < AHEAD_MAX ? ahead : AHEAD_MAX);
	while (stop > st->room)
		widen(st);
	while (st->len < stop && st->next < end) {
		uint8_t c = s[st->next];
		unsigned n = 0;

		st->at[st->len] = (uint32_t)(st->next - st->base);
		if (c == mark)
			n = ab_escape_read(s + st->next, end - st->next, st->escape, &c);
		st->s[st->len++] = c;
		st->next += n ? n : 1;
	}
	st->at[st->len] = (uint32_t)(st->next - st->base);
	return want <= st->len;
}

/* Is the needle's core at character j? */
static bool match_core(struct stretch *st, size_t j, const struct ab_needle *needle)
{
	size_t k = AB_FIND_HEAD;

	while (k < needle->len) {
		size_t n = needle->len - k;

		if (!decode(st, j + 1))
			return false;
		if (n > st->len - j)
			n = st->len - j;
		if (memcmp(st->s + j, needle->s + k, n) != 0)
			return false;
		j += n;
		k += n;
	}
	return true;
}

/* Does the needle's head lead from `p` to `end`? */
static bool match_head(const struct ab_look *l, enum ab_escape escape, size_t p, size_t end,
		       const struct ab_needle *needle)
{
	for (size_t k = 0; k < AB_FIND_HEAD; k++) {
		int n = p < end ? match_char(l->s + p, l->len - p, escape, needle->s[k]) : -1;

		if (n <= 0)
			return false;
		p += (size_t)n;
	}
	return p == end;
}

/* A needle whose core is at character j, and that begins before `to`. */
static void try_needle(struct stretch *st, size_t j, size_t to, const struct ab_needle *needle,
		       struct ab_found *best)
{
	size_t core, end, p = st->base, head = head_of(st->escape);

	if (!match_core(st, j, needle))
		return;
	core = st->base + st->at[j];
	end = st->base + st->at[j + needle->len - AB_FIND_HEAD];
	if (j > head)
		p += st->at[j - head];
	while (p < core && p < to && !match_head(st->l, st->escape, p, core, needle))
		p++;
	/* As long as it is itself: it has no escapes. */
	if (p < core && p < to && end - p > needle->len)
		ab_find_choose(best, (struct ab_found){ .at = p,
							.len = end - p,
							.needle = needle,
							.escape = st->escape });
}

/* The best of those that begin between base and `to`; of no length: none. */
static struct ab_found search(struct stretch *st, size_t to)
{
	struct ab_found best = { 0 };
	const struct ab_finder *f = st->l->f;
	const struct ab_find_table *t = &f->cores;
	size_t j = 0, last = SIZE_MAX, head = head_of(st->escape);

	while (j <= last && decode(st, j + t->min)) {
		const uint8_t *pair = st->s + j + t->min - 2;
		unsigned h;

		if (j > head && st->base + st->at[j - head] >= to)
			break;
		if (!ab_find_known(t, pair)) {
			j += t->min - 1;
			continue;
		}
		h = ab_find_hash(pair);
		if (t->shift[h]) {
			j += t->shift[h];
			continue;
		}
		for (size_t i = 0; i < f->n; i++)
			if (ab_find_ends(t, &f->v[i], h))
				try_needle(st, j, to, &f->v[i], &best);
		/* Another may begin before it and have its core behind. */
		if (best.len && last == SIZE_MAX)
			last = j + head;
		j++;
	}
	return best;
}

void ab_escaped_find(const struct ab_look *l, enum ab_escape escape, size_t from, size_t to,
		     struct ab_found *best)
{
	struct stretch st = { .l = l, .escape = escape };
	size_t max = l->f->max, end = l->len - to > max ? to + max : l->len;
	struct ab_found found = { 0 };

	while (from < to && !found.len) {
		size_t p = ab_escape_next(l, escape, from, end), next;

		if (p - from > max)
			from = p - max;
		if (p == end || from >= to)
			break;
		next = p < to && to - p > STEP ? p + STEP : to;
		st.base = st.next = from;
		st.len = 0;
		found = search(&st, next);
		from = next;
	}
	if (found.len)
		ab_find_choose(best, found);
	wipe(&st);
}

/* Could the needle, were there more bytes, begin at `p`? Character j is the
 * first from there on, `cut` the one that may be of a cut escape. */
static bool begins(const struct stretch *st, size_t p, size_t j, size_t cut,
		   const struct ab_needle *needle)
{
	const struct ab_look *l = st->l;
	size_t k = 0, n;

	for (; k < AB_FIND_HEAD && p < l->len; k++) {
		int r = match_char(l->s + p, l->len - p, st->escape, needle->s[k]);

		if (r <= 0)
			return r == 0;
		p += (size_t)r;
	}
	while (st->base + st->at[j] < p)
		j++;
	if (st->base + st->at[j] != p)
		return false;
	if (j <= cut && cut < st->len && cut - j < needle->len - k) {
		size_t at = st->base + st->at[cut];

		n = cut - j;
		if (is_cut(l->s + at, l->len - at, st->escape, needle->s[k + n]) &&
		    memcmp(st->s + j, needle->s + k, n) == 0)
			return true;
	}
	n = st->len - j;
	return n < needle->len - k && (!n || st->s[st->len - 1] == needle->s[k + n - 1]) &&
	       memcmp(st->s + j, needle->s + k, n) == 0;
}

static bool may_begin(const struct ab_look *l, size_t p, enum ab_escape escape)
{
	uint8_t c = l->s[p];

	if (l->f->first[c])
		return true;
	/* A cut one may be of anything. */
	return c == mark_of(escape) &&
	       (!ab_escape_read(l->s + p, l->len - p, escape, &c) || l->f->first[c]);
}

static size_t first_begin(const struct stretch *st)
{
	const struct ab_look *l = st->l;
	const struct ab_finder *f = l->f;
	size_t cut = st->len, j = 0;

	for (size_t i = st->len; i && i + AB_FIND_HEAD > st->len; i--)
		if (l->s[st->base + st->at[i - 1]] == mark_of(st->escape) &&
		    st->at[i] - st->at[i - 1] == 1) {
			cut = i - 1;
			break;
		}
	for (size_t p = st->base; p < l->len; p++) {
		if (!may_begin(l, p, st->escape))
			continue;
		while (st->base + st->at[j] < p)
			j++;
		for (size_t i = 0; i < f->n; i++)
			if (begins(st, p, j, cut, &f->v[i]))
				return p;
	}
	return l->len;
}

/* May a text have this byte, or an escape? */
static bool is_of_text(const struct ab_finder *f, uint8_t c)
{
	return f->within[c] || hex(c) >= 0 || c == 'u' || c == '%' || is_short(c);
}

size_t ab_escaped_hold(const struct ab_look *l, enum ab_escape escape)
{
	struct stretch st = { .l = l, .escape = escape };
	size_t left = l->len - l->from, max = l->f->max, from = l->len, hold;
	const uint8_t *p;

	if (left > max * AB_FIND_SPREAD)
		left = max * AB_FIND_SPREAD;
	while (left && is_of_text(l->f, l->s[from - 1])) {
		left--;
		from--;
	}
	p = from < l->len ? memchr(l->s + from, mark_of(escape), l->len - from) : NULL;
	if (!p)
		return l->len;
	if ((size_t)(p - l->s) - from > max)
		from = (size_t)(p - l->s) - max;
	st.base = st.next = from;
	decode(&st, l->len - from);
	hold = first_begin(&st);
	wipe(&st);
	return hold;
}
