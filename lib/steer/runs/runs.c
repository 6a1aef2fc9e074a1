#include "steer/runs/runs.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/read/query.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/clock.h"
#include "session/cleanup/leftovers.h"
#include "session/state/state.h"
#include "steer/client/ask_runs.h"
#include "steer/client/json.h"
#include "steer/client/steer.h"
#include "steer/runs/run_ports.h"

enum { ANSWER_MS = 1000, RUNS_MAX = 1024 };

static char *copy_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? ab_strdup(text) : NULL;
}

/* Since the time of a record. */
static int64_t age_of(const char *stamp)
{
	int64_t at = ab_time_ms(stamp);

	return at < 0 ? 0 : ab_clock_ms(CLOCK_REALTIME) - at;
}

static void fill_ports(struct ab_run_info *info, const json_t *start)
{
	struct ab_error err;

	info->heard = ab_run_ports_list(start, info->id, &info->ports, &info->nports, &err) == 0;
}

static void fill_start(struct ab_run_info *info, const json_t *start)
{
	const json_t *command = json_object_get(start, "command"), *word;
	size_t i;

	info->name = copy_text(start, "name");
	info->cwd = copy_text(start, "cwd");
	info->profile = copy_text(json_object_get(start, "policy"), "profile");
	info->pid = json_integer_value(json_object_get(start, "pid"));
	info->age_ms = age_of(ab_json_text(start, "timestamp"));
	json_array_foreach(command, i, word) if (json_is_string(word))
		ab_strv_add(&info->command, json_string_value(word));
	fill_ports(info, start);
}

static void fill_status(struct ab_run_info *info, const json_t *status)
{
	const json_t *network = json_object_get(status, "network");

	if (!status)
		return;
	info->answered = true;
	info->allowed = ab_json_count(network, "allowed");
	info->denied = ab_json_count(network, "denied");
	info->refused = ab_json_count(status, "violations");
	if (info->refused < info->denied)
		info->refused = info->denied;
	info->pending = ab_json_count(status, "pending");
}

struct found {
	struct ab_run runs[RUNS_MAX];
	size_t len;
};

static void keep_run(struct ab_run *run, void *arg)
{
	struct found *f = arg;

	if (f->len == RUNS_MAX)
		return;
	f->runs[f->len++] = *run;
	run->dir = -1;
}

static int by_age(const void *a, const void *b)
{
	const struct ab_run_info *x = a, *y = b;

	return x->age_ms < y->age_ms ? 1 : -(x->age_ms > y->age_ms);
}

static void describe(const struct found *f, struct ab_run_list *ret)
{
	ab_autofree struct ab_ask_runs *v = ab_alloc((f->len + 1) * sizeof(v[0]));

	for (size_t i = 0; i < f->len; i++)
		v[i].dir = f->runs[i].dir;
	ab_ask_runs(v, f->len, "{\"v\":1,\"do\":\"status\"}", ANSWER_MS);
	ret->v = ab_alloc((f->len + 1) * sizeof(ret->v[0]));
	for (size_t i = 0; i < f->len; i++) {
		struct ab_run_info *info = &ret->v[ret->len];
		json_t *start = ab_run_start(&f->runs[i]);

		/* It is just being made, or was refused. */
		if (!start)
			continue;
		memcpy(info->id, f->runs[i].id, sizeof(info->id));
		fill_start(info, start);
		fill_status(info, v[i].answer);
		json_decref(start);
		ret->len++;
	}
	ab_ask_runs_fini(v, f->len);
	qsort(ret->v, ret->len, sizeof(ret->v[0]), by_age);
}

int ab_runs_list(const struct ab_policy_input *input, struct ab_run_list *ret,
		 struct ab_strv *notes, struct ab_error *err)
{
	ab_autofree struct found *found = ab_alloc(sizeof(*found));
	struct ab_state state;

	if (ab_steer_state(input, &state, err) < 0)
		return -1;
	*ret = (struct ab_run_list){ 0 };
	ab_leftovers_stale(&state, notes);
	ab_state_each_live(&state, keep_run, found);
	describe(found, ret);
	for (size_t i = 0; i < found->len; i++)
		ab_run_fini(&found->runs[i]);
	ab_state_fini(&state);
	return 0;
}

void ab_run_list_fini(struct ab_run_list *list)
{
	for (size_t i = 0; i < list->len; i++) {
		struct ab_run_info *info = &list->v[i];

		free(info->name);
		ab_strv_fini(&info->command);
		free(info->cwd);
		free(info->profile);
		free(info->ports);
	}
	free(list->v);
	*list = (struct ab_run_list){ 0 };
}
