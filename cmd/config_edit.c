#include "cmd.h"

const struct option options_place[] = {
	FLAG("user", 0, "your settings file (the default)"),
	FLAG("project", 0, "the project's .agentbox.json"),
	{ 0 },
};

/* -1, or the exit status after a usage error. */
static int check_place(const struct args *args, struct ab_error *err)
{
	return given(args, "user") && given(args, "project")
		       ? misuse(args, err, "--user and --project cannot be combined")
		       : 0;
}

static void print_changed(const struct ab_settings_changed *changed)
{
	ab_autofree char *safe = ab_escape(changed->file);

	if (changed->diff.len == 0)
		printf("%s: no changes\n", safe);
	else
		printf("%s:\n", safe);
	print_safe("", &changed->diff);
	fflush(stdout);
	tell_notes(&changed->notes);
}

/* A run reloads its host lists when a settings file changes, and nothing else. */
static void note_active_runs(const struct args *args, const char *key)
{
	static const char *const reloaded[] = { "network.allow", "network.allowPrivate",
						"network.deny", "network.unknown" };
	ab_autostrv struct ab_strv notes = { 0 };
	ab_auto(ab_run_list_fini) struct ab_run_list list = { 0 };
	struct ab_error ignored = { 0 };

	if (ab_has_word(reloaded, AB_COUNT(reloaded), key))
		return;
	if (ab_runs_list(&args->input, &list, &notes, &ignored) == 0 && list.len)
		tell("%s applies from the next run on: active runs keep what they started with",
		     key);
}

int change_main(struct args *args, struct ab_error *err)
{
	bool unset = strcmp(args->command->name, "config unset") == 0;
	struct ab_settings_change change = { .project = given(args, "project"), .unset = unset };
	ab_auto(ab_settings_changed_fini) struct ab_settings_changed changed = { 0 };

	if (check_place(args, err) < 0)
		return -1;
	change.key = args->rest[0];
	change.values = args->rest + 1;
	change.nvalues = args->nrest - 1;
	if (ab_settings_change(&args->input, &change, &changed, err) < 0)
		return -1;
	print_changed(&changed);
	if (changed.diff.len)
		note_active_runs(args, change.key);
	return 0;
}

/* Until the copy is right, or the person gives up. */
static int edit_until_right(struct args *args, struct ab_settings_editing *editing)
{
	struct ab_settings_changed changed;
	struct ab_error err;

	for (;;) {
		err = (struct ab_error){ 0 };
		if (ab_settings_edit(editing, &err) < 0)
			return complain(args, &err);
		if (ab_settings_edit_save(editing, &changed, &err) == 0)
			break;
		complain(args, &err);
		if (err.code != AB_ECONFIG ||
		    ask_letter("nothing was saved: [e]dit again, or [d]iscard your changes?",
			       "ed") == 'd')
			return 1;
	}
	print_changed(&changed);
	ab_settings_changed_fini(&changed);
	return 0;
}

int edit_main(struct args *args, struct ab_error *err)
{
	struct ab_settings_editing editing;
	int status;

	if (check_place(args, err) < 0 ||
	    ab_settings_edit_begin(&args->input, given(args, "project"), &editing, err) < 0)
		return -1;
	status = edit_until_right(args, &editing);
	ab_settings_edit_end(&editing);
	return status;
}
