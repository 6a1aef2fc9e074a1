#include "steer/mcp/mcp_wrap.h"

#include <jansson.h>

#include "base/text/text_diff.h"
#include "consent/hook_install.h"
#include "policy/model/list_element.h"
#include "policy/values/complaint.h"

/* Where settings list servers. */
static const struct place {
	const char *key, *below; /* `below`: a member of `key`, or NULL */
	bool listed;		 /* "command" is a list of words; else a word, with "args" */
	const char *env;	 /* its variables */
} places[] = {
	{ "mcpServers", NULL, false, "env" },	   { "servers", NULL, false, "env" },
	{ "context_servers", NULL, false, "env" }, { "mcp", "servers", false, "env" },
	{ "mcp", NULL, true, "environment" },
};

/*
 * The members of a server's entry. One that is not here may be another way to say what is started,
 * where, or with which variables, so the entry is refused. Sorted by name.
 */
enum of { ANY, COMMAND, URL }; /* a server that is started, or is reached by a URL */

static const struct member {
	const char *name;
	enum of of;
} members[] = {
	{ "alwaysAllow", ANY },		 /* Roo Code: tools */
	{ "alwaysLoad", ANY },		 /* Claude Code */
	{ "args", COMMAND },		 /* all but OpenCode */
	{ "auth", URL },		 /* Cursor: who the client is */
	{ "authProviderType", URL },	 /* Gemini CLI */
	{ "autoApprove", ANY },		 /* Cline, Kiro: tools */
	{ "command", COMMAND },		 /* all */
	{ "cwd", COMMAND },		 /* Gemini CLI, VS Code, OpenCode; see wrap_words() */
	{ "description", ANY },		 /* Gemini CLI */
	{ "disabled", ANY },		 /* Cline, Kiro, Windsurf */
	{ "disabledTools", ANY },	 /* Kiro, Windsurf */
	{ "enabled", ANY },		 /* OpenCode, Zed */
	{ "env", COMMAND },		 /* all but OpenCode */
	{ "environment", COMMAND },	 /* OpenCode */
	{ "excludeTools", ANY },	 /* Gemini CLI */
	{ "gallery", ANY },		 /* VS Code: where the entry comes from */
	{ "headers", URL },		 /* all */
	{ "httpUrl", URL },		 /* Gemini CLI */
	{ "includeTools", ANY },	 /* Gemini CLI */
	{ "oauth", URL },		 /* Claude Code, Gemini CLI, OpenCode */
	{ "serverUrl", URL },		 /* Windsurf */
	{ "settings", ANY },		 /* Zed: given to the server */
	{ "source", ANY },		 /* Zed: a word */
	{ "targetAudience", URL },	 /* Gemini CLI: a name */
	{ "targetServiceAccount", URL }, /* Gemini CLI: a name */
	{ "timeout", ANY },		 /* most */
	{ "tools", ANY },		 /* Copilot CLI: names */
	{ "transportType", ANY },	 /* Cline: a word */
	{ "trust", ANY },		 /* Gemini CLI: whether it asks before a tool is used */
	{ "type", ANY },		 /* most: a word */
	{ "url", URL },			 /* all */
	{ "version", ANY },		 /* VS Code */
};

/*
 * How a server starts in its box: in the folder that the settings chose, if they chose one. The first word
 * is always a program that we chose, because its name can select a profile. env would take a command with
 * "=" for a variable, so a shell starts those.
 */
#define STARTER "/usr/bin/env"
#define AS_IT_IS "exec \"$@\""
#define IN_FOLDER "cd -- \"$0\" && exec \"$@\""
#define NO_ARGS " # args: []"
/* By whether there is a folder, and whether the entry has an empty list "args", to be put back. */
static const char *const scripts[2][2] = {
	{ AS_IT_IS, AS_IT_IS NO_ARGS },
	{ IN_FOLDER, IN_FOLDER NO_ARGS },
};

