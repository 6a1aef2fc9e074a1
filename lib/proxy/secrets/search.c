#include "proxy/secrets/search.h"

#include <string.h>

#include "base/data/mem.h"
#include "proxy/secrets/locked_pages.h"

enum {
	AB_FIND_HASHES = 4096,
	AB_FIND_SPREAD = AB_ESCAPE_LONGEST,
	/* The longest escape without its mark, except for the long ones of
	 * HTML: the rest of the shortest text must have a pair. */
	AB_FIND_HEAD = 5,
};

/* Needles without their first `skip` bytes; each has at least `min` more. */
struct ab_find_table {
	size_t skip, min;
	uint8_t pairs[65536 / 8];      /* bit set: pairs that a needle contains */
	uint8_t shift[AB_FIND_HASHES]; /* by pair: how far the window may move */
};

struct ab_finder {
	size_t size; /* of the pages, this struct included */
	size_t n;
	size_t min, max;  /* lengths of needles */
	bool first[256];  /* bytes that begin a needle */
	bool within[256]; /* bytes in a needle */
	struct ab_find_table whole, cores;
	struct ab_needle v[];
};

static inline unsigned hash_pair(const uint8_t *pair)
{
	return (pair[0] ^ (unsigned)pair[1] << 4) & (AB_FIND_HASHES - 1);
}

static inline bool is_known(const struct ab_find_table *t, const uint8_t *s)
{
	uint16_t pair;

	memcpy(&pair, s, 2);
	return t->pairs[pair / 8] >> pair % 8 & 1;
}

/* Could the needle match if the table's window ends with this pair? */
static inline bool may_end_with(const struct ab_find_table *t, const struct ab_needle *needle,
				unsigned h)
{
	return hash_pair(needle->s + t->skip + t->min - 2) == h;
}

/* Replace *best (length 0: none) if the other match is better. */
static inline void keep_better(struct ab_found *best, struct ab_found other)
{
	bool better = !best->len || other.at < best->at;

	if (best->len && other.at == best->at)
		better = other.len > best->len ||
			 (other.len == best->len && other.needle < best->needle);
	if (better)
		*best = other;
}

/* The first escape within [from, to) of a byte in a needle; `to`: none. */
static size_t next_escape(const struct ab_search *l, enum ab_escape escape, size_t from, size_t to);

/* Find matches with escapes that begin within [from, to); keep the best. */
static void find_escaped(const struct ab_search *l, enum ab_escape escape, size_t from, size_t to,
			 struct ab_found *best);

/* As ab_search_hold(), but only for matches with escapes. */
static size_t hold_escaped(const struct ab_search *l, enum ab_escape escape);

enum {
	FORMS = 1 + 3 * 2 + 2 + 1,
	/* Each block is searched for all forms before the next, so an early
	 * match is cheap. */
	BLOCK_MIN = 64,
	BLOCK_MAX = 2048,
	/* At most so many characters are decoded to rule out a match. */
	CORE_MAX = 64,
};

/* Equal digits in both alphabets are one needle. */
static bool has_needle(const struct ab_finder *f, const struct ab_needle *n)
{
	for (size_t i = f->n > FORMS ? f->n - FORMS : 0; i < f->n; i++)
		if (f->v[i].owner == n->owner && f->v[i].len == n->len &&
		    memcmp(f->v[i].s, n->s, n->len) == 0)
			return true;
	return false;
}

/* Its bytes are already at *store. */
static void add_needle(struct ab_finder *f, uint8_t **store, struct ab_needle needle)
{
	needle.s = *store;
	if (has_needle(f, &needle))
		return;
	*store += needle.len;
	if (!f->n || needle.len < f->min)
		f->min = needle.len;
	if (needle.len > f->max)
		f->max = needle.len;
	f->first[needle.s[0]] = true;
	for (size_t i = 0; i < needle.len; i++)
		f->within[needle.s[i]] = true;
	f->v[f->n++] = needle;
}

