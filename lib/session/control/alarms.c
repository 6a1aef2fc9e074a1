/* The run's denials as they happen, and the thresholds of `monitor`. */
#include "audit/read/details.h"
#include "audit/read/find.h"
#include "audit/write/audit.h"
#include "session/control/steering_state.h"
#include "session/control/violation_tap.h"

static void record_alarm(struct ab_steering *s, const struct ab_threshold_alarm *alarm)
{
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, s->setup.run_id, "monitor");
	ab_alarm_members(alarm, &line);
	ab_steering_record(s, &line);
}

static void say_alarm(struct ab_steering *s, const struct ab_threshold_alarm *alarm,
		      const char *text)
{
	static const char *const does[] = {
		[AB_ALARM_WARN] = "",
		[AB_ALARM_HOLD] = "; the network is paused",
		[AB_ALARM_CUT] = "; the network is cut",
		[AB_ALARM_STOP] = "; the run was ended",
	};

	ab_steering_say(s, false, "%s%s", text, does[alarm->action]);
	if (alarm->action != AB_ALARM_STOP)
		return;
	ab_alarm_error(alarm, s->setup.run_id, &s->failure);
	s->hands.fail(s->hands.arg, &s->failure);
}

int ab_alarm_error(const struct ab_threshold_alarm *alarm, const char *run_id, struct ab_error *err)
{
	char text[AB_ALARM_ROOM];

	ab_alarm_text(alarm, text);
	ab_fail(err, AB_EPROPERTY, 0, "%s: the run was ended", text);
	return ab_hint(err, "see what it did: agentbox log %s", run_id);
}

static void raise_alarm(struct ab_steering *s, const struct ab_threshold_alarm *alarm)
{
	struct ab_proxy *proxy = ab_steering_proxy(s);
	char text[AB_ALARM_ROOM];

	record_alarm(s, alarm);
	ab_alarm_text(alarm, text);
	if (proxy && alarm->action == AB_ALARM_HOLD)
		ab_proxy_hold(proxy, text);
	if (proxy && alarm->action == AB_ALARM_CUT)
		ab_proxy_cut(proxy, text);
	say_alarm(s, alarm, text);
}

/* The proxy has recorded it, and has paused or cut the network. */
void ab_steering_crossed(struct ab_steering *s, const struct ab_threshold_alarm *alarm)
{
	char text[AB_ALARM_ROOM];

	ab_alarm_text(alarm, text);
	say_alarm(s, alarm, text);
}

/* clang-format off */
#define WANTED(X) \
	X(ID, "id") X(DOOR, "door") X(REPEATED, "repeated") X(PACKETS, "packets") \
	X(INCIDENTAL, "incidental")
/* clang-format on */
AB_MEMBERS(WANTED)

/* The denials that a line stands for, as far as they are of the last minute: how often a file was denied
 * again, and packets without a destination, are told when the box ends. Caches, histories and locks that
 * programs try to write on their own raise no alarm. */
static uint64_t count_denials(const char *line)
{
	struct ab_detail m[M_COUNT];
	bool file;
	uint64_t n;

	if (ab_details_find(line, strlen(line), members, M_COUNT, m) < 0)
		return 1;
	if (m[M_INCIDENTAL].kind == AB_DETAIL_TRUE)
		return 0;
	file = ab_detail_is(&m[M_DOOR], "file") || ab_detail_is(&m[M_DOOR], "call");
	if (file && m[M_ID].kind == AB_DETAIL_TEXT)
		return 1;
	n = ab_detail_is(&m[M_DOOR], "udp") ? (uint64_t)ab_detail_number(&m[M_PACKETS], 1)
					    : ab_denial_times(&m[M_ID], &m[M_DOOR], &m[M_REPEATED]);
	return n ? n : 1;
}

uint64_t ab_steering_denials(struct ab_steering *s)
{
	ab_steering_violated(&s->violated, 0);
	return s->ndenied;
}

void ab_steering_tell_denied(const struct ab_request *request, const char *record)
{
	if (request->watch)
		request->watch->denied(request->watch->arg, record);
}

void ab_steering_violated(struct ab_source *source, uint32_t events)
{
	struct ab_steering *s = source->owner;
	struct ab_threshold_alarm alarm;
	char *line;

	(void)events;
	while ((line = ab_violations_take(s->setup.violations)) != NULL) {
		uint64_t n = count_denials(line);

		/* If the broker has no room, it is still in the record. */
		if (s->setup.request->on_violation)
			(void)ab_broker_violation(s->setup.broker, line, strlen(line));
		ab_steering_tell_denied(s->setup.request, line);
		free(line);
		s->ndenied += n;
		if (n && ab_thresholds_denied(&s->thresholds, ab_now_ms(), n, &alarm))
			raise_alarm(s, &alarm);
	}
}
