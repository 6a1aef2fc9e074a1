#include "cmd.h"

static const struct option options_diff[] = {
	FLAG("stat", 0, "one line per change, with its labels"),
	FLAG("json", 0, "print the changes as JSON"),
	FLAG("hunks", 0, "with --json: also the changed lines"),
	VALUE("html", 0, "FILE", "write an HTML page with the changes"),
	FLAG("home", 0, "the layer above your home folder"),
	FLAG("labelled", 0, "only changes that want a look"),
	FLAG("safe", 0, "only changes without a label"),
	{ 0 },
};

static struct ab_diff_request get_request(const struct args *args)
{
	bool which = args->dashes ? args->before > 0 : args->nrest > 0;

	return (struct ab_diff_request){
		.which = which ? args->rest[0] : NULL,
		.paths = args->rest + which,
		.npaths = args->nrest - which,
		.settled = args->dashes,
		.home = given(args, "home"),
		.form = given(args, "stat")   ? AB_DIFF_STAT
			: given(args, "json") ? AB_DIFF_JSON
			: given(args, "html") ? AB_DIFF_HTML
					      : AB_DIFF_PATCH,
		.part = given(args, "labelled") ? AB_DIFF_LABELLED
			: given(args, "safe")	? AB_DIFF_SAFE
						: AB_DIFF_ALL,
		.hunks = given(args, "hunks"),
		.style = { .colour = wants_colour(STDOUT_FILENO), .columns = output_columns() },
	};
}

static int diff_main(struct args *args, struct ab_error *err)
{
	struct ab_diff_request request;
	ab_auto(ab_diff_report_fini) struct ab_diff_report report = { 0 };
	struct ab_pager pager;
	const char *file = value_of(args, "html");
	bool save = given(args, "html") && strcmp(file, "-") != 0;
	int result;

	if (args->dashes && args->before > 1)
		return misuse(args, err, "unexpected argument \"%s\"", args->rest[1]);
	request = get_request(args);
	ab_pager_init(&pager, request.style.columns && request.form <= AB_DIFF_STAT, &args->input,
		      &report.roots);
	if (save)
		result = ab_diff_save(&args->input, &request, file, &report, err);
	else
		result = ab_diff(&args->input, &request, ab_pager_put, &pager, &report, err);
	ab_pager_close(&pager);
	if (pager.refused.code != AB_ENONE)
		tell("no pager: %s", pager.refused.text);
	tell_notes(&report.notes);
	if (result < 0)
		return -1;
	if (pager.errnum) {
		tell("cannot write the changes: %s", strerror(pager.errnum));
		return 1;
	}
	if (save)
		tell("wrote %s", file);
	return report.unmatched ? 1 : 0;
}

const struct command command_changes = {
	.name = "diff",
	.usage = "[OPTIONS] [RUN|NAME|@PROFILE] [PATH...]",
	.summary = "show what a layer would change",
	.groups = OPTION_GROUPS({ NULL, options_diff }),
	.words = { 0, SIZE_MAX },
	.rows = OPTION_ROWS("stat json html", "json html", "hunks needs json", "labelled safe"),
	.main = diff_main,
};
