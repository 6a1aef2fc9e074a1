#include "steer/runs/runs.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/read/query.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/clock.h"
#include "session/cleanup/leftovers.h"
#include "session/state/state.h"
#include "shell/syntax/quote.h"
#include "steer/client/ask_runs.h"
#include "steer/client/json.h"
#include "steer/client/steer.h"
#include "steer/client/table.h"
#include "steer/runs/run_ports.h"

enum { ANSWER_MS = 1000, RUNS_MAX = 1024 };

static char *copy_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? ab_strdup(text) : NULL;
}

/* Milliseconds since the time of a record. */
static int64_t compute_age(const char *stamp)
{
	int64_t at = ab_time_ms(stamp);

	return at < 0 ? 0 : ab_clock_ms(CLOCK_REALTIME) - at;
}

static void fill_ports(struct ab_run_info *info, const json_t *start)
{
	struct ab_error err;

	info->heard = ab_run_ports_list(start, info->id, &info->ports, &info->nports, &err) == 0;
}

static void fill_words(struct ab_strv *words, const json_t *list)
{
	const json_t *word;
	size_t i;

	json_array_foreach(list, i, word) if (json_is_string(word))
		ab_strv_add(words, json_string_value(word));
}

static void fill_start(struct ab_run_info *info, const json_t *start)
{
	info->name = copy_text(start, "name");
	info->cwd = copy_text(start, "cwd");
	info->profile = copy_text(json_object_get(start, "policy"), "profile");
	info->review = copy_text(start, "review");
	info->pid = json_integer_value(json_object_get(start, "pid"));
	info->age_ms = compute_age(ab_json_text(start, "timestamp"));
	info->stays = json_is_true(json_object_get(start, "stays"));
	fill_words(&info->command, json_object_get(start, "command"));
	fill_ports(info, start);
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
		fill_words(&c->command, json_object_get(one, "command"));
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
		json_t *start = ab_run_start(&f->runs[i]);

		/* The run is starting, or was refused. */
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
	(void)ab_state_each_live(&state, keep_run, found);
	describe_runs(found, ret);
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
		free(info->home);
		free(info->review);
		free(info->ports);
		for (size_t k = 0; k < info->ncommands; k++)
			ab_strv_fini(&info->commands[k].command);
		free(info->commands);
	}
	free(list->v);
	*list = (struct ab_run_list){ 0 };
}

enum { PORTS_SHOWN = 4, COLUMNS_MAX = 10 };

struct column {
	const char *title;
	bool right; /* align at the right */
	void (*put)(struct ab_buf *b, const struct ab_run_info *info);
	/* Show the column if this holds for a run; NULL: always. */
	bool (*has)(const struct ab_run_info *info);
};

static void put_id(struct ab_buf *b, const struct ab_run_info *info)
{
	ab_buf_escape(b, info->id);
}

static void put_name(struct ab_buf *b, const struct ab_run_info *info)
{
	ab_buf_escape(b, info->name ? info->name : "-");
}

static bool has_name(const struct ab_run_info *info)
{
	return info->name != NULL;
}

/* One unit is precise enough. */
static void put_ms(struct ab_buf *b, int64_t ms)
{
	static const struct {
		int64_t ms;
		char unit;
	} units[] = { { 86400000, 'd' }, { 3600000, 'h' }, { 60000, 'm' }, { 1000, 's' } };
	size_t i = 0;

	while (i + 1 < AB_COUNT(units) && ms < units[i].ms)
		i++;
	ab_buf_printf(b, "%lld%c", (long long)(ms > 0 ? ms / units[i].ms : 0), units[i].unit);
}

static void put_age(struct ab_buf *b, const struct ab_run_info *info)
{
	put_ms(b, info->age_ms);
}

static void put_profile(struct ab_buf *b, const struct ab_run_info *info)
{
	ab_buf_escape(b, info->profile ? info->profile : "-");
}

static void put_review(struct ab_buf *b, const struct ab_run_info *info)
{
	ab_buf_escape(b, info->review ? info->review : "-");
}

static bool has_review(const struct ab_run_info *info)
{
	return info->review != NULL;
}

static void put_count(struct ab_buf *b, const struct ab_run_info *info, uint64_t n)
{
	if (info->answered)
		ab_buf_printf(b, "%llu", (unsigned long long)n);
	else
		ab_buf_puts(b, "-");
}

static void put_allowed(struct ab_buf *b, const struct ab_run_info *info)
{
	put_count(b, info, info->allowed);
}

static void put_denied(struct ab_buf *b, const struct ab_run_info *info)
{
	put_count(b, info, info->refused);
}

static void put_ports(struct ab_buf *b, const struct ab_run_info *info)
{
	for (size_t i = 0; i < info->nports && i < PORTS_SHOWN; i++)
		ab_buf_printf(b, "%s%u", i ? "," : "", info->ports[i]);
	if (info->nports > PORTS_SHOWN)
		ab_buf_puts(b, ",...");
	if (!info->nports)
		ab_buf_puts(b, "-");
}

static void put_waiting(struct ab_buf *b, const struct ab_run_info *info)
{
	if (info->pending)
		ab_buf_printf(b, "%llu waiting", (unsigned long long)info->pending);
}

static bool has_waiting(const struct ab_run_info *info)
{
	return info->pending > 0;
}

static void put_words(struct ab_buf *b, const struct ab_strv *command)
{
	ab_autobuf struct ab_buf words = { 0 };

	ab_quote_argv(&words, (const char *const *)command->v, command->len);
	if (words.data)
		ab_buf_escape_n(b, words.data, words.len);
}

static void put_command(struct ab_buf *b, const struct ab_run_info *info)
{
	if (info->stays)
		ab_buf_puts(b, "(stays) ");
	put_words(b, &info->command);
}

