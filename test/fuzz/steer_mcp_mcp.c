#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "steer/mcp/mcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Arguments are what the table says. */
static void call(void *arg, const char *tool, json_t *arguments, struct ab_mcp_result *ret)
{
	const char *name;
	json_t *value;

	(void)arg;
	json_object_foreach(arguments, name, value)
	{
		if (!json_is_string(value) && !json_is_integer(value))
			abort();
	}
	if (strcmp(tool, "run") == 0 && !json_string_value(json_object_get(arguments, "command")))
		abort();
	ret->text = ab_strdup("x");
}

/* A reply is one line. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ab_mcp_host host = { call, NULL };
	char *reply = ab_mcp_answer(&host, (const char *)data, size);

	if (reply && (strchr(reply, '\n') || reply[0] != '{'))
		abort();
	free(reply);
	return 0;
}
