#include "cmd.h"

static int deny_main(struct args *args)
{
	return permit_main(args, true);
}

const struct command command_deny = {
	.name = "deny",
	.usage = "[OPTIONS] ID|DOMAIN",
	.summary = "let this host through no longer",
	.more = "For the run that goes on, from now on: what waits for an "
		"answer about the host\nis refused, and so is what comes. "
		"What is denied is stronger than what is\nallowed.",
	.groups = (const struct option_group[]){
		{ NULL, options_permit },
		{ NULL, options_json },
		{ NULL, options_common },
		{ 0 },
	},
	.main = deny_main,
};
