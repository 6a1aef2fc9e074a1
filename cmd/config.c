#include "cmd.h"

static const struct option options_show[] = {
	FLAG("all", 'a', "show every value"),
	{ 0 },
};

/* The summary, and what the layers above the profile say. */
static char *make_overview(const struct ab_policy *policy, size_t columns)
{
	ab_autofree char *changed =
		ab_policy_show_part(policy, &(struct ab_show_part){ .changed = true }, false);
	ab_autostrv struct ab_strv rows = { 0 }, home = { 0 };
	struct ab_buf b = { 0 };

	ab_home_lines(policy, &home);
	ab_policy_summary(policy, &home, &rows);
	ab_summary_put(&b, &rows, columns);
	ab_buf_puts(&b,
		    changed[0] ? "\nbesides the profile:\n" : "\nno setting besides the profile\n");
	ab_buf_printf(&b, "%s\n", changed);
	fit_message(&b, STDOUT_FILENO,
		    "more: agentbox config show --all; a section: agentbox config show network", 0);
	ab_buf_puts(&b, "\n");
	return ab_buf_take(&b);
}

static char *make_shown(const struct args *args, const struct ab_policy *policy)
{
	struct ab_show_part part = { .section = args->rest[0] };

	if (given(args, "json") || given(args, "all") || part.section)
		return ab_policy_show_part(policy, &part, given(args, "json"));
	return make_overview(policy, output_columns());
}

/* -1, or the exit status after a usage error. */
static int check_section(const struct args *args, struct ab_error *err)
{
	const char *section = args->rest[0], *near;

	if (!section || ab_policy_has_section(section, &near))
		return 0;
	return near ? misuse(args, err, "unknown section or key %s; did you mean %s?", section,
			     near)
		    : misuse(args, err, "unknown section or key %s", section);
}

static int show_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv notes = { 0 };
	ab_autofree char *text = NULL;
	ab_autopolicy struct ab_policy *policy = NULL;
	int status;

	if (check_section(args, err) < 0)
		return -1;
	args->input.details = true;
	if (ab_policy_load(&args->input, &policy, &notes, err) < 0)
		return -1;
	text = make_shown(args, policy);
	status = print_paged(args, text);
	/* Print the notes after the table, even on a terminal. */
	tell_notes(&notes);
	return status;
}

static int get_main(struct args *args, struct ab_error *err)
{
	ab_autofree char *text = NULL;
	ab_autopolicy struct ab_policy *policy = NULL;

	if (ab_policy_load(&args->input, &policy, NULL, err) < 0)
		return -1;
	text = ab_policy_value(policy, args->rest[0], given(args, "json"));
	if (text) {
		printf("%s%s", text, *text ? "\n" : "");
		return 0;
	}
	return check_section(args, err) < 0
		       ? -1
		       : misuse(args, err, "%s is a section; agentbox config show %s",
				args->rest[0], args->rest[0]);
}

static int schema_main(struct args *args, struct ab_error *err)
{
	(void)err;

	(void)args;
	fputs(ab_policy_schema, stdout);
	return 0;
}

static void add_problem(struct ab_strv *problems, const char *text, const char *hint)
{
	ab_strv_addf(problems, "%s%s%s", text, hint[0] ? "; " : "", hint);
}

/* A file may be valid line by line and still not make a policy: profiles may
 * extend each other in a circle, or "/" may be writable. */
static void check_policy(const struct ab_policy_input *in, const char *file,
			 struct ab_strv *problems)
{
	ab_autofree char *path = strchr(file, '/') ? ab_strdup(file) : ab_printf("./%s", file);
	ab_autopolicy struct ab_policy *policy = NULL;
	struct ab_error err = { 0 };

	if (ab_policy_load_one(in, path, &policy, &err) < 0 && err.code == AB_ECONFIG)
		add_problem(problems, err.text, err.hint);
}

/* Add the problems of a file. -1: cannot read it. */
static int check_file(const struct ab_policy_input *in, const char *file, struct ab_strv *problems,
		      struct ab_error *err)
{
	size_t before = problems->len;

	if (ab_policy_check_file(in, file, problems, err) < 0) {
		if (err->code != AB_ECONFIG)
			return -1;
		add_problem(problems, err->text, err->hint);
		return 0;
	}
	if (problems->len == before)
		check_policy(in, file, problems);
	return 0;
}

/* All files together, as a run would read them. */
static int check_together(const struct ab_policy_input *in, struct ab_strv *problems,
			  struct ab_error *err)
{
	struct ab_policy_input here = *in;
	ab_autopolicy struct ab_policy *policy = NULL;

	/* The home folder is only rejected as the workspace of a run. */
	if (!here.workspace && strcmp(here.cwd, "/") == 0)
		return 0;
	if (!here.workspace)
		here.workspace = here.cwd;
	if (ab_policy_load(&here, &policy, NULL, err) == 0)
		return 0;
	if (err->code != AB_ECONFIG)
		return -1;
	add_problem(problems, err->text, err->hint);
	return 0;
}

