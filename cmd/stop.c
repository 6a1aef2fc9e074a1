#include "cmd.h"

#include <stdio.h>
#include <unistd.h>

static const struct option options_stop[] = {
	{ "all", 0, OPT_FLAG, ID_ALL, NULL, NULL, "every active run" },
	{ "json", 0, OPT_FLAG, ID_JSON, NULL, NULL, "print JSON" },
	{ "grace", 0, OPT_VALUE, ID_GRACE, "DURATION", NULL, "time between TERM and KILL (5s)" },
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

static void print_json(const struct ab_strv *ended, const struct ab_strv *notes)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_puts(&b, "{\"ended\":");
	ab_buf_json_list(&b, ended);
	ab_buf_puts(&b, ",\"notes\":");
	ab_buf_json_list(&b, notes);
	printf("%s}\n", b.data);
}

static int stop_main(struct args *args)
{
	bool all = given(args, ID_ALL);
	const char *grace = args->values[ID_GRACE];
	struct ab_stop how = {
		.runs = args->rest, .nruns = args->nrest, .grace_ms = 5000, .slow = report_slow_stop
	};
	ab_autostrv struct ab_strv notes = { 0 }, ended = { 0 };
	struct ab_error err = { 0 };

	if (all && args->nrest)
		return misuse(args->command, "--all ends every run; leave out \"%s\"",
			      args->rest[0]);
	if (!all && !args->nrest)
		return misuse(args->command, "name the run to end (agentbox ps), or use --all");
	if (grace && ab_parse_duration(grace, &how.grace_ms) < 0)
		return misuse(args->command, "--grace: invalid duration \"%s\"; for example 5s",
			      grace);
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_runs_stop(&args->input, &how, &ended, &notes, &err) < 0)
		return complain(args, &err);
	if (given(args, ID_JSON)) {
		print_json(&ended, &notes);
		return 0;
	}
	for (size_t i = 0; i < notes.len; i++)
		tell("%s", notes.v[i]);
	for (size_t i = 0; i < ended.len; i++) {
		ab_autofree char *safe = ab_escape(ended.v[i]);

		printf("%s ended\n", safe);
	}
	if (all && ended.len == 0)
		puts("no active runs");
	return 0;
}

const struct command command_stop = {
	.name = "stop",
	.usage = "[--json] [--grace DURATION] RUN... | --all",
	.summary = "end a run",
	.more = "The command gets TERM; everything that is left in the box after the grace period\n"
		"gets KILL. RUN is an id or a name (agentbox ps). Returns when the run has ended,\n"
		"says what ended, and if changes in its layer wait for apply or discard.",
	.groups = OPTION_GROUPS({ NULL, options_stop }),
	.main = stop_main,
};