enum {
	SHELL_WORDS = 4, /* sh -c SCRIPT, and the folder or "sh" */
	OTHERS_MAX = 20, /* commands in other places that are told */
};

struct wrapping {
	const struct ab_mcp_wrap *ask;
	const char *own; /* the real path of this program */
	struct ab_strv *notes;
	size_t nothers;
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

/*
 * The agent sets the variables of the entry for agentbox, too, before anything can be decided. So each
 * gets this prefix, which nothing outside the box obeys, and its own name only in the box.
 */
#define PREFIX "AGENTBOX_SERVER_"

/* A value that the user's own --secret keeps from the box: agentbox itself must find it by its name. */
static bool is_secret(const struct ab_mcp_wrap *ask, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i + 1 < ask->noptions; i++)
		if (strcmp(ask->options[i], "--secret") == 0 &&
		    strcspn(ask->options[i + 1], "@") == n &&
		    strncmp(ask->options[i + 1], name, n) == 0)
			return true;
	return false;
}

/* The name that the settings gave it; `wrapped`: by an entry that was wrapped before. */
static const char *find_name(const char *name, bool wrapped)
{
	bool ours = wrapped && strncmp(name, PREFIX, strlen(PREFIX)) == 0;

	return ours ? name + strlen(PREFIX) : name;
}

/* Gives the variables of an entry their prefix, or takes it away. */
static void rename_variables(const struct wrapping *w, const struct place *place, json_t *server,
			     bool wrapped)
{
	json_t *all = json_object_get(server, place->env), *out = json_object(), *value;
	const char *name;

	json_object_foreach(all, name, value)
	{
		const char *plain = find_name(name, wrapped);
		bool own = w->ask->undo || is_secret(w->ask, plain);
		ab_autofree char *to = ab_printf("%s%s", own ? "" : PREFIX, plain);

		json_object_set(out, to, value);
	}
	if (all)
		json_object_set(server, place->env, out);
	json_decref(out);
}

/* Each can be the name of a variable in the box. */
static int check_variables(const struct place *place, const char *server_name, json_t *server,
			   bool wrapped, struct ab_error *err)
{
	json_t *all = json_object_get(server, place->env), *value;
	struct ab_complaint why;
	const char *name;

	if (all && !json_is_object(all))
		return ab_fail(err, AB_EREFUSED, 0, "%s has an \"%s\" that is not an object",
			       server_name, place->env);
	json_object_foreach(all, name, value)
	{
		const char *plain = find_name(name, wrapped);

		if (ab_variable_check(plain, strlen(plain), true, &why) == 0)
			continue;
		ab_fail(err, AB_EREFUSED, 0, "%s sets a variable: %s", server_name, why.wrong);
		return ab_hint(err, "remove it from the server's \"%s\"", place->env);
	}
	return 0;
}

/* Variables in the form of another agent. */
static bool is_foreign(const struct place *place, const char *name)
{
	return (strcmp(name, "env") == 0 || strcmp(name, "environment") == 0) &&
	       strcmp(name, place->env) != 0;
}

/* The first member that agentbox does not know in such an entry, or NULL. */
static const char *find_unknown(json_t *server, const struct place *place, enum of of)
{
	const char *name;
	json_t *value;

	json_object_foreach(server, name, value)
	{
		const struct member *m = ab_find_row(members, AB_COUNT(members), name, name);

		if (!m || (m->of != ANY && m->of != of) || is_foreign(place, name))
			return name;
	}
	return NULL;
}

static int check_members(const struct place *place, const char *server_name, json_t *server,
			 struct ab_error *err)
{
	enum of of = json_object_get(server, "command") ? COMMAND : URL;
	const char *unknown = find_unknown(server, place, of);
	ab_autofree char *shown = unknown ? ab_escape(unknown) : NULL;