/* A settings file that was named must exist. */
static bool is_named(const struct ab_policy_input *in, const char *layer)
{
	const char *variable = getenv("AGENTBOX_CONFIG");

	return strcmp(layer, "user") == 0 && (in->config || (variable && variable[0]));
}

/* The files that a run reads, and those of the user's profiles. */
static int list_files(const struct ab_policy_input *in, bool full, struct ab_strv *ret_files,
		      struct ab_error *err)
{
	ab_autostrv struct ab_strv names = { 0 };
	ab_auto(ab_policy_paths_fini) struct ab_policy_paths paths = { 0 };

	if (ab_policy_paths(in, &paths, err) < 0)
		return -1;
	ab_policy_profiles(in, &names, NULL);
	for (size_t i = 0; i < paths.len; i++) {
		const struct ab_policy_path *p = &paths.v[i];
		bool folder = strcmp(p->layer, "profiles") == 0;

		if (!folder && (p->exists || is_named(in, p->layer)))
			ab_strv_give(ret_files,
				     full ? ab_strdup(p->path) : ab_policy_file_name(in, p->path));
		for (size_t k = 0; folder && k < names.len; k++) {
			ab_autofree char *file = ab_printf("%s/%s.json", p->path, names.v[k]);

			if (access(file, F_OK) == 0)
				ab_strv_give(ret_files,
					     full ? ab_take(file) : ab_policy_file_name(in, file));
		}
	}
	return 0;
}

/* A project file that can only tighten. */
static bool lacks_trust(const struct ab_policy_input *in, const char *file)
{
	enum ab_trust_state state;
	struct ab_error none = { 0 };

	return strcmp(ab_path_name(file), ".agentbox.json") == 0 &&
	       ab_trust_status(in, file, &state, &none) == 0 && state != AB_TRUST_HOLDS;
}

static void print_valid(const struct ab_policy_input *in, const struct ab_strv *files)
{
	if (files->len == 0)
		printf("no settings files found; `agentbox config path` lists where they would be\n");
	for (size_t i = 0; i < files->len; i++) {
		ab_autofree char *safe = ab_escape(files->v[i]);

		printf("%s: ok%s\n", safe,
		       lacks_trust(in, files->v[i])
			       ? ", but not trusted: it can only tighten (agentbox trust)"
			       : "");
	}
}

static void print_check_json(const struct ab_policy_input *in, const struct ab_strv *files,
			     const struct ab_strv *problems)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'ok':%hhd,'files':[", (bool)!problems->len);
	for (size_t i = 0; i < files->len; i++)
		ab_buf_jsonf(&b, ",{'path':%s,'trusted':%hhd}", files->v[i],
			     (bool)!lacks_trust(in, files->v[i]));
	put_json("%-s],'problems':%p}\n", b.data, ab_list(problems));
}

static int check_main(struct args *args, struct ab_error *err)
{
	const struct ab_policy_input *in = &args->input;
	ab_autostrv struct ab_strv files = { 0 }, problems = { 0 };

	if (args->nrest)
		ab_strv_add(&files, args->rest[0]);
	else if (list_files(in, given(args, "json"), &files, err) < 0)
		return -1;
	for (size_t i = 0; i < files.len; i++)
		if (check_file(in, files.v[i], &problems, err) < 0)
			return -1;
	if (!problems.len && !args->nrest && check_together(in, &problems, err) < 0)
		return -1;
	if (given(args, "json"))
		print_check_json(in, &files, &problems);
	else if (problems.len)
		print_each("", &problems, "");
	else
		print_valid(in, &files);
	return problems.len ? 1 : 0;
}

static void print_paths(const struct ab_policy_paths *paths)
{
	for (size_t i = 0; i < paths->len; i++) {
		const struct ab_policy_path *p = &paths->v[i];
		ab_autofree char *safe = ab_escape(p->path);

		printf("%-9s %s%s\n", p->layer, safe, p->exists ? "" : "  (missing)");
	}
}

static void print_paths_json(const struct ab_policy_paths *paths)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "[");
	for (size_t i = 0; i < paths->len; i++)
		ab_buf_jsonf(&b, ",{'layer':%s,'path':%s,'exists':%hhd}", paths->v[i].layer,
			     paths->v[i].path, paths->v[i].exists);
	printf("%s]\n", b.data);
}

static int path_main(struct args *args, struct ab_error *err)
{
	ab_auto(ab_policy_paths_fini) struct ab_policy_paths paths = { 0 };

	if (ab_policy_paths(&args->input, &paths, err) < 0)
		return -1;
	if (given(args, "json"))
		print_paths_json(&paths);
	else
		print_paths(&paths);
	return 0;
}

