#include "cmd.h"

static const struct option options_why[] = {
	FLAG("read", 0, "only: may a run read this path?"),
	FLAG("write", 0, "only: may a run write it?"),
	FLAG("json", 0, "print JSON"),
	VALUE("profile", 0, "NAME", "start from this profile (profile list)"),
	{ 0 },
};

static int explain(const struct args *args, char **ret, struct ab_error *err)
{
	const struct ab_policy_input *in = &args->input;
	const char *what = args->rest[0];
	bool read = given(args, "read"), write = given(args, "write");
	bool json = given(args, "json");

	if (args->dashes && args->nrest)
		return ab_why_command(in, args->rest, args->nrest, NULL, json, ret, err);
	if (read || write)
		return ab_why_path(in, what, read, write, NULL, json, ret, err);
	return ab_why(in, what, json, ret, err);
}

static int why_main(struct args *args, struct ab_error *err)
{
	bool path = given(args, "read") || given(args, "write");
	ab_autofree char *text = NULL;

	if (args->dashes && (args->before || path))
		return misuse(args, err, "-- COMMAND cannot be combined with %s",
			      path ? "--read or --write" : "another argument");
	if (args->nrest > 1 && !args->dashes)
		return misuse(args, err,
			      "unexpected argument \"%s\"; for a command: agentbox why -- COMMAND",
			      args->rest[1]);
	if (path && !args->nrest)
		return misuse(args, err, "--read and --write need a path");
	if (explain(args, &text, err) < 0)
		return -1;
	if (given(args, "json"))
		fputs(text, stdout);
	else
		print_messages(text);
	return fflush(stdout) == 0 ? 0 : 1;
}

const struct command command_why = {
	.name = "why",
	.usage = "[OPTIONS] [ID|RUN|HOST|PATH|COMMAND|VARIABLE|last]",
	.summary = "explain why something is denied, and what would allow it",
	.groups = OPTION_GROUPS({ NULL, options_why }, { NULL, options_files }),
	.words = { 0, SIZE_MAX },
	.main = why_main,
};
