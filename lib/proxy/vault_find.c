#include "proxy/vault_find.h"

#include <string.h>
#include <sys/types.h>

#include "proxy/vault_pages.h"

enum {
	HASHES = 4096,
	FORMS = 1 + 3 * 2,
	SPREAD = 6, /* bytes of the longest escape */
};

struct ab_finder {
	size_t size; /* of the pages, this struct included */
	size_t n;
	size_t min, max; /* lengths of needles */
	bool first[256]; /* with which one may begin */
	bool within[256]; /* that one has */
	uint8_t pairs[65536 / 8]; /* which two bytes one has; bits */
	uint8_t shift[HASHES]; /* how far on none can end behind such a pair */
	struct ab_needle v[];
};

static unsigned hash(const uint8_t *pair)
{
	return (pair[0] ^ (unsigned)pair[1] << 4) & (HASHES - 1);
}

static unsigned pair_at(const uint8_t *s)
{
	uint16_t pair;

	memcpy(&pair, s, 2);
	return pair;
}

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
static void add_needle(struct ab_finder *f, uint8_t **store,
		       struct ab_needle needle)
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

static void add_forms(struct ab_finder *f, uint8_t **store,
		      const struct ab_find_text *t)
{
	memcpy(*store, t->s, t->len);
	add_needle(f, store,
		   (struct ab_needle){ .len = t->len, .owner = t->owner });
	for (unsigned i = 0; i < 3 * 2; i++) {
		struct ab_needle needle = { .owner = t->owner,
					    .base64 = true,
					    .align = i % 3,
					    .alphabet = i / 3 };

		needle.len = ab_base64_core(t->s, t->len, needle.align,
					    needle.alphabet, (char *)*store,
					    &needle.group);
		add_needle(f, store, needle);
	}
}

static void fill_shifts(struct ab_finder *f)
{
	size_t farthest = f->min - 1 < UINT8_MAX ? f->min - 1 : UINT8_MAX;

	memset(f->shift, (int)farthest, sizeof(f->shift));
	for (size_t i = 0; i < f->n; i++) {
		const uint8_t *s = f->v[i].s;

		for (size_t k = 0; k + 2 <= f->min; k++) {
			size_t left = f->min - 2 - k;
			uint8_t *shift = &f->shift[hash(s + k)];
			unsigned pair = pair_at(s + k);

			f->pairs[pair / 8] |= (uint8_t)(1 << pair % 8);
			if (left < *shift)
				*shift = (uint8_t)left;
		}
	}
}

struct ab_finder *ab_finder_new(const struct ab_find_text *texts, size_t n)
{
	size_t size =
		sizeof(struct ab_finder) + n * FORMS * sizeof(struct ab_needle);
	size_t head = size;
	struct ab_finder *f;
	uint8_t *store;
	bool locked;

	if (!n)
		return NULL;
	for (size_t i = 0; i < n; i++)
		size += texts[i].len + 6 * AB_BASE64_ROOM(texts[i].len + 2);
	f = ab_pages_new(size, &locked);
	f->size = size;
	f->first['%'] = f->first['\\'] = true;
	store = (uint8_t *)f + head;
	for (size_t i = 0; i < n; i++)
		add_forms(f, &store, &texts[i]);
	fill_shifts(f);
	return f;
}

void ab_finder_free(struct ab_finder *f)
{
	if (f)
		ab_pages_free(f, f->size);
}

const struct ab_needle *ab_finder_needles(const struct ab_finder *f,
					  size_t *ret_len)
{
	*ret_len = f->n;
	return f->v;
}

