/* The forms of texts, and the tables by which they are found. */
#include "proxy/secrets/finder.h"

#include "proxy/secrets/locked_pages.h"

static void add_pair(uint8_t *set, uint8_t a, uint8_t b)
{
	const uint8_t bytes[2] = { a, b };
	uint16_t pair;

	memcpy(&pair, bytes, 2);
	set[pair / 8] |= (uint8_t)(1 << pair % 8);
}

enum {
	FORMS = 1 + 2 * (3 * 2 + 2) + 1,
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
	for (size_t i = 0; ab_needle_wraps(&needle) && i + 1 < needle.len; i++)
		add_pair(f->joins, needle.s[i], needle.s[i + 1]);
	if (ab_needle_wraps(&needle) && needle.len - 1 < f->joined)
		f->joined = needle.len - 1;
	f->v[f->n++] = needle;
}

static size_t write_form(struct ab_needle *needle, const char *s, size_t len, uint8_t *ret)
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

size_t ab_needle_write(struct ab_needle *needle, const char *s, size_t len, uint8_t *ret)
{
	size_t n = write_form(needle, s, len, ret);

	if (!needle->cut)
		return n;
	needle->group = (needle->group + 1) % 4;
	memmove(ret, ret + 1, n - 1);
	return n - 1;
}

static void add_form(struct ab_finder *f, uint8_t **store, const struct ab_find_text *t,
		     struct ab_needle needle)
{
	needle.owner = t->owner;
	needle.len = ab_needle_write(&needle, t->s, t->len, *store);
	add_needle(f, store, needle);
}

static void add_wrapping(struct ab_finder *f, uint8_t **store, const struct ab_find_text *t,
			 bool cut)
{
	for (unsigned i = 0; i < 3 * 2; i++)
		add_form(f, store, t,
			 (struct ab_needle){ .form = AB_FORM_BASE64,
					     .align = i % 3,
					     .alphabet = i / 3,
					     .cut = cut });
	for (unsigned i = 0; i < 2; i++)
		add_form(f, store, t,
			 (struct ab_needle){ .form = AB_FORM_HEX, .upper = i, .cut = cut });
}

static void add_forms(struct ab_finder *f, uint8_t **store, const struct ab_find_text *t)
{
	add_form(f, store, t, (struct ab_needle){ .form = AB_FORM_PLAIN });
	add_wrapping(f, store, t, false);
	add_wrapping(f, store, t, true);
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
			uint8_t *shift = &t->shift[ab_find_hash(s)];

			add_pair(t->pairs, s[0], s[1]);
			if (left < *shift)
				*shift = (uint8_t)left;
		}
}

/* A line break may be wherever a digit is: its pairs are looked at. */
static void add_line_ends(struct ab_finder *f)
{
	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; ab_needle_wraps(&f->v[i]) && k < f->v[i].len; k++) {
			uint8_t c = f->v[i].s[k];

			add_pair(f->whole.pairs, c, '\r');
			add_pair(f->whole.pairs, c, '\n');
			add_pair(f->whole.pairs, '\r', c);
			add_pair(f->whole.pairs, '\n', c);
		}
	add_pair(f->whole.pairs, '\r', '\n');
}

struct ab_finder *ab_finder_new(const struct ab_find_text *texts, size_t n)
{
	size_t size = sizeof(struct ab_finder) + n * FORMS * sizeof(struct ab_needle);
	size_t head = size, core;
	struct ab_finder *f;
	uint8_t *store;

	if (!n)
		return NULL;
	for (size_t i = 0; i < n; i++)
		size += 12 * AB_BASE64_ROOM(texts[i].len + 2) + 11 * texts[i].len;
	f = ab_pages_new(size);
	f->size = size;
	f->joined = SIZE_MAX;
	store = (uint8_t *)f + head;
	for (size_t i = 0; i < n; i++)
		add_forms(f, &store, &texts[i]);
	fill_table(f, &f->whole, 0, f->min);
	add_line_ends(f);
	core = f->min - AB_FIND_HEAD;
	fill_table(f, &f->cores, AB_FIND_HEAD, core < CORE_MAX ? core : CORE_MAX);
	return f;
}

void ab_finder_free(struct ab_finder *f)
{
	if (f)
		ab_pages_free(f, f->size);
}
