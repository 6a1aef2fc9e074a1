#include "cmd.h"

static int connect_main(struct args *args, struct ab_error *err)
{
	unsigned long port = strtoul(args->rest[1], NULL, 10);

	if (args->rest[1][strspn(args->rest[1], "0123456789")] || port < 1 || port > 65535)
		return misuse(args, err, "invalid port \"%s\"", args->rest[1]);
	return ab_connect(&args->input, args->rest[0], (uint16_t)port, err);
}

const struct command command_connect = {
	.name = "connect",
	.usage = "HOST PORT",
	.summary = "from inside a box: connect to a host through the filter",
	.groups = groups_common,
	.words = { 2, 2 },
	.main = connect_main,
};
