#include "audit/write/processes.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"

enum { NAME_SHOWN = 40 };

static json_t *parse_chain(const char *json)
{
	json_t *all = strlen(json) <= AB_PROCESSES_MAX
			      ? json_loads(json, JSON_REJECT_DUPLICATES, NULL)
			      : NULL;

	if (json_is_array(all))
		return all;
	json_decref(all);
	return NULL;
}

char *ab_processes_line(const char *json)
{
	json_t *all = parse_chain(json);
	ab_autofree char *line = all ? json_dumps(all, JSON_COMPACT) : NULL;

	json_decref(all);
	/* The result may be longer than the input: characters become escapes. */
	if (!line || strlen(line) > AB_PROCESSES_MAX)
		return NULL;
	return ab_take(line);
}

static char *describe_process(const json_t *process)
{
	const char *exe = json_string_value(json_object_get(process, "exe"));
	const json_t *pid = json_object_get(process, "pid");
	const char *slash = exe ? strrchr(exe, '/') : NULL;
	struct ab_buf b = { 0 };
	size_t len;

	if (slash && slash[1])
		exe = slash + 1;
	if (!exe || !*exe || !json_is_integer(pid))
		return NULL;
	len = strnlen(exe, NAME_SHOWN);
	ab_buf_escape_n(&b, exe, len);
	ab_buf_printf(&b, "%s, pid %" JSON_INTEGER_FORMAT, exe[len] ? "..." : "",
		      json_integer_value(pid));
	return ab_buf_take(&b);
}

char *ab_processes_nearest(const char *json)
{
	json_t *all = parse_chain(json);
	char *words = all ? describe_process(json_array_get(all, 0)) : NULL;

	json_decref(all);
	return words;
}
