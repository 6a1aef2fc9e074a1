#pragma once
/* The threshold for denials (settings key `monitor`); the proxy has the others
 * (proxy/filter/budgets.h). Pure: facts in, alarms out, at most one a minute. */
#include "base/base.h"
#include "proxy/filter/budgets.h"

enum { AB_THRESHOLDS_WINDOW_S = 60 };

struct ab_thresholds {
	uint64_t denials; /* in a minute; 0: no threshold */
	enum ab_alarm action;

	/* The rest is its own; zero at first. */
	uint64_t denied[AB_THRESHOLDS_WINDOW_S]; /* denials in each of the last seconds */
	uint64_t second;			 /* the newest of them */
	uint64_t silent_until;			 /* no alarm before this second */
};

/* True: the threshold was crossed, and *ret says how. */
bool ab_thresholds_denied(struct ab_thresholds *thresholds, uint64_t now_ms, uint64_t n,
			  struct ab_threshold_alarm *ret);
