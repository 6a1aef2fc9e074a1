#include <string.h>

#include "base/data/error.h"
#include "session/consent/hook_dialects.h"

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

static bool is_listed(const char *names, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = names; *p; p += strspn(p, " ")) {
		size_t word = strcspn(p, " ");

		if (word == len && memcmp(p, name, len) == 0)
			return true;
		p += word;
	}
	return false;
}

/*
 * Clears *about unless the event has one of these names at `path`. An event
 * without any name there is not this agent's: it is an error, because an empty
 * answer would let the command run.
 */
static int check_name(json_t *root, const char *path, const char *names, bool *about,
		      struct ab_error *err)
{
	const char *name;

	if (!path)
		return 0;
	name = json_string_value(find_member(root, path));
	if (!name)
		return ab_fail(err, AB_EUSAGE, 0, "the event has no string at \"%s\"", path);
	*about = *about && is_listed(names, name);
	return 0;
}

static const char *get_text(json_t *root, const char *path)
{
	const char *text = json_string_value(find_member(root, path));

	return text ? text : "";
}

/* The tool's arguments; some agents send them as JSON in a string. */
static int read_input(const struct ab_hook_dialect *d, struct ab_hook_event *ret,
		      struct ab_error *err)
{
	json_t *input = d->input ? find_member(ret->root, d->input) : ret->root;
	json_error_t why;
	json_t *unpacked;

	if (d->packed && json_is_string(input)) {
		unpacked = json_loadb(json_string_value(input), json_string_length(input),
				      JSON_REJECT_DUPLICATES, &why);
		if (!unpacked)
			return ab_fail(err, AB_EUSAGE, 0, "the event's %s is not JSON: %s",
				       d->input, why.text);
		/* The event owns it from here on. */
		json_object_set_new(ret->root, d->input, unpacked);
		input = unpacked;
	}
	if (!json_is_object(input))
		return ab_fail(err, AB_EUSAGE, 0, "the event has no arguments at \"%s\"",
			       d->input ? d->input : "");
	ret->input = input;
	return 0;
}

static int read_command(const struct ab_hook_dialect *d, struct ab_hook_event *ret,
			struct ab_error *err)
{
	bool about = true;

	if (check_name(ret->root, d->event, d->event_name, &about, err) < 0)
		return -1;
	if (!about)
		return 0;
	if (check_name(ret->root, d->tool, d->tools, &about, err) < 0)
		return -1;
	if (!about)
		return 0;
	if (read_input(d, ret, err) < 0)
		return -1;
	ret->command = json_string_value(find_member(ret->input, d->command));
	if (!ret->command)
		return ab_fail(err, AB_EUSAGE, 0, "the event has no string at \"%s%s%s\"",
			       d->input ? d->input : "", d->input ? "." : "", d->command);
	ret->cwd = get_text(ret->root, d->cwd);
	ret->session = get_text(ret->root, d->session);
	return 0;
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
	if (!json_is_object(ret->root)) {
		ab_fail(err, AB_EUSAGE, 0, "the event is not an object");
	} else if (read_command(dialect, ret, err) == 0) {
		return 0;
	}
	json_decref(ret->root);
	ret->root = NULL;
	return -1;
}
