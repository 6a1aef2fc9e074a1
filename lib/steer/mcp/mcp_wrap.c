#include "steer/mcp/mcp_wrap.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "base/text/textdiff.h"
#include "session/consent/hook_install.h"

/* Where settings list servers. */
static const struct place {
	const char *key;
	bool listed;	 /* "command" is a list of words; else a word, with "args" */
	const char *env; /* its variables */
} places[] = {
	{ "mcpServers", false, "env" },
	{ "servers", false, "env" },
	{ "context_servers", false, "env" },
	{ "mcp", true, "environment" },
};

/* The words of a server's command; -1: it has none of this shape. */
static int read_words(const struct place *place, json_t *server, json_t **ret)
{
	json_t *command = json_object_get(server, "command"), *args, *words, *word;
	size_t i;

	if (place->listed) {
		if (!json_is_array(command) || !json_array_size(command))
			return -1;
		words = json_copy(command);
	} else {
		args = json_object_get(server, "args");
		if (!json_is_string(command) || (args && !json_is_array(args)))
			return -1;
		words = json_pack("[O]", command);
		json_array_extend(words, args);
	}
	json_array_foreach(words, i, word)
	{
		if (!json_is_string(word)) {
			json_decref(words);
			return -1;
		}
	}
	*ret = words;
	return 0;
}

/* Takes over the words. "args" stays away if it would be new and empty. */
static void write_words(const struct place *place, json_t *server, json_t *words)
{
	if (place->listed) {
		json_object_set_new(server, "command", words);
		return;
	}
	json_object_set(server, "command", json_array_get(words, 0));
	json_array_remove(words, 0);
	if (json_array_size(words) || json_object_get(server, "args"))
		json_object_set(server, "args", words);
	json_decref(words);
}

static bool is_word(json_t *words, size_t i, const char *text)
{
	const char *word = json_string_value(json_array_get(words, i));

	return word && strcmp(word, text) == 0;
}

/* The index of the first word of the server's own command; 0: it is not wrapped. */
static size_t find_wrapped(json_t *words)
{
	const char *program = json_string_value(json_array_get(words, 0));

	if (strcmp(ab_path_name(program), "agentbox") != 0 || !is_word(words, 1, "run"))
		return 0;
	for (size_t i = 2; i + 1 < json_array_size(words); i++)
		if (is_word(words, i, "--"))
			return i + 1;
	return 0;
}

static json_t *wrap_words(const struct ab_mcp_wrap *wrap, const struct place *place, json_t *server,
			  json_t *words)
{
	ab_autofree char *own = realpath("/proc/self/exe", NULL);
	json_t *out = json_array(), *value;
	const char *name;

	json_array_append_new(out, json_string(own ? own : "agentbox"));
	json_array_append_new(out, json_string("run"));
	for (size_t i = 0; i < wrap->noptions; i++)
		json_array_append_new(out, json_string(wrap->options[i]));
	/* The settings give the server these; the box would not pass all of them. */
	json_object_foreach(json_object_get(server, place->env), name, value)
	{
		json_array_append_new(out, json_string("--pass-env"));
		json_array_append_new(out, json_string(name));
	}
	json_array_append_new(out, json_string("--"));
	json_array_extend(out, words);
	return out;
}

static void change_server(const struct ab_mcp_wrap *wrap, const struct place *place,
			  const char *name, json_t *server, struct ab_strv *notes)
{
	ab_autofree char *shown = ab_escape(name);
	json_t *words, *out;
	size_t own;

	if (!json_is_object(server) || read_words(place, server, &words) < 0) {
		ab_strv_addf(notes, "%s stays as it is: it has no command", shown);
		return;
	}
	own = find_wrapped(words);
	if (wrap->undo && own) {
		out = json_array();
		for (size_t i = own; i < json_array_size(words); i++)
			json_array_append(out, json_array_get(words, i));
		write_words(place, server, out);
	} else if (!wrap->undo && !own) {
		write_words(place, server, wrap_words(wrap, place, server, words));
	}
	json_decref(words);
}

static int change_servers(const struct ab_mcp_wrap *wrap, json_t *settings, struct ab_strv *notes,
			  struct ab_error *err)
{
	const char *name;
	json_t *server;
	size_t found = 0;

	for (size_t i = 0; i < AB_COUNT(places); i++)
		json_object_foreach(json_object_get(settings, places[i].key), name, server)
		{
			change_server(wrap, &places[i], name, server, notes);
			found++;
		}
	if (found)
		return 0;
	ab_fail(err, AB_ECONFIG, 0, "%s lists no MCP servers", wrap->path);
	return ab_hint(err, "agentbox knows \"mcpServers\", \"servers\", \"context_servers\" and "
			    "\"mcp\" of a JSON file");
}

static int make_text(const struct ab_mcp_wrap *wrap, struct ab_hook_plan *plan,
		     struct ab_strv *notes, struct ab_error *err)
{
	json_error_t why;
	json_t *settings = json_loads(plan->before, JSON_REJECT_DUPLICATES, &why), *old;
	int result;

	if (!settings)
		return ab_fail(err, AB_ECONFIG, 0, "%s:%d: %s", wrap->path, why.line, why.text);
	old = json_deep_copy(settings);
	result = change_servers(wrap, settings, notes, err);
	if (result == 0 && !json_equal(old, settings)) {
		ab_autofree char *body = json_dumps(settings, JSON_INDENT(2));

		plan->after = ab_printf("%s\n", body ? body : "");
		ab_text_diff(plan->before, strlen(plan->before), plan->after, strlen(plan->after),
			     &plan->diff);
	}
	json_decref(old);
	json_decref(settings);
	return result;
}

int ab_mcp_wrap_plan(const struct ab_mcp_wrap *wrap, struct ab_hook_plan *ret,
		     struct ab_strv *ret_notes, struct ab_error *err)
{
	struct ab_hook_plan plan = { .path = ab_strdup(wrap->path) };

	if (ab_hook_read_settings(plan.path, &plan.before, err) < 0 ||
	    (!plan.before[0] &&
	     ab_fail(err, AB_EUSAGE, 0, "%s does not exist, or is empty", plan.path) < 0) ||
	    make_text(wrap, &plan, ret_notes, err) < 0) {
		ab_hook_plan_fini(&plan);
		return -1;
	}
	*ret = plan;
	return 0;
}
