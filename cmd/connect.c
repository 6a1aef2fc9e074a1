#include "cmd.h"

#include <stdlib.h>
#include <string.h>

static int connect_main(struct args *args)
{
	struct ab_error err = { 0 };
	unsigned long port;
	int status = check_words(args, 2, 2);

	if (status >= 0)
		return status;
	port = strtoul(args->rest[1], NULL, 10);
	if (args->rest[1][strspn(args->rest[1], "0123456789")] || port < 1 || port > 65535)
		return misuse(args->command, "invalid port \"%s\"", args->rest[1]);
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_connect(&args->input, args->rest[0], (uint16_t)port, &err) < 0)
		return complain(args, &err);
	return 0;
}

const struct command command_connect = {
	.name = "connect",
	.usage = "HOST PORT",
	.summary = "from inside a box: connect to a host through the filter",
	.more = "Copies standard input to HOST, and what HOST sends to standard output. For\n"
		"programs that cannot use a proxy themselves, as in\n"
		"ssh -o ProxyCommand='agentbox connect %h %p'. The policy of the box applies, as\n"
		"it does to every other connection.",
	.groups = groups_common,
	.main = connect_main,
};
