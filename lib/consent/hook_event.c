/*
 * Reads an event of an agent. Agents relay what a model and a project made up,
 * so nothing in it is trusted: an event that cannot be read as this agent's is
 * an error, because an empty answer would let the tool run.
 */
#include "consent/hook_dialects.h"
#include "policy/model/policy.h"

enum { PATHS_MAX = 256 };

/* The member at a dotted path, or NULL. */
static json_t *find_member(json_t *value, const char *path)
{
	while (value && path && *path) {
		size_t len = strcspn(path, ".");

		value = json_object_getn(value, path, len);
		path += len + (path[len] == '.');
	}
	return path ? value : NULL;
}

static const char *get_text(json_t *root, const char *path)
{
	const char *text = json_string_value(find_member(root, path));

	return text ? text : "";
}

/* NULL without an error: an event that is not about a tool. */
static int find_moment(const struct ab_hook_dialect *d, json_t *root,
		       const struct ab_hook_moment **ret, struct ab_error *err)
{
	json_t *member = find_member(root, d->event);
	const char *name = json_string_value(member);

	*ret = NULL;
	for (size_t i = 0; i < AB_COUNT(d->moments); i++) {
		const struct ab_hook_moment *m = &d->moments[i];

		if (m->name ? name && strcmp(m->name, name) == 0 : i == 0 && !member) {
			*ret = m;
			return 0;
		}
	}
	/* An event without a name may be this agent's. */
	if (!name)
		return ab_fail(err, AB_EUSAGE, 0, "the event has no string at \"%s\"", d->event);
	return 0;
}

/* The tool's arguments; some agents send them as JSON in a string. */
static int read_input(const struct ab_hook_moment *m, struct ab_hook_event *ret,
		      struct ab_error *err)
{
	json_t *input = m->input ? find_member(ret->root, m->input) : ret->root;
	json_error_t why;
	json_t *unpacked;

	if (m->packed && json_is_string(input)) {
		unpacked = json_loadb(json_string_value(input), json_string_length(input),
				      JSON_REJECT_DUPLICATES, &why);
		if (!unpacked)
			return ab_fail(err, AB_EUSAGE, 0, "the event's %s is not JSON: %s",
				       m->input, why.text);
		/* The event owns it from here on. */
		json_object_set_new(ret->root, m->input, unpacked);
		input = unpacked;
	}
	if (!json_is_object(input))
		return ab_fail(err, AB_EUSAGE, 0, "the event has no arguments at \"%s\"",
			       m->input ? m->input : "");
	ret->input = input;
	return 0;
}

static int read_tool_name(const struct ab_hook_dialect *d, struct ab_hook_event *ret,
			  struct ab_error *err)
{
	const char *server = get_text(ret->root, d->server);
	const char *member = get_text(ret->root, d->member);
	const char *name = get_text(ret->root, d->tool);

	ret->tool = member[0] ? ab_printf("mcp__%s__%s", server, member) : ab_strdup(name);
	if (strlen(ret->tool) > AB_TOOL_NAME_MAX)
		return ab_fail(err, AB_EUSAGE, 0, "the event's name of a tool is too long");
	return 0;
}

static const struct ab_hook_tool *find_tool(const struct ab_hook_dialect *d, const char *event,
					    const char *name)
{
	for (size_t i = 0; i < d->ntools; i++) {
		const struct ab_hook_tool *t = &d->tools[i];

		if ((!t->event || (event && strcmp(t->event, event) == 0)) &&
		    (!t->tool || strcmp(t->tool, name) == 0))
			return t;
	}
	return NULL;
}

static int add_path(const char *path, struct ab_strv *ret)
{
	if (!path[0] || strlen(path) >= PATH_MAX || ret->len == PATHS_MAX)
		return -1;
	ab_strv_add(ret, path);
	return 0;
}

/* One path, or a list of them. */
static int read_paths(json_t *value, struct ab_strv *ret)
{
	json_t *element;
	size_t i;

	if (json_is_string(value))
		return add_path(json_string_value(value), ret);
	if (!json_is_array(value))
		return -1;
	json_array_foreach(value, i, element)
	{
		if (!json_is_string(element) || add_path(json_string_value(element), ret) < 0)
			return -1;
	}
	return 0;
}

/* The files that a patch adds, changes, removes or moves; -1: too many, or none. */
static int find_patch_paths(const char *patch, struct ab_strv *ret)
{
	static const char *const marks[] = {
		"*** Add File: ",
		"*** Update File: ",
		"*** Delete File: ",
		"*** Move to: ",
	};

	while (*patch) {
		size_t line = strcspn(patch, "\n"), n;

		for (size_t i = 0; i < AB_COUNT(marks); i++) {
			ab_autofree char *path = NULL;
			const char *from = patch + strspn(patch, " \t");

			n = strlen(marks[i]);
			if (from >= patch + line || strncmp(from, marks[i], n) != 0)
				continue;
			from += n;
			path = ab_strndup(from, (size_t)(patch + line - from));
			path[strcspn(path, "\r")] = '\0';
			if (add_path(path, ret) < 0)
				return -1;
		}
		patch += line + (patch[line] == '\n');
	}
	return ret->len ? 0 : -1;
}

