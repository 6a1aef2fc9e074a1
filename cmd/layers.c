#include "cmd.h"

static const struct option options_rm[] = {
	FLAG("yes", 'y', "also remove changes and home layers"),
	{ 0 },
};

static int list_main(struct args *args, struct ab_error *err)
{
	ab_auto(ab_layer_infos_fini) struct ab_layer_infos list = { 0 };

	if (ab_layer_infos_get(&args->input, true, &list, err) < 0)
		return -1;
	return print_made(given(args, "json")
				  ? ab_layer_infos_json(&list, false)
				  : ab_layer_infos_text(&list, (int64_t)time(NULL) * 1000,
							ab_tty_columns(STDOUT_FILENO, 0)),
			  NULL);
}

/* On a terminal, ask; without one, removing work needs --yes. */
static bool may_remove(const struct args *args, const char *name, const char *what,
		       const char *option)
{
	ab_autofree char *question = ab_printf("%s has %s. Remove them?", name, what);
	ab_autofree char *without = ab_printf("%s has %s: see them with agentbox diff %s%s, or add "
					      "--yes to remove them",
					      name, what, option, name);

	return get_consent(args, question, without, NULL) < 0;
}

static bool may_remove_changes(const struct args *args, const char *name, int64_t n)
{
	ab_autofree char *what = n > 0 ? ab_printf("%lld change%s that were not applied",
						   (long long)n, n == 1 ? "" : "s")
				       : ab_strdup("changes that were not applied");

	return may_remove(args, name, what, "");
}

/* 0: removed. */
static int remove_one(struct args *args, const char *name)
{
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_error err = { 0 };
	int64_t changes = -1;
	int result = ab_layers_rm(&args->input, name, given(args, "yes"), &changes, &notes, &err);

	tell_notes(&notes);
	if (result > 0) {
		if (!(result == 1 ? may_remove_changes(args, name, changes)
				  : may_remove(args, name, "files in its home layer", "--home ")))
			return 1;
		result = ab_layers_rm(&args->input, name, true, &changes, &notes, &err);
	}
	if (result < 0)
		return complain(args, &err);
	printf("%s removed\n", name);
	return 0;
}

static int rm_main(struct args *args, struct ab_error *err)
{
	int status, worst = 0;

	(void)err;
	for (size_t i = 0; i < args->nrest; i++) {
		status = remove_one(args, args->rest[i]);
		worst = status > worst ? status : worst;
	}
	return worst;
}

static void print_refreshed_json(const struct ab_layers_refreshed *done)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'refreshed':%p,'left':[", ab_list(&done->paths));
	for (size_t i = 0; i + 1 < done->left.len; i += 2)
		ab_buf_jsonf(&b, ",{'path':%s,'why':%s}", done->left.v[i], done->left.v[i + 1]);
	printf("%s]}\n", b.data);
}

static void print_refreshed(const struct ab_layers_refreshed *done)
{
	print_each("~/", &done->paths, "");
	printf("%zu file%s refreshed from the host\n", done->paths.len,
	       done->paths.len == 1 ? "" : "s");
	for (size_t i = 0; i + 1 < done->left.len; i += 2)
		tell("~/%s stays as it is in the layer: %s", done->left.v[i], done->left.v[i + 1]);
}

static int refresh_main(struct args *args, struct ab_error *err)
{
	ab_auto(ab_layers_refreshed_fini) struct ab_layers_refreshed done = { 0 };
	if (ab_layers_refresh(&args->input, args->rest[0], args->rest + 1, args->nrest - 1, &done,
			      err) < 0) {
		return -1;
	}
	tell_notes(&done.notes);
	if (given(args, "json"))
		print_refreshed_json(&done);
	else
		print_refreshed(&done);
	return done.left.len ? 1 : 0;
}

static const struct command subs[] = {
	{ "layers list", "[--json]", "list the kept layers", groups_json, .main = list_main },
	{ "layers rm", "[--yes] NAME...", "remove layers", OPTION_GROUPS({ NULL, options_rm }),
	  .words = { 1, SIZE_MAX }, .main = rm_main },
	{ "layers refresh", "[--json] NAME [PATH...]",
	  "replace old copies in a home layer by the host's files", groups_json,
	  .words = { 1, SIZE_MAX }, .main = refresh_main },
	{ 0 },
};

/* `layers` alone is `layers list`. */
const struct command command_layers = {
	.name = "layers",
	.usage = "[list] | rm NAME... | refresh NAME [PATH...]",
	.summary = "list, remove and refresh kept layers",
	.groups = groups_json,
	.subs = subs,
	.main = list_main,
};
