#include "cmd.h"

#include <unistd.h>

static int watch_main(struct args *args)
{
	struct ab_error err = { 0 };
	int status = check_words(args, 0, 1);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_watch(&args->input, args->nrest ? args->rest[0] : NULL, wants_colour(STDOUT_FILENO),
		     &err) < 0)
		return complain(args, &err);
	return 0;
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
	.main = watch_main,
};
