#include "cmd.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const struct option options_rm[] = {
	{ "yes", 'y', OPT_FLAG, ID_YES, NULL, NULL, "also remove changes and home layers" },
	{ 0 },
};

static size_t terminal_columns(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int list_main(struct args *args)
{
	ab_autofree char *text = NULL;
	struct ab_layer_infos list;
	struct ab_error err = { 0 };
	int status = check_words(args, 0, 0);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_layer_infos_get(&args->input, true, &list, &err) < 0)
		return complain(args, &err);
	text = given(args, ID_JSON)
		       ? ab_layer_infos_json(&list)
		       : ab_layer_infos_text(&list, (int64_t)time(NULL) * 1000, terminal_columns());
	fputs(text, stdout);
	ab_layer_infos_fini(&list);
	return 0;
}

static bool may_remove_home(const char *name)
{
	ab_autofree char *question =
		ab_printf("%s has files in its home layer. Remove them?", name);
	ab_autofree char *more =
		ab_printf("          see them with agentbox diff --home %s, or add "
			  "--yes to remove them",
			  name);

	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return confirm(question);
	tell("%s has files in its home layer", name);
	tell_more(more);
	return false;
}

/* On a terminal, ask; without one, removing work needs --yes. */
static bool may_remove(const char *name, int64_t changes)
{
	ab_autofree char *what = changes > 0 ? ab_printf("%lld change%s", (long long)changes,
							 changes == 1 ? "" : "s")
					     : ab_strdup("changes");
	ab_autofree char *question =
		ab_printf("%s has %s that were not applied. Remove them?", name, what);
	ab_autofree char *more =
		ab_printf("          see them with agentbox diff %s, or add --yes to "
			  "remove them",
			  name);

	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return confirm(question);
	tell("%s has %s that were not applied", name, what);
	tell_more(more);
	return false;
}

/* 0: removed. */
static int remove_one(struct args *args, const char *name)
{
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_error err = { 0 };
	int64_t changes = -1;
	int result = ab_layers_rm(&args->input, name, given(args, ID_YES), &changes, &notes, &err);

	for (size_t i = 0; i < notes.len; i++)
		tell("%s", notes.v[i]);
	if (result > 0) {
		if (!(result == 1 ? may_remove(name, changes) : may_remove_home(name)))
			return 1;
		result = ab_layers_rm(&args->input, name, true, &changes, &notes, &err);
	}
	if (result < 0)
		return complain(args, &err);
	printf("%s removed\n", name);
	return 0;
}

static int rm_main(struct args *args)
{
	struct ab_error err = { 0 };
	int status = check_words(args, 1, SIZE_MAX), worst = 0;

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	for (size_t i = 0; i < args->nrest; i++) {
		status = remove_one(args, args->rest[i]);
		worst = status > worst ? status : worst;
	}
	return worst;
}

static void print_refreshed_json(const struct ab_layers_refreshed *done)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_puts(&b, "{\"refreshed\":");
	ab_buf_json_list(&b, &done->paths);
	ab_buf_puts(&b, ",\"left\":[");
	for (size_t i = 0; i + 1 < done->left.len; i += 2) {
		ab_buf_puts(&b, i ? ",{\"path\":" : "{\"path\":");
		ab_buf_json(&b, done->left.v[i]);
		ab_buf_puts(&b, ",\"why\":");
		ab_buf_json(&b, done->left.v[i + 1]);
		ab_buf_puts(&b, "}");
	}
	ab_buf_puts(&b, "]}\n");
	fputs(b.data, stdout);
}

static void print_refreshed(const struct ab_layers_refreshed *done)
{
	for (size_t i = 0; i < done->paths.len; i++) {
		ab_autofree char *path = ab_escape(done->paths.v[i]);

		printf("~/%s\n", path);
	}
	printf("%zu file%s refreshed from the host\n", done->paths.len,
	       done->paths.len == 1 ? "" : "s");
	for (size_t i = 0; i + 1 < done->left.len; i += 2)
		tell("~/%s stays as it is in the layer: %s", done->left.v[i], done->left.v[i + 1]);
}

static int refresh_main(struct args *args)
{
	struct ab_layers_refreshed done;
	struct ab_error err = { 0 };
	int status = check_words(args, 1, SIZE_MAX);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	if (ab_layers_refresh(&args->input, args->rest[0], args->rest + 1, args->nrest - 1, &done,
			      &err) < 0) {
		ab_layers_refreshed_fini(&done);
		return complain(args, &err);
	}
	for (size_t i = 0; i < done.notes.len; i++)
		tell("%s", done.notes.v[i]);
	if (given(args, ID_JSON))
		print_refreshed_json(&done);
	else
		print_refreshed(&done);
	status = done.left.len ? 1 : 0;
	ab_layers_refreshed_fini(&done);
	return status;
}

static const struct command command_list = {
	.name = "layers list",
	.usage = "[--json]",
	.summary = "list the kept layers",
	.more = "Prints one line for each: its name (@profile for an agent's profile, @dir-...\n"
		"for a workspace, the id of the run for changes to review), its profile, its\n"
		"size, when it was last used, its state (in use, changes to apply, a home\n"
		"layer, an apply that can be undone), and the workspace of its last run.",
	.groups = groups_json,
	.main = list_main,
};

static const struct command command_rm = {
	.name = "layers rm",
	.usage = "[--yes] NAME...",
	.summary = "remove layers",
	.more = "Layers that are in use are not removed. If there are changes that were neither\n"
		"applied nor discarded, or files in a home layer, agentbox asks first; without a\n"
		"terminal it needs --yes.",
	.groups = OPTION_GROUPS({ NULL, options_rm }),
	.main = rm_main,
};

static const struct command command_refresh = {
	.name = "layers refresh",
	.usage = "[--json] NAME [PATH...]",
	.summary = "replace old copies in a home layer by the host's files",
	.more = "A file that a box has changed is copied into the layer, and later changes of the\n"
		"host's file are not seen in the box. Without PATH, removes the copies of files\n"
		"that the host has changed since; with PATH, all copies in these files and\n"
		"folders that differ from the host's. Files that only the layer has stay.",
	.groups = groups_json,
	.main = refresh_main,
};

/* `layers` alone is `layers list`. */
static int layers_main(struct args *args)
{
	if (args->nrest && given(args, ID_JSON))
		return misuse(args->command, "write --json after %s", args->rest[0]);
	return args->nrest ? sub_main(args) : list_main(args);
}

const struct command command_layers = {
	.name = "layers",
	.usage = "[list] | rm NAME... | refresh NAME [PATH...]",
	.summary = "list, remove and refresh kept layers",
	.more = "A box writes to a layer above the home folder, not to the home folder itself.\n"
		"The layer of a named run (`run --name NAME`), of an agent's profile, and the\n"
		"changes of `run --review` are kept until you remove them.",
	.groups = groups_json,
	.subs =
		(const struct command *const[]){
			&command_list,
			&command_rm,
			&command_refresh,
			NULL,
		},
	.main = layers_main,
};
