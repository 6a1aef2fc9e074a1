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
		return misuse(args->command, "%s is not a port", args->rest[1]);
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_connect(&args->input, args->rest[0], (uint16_t)port, &err) < 0)
		return complain(args, &err);
	return 0;
}

const struct command command_connect = {
	.name = "connect",
	.usage = "HOST PORT",
	.summary = "inside a box: a connection through its door",
	.more = "Standard input goes to HOST, what HOST sends to standard "
		"output. For programs\nthat cannot use a proxy themselves, as "
		"in ssh -o ProxyCommand='agentbox connect\n%h %p'. The policy "
		"of the box decides about HOST, as for everything else.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_common },
			{ 0 },
		},
	.main = connect_main,
};
