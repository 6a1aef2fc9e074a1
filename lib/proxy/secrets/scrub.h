#pragma once
/*
 * Replaces secret values in responses by their placeholders, cut or padded so
 * that no length changes, and crosses out signatures. It finds a value in every
 * form of search.h.
 *
 * It keeps no bytes between calls, so one scrub serves all connections to hosts
 * with the same secrets, for the whole run: a value that the vault gets is searched
 * for in the rest of every response that has begun, too. Bytes without values
 * cost one pass at about memchr speed.
 */
#include "base/base.h"

struct ab_vault;
struct ab_scrub;

/* For the current and former values of these secrets, a bit for each: the one of the list, or a new one. */
struct ab_scrub *ab_scrub_of(struct ab_scrub **list, const struct ab_vault *vault,
			     uint64_t secrets);
/* The vault has other values. */
void ab_scrubs_renew(struct ab_scrub *list);
void ab_scrubs_free(struct ab_scrub *list); /* wipes */

/*
 * Replace in place. Returns how many of the first bytes are final; the rest may
 * be the start of a value: pass it again, followed by the next bytes. With `end`
 * all are final. Do not pass final bytes again.
 */
size_t ab_scrub_take(struct ab_scrub *scrub, uint8_t *data, size_t len, bool end);
