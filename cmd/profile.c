#include "cmd.h"

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

	ab_buf_jsonf(&b, "[");
	for (size_t i = 0; i < names->len; i++)
		ab_buf_jsonf(&b, ",{'name':%s,'about':%s}", names->v[i], docs->v[i]);
	printf("%s]\n", b.data);
}

static int list_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv names = { 0 }, docs = { 0 };

	(void)err;
	ab_policy_profiles(&args->input, &names, &docs);
	if (given(args, "json"))
		print_list_json(&names, &docs);
	else
		print_list(&names, &docs);
	return 0;
}

static int show_main(struct args *args, struct ab_error *err)
{
	ab_autopolicy struct ab_policy *policy = NULL;

	if (ab_policy_load_one(&args->input, args->rest[0], &policy, err) < 0)
		return -1;
	return print_made(ab_policy_show(policy, given(args, "json")), NULL);
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
	const char *word;

	ab_buf_jsonf(b, ",%s:[", name);
	for (size_t n; (word = ab_word_next(&list, &n));)
		ab_buf_jsonf(b, ",%.*s", (int)n, word);
	ab_buf_puts(b, "]");
}

static void print_presets_json(const struct ab_strv *found)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "[");
	for (size_t i = 0; i < ab_toolchain_count; i++) {
		const struct ab_toolchain *t = &ab_toolchains[i];

		ab_buf_jsonf(&b, ",{'name':%s,'about':%s", t->name, t->doc);
		put_list(&b, "hosts", t->hosts);
		put_list(&b, "env", t->env);
		put_list(&b, "files", t->files);
		ab_buf_jsonf(&b, ",'detected':%hhd}", ab_strv_has(found, t->name));
	}
	printf("%s]\n", b.data);
}

static int presets_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv found = { 0 };

	(void)err;
	ab_toolchains_detect(".", &found, NULL);
	if (given(args, "json"))
		print_presets_json(&found);
	else
		print_presets(&found);
	return 0;
}

static const struct command subs[] = {
	{ "profile list", "[--json]", "list the built-in profiles and your own", groups_json,
	  .main = list_main },
	{ "profile show", "[--json] NAME", "show what a profile sets here, without other layers",
	  groups_json, .words = { 1, 1 }, .main = show_main },
	{ "profile presets", "[--json]", "list the presets of --with, and what each brings",
	  groups_json, .bare = true, .main = presets_main },
	{ 0 },
};

const struct command command_profile = {
	.name = "profile",
	.usage = "list|show|presets",
	.summary = "list and show the profiles a policy can start from",
	.groups = groups_common,
	.subs = subs,
};