	if (!unknown)
		return 0;
	ab_fail(err, AB_EREFUSED, 0, "%s has the member \"%s\"%s", server_name, shown,
		strcmp(unknown, "envFile") == 0
			? ", whose variables would also apply to agentbox"
			: ", which agentbox does not know: it could choose what is started, or where");
	return of == URL ? ab_hint(err, "remove it from the server")
			 : ab_hint(err, "remove it from the server; variables go into \"%s\"",
				   place->env);
}

/* Not so an assignment, or an option. */
static bool is_for_env(json_t *words, size_t first)
{
	const char *program = json_string_value(json_array_get(words, first));

	return program && program[0] != '-' && !strchr(program, '=');
}

/* Agents put values of their own variables, some also files, in the place of these. */
static bool has_reference(json_t *value)
{
	static const char *const forms[] = { "${", "{env:", "{file:" };
	const char *text = json_string_value(value), *name;
	bool found = false;
	json_t *member;
	size_t i;

	for (i = 0; text && i < AB_COUNT(forms); i++)
		found = found || strstr(text, forms[i]);
	json_array_foreach(value, i, member)
	{
		found = found || has_reference(member);
	}
	json_object_foreach(value, name, member)
	{
		found = found || has_reference(member);
	}
	return found;
}

/* An agent would start agentbox in the folder that the settings choose, and that would be the
 * workspace. So the server goes there itself, in the box. */
static json_t *wrap_words(const struct wrapping *w, const struct place *place, json_t *server,
			  json_t *words)
{
	json_t *out = json_array(), *folder = json_object_get(server, "cwd"), *value;
	json_t *args = json_object_get(server, "args");
	bool empty = !place->listed && args && !json_array_size(args);
	const char *name;

	json_array_append_new(out, json_string(w->own));
	json_array_append_new(out, json_string("run"));
	for (size_t i = 0; i < w->ask->noptions; i++)
		json_array_append_new(out, json_string(w->ask->options[i]));
	json_object_foreach(json_object_get(server, place->env), name, value)
	{
		if (is_secret(w->ask, name))
			continue;
		json_array_append_new(out, json_string("--pass-env"));
		json_array_append_new(out, json_sprintf("%s=%s", find_name(name, true), name));
	}
	json_array_append_new(out, json_string("--"));
	if (folder || empty || !is_for_env(words, 0)) {
		json_array_append_new(out, json_string("/bin/sh"));
		json_array_append_new(out, json_string("-c"));
		json_array_append_new(out, json_string(scripts[folder != NULL][empty]));
		json_array_append_new(out, folder ? json_incref(folder) : json_string("sh"));
	} else {
		json_array_append_new(out, json_string(STARTER));
	}
	json_array_extend(out, words);
	return out;
}

/* The index of the server's own command behind what wrap_words() put before it. The folder, and "args" if
 * they are none, go back into the entry. */
static size_t skip_starter(const struct place *place, json_t *server, json_t *words, size_t inner)
{
	size_t size = json_array_size(words), own = inner;
	bool shell = is_word(words, inner, "/bin/sh") && size > inner + SHELL_WORDS;
	bool empty = false;

	if (is_word(words, inner, STARTER) && is_for_env(words, inner + 1))
		own = inner + 1;
	for (size_t i = 0; shell && i < 4; i++) {
		if (!is_word(words, inner + 2, scripts[i / 2][i % 2]))
			continue;
		own = inner + SHELL_WORDS;
		empty = i % 2;
		if (i / 2)
			json_object_set(server, "cwd", json_array_get(words, own - 1));
	}
	if (!place->listed && empty && size == own + 1)
		json_object_set_new(server, "args", json_array());
	else if (!place->listed && size == own + 1)
		json_object_del(server, "args");
	return own;
}

/*
 * Whatever the settings contain, the result is a box with the given options. Only this program is
 * known to make one: another one, and options of an earlier wrap, may be anybody's.
 */
