#pragma once
/*
 * Searches bytes for texts in several forms: as they are, in base64 (three
 * alignments, two alphabets; only the digits that depend on the text alone), in
 * hexadecimal digits (all small or all capital), in UTF-16 (both byte orders),
 * and each of these with any characters escaped in one of the ways of escapes.h.
 * Line breaks (CR LF, LF or CR, as they are or escaped in that way) may be
 * between digits of base64 and hexadecimal digits, after the first two; of a text
 * that is broken after its first digit the rest is found.
 *
 * The leftmost match wins, then the longest, then the text that was given first.
 * So it does not matter how the bytes are split, as long as those from
 * ab_search_hold() on are searched again.
 *
 * A text that itself contains an escape (a%41b) is found as it is, and with that
 * escape escaped (a%2541b), but not with only other characters escaped.
 *
 * Theory of operation. The search samples pairs of bytes, as far apart as the
 * shortest text permits, so that every match contains a sampled pair. If no text
 * contains the pair (Wu and Manber) and it is not part of an escape, the search
 * goes to the next pair. Else the texts that could end there are compared; and
 * if there are escapes nearby, that stretch is decoded, once per kind of escape,
 * and searched in the same way. So the time depends on the number of bytes, not
 * on the length of the texts. The blocks grow, so many matches cost no more than
 * few.
 */
#include "base/text/base64.h"
#include "proxy/secrets/escapes.h"

struct ab_vault;
struct ab_finder;

struct ab_find_text {
	const void *s; /* AB_SECRET_MIN bytes or more */
	size_t len;
	size_t owner; /* the caller's number for it */
};

enum ab_form {
	AB_FORM_PLAIN,
	AB_FORM_BASE64,
	AB_FORM_HEX,
	AB_FORM_UTF16, /* without the zero byte before or after it */
};

struct ab_needle {
	const uint8_t *s;
	size_t len;
	size_t owner;
	enum ab_form form;
	/* With base64: see ab_base64_core(). */
	unsigned align;
	enum ab_base64 alphabet;
	size_t group; /* position of its first digit in a group of four */
	bool upper;   /* with hex: the digits are capital letters */
	bool cut;     /* without its first digit, which is in another line */
};

/* May line breaks be between its characters? */
static inline bool ab_needle_wraps(const struct ab_needle *needle)
{
	return needle->form == AB_FORM_BASE64 || needle->form == AB_FORM_HEX;
}

struct ab_found {
	size_t at, len;
	const struct ab_needle *needle;
	enum ab_escape escape;
};

/* Copies the texts; NULL if there are none. */
struct ab_finder *ab_finder_new(const struct ab_find_text *texts, size_t n);
void ab_finder_free(struct ab_finder *f); /* wipes */
/* Write the text in the needle's form, and set `group`; returns the length. Needs a byte more with `cut`. */
size_t ab_needle_write(struct ab_needle *needle, const char *s, size_t len, uint8_t *ret);

/* No mark of this kind is within [since, at). */
struct ab_search_mark {
	size_t since, at;
};

struct ab_search {
	const struct ab_finder *f;
	const uint8_t *s;
	size_t len;
	size_t from; /* where to continue; may be set */
	size_t to;   /* matches must begin before this; may be set */
	struct ab_search_mark marks[AB_ESCAPE_COUNT];
};

void ab_search_init(struct ab_search *l, const struct ab_finder *f, const void *data, size_t len);
/* The next match; moves l->from past it. */
bool ab_search_next(struct ab_search *l, struct ab_found *ret);
/* The first match in these bytes; false: there is none. */
bool ab_finder_find(const struct ab_finder *f, const void *data, size_t len, struct ab_found *ret);
/* Where, from l->from on, an incomplete match may begin; the end of the bytes
 * if there is none. */
size_t ab_search_hold(const struct ab_search *l);

/* Was the text found as it is, neither escaped nor encoded? */
static inline bool ab_found_plain(const struct ab_found *f)
{
	return f->needle->form == AB_FORM_PLAIN && f->escape == AB_ESCAPE_NONE;
}

/* All placeholders drawn so far; NULL: none. */
const struct ab_finder *ab_vault_placeholders(const struct ab_vault *vault);
