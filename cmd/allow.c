#include "cmd.h"

#include <stdio.h>

const struct option options_permit[] = {
	{ "run", 0, OPT_VALUE, ID_RUN, "RUN", NULL, "the run to change: its id or name" },
	{ "always", 0, OPT_FLAG, ID_ALWAYS, NULL, NULL, "in every run: add it to your settings" },
	{ "project", 0, OPT_FLAG, ID_PROJECT, NULL, NULL,
	  "always, in the project's .agentbox.json" },
	{ "user", 0, OPT_FLAG, ID_USER, NULL, NULL, "always, in your settings" },
	{ "undo", 0, OPT_FLAG, ID_UNDO, NULL, NULL, "take an earlier --always back" },
	{ "for", 0, OPT_VALUE, ID_FOR, "DURATION", NULL, "only for this long (30s, 10m)" },
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
	for (size_t i = 0; i < p->diff.len; i++)
		printf("  %s\n", p->diff.v[i]);
}

static void print_rerun(const struct ab_permitted *p)
{
	ab_autofree char *command = p->command ? ab_escape(p->command) : NULL;

	if (command) {
		ab_autofree char *line = ab_printf("to run it again:  %s", command);

		print_messages(line);
	}
}

static void print_outcome(const struct ab_permitted *p)
{
	print_lines(&p->said);
	print_change(p);
	print_rerun(p);
	fflush(stdout);
	for (size_t i = 0; i < p->notes.len; i++)
		tell("%s", p->notes.v[i]);
}

int permit_main(struct args *args, bool deny)
{
	struct ab_permit ask = { .input = &args->input,
				 .what = args->nrest ? args->rest[0] : NULL,
				 .run = args->values[ID_RUN],
				 .deny = deny,
				 .user = given(args, ID_USER),
				 .project = given(args, ID_PROJECT),
				 .undo = given(args, ID_UNDO) };
	struct ab_permitted done;
	struct ab_error err = { 0 };
	int status = check_words(args, 1, 1);

	if (status >= 0)
		return status;
	ask.always = given(args, ID_ALWAYS) || (!ask.undo && (ask.user || ask.project));
	if (given(args, ID_FOR) &&
	    (ab_parse_duration(args->values[ID_FOR], &ask.for_ms) < 0 || ask.for_ms == 0))
		return misuse(args->command, "--for: invalid duration \"%s\"; use 30s, 10m or 2h",
			      args->values[ID_FOR]);
	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	status = ab_permit(&ask, &done, &err) < 0 ? 1 : 0;
	if (given(args, ID_JSON) && status == 0) {
		ab_autofree char *json = ab_permitted_json(&ask, &done);

		fputs(json, stdout);
	} else {
		print_outcome(&done);
	}
	ab_permitted_fini(&done);
	return status ? complain(args, &err) : 0;
}

static int allow_main(struct args *args)
{
	return permit_main(args, false);
}

const struct command command_allow = {
	.name = "allow",
	.usage = "[OPTIONS] ID|DOMAIN|PATH",
	.summary = "allow a host or a path",
	.more = "ID is the id of a denial or of a question (7kq2x-1). DOMAIN is an entry as in\n"
		"network.allow: x.y, *.x.y, x.y:8080, an address, @group. Both take effect in the\n"
		"active run immediately. PATH begins with /, ./, ../ or ~/ and becomes writable\n"
		"in the next run in the same folder.",
	.groups = OPTION_GROUPS({ NULL, options_permit }, { NULL, options_json }),
	.main = allow_main,
};
