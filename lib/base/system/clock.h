#ifndef AB_BASE_SYSTEM_CLOCK_H
#define AB_BASE_SYSTEM_CLOCK_H
/* Clocks in milliseconds. */
#include <stdint.h>
#include <time.h>

static inline int64_t ab_clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* For durations: this clock is never set, and stops while the machine is
 * suspended. */
static inline int64_t ab_now_ms(void)
{
	return ab_clock_ms(CLOCK_MONOTONIC);
}

#endif
