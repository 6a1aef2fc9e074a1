#include "steer/runs/runs.h"

#include "audit/read/query.h"
#include "broker/cleanup/leftovers.h"
#include "shell/syntax/quote.h"
#include "state/state.h"
#include "steer/client/ask_runs.h"
#include "steer/client/json.h"
#include "steer/client/steer.h"
#include "steer/client/table.h"
#include "steer/runs/run_ports.h"

enum { ANSWER_MS = 1000, RUNS_MAX = 1024 };

static char *copy_text(const json_t *object, const char *key)
{
	return ab_strdup(json_string_value(json_object_get(object, key)));
}

static void fill_start(struct ab_run_info *info, json_t *start)
{
	int64_t began = ab_time_ms(ab_json_text(start, "timestamp"));
	struct ab_error err;
	const char *name;
	json_t *hosts;

	info->name = copy_text(start, "name");
	info->cwd = copy_text(start, "cwd");
	info->profile = copy_text(json_object_get(start, "policy"), "profile");
	info->review = copy_text(start, "review");
	info->pid = json_integer_value(json_object_get(start, "pid"));
	info->age_ms = began < 0 ? 0 : ab_clock_ms(CLOCK_REALTIME) - began;
	info->stays = json_is_true(json_object_get(start, "stays"));
	ab_json_words(json_object_get(start, "command"), &info->command);
	json_object_foreach(json_object_get(start, "secrets"), name, hosts)
		ab_strv_add(&info->secrets, name);
	info->heard = ab_run_ports_list(start, info->id, &info->ports, &info->nports, &err) == 0;
}

static void fill_commands(struct ab_run_info *info, const json_t *list)
{
	const json_t *one;
	size_t i;

	info->commands = ab_alloc((json_array_size(list) + 1) * sizeof(info->commands[0]));
	json_array_foreach(list, i, one)
	{
		struct ab_run_command *c = &info->commands[info->ncommands++];

		c->number = ab_json_count(one, "number");
		c->age_ms = (int64_t)ab_json_count(one, "age_ms");
		c->detached = json_is_true(json_object_get(one, "detached"));
		c->attached = json_is_true(json_object_get(one, "attached"));
		ab_json_words(json_object_get(one, "command"), &c->command);
	}
}