size_t ab_needle_write(struct ab_needle *needle, const char *s, size_t len, uint8_t *ret)
{
	static const char digits[2][16 + 1] = { "0123456789abcdef", "0123456789ABCDEF" };

	switch (needle->form) {
	case AB_FORM_PLAIN:
		break;
	case AB_FORM_BASE64:
		return ab_base64_core(s, len, needle->align, needle->alphabet, (char *)ret,
				      &needle->group);
	case AB_FORM_HEX:
		for (size_t i = 0; i < len; i++) {
			*ret++ = (uint8_t)digits[needle->upper][(uint8_t)s[i] >> 4];
			*ret++ = (uint8_t)digits[needle->upper][(uint8_t)s[i] & 15];
		}
		return 2 * len;
	case AB_FORM_UTF16:
		for (size_t i = 0; i < len; i++) {
			ret[2 * i] = (uint8_t)s[i];
			if (i + 1 < len)
				ret[2 * i + 1] = 0;
		}
		return 2 * len - 1;
	}
	memcpy(ret, s, len);
	return len;
}

static void add_form(struct ab_finder *f, uint8_t **store, const struct ab_find_text *t,
		     struct ab_needle needle)
{
	needle.owner = t->owner;
	needle.len = ab_needle_write(&needle, t->s, t->len, *store);
	add_needle(f, store, needle);
}

static void add_forms(struct ab_finder *f, uint8_t **store, const struct ab_find_text *t)
{
	add_form(f, store, t, (struct ab_needle){ .form = AB_FORM_PLAIN });
	for (unsigned i = 0; i < 3 * 2; i++)
		add_form(f, store, t,
			 (struct ab_needle){
				 .form = AB_FORM_BASE64, .align = i % 3, .alphabet = i / 3 });
	for (unsigned i = 0; i < 2; i++)
		add_form(f, store, t, (struct ab_needle){ .form = AB_FORM_HEX, .upper = i });
	add_form(f, store, t, (struct ab_needle){ .form = AB_FORM_UTF16 });
}

static void fill_table(const struct ab_finder *f, struct ab_find_table *t, size_t skip, size_t min)
{
	size_t farthest;

	t->skip = skip;
	t->min = min;
	farthest = t->min - 1 < UINT8_MAX ? t->min - 1 : UINT8_MAX;
	memset(t->shift, (int)farthest, sizeof(t->shift));
	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; k + 2 <= t->min; k++) {
			const uint8_t *s = f->v[i].s + skip + k;
			size_t left = t->min - 2 - k;
			uint8_t *shift = &t->shift[hash_pair(s)];
			uint16_t pair;

			memcpy(&pair, s, 2);
			t->pairs[pair / 8] |= (uint8_t)(1 << pair % 8);
			if (left < *shift)
				*shift = (uint8_t)left;
		}
}

struct ab_finder *ab_finder_new(const struct ab_find_text *texts, size_t n)
{
	size_t size = sizeof(struct ab_finder) + n * FORMS * sizeof(struct ab_needle);
	size_t head = size, core;
	struct ab_finder *f;
	uint8_t *store;
	bool locked;

	if (!n)
		return NULL;
	for (size_t i = 0; i < n; i++)
		size += texts[i].len + 6 * AB_BASE64_ROOM(texts[i].len + 2) + 6 * texts[i].len;
	f = ab_pages_new(size, &locked);
	f->size = size;
	store = (uint8_t *)f + head;
	for (size_t i = 0; i < n; i++)
		add_forms(f, &store, &texts[i]);
	fill_table(f, &f->whole, 0, f->min);
	core = f->min - AB_FIND_HEAD;
	fill_table(f, &f->cores, AB_FIND_HEAD, core < CORE_MAX ? core : CORE_MAX);
	return f;
}

void ab_finder_free(struct ab_finder *f)
{
	if (f)
		ab_pages_free(f, f->size);
}

