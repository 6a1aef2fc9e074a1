#include "cmd.h"

static const struct option options_stop[] = {
	FLAG("all", 0, "every active run"),
	FLAG("json", 0, "print JSON"),
	VALUE("grace", 0, "DURATION", "time between TERM and KILL (5s)"),
	{ 0 },
};

static void report_slow_stop(void *arg, size_t left)
{
	(void)arg;
	if (isatty(STDERR_FILENO))
		tell(left == 1 ? "waiting for the run to end ..."
			       : "waiting for %zu runs to end ...",
		     left);
}

static int stop_main(struct args *args, struct ab_error *err)
{
	bool all = given(args, "all");
	const char *grace = value_of(args, "grace");
	struct ab_stop how = {
		.runs = args->rest, .nruns = args->nrest, .grace_ms = 5000, .slow = report_slow_stop
	};
	ab_autostrv struct ab_strv notes = { 0 }, ended = { 0 };

	if (!all && !args->nrest)
		return misuse(args, err, "name the run to end (agentbox ps), or use --all");
	if (grace && ab_parse_duration(grace, &how.grace_ms) < 0)
		return misuse(args, err, "--grace: invalid duration \"%s\"; for example 5s", grace);
	if (ab_runs_stop(&args->input, &how, &ended, &notes, err) < 0)
		return -1;
	if (given(args, "json")) {
		put_json("{'ended':%p,'notes':%p}\n", ab_list(&ended), ab_list(&notes));
		return 0;
	}
	tell_notes(&notes);
	print_each("", &ended, " ended");
	if (all && ended.len == 0)
		puts("no active runs");
	return 0;
}

const struct command command_stop = {
	.name = "stop",
	.usage = "[--json] [--grace DURATION] RUN... | --all",
	.summary = "end a run",
	.groups = OPTION_GROUPS({ NULL, options_stop }),
	.words = { 0, SIZE_MAX },
	.rows = OPTION_ROWS("all RUN: it ends every run"),
	.main = stop_main,
};
