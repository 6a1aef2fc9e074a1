#include "cmd.h"

static int watch_main(struct args *args, struct ab_error *err)
{
	return ab_watch(&args->input, args->rest[0], wants_colour(STDOUT_FILENO), err);
}

const struct command command_watch = {
	.name = "watch",
	.usage = "[RUN]",
	.summary = "show a run live, full screen",
	.more = "Shows requests as they happen, open connections, each host, and the questions\n"
		"that wait for an answer. Answer with a key: o once, r for this run, a always,\n"
		"n no. RUN is an id or a name; without it, watch shows the only active run, or\n"
		"the next one to start. q quits; the run continues.",
	.groups = groups_common,
	.words = { 0, 1 },
	.main = watch_main,
};
