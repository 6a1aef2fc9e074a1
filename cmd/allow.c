#include "cmd.h"

static const struct option options_permit[] = {
	VALUE("run", 0, "RUN", "the run to change: its id or name"),
	FLAG("always", 0, "in every run: add it to your settings"),
	FLAG("project", 0, "always, in the project's .agentbox.json"),
	FLAG("user", 0, "always, in your settings"),
	FLAG("undo", 0, "take an earlier --always back"),
	VALUE("for", 0, "DURATION", "only for this long (30s, 10m)"),
	FLAG("yes", 'y', "do not ask if no run was denied it"),
	{ 0 },
};

static void print_lines(const struct ab_strv *lines)
{
	for (size_t i = 0; i < lines->len; i++) {
		ab_autofree char *safe = ab_escape(lines->v[i]);

		print_messages(safe);
	}
}

static void print_change(const struct ab_permitted *p)
{
	ab_autofree char *file = p->file ? ab_escape(p->file) : NULL;

	if (!p->diff.len)
		return;
	printf("%s:\n", file);
	print_safe("  ", &p->diff);
}

static void print_outcome(const struct ab_permitted *p)
{
	ab_autofree char *command = p->command ? ab_escape(p->command) : NULL;

	print_lines(&p->said);
	print_change(p);
	if (command) {
		ab_autofree char *line = ab_printf("to run it again:  %s", command);

		print_messages(line);
	}
	fflush(stdout);
	tell_notes(&p->notes);
}

static bool is_wanted(const struct args *args, const struct ab_permit *ask)
{
	ab_autofree char *raw = given(args, "yes") ? NULL : ab_permit_unasked(ask);
	ab_autofree char *what = raw ? ab_escape(raw) : NULL, *question = NULL;

	if (!what)
		return true;
	if (!may_ask(args)) {
		if (ask->always || ask->undo)
			tell("no run was denied %s; nobody is asked about it, because %s (--yes: "
			     "without this note)",
			     what, can_ask() ? "of --json" : "there is no terminal");
		return true;
	}
	question =
		ab_printf("No run was denied %s. A program in a box can print commands that look "
			  "like agentbox's own.\n%s %s%s?",
			  what, ask->undo ? "No longer deny" : "Allow", what,
			  ask->always || ask->undo ? " in every run" : "");
	return confirm(question);
}

static int permit_main(struct args *args, struct ab_error *err)
{
	struct ab_permit ask = { .input = &args->input,
				 .what = args->rest[0],
				 .run = value_of(args, "run"),
				 .deny = args->command == &command_deny,
				 .user = given(args, "user"),
				 .project = given(args, "project"),
				 .undo = given(args, "undo") };
	ab_auto(ab_permitted_fini) struct ab_permitted done = { 0 };
	int status;

	ask.always = given(args, "always") || (!ask.undo && (ask.user || ask.project));
	if (given(args, "for") &&
	    (ab_parse_duration(value_of(args, "for"), &ask.for_ms) < 0 || ask.for_ms == 0))
		return misuse(args, err, "--for: invalid duration \"%s\"; use 30s, 10m or 2h",
			      value_of(args, "for"));
	if (!is_wanted(args, &ask))
		return ab_fail(err, AB_EREFUSED, 0, "nothing was changed");
	status = ab_permit(&ask, &done, err);
	if (given(args, "json") && status == 0)
		print_made(ab_permitted_json(&ask, &done), NULL);
	else
		print_outcome(&done);
	return status;
}

static const char *const permit_rows[] = { "for always user project",
					   "undo for run: it takes back what is for always",
					   "user project", NULL };

const struct command command_allow = {
	.name = "allow",
	.usage = "[OPTIONS] ID|DOMAIN|PATH",
	.summary = "allow a host or a path",
	.groups = OPTION_GROUPS({ NULL, options_permit }, { NULL, options_json }),
	.words = { 1, 1 },
	.rows = permit_rows,
	.main = permit_main,
};

const struct command command_deny = {
	.name = "deny",
	.usage = "[OPTIONS] ID|DOMAIN",
	.summary = "deny a host from now on",
	.groups = OPTION_GROUPS({ NULL, options_permit }, { NULL, options_json }),
	.words = { 1, 1 },
	.rows = permit_rows,
	.main = permit_main,
};
