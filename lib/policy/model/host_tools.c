#include "policy/model/host_tools.h"

#include "policy/model/config.h"

bool ab_host_tool_is_name(const char *name)
{
	size_t n = strlen(name);

	return n <= AB_HOST_TOOL_NAME && ab_is_alnum(name[0]) && strcmp(name, "agentbox") != 0 &&
	       ab_has_only(name, n, "._+-");
}

struct ab_host_tools ab_host_tools_fill(struct ab_arena *a, const struct ab_value *v)
{
	const struct ab_host_tool **list =
		ab_arena_alloc(a, (v->len + 1) * sizeof(const struct ab_host_tool *));

	for (size_t i = 0; i < v->len; i++)
		list[i] = v->items[i].tool;
	return (struct ab_host_tools){ .v = list, .len = v->len };
}