static void fill_status(struct ab_run_info *info, const json_t *status)
{
	const json_t *network = json_object_get(status, "network");

	if (!status)
		return;
	info->answered = true;
	info->home = copy_text(status, "home");
	info->allowed = ab_json_count(network, "allowed");
	info->denied = ab_json_count(network, "denied");
	info->refused = ab_json_count(status, "violations");
	if (info->refused < info->denied)
		info->refused = info->denied;
	info->pending = ab_json_count(status, "pending");
	fill_commands(info, json_object_get(status, "commands"));
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

static void describe_runs(const struct found *f, struct ab_run_list *ret)
{
	ab_autofree struct ab_ask_runs *v = ab_alloc((f->len + 1) * sizeof(v[0]));

	for (size_t i = 0; i < f->len; i++)
		v[i].dir = f->runs[i].dir;
	ab_ask_runs(v, f->len, "{\"v\":1,\"do\":\"status\"}", ANSWER_MS);
	ret->v = ab_alloc((f->len + 1) * sizeof(ret->v[0]));
	for (size_t i = 0; i < f->len; i++) {
		struct ab_run_info *info = &ret->v[ret->len];
		json_auto_t *start = ab_run_start(&f->runs[i]);

		/* The run is starting, or was refused. */
		if (!start)
			continue;
		memcpy(info->id, f->runs[i].id, sizeof(info->id));
		fill_start(info, start);
		fill_status(info, v[i].answer);
		ret->len++;
	}
	ab_ask_runs_fini(v, f->len);
	qsort(ret->v, ret->len, sizeof(ret->v[0]), by_age);
}

int ab_runs_list(const struct ab_policy_input *input, struct ab_run_list *ret,
		 struct ab_strv *notes, struct ab_error *err)
{
	ab_autofree struct found *found = ab_alloc(sizeof(*found));
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;

	if (ab_steer_state(input, &state, err) < 0)
		return -1;
	*ret = (struct ab_run_list){ 0 };
	ab_leftovers_stale(&state, notes);
	(void)ab_state_each_live(&state, keep_run, found);
	describe_runs(found, ret);
	for (size_t i = 0; i < found->len; i++)
		ab_run_fini(&found->runs[i]);
	return 0;
}

void ab_run_list_fini(struct ab_run_list *list)
{
	for (size_t i = 0; i < list->len; i++) {
		struct ab_run_info *info = &list->v[i];

		ab_strv_fini_all(&info->command, &info->secrets);
		for (size_t k = 0; k < info->ncommands; k++)
			ab_strv_fini(&info->commands[k].command);
		ab_free_all(info->name, info->cwd, info->profile, info->home, info->review,
			    info->ports, info->commands);
	}
	free(list->v);
	*list = (struct ab_run_list){ 0 };
}

enum { PORTS_SHOWN = 4 };

static const char *const titles[] = { "BOX",	  "?NAME",   "AGE",   "PROFILE", "?REVIEW",
				      ">ALLOWED", ">DENIED", "PORTS", "?ASKS",	 "COMMAND" };

static void add_count(struct ab_table *table, const struct ab_run_info *info, uint64_t n)
{
	if (info->answered)
		ab_table_cellf(table, "%llu", (unsigned long long)n);
	else
		ab_table_cell(table, NULL);
}

static void add_ports(struct ab_table *table, const struct ab_run_info *info)
{
	ab_autobuf struct ab_buf b = { 0 };

	for (size_t i = 0; i < info->nports && i < PORTS_SHOWN; i++)
		ab_buf_printf(&b, "%s%u", i ? "," : "", info->ports[i]);
	if (info->nports > PORTS_SHOWN)
		ab_buf_puts(&b, ",...");
	ab_table_cell(table, b.data);
}

static char *quote_words(const struct ab_strv *command)
{
	struct ab_buf words = { 0 };

	ab_quote_argv(&words, (const char *const *)command->v, command->len);
	return ab_buf_take(&words);
}

static void add_run(struct ab_table *table, const struct ab_run_info *info)
{
	ab_autofree char *words = quote_words(&info->command);

	ab_table_cell(table, info->id);
	ab_table_cell(table, info->name);
	ab_table_age(table, info->age_ms);
	ab_table_cell(table, info->profile);
	ab_table_cell(table, info->review);
	add_count(table, info, info->allowed);
	add_count(table, info, info->refused);
	add_ports(table, info);
	if (info->pending)
		ab_table_cellf(table, "%llu waiting", (unsigned long long)info->pending);
	else
		ab_table_cellf(table, "%s", "");
	ab_table_cellf(table, "%s%s", info->stays ? "(stays) " : "", words);
}

/* One line for each command that runs in a box that stays. */
static void add_commands(struct ab_table *table, const struct ab_run_info *info)
{
	for (size_t i = 0; i < info->ncommands; i++) {
		const struct ab_run_command *c = &info->commands[i];
		ab_autofree char *words = quote_words(&c->command), *line = NULL;
		char age[AB_TABLE_AGE];

		line = ab_printf("  %llu  %s  %s%s", (unsigned long long)c->number,
				 ab_table_age_text(c->age_ms, age),
				 c->detached && !c->attached ? "detached  " : "", words);
		ab_table_below(table, line);
	}
}

char *ab_run_list_text(const struct ab_run_list *list, size_t columns)
{
	struct ab_table table = AB_TABLE(titles);

	if (!list->len)
		return ab_strdup("no active runs\n");
	for (size_t i = 0; i < list->len; i++) {
		add_run(&table, &list->v[i]);
		add_commands(&table, &list->v[i]);
	}
	return ab_table_text(&table, columns);
}

static void json_commands(struct ab_buf *b, const struct ab_run_info *info)
{
	ab_buf_jsonf(b, ",'stays':%hhd,'commands':[", info->stays);
	for (size_t i = 0; i < info->ncommands; i++) {
		const struct ab_run_command *c = &info->commands[i];

		ab_buf_jsonf(b,
			     ",{'number':%ju,'command':%p,'age_ms':%jd,'detached':%hhd,"
			     "'attached':%hhd}",
			     c->number, ab_list(&c->command), c->age_ms, c->detached, c->attached);
	}
	ab_buf_puts(b, "]");
}

static void json_run(struct ab_buf *b, const struct ab_run_info *info)
{
	ab_buf_jsonf(b,
		     ",{'id':%s,'name':%s,'command':%p,'cwd':%s,'profile':%s,'home':%s,'review':%s,"
		     "'pid':%jd,'age_ms':%jd",
		     info->id, info->name, ab_list(&info->command), info->cwd, info->profile,
		     info->home, info->review, (intmax_t)info->pid, info->age_ms);
	ab_buf_json_number(b, "allowed", info->answered, (int64_t)info->allowed);
	ab_buf_json_number(b, "denied", info->answered, (int64_t)info->denied);
	ab_buf_json_number(b, "violations", info->answered, (int64_t)info->refused);
	ab_buf_json_number(b, "pending", info->answered, (int64_t)info->pending);
	ab_buf_jsonf(b, info->heard ? ",'ports':[" : ",'ports':null");
	for (size_t i = 0; i < info->nports; i++)
		ab_buf_jsonf(b, ",%u", info->ports[i]);
	ab_buf_puts(b, info->heard ? "]" : "");
	json_commands(b, info);
	ab_buf_puts(b, "}");
}

char *ab_run_list_json(const struct ab_run_list *list)
{
	struct ab_buf b = { 0 };

	ab_buf_puts(&b, "[");
	for (size_t i = 0; i < list->len; i++)
		json_run(&b, &list->v[i]);
	ab_buf_puts(&b, "]\n");
	return ab_buf_take(&b);
}
