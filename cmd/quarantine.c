#include "cmd.h"

static const struct option options_restore[] = {
	VALUE("to", 0, "PATH", "put it there instead of where it was"),
	FLAG("force", 0, "move what is there to quarantine instead"),
	FLAG("yes", 'y', "restore without asking"),
	{ 0 },
};

static int list_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv notes = { 0 };
	ab_auto(ab_quarantined_list_fini) struct ab_quarantined_list list = { 0 };

	if (ab_quarantined_find(&args->input, args->rest[0], &list, &notes, err) < 0)
		return -1;
	tell_notes(&notes);
	return print_made(given(args, "json") ? ab_quarantined_json(&list)
					      : ab_quarantined_text(&list),
			  NULL);
}

static int show_main(struct args *args, struct ab_error *err)
{
	char *text;

	if (ab_quarantined_show(&args->input, args->rest[0], given(args, "json"), &text, err) < 0)
		return -1;
	return print_made(text, NULL);
}

/* -1 if it may be done, else the exit status. */
static int ask_to_restore(const struct args *args, const struct ab_restored *what)
{
	ab_autofree char *without = ab_printf("not restored: there is no terminal to ask on; to "
					      "restore it: agentbox quarantine restore --yes %s",
					      what->id);

	if (!given(args, "yes") && can_ask()) {
		printf("%s\n%s\n", what->what, what->why);
		for (size_t i = 0; i < what->notes.len; i++)
			printf("%s\n", what->notes.v[i]);
		if (what->exists)
			printf("What is there now goes to quarantine.\n");
	}
	return get_consent(args, "Put it back?", without, "not restored");
}

static void print_restored(const struct ab_restored *r)
{
	ab_autofree char *path = ab_escape(r->path);

	printf("%s is restored: %s%s\n", r->id, path, r->executable ? " (executable)" : "");
	if (r->replaced[0])
		printf("what was there is in quarantine now: %s\n", r->replaced);
	for (size_t i = 0; i < r->notes.len; i++)
		printf("%s\n", r->notes.v[i]);
}

static int restore_one(const struct args *args, const char *id, struct ab_buf *json)
{
	struct ab_restore ask = { .id = id,
				  .to = value_of(args, "to"),
				  .force = given(args, "force") };
	ab_auto(ab_restored_fini) struct ab_restored r = { 0 };
	struct ab_error err = { 0 };
	int status;

	if (ab_restore(&args->input, &ask, false, &r, &err) < 0)
		return complain(args, &err);
	status = ask_to_restore(args, &r);
	ab_restored_fini(&r);
	if (status >= 0)
		return status;
	if (ab_restore(&args->input, &ask, true, &r, &err) < 0)
		return complain(args, &err);
	if (given(args, "json"))
		ab_buf_jsonf(json,
			     ",{'id':%s,'path':%s,'executable':%hhd,'replaced':%s,'notes':%p}",
			     r.id, r.path, r.executable, ab_text_or_null(r.replaced),
			     ab_list(&r.notes));
	else
		print_restored(&r);
	return 0;
}

static int restore_main(struct args *args, struct ab_error *err)
{
	ab_autobuf struct ab_buf json = { 0 };
	int status, result = 0;

	if (given(args, "to") && args->nrest > 1)
		return misuse(args, err, "--to takes one ID");
	for (size_t i = 0; i < args->nrest; i++) {
		status = restore_one(args, args->rest[i], &json);
		result = status > result ? status : result;
	}
	if (given(args, "json"))
		printf("{\"restored\":[%s]}\n", json.len ? json.data : "");
	return result;
}

static void print_scanned(const struct args *args, const struct ab_scanned *s)
{
	if (given(args, "json")) {
		put_json("{'run_id':%s,'findings':%p,'complete':%hhd}\n", s->run,
			 ab_list(&s->findings), s->complete);
		return;
	}
	print_safe("", &s->findings);
	if (!s->findings.len)
		printf("nothing was found\n");
}

static int scan_main(struct args *args, struct ab_error *err)
{
	ab_auto(ab_scanned_fini) struct ab_scanned scanned = { 0 };

	if (ab_quarantined_scan(&args->input, args->rest[0], &scanned, err) < 0)
		return -1;
	print_scanned(args, &scanned);
	return scanned.complete ? 0 : 1;
}

static const struct command subs[] = {
	{ "quarantine list", "[--json] [RUN|ID]", "list the files in quarantine", groups_json,
	  .words = { 0, 1 }, .main = list_main },
	{ "quarantine show", "[--json] ID", "show a file in quarantine", groups_json,
	  .words = { 1, 1 }, .main = show_main },
	{ "quarantine restore", "[--to PATH] [--force] [--yes] [--json] ID...", "put files back",
	  OPTION_GROUPS({ NULL, options_restore }, { NULL, options_json }),
	  .words = { 1, SIZE_MAX }, .main = restore_main },
	{ "quarantine scan", "[--json] RUN", "search the workspace of a run again", groups_json,
	  .words = { 1, 1 }, .main = scan_main },
	{ 0 },
};

/* Without a subcommand it lists. */
const struct command command_quarantine = {
	.name = "quarantine",
	.usage = "[--json] | list [RUN] | show ID | restore ID... | scan RUN",
	.summary = "list, show and restore files that runs moved to quarantine",
	.groups = groups_json,
	.subs = subs,
	.main = list_main,
};
