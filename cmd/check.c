#include "cmd.h"

enum { EXIT_ESCALATED = 3, EXIT_FORBIDDEN = 4 };

static const struct option options_check[] = {
	VALUE("command", 'c', "STRING", "judge this text"),
	FLAG("stdin", 0, "judge standard input as one script"),
	FLAG("batch", 0, "judge each line of it; print JSON lines"),
	FLAG("null", '0', "with --batch: commands end with NUL"),
	FLAG("json", 0, "print one line of JSON"),
	FLAG("explain", 0, "show every command in it and its verdict"),
	{ 0 },
};

int decision_status(enum ab_decision decision)
{
	switch (decision) {
	case AB_ALLOW:
	case AB_SANDBOXED:
		return 0;
	case AB_ESCALATED:
		return EXIT_ESCALATED;
	case AB_FORBIDDEN:
		return EXIT_FORBIDDEN;
	}
	return EXIT_FORBIDDEN;
}

static void print_verdict(const struct ab_judgement *j, bool explain)
{
	static const char indent[] = "           ";
	static const enum colour colours[] = {
		[AB_ALLOW] = COLOUR_GREEN,
		[AB_SANDBOXED] = COLOUR_GREEN,
		[AB_ESCALATED] = COLOUR_YELLOW,
		[AB_FORBIDDEN] = COLOUR_RED,
	};
	const char *name = ab_decision_names[j->decision];
	ab_autofree char *reason = ab_escape(j->reason);
	ab_autobuf struct ab_buf b = { 0 };

	add_coloured(&b, STDOUT_FILENO, colours[j->decision], name, strlen(name));
	ab_buf_printf(&b, "%*s  ", (int)(9 - strlen(name)), "");
	if (j->rule[0])
		ab_buf_printf(&b, "%s  ", j->rule);
	ab_buf_printf(&b, "%s\n", reason);
	if (explain)
		ab_judgement_explain(j, &b);
	else if (j->decision >= AB_ESCALATED)
		ab_judgement_point(j, indent, &b);
	if (j->instead && j->decision >= AB_ESCALATED)
		ab_buf_printf(&b, "%s%s\n", indent, j->instead);
	fwrite(b.data, 1, b.len, stdout);
}

static int print_judgement(const struct args *args, const struct ab_judgement *j)
{
	ab_autobuf struct ab_buf b = { 0 };

	if (given(args, "json")) {
		ab_judgement_json(j, &b);
		ab_buf_puts(&b, "\n");
		fwrite(b.data, 1, b.len, stdout);
	} else {
		print_verdict(j, given(args, "explain"));
	}
	return decision_status(j->decision);
}

static int judge_stdin(const struct args *args, struct ab_check *check)
{
	ab_autobuf struct ab_buf b = { 0 };

	if (read_input(stdin, AB_SHELL_TEXT_MAX, &b) < 0) {
		tell("cannot read standard input: %m");
		return 1;
	}
	return print_judgement(args, ab_check_text(check, b.data ? b.data : "", b.len));
}

static int judge_input(struct args *args, struct ab_check *check)
{
	const char *text = given(args, "command") ? value_of(args, "command")
			   : args->nrest	  ? args->rest[0]
						  : NULL;

	if (given(args, "batch"))
		return batch_main(args, check);
	if (given(args, "stdin"))
		return judge_stdin(args, check);
	if (args->dashes && !given(args, "command"))
		return print_judgement(args, ab_check_argv(check, args->rest, args->nrest));
	return print_judgement(args, ab_check_text(check, text, strlen(text)));
}

/* -1, or the exit status after a usage error. */
static int check_forms(const struct args *args, struct ab_error *err)
{
	bool text = given(args, "command");
	size_t forms =
		(size_t)text + given(args, "stdin") + given(args, "batch") + (args->nrest > 0);

	if (forms > 1)
		return misuse(
			args, err,
			"give exactly one of STRING, -c STRING, -- COMMAND, --stdin and --batch");
	if (forms == 0)
		return misuse(args, err,
			      "no command given; for example: agentbox check \"rm -rf build\"");
	if (args->nrest > 1 && (!args->dashes || args->before))
		return misuse(
			args, err,
			"quote the command line: agentbox check \"git status\", or use agentbox check -- git status");
	if (given(args, "null") && !given(args, "batch"))
		return misuse(args, err, "--null requires --batch");
	if (given(args, "explain") && (given(args, "json") || given(args, "batch")))
		return misuse(
			args, err,
			"--explain cannot be combined with --json or --batch, which already list the commands");
	return 0;
}

static int check_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_check *check;
	int status;

	if (check_forms(args, err) < 0 || ab_check_new(&args->input, &check, &notes, err) < 0)
		return -1;
	tell_notes(&notes);
	status = judge_input(args, check);
	ab_check_free(check);
	return status;
}

const struct command command_check = {
	.name = "check",
	.usage = "[OPTIONS] STRING  |  check [OPTIONS] -- COMMAND [ARG...]",
	.summary = "judge a command without running it",
	.groups = OPTION_GROUPS({ "Judging", options_check }, { "Policy", options_policy }),
	.words = { 0, SIZE_MAX },
	.main = check_main,
};
