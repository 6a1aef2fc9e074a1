#pragma once
/*
 * The tables of a search. Private to finder.c, which fills them, and search.c.
 */
#include "proxy/secrets/search.h"

enum {
	AB_FIND_HASHES = 4096,
	AB_FIND_SPREAD = AB_ESCAPE_LONGEST,
	/* The bytes of a character: an escape, and half of a line break of two. */
	AB_FIND_FAR = 2 * AB_ESCAPE_LONGEST,
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
	size_t min, max;	  /* lengths of needles */
	bool first[256];	  /* bytes that begin a needle */
	bool within[256];	  /* bytes in a needle */
	uint8_t joins[65536 / 8]; /* bit set: pairs that a line break may part */
	size_t joined;		  /* so many are in the shortest needle with such pairs */
	struct ab_find_table whole, cores;
	struct ab_needle v[];
};

static inline unsigned ab_find_hash(const uint8_t *pair)
{
	return (pair[0] ^ (unsigned)pair[1] << 4) & (AB_FIND_HASHES - 1);
}

static inline bool ab_find_has(const uint8_t *set, const uint8_t *s)
{
	uint16_t pair;

	memcpy(&pair, s, 2);
	return set[pair / 8] >> pair % 8 & 1;
}

static inline bool ab_find_is_known(const struct ab_find_table *t, const uint8_t *s)
{
	return ab_find_has(t->pairs, s);
}

/* Could the needle match if the table's window ends with this pair? */
static inline bool ab_find_may_end(const struct ab_find_table *t, const struct ab_needle *needle,
				   unsigned h)
{
	return ab_find_hash(needle->s + t->skip + t->min - 2) == h;
}

/* Replace *best (length 0: none) if the other match is better. */
static inline void ab_find_keep(struct ab_found *best, struct ab_found other)
{
	bool better = !best->len || other.at < best->at;

	if (best->len && other.at == best->at)
		better = other.len > best->len ||
			 (other.len == best->len && other.needle < best->needle);
	if (better)
		*best = other;
}
