#pragma once
/*
 * How many bytes may still be sent to a host. All connections to the host take
 * from the same allowance before they send, so their number does not matter.
 */
#include "base/base.h"

#define AB_ALLOWANCE_ALL UINT64_MAX

struct ab_allowance {
	uint64_t left; /* AB_ALLOWANCE_ALL: no limit */
	uint64_t sent; /* counted even without a limit */
	/* These bytes count for it, too: the run's allowance; or NULL. */
	struct ab_allowance *wider;
	/* Nothing is left, and a connection has more to send. It may raise `left`. */
	void (*used_up)(struct ab_allowance *allowance);
};

/* How many of `want` bytes may be sent; they are taken away. */
static inline uint64_t ab_allowance_take(struct ab_allowance *a, uint64_t want)
{
	for (struct ab_allowance *one = a; one; one = one->wider) {
		if (want && !one->left)
			one->used_up(one);
		want = want < one->left ? want : one->left;
	}
	for (struct ab_allowance *one = a; one; one = one->wider)
		if (one->left != AB_ALLOWANCE_ALL)
			one->left -= want;
	return want;
}

/* These bytes were taken, and not sent. */
static inline void ab_allowance_return(struct ab_allowance *a, uint64_t n)
{
	for (; a; a = a->wider)
		if (a->left != AB_ALLOWANCE_ALL)
			a->left += n;
}

/* These bytes were taken, and sent. */
static inline void ab_allowance_sent(struct ab_allowance *a, uint64_t n)
{
	for (; a; a = a->wider)
		a->sent += n;
}
