#include "cmd.h"

static int watch_main(struct args *args, struct ab_error *err)
{
	return ab_watch(&args->input, args->rest[0], wants_colour(STDOUT_FILENO), err);
}

const struct command command_watch = {
	.name = "watch",
	.usage = "[RUN]",
	.summary = "show a run live, full screen",
	.groups = groups_common,
	.words = { 0, 1 },
	.main = watch_main,
};