const struct ab_needle *ab_finder_needles(const struct ab_finder *f, size_t *ret_len)
{
	*ret_len = f->n;
	return f->v;
}

/* The longest unescaped match at `at`. */
static bool match_plain(const struct ab_search *l, size_t at, unsigned h, struct ab_found *best)
{
	const struct ab_finder *f = l->f;

	for (size_t i = 0; i < f->n; i++) {
		const struct ab_needle *needle = &f->v[i];

		if (may_end_with(&f->whole, needle, h) && needle->len <= l->len - at &&
		    memcmp(l->s + at, needle->s, needle->len) == 0)
			keep_better(best, (struct ab_found){
						  .at = at, .len = needle->len, .needle = needle });
	}
	return best->len;
}

typedef uint8_t lanes __attribute__((vector_size(16)));

static inline bool is_mark(uint8_t c)
{
	return c == '%' || c == '\\' || c == '&';
}

static inline lanes mark_lanes(const uint8_t *s)
{
	lanes v;

	memcpy(&v, s, sizeof(v));
	return (lanes)((v == (uint8_t)'%') | (v == (uint8_t)'\\') | (v == (uint8_t)'&'));
}

/* The first mark of an escape of any kind within [from, to); `to`: none. */
static size_t find_any_mark(const uint8_t *s, size_t from, size_t to)
{
	enum { STRIDE = 4 * sizeof(lanes) };

	for (; to - from >= STRIDE; from += STRIDE) {
		const uint8_t *p = s + from;
		lanes all = mark_lanes(p) | mark_lanes(p + sizeof(lanes)) |
			    mark_lanes(p + 2 * sizeof(lanes)) | mark_lanes(p + 3 * sizeof(lanes));
		uint64_t halves[2];

		memcpy(halves, &all, sizeof(halves));
		if (halves[0] | halves[1])
			break;
	}
	while (from < to && !is_mark(s[from]))
		from++;
	return from;
}

/* Is the pair at `at` in or next to an escape of a byte in a needle? *mark is the first mark from
 * there on or from an earlier place on; l->len: none. */
static bool is_near_escape(const struct ab_search *l, size_t at, size_t *mark)
{
	size_t p = at > AB_FIND_SPREAD ? at - AB_FIND_SPREAD : 0;
	uint8_t c;

	if (*mark < p)
		*mark = find_any_mark(l->s, p, l->len);
	for (p = *mark; p < at + 2; p++) {
		if (!is_mark(l->s[p]))
			continue;
		for (int e = AB_ESCAPE_NONE + 1; e < AB_ESCAPE_COUNT; e++)
			if (ab_escape_read(l->s + p, l->len - p, (enum ab_escape)e, &c) &&
			    l->f->within[c])
				return true;
	}
	return false;
}

/* The first match without escapes that begins within [from, to). Matches with
 * escapes begin within [*ret_from, *ret_to). */
static void find_plain(const struct ab_search *l, size_t from, size_t to, size_t *mark,
		       struct ab_found *best, size_t *ret_from, size_t *ret_to)
{
	const struct ab_find_table *t = &l->f->whole;
	size_t i = from;

	*ret_from = *ret_to = to;
	while (i < to && l->len - i >= t->min) {
		size_t at = i + t->min - 2;
		bool known = is_known(t, l->s + at);
		unsigned h;

		/* This step reads no memory, so the CPU can load the next pair
		 * before it knows this one. */
		if (!known && !is_near_escape(l, at, mark)) {
			i += t->min - 1;
			continue;
		}
		if (*ret_from == to)
			*ret_from = i;
		*ret_to = at + 2 < to ? at + 2 : to;
		h = hash_pair(l->s + at);
		if (known && !t->shift[h] && match_plain(l, i, h, best))
			break;
		i += !known ? t->min - 1 : t->shift[h] ? t->shift[h] : 1u;
	}
	if (best->len)
		*ret_to = best->at + 1;
}

