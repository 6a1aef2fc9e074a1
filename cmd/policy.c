#include "cmd.h"

#include <stdio.h>

static int diff_main(struct args *args)
{
	struct ab_policy *a = NULL, *b = NULL;
	ab_autofree char *text = NULL;
	struct ab_error err = { 0 };
	int status = check_words(args, 2, 2);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_policy_load_one(&args->input, args->rest[0], &a, &err) < 0 ||
	    ab_policy_load_one(&args->input, args->rest[1], &b, &err) < 0) {
		ab_policy_free(a);
		return complain(args, &err);
	}
	text = ab_policy_diff(a, args->rest[0], b, args->rest[1], given(args, ID_JSON));
	ab_policy_free(a);
	ab_policy_free(b);
	fputs(text, stdout);
	return 0;
}

static const struct command command_diff = {
	.name = "policy diff",
	.usage = "[--json] A B",
	.summary = "show what A allows and B does not, and the reverse",
	.more = "A and B are profiles or files; a name with a slash or with .json at its end is a\n"
		"file. When in doubt, diff reports a difference.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_json },
			{ NULL, options_common },
			{ 0 },
		},
	.main = diff_main,
};

const struct command command_policy = {
	.name = "policy",
	.usage = "diff",
	.summary = "compare policies",
	.groups =
		(const struct option_group[]){
			{ NULL, options_common },
			{ 0 },
		},
	.subs = (const struct command *const[]){ &command_diff, NULL },
	.main = sub_main,
};
