/*
 * The search finds what a slow and obvious one finds: at every place, in every way of escaping, each form
 * of each text, character by character.
 */
#include "proxy/secrets/search.h"

#include <stdio.h>
#include <string.h>

#include "proxy/secrets/finder.h"
#include "tap.h"

#ifdef AB_SANITIZED
enum { BODIES = 300 };
#else
enum { BODIES = 3000 };
#endif

static const char *const values[] = { "sk-one-3fK9vQ2mZx7Lw0TgYb5NdR8c", "short-value",
				      "0123+abc/DEF=ghi", "50%off-at-100%-or-so" };

static uint32_t state = 1;

static size_t draw(size_t below)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % below;
}

/* A line break where it may be, then the character; 0: it is not that. */
static size_t match_one(const uint8_t *s, size_t left, enum ab_escape escape, bool may_break,
			uint8_t want)
{
	size_t skipped = may_break && left ? ab_line_break_read(s, left, escape) : 0;
	uint8_t c;
	size_t n;

	if (skipped == left)
		return 0;
	n = ab_escape_read(s + skipped, left - skipped, escape, &c);
	if (n && c == want)
		return skipped + n;
	return s[skipped] == want ? skipped + 1 : 0;
}

static size_t match_slowly(const uint8_t *s, size_t left, enum ab_escape escape,
			   const struct ab_needle *needle)
{
	size_t at = 0;

	for (size_t k = 0; k < needle->len; k++) {
		size_t n;

		if (at == left)
			return 0;
		if (escape == AB_ESCAPE_NONE)
			n = s[at] == needle->s[k];
		else
			n = match_one(s + at, left - at, escape, k > 1 && ab_needle_wraps(needle),
				      needle->s[k]);
		if (!n)
			return 0;
		at += n;
	}
	return at;
}

static bool search_slowly(const struct ab_finder *f, const uint8_t *s, size_t len, size_t from,
			  struct ab_found *ret)
{
	const struct ab_needle *v = f->v;

	for (ret->len = 0; from < len && !ret->len; from++)
		for (int e = AB_ESCAPE_NONE; e < AB_ESCAPE_COUNT; e++)
			for (size_t i = 0; i < f->n; i++) {
				size_t m = match_slowly(s + from, len - from, (enum ab_escape)e,
							&v[i]);

				if (m > ret->len || (m && m == ret->len && &v[i] < ret->needle))
					*ret = (struct ab_found){ .at = from,
								  .len = m,
								  .needle = &v[i] };
			}
	return ret->len;
}

static size_t put_escaped(uint8_t *to, uint8_t c)
{
	static const char *const formats[] = { "%%%02x", "%%25%02X", "\\x%02x", "\\u%04X",
					       "&#%u;",	 "&#x%x;",   "&#%u",	"&#%09u;" };

	return (size_t)sprintf((char *)to, formats[draw(AB_COUNT(formats))], c);
}

/* A part of a needle, or all of it, with escapes and line breaks here and there or nowhere. */
static size_t put_needle(uint8_t *to, const struct ab_needle *needle)
{
	static const char *const breaks[] = { "\n", "\r\n", "\r", "\\n", "\\r\\n", "%0A", "&#10;" };
	const char *line_break = breaks[draw(AB_COUNT(breaks))];
	size_t first = draw(3) ? 0 : draw(needle->len), last = needle->len, n = 0;
	size_t escaped = draw(2) ? 0 : 1 + draw(20), broken = draw(2) ? 0 : 2 + draw(30);
	uint32_t before = state;

	if (draw(4) == 0)
		last = first + draw(last - first);
	for (size_t k = first; k < last; k++) {
		if (broken && k > first && (k - first) % broken == 0)
			n += (size_t)sprintf((char *)to + n, "%s", line_break);
		if (escaped && k % escaped == 0) {
			uint32_t now = state;

			state = before; /* all in one way */
			n += put_escaped(to + n, needle->s[k]);
			state = now;
		} else {
			to[n++] = needle->s[k];
		}
	}
	return n;
}

static size_t put_other(uint8_t *to)
{
	static const char *const words[] = { "\n", "\r\n",  "\n\n",  "\\n", "\\\"", "%",      "&",
					     "\\", "&amp;", " <p> ", "%25", "&#0",  "the end" };
	size_t n = 0;

	if (draw(2))
		return (size_t)sprintf((char *)to, "%s", words[draw(AB_COUNT(words))]);
	for (size_t left = draw(60); left; left--)
		to[n++] = (uint8_t)(draw(8) ? "abcdefghijklmnopqrstuvwxyzABCDEF0123456789+/-_"[draw(
						      46)]
					    : (int)draw(256));
	return n;
}

static size_t make_body(const struct ab_finder *f, uint8_t *to)
{
	size_t len = 0;

	for (size_t parts = 1 + draw(6); parts; parts--)
		len += draw(2) ? put_needle(to + len, &f->v[draw(f->n)]) : put_other(to + len);
	return len;
}

