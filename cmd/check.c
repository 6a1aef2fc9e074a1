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

/* The exit status for a verdict. */
static int get_status(enum ab_decision decision)
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
	return get_status(j->decision);
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

/*
 * Reads commands and writes verdicts in big blocks. Before it waits for input it
 * flushes its output, so that another process can ask about one command at a
 * time. If a command is longer than the judge accepts, only its beginning is
 * kept.
 */
enum {
	BLOCK = 64 * 1024,
	KEPT = AB_SHELL_TEXT_MAX + 1,
};

struct batch {
	struct ab_check *check;
	char end;   /* the byte that ends a command */
	char *in;   /* KEPT + BLOCK bytes */
	size_t len; /* bytes in it that are not judged yet */
	struct ab_buf out;
	enum ab_decision strictest;
};

static int flush_output(struct batch *b)
{
	if (ab_write_all(STDOUT_FILENO, b->out.data, b->out.len) < 0)
		return -1;
	b->out.len = 0;
	return 0;
}

static int judge_command(struct batch *b, const char *text, size_t len)
{
	const struct ab_judgement *j = ab_check_text(b->check, text, len);

	ab_judgement_json(j, &b->out);
	ab_buf_add(&b->out, "\n", 1);
	if (j->decision > b->strictest)
		b->strictest = j->decision;
	return b->out.len >= BLOCK ? flush_output(b) : 0;
}

/* Judge the complete commands; the first `seen` bytes contain no end. */
static int judge_complete(struct batch *b, size_t seen)
{
	char *from = b->in, *end = b->in + b->len, *stop;

	while ((stop = memchr(from + seen, b->end, (size_t)(end - from) - seen))) {
		if (judge_command(b, from, (size_t)(stop - from)) < 0)
			return -1;
		from = stop + 1;
		seen = 0;
	}
	b->len = (size_t)(end - from);
	if (b->len > KEPT)
		b->len = KEPT;
	memmove(b->in, from, b->len);
	return 0;
}

/* 0 at the end of input, -1 on failure. */
static ssize_t read_more(struct batch *b)
{
	ssize_t n;

	if (b->out.len && ab_poll(STDIN_FILENO, POLLIN, 0) == 0 && flush_output(b) < 0)
		return -1;
	do
		n = read(STDIN_FILENO, b->in + b->len, BLOCK);
	while (n < 0 && errno == EINTR);
	return n;
}

static int judge_all(struct batch *b)
{
	ssize_t n;

	while ((n = read_more(b)) > 0) {
		size_t seen = b->len;

		b->len += (size_t)n;
		if (judge_complete(b, seen) < 0)
			return -1;
	}
	if (n < 0)
		return -1;
	/* The last command may lack its terminator. */
	if (b->len && judge_command(b, b->in, b->len) < 0)
		return -1;
	return flush_output(b);
}

static int judge_batch(const struct args *args, struct ab_check *check)
{
	struct batch b = {
		.check = check,
		.end = given(args, "null") ? '\0' : '\n',
		.in = ab_alloc(KEPT + BLOCK),
	};
	int status;

	if (judge_all(&b) < 0) {
		tell("cannot read commands or write verdicts: %m");
		status = 1;
	} else {
		status = get_status(b.strictest);
	}
	free(b.in);
	ab_buf_fini(&b.out);
	return status;
}

static int judge_input(struct args *args, struct ab_check *check)
{
	const char *text = given(args, "command") ? value_of(args, "command")
			   : args->nrest	  ? args->rest[0]
						  : NULL;

	if (given(args, "batch"))
		return judge_batch(args, check);
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
	.rows = OPTION_ROWS("null needs batch",
			    "explain json batch: they list the commands already"),
	.main = check_main,
};
