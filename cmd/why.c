#include "cmd.h"

#include <stdio.h>

static int why_main(struct args *args)
{
	ab_autofree char *text = NULL;
	struct ab_error err = { 0 };
	int status = check_words(args, 0, 1);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_why(&args->input, args->nrest ? args->rest[0] : NULL, given(args, ID_JSON), &text,
		   &err) < 0)
		return complain(args, &err);
	fputs(text, stdout);
	return fflush(stdout) == 0 ? 0 : 1;
}

const struct command command_why = {
	.name = "why",
	.usage = "[--json] [ID|RUN|VARIABLE|last]",
	.summary = "explain why something was denied, and what would allow it",
	.more = "ID is printed with each denial: 7kq2x-1 for a host, 7kq2x-e1 for a program,\n"
		"7kq2x-f1 for a file or a system call, 7kq2x-q1 for a file in quarantine. For a\n"
		"run (an id or a name), why lists its denials; for a variable of yours, it says\n"
		"whether the box gets it. With `last`, or no argument, it explains the last\n"
		"denial of the latest run.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_json },
			{ NULL, options_common },
			{ 0 },
		},
	.main = why_main,
};
