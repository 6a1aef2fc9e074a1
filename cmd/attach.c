#include "cmd.h"

static void print_note(void *arg, enum ab_level level, const char *text)
{
	const struct args *args = arg;

	if (level != AB_SAY_DETAIL && !(level == AB_SAY_NOTE && given(args, ID_QUIET)))
		tell("%s", text);
}

static const struct option options_attach[] = {
	{ "quiet", 'q', OPT_FLAG, ID_QUIET, NULL, NULL, "print only the command's output" },
	{ 0 },
};

static int attach_main(struct args *args)
{
	struct ab_request request = { .say = print_note, .arg = args };
	ab_autostrv struct ab_strv names = { 0 };
	struct ab_error err = { 0 };
	int status = check_words(args, 0, 1);
	const char *box;

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	request.policy = args->input;
	status = choose_box(args, &names, &box);
	if (status >= 0)
		return status;
	if (!box)
		return misuse(args->command, "no box stays; name a run whose command has ended");
	if (ab_attach(&request, box, &status, &err) < 0)
		return complain(args, &err);
	return status;
}

const struct command command_attach = {
	.name = "attach",
	.usage = "[--quiet] [NAME]",
	.summary = "connect to a command that runs in the background",
	.more = "Shows the output of the command that agentbox run -d started in box NAME, and\n"
		"sends your keys to it. Ctrl-] detaches; the command continues. If the command\n"
		"ends, agentbox exits with its status. Without a terminal, the output is copied\n"
		"to standard output. If the command has ended already, prints what was kept of\n"
		"its output, and exits with its status. Without NAME: the only box that stays.",
	.groups = OPTION_GROUPS({ NULL, options_attach }),
	.runs = true,
	.main = attach_main,
};
