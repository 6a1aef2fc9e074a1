#include "proxy/secrets/search.h"

#include "proxy/secrets/finder.h"
#include "proxy/secrets/rows.h"

enum {
	/* Each block is searched for all forms before the next, so an early
	 * match is cheap. */
	BLOCK_MIN = 64,
	BLOCK_MAX = 2048,
};

/*
 * Texts with escapes. A stretch of the data is decoded once, as far as needed,
 * and searched like bytes without escapes.
 *
 * A text may begin inside something that decodes as an escape: in its digits, or
 * at the second of two backslashes. Its first AB_FIND_HEAD characters are longer
 * than that, so after them the text is in step with the stretch: the rest, its
 * core, is searched there, and the head is compared with the data. (A text that
 * begins inside a long name of HTML, "rcnt;" after "&pe", is found only as it
 * is.)
 */

enum {
	STEP = 1024, /* matches of one stretch begin within so many bytes */
	/* Characters decoded ahead: few at first, as a match may come soon. */
	AHEAD_MIN = 16,
	AHEAD_MAX = 256,
};

struct stretch {
	const struct ab_search *l;
	enum ab_escape escape;
	size_t base, next; /* the decoded part of the data */
	size_t len, room;
	uint8_t *s;
	uint32_t *at; /* where each character begins, relative to base; one more */
};

/* The most characters of the stretch that a head may cover: after a backslash its
 * first one may begin at the second of two backslashes and so cover six. */
static size_t head_of(enum ab_escape escape)
{
	return escape == AB_ESCAPE_BACKSLASH ? AB_FIND_HEAD + 8 : AB_FIND_HEAD;
}

/* A line break parts no fewer digits than these: a line of text that ends as a needle begins is not held
 * back for a digit. */
enum { WRAP_MIN = 2 };

/* Where character k of the needle is: `p`, or after the line break there. */
static size_t skip_line_break(const struct ab_search *l, enum ab_escape escape, size_t p,
			      const struct ab_needle *needle, size_t k)
{
	if (k < WRAP_MIN || p >= l->len || !ab_needle_wraps(needle))
		return p;
	return p + ab_line_break_read(l->s + p, l->len - p, escape);
}

/* The length of `c` here, escaped or not; 0: more bytes are needed; -1: it is
 * another character. */
static int match_char(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t c)
{
	uint8_t got;
	unsigned n = ab_escape_read(s, left, escape, &got);

	if (n && got == c)
		return (int)n;
	if (ab_escape_is_cut(s, left, escape, c))
		return 0;
	return s[0] == c ? 1 : -1;
}

/* The first line end within [from, to); `to`: none. */
static size_t find_line_end(const struct ab_search *l, size_t from, size_t to)
{
	const uint8_t *p = from < to ? memchr(l->s + from, '\n', to - from) : NULL;

	if (p)
		to = (size_t)(p - l->s);
	p = from < to ? memchr(l->s + from, '\r', to - from) : NULL;
	return p ? (size_t)(p - l->s) : to;
}

/* The first line break within [from, to) that may part a needle; `to`: none. */
static size_t next_wrap(const struct ab_search *l, size_t from, size_t to)
{
	while ((from = find_line_end(l, from, to)) < to && !ab_row_has_line_end(l, from))
		from++;
	return from;
}

/* Is the escape at `p` of a byte in a needle, or of a line end between two? */
static bool is_in_needle(const struct ab_search *l, enum ab_escape escape, size_t p)
{
	uint8_t c;
	size_t n = ab_escape_read(l->s + p, l->len - p, escape, &c);

	if (!n || !ab_is_line_end(c))
		return n && l->f->within[c];
	if (c == '\r')
		n = ab_line_break_read(l->s + p, l->len - p, escape);
	return n && ab_row_has_break(l, escape, p, p + n);
}

/* The first escape within [from, to) that may be in a needle; `to`: none. */
static size_t next_escape(const struct ab_search *l, enum ab_escape escape, size_t from, size_t to)
{
	if (escape == AB_ESCAPE_WRAP)
		return next_wrap(l, from, to);
	while (from < to) {
		const uint8_t *p = memchr(l->s + from, ab_escape_mark(escape), to - from);

		if (!p)
			break;
		from = (size_t)(p - l->s);
		if (is_in_needle(l, escape, from))
			return from;
		from++;
	}
	return to;
}