static const struct option options_reload[] = {
	FLAG("cut", 0, "also close connections no longer allowed"),
	{ 0 },
};

static void print_reloaded(void *arg, const struct ab_reloaded *r)
{
	if (r->error.code != AB_ENONE) {
		ab_autofree char *safe = ab_escape(r->error.text);

		printf("%s%s%s\n%s: the previous lists stay in force\n", safe,
		       r->error.hint[0] ? "; " : "", r->error.hint, r->run);
		*(int *)arg = 1;
		return;
	}
	if (r->changes.len == 0)
		printf("%s: no changes\n", r->run);
	for (size_t i = 0; i < r->changes.len; i++) {
		ab_autofree char *safe = ab_escape(r->changes.v[i]);

		printf("%s: %s\n", r->run, safe);
	}
	fflush(stdout);
	for (size_t i = 0; i < r->notes.len; i++)
		tell("%s: %s", r->run, r->notes.v[i]);
}

static int reload_main(struct args *args, struct ab_error *err)
{
	int status = 0;

	if (ab_reload(&args->input, args->rest[0], given(args, "cut"), print_reloaded, &status,
		      err) < 0)
		return -1;
	return status;
}

static const struct option options_place[] = {
	FLAG("user", 0, "your settings file (the default)"),
	FLAG("project", 0, "the project's .agentbox.json"),
	{ 0 },
};

static const char *const place_rows[] = { "user project", NULL };

static const struct option options_sure[] = {
	FLAG("yes", 'y', "do not ask if it allows more"),
	{ 0 },
};

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

static bool confirm_wider(const struct ab_strv *widens)
{
	printf("Allowed only with this change:\n");
	print_safe("  ", widens);
	return confirm("Change it?");
}

/* Sets or unsets a key. */
static int change_main(struct args *args, struct ab_error *err)
{
	bool unset = strcmp(args->command->name, "config unset") == 0;
	struct ab_settings_change change = { .project = given(args, "project"),
					     .unset = unset,
					     .may_widen = may_ask(args) ? confirm_wider : NULL };
	ab_auto(ab_settings_changed_fini) struct ab_settings_changed changed = { 0 };

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

static int edit_main(struct args *args, struct ab_error *err)
{
	struct ab_settings_editing editing;
	int status;

	if (ab_settings_edit_begin(&args->input, given(args, "project"), &editing, err) < 0)
		return -1;
	status = edit_until_right(args, &editing);
	ab_settings_edit_end(&editing);
	return status;
}

static const struct command subs[] = {
	{ "config show", "[OPTIONS] [SECTION|KEY]",
	  "show the settings in force here, and their origins",
	  OPTION_GROUPS({ NULL, options_show }, { "Policy", options_policy },
			{ NULL, options_json }),
	  .words = { 0, 1 }, .main = show_main },
	{ "config get", "[OPTIONS] KEY", "print one value in force here",
	  OPTION_GROUPS({ "Policy", options_policy }, { NULL, options_json }), .words = { 1, 1 },
	  .main = get_main },
	{ "config set", "[OPTIONS] KEY VALUE...", "set a value in a settings file",
	  OPTION_GROUPS({ NULL, options_place }, { NULL, options_sure }, { NULL, options_files }),
	  .words = { 2, SIZE_MAX }, .rows = place_rows, .main = change_main },
	{ "config unset", "[OPTIONS] KEY", "remove a value from a settings file",
	  OPTION_GROUPS({ NULL, options_place }, { NULL, options_sure }, { NULL, options_files }),
	  .words = { 1, 1 }, .rows = place_rows, .main = change_main },
	{ "config edit", "[OPTIONS]", "edit a settings file; save it only if it is right",
	  OPTION_GROUPS({ NULL, options_place }, { NULL, options_files }), .rows = place_rows,
	  .main = edit_main },
	{ "config check", "[OPTIONS] [FILE]",
	  "find mistakes in one settings file, or in all of them",
	  OPTION_GROUPS({ NULL, options_files }, { NULL, options_json }), .words = { 0, 1 },
	  .main = check_main },
	{ "config path", "[OPTIONS]", "list the files that a run reads",
	  OPTION_GROUPS({ NULL, options_files }, { NULL, options_json }), .main = path_main },
	{ "config reload", "[--cut] [RUN]", "make running boxes reload their settings",
	  OPTION_GROUPS({ NULL, options_reload }), .words = { 0, 1 }, .main = reload_main },
	{ "config schema", "", "print the JSON Schema of settings files", groups_common,
	  .bare = true, .main = schema_main },
	{ 0 },
};

const struct command command_config = {
	.name = "config",
	.usage = "show|get|set|unset|edit|check|path|reload|schema",
	.summary = "show and change settings",
	.groups = groups_common,
	.subs = subs,
};