static bool is_same(const struct ab_found *a, const struct ab_found *b)
{
	return a->at == b->at && a->len == b->len && a->needle == b->needle;
}

static void print_body(const char *what, const uint8_t *s, size_t len)
{
	printf("# %s ", what);
	for (size_t i = 0; i < len; i++)
		printf(s[i] > 32 && s[i] < 127 ? "%c" : "<%02x>", s[i]);
	printf("\n");
}

/* Returns how many were found; -1: not the same. */
static int compare(const struct ab_finder *f, const uint8_t *s, size_t len)
{
	struct ab_search look;
	struct ab_found want, got;
	int found = 0;

	ab_search_init(&look, f, s, len);
	for (size_t from = 0; search_slowly(f, s, len, from, &want); from = want.at + want.len) {
		if (!ab_search_next(&look, &got) || !is_same(&got, &want)) {
			print_body("missed", s + want.at, want.len);
			print_body("in", s, len);
			return -1;
		}
		found++;
	}
	if (!ab_search_next(&look, &got))
		return found;
	print_body("found", s + got.at, got.len);
	print_body("in", s, len);
	return -1;
}

/* Is a match that goes over the end of the first `cut` bytes held? */
static bool holds(const struct ab_finder *f, const uint8_t *s, size_t len, size_t cut)
{
	struct ab_search look;
	struct ab_found want;

	for (size_t from = 0; search_slowly(f, s, len, from, &want); from = want.at + want.len) {
		if (want.at >= cut || want.at + want.len <= cut)
			continue;
		ab_search_init(&look, f, s, cut);
		look.from = from;
		if (ab_search_hold(&look) > want.at) {
			print_body("not held", s + want.at, want.len);
			print_body("in", s, cut);
			return false;
		}
	}
	return true;
}

static size_t steps;

unsigned __real_ab_escape_read(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t *ret);
unsigned __wrap_ab_escape_read(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t *ret);
unsigned __wrap_ab_escape_read(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t *ret)
{
	steps++;
	return __real_ab_escape_read(s, left, escape, ret);
}

bool __real_ab_escape_is_cut(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t c);
bool __wrap_ab_escape_is_cut(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t c);
bool __wrap_ab_escape_is_cut(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t c)
{
	steps++;
	return __real_ab_escape_is_cut(s, left, escape, c);
}

enum { PIECE = 16384 };

/* The looks at escapes in a body that repeats this text, with so many secrets. */
static size_t count_steps(const char *text, size_t nsecrets)
{
	enum { SECRET = 108 };
	static char secrets[20][SECRET];
	static uint8_t body[PIECE];
	struct ab_find_text texts[20];
	struct ab_finder *f;
	struct ab_search look;
	struct ab_found found;

	for (size_t i = 0; i < nsecrets; i++) {
		for (size_t k = 0; k < SECRET; k++)
			secrets[i][k] = (char)('A' + (i * 7 + k * 11 + i * k) % 26);
		texts[i] = (struct ab_find_text){ .s = secrets[i], .len = SECRET, .owner = i };
	}
	for (size_t i = 0; i < PIECE; i++)
		body[i] = (uint8_t)text[i % strlen(text)];
	f = ab_finder_new(texts, nsecrets);
	ab_search_init(&look, f, body, PIECE);
	steps = 0;
	look.to = ab_search_hold(&look);
	while (ab_search_next(&look, &found))
		;
	ab_finder_free(f);
	return steps;
}

/* A piece that a server cuts off costs some looks for each byte, and not one for each form of each secret. */
static void check_steps(void)
{
	static const char *const bodies[] = { "&", "%", "&#", "&amp;", "&#35;", "a&", "\\" };

	for (size_t i = 0; i < AB_COUNT(bodies); i++) {
		size_t one = count_steps(bodies[i], 1), many = count_steps(bodies[i], 20);

		ok(many <= (size_t)16 * PIECE, "of %s: %zu steps with one secret, %zu with twenty",
		   bodies[i], one, many);
	}
}

int main(void)
{
	struct ab_find_text texts[AB_COUNT(values)];
	size_t found = 0, bad = 0, lost = 0;
	struct ab_finder *f;

	for (size_t i = 0; i < AB_COUNT(values); i++)
		texts[i] = (struct ab_find_text){ .s = values[i],
						  .len = strlen(values[i]),
						  .owner = i };
	f = ab_finder_new(texts, AB_COUNT(values));
	for (int i = 0; i < BODIES; i++) {
		static uint8_t body[65536];
		size_t len = make_body(f, body);
		uint8_t *exact = ab_alloc(len + !len);
		int n;

		memcpy(exact, body, len);
		n = compare(f, exact, len);
		found += n > 0;
		bad += n < 0;
		if (len)
			lost += !holds(f, exact, len, draw(len));
		free(exact);
	}
	ok(found > BODIES / 5, "texts are found in %zu of %d bodies", found, BODIES);
	ok(!bad, "in each the same as a slow search finds");
	ok(!lost, "and one that is cut off is held");
	ab_finder_free(f);
	check_steps();
	return done();
}
