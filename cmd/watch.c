#include "cmd.h"

#include <stdlib.h>

static int watch_main(struct args *args)
{
	const char *no_colour = getenv("NO_COLOR");
	struct ab_error err = { 0 };
	int status = check_words(args, 0, 1);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_watch(&args->input, args->nrest ? args->rest[0] : NULL,
		     !no_colour || !*no_colour, &err) < 0)
		return complain(args, &err);
	return 0;
}

const struct command command_watch = {
	.name = "watch",
	.usage = "[RUN]",
	.summary = "a run on the whole screen, as it happens",
	.more = "Requests as they are made, what is open, each host, and the "
		"questions that wait,\nwhich are answered by a key: o once, r for "
		"this run, a always, n no. RUN is the\nid or the name of a run; "
		"with only one it may be left out, with none the next\none is "
		"waited for. q leaves, and the run goes on.",
	.groups = (const struct option_group[]){
		{ NULL, options_common },
		{ 0 },
	},
	.main = watch_main,
};
