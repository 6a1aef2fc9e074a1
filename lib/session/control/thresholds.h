#ifndef AB_SESSION_CONTROL_THRESHOLDS_H
#define AB_SESSION_CONTROL_THRESHOLDS_H
/*
 * The thresholds of a run (settings key `monitor`). Pure: facts in, alarms out.
 * Each threshold rings once, the one for denials once a minute.
 */
#include <stdbool.h>
#include <stdint.h>

#include "policy/model/policy.h"

struct ab_thresholds;

struct ab_alarm_rung {
	const char *threshold; /* "denialsPerMinute" */
	char host[256];	       /* of uploadPerHost; else "" */
	uint64_t value, limit;
	enum ab_alarm action;
};

struct ab_thresholds *ab_thresholds_new(const struct ab_policy *policy);
void ab_thresholds_free(struct ab_thresholds *monitor);

/* True: a threshold was crossed, and *ret says which. */
bool ab_thresholds_denied(struct ab_thresholds *monitor, uint64_t now_ms, uint64_t n,
			  struct ab_alarm_rung *ret);
bool ab_thresholds_sent(struct ab_thresholds *monitor, const char *host, uint64_t bytes,
			struct ab_alarm_rung *ret);
bool ab_thresholds_opened(struct ab_thresholds *monitor, const char *host,
			  struct ab_alarm_rung *ret);

extern const char *const ab_alarm_names[AB_ALARM_STOP + 1];
/* "400 requests were refused in a minute (monitor.denialsPerMinute 100)" */
void ab_alarm_text(const struct ab_alarm_rung *rung, char ret[400]);

#endif
