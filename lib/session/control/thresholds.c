#include "session/control/thresholds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "base/text/units.h"

/*
 * The first HOSTS_MAX hosts are counted separately, and all others as one host: that raises an
 * alarm sooner, never later. The box chooses the names and can make their hashes collide; then a
 * search takes as long as the table.
 */
enum { HOSTS_MAX = 4096, SLOTS = 2 * HOSTS_MAX, WINDOW_S = 60 };

struct host {
	char name[256];
	uint32_t hash;
	uint64_t bytes;
	bool reached, alarmed;
};

struct ab_thresholds {
	uint64_t denials, upload_host, upload_run, hosts;
	enum ab_alarm action;

	uint64_t denied[WINDOW_S]; /* denials in each of the last seconds */
	uint64_t second;	   /* the newest of them */
	uint64_t silent_until;	   /* no alarm before this second */

	struct host *v;
	size_t len, room;
	uint16_t slots[SLOTS]; /* an index into v from 1; 0: free */
	struct host others;    /* all hosts that do not fit */
	uint64_t bytes, reached;
	bool run_alarmed, hosts_alarmed;
};

const char *const ab_alarm_names[AB_ALARM_STOP + 1] = {
	[AB_ALARM_WARN] = "warn",
	[AB_ALARM_HOLD] = "hold",
	[AB_ALARM_CUT] = "cut",
	[AB_ALARM_STOP] = "stop",
};

struct ab_thresholds *ab_thresholds_new(const struct ab_policy *policy)
{
	struct ab_thresholds *m = ab_alloc(sizeof(*m));

	m->denials = policy->monitor.denials;
	m->upload_host = policy->monitor.upload_host;
	m->upload_run = policy->monitor.upload_run;
	m->hosts = policy->monitor.hosts;
	m->action = policy->monitor.action;
	return m;
}

void ab_thresholds_free(struct ab_thresholds *monitor)
{
	if (!monitor)
		return;
	free(monitor->v);
	free(monitor);
}

static void set_alarm(const struct ab_thresholds *m, const char *threshold, const char *host,
		      uint64_t value, uint64_t limit, struct ab_threshold_alarm *ret)
{
	*ret = (struct ab_threshold_alarm){
		.threshold = threshold, .value = value, .limit = limit, .action = m->action
	};
	snprintf(ret->host, sizeof(ret->host), "%s", host);
}

/* FNV-1a */
static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619;
	return hash;
}

static struct host *find_host(struct ab_thresholds *m, const char *name)
{
	uint32_t hash = hash_name(name), i = hash % SLOTS;
	struct host *h;

	/* Half of the slots are always free, so this ends. */
	for (; m->slots[i]; i = (i + 1) % SLOTS) {
		h = &m->v[m->slots[i] - 1];
		if (h->hash == hash && strcmp(h->name, name) == 0)
			return h;
	}
	if (m->len == HOSTS_MAX || strlen(name) >= sizeof(h->name))
		return &m->others;
	if (m->len == m->room) {
		m->room = m->room ? 2 * m->room : 16;
		m->v = ab_realloc(m->v, m->room * sizeof(m->v[0]));
	}
	h = &m->v[m->len++];
	*h = (struct host){ .hash = hash };
	snprintf(h->name, sizeof(h->name), "%s", name);
	m->slots[i] = (uint16_t)m->len;
	return h;
}

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
	set_alarm(monitor, "denialsPerMinute", "", sum, monitor->denials, ret);
	return true;
}

static bool count_upload(struct ab_thresholds *m, const char *name, uint64_t bytes,
			 struct ab_threshold_alarm *ret)
{
	struct host *h = find_host(m, name);

	h->bytes = add_capped(h->bytes, bytes);
	if (h->bytes <= m->upload_host || h->alarmed)
		return false;
	h->alarmed = true;
	set_alarm(m, "uploadPerHost", h == &m->others ? "others" : h->name, h->bytes,
		  m->upload_host, ret);
	return true;
}

/* One alarm at a time: if both limits are crossed at once, the next upload raises the run's
 * alarm. */
bool ab_thresholds_sent(struct ab_thresholds *monitor, const char *host, uint64_t bytes,
			struct ab_threshold_alarm *ret)
{
	monitor->bytes = add_capped(monitor->bytes, bytes);
	if (monitor->upload_host && count_upload(monitor, host, bytes, ret))
		return true;
	if (!monitor->upload_run || monitor->run_alarmed || monitor->bytes <= monitor->upload_run)
		return false;
	monitor->run_alarmed = true;
	set_alarm(monitor, "uploadPerRun", "", monitor->bytes, monitor->upload_run, ret);
	return true;
}

bool ab_thresholds_opened(struct ab_thresholds *monitor, const char *host,
			  struct ab_threshold_alarm *ret)
{
	struct host *h;

	if (!monitor->hosts || monitor->hosts_alarmed)
		return false;
	h = find_host(monitor, host);
	if (h->reached)
		return false;
	h->reached = h != &monitor->others;
	if (++monitor->reached <= monitor->hosts)
		return false;
	monitor->hosts_alarmed = true;
	set_alarm(monitor, "newHosts", "", monitor->reached, monitor->hosts, ret);
	return true;
}

/* Round a size for people: exact ones are long. */
static const char *round_size(uint64_t bytes, char buf[24])
{
	uint64_t unit = 1;

	while (bytes / unit >= 10 * 1024)
		unit *= 1024;
	return ab_format_size(bytes - bytes % unit, buf);
}

void ab_alarm_text(const struct ab_threshold_alarm *alarm, char ret[400])
{
	char value[24], limit[24];
	bool to_host = strcmp(alarm->threshold, "uploadPerHost") == 0;

	if (strcmp(alarm->threshold, "denialsPerMinute") == 0)
		snprintf(ret, 400, "%llu accesses were denied in a minute (monitor.%s %llu)",
			 (unsigned long long)alarm->value, alarm->threshold,
			 (unsigned long long)alarm->limit);
	else if (strcmp(alarm->threshold, "newHosts") == 0)
		snprintf(ret, 400, "%llu different hosts were reached (monitor.%s %llu)",
			 (unsigned long long)alarm->value, alarm->threshold,
			 (unsigned long long)alarm->limit);
	else
		snprintf(ret, 400, "%s were sent to %s (monitor.%s %s)",
			 round_size(alarm->value, value),
			 to_host ? alarm->host : "all hosts together", alarm->threshold,
			 ab_format_size(alarm->limit, limit));
}
