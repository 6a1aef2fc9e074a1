#include "proxy/filter/budgets.h"

#include "base/text/units.h"
#include "proxy/filter/tree.h"

enum { NAME_ROOM = sizeof((struct ab_threshold_alarm){ 0 }.host) };

/* A host, all that do not fit, or the run. */
struct host {
	char *name;
	struct ab_allowance allowance;
	struct ab_budgets *budgets;
	bool contacted, alarmed;
};

struct ab_budgets {
	uint64_t upload_host, upload_run, hosts; /* 0: no limit */
	enum ab_alarm action;
	void (*crossed)(void *arg, const struct ab_threshold_alarm *alarm);
	void *arg;

	struct host run;
	struct host **v;
	size_t len;
	void *by_name;
	struct host others; /* all hosts that do not fit */
	uint64_t contacted;
	bool hosts_alarmed;
};

const char *const ab_alarm_names[AB_ALARM_STOP + 1] = {
	[AB_ALARM_WARN] = "warn",
	[AB_ALARM_HOLD] = "hold",
	[AB_ALARM_CUT] = "cut",
	[AB_ALARM_STOP] = "stop",
};

void ab_alarm_members(const struct ab_threshold_alarm *alarm, struct ab_buf *line)
{
	ab_buf_jsonf(line, ",'threshold':%s,'value':%ju,'limit':%ju,'action':%s,'domain':%s",
		     alarm->threshold, alarm->value, alarm->limit, ab_alarm_names[alarm->action],
		     ab_text_or_null(alarm->host));
}

static void raise_alarm(struct ab_budgets *b, const char *threshold, const char *host,
			uint64_t value, uint64_t limit)
{
	struct ab_threshold_alarm alarm = {
		.threshold = threshold, .value = value, .limit = limit, .action = b->action
	};

	snprintf(alarm.host, sizeof(alarm.host), "%s", host);
	b->crossed(b->arg, &alarm);
}

static void used_up(struct ab_allowance *allowance)
{
	struct host *h = (struct host *)((char *)allowance - offsetof(struct host, allowance));
	struct ab_budgets *b = h->budgets;
	bool run = h == &b->run;

	if (b->action == AB_ALARM_WARN)
		allowance->left = AB_ALLOWANCE_ALL;
	if (h->alarmed)
		return;
	h->alarmed = true;
	raise_alarm(b, run ? "uploadPerRun" : "uploadPerHost", h->name, allowance->sent,
		    run ? b->upload_run : b->upload_host);
}

static void init_host(struct ab_budgets *b, struct host *h, const char *name, uint64_t limit)
{
	h->budgets = b;
	h->allowance = (struct ab_allowance){
		.left = limit ? limit : AB_ALLOWANCE_ALL,
		.wider = b->upload_run && h != &b->run ? &b->run.allowance : NULL,
		.used_up = used_up,
	};
	h->name = ab_strdup(name);
}

struct ab_budgets *
ab_budgets_new(const struct ab_policy *policy,
	       void (*crossed)(void *arg, const struct ab_threshold_alarm *alarm), void *arg)
{
	struct ab_budgets *b;

	if (!policy->monitor.upload_host && !policy->monitor.upload_run && !policy->monitor.hosts)
		return NULL;
	b = ab_alloc(sizeof(*b));
	b->upload_host = policy->monitor.upload_host;
	b->upload_run = policy->monitor.upload_run;
	b->hosts = policy->monitor.hosts;
	b->action = policy->monitor.action;
	b->crossed = crossed;
	b->arg = arg;
	init_host(b, &b->run, "", b->upload_run);
	init_host(b, &b->others, "others", b->upload_host);
	return b;
}

void ab_budgets_free(struct ab_budgets *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->len; i++) {
		ab_tree_remove(&b->by_name, b->v[i]);
		ab_free_all(b->v[i]->name, b->v[i]);
	}
	ab_free_all(b->v, b->run.name, b->others.name, b);
}

static struct host *find_host(struct ab_budgets *b, const char *name)
{
	struct host *h = ab_tree_find(&b->by_name, name);

	if (h)
		return h;
	if (b->len == AB_BUDGET_HOSTS || strlen(name) >= NAME_ROOM)
		return &b->others;
	h = ab_alloc(sizeof(*h));
	init_host(b, h, name, b->upload_host);
	*ab_append(b->v, b->len) = h;
	ab_tree_add(&b->by_name, h);
	return h;
}

struct ab_allowance *ab_budgets_allowance(struct ab_budgets *b, const char *host)
{
	if (!b || (!b->upload_host && !b->upload_run))
		return NULL;
	return &find_host(b, host)->allowance;
}

bool ab_budgets_admit(struct ab_budgets *b, const char *host)
{
	struct host *h;

	if (!b || !b->hosts)
		return true;
	h = find_host(b, host);
	if (h->contacted)
		return true;
	if (b->contacted >= b->hosts && !b->hosts_alarmed) {
		b->hosts_alarmed = true;
		raise_alarm(b, "newHosts", "", b->contacted + 1, b->hosts);
		if (b->action == AB_ALARM_WARN)
			b->hosts = 0;
	}
	if (b->hosts && b->contacted >= b->hosts)
		return false;
	h->contacted = h != &b->others;
	b->contacted++;
	return true;
}

static void lift_host(struct host *h)
{
	if (h->alarmed)
		h->allowance.left = AB_ALLOWANCE_ALL;
}

void ab_budgets_lift(struct ab_budgets *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->len; i++)
		lift_host(b->v[i]);
	lift_host(&b->others);
	lift_host(&b->run);
	if (b->hosts_alarmed)
		b->hosts = 0;
}

void ab_alarm_text(const struct ab_threshold_alarm *alarm, char ret[AB_ALARM_ROOM])
{
	char value[24], limit[24];
	bool to_host = strcmp(alarm->threshold, "uploadPerHost") == 0;

	if (strcmp(alarm->threshold, "denialsPerMinute") == 0)
		snprintf(ret, AB_ALARM_ROOM,
			 "%llu accesses were denied in a minute (monitor.%s %llu)",
			 (unsigned long long)alarm->value, alarm->threshold,
			 (unsigned long long)alarm->limit);
	else if (strcmp(alarm->threshold, "newHosts") == 0)
		snprintf(ret, AB_ALARM_ROOM,
			 "%llu different hosts were requested (monitor.%s %llu)",
			 (unsigned long long)alarm->value, alarm->threshold,
			 (unsigned long long)alarm->limit);
	else
		snprintf(ret, AB_ALARM_ROOM, "%s were sent to %s (monitor.%s %s)",
			 ab_round_size(alarm->value, value),
			 to_host ? alarm->host : "all hosts together", alarm->threshold,
			 ab_format_size(alarm->limit, limit));
}