/* `n` characters before `p`, none of them escaped, but not before `from`. */
static size_t go_back(const struct ab_search *l, size_t from, size_t p, size_t n)
{
	if (p - from <= n)
		return from;
	while (p > from && (n || ab_is_line_end(l->s[p - 1])))
		n -= !ab_is_line_end(l->s[--p]);
	return p;
}

static void free_stretch(struct stretch *st)
{
	if (st->s) {
		explicit_bzero(st->s, st->len);
		explicit_bzero(st->at, (st->len + 1) * sizeof(st->at[0]));
	}
	ab_free_all(st->s, st->at);
}

static void grow_stretch(struct stretch *st)
{
	struct stretch more = *st;

	more.room = 2 * st->room + AHEAD_MAX;
	more.s = ab_alloc(more.room);
	more.at = ab_alloc((more.room + 1) * sizeof(more.at[0]));
	if (st->len) {
		memcpy(more.s, st->s, st->len);
		memcpy(more.at, st->at, (st->len + 1) * sizeof(more.at[0]));
	}
	free_stretch(st);
	*st = more;
}

/* Decode up to `want` characters; false: there are fewer. */
static bool decode_stretch(struct stretch *st, size_t want)
{
	const uint8_t *s = st->l->s;
	size_t end = st->l->len, ahead = st->len, stop;
	uint8_t mark = ab_escape_mark(st->escape);

	if (want <= st->len)
		return true;
	if (ahead < AHEAD_MIN)
		ahead = AHEAD_MIN;
	stop = want + (ahead < AHEAD_MAX ? ahead : AHEAD_MAX);
	while (stop > st->room)
		grow_stretch(st);
	while (st->len < stop && st->next < end) {
		uint8_t c = s[st->next];
		unsigned n = 0;

		if (c == mark)
			n = ab_escape_read(s + st->next, end - st->next, st->escape, &c);
		if (ab_is_line_end(c)) {
			st->next += ab_line_break_read(s + st->next, end - st->next, st->escape);
			if (st->next == end)
				break;
			c = s[st->next];
			n = ab_escape_read(s + st->next, end - st->next, st->escape, &c);
		}
		st->at[st->len] = (uint32_t)(st->next - st->base);
		st->s[st->len++] = c;
		st->next += n ? n : 1;
	}
	st->at[st->len] = (uint32_t)(st->next - st->base);
	return want <= st->len;
}

/* Where character i ends. */
static size_t end_of_char(const struct stretch *st, size_t i)
{
	size_t at = st->base + st->at[i];
	uint8_t c;
	unsigned n = ab_escape_read(st->l->s + at, st->l->len - at, st->escape, &c);

	return at + (n ? n : 1);
}

/* Is a line break between, or after, the characters from i up to `end`? */
static bool has_line_break(const struct stretch *st, size_t i, size_t end)
{
	while (i < end && end_of_char(st, i) == st->base + st->at[i + 1])
		i++;
	return i < end;
}

