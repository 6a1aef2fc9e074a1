#ifndef AB_PROXY_SECRETS_SCRUB_H
#define AB_PROXY_SECRETS_SCRUB_H
/*
 * What a server says back, searched for the values of secrets: each one
 * becomes its placeholder, cut or filled up to the same length, so that no
 * length ever changes. Found: the value as it is, percent-encoded, escaped
 * as in JSON, and in base64 (three alignments, both alphabets).
 *
 * It keeps nothing of what passes, so one serves all that goes to a host.
 *
 * Fast: one pass of memchr-like speed over bytes that hold nothing.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/values/host.h"

struct ab_vault;
struct ab_scrub;

/* For the values that are bound to this host, as they are now and as they last
 * were; NULL: there are none. */
struct ab_scrub *ab_scrub_new(const struct ab_vault *vault, const struct ab_host *host,
			      uint16_t port);
/* One more holder of the same; each gives it back. */
struct ab_scrub *ab_scrub_hold(struct ab_scrub *scrub);
void ab_scrub_free(struct ab_scrub *scrub); /* the last one wipes */

/*
 * Replace in place. Returns how many of the first bytes are final; the rest
 * might be the begin of a value, and must be given again, in front of what
 * comes next. With `end` all of them are final. Bytes that were final are not
 * given again.
 */
size_t ab_scrub_take(struct ab_scrub *scrub, uint8_t *data, size_t len, bool end);

#endif