static int wrap_server(const struct wrapping *w, const struct place *place, const char *name,
		       json_t *server, json_t *words, struct ab_error *err)
{
	size_t inner = find_inner(words);
	json_auto_t *command = NULL;
	json_t *out, *folder = json_object_get(server, "cwd");

	if (folder && !json_is_string(folder))
		return ab_fail(err, AB_EREFUSED, 0, "%s has a \"cwd\" that is not a folder's name",
			       name);
	if (check_variables(place, name, server, inner > 0, err) < 0)
		return -1;
	if (has_reference(words) || has_reference(json_object_get(server, place->env)))
		ab_strv_addf(w->notes,
			     "%s asks for values that its agent puts in, such as ${HOME}: the box "
			     "gets them, also those of variables that it would not have",
			     name);
	rename_variables(w, place, server, inner > 0);
	if (inner && !is_word(words, 0, w->own)) {
		ab_autofree char *program = ab_escape(json_string_value(json_array_get(words, 0)));

		ab_strv_addf(w->notes, "%s: %s is not this program, so it runs in a box too", name,
			     program);
		inner = 0;
	}
	command = copy_from(words, inner ? skip_starter(place, server, words, inner) : 0);
	out = wrap_words(w, place, server, command);
	if (inner && !json_equal(out, words))
		ab_strv_addf(w->notes, "%s was wrapped with other options; they are replaced",
			     name);
	json_object_del(server, "cwd");
	write_words(place, server, out);
	return 0;
}

static void unwrap_server(const struct wrapping *w, const struct place *place, json_t *server,
			  json_t *words)
{
	size_t inner = skip_starter(place, server, words, find_inner(words));

	rename_variables(w, place, server, true);
	write_words(place, server, copy_from(words, inner));
}

static int leave_server(const struct wrapping *w, const char *shown, json_t *server,
			struct ab_error *err)
{
	if (!json_object_get(server, "command")) {
		ab_strv_addf(w->notes,
			     json_is_object(server)
				     ? "%s stays as it is: it has no command"
				     : "%s is not in a box: agentbox does not know what it is",
			     shown);
		return 0;
	}
	if (w->ask->undo)
		return 0;
	ab_fail(err, AB_EREFUSED, 0, "the command of %s has a form that agentbox does not know",
		shown);
	return ab_hint(err, "it is one text, with the others in \"args\", or a list of texts");
}

static int change_server(const struct wrapping *w, const struct place *place, const char *name,
			 json_t *server, struct ab_error *err)
{
	ab_autofree char *shown = ab_escape(name);
	json_auto_t *words = NULL;
	int result = 0;

	if (!w->ask->undo && check_members(place, shown, server, err) < 0)
		return -1;
	if (!json_is_object(server) || read_words(place, server, &words) < 0)
		return leave_server(w, shown, server, err);
	if (!w->ask->undo)
		result = wrap_server(w, place, shown, server, words, err);
	else if (find_inner(words))
		unwrap_server(w, place, server, words);
	return result;
}

static json_t *find_servers(json_t *settings, const struct place *place)
{
	json_t *found = json_object_get(settings, place->key);

	return place->below ? json_object_get(found, place->below) : found;
}

/* Below "mcp" OpenCode has its servers, VS Code has "servers" and lists and switches of its own. */
static bool is_of_vscode(const struct place *place, const char *name, json_t *member)
{
	if (!place->listed || json_is_string(member))
		return false;
	return !json_is_object(member) ||
	       (strcmp(name, "servers") == 0 && !json_object_get(member, "command"));
}

/* `where`: what follows the name of a server in messages. -1, or how many there are. */
static int change_level(const struct wrapping *w, json_t *settings, const char *where,
			struct ab_error *err)
{
	const char *name;
	json_t *server;
	int found = 0;

	for (size_t i = 0; i < AB_COUNT(places); i++)
		json_object_foreach(find_servers(settings, &places[i]), name, server)
		{
			ab_autofree char *shown = ab_printf("%s%s", name, where);

			if (is_of_vscode(&places[i], name, server))
				continue;
			if (change_server(w, &places[i], shown, server, err) < 0)
				return -1;
			found++;
		}
	return found;
}

