#pragma once
/*
 * Replaces secret values in responses by their placeholders, cut or padded so
 * that no length changes. It finds a value in every form of search.h.
 *
 * It keeps no bytes between calls, so one scrub serves all connections to a
 * host. Bytes without values cost one pass at about memchr speed.
 */
#include "policy/values/host.h"

struct ab_vault;
struct ab_scrub;

/* For the current and former values bound to this host; NULL: none. */
struct ab_scrub *ab_scrub_new(const struct ab_vault *vault, const struct ab_host *host,
			      uint16_t port);
/* Add a reference; ab_scrub_free drops one. */
struct ab_scrub *ab_scrub_hold(struct ab_scrub *scrub);
void ab_scrub_free(struct ab_scrub *scrub); /* the last one wipes */

/*
 * Replace in place. Returns how many of the first bytes are final; the rest may
 * be the start of a value: pass it again, followed by the next bytes. With `end`
 * all are final. Do not pass final bytes again.
 */
size_t ab_scrub_take(struct ab_scrub *scrub, uint8_t *data, size_t len, bool end);
