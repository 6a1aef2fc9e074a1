#pragma once
/*
 * What a run may send and how many hosts it may contact (settings key
 * `monitor`). The limits are exact: what would exceed one is not sent, unless
 * the action is to warn. Each limit raises one alarm.
 *
 * Pure: no I/O. The box chooses the names of hosts, so memory is bounded: all
 * hosts after the first AB_BUDGET_HOSTS share one allowance, which raises an
 * alarm sooner, never later.
 */
#include "policy/model/policy.h"
#include "proxy/io/allowance.h"

enum { AB_BUDGET_HOSTS = 4096 };

struct ab_threshold_alarm {
	const char *threshold; /* "uploadPerHost" */
	char host[256];	       /* for uploadPerHost; else "" */
	uint64_t value, limit;
	enum ab_alarm action;
};

extern const char *const ab_alarm_names[AB_ALARM_STOP + 1];
/* "1M were sent to x.y (monitor.uploadPerHost 1M)" */
enum { AB_ALARM_ROOM = 400 };
void ab_alarm_text(const struct ab_threshold_alarm *alarm, char ret[AB_ALARM_ROOM]);
/* The members of its record. */
void ab_alarm_members(const struct ab_threshold_alarm *alarm, struct ab_buf *line);

struct ab_budgets;

/* NULL: the policy has no such limit. `crossed` is called when a limit would be
 * exceeded; it must not send, and not free the budgets. */
struct ab_budgets *
ab_budgets_new(const struct ab_policy *policy,
	       void (*crossed)(void *arg, const struct ab_threshold_alarm *alarm), void *arg);
void ab_budgets_free(struct ab_budgets *budgets);

/* What may be sent to this host, for as long as the budgets exist. NULL: there
 * is no limit (`budgets` may be NULL). */
struct ab_allowance *ab_budgets_allowance(struct ab_budgets *budgets, const char *host);
/* May this host be contacted? It counts from now on. */
bool ab_budgets_admit(struct ab_budgets *budgets, const char *host);
/* A person has let the run continue: limits that were reached end. */
void ab_budgets_lift(struct ab_budgets *budgets);
