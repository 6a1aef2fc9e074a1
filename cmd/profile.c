#include "cmd.h"

#include <stdio.h>

static const struct option_group groups[] = {
	{ NULL, options_json },
	{ NULL, options_common },
	{ 0 },
};

static void print_list(const struct ab_strv *names, const struct ab_strv *docs)
{
	for (size_t i = 0; i < names->len; i++) {
		ab_autofree char *name = ab_escape(names->v[i]);
		ab_autofree char *doc = ab_escape(docs->v[i]);

		printf("%-26s %s\n", name, doc);
	}
}

static void print_list_json(const struct ab_strv *names, const struct ab_strv *docs)
{
	ab_autobuf struct ab_buf b = { 0 };

	for (size_t i = 0; i < names->len; i++) {
		ab_buf_puts(&b, i ? "," : "");
		ab_buf_puts(&b, "{\"name\":");
		ab_buf_json(&b, names->v[i]);
		ab_buf_puts(&b, ",\"about\":");
		ab_buf_json(&b, docs->v[i]);
		ab_buf_puts(&b, "}");
	}
	printf("[%s]\n", b.data ? b.data : "");
}

static int list_main(struct args *args)
{
	ab_autostrv struct ab_strv names = { 0 }, docs = { 0 };
	struct ab_error err = { 0 };
	int status = check_words(args, 0, 0);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	ab_policy_profiles(&args->input, &names, &docs);
	if (given(args, ID_JSON))
		print_list_json(&names, &docs);
	else
		print_list(&names, &docs);
	return 0;
}

static int show_main(struct args *args)
{
	ab_autofree char *text = NULL;
	struct ab_policy *policy;
	struct ab_error err = { 0 };
	int status = check_words(args, 1, 1);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_policy_load_one(&args->input, args->rest[0], &policy, &err) < 0)
		return complain(args, &err);
	text = ab_policy_show(policy, given(args, ID_JSON));
	ab_policy_free(policy);
	fputs(text, stdout);
	return 0;
}

static const struct command command_list = {
	.name = "profile list",
	.usage = "[--json]",
	.summary = "list the built-in profiles and your own",
	.groups = groups,
	.main = list_main,
};

static const struct command command_show = {
	.name = "profile show",
	.usage = "[--json] NAME",
	.summary = "show what a profile sets here, without other layers",
	.more = "A NAME that contains a slash or ends in .json is a file.",
	.groups = groups,
	.main = show_main,
};

const struct command command_profile = {
	.name = "profile",
	.usage = "list|show",
	.summary = "list and show the profiles a policy can start from",
	.more = "Your own profiles are files named NAME.json in the folder that `agentbox config\n"
		"path` shows. They are written like any settings file: agentbox.json(5).",
	.groups =
		(const struct option_group[]){
			{ NULL, options_common },
			{ 0 },
		},
	.subs =
		(const struct command *const[]){
			&command_list,
			&command_show,
			NULL,
		},
	.main = sub_main,
};
