#include "cmd.h"

#include <stdio.h>

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

static void print_presets(const struct ab_strv *found)
{
	for (size_t i = 0; i < ab_toolchain_count; i++) {
		const struct ab_toolchain *t = &ab_toolchains[i];

		printf("%-10s%s%s\n%10s%s%s%s\n", t->name, t->doc,
		       ab_strv_has(found, t->name) ? " (detected here)" : "", "", t->hosts,
		       t->env[0] ? " " : "", t->env);
	}
}

static void put_list(struct ab_buf *b, const char *name, const char *list)
{
	char word[AB_TOOLCHAIN_WORD];

	ab_buf_printf(b, ",\"%s\":[", name);
	for (size_t i = 0; ab_toolchain_next(&list, word); i++) {
		ab_buf_puts(b, i ? "," : "");
		ab_buf_json(b, word);
	}
	ab_buf_puts(b, "]");
}

static void print_presets_json(const struct ab_strv *found)
{
	ab_autobuf struct ab_buf b = { 0 };

	for (size_t i = 0; i < ab_toolchain_count; i++) {
		const struct ab_toolchain *t = &ab_toolchains[i];

		ab_buf_printf(&b, "%s{\"name\":\"%s\",\"about\":", i ? "," : "", t->name);
		ab_buf_json(&b, t->doc);
		put_list(&b, "hosts", t->hosts);
		put_list(&b, "env", t->env);
		put_list(&b, "files", t->files);
		ab_buf_printf(&b, ",\"detected\":%s}",
			      ab_strv_has(found, t->name) ? "true" : "false");
	}
	printf("[%s]\n", b.data);
}

static int presets_main(struct args *args)
{
	ab_autostrv struct ab_strv found = { 0 };
	int status = check_words(args, 0, 0);

	if (status >= 0)
		return status;
	ab_toolchains_detect(".", &found, NULL);
	if (given(args, ID_JSON))
		print_presets_json(&found);
	else
		print_presets(&found);
	return 0;
}

static const struct command command_list = {
	.name = "profile list",
	.usage = "[--json]",
	.summary = "list the built-in profiles and your own",
	.groups = groups_json,
	.main = list_main,
};

static const struct command command_show = {
	.name = "profile show",
	.usage = "[--json] NAME",
	.summary = "show what a profile sets here, without other layers",
	.more = "A NAME that contains a slash or ends in .json is a file.",
	.groups = groups_json,
	.main = show_main,
};

static const struct command command_presets = {
	.name = "profile presets",
	.usage = "[--json]",
	.summary = "list the presets of --with, and what each brings",
	.more = "Example: agentbox run --with node,python -- npm test",
	.groups = groups_json,
	.main = presets_main,
};

const struct command command_profile = {
	.name = "profile",
	.usage = "list|show|presets",
	.summary = "list and show the profiles a policy can start from",
	.more = "Your own profiles are files named NAME.json in the folder that `agentbox config\n"
		"path` shows. They are written like any settings file: agentbox.json(5).",
	.groups = groups_common,
	.subs =
		(const struct command *const[]){
			&command_list,
			&command_show,
			&command_presets,
			NULL,
		},
	.main = sub_main,
};
