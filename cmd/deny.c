#include "cmd.h"

const struct command command_deny = {
	.name = "deny",
	.usage = "[OPTIONS] ID|DOMAIN",
	.summary = "deny a host from now on",
	.groups = OPTION_GROUPS({ NULL, options_permit }, { NULL, options_json }),
	.words = { 1, 1 },
	.main = permit_main,
};
