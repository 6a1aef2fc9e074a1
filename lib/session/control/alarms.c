/*
 * What the run was refused, as it happens, and the thresholds of `monitor`.
 */
#include <stdlib.h>
#include <string.h>

#include "audit/write/audit.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/clock.h"
#include "session/control/steering_state.h"
#include "session/control/violation_tap.h"

static void record(struct ab_steering *d, const struct ab_alarm_rung *rung)
{
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, d->setup.run_id, "monitor");
	ab_record_text(&line, "threshold", rung->threshold);
	ab_record_number(&line, "value", (int64_t)rung->value);
	ab_record_number(&line, "limit", (int64_t)rung->limit);
	ab_record_text(&line, "action", ab_alarm_names[rung->action]);
	ab_record_maybe(&line, "domain", rung->host);
	ab_steering_record(d, &line);
}

/* It was too much. */
static void ring(struct ab_steering *d, const struct ab_alarm_rung *rung)
{
	static const char *const does[] = {
		[AB_ALARM_WARN] = "",
		[AB_ALARM_HOLD] = "; the network is held",
		[AB_ALARM_CUT] = "; the network is cut",
		[AB_ALARM_STOP] = "; the run was ended",
	};
	struct ab_proxy *proxy = ab_steering_proxy(d);
	char text[400];

	record(d, rung);
	ab_alarm_text(rung, text);
	ab_steering_say(d, false, "%s%s", text, does[rung->action]);
	switch (rung->action) {
	case AB_ALARM_WARN:
		break;
	case AB_ALARM_HOLD:
		if (proxy)
			ab_proxy_hold(proxy, text);
		break;
	case AB_ALARM_CUT:
		if (proxy)
			ab_proxy_cut(proxy, text);
		break;
	case AB_ALARM_STOP:
		ab_fail(&d->failure, AB_EPROPERTY, 0, "%s: the run was ended", text);
		ab_hint(&d->failure, "what it did: agentbox log %s", d->setup.run_id);
		d->hands.fail(d->hands.arg, &d->failure);
	}
}

void ab_steering_violated(struct ab_source *source, uint32_t events)
{
	struct ab_steering *d = source->owner;
	struct ab_alarm_rung rung;
	char *line;

	(void)events;
	while ((line = ab_violations_take(d->setup.violations)) != NULL) {
		/* One that finds no room is in the record. */
		if (d->setup.hook)
			(void)ab_broker_violation(d->setup.broker, line, strlen(line));
		free(line);
		if (ab_thresholds_denied(d->monitor, ab_now_ms(), 1, &rung))
			ring(d, &rung);
	}
}

void ab_steering_sent(struct ab_steering *d, const char *host, uint64_t bytes)
{
	struct ab_alarm_rung rung;

	if (ab_thresholds_sent(d->monitor, host, bytes, &rung))
		ring(d, &rung);
}

void ab_steering_opened(struct ab_steering *d, const char *host)
{
	struct ab_alarm_rung rung;

	if (ab_thresholds_opened(d->monitor, host, &rung))
		ring(d, &rung);
}