/* Claude Code's own file has servers of each project. */
static int change_projects(const struct wrapping *w, json_t *settings, struct ab_error *err)
{
	const char *path;
	json_t *project;
	int all = 0;

	json_object_foreach(json_object_get(settings, "projects"), path, project)
	{
		ab_autofree char *where = ab_printf(" of %s", path);
		int found = change_level(w, project, where, err);

		if (found < 0)
			return -1;
		all += found;
	}
	return all;
}

/* What a part of the settings is. */
enum part { LEVEL, PROJECTS, OTHER };

/* Commands in places that agentbox does not know may be servers, too. `at`: the path to `value`. */
static void note_others(struct wrapping *w, json_t *value, enum part part, const char *at)
{
	const char *name;
	json_t *member;
	size_t i;

	if (w->nothers > OTHERS_MAX)
		return;
	if (part == OTHER && json_object_get(value, "command")) {
		if (w->nothers++ == OTHERS_MAX)
			ab_strv_add(w->notes, "there are more commands that are not changed");
		else
			ab_strv_add_safe(w->notes, "%s has a command that is not changed", at);
	}
	json_object_foreach(value, name, member)
	{
		ab_autofree char *path = ab_printf("%s%s%s", at, at[0] ? "." : "", name);
		bool projects =
			part == LEVEL && strcmp(at, "") == 0 && strcmp(name, "projects") == 0;

		if (part != LEVEL || !json_is_object(member) ||
		    !ab_find_row(places, AB_COUNT(places), key, name))
			note_others(w, member,
				    projects	       ? PROJECTS
				    : part == PROJECTS ? LEVEL
						       : OTHER,
				    path);
	}
	json_array_foreach(value, i, member)
	{
		note_others(w, member, OTHER, at);
	}
}

static int change_servers(struct wrapping *w, json_t *settings, struct ab_error *err)
{
	int found = change_level(w, settings, "", err);
	int projects = found < 0 ? -1 : change_projects(w, settings, err);

	if (projects < 0)
		return -1;
	if (!w->ask->undo)
		note_others(w, settings, LEVEL, "");
	if (found + projects)
		return 0;
	ab_fail(err, AB_ECONFIG, 0, "%s lists no MCP servers", w->ask->path);
	return ab_hint(err, "agentbox knows \"mcpServers\", \"servers\", \"context_servers\" and "
			    "\"mcp\" of a JSON file");
}

static int make_text(const struct ab_mcp_wrap *wrap, struct ab_hook_plan *plan,
		     struct ab_strv *notes, struct ab_error *err)
{
	ab_autofree char *own = realpath("/proc/self/exe", NULL);
	struct wrapping w = { .ask = wrap, .own = own, .notes = notes };
	json_error_t why;
	json_auto_t *settings = NULL, *old = NULL;

	if (!own)
		return ab_fail(err, AB_ESYSTEM, errno, "find this program");
	settings = json_loads(plan->before, JSON_REJECT_DUPLICATES, &why);
	if (!settings)
		return ab_fail(err, AB_ECONFIG, 0, "%s:%d: %s", wrap->path, why.line, why.text);
	old = json_deep_copy(settings);
	if (change_servers(&w, settings, err) < 0)
		return -1;
	if (!json_equal(old, settings)) {
		ab_autofree char *body = json_dumps(settings, JSON_INDENT(2));

		plan->after = ab_printf("%s\n", body ? body : "");
		ab_text_diff(plan->before, strlen(plan->before), plan->after, strlen(plan->after),
			     &plan->diff);
	}
	return 0;
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

	if ((!wrap->undo && ab_hook_check_options(wrap->policy, err) < 0) ||
	    find_file(wrap->path, &plan, err) < 0 ||
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
