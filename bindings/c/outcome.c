#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

static const char *const nothing[] = { NULL };

/* Of a run whose end we did not hear of. */
const struct ab_outcome ab_client_lost = {
	.exit = 125,
	.error = "the process of agentbox ended before the run did",
	.hint = "",
	.run_id = "",
	.out = "",
	.err = "",
	.violations = nothing,
	.engine = "",
	.holds = nothing,
	.missing = nothing,
	.json = "{}",
};

struct store {
	struct ab_outcome outcome;
	char **texts; /* of error, hint, run_id, engine, json */
	char *out, *err;
	char **violations, **holds, **missing;
};

/* Strings as they are, objects as JSON. NULL: out of memory. */
static char **copy_list(const json_t *list, size_t *ret_len)
{
	size_t n = json_array_size(list), i;
	char **copy = calloc(n + 1, sizeof(*copy));
	json_t *value;

	if (!copy)
		return NULL;
	json_array_foreach(list, i, value)
	{
		copy[i] = json_is_string(value) ? strdup(json_string_value(value))
						: ab_client_dump(value);
		if (!copy[i]) {
			ab_strings_free(copy);
			return NULL;
		}
	}
	if (ret_len)
		*ret_len = n;
	return copy;
}

static int find_signal(const char *name)
{
	for (int i = 1; *name && i < NSIG; i++) {
		const char *known = sigabbrev_np(i);

		if (known && strncmp(name, "SIG", 3) == 0 && strcmp(known, name + 3) == 0)
			return i;
	}
	return 0;
}

static uint64_t get_number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* Everything but the captured output. */
static char *dump_result(json_t *result)
{
	static const char *const streams[] = { "stdout", "stdout_base64", "stderr",
					       "stderr_base64" };

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		json_object_del(result, streams[i]);
	return ab_client_dump(result);
}

static json_t *list_texts(json_t *result)
{
	const json_t *assurance = json_object_get(result, "assurance");
	json_t *list =
		json_pack("[ssss]", ab_client_text(result, "error"), ab_client_text(result, "hint"),
			  ab_client_text(result, "run_id"), ab_client_text(assurance, "engine"));
	char *json = list ? dump_result(result) : NULL;

	if (json && json_array_append_new(list, json_string_nocheck(json)) == 0) {
		free(json);
		return list;
	}
	free(json);
	json_decref(list);
	return NULL;
}

static bool fill_store(struct store *s, json_t *result)
{
	const json_t *assurance = json_object_get(result, "assurance");
	struct ab_outcome *o = &s->outcome;
	json_t *texts;

	s->out = ab_client_bytes(result, "stdout", &o->out_len);
	s->err = ab_client_bytes(result, "stderr", &o->err_len);
	s->violations = copy_list(json_object_get(result, "violations"), &o->nviolations);
	s->holds = copy_list(json_object_get(assurance, "holds"), NULL);
	s->missing = copy_list(json_object_get(assurance, "missing"), NULL);
	texts = list_texts(result);
	s->texts = texts ? copy_list(texts, NULL) : NULL;
	json_decref(texts);
	return s->out && s->err && s->violations && s->holds && s->missing && s->texts;
}

struct ab_outcome *ab_client_outcome(json_t *result)
{
	struct store *s = calloc(1, sizeof(*s));
	struct ab_outcome *o = s ? &s->outcome : NULL;

	if (!s)
		return NULL;
	o->exit = (int)json_integer_value(json_object_get(result, "exit"));
	o->signal = find_signal(ab_client_text(result, "signal"));
	o->started =
		json_array_size(json_object_get(json_object_get(result, "assurance"), "holds")) > 0;
	o->timed_out = json_is_true(json_object_get(result, "timed_out"));
	o->out_total = get_number(result, "stdout_bytes");
	o->err_total = get_number(result, "stderr_bytes");
	o->out_truncated = json_is_true(json_object_get(result, "stdout_truncated"));
	o->err_truncated = json_is_true(json_object_get(result, "stderr_truncated"));
	o->duration_ms = get_number(result, "duration_ms");
	o->violations_total = get_number(result, "violations_total");
	if (!fill_store(s, result)) {
		ab_client_outcome_free(o);
		return NULL;
	}
	o->error = s->texts[0];
	o->hint = s->texts[1];
	o->run_id = s->texts[2];
	o->engine = s->texts[3];
	o->json = s->texts[4];
	o->out = s->out;
	o->err = s->err;
	o->violations = (const char *const *)s->violations;
	o->holds = (const char *const *)s->holds;
	o->missing = (const char *const *)s->missing;
	return o;
}

void ab_client_outcome_free(struct ab_outcome *outcome)
{
	struct store *s = (struct store *)outcome; /* its first member */

	if (!s)
		return;
	ab_strings_free(s->texts);
	ab_strings_free(s->violations);
	ab_strings_free(s->holds);
	ab_strings_free(s->missing);
	free(s->out);
	free(s->err);
	free(s);
}