void ab_search_init(struct ab_search *l, const struct ab_finder *f, const void *data, size_t len)
{
	*l = (struct ab_search){ .f = f, .s = data, .len = len, .to = len };
	for (int e = AB_ESCAPE_NONE + 1; e < AB_ESCAPE_COUNT; e++)
		l->next[e] = SIZE_MAX;
}

/* The first mark of such an escape from `from` on; l->len: none. */
static size_t find_mark(const struct ab_search *l, enum ab_escape escape, size_t from)
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

/* Can a match with such escapes begin within [from, to)? The place of the next
 * one is kept, so all questions together read the data once. */
static bool may_be_escaped(struct ab_search *l, enum ab_escape escape, size_t from, size_t to)
{
	/* Before the first "%25" there may be other escapes. */
	size_t far = l->f->max * (escape == AB_ESCAPE_URL_TWICE ? 5 : 1);
	size_t *next = &l->next[escape];

	if (from >= to)
		return false;
	if (*next == SIZE_MAX || *next < from)
		*next = find_mark(l, escape, from);
	return *next < l->len && (*next < to || *next - to < far);
}

bool ab_search_next(struct ab_search *l, struct ab_found *ret)
{
	size_t size = BLOCK_MIN, from = l->from, mark = 0, to, first, last;
	struct ab_found best = { 0 };

	for (; from < l->to && !best.len; from = to) {
		to = l->to - from > size ? from + size : l->to;
		find_plain(l, from, to, &mark, &best, &first, &last);
		for (int e = AB_ESCAPE_NONE + 1; e < AB_ESCAPE_COUNT; e++)
			if (may_be_escaped(l, (enum ab_escape)e, first, last))
				find_escaped(l, (enum ab_escape)e, first, last, &best);
		if (size < BLOCK_MAX)
			size *= 2;
	}
	if (!best.len)
		return false;
	l->from = best.at + best.len;
	*ret = best;
	return true;
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

		for (size_t i = 0; f->first[s[0]] && i < f->n; i++)
			if (left < f->v[i].len && f->v[i].s[left - 1] == s[left - 1] &&
			    memcmp(s, f->v[i].s, left) == 0)
				return l->len - left;
	}
	return l->len;
}

size_t ab_search_hold(const struct ab_search *l)
{
	size_t hold = hold_plain(l), far = l->f->max * AB_FIND_SPREAD, left = l->len - l->from;

	if (find_any_mark(l->s, l->len - (left < far ? left : far), l->len) == l->len)
		return hold;
	for (int e = AB_ESCAPE_NONE + 1; e < AB_ESCAPE_COUNT; e++) {
		size_t at = hold_escaped(l, (enum ab_escape)e);

		if (at < hold)
			hold = at;
	}
	return hold;
}

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
	return escape == AB_ESCAPE_BACKSLASH ? AB_FIND_HEAD + AB_FIND_SPREAD : AB_FIND_HEAD;
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

static size_t next_escape(const struct ab_search *l, enum ab_escape escape, size_t from, size_t to)
{
	uint8_t c;

	while (from < to) {
		const uint8_t *p = memchr(l->s + from, ab_escape_mark(escape), to - from);

		if (!p)
			break;
		from = (size_t)(p - l->s);
		if (ab_escape_read(p, l->len - from, escape, &c) && l->f->within[c])
			return from;
		from++;
	}
	return to;
}

static void free_stretch(struct stretch *st)
{
	if (st->s) {
		explicit_bzero(st->s, st->len);
		explicit_bzero(st->at, (st->len + 1) * sizeof(st->at[0]));
	}
	free(st->s);
	free(st->at);
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
		int n = p < end ? match_char(l->s + p, l->len - p, escape, needle->s[k]) : -1;

		if (n <= 0)
			return false;
		p += (size_t)n;
	}
	return p == end;
}

