#include "cmd.h"

#include <stdio.h>

static const struct option options_why[] = {
	{ "read", 0, OPT_FLAG, ID_READ, NULL, NULL, "only: may a run read this path?" },
	{ "write", 0, OPT_FLAG, ID_WRITE, NULL, NULL, "only: may a run write it?" },
	{ "json", 0, OPT_FLAG, ID_JSON, NULL, NULL, "print JSON" },
	{ "profile", 0, OPT_VALUE, ID_PROFILE, "NAME", NULL,
	  "start from this profile (profile list)" },
	{ 0 },
};

static int explain(const struct args *args, char **ret, struct ab_error *err)
{
	const struct ab_policy_input *in = &args->input;
	const char *what = args->nrest ? args->rest[0] : NULL;
	bool read = given(args, ID_READ), write = given(args, ID_WRITE);
	bool json = given(args, ID_JSON);

	if (args->dashes && args->nrest)
		return ab_why_command(in, args->rest, args->nrest, NULL, json, ret, err);
	if (read || write)
		return ab_why_path(in, what, read, write, json, ret, err);
	return ab_why(in, what, json, ret, err);
}

static int why_main(struct args *args)
{
	bool path = given(args, ID_READ) || given(args, ID_WRITE);
	ab_autofree char *text = NULL;
	struct ab_error err = { 0 };

	if (args->dashes && (args->before || path))
		return misuse(args->command, "-- COMMAND cannot be combined with %s",
			      path ? "--read or --write" : "another argument");
	if (args->nrest > 1 && !args->dashes)
		return misuse(args->command,
			      "unexpected argument \"%s\"; for a command: agentbox why -- COMMAND",
			      args->rest[1]);
	if (path && !args->nrest)
		return misuse(args->command, "--read and --write need a path");
	if (ab_caller_init(&args->input, &err) < 0 || explain(args, &text, &err) < 0)
		return complain(args, &err);
	if (given(args, ID_JSON))
		fputs(text, stdout);
	else
		print_messages(text);
	return fflush(stdout) == 0 ? 0 : 1;
}

const struct command command_why = {
	.name = "why",
	.usage = "[OPTIONS] [ID|RUN|HOST|PATH|COMMAND|VARIABLE|last]",
	.summary = "explain why something is denied, and what would allow it",
	.more = "ID is printed with each denial: 7kq2x-1 for a host, 7kq2x-e1 for a program,\n"
		"7kq2x-f1 for a file or a system call, 7kq2x-q1 for a file in quarantine. For a\n"
		"run (an id or a name), why lists its denials; with `last` it explains the last\n"
		"denial of the latest run, and without an argument also what else it denied.\n"
		"\n"
		"About a host, a path, a command or a variable of yours it answers from the\n"
		"settings of this folder, without a run:\n"
		"\n"
		"    agentbox why files.example.com:8080\n"
		"    agentbox why ~/.npmrc\n"
		"    agentbox why -- git push",
	.groups = OPTION_GROUPS({ NULL, options_why }, { NULL, options_files }),
	.main = why_main,
};