/* Is the needle's core at character j? */
static bool match_core(struct stretch *st, size_t j, const struct ab_needle *needle)
{
	size_t k = AB_FIND_HEAD;

	while (k < needle->len) {
		size_t n = needle->len - k;

		if (!decode_stretch(st, j + 1))
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

/* Does the needle's head match exactly from `p` to `end`? */
static bool match_head(const struct ab_search *l, enum ab_escape escape, size_t p, size_t end,
		       const struct ab_needle *needle)
{
	for (size_t k = 0; k < AB_FIND_HEAD; k++) {
		int n;

		p = skip_line_break(l, escape, p, needle, k);
		n = p < end ? match_char(l->s + p, l->len - p, escape, needle->s[k]) : -1;
		if (n <= 0)
			return false;
		p += (size_t)n;
	}
	return p == end || skip_line_break(l, escape, p, needle, AB_FIND_HEAD) == end;
}

/* Try a needle whose core may be at character j and that begins before `to`. */
static void try_needle(struct stretch *st, size_t j, size_t to, const struct ab_needle *needle,
		       struct ab_found *best)
{
	size_t core, end, p = st->base, head = head_of(st->escape);
	size_t last = j + needle->len - AB_FIND_HEAD - 1;

	if (!match_core(st, j, needle) || (!ab_needle_wraps(needle) && has_line_break(st, j, last)))
		return;
	core = st->base + st->at[j];
	end = end_of_char(st, last);
	if (j > head)
		p += st->at[j - head];
	while (p < core && p < to && !match_head(st->l, st->escape, p, core, needle))
		p++;
	/* If it has the needle's length, it has no escapes. */
	if (p < core && p < to && end - p > needle->len)
		ab_find_keep(best, (struct ab_found){ .at = p,
						      .len = end - p,
						      .needle = needle,
						      .escape = st->escape });
}

/* The best match that begins between base and `to`; length 0: none. */
static struct ab_found search_stretch(struct stretch *st, size_t to)
{
	struct ab_found best = { 0 };
	const struct ab_finder *f = st->l->f;
	const struct ab_find_table *t = &f->cores;
	size_t j = 0, last = SIZE_MAX, head = head_of(st->escape);

	while (j <= last && decode_stretch(st, j + t->min)) {
		const uint8_t *pair = st->s + j + t->min - 2;
		unsigned h;

		if (j > head && st->base + st->at[j - head] >= to)
			break;
		if (!ab_find_is_known(t, pair)) {
			j += t->min - 1;
			continue;
		}
		h = ab_find_hash(pair);
		if (t->shift[h]) {
			j += t->shift[h];
			continue;
		}
		for (size_t i = 0; i < f->n; i++)
			if (ab_find_may_end(t, &f->v[i], h))
				try_needle(st, j, to, &f->v[i], &best);
		/* Another match may begin earlier and have a later core. */
		if (best.len && last == SIZE_MAX)
			last = j + head;
		j++;
	}
	return best;
}

/* Find matches with escapes that begin within [from, to); keep the best. */
static void find_escaped(const struct ab_search *l, enum ab_escape escape, size_t from, size_t to,
			 struct ab_found *best)
{
	struct stretch st = { .l = l, .escape = escape };
	/* Before the first escape there may be line breaks as they are. */
	size_t max = l->f->max, far = 2 * max, end = l->len - to > far ? to + far : l->len;
	struct ab_found found = { 0 };

	while (from < to && !found.len) {
		size_t p = next_escape(l, escape, from, end), next, step;

		if (p == end)
			break;
		from = go_back(l, from, p, max);
		if (from >= to)
			break;
		/* A match with this line break has begun. */
		step = ab_line_break_read(l->s + p, l->len - p, escape) ? 1 : STEP;
		next = p < to && to - p > step ? p + step : to;
		st.base = st.next = from;
		st.len = 0;
		found = search_stretch(&st, next);
		from = next;
	}
	if (found.len)
		ab_find_keep(best, found);
	free_stretch(&st);
}

/* Do the characters from j on agree with the needle from k on, and may more bytes complete it? The character
 * `cut` may be part of a cut-off escape. */
static bool core_may_match_later(const struct stretch *st, size_t j, size_t cut,
				 const struct ab_needle *needle, size_t k)
{
	const struct ab_search *l = st->l;
	bool wraps = ab_needle_wraps(needle);
	size_t n = st->len - j;

	if (j <= cut && cut < st->len && cut - j < needle->len - k) {
		size_t at = st->base + st->at[cut];

		n = cut - j;
		if ((ab_escape_is_cut(l->s + at, l->len - at, st->escape, needle->s[k + n]) ||
		     (wraps && ab_line_break_is_cut(l->s + at, l->len - at, st->escape))) &&
		    memcmp(st->s + j, needle->s + k, n) == 0)
			return wraps || !has_line_break(st, j, cut);
	}
	n = st->len - j;
	return n < needle->len - k && (!n || st->s[st->len - 1] == needle->s[k + n - 1]) &&
	       memcmp(st->s + j, needle->s + k, n) == 0 &&
	       (wraps || !has_line_break(st, j, st->len));
}

/* Could the needle begin at `p` if more bytes followed? Character j is the first
 * from there on; `cut` may be part of a cut-off escape. */
static bool may_match_later(const struct stretch *st, size_t p, size_t j, size_t cut,
			    const struct ab_needle *needle)
{
	const struct ab_search *l = st->l;

	for (size_t k = 0; k < AB_FIND_HEAD && p < l->len; k++) {
		int r;

		p = skip_line_break(l, st->escape, p, needle, k);
		if (p == l->len)
			return true;
		r = match_char(l->s + p, l->len - p, st->escape, needle->s[k]);
		if (r < 0 && k >= WRAP_MIN && ab_needle_wraps(needle))
			return ab_line_break_is_cut(l->s + p, l->len - p, st->escape);
		if (r <= 0)
			return r == 0;
		p += (size_t)r;
		if (p == l->len)
			return true;
	}
	p = skip_line_break(l, st->escape, p, needle, AB_FIND_HEAD);
	while (st->base + st->at[j] < p)
		j++;
	return st->base + st->at[j] == p && core_may_match_later(st, j, cut, needle, AB_FIND_HEAD);
}

/* The character at `p` as it is, and as an escape: the same if it is none. A cut-off escape may be of any. */
struct begin {
	uint8_t plain, escaped;
	bool any;
};

static struct begin read_begin(const struct ab_search *l, size_t p, enum ab_escape escape)
{
	struct begin b = { .plain = l->s[p], .escaped = l->s[p] };

	ab_escape_read(l->s + p, l->len - p, escape, &b.escaped);
	b.any = ab_escape_is_cut(l->s + p, l->len - p, escape, ab_escape_mark(escape));
	return b;
}

static size_t find_incomplete(const struct stretch *st)
{
	const struct ab_search *l = st->l;
	const struct ab_finder *f = l->f;
	size_t cut = st->len, j = 0;
	uint8_t mark = ab_escape_mark(st->escape);

	for (size_t i = st->len; i && i + AB_FIND_SPREAD > st->len && cut == st->len; i--) {
		size_t at = st->base + st->at[i - 1];

		if (ab_escape_is_cut(l->s + at, l->len - at, st->escape, mark))
			cut = i - 1;
	}
	for (size_t p = st->base; p < l->len; p++) {
		struct begin b = read_begin(l, p, st->escape);

		/* Nearly everywhere this is enough: the needles are many. */
		if (!b.any && !f->first[b.plain] && !f->first[b.escaped])
			continue;
		while (st->base + st->at[j] < p)
			j++;
		for (size_t i = 0; i < f->n; i++)
			if ((b.any || b.plain == f->v[i].s[0] || b.escaped == f->v[i].s[0]) &&
			    may_match_later(st, p, j, cut, &f->v[i]))
				return p;
	}
	return l->len;
}

/* Where the bytes at the end begin that may all be in such a match. */
static size_t find_tail(const struct ab_search *l, enum ab_escape escape)
{
	size_t from = l->len, far = l->f->max * AB_FIND_FAR, left = l->len - l->from;

	if (escape == AB_ESCAPE_WRAP)
		return ab_row_at_end(l);
	far = left < far ? left : far;
	while (l->len - from < far &&
	       (l->f->within[l->s[from - 1]] || ab_escape_uses(escape, l->s[from - 1]) ||
		ab_is_line_end(l->s[from - 1]))) {
		if (l->len - from == AB_FIND_FAR &&
		    !memchr(l->s + l->len - far, ab_escape_mark(escape), far))
			return l->len;
		from--;
	}
	return from;
}

/* As ab_search_hold(), but only for matches with escapes. */
static size_t hold_escaped(const struct ab_search *l, enum ab_escape escape)
{
	struct stretch st = { .l = l, .escape = escape };
	size_t from = find_tail(l, escape), first, hold;
	const uint8_t *p;

	if (escape == AB_ESCAPE_WRAP) {
		first = find_line_end(l, from, l->len);
	} else {
		p = from < l->len ? memchr(l->s + from, ab_escape_mark(escape), l->len - from)
				  : NULL;
		first = p ? (size_t)(p - l->s) : l->len;
	}
	if (first == l->len)
		return l->len;
	from = go_back(l, from, first, l->f->max);
	st.base = st.next = from;
	decode_stretch(&st, l->len - from);
	hold = find_incomplete(&st);
	free_stretch(&st);
	return hold;
}

/* Texts without escapes, and both together. */

/* The longest unescaped match at `at`. */
static bool match_plain(const struct ab_search *l, size_t at, unsigned h, struct ab_found *best)
{
	const struct ab_finder *f = l->f;

	for (size_t i = 0; i < f->n; i++) {
		const struct ab_needle *needle = &f->v[i];

		if (ab_find_may_end(&f->whole, needle, h) && needle->len <= l->len - at &&
		    memcmp(l->s + at, needle->s, needle->len) == 0)
			ab_find_keep(best, (struct ab_found){ .at = at,
							      .len = needle->len,
							      .needle = needle });
	}
	return best->len;
}

static const bool is_mark[256] = { ['%'] = true, ['\\'] = true, ['&'] = true };

/* The first mark of such an escape from `from` on; l->len: none. */
static size_t scan_marks(const struct ab_search *l, enum ab_escape escape, size_t from)
{
	const uint8_t *p;

	while ((p = memchr(l->s + from, ab_escape_mark(escape), l->len - from))) {
		from = (size_t)(p - l->s);
		if (escape != AB_ESCAPE_URL_TWICE ||
		    (l->len - from >= 3 && p[1] == '2' && p[2] == '5'))
			return from;
		from++;
	}
	return l->len;
}

/* The same, remembered: all questions together read the data about once. */
static size_t find_mark(struct ab_search *l, enum ab_escape escape, size_t from)
{
	struct ab_search_mark *mark = &l->marks[escape];

	if (from < mark->since || from > mark->at)
		*mark = (struct ab_search_mark){ from, scan_marks(l, escape, from) };
	return mark->at;
}

/* Longer ones are numbers of HTML with zeros. */
enum { USUAL_LONGEST = 8 };

/* Is the pair at `at` far behind the mark of an escape that may be in a needle? Then there is a zero before it. */
static bool is_in_long_escape(const struct ab_search *l, size_t at)
{
	uint8_t c;
	size_t p;

	if (at < USUAL_LONGEST || l->s[at - 5] != '0')
		return false;
	p = at;
	while (p > 0 && at - p < AB_ESCAPE_LONGEST && l->s[p] != '&')
		p--;
	return ab_escape_read(l->s + p, l->len - p, AB_ESCAPE_HTML, &c) &&
	       is_in_needle(l, AB_ESCAPE_HTML, p);
}

/* Is the pair at `at` in or next to an escape that may be in a needle? *mark: no mark is between the last
 * pair and there. */
static bool is_near_escape(struct ab_search *l, size_t at, size_t *mark)
{
	size_t far = at > AB_FIND_SPREAD ? at - AB_FIND_SPREAD : 0;
	size_t p = at > USUAL_LONGEST ? at - USUAL_LONGEST : 0;
	size_t url = find_mark(l, AB_ESCAPE_URL, p), html = find_mark(l, AB_ESCAPE_HTML, far);

	*mark = find_mark(l, AB_ESCAPE_BACKSLASH, p);
	*mark = *mark < url ? *mark : url;
	*mark = *mark < html ? *mark : html;
	if (*mark >= at + 2)
		return false;
	for (p = p < *mark ? *mark : p; p < at + 2; p++) {
		if (!is_mark[l->s[p]])
			continue;
		for (int e = AB_ESCAPE_NONE + 1; e < AB_ESCAPE_WRAP; e++)
			if (l->s[p] == ab_escape_mark((enum ab_escape)e) &&
			    is_in_needle(l, (enum ab_escape)e, p))
				return true;
	}
	return is_in_long_escape(l, at);
}

static inline bool has_line_end(const uint8_t *pair)
{
	return ab_is_line_end(pair[0]) || ab_is_line_end(pair[1]);
}

/* The first match without escapes that begins within [from, to). Matches with
 * escapes begin within [*ret_from, *ret_to). *ret_wrap: there may be some with line breaks only. */
static void find_plain(struct ab_search *l, size_t from, size_t to, struct ab_found *best,
		       size_t *ret_from, size_t *ret_to, bool *ret_wrap)
{
	const struct ab_find_table *t = &l->f->whole;
	size_t i = from, mark = 0, min = t->min;
	size_t end = l->len < min ? 0 : l->len - min + 1;

	end = end < to ? end : to;
	*ret_from = *ret_to = to;
	*ret_wrap = false;
	while (i < end) {
		size_t at = i + min - 2;
		bool known = ab_find_is_known(t, l->s + at);
		unsigned h;

		/* This step reads no memory, so the CPU can load the next pair
		 * before it knows this one. */
		if (!known && (mark >= at + 2 || !is_near_escape(l, at, &mark))) {
			i += min - 1;
			continue;
		}
		/* A line end is in no needle as it is, and here is nothing else. */
		if (known && has_line_end(l->s + at) && !is_near_escape(l, at, &mark) &&
		    mark >= at + 2 * AB_ROW_BESIDE &&
		    !ab_row_has_line_end(l, at + !ab_is_line_end(l->s[at]))) {
			i += min - 1;
			continue;
		}
		if (*ret_from == to)
			*ret_from = i;
		*ret_wrap = *ret_wrap || (known && ab_row_has_pair(l, at));
		*ret_to = at + 2 < to ? at + 2 : to;
		h = ab_find_hash(l->s + at);
		if (known && !t->shift[h] && match_plain(l, i, h, best))
			break;
		i += !known ? min - 1 : t->shift[h] ? t->shift[h] : 1u;
	}
	if (best->len)
		*ret_to = best->at + 1;
}

void ab_search_init(struct ab_search *l, const struct ab_finder *f, const void *data, size_t len)
{
	*l = (struct ab_search){ .f = f, .s = data, .len = len, .to = len };
	for (int e = AB_ESCAPE_NONE + 1; e < AB_ESCAPE_COUNT; e++)
		l->marks[e].since = SIZE_MAX;
}

/* Can a match with such escapes begin within [from, to)? */
static bool may_be_escaped(struct ab_search *l, enum ab_escape escape, size_t from, size_t to)
{
	/* Before the first "%25" there may be other escapes, and before any of them line breaks. */
	size_t far = l->f->max * (escape == AB_ESCAPE_URL_TWICE ? 5 : 2), next;

	if (from >= to)
		return false;
	next = find_mark(l, escape, from);
	return next < l->len && (next < to || next - to < far);
}

bool ab_search_next(struct ab_search *l, struct ab_found *ret)
{
	size_t size = BLOCK_MIN, from = l->from, to, first, last;
	struct ab_found best = { 0 };
	bool wrap;

	for (; from < l->to && !best.len; from = to) {
		to = l->to - from > size ? from + size : l->to;
		find_plain(l, from, to, &best, &first, &last, &wrap);
		for (int e = AB_ESCAPE_NONE + 1; e < AB_ESCAPE_WRAP; e++)
			if (may_be_escaped(l, (enum ab_escape)e, first, last))
				find_escaped(l, (enum ab_escape)e, first, last, &best);
		if (wrap)
			find_escaped(l, AB_ESCAPE_WRAP, first, last, &best);
		if (size < BLOCK_MAX)
			size *= 2;
	}
	if (!best.len)
		return false;
	l->from = best.at + best.len;
	*ret = best;
	return true;
}

bool ab_finder_find(const struct ab_finder *f, const void *data, size_t len, struct ab_found *ret)
{
	struct ab_search look;

	ab_search_init(&look, f, data, len);
	return ab_search_next(&look, ret);
}

/* The start of an incomplete match without escapes at the end. */
static size_t hold_plain(const struct ab_search *l)
{
	const struct ab_finder *f = l->f;
	size_t left = l->len - l->from;

	if (left > f->max)
		left = f->max;
	for (; left; left--) {
		const uint8_t *s = l->s + l->len - left;

		if (!f->first[s[0]] || (left > 1 && !ab_find_is_known(&f->whole, s)))
			continue;
		for (size_t i = 0; i < f->n; i++)
			if (left < f->v[i].len && f->v[i].s[left - 1] == s[left - 1] &&
			    memcmp(s, f->v[i].s, left) == 0)
				return l->len - left;
	}
	return l->len;
}

size_t ab_search_hold(const struct ab_search *l)
{
	size_t hold = hold_plain(l);

	for (int e = AB_ESCAPE_NONE + 1; e < AB_ESCAPE_COUNT; e++) {
		size_t at = hold_escaped(l, (enum ab_escape)e);

		if (at < hold)
			hold = at;
	}
	return hold;
}
