#include "session/control/thresholds.h"

enum { WINDOW_S = AB_THRESHOLDS_WINDOW_S };

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Forget the seconds that are more than a minute ago. If the clock went back, it counts as
 * stopped. */
static void move_window(struct ab_thresholds *m, uint64_t second)
{
	if (second > m->second + WINDOW_S)
		m->second = second - WINDOW_S;
	while (m->second < second)
		m->denied[++m->second % WINDOW_S] = 0;
}

bool ab_thresholds_denied(struct ab_thresholds *monitor, uint64_t now_ms, uint64_t n,
			  struct ab_threshold_alarm *ret)
{
	uint64_t sum = 0;

	if (!monitor->denials)
		return false;
	move_window(monitor, now_ms / 1000);
	monitor->denied[monitor->second % WINDOW_S] =
		add_capped(monitor->denied[monitor->second % WINDOW_S], n);
	for (size_t i = 0; i < WINDOW_S; i++)
		sum = add_capped(sum, monitor->denied[i]);
	if (sum <= monitor->denials || monitor->second < monitor->silent_until)
		return false;
	monitor->silent_until = monitor->second + WINDOW_S;
	*ret = (struct ab_threshold_alarm){ .threshold = "denialsPerMinute",
					    .value = sum,
					    .limit = monitor->denials,
					    .action = monitor->action };
	return true;
}
