#include "steer/mcp/mcp_wrap.h"

#include <errno.h>
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

struct wrapping {
	const struct ab_mcp_wrap *ask;
	const char *own; /* the real path of this program */
	struct ab_strv *notes;
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

/* The index of the first word of the server's own command after "PROGRAM run OPTIONS --"; 0: it does
 * not have this form. */
static size_t find_inner(json_t *words)
{
	const char *program = json_string_value(json_array_get(words, 0));

	if (strcmp(ab_path_name(program), "agentbox") != 0 || !is_word(words, 1, "run"))
		return 0;
	for (size_t i = 2; i + 1 < json_array_size(words); i++)
		if (is_word(words, i, "--"))
			return i + 1;
	return 0;
}

static json_t *copy_from(json_t *words, size_t first)
{
	json_t *out = json_array();

	for (size_t i = first; i < json_array_size(words); i++)
		json_array_append(out, json_array_get(words, i));
	return out;
}

static bool is_variable(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

	return name[0] && strchr(letters, name[0]) &&
	       !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
				  "0123456789")];
}

/*
 * Variables that decide about the policy, or about programs that agentbox starts outside the box.
 * The agent sets a server's variables for agentbox too, so the server's settings would choose its
 * own policy. A "*" at the end: all that begin so.
 */
static const char *const steering[] = {
	"AGENTBOX_*", "BASH_ENV",   "DBUS_*",	    "ENV",	     "GIT_*",	"GOPROXY",
	"HOME",	      "LD_*",	    "NODE_OPTIONS", "NPM_CONFIG_*",  "PATH",	"PERL5*",
	"PIP_*",      "PYTHONHOME", "PYTHONPATH",   "PYTHONSTARTUP", "RUBYLIB", "RUBYOPT",
	"SHELL",      "SSL_CERT_*", "UV_*",	    "XDG_*",	     "YARN_*",	"npm_config_*",
};

static bool steers_agentbox(const char *name)
{
	for (size_t i = 0; i < AB_COUNT(steering); i++) {
		size_t n = strcspn(steering[i], "*");

		if (strncmp(name, steering[i], n) == 0 && (steering[i][n] || !name[n]))
			return true;
	}
	return false;
}

/* Each variable is passed by its name; one that is a pattern would pass the caller's others. */
static int check_variables(const struct place *place, const char *server_name, json_t *server,
			   struct ab_error *err)
{
	const char *name;
	json_t *value;

	json_object_foreach(json_object_get(server, place->env), name, value)
	{
		ab_autofree char *shown = ab_escape(name);

		if (is_variable(name) && !steers_agentbox(name))
			continue;
		ab_fail(err, AB_EREFUSED, 0, "%s sets the variable \"%s\", %s", server_name, shown,
			is_variable(name) ? "which would also apply to agentbox itself"
					  : "which is not the name of a variable");
		return ab_hint(err,
			       "remove it from the server's \"%s\"; --env NAME=VALUE sets a "
			       "variable in the box only",
			       place->env);
	}
	return 0;
}

