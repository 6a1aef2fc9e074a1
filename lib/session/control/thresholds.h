#ifndef AB_SESSION_CONTROL_THRESHOLDS_H
#define AB_SESSION_CONTROL_THRESHOLDS_H
/* The thresholds of a run (settings key `monitor`). Pure: facts in, alarms out. Each threshold
 * raises one alarm, the one for denials at most one a minute. */
#include <stdbool.h>
#include <stdint.h>

#include "policy/model/policy.h"

struct ab_thresholds;

struct ab_threshold_alarm {
	const char *threshold; /* "denialsPerMinute" */
	char host[256];	       /* for uploadPerHost; else "" */
	uint64_t value, limit;
	enum ab_alarm action;
};

struct ab_thresholds *ab_thresholds_new(const struct ab_policy *policy);
void ab_thresholds_free(struct ab_thresholds *thresholds);

/* True: a threshold was crossed, and *ret says which. */
bool ab_thresholds_denied(struct ab_thresholds *thresholds, uint64_t now_ms, uint64_t n,
			  struct ab_threshold_alarm *ret);
bool ab_thresholds_sent(struct ab_thresholds *thresholds, const char *host, uint64_t bytes,
			struct ab_threshold_alarm *ret);
bool ab_thresholds_opened(struct ab_thresholds *thresholds, const char *host,
			  struct ab_threshold_alarm *ret);

extern const char *const ab_alarm_names[AB_ALARM_STOP + 1];
/* "400 accesses were denied in a minute (monitor.denialsPerMinute 100)" */
void ab_alarm_text(const struct ab_threshold_alarm *alarm, char ret[400]);

#endif