/* The last column takes the rest of the line. */
static const struct column columns_all[COLUMNS_MAX] = {
	{ "BOX", false, put_id, NULL },
	{ "NAME", false, put_name, has_name },
	{ "AGE", false, put_age, NULL },
	{ "PROFILE", false, put_profile, NULL },
	{ "REVIEW", false, put_review, has_review },
	{ "ALLOWED", true, put_allowed, NULL },
	{ "DENIED", true, put_denied, NULL },
	{ "PORTS", false, put_ports, NULL },
	{ "ASKS", false, put_waiting, has_waiting },
	{ "COMMAND", false, put_command, NULL },
};

static bool is_shown(const struct column *c, const struct ab_run_list *list)
{
	for (size_t i = 0; c->has && i < list->len; i++)
		if (c->has(&list->v[i]))
			return true;
	return !c->has;
}

/* One line for each command that runs in a box that stays. */
static void list_commands(const struct ab_run_info *info, struct ab_strv *ret)
{
	for (size_t i = 0; i < info->ncommands; i++) {
		const struct ab_run_command *c = &info->commands[i];
		struct ab_buf b = { 0 };

		ab_buf_printf(&b, "  %llu  ", (unsigned long long)c->number);
		put_ms(&b, c->age_ms);
		ab_buf_puts(&b, c->detached && !c->attached ? "  detached  " : "  ");
		put_words(&b, &c->command);
		ab_strv_give(ret, ab_buf_take(&b));
	}
}

char *ab_run_list_text(const struct ab_run_list *list, size_t columns)
{
	ab_autostrv struct ab_strv cells = { 0 };
	struct ab_table_column titles[COLUMNS_MAX];
	bool hidden[COLUMNS_MAX];
	struct ab_table table = {
		.columns = titles, .ncolumns = COLUMNS_MAX, .hidden = hidden, .nrows = list->len
	};
	ab_autofree struct ab_strv *below = NULL;
	char *text;

	if (!list->len)
		return ab_strdup("no active runs\n");
	for (size_t k = 0; k < COLUMNS_MAX; k++) {
		titles[k] = (struct ab_table_column){ columns_all[k].title, columns_all[k].right };
		hidden[k] = !is_shown(&columns_all[k], list);
	}
	for (size_t i = 0; i < list->len; i++)
		for (size_t k = 0; k < COLUMNS_MAX; k++) {
			struct ab_buf cell = { 0 };

			ab_buf_puts(&cell, "");
			columns_all[k].put(&cell, &list->v[i]);
			ab_strv_give(&cells, ab_buf_take(&cell));
		}
	below = ab_alloc((list->len + 1) * sizeof(below[0]));
	for (size_t i = 0; i < list->len; i++)
		list_commands(&list->v[i], &below[i]);
	table.cells = cells.v;
	table.below = below;
	text = ab_table_text(&table, columns);
	for (size_t i = 0; i < list->len; i++)
		ab_strv_fini(&below[i]);
	return text;
}

static void json_count(struct ab_buf *b, const char *key, bool known, uint64_t n)
{
	if (known)
		ab_buf_printf(b, ",\"%s\":%llu", key, (unsigned long long)n);
	else
		ab_buf_printf(b, ",\"%s\":null", key);
}

static void json_commands(struct ab_buf *b, const struct ab_run_info *info)
{
	ab_buf_printf(b, ",\"stays\":%s,\"commands\":[", info->stays ? "true" : "false");
	for (size_t i = 0; i < info->ncommands; i++) {
		const struct ab_run_command *c = &info->commands[i];

		ab_buf_printf(b, "%s{\"number\":%llu,\"command\":", i ? "," : "",
			      (unsigned long long)c->number);
		ab_buf_json_list(b, &c->command);
		ab_buf_printf(b, ",\"age_ms\":%lld,\"detached\":%s,\"attached\":%s}",
			      (long long)c->age_ms, c->detached ? "true" : "false",
			      c->attached ? "true" : "false");
	}
	ab_buf_puts(b, "]");
}

static void json_run(struct ab_buf *b, const struct ab_run_info *info)
{
	ab_buf_puts(b, "{\"id\":");
	ab_buf_json(b, info->id);
	ab_buf_json_member(b, "name", info->name);
	ab_buf_puts(b, ",\"command\":");
	ab_buf_json_list(b, &info->command);
	ab_buf_json_member(b, "cwd", info->cwd);
	ab_buf_json_member(b, "profile", info->profile);
	ab_buf_json_member(b, "home", info->home);
	ab_buf_json_member(b, "review", info->review);
	ab_buf_printf(b, ",\"pid\":%lld,\"age_ms\":%lld", (long long)info->pid,
		      (long long)info->age_ms);
	json_count(b, "allowed", info->answered, info->allowed);
	json_count(b, "denied", info->answered, info->denied);
	json_count(b, "violations", info->answered, info->refused);
	json_count(b, "pending", info->answered, info->pending);
	ab_buf_puts(b, info->heard ? ",\"ports\":[" : ",\"ports\":null");
	for (size_t i = 0; i < info->nports; i++)
		ab_buf_printf(b, "%s%u", i ? "," : "", info->ports[i]);
	ab_buf_puts(b, info->heard ? "]" : "");
	json_commands(b, info);
	ab_buf_puts(b, "}");
}

char *ab_run_list_json(const struct ab_run_list *list)
{
	struct ab_buf b = { 0 };

	ab_buf_puts(&b, "[");
	for (size_t i = 0; i < list->len; i++) {
		ab_buf_puts(&b, i ? "," : "");
		json_run(&b, &list->v[i]);
	}
	ab_buf_puts(&b, "]\n");
	return ab_buf_take(&b);
}