static json_t *wrap_words(const struct wrapping *w, const struct place *place, json_t *server,
			  json_t *words)
{
	json_t *out = json_array(), *value;
	const char *name;

	json_array_append_new(out, json_string(w->own));
	json_array_append_new(out, json_string("run"));
	for (size_t i = 0; i < w->ask->noptions; i++)
		json_array_append_new(out, json_string(w->ask->options[i]));
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

/*
 * Whatever the settings contain, the result is a box with the given options. Only this program is
 * known to make one: another one, and options of an earlier wrap, may be anybody's.
 */
static int wrap_server(const struct wrapping *w, const struct place *place, const char *name,
		       json_t *server, json_t *words, struct ab_error *err)
{
	size_t inner = find_inner(words);
	json_t *command, *out;

	if (check_variables(place, name, server, err) < 0)
		return -1;
	if (inner && !is_word(words, 0, w->own)) {
		ab_autofree char *program = ab_escape(json_string_value(json_array_get(words, 0)));

		ab_strv_addf(w->notes, "%s: %s is not this program, so it runs in a box too", name,
			     program);
		inner = 0;
	}
	command = copy_from(words, inner);
	out = wrap_words(w, place, server, command);
	json_decref(command);
	if (inner && !json_equal(out, words))
		ab_strv_addf(w->notes, "%s was wrapped with other options; they are replaced",
			     name);
	write_words(place, server, out);
	return 0;
}

static int change_server(const struct wrapping *w, const struct place *place, const char *name,
			 json_t *server, struct ab_error *err)
{
	ab_autofree char *shown = ab_escape(name);
	json_t *words;
	int result = 0;

	if (!json_is_object(server) || read_words(place, server, &words) < 0) {
		ab_strv_addf(w->notes, "%s stays as it is: it has no command", shown);
		return 0;
	}
	if (!w->ask->undo)
		result = wrap_server(w, place, shown, server, words, err);
	else if (find_inner(words))
		write_words(place, server, copy_from(words, find_inner(words)));
	json_decref(words);
	return result;
}

static int change_servers(const struct wrapping *w, json_t *settings, struct ab_error *err)
{
	const char *name;
	json_t *server;
	size_t found = 0;

	for (size_t i = 0; i < AB_COUNT(places); i++)
		json_object_foreach(json_object_get(settings, places[i].key), name, server)
		{
			if (change_server(w, &places[i], name, server, err) < 0)
				return -1;
			found++;
		}
	if (found)
		return 0;
	ab_fail(err, AB_ECONFIG, 0, "%s lists no MCP servers", w->ask->path);
	return ab_hint(err, "agentbox knows \"mcpServers\", \"servers\", \"context_servers\" and "
			    "\"mcp\" of a JSON file");
}

static int make_text(const struct ab_mcp_wrap *wrap, struct ab_hook_plan *plan,
		     struct ab_strv *notes, struct ab_error *err)
{
	ab_autofree char *own = realpath("/proc/self/exe", NULL);
	const struct wrapping w = { .ask = wrap, .own = own, .notes = notes };
	json_error_t why;
	json_t *settings, *old;
	int result;

	if (!own)
		return ab_fail(err, AB_ESYSTEM, errno, "find this program");
	settings = json_loads(plan->before, JSON_REJECT_DUPLICATES, &why);
	if (!settings)
		return ab_fail(err, AB_ECONFIG, 0, "%s:%d: %s", wrap->path, why.line, why.text);
	old = json_deep_copy(settings);
	result = change_servers(&w, settings, err);
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

/* A project can come from anybody, and its links lead anywhere. Links above the current folder, or
 * above a file elsewhere, are the user's own. */
static int find_file(const char *path, struct ab_hook_plan *ret, struct ab_error *err)
{
	ab_autofree char *here = realpath(".", NULL);

	ret->path = here ? ab_path_resolve(path, here, NULL) : NULL;
	if (!ret->path)
		return ab_fail(err, AB_EUSAGE, 0, "%s is not the path of a file", path);
	ret->top = ab_path_within(ret->path, here) ? ab_take(here) : ab_path_parent(ret->path);
	return ab_hook_check_links(ret->path, ret->top, err);
}

int ab_mcp_wrap_plan(const struct ab_mcp_wrap *wrap, struct ab_hook_plan *ret,
		     struct ab_strv *ret_notes, struct ab_error *err)
{
	struct ab_hook_plan plan = { 0 };

	if (find_file(wrap->path, &plan, err) < 0 ||
	    ab_hook_read_settings(plan.path, &plan.before, err) < 0 ||
	    (!plan.before[0] &&
	     ab_fail(err, AB_EUSAGE, 0, "%s does not exist, or is empty", plan.path) < 0) ||
	    make_text(wrap, &plan, ret_notes, err) < 0) {
		ab_hook_plan_fini(&plan);
		return -1;
	}
	*ret = plan;
	return 0;
}
