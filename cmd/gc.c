#include "cmd.h"

static const struct option options_gc[] = {
	VALUE("older", 0, "DURATION", "remove runs that ended longer ago (30d)"),
	VALUE("keep", 0, "N", "keep this many of the newest runs (1000)"),
	FLAG("quarantine", 0, "also remove runs with quarantined files"),
	FLAG("layers", 0, "also remove layers with changes to apply"),
	FLAG("dry-run", 0, "only list what would be removed"),
	{ 0 },
};

static const char *pluralize_run(size_t n)
{
	return n == 1 ? "run" : "runs";
}

static void print_json(const struct ab_gc_done *done, bool dry)
{
	const struct ab_gc_report *runs = &done->runs;
	const struct ab_gc_layers_report *layers = &done->layers;

	put_json("{'removed':%p,'kept':%zu,'quarantined':%zu,'failed':%zu,'dry_run':%hhd,"
		 "'layers':{'removed':%p,'waiting':%p,'kept':%zu,'failed':%zu,'freed':%ju,"
		 "'bytes':%ju}}\n",
		 ab_list(&runs->removed), runs->kept, runs->quarantined, runs->failed, dry,
		 ab_list(&layers->removed), ab_list(&layers->waiting), layers->kept, layers->failed,
		 layers->freed, layers->left);
}

static void print_runs(const struct ab_gc_report *report, bool dry)
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

/* A user without layers reads nothing about them. */
static void print_layers(const struct ab_gc_layers_report *report, bool dry)
{
	size_t n = report->removed.len;
	char freed[24], left[24];

	for (size_t i = 0; i < n; i++)
		printf("layers of %s %s\n", report->removed.v[i],
		       dry ? "would be removed" : "removed");
	for (size_t i = 0; i < report->waiting.len; i++)
		printf("layers of %s kept: they have changes to apply; to remove them too: agentbox gc --layers\n",
		       report->waiting.v[i]);
	if (n + report->kept)
		printf("layers: %s %s, %s kept\n", ab_round_size(report->freed, freed),
		       dry ? "would be freed" : "freed", ab_round_size(report->left, left));
}

static int gc_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_gc_request request = {
		.older = value_of(args, "older"),
		.keep = value_of(args, "keep"),
		.quarantine = given(args, "quarantine"),
		.layers = given(args, "layers"),
		.dry = given(args, "dry-run"),
	};
	ab_auto(ab_gc_done_fini) struct ab_gc_done done = { 0 };

	if (ab_gc_run(&args->input, &request, &done, &notes, err) < 0)
		return -1;
	tell_notes(&notes);
	if (given(args, "json")) {
		print_json(&done, request.dry);
	} else {
		print_runs(&done.runs, request.dry);
		print_layers(&done.layers, request.dry);
	}
	if (done.runs.failed)
		tell("%zu %s could not be removed", done.runs.failed,
		     pluralize_run(done.runs.failed));
	if (done.layers.failed)
		tell("%zu layers could not be removed", done.layers.failed);
	return done.runs.failed + done.layers.failed ? 1 : 0;
}

const struct command command_gc = {
	.name = "gc",
	.usage = "[OPTIONS]",
	.summary = "remove the records of old runs, and old layers",
	.groups = OPTION_GROUPS({ NULL, options_gc }, { NULL, options_json }),
	.main = gc_main,
};
