#pragma once
/* Clocks in nanoseconds and milliseconds, and times that are compared. */
#include "base/data/libc.h"

static inline int64_t ab_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t ab_clock_ms(clockid_t clock)
{
	return ab_clock_ns(clock) / 1000000;
}

/* For durations: this clock is never set, and stops while the machine is
 * suspended. */
static inline int64_t ab_now_ms(void)
{
	return ab_clock_ms(CLOCK_MONOTONIC);
}

static inline bool ab_time_later(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

static inline bool ab_time_same(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}
