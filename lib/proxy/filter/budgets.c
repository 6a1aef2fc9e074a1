#include "proxy/filter/budgets.h"

#include "base/text/units.h"

/* Names can be chosen so that their hashes collide; then a search takes as long
 * as the table. */
enum { SLOTS = 2 * AB_BUDGET_HOSTS };

/* A host, all that do not fit, or the run. */
struct host {
	struct ab_allowance allowance; /* first: see used_up() */
	struct ab_budgets *budgets;
	uint32_t hash;
	bool contacted, alarmed;
	char name[256];
};

struct ab_budgets {
	uint64_t upload_host, upload_run, hosts; /* 0: no limit */
	enum ab_alarm action;
	void (*crossed)(void *arg, const struct ab_threshold_alarm *alarm);
	void *arg;

	struct host run;
	struct host *v[AB_BUDGET_HOSTS];
	size_t len;
	uint16_t slots[SLOTS]; /* an index into v from 1; 0: free */
	struct host others;    /* all hosts that do not fit */
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
	struct host *h = (struct host *)allowance;
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
	snprintf(h->name, sizeof(h->name), "%s", name);
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
	for (size_t i = 0; i < b->len; i++)
		free(b->v[i]);
	free(b);
}

/* FNV-1a */
static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619;
	return hash;
}

static struct host *find_host(struct ab_budgets *b, const char *name)
{
	uint32_t hash = hash_name(name), i = hash % SLOTS;
	struct host *h;

	/* Half of the slots are always free, so this ends. */
	for (; b->slots[i]; i = (i + 1) % SLOTS) {
		h = b->v[b->slots[i] - 1];
		if (h->hash == hash && strcmp(h->name, name) == 0)
			return h;
	}
	if (b->len == AB_BUDGET_HOSTS || strlen(name) >= sizeof(h->name))
		return &b->others;
	h = ab_alloc(sizeof(*h));
	init_host(b, h, name, b->upload_host);
	h->hash = hash;
	b->v[b->len++] = h;
	b->slots[i] = (uint16_t)b->len;
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
