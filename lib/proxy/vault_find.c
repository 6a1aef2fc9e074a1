#include "proxy/vault_find.h"

#include <string.h>

#include "proxy/vault_find_state.h"
#include "proxy/vault_pages.h"

enum {
	FORMS = 1 + 3 * 2,
	/* Bytes that are searched for all kinds before the next ones are: what
	 * is found soon costs little. */
	BLOCK_MIN = 64,
	BLOCK_MAX = 2048,
	/* Of a text with escapes so much is decoded to see that it is none. */
	CORE_MAX = 64,
};

/* The same digits in both alphabets are one needle. */
static bool is_there(const struct ab_finder *f, const struct ab_needle *n)
{
	for (size_t i = f->n > FORMS ? f->n - FORMS : 0; i < f->n; i++)
		if (f->v[i].owner == n->owner && f->v[i].len == n->len &&
		    memcmp(f->v[i].s, n->s, n->len) == 0)
			return true;
	return false;
}

/* Its bytes are at *store already. */
static void add_needle(struct ab_finder *f, uint8_t **store, struct ab_needle needle)
{
	needle.s = *store;
	if (is_there(f, &needle))
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

static void add_forms(struct ab_finder *f, uint8_t **store, const struct ab_find_text *t)
{
	memcpy(*store, t->s, t->len);
	add_needle(f, store, (struct ab_needle){ .len = t->len, .owner = t->owner });
	for (unsigned i = 0; i < 3 * 2; i++) {
		struct ab_needle needle = {
			.owner = t->owner, .base64 = true, .align = i % 3, .alphabet = i / 3
		};

		needle.len = ab_base64_core(t->s, t->len, needle.align, needle.alphabet,
					    (char *)*store, &needle.group);
		add_needle(f, store, needle);
	}
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
			uint8_t *shift = &t->shift[ab_find_hash(s)];
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
		size += texts[i].len + 6 * AB_BASE64_ROOM(texts[i].len + 2);
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

/* The longest that is at `at`, as it is. */
static bool match_plain(const struct ab_look *l, size_t at, unsigned h, struct ab_found *best)
{
	const struct ab_finder *f = l->f;

	for (size_t i = 0; i < f->n; i++) {
		const struct ab_needle *needle = &f->v[i];

		if (ab_find_ends(&f->whole, needle, h) && needle->len <= l->len - at &&
		    memcmp(l->s + at, needle->s, needle->len) == 0)
			ab_find_choose(best, (struct ab_found){ .at = at,
								.len = needle->len,
								.needle = needle });
	}
	return best->len;
}

/* Any byte of the eight that is this one? */
static bool has_byte(uint64_t eight, uint8_t c)
{
	uint64_t v = eight ^ c * 0x0101010101010101u;

	return (v - 0x0101010101010101u) & ~v & 0x8080808080808080u;
}

/* Is the pair at `at` within an escape of something, or beside it? */
static bool is_escape(const struct ab_look *l, size_t at)
{
	size_t p = at - AB_FIND_SPREAD;
	uint64_t eight;
	uint8_t c;

	memcpy(&eight, l->s + p, sizeof(eight));
	if (!has_byte(eight, '%') && !has_byte(eight, '\\'))
		return false;
	for (; p < at + 2; p++) {
		enum ab_escape escape = l->s[p] == '%' ? AB_ESCAPE_URL : AB_ESCAPE_JSON;

		if (ab_escape_read(l->s + p, l->len - p, escape, &c) && l->f->within[c])
			return true;
	}
	return false;
}

/* The first that begins within [from, to) and has no escapes. Those that have
 * begin within [*ret_from, *ret_to). */
static void find_plain(const struct ab_look *l, size_t from, size_t to, struct ab_found *best,
		       size_t *ret_from, size_t *ret_to)
{
	const struct ab_find_table *t = &l->f->whole;
	size_t i = from;

	*ret_from = *ret_to = to;
	while (i < to && l->len - i >= t->min) {
		size_t at = i + t->min - 2;
		bool known = ab_find_known(t, l->s + at);
		unsigned h;

		/* A step that depends on no memory: the next pair is looked at
		 * before this one is known. */
		if (!known && !is_escape(l, at)) {
			i += t->min - 1;
			continue;
		}
		if (*ret_from == to)
			*ret_from = i;
		*ret_to = at + 2 < to ? at + 2 : to;
		h = ab_find_hash(l->s + at);
		if (known && !t->shift[h] && match_plain(l, i, h, best))
			break;
		i += !known ? t->min - 1 : t->shift[h] ? t->shift[h] : 1u;
	}
	if (best->len)
		*ret_to = best->at + 1;
}

void ab_look_init(struct ab_look *l, const struct ab_finder *f, const void *data, size_t len)
{
	*l = (struct ab_look){ .f = f, .s = data, .len = len, .to = len };
}

bool ab_look_next(struct ab_look *l, struct ab_found *ret)
{
	size_t size = BLOCK_MIN, from = l->from, to, first, last;
	struct ab_found best = { 0 };

	for (; from < l->to && !best.len; from = to) {
		to = l->to - from > size ? from + size : l->to;
		find_plain(l, from, to, &best, &first, &last);
		for (int e = AB_ESCAPE_URL; e <= AB_ESCAPE_JSON; e++)
			ab_escaped_find(l, (enum ab_escape)e, first, last, &best);
		if (size < BLOCK_MAX)
			size *= 2;
	}
	if (!best.len)
		return false;
	l->from = best.at + best.len;
	*ret = best;
	return true;
}

/* Where the bytes end with the begin of one, as it is. */
static size_t hold_plain(const struct ab_look *l)
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

size_t ab_look_hold(const struct ab_look *l)
{
	size_t hold = hold_plain(l);

	for (int e = AB_ESCAPE_URL; e <= AB_ESCAPE_JSON; e++) {
		size_t at = ab_escaped_hold(l, (enum ab_escape)e);

		if (at < hold)
			hold = at;
	}
	return hold;
}