/* Try a needle whose core may be at character j and that begins before `to`. */
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
	/* If it has the needle's length, it has no escapes. */
	if (p < core && p < to && end - p > needle->len)
		keep_better(best, (struct ab_found){ .at = p,
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
		if (!is_known(t, pair)) {
			j += t->min - 1;
			continue;
		}
		h = hash_pair(pair);
		if (t->shift[h]) {
			j += t->shift[h];
			continue;
		}
		for (size_t i = 0; i < f->n; i++)
			if (may_end_with(t, &f->v[i], h))
				try_needle(st, j, to, &f->v[i], &best);
		/* Another match may begin earlier and have a later core. */
		if (best.len && last == SIZE_MAX)
			last = j + head;
		j++;
	}
	return best;
}

static void find_escaped(const struct ab_search *l, enum ab_escape escape, size_t from, size_t to,
			 struct ab_found *best)
{
	struct stretch st = { .l = l, .escape = escape };
	size_t max = l->f->max, end = l->len - to > max ? to + max : l->len;
	struct ab_found found = { 0 };

	while (from < to && !found.len) {
		size_t p = next_escape(l, escape, from, end), next;

		if (p - from > max)
			from = p - max;
		if (p == end || from >= to)
			break;
		next = p < to && to - p > STEP ? p + STEP : to;
		st.base = st.next = from;
		st.len = 0;
		found = search_stretch(&st, next);
		from = next;
	}
	if (found.len)
		keep_better(best, found);
	free_stretch(&st);
}

/* Could the needle begin at `p` if more bytes followed? Character j is the first
 * from there on; `cut` may be part of a cut-off escape. */
static bool may_match_later(const struct stretch *st, size_t p, size_t j, size_t cut,
			    const struct ab_needle *needle)
{
	const struct ab_search *l = st->l;
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
		if (ab_escape_is_cut(l->s + at, l->len - at, st->escape, needle->s[k + n]) &&
		    memcmp(st->s + j, needle->s + k, n) == 0)
			return true;
	}
	n = st->len - j;
	return n < needle->len - k && (!n || st->s[st->len - 1] == needle->s[k + n - 1]) &&
	       memcmp(st->s + j, needle->s + k, n) == 0;
}

static bool may_begin(const struct ab_search *l, size_t p, enum ab_escape escape)
{
	uint8_t c = l->s[p];

	if (l->f->first[c])
		return true;
	/* A cut-off escape may be of any character. */
	return c == ab_escape_mark(escape) &&
	       (!ab_escape_read(l->s + p, l->len - p, escape, &c) || l->f->first[c]);
}

static size_t find_incomplete(const struct stretch *st)
{
	const struct ab_search *l = st->l;
	const struct ab_finder *f = l->f;
	size_t cut = st->len, j = 0;

	for (size_t i = st->len; i && i + AB_FIND_SPREAD > st->len; i--)
		if (l->s[st->base + st->at[i - 1]] == ab_escape_mark(st->escape) &&
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
			if (may_match_later(st, p, j, cut, &f->v[i]))
				return p;
	}
	return l->len;
}

static size_t hold_escaped(const struct ab_search *l, enum ab_escape escape)
{
	struct stretch st = { .l = l, .escape = escape };
	size_t left = l->len - l->from, max = l->f->max, from = l->len, hold;
	const uint8_t *p;

	if (left > max * AB_FIND_SPREAD)
		left = max * AB_FIND_SPREAD;
	while (left && (l->f->within[l->s[from - 1]] || ab_escape_uses(escape, l->s[from - 1]))) {
		left--;
		from--;
	}
	p = from < l->len ? memchr(l->s + from, ab_escape_mark(escape), l->len - from) : NULL;
	if (!p)
		return l->len;
	if ((size_t)(p - l->s) - from > max)
		from = (size_t)(p - l->s) - max;
	st.base = st.next = from;
	decode_stretch(&st, l->len - from);
	hold = find_incomplete(&st);
	free_stretch(&st);
	return hold;
}