static int hex(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `n` digits that say `value`: n; 0: they may, with more bytes; -1: no. */
static int match_hex(const uint8_t *s, size_t len, unsigned n, unsigned value)
{
	for (unsigned i = 0; i < n; i++) {
		if (i == len)
			return 0;
		if (hex(s[i]) != (int)(value >> 4 * (n - 1 - i) & 15))
			return -1;
	}
	return (int)n;
}

/* Does an escape of `c` begin here? Its length; 0: with more bytes it may; -1:
 * no. */
static int match_escape(const uint8_t *s, size_t len, enum ab_escape escape,
			uint8_t c)
{
	int r;

	if (s[0] != (escape == AB_ESCAPE_URL ? '%' : '\\'))
		return -1;
	if (len == 1)
		return 0;
	if (escape == AB_ESCAPE_URL) {
		r = match_hex(s + 1, len - 1, 2, c);
		return r > 0 ? 1 + r : r;
	}
	if (s[1] == 'u') {
		r = match_hex(s + 2, len - 2, 4, c);
		return r > 0 ? 2 + r : r;
	}
	return s[1] == c && (c == '"' || c == '\\' || c == '/') ? 2 : -1;
}

/* The needle from byte k on, of which an escape is here: the length of that;
 * 0: with more bytes it may be; -1: no. */
static ssize_t match_rest(const struct ab_needle *needle, size_t k,
			  const uint8_t *s, size_t len, enum ab_escape escape)
{
	size_t i = 0;
	int r = match_escape(s, len, escape, needle->s[k]);

	while (r > 0) {
		i += (size_t)r;
		if (++k == needle->len)
			return (ssize_t)i;
		if (i == len)
			return 0;
		r = match_escape(s + i, len - i, escape, needle->s[k]);
		if (r < 0 && s[i] == needle->s[k])
			r = 1;
	}
	return r;
}

/* The same for a needle that begins here and has at least one escape. */
static ssize_t match_escaped(const struct ab_needle *needle, const uint8_t *s,
			     size_t len, enum ab_escape escape)
{
	uint8_t mark = escape == AB_ESCAPE_URL ? '%' : '\\';
	ssize_t result = -1;

	for (size_t k = 0; k < needle->len && k < len; k++) {
		if (s[k] == mark) {
			ssize_t r =
				match_rest(needle, k, s + k, len - k, escape);

			if (r > 0)
				return (ssize_t)k + r;
			if (r == 0)
				result = 0;
		}
		if (s[k] != needle->s[k])
			return result;
	}
	return result;
}

static bool may_escape(const struct ab_needle *needle, uint8_t c)
{
	return c == needle->s[0] || c == '%' || c == '\\';
}

/* The longest that begins at `at`. */
static bool match_at(const struct ab_look *l, size_t at, struct ab_found *ret)
{
	const uint8_t *s = l->s + at;
	size_t left = l->len - at;
	size_t best = 0;

	if (!l->f->first[s[0]])
		return false;
	for (size_t i = 0; i < l->f->n; i++) {
		const struct ab_needle *needle = &l->f->v[i];

		if (!may_escape(needle, s[0]))
			continue;
		for (int escape = 0; escape < 3; escape++) {
			ssize_t r = -1;

			if (escape)
				r = match_escaped(needle, s, left,
						  (enum ab_escape)escape);
			else if (needle->len <= left &&
				 memcmp(s, needle->s, needle->len) == 0)
				r = (ssize_t)needle->len;
			if (r <= 0 || (size_t)r <= best)
				continue;
			best = (size_t)r;
			*ret = (struct ab_found){
				.at = at,
				.len = best,
				.needle = needle,
				.escape = (enum ab_escape)escape,
			};
		}
	}
	return best > 0;
}

/* Would one begin at `at` if more bytes came? */
static bool begins_at(const struct ab_look *l, size_t at)
{
	const uint8_t *s = l->s + at;
	size_t left = l->len - at;

	if (!l->f->first[s[0]])
		return false;
	for (size_t i = 0; i < l->f->n; i++) {
		const struct ab_needle *needle = &l->f->v[i];

		if (!may_escape(needle, s[0]))
			continue;
		if (left < needle->len && memcmp(s, needle->s, left) == 0)
			return true;
		if (match_escaped(needle, s, left, AB_ESCAPE_URL) == 0 ||
		    match_escaped(needle, s, left, AB_ESCAPE_JSON) == 0)
			return true;
	}
	return false;
}

static bool match_plain(const struct ab_finder *f, const uint8_t *s,
			size_t left, unsigned h)
{
	for (size_t i = 0; i < f->n; i++)
		if (hash(f->v[i].s + f->min - 2) == h && f->v[i].len <= left &&
		    memcmp(s, f->v[i].s, f->v[i].len) == 0)
			return true;
	return false;
}

/* What the escape at `p` stands for; -1: nothing that is looked for. */
static int decode(const struct ab_look *l, size_t p, enum ab_escape escape)
{
	const uint8_t *s = l->s + p;
	unsigned digits = 2, value = 0;
	size_t left = l->len - p - 1;

	s++;
	if (escape == AB_ESCAPE_JSON) {
		if (!left)
			return -1;
		if (s[0] == '"' || s[0] == '\\' || s[0] == '/')
			return s[0];
		if (s[0] != 'u')
			return -1;
		s++;
		left--;
		digits = 4;
	}
	if (left < digits)
		return -1;
	for (unsigned i = 0; i < digits; i++) {
		int h = hex(s[i]);

		if (h < 0)
			return -1;
		value = value << 4 | (unsigned)h;
	}
	return value < 256 ? (int)value : -1;
}

/* The leftmost begin of one whose first escape is at `p`. */
static size_t begin_of(const struct ab_look *l, size_t p, enum ab_escape escape)
{
	int c = decode(l, p, escape);
	size_t begin = l->len;

	if (c < 0 || !l->f->within[c])
		return begin;
	for (size_t i = 0; i < l->f->n; i++) {
		const struct ab_needle *needle = &l->f->v[i];
		size_t n = p - l->from + 1;
		const uint8_t *at;

		if (n > needle->len)
			n = needle->len;
		while ((at = memrchr(needle->s, c, n))) {
			size_t k = n = (size_t)(at - needle->s);

			if (p - k < begin &&
			    memcmp(l->s + p - k, needle->s, k) == 0 &&
			    match_rest(needle, k, l->s + p, l->len - p,
				       escape) > 0)
				begin = p - k;
		}
	}
	return begin;
}

/* Of those whose first escape is near: within reach of `at`, from *examined
 * on. */
static size_t find_escaped(const struct ab_look *l, size_t at,
			   enum ab_escape escape, size_t *examined)
{
	int mark = escape == AB_ESCAPE_URL ? '%' : '\\';
	size_t reach = l->f->max * SPREAD;
	size_t end = l->len - at > reach ? at + reach : l->len;
	size_t p = at > reach ? at - reach : 0, begin;

	if (p < *examined)
		p = *examined;
	while (p < end) {
		const uint8_t *next = memchr(l->s + p, mark, end - p);

		if (!next)
			break;
		p = (size_t)(next - l->s);
		begin = begin_of(l, p, escape);
		if (begin < l->len)
			return begin;
		p++;
	}
	*examined = end;
	return l->len;
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
	uint64_t eight;

	memcpy(&eight, l->s + at - SPREAD, sizeof(eight));
	if (!has_byte(eight, '%') && !has_byte(eight, '\\'))
		return false;
	for (size_t p = at - SPREAD; p < at + 2; p++) {
		int c = -1;

		if (l->s[p] == '%')
			c = decode(l, p, AB_ESCAPE_URL);
		else if (l->s[p] == '\\')
			c = decode(l, p, AB_ESCAPE_JSON);
		if (c >= 0 && l->f->within[c])
			return true;
	}
	return false;
}

/* A begin; there may be others up to twice the reach before it. */
static size_t find_some(const struct ab_look *l)
{
	const struct ab_finder *f = l->f;
	size_t examined[3] = { l->from, l->from, l->from };
	size_t i = l->from, begin;

	while (i <= l->len && l->len - i >= f->min) {
		size_t at = i + f->min - 2;
		unsigned pair = pair_at(l->s + at), h;
		bool known = f->pairs[pair / 8] >> pair % 8 & 1;

		/* A step that depends on no memory: the next pair is looked at
		 * before this one is known. */
		if (!known && !is_escape(l, at)) {
			i += f->min - 1;
			continue;
		}
		for (int e = AB_ESCAPE_URL; e <= AB_ESCAPE_JSON; e++) {
			begin = find_escaped(l, at, (enum ab_escape)e,
					     &examined[e]);
			if (begin < l->len)
				return begin;
		}
		h = hash(l->s + at);
		if (known && !f->shift[h] &&
		    match_plain(f, l->s + i, l->len - i, h))
			return i;
		i += f->shift[h] ? f->shift[h] : 1;
	}
	return l->len;
}

void ab_look_init(struct ab_look *l, const struct ab_finder *f,
		  const void *data, size_t len)
{
	*l = (struct ab_look){ .f = f, .s = data, .len = len };
}

bool ab_look_next(struct ab_look *l, struct ab_found *ret)
{
	size_t reach = 2 * SPREAD * l->f->max;
	size_t begin = find_some(l), at;

	if (begin >= l->len)
		return false;
	at = begin - l->from > reach ? begin - reach : l->from;
	while (!match_at(l, at, ret))
		at++;
	l->from = ret->at + ret->len;
	return true;
}

size_t ab_look_hold(const struct ab_look *l)
{
	size_t left = l->len - l->from;
	size_t near = left < l->f->max ? left : l->f->max;
	size_t far = left < l->f->max * SPREAD ? left : l->f->max * SPREAD;
	const uint8_t *end = l->s + l->len;

	/* Those that reach farther back have an escape. */
	if (far > near &&
	    (memchr(end - far, '%', far) || memchr(end - far, '\\', far)))
		near = far;
	for (size_t at = l->len - near; at < l->len; at++)
		if (begins_at(l, at))
			return at;
	return l->len;
}
