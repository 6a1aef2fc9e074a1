#include "cmd.h"

static int deny_main(struct args *args)
{
	return permit_main(args, true);
}

const struct command command_deny = {
	.name = "deny",
	.usage = "[OPTIONS] ID|DOMAIN",
	.summary = "stop letting a host through",
	.more = "From now on the live run cannot reach the host: requests that "
		"wait for an answer\nabout it are refused, and so are new ones. "
		"Denied takes precedence over allowed.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_permit },
			{ NULL, options_json },
			{ NULL, options_common },
			{ 0 },
		},
	.main = deny_main,
};
