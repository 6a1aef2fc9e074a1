#pragma once
/*
 * The AWS signatures that the proxy made in this run, to be found in answers. One is 64 digits, and known by
 * the last 16 of them. It is found as it is and with the escapes of escapes.h, and crossed out, all but the
 * first eight digits.
 *
 * A server accepts a date within 15 minutes of its own time. So one that it accepted once is valid for 30
 * minutes more at most, whatever the clocks show: older ones are forgotten when there are too many. The
 * signatures of chunks are not kept: each covers the one before it, and the first one that of the head, so they are
 * of no use without that.
 */
#include "base/base.h"

enum {
	AB_SIGNATURES_MOST = 1 << 20, /* made within this time: */
	AB_SIGNATURES_MS = 30 * 60 * 1000,
};

struct ab_signatures {
	uint64_t *names, *older; /* hash tables, the second one full; or NULL */
	size_t n, room;		 /* of `names` */
	uint64_t since;		 /* the first of them; loop time */
};

/* false: there are too many, so it must not be sent. `now`: loop time. */
bool ab_signatures_keep(struct ab_signatures *signatures, const char signature[65], uint64_t now);
void ab_signatures_fini(struct ab_signatures *signatures);
/* Cross them out. Returns how many of the first bytes are final, as ab_scrub_take(). */
size_t ab_signatures_cover(const struct ab_signatures *signatures, uint8_t *data, size_t len,
			   bool end);
