#include "cmd.h"

#include <stdio.h>

static const struct option options_gc[] = {
	{ "older", 0, OPT_VALUE, ID_OLDER, "DURATION", NULL,
	  "remove runs that ended longer ago (30d)" },
	{ "keep", 0, OPT_VALUE, ID_KEEP, "N", NULL, "keep this many of the newest runs (1000)" },
	{ "quarantine", 0, OPT_FLAG, ID_QUARANTINE, NULL, NULL,
	  "also remove runs with quarantined files" },
	{ "dry-run", 0, OPT_FLAG, ID_DRY, NULL, NULL, "only list what would be removed" },
	{ 0 },
};

static const char *pluralize_run(size_t n)
{
	return n == 1 ? "run" : "runs";
}

static void print_json(const struct ab_gc_report *report, bool dry)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_puts(&b, "{\"removed\":");
	ab_buf_json_list(&b, &report->removed);
	ab_buf_printf(&b,
		      ",\"kept\":%zu,\"quarantined\":%zu,\"failed\":%zu,"
		      "\"dry_run\":%s}\n",
		      report->kept, report->quarantined, report->failed, dry ? "true" : "false");
	fputs(b.data, stdout);
}

static void print_text(const struct ab_gc_report *report, bool dry)
{
	size_t n = report->removed.len;

	for (size_t i = 0; dry && i < n; i++)
		puts(report->removed.v[i]);
	printf("%zu %s %s, %zu kept\n", n, pluralize_run(n), dry ? "would be removed" : "removed",
	       report->kept);
	if (report->quarantined)
		printf("%zu %s kept because of quarantined files; to remove %s too: agentbox gc --quarantine\n",
		       report->quarantined, pluralize_run(report->quarantined),
		       report->quarantined == 1 ? "it" : "them");
}

static int gc_main(struct args *args)
{
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_gc_request request = {
		.older = args->values[ID_OLDER],
		.keep = args->values[ID_KEEP],
		.quarantine = given(args, ID_QUARANTINE),
		.dry = given(args, ID_DRY),
	};
	struct ab_gc_report report;
	struct ab_error err = { 0 };
	size_t failed;
	int status = check_words(args, 0, 0);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_gc_run(&args->input, &request, &report, &notes, &err) < 0)
		return complain(args, &err);
	for (size_t i = 0; i < notes.len; i++)
		tell("%s", notes.v[i]);
	if (given(args, ID_JSON))
		print_json(&report, request.dry);
	else
		print_text(&report, request.dry);
	failed = report.failed;
	ab_gc_report_fini(&report);
	if (failed)
		tell("%zu %s could not be removed", failed, pluralize_run(failed));
	return failed ? 1 : 0;
}

const struct command command_gc = {
	.name = "gc",
	.usage = "[--older DURATION] [--keep N] [--quarantine] [--dry-run] "
		 "[--json]",
	.summary = "remove the records of old runs",
	.more = "Removes runs that ended longer ago than records.keepFor, and all but the newest\n"
		"records.keepRuns. agentbox also does this automatically, about once an hour.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_gc },
			{ NULL, options_json },
			{ NULL, options_common },
			{ 0 },
		},
	.main = gc_main,
};
