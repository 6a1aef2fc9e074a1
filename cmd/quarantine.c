#include "cmd.h"

#include <stdio.h>
#include <unistd.h>

static const struct option options_restore[] = {
	{ "to", 0, OPT_VALUE, ID_TO, "PATH", NULL, "put it there instead of where it was" },
	{ "force", 0, OPT_FLAG, ID_FORCE, NULL, NULL, "move what is there to quarantine instead" },
	{ "yes", 'y', OPT_FLAG, ID_YES, NULL, NULL, "restore without asking" },
	{ 0 },
};

static int list_main(struct args *args)
{
	ab_autostrv struct ab_strv notes = { 0 };
	ab_autofree char *text = NULL;
	struct ab_quarantined_list list;
	struct ab_error err = { 0 };
	int status = check_words(args, 0, 1);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_quarantined_find(&args->input, args->nrest ? args->rest[0] : NULL, &list, &notes,
				&err) < 0)
		return complain(args, &err);
	for (size_t i = 0; i < notes.len; i++)
		tell("%s", notes.v[i]);
	text = given(args, ID_JSON) ? ab_quarantined_json(&list) : ab_quarantined_text(&list);
	ab_quarantined_list_fini(&list);
	fputs(text, stdout);
	return 0;
}

static int show_main(struct args *args)
{
	ab_autofree char *text = NULL;
	struct ab_error err = { 0 };
	int status = check_words(args, 1, 1);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_quarantined_show(&args->input, args->rest[0], given(args, ID_JSON), &text, &err) < 0)
		return complain(args, &err);
	fputs(text, stdout);
	return 0;
}

/* -1 if it may be done, else the exit status. */
static int get_consent(const struct args *args, const struct ab_restored *what)
{
	if (given(args, ID_YES))
		return -1;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		tell("not restored: there is no terminal to ask on; to restore it: agentbox "
		     "quarantine restore --yes %s",
		     what->id);
		return 1;
	}
	printf("%s\n%s\n", what->what, what->why);
	for (size_t i = 0; i < what->notes.len; i++)
		printf("%s\n", what->notes.v[i]);
	if (what->exists)
		printf("What is there now goes to quarantine.\n");
	if (confirm("Put it back?"))
		return -1;
	tell("not restored");
	return 1;
}

static void add_json(struct ab_buf *b, const struct ab_restored *r)
{
	ab_buf_printf(b, "%s{\"id\":\"%s\",\"path\":", b->len ? "," : "", r->id);
	ab_buf_json(b, r->path);
	ab_buf_printf(b, ",\"executable\":%s,\"replaced\":", r->executable ? "true" : "false");
	if (r->replaced[0])
		ab_buf_json(b, r->replaced);
	else
		ab_buf_puts(b, "null");
	ab_buf_puts(b, ",\"notes\":");
	ab_buf_json_list(b, &r->notes);
	ab_buf_puts(b, "}");
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
				  .to = args->values[ID_TO],
				  .force = given(args, ID_FORCE) };
	struct ab_restored r;
	struct ab_error err = { 0 };
	int status;

	if (ab_restore_check(&args->input, &ask, &r, &err) < 0)
		return complain(args, &err);
	status = get_consent(args, &r);
	ab_restored_fini(&r);
	if (status >= 0)
		return status;
	if (ab_restore_do(&args->input, &ask, &r, &err) < 0)
		return complain(args, &err);
	if (given(args, ID_JSON))
		add_json(json, &r);
	else
		print_restored(&r);
	ab_restored_fini(&r);
	return 0;
}

static int restore_main(struct args *args)
{
	ab_autobuf struct ab_buf json = { 0 };
	struct ab_error err = { 0 };
	int status = check_words(args, 1, SIZE_MAX), result = 0;

	if (status >= 0)
		return status;
	if (given(args, ID_TO) && args->nrest > 1)
		return misuse(args->command, "--to takes one ID");
	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	for (size_t i = 0; i < args->nrest; i++) {
		status = restore_one(args, args->rest[i], &json);
		result = status > result ? status : result;
	}
	if (given(args, ID_JSON))
		printf("{\"restored\":[%s]}\n", json.len ? json.data : "");
	return result;
}

static const struct command command_list = {
	.name = "quarantine list",
	.usage = "[--json] [RUN|ID]",
	.summary = "list the files in quarantine",
	.more = "Prints the id of each file, when and where the run created it, what it is, and\n"
		"which program outside the box would run or obey it.",
	.groups = groups_json,
	.main = list_main,
};

static const struct command command_show = {
	.name = "quarantine show",
	.usage = "[--json] ID",
	.summary = "show a file in quarantine",
	.more = "Prints what the file is and its content, escaped, and how it differs from what\n"
		"is in its place now.",
	.groups = groups_json,
	.main = show_main,
};

static const struct command command_restore = {
	.name = "quarantine restore",
	.usage = "[--to PATH] [--force] [--yes] [--json] ID...",
	.summary = "put files back",
	.more = "Puts each file back where it was, after asking. An existing file is never\n"
		"overwritten.",
	.groups = OPTION_GROUPS({ NULL, options_restore }, { NULL, options_json }),
	.main = restore_main,
};

static const struct command *const subs[] = {
	&command_list,
	&command_show,
	&command_restore,
	NULL,
};

/* Without a subcommand it lists. */
static int quarantine_main(struct args *args)
{
	if (!args->nrest)
		return list_main(args);
	if (given(args, ID_JSON))
		return misuse(args->command, "write --json after %s", args->rest[0]);
	return sub_main(args);
}

const struct command command_quarantine = {
	.name = "quarantine",
	.usage = "[--json] | list [RUN|ID] | show ID | restore ID...",
	.summary = "list, show and restore files that runs moved to quarantine",
	.more = "A file that programs outside the box would run or obey, such as .envrc or a git\n"
		"hook, is moved out of the workspace if a run creates it. Nothing is lost.",
	.groups = groups_json,
	.subs = subs,
	.main = quarantine_main,
};
