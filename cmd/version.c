#include "cmd.h"

static int version_main(struct args *args, struct ab_error *err)
{
	(void)err;

	if (given(args, "json"))
		printf("{\"version\":\"%s\",\"build\":\"%s\"}\n", AB_VERSION, build_id);
	else
		printf("agentbox %s (build %s)\n", AB_VERSION, build_id);
	return 0;
}

const struct command command_version = {
	.name = "version",
	.usage = "[--json]",
	.summary = "show the version and the build",
	.groups = groups_json,
	.bare = true,
	.main = version_main,
};
