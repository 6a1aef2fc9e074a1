#include "cmd.h"

static int list_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv notes = { 0 };
	ab_autopolicy struct ab_policy *policy = NULL;

	args->input.judging = true;
	if (ab_policy_load(&args->input, &policy, &notes, err) < 0)
		return -1;
	return print_made(ab_policy_rules(policy, given(args, "json")), &notes);
}

static const struct command subs[] = {
	{ "rules list", "[OPTIONS]", "list the rules in force here: yours, then the built-in ones",
	  OPTION_GROUPS({ NULL, options_json }, { NULL, options_profile }, { NULL, options_files }),
	  .main = list_main },
	{ 0 },
};

const struct command command_rules = {
	.name = "rules",
	.usage = "list",
	.summary = "list the rules that commands are judged by",
	.groups = groups_common,
	.subs = subs,
};
