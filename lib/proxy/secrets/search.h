#ifndef AB_PROXY_SECRETS_SEARCH_H
#define AB_PROXY_SECRETS_SEARCH_H
/*
 * Texts in bytes, in every form that they take on the way: as they are, in
 * base64 (three alignments, two alphabets; the digits that depend on them
 * alone), and each of these with any of its characters escaped as in URLs
 * (%41) or as in JSON (\u0041, \/).
 *
 * The leftmost is found, of those the longest, of those the first that was
 * given; so it does not matter how the bytes are cut as long as what
 * ab_look_hold() names is looked at again.
 *
 * A text that itself has what reads as an escape (a%41b) is found as it is, and
 * with that escaped (a%2541b); not with other characters escaped and that left.
 *
 * Theory of operation. Of the bytes every so many are looked at, two at a
 * time, as many apart as the shortest text permits; so whatever is there, two
 * of its bytes are met. If no text has such two (Wu and Manber), and they are
 * not of an escape, the next ones are. Else what could end there is compared;
 * and if there are escapes nearby, that stretch of the bytes is decoded, for
 * each kind of escapes once, and searched in the same way. So the time is that
 * of the bytes, however long the texts are. It is done in blocks that grow, so
 * that many findings cost no more than few.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/base64.h"

struct ab_vault;
struct ab_finder;

struct ab_find_text {
	const void *s; /* AB_SECRET_MIN bytes or more */
	size_t len;
	size_t owner; /* the caller's number for it */
};

struct ab_needle {
	const uint8_t *s;
	size_t len;
	size_t owner;
	bool base64;
	unsigned align; /* of base64: see ab_base64_core() */
	enum ab_base64 alphabet;
	size_t group; /* place of its first digit in a group */
};

enum ab_escape { AB_ESCAPE_NONE, AB_ESCAPE_URL, AB_ESCAPE_JSON };

struct ab_found {
	size_t at, len;
	const struct ab_needle *needle;
	enum ab_escape escape;
};

/* Copies the texts; NULL if there are none. */
struct ab_finder *ab_finder_new(const struct ab_find_text *texts, size_t n);
void ab_finder_free(struct ab_finder *f); /* wipes */
/* All forms of all texts. */
const struct ab_needle *ab_finder_needles(const struct ab_finder *f, size_t *ret_len);

struct ab_look {
	const struct ab_finder *f;
	const uint8_t *s;
	size_t len;
	size_t from; /* bytes before are done with; may be set */
	size_t to;   /* none is found that begins here or behind;
				 * may be set */
};

void ab_look_init(struct ab_look *l, const struct ab_finder *f, const void *data, size_t len);
/* The next one; l->from is then behind it. */
bool ab_look_next(struct ab_look *l, struct ab_found *ret);
/* Where, from l->from on, one begins that the bytes do not suffice for; their
 * end if there is none. */
size_t ab_look_hold(const struct ab_look *l);

/* Is the whole text what this form stands for? Its plain form. */
static inline bool ab_found_plain(const struct ab_found *f)
{
	return !f->needle->base64 && f->escape == AB_ESCAPE_NONE;
}

/* The placeholders that were drawn; NULL: none was. */
const struct ab_finder *ab_vault_placeholders(const struct ab_vault *vault);

#endif