/* Where a pattern looks: its folders before the first that is not literal. A ".." or an
 * alternative behind that can lead anywhere. */
static char *find_beginning(const char *pattern)
{
	size_t n = strcspn(pattern, "*?[]{}()!+@\\");

	if (strstr(pattern + n, "..") || (pattern[n] == '{' && strchr(pattern + n, '/')))
		return ab_strdup("/");
	while (pattern[n] && n && pattern[n - 1] != '/')
		n--;
	return ab_strndup(pattern, n);
}

/* Adds to each path the folder below it in which the pattern looks. */
static int read_pattern(json_t *value, struct ab_strv *paths)
{
	ab_autofree char *from = NULL;
	size_t n = paths->len;

	if (!value)
		return 0;
	if (!json_is_string(value))
		return -1;
	from = find_beginning(json_string_value(value));
	if (from[0] == '/' || from[0] == '~')
		return add_path(from, paths);
	for (size_t i = 0; from[0] && i < n; i++) {
		ab_autofree char *path = ab_printf("%s/%s", paths->v[i], from);

		if (add_path(path, paths) < 0)
			return -1;
	}
	return 0;
}

static int read_argument(const struct ab_hook_moment *m, const struct ab_hook_tool *t,
			 struct ab_hook_event *ret, struct ab_error *err)
{
	json_t *value = find_member(ret->input, t->argument);
	const char *text = json_string_value(value);
	bool bad = !text;

	switch (t->subject) {
	case AB_HOOK_COMMAND:
		ret->command = text;
		break;
	case AB_HOOK_READ:
	case AB_HOOK_WRITE:
		bad = read_paths(value, &ret->paths) < 0;
		break;
	case AB_HOOK_PATCH:
		if (text && find_patch_paths(text, &ret->paths) < 0)
			return ab_fail(err, AB_EUSAGE, 0,
				       "cannot tell which files the patch changes");
		break;
	case AB_HOOK_TOOL:
		break;
	}
	if (!value && t->optional) {
		ab_strv_add(&ret->paths, ".");
		bad = false;
	}
	if (bad)
		return ab_fail(err, AB_EUSAGE, 0, "the event has no string at \"%s%s%s\"",
			       m->input ? m->input : "", m->input ? "." : "", t->argument);
	if (t->pattern && read_pattern(find_member(ret->input, t->pattern), &ret->paths) < 0)
		return ab_fail(err, AB_EUSAGE, 0, "the event's pattern is not valid");
	return 0;
}

static int read_event(const struct ab_hook_dialect *d, struct ab_hook_event *ret,
		      struct ab_error *err)
{
	const struct ab_hook_moment *m;
	const struct ab_hook_tool *t;

	if (find_moment(d, ret->root, &m, err) < 0)
		return -1;
	if (!m)
		return 0;
	ret->permission = m->permission;
	if (read_tool_name(d, ret, err) < 0)
		return -1;
	t = find_tool(d, m->name, ret->tool);
	if (!t && !ret->tool[0])
		return ab_fail(err, AB_EUSAGE, 0, "the event has no string at \"%s\"",
			       d->tool ? d->tool : d->member);
	ret->about = true;
	ret->subject = t ? t->subject : AB_HOOK_TOOL;
	ret->cwd = get_text(ret->root, d->cwd);
	ret->session = get_text(ret->root, d->session);
	if (!t)
		return 0;
	if (read_input(m, ret, err) < 0)
		return -1;
	return read_argument(m, t, ret, err);
}

int ab_hook_read(const struct ab_hook_dialect *dialect, const char *text, size_t len,
		 struct ab_hook_event *ret, struct ab_error *err)
{
	json_error_t why;

	*ret = (struct ab_hook_event){ .cwd = "", .session = "" };
	ret->root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	if (!ret->root)
		return ab_fail(err, AB_EUSAGE, 0, "the event is not JSON: line %d: %s", why.line,
			       why.text);
	if (!json_is_object(ret->root))
		ab_fail(err, AB_EUSAGE, 0, "the event is not an object");
	else if (read_event(dialect, ret, err) == 0)
		return 0;
	ab_hook_event_fini(ret);
	return -1;
}

void ab_hook_event_fini(struct ab_hook_event *event)
{
	json_decref(event->root);
	free(event->tool);
	ab_strv_fini(&event->paths);
	*event = (struct ab_hook_event){ .cwd = "", .session = "" };
}
