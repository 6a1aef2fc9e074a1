#pragma once
/*
 * How many boxes a pool keeps. A box that does not fit when its run begins has cost two starts, so a pool
 * whose boxes mostly do not fit steps back: for some runs it keeps none, then one to try, then all, or none
 * for twice as many runs.
 *
 * Pure: it counts runs, and knows no time. All zero: a new pool.
 */
#include "base/base.h"

struct ab_pool_pace {
	uint8_t fates;	 /* of the last boxes, the newest in bit 0; 1: it did not fit */
	unsigned nfates; /* so many are known */
	unsigned rest; /* runs that it stepped back for the last time; 0: never since it went well */
	unsigned left; /* of them */
	bool tries;    /* one box */
};

/* Of `size` boxes. */
size_t ab_pool_pace_boxes(const struct ab_pool_pace *pace, size_t size);
/* A run has begun that had taken a box: did it fit? True: the pool steps back. */
bool ab_pool_pace_box(struct ab_pool_pace *pace, bool fits);
/* A run has begun that had none. */
void ab_pool_pace_run(struct ab_pool_pace *pace);
