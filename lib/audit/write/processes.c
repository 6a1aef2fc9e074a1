#include "audit/write/processes.h"

#include <jansson.h>

#include "base/base.h"

enum { NAME_SHOWN = 40 };

static json_t *parse_chain(const char *json)
{
	json_auto_t *all = strlen(json) <= AB_PROCESSES_MAX
				   ? json_loads(json, JSON_REJECT_DUPLICATES, NULL)
				   : NULL;

	return json_is_array(all) ? json_incref(all) : NULL;
}

char *ab_processes_line(const char *json)
{
	json_auto_t *all = parse_chain(json);
	ab_autofree char *line = all ? json_dumps(all, JSON_COMPACT) : NULL;

	/* The result may be longer than the input: characters become escapes. */
	return line && strlen(line) <= AB_PROCESSES_MAX ? ab_take(line) : NULL;
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
	json_auto_t *all = parse_chain(json);

	return all ? describe_process(json_array_get(all, 0)) : NULL;
}
