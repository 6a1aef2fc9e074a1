#ifndef AB_PROXY_VAULT_FIND_STATE_H
#define AB_PROXY_VAULT_FIND_STATE_H
/*
 * What the search for texts as they are and the one for texts with escapes
 * share; of vault_find*.c only.
 */
#include <string.h>

#include "proxy/vault_find.h"

enum {
	AB_FIND_HASHES = 4096,
	AB_FIND_SPREAD = 6, /* bytes of the longest escape */
	AB_FIND_HEAD = 5,   /* and of its tail, without the mark */
};

/* Needles without their first `skip` bytes; all have `min` more. */
struct ab_find_table {
	size_t skip, min;
	uint8_t pairs[65536 / 8];      /* which two bytes one has; bits */
	uint8_t shift[AB_FIND_HASHES]; /* how far on none can end behind such
					 * a pair */
};

struct ab_finder {
	size_t size; /* of the pages, this struct included */
	size_t n;
	size_t min, max;  /* lengths of needles */
	bool first[256];  /* with which one may begin */
	bool within[256]; /* that one has */
	struct ab_find_table whole, cores;
	struct ab_needle v[];
};

static inline unsigned ab_find_hash(const uint8_t *pair)
{
	return (pair[0] ^ (unsigned)pair[1] << 4) & (AB_FIND_HASHES - 1);
}

static inline bool ab_find_known(const struct ab_find_table *t, const uint8_t *s)
{
	uint16_t pair;

	memcpy(&pair, s, 2);
	return t->pairs[pair / 8] >> pair % 8 & 1;
}

/* Could a needle be where the table's window ends with this pair? */
static inline bool ab_find_ends(const struct ab_find_table *t, const struct ab_needle *needle,
				unsigned h)
{
	return ab_find_hash(needle->s + t->skip + t->min - 2) == h;
}

/* The other one if it is to be found rather than *best, which may be none (of
 * no length). */
static inline void ab_find_choose(struct ab_found *best, struct ab_found other)
{
	bool better = !best->len || other.at < best->at;

	if (best->len && other.at == best->at)
		better = other.len > best->len ||
			 (other.len == best->len && other.needle < best->needle);
	if (better)
		*best = other;
}

/* The escape at `s`: its length, and what it stands for; 0: there is none. */
unsigned ab_escape_read(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t *ret);

/* The first escape within [from, to) of a byte that is looked for; `to` if
 * there is none. */
size_t ab_escape_next(const struct ab_look *l, enum ab_escape escape, size_t from, size_t to);

/* The best of those with escapes that begin within [from, to), and *best. */
void ab_escaped_find(const struct ab_look *l, enum ab_escape escape, size_t from, size_t to,
		     struct ab_found *best);

/* As ab_look_hold(), for those with escapes alone. */
size_t ab_escaped_hold(const struct ab_look *l, enum ab_escape escape);

#endif
