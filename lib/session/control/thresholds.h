#pragma once
/* The threshold for denials (settings key `monitor`); the proxy has the others
 * (proxy/filter/budgets.h). Pure: facts in, alarms out, at most one a minute. */
#include "base/base.h"
#include "proxy/filter/budgets.h"

struct ab_thresholds;

struct ab_thresholds *ab_thresholds_new(const struct ab_policy *policy);
void ab_thresholds_free(struct ab_thresholds *thresholds);

/* True: the threshold was crossed, and *ret says how. */
bool ab_thresholds_denied(struct ab_thresholds *thresholds, uint64_t now_ms, uint64_t n,
			  struct ab_threshold_alarm *ret);
