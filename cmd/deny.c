#include "cmd.h"

const struct command command_deny = {
	.name = "deny",
	.usage = "[OPTIONS] ID|DOMAIN",
	.summary = "deny a host from now on",
	.more = "The active run can no longer reach the host: agentbox closes open connections to\n"
		"it, and denies new requests and those that are waiting for an answer. Deny rules\n"
		"override allow rules.",
	.groups = OPTION_GROUPS({ NULL, options_permit }, { NULL, options_json }),
	.words = { 1, 1 },
	.main = permit_main,
};
