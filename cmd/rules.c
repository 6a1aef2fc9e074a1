#include "cmd.h"

#include <stdio.h>

static const struct option options_profile[] = {
	{ "profile", 0, OPT_VALUE, ID_PROFILE, "NAME", NULL,
	  "start from this profile (profile list)" },
	{ 0 },
};

static int list_main(struct args *args)
{
	ab_autostrv struct ab_strv notes = { 0 };
	ab_autofree char *text = NULL;
	struct ab_policy *policy;
	struct ab_error err = { 0 };
	int status = check_words(args, 0, 0);

	if (status >= 0)
		return status;
	args->input.judging = true;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_policy_load(&args->input, &policy, &notes, &err) < 0)
		return complain(args, &err);
	text = ab_policy_rules(policy, given(args, ID_JSON));
	ab_policy_free(policy);
	fputs(text, stdout);
	fflush(stdout);
	for (size_t i = 0; i < notes.len; i++)
		tell("%s", notes.v[i]);
	return 0;
}

static const struct command command_list = {
	.name = "rules list",
	.usage = "[OPTIONS]",
	.summary = "list the rules in force here: yours, then the built-in ones",
	.more = "The first of your own rules that matches a command decides; among the built-in\n"
		"rules, the strictest wins.",
	.groups = OPTION_GROUPS({ NULL, options_json }, { NULL, options_profile },
				{ NULL, options_files }),
	.main = list_main,
};

const struct command command_rules = {
	.name = "rules",
	.usage = "list",
	.summary = "list the rules that commands are judged by",
	.more = "To add or change rules, see commands in agentbox.json(5).",
	.groups = groups_common,
	.subs = (const struct command *const[]){ &command_list, NULL },
	.main = sub_main,
};
