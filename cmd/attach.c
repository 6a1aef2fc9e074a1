#include "cmd.h"

static void print_note(void *arg, enum ab_level level, const char *text)
{
	const struct args *args = arg;

	if (level != AB_SAY_DETAIL && !(level == AB_SAY_NOTE && given(args, "quiet")))
		tell("%s", text);
}

static const struct option options_attach[] = {
	FLAG("quiet", 'q', "print only the command's output"),
	{ 0 },
};

static int attach_main(struct args *args, struct ab_error *err)
{
	struct ab_request request = { .say = print_note, .arg = args };
	ab_autostrv struct ab_strv names = { 0 };
	int status;
	const char *box;

	request.policy = args->input;
	if (choose_box(args, &names, &box, err) < 0)
		return -1;
	if (!box)
		return misuse(args, err, "no box stays; name a run whose command has ended");
	if (ab_attach(&request, box, &status, err) < 0)
		return -1;
	return status;
}

const struct command command_attach = {
	.name = "attach",
	.usage = "[--quiet] [NAME]",
	.summary = "connect to a command that runs in the background",
	.groups = OPTION_GROUPS({ NULL, options_attach }),
	.runs = true,
	.words = { 0, 1 },
	.main = attach_main,
};
