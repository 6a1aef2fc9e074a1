#include "cmd.h"

#include <stdlib.h>
#include <unistd.h>

/* The user's, or one that most systems have. */
static const char *choose_shell(void)
{
	const char *const shells[] = { getenv("SHELL"), "/bin/bash" };

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (shells[i] && shells[i][0] == '/' && access(shells[i], X_OK) == 0)
			return shells[i];
	return "/bin/sh";
}

int choose_box(struct args *args, struct ab_strv *names, const char **ret)
{
	ab_autobuf struct ab_buf list = { 0 };
	struct ab_error err = { 0 };

	*ret = args->nrest ? args->rest[0] : NULL;
	if (*ret)
		return -1;
	if (ab_kept_boxes(&args->input, names, &err) < 0)
		return complain(args, &err);
	/* A setting is for a new box. */
	if (names->len == 0 || args->input.nsettings)
		return -1;
	for (size_t i = 0; i < names->len; i++)
		ab_buf_printf(&list, "%s%s", i ? ", " : "", names->v[i]);
	if (names->len > 1)
		return misuse(args->command, "more than one box stays; choose one: %s", list.data);
	*ret = names->v[0];
	if (!given(args, ID_QUIET))
		tell("using box %s", *ret);
	return -1;
}

static int shell_main(struct args *args)
{
	ab_autostrv struct ab_strv names = { 0 };
	const char *const argv[] = { choose_shell() };
	const char *script[3], *box;
	struct ab_request request;
	struct ab_error err = { 0 };
	struct args with;
	int status = check_words(args, 0, 1);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	status = choose_box(args, &names, &box);
	if (status >= 0)
		return status;
	with = *args;
	with.rest = argv;
	with.nrest = 1;
	status = run_request(&with, script, &request);
	if (status >= 0)
		return status;
	if (box && (args->input.nsettings || args->input.profile))
		return misuse(args->command,
			      "box %s exists already; its settings cannot be changed", box);
	return run_in_box(&with, &request, box);
}

const struct command command_shell = {
	.name = "shell",
	.usage = "[OPTIONS] [NAME]",
	.summary = "open a shell in a box",
	.more = "Starts your shell in the kept box NAME (agentbox run --keep). Without NAME it\n"
		"uses the only kept box, or else a new box in this folder that ends with it.",
	.groups =
		(const struct option_group[]){
			{ "Policy of a new box", options_policy },
			{ NULL, options_common },
			{ 0 },
		},
	.runs = true,
	.main = shell_main,
};
