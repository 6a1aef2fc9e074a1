#include "cmd.h"

int preview_main(struct args *args, const struct ab_request *request, struct ab_error *err)
{
	struct ab_preview preview;

	if (ab_preview_open(request, !args->command->runs, &preview, err) < 0)
		return -1;
	print_made(given(args, "json") ? ab_preview_json(request, &preview)
				       : ab_preview_text(request, &preview, given(args, "verbose"),
							 output_columns()),
		   given(args, "json") || given(args, "quiet") ? NULL : &preview.notes);
	ab_preview_fini(&preview);
	return 0;
}

static const struct option options_explain[] = {
	VALUE("command", 'c', "STRING", "judge this text"),
	FLAG("verbose", 'v', "list each hidden and protected path"),
	FLAG("json", 0, "print JSON"),
	{ 0 },
};

static int explain_main(struct args *args, struct ab_error *err)
{
	const char *script[] = { "/bin/sh", "-c", value_of(args, "command") };
	struct ab_request request = { .policy = args->input,
				      .argv = args->rest,
				      .argc = args->nrest,
				      .script = value_of(args, "command") };

	if (given(args, "command") && args->nrest)
		return misuse(args, err, "unexpected argument \"%s\" after -c STRING",
			      args->rest[0]);
	if (given(args, "command")) {
		request.argv = script;
		request.argc = AB_COUNT(script);
	}
	return preview_main(args, &request, err);
}

static int test_main(struct args *args, struct ab_error *err)
{
	struct ab_policy_tested tested;

	if (ab_policy_test(&args->input, args->rest[0], given(args, "json"), &tested, err) < 0)
		return -1;
	print_made(tested.text, NULL);
	return tested.failed ? 1 : 0;
}

static int diff_main(struct args *args, struct ab_error *err)
{
	ab_autopolicy struct ab_policy *a = NULL, *b = NULL;

	if (ab_policy_load_one(&args->input, args->rest[0], &a, err) < 0 ||
	    ab_policy_load_one(&args->input, args->rest[1], &b, err) < 0)
		return -1;
	return print_made(ab_policy_diff(a, args->rest[0], b, args->rest[1], given(args, "json")),
			  NULL);
}

static const struct command subs[] = {
	{ "policy diff", "[--json] A B", "show what A allows and B does not, and the reverse",
	  groups_json, .words = { 2, 2 }, .main = diff_main },
	{ "policy explain", "[OPTIONS] [-- COMMAND [ARG...]]",
	  "show what a run here would be allowed to do",
	  OPTION_GROUPS({ NULL, options_explain }, { "Policy", options_policy }),
	  .words = { 0, SIZE_MAX }, .main = explain_main },
	{ "policy test", "[OPTIONS] FILE", "check that the policy here answers as FILE expects",
	  OPTION_GROUPS({ NULL, options_json }, { NULL, options_profile }, { NULL, options_files }),
	  .words = { 1, 1 }, .main = test_main },
	{ 0 },
};

const struct command command_policy = {
	.name = "policy",
	.usage = "diff|explain|test",
	.summary = "explain, compare and test policies",
	.groups = groups_common,
	.subs = subs,
};
