#pragma once
/*
 * A limit on events: so many at once, and so many per second. Pure.
 */
#include "base/data/libc.h"

struct ab_bucket {
	uint64_t left; /* thousandths of an event */
	uint64_t at;   /* milliseconds */
};

/* May there be one more? */
static inline bool ab_bucket_take(struct ab_bucket *b, uint64_t now, uint64_t most,
				  uint64_t per_second)
{
	b->left += (now - b->at) * per_second;
	b->at = now;
	if (b->left > most * 1000)
		b->left = most * 1000;
	if (b->left < 1000)
		return false;
	b->left -= 1000;
	return true;
}
