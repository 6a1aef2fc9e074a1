#include "cmd.h"

static const struct option options_ps[] = {
	FLAG("all", 'a', "also runs with changes to apply"),
	{ 0 },
};

static void print_active(const struct args *args, const struct ab_run_list *list)
{
	print_made(given(args, "json") ? ab_run_list_json(list)
				       : ab_run_list_text(list, ab_tty_columns(STDOUT_FILENO, 0)),
		   NULL);
}

static int print_all(const struct args *args, const struct ab_run_list *list, struct ab_error *err)
{
	int64_t now = (int64_t)time(NULL) * 1000;
	bool json = given(args, "json");
	ab_auto(ab_layer_infos_fini) struct ab_layer_infos infos = { 0 };
	ab_autofree char *waiting = NULL;

	if (ab_layer_infos_get(&args->input, false, &infos, err) < 0)
		return -1;
	waiting = json ? ab_layer_infos_json(&infos, true)
		       : ab_layers_waiting_text(&infos, now, ab_tty_columns(STDOUT_FILENO, 0));
	if (!list->len && !*waiting) {
		puts("no active runs, no changes waiting; runs that have ended: agentbox log --list");
		return 0;
	}
	fputs(json ? "{\"runs\":" : "", stdout);
	print_active(args, list);
	fputs(json ? ",\"waiting\":" : *waiting ? "\n" : "", stdout);
	fputs(waiting, stdout);
	fputs(json ? "}\n" : "", stdout);
	return 0;
}

static int ps_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv notes = { 0 };
	ab_auto(ab_run_list_fini) struct ab_run_list list = { 0 };

	if (ab_runs_list(&args->input, &list, &notes, err) < 0)
		return -1;
	tell_notes(&notes);
	if (given(args, "all"))
		return print_all(args, &list, err);
	print_active(args, &list);
	return 0;
}

const struct command command_ps = {
	.name = "ps",
	.usage = "[--all] [--json]",
	.summary = "list the active runs",
	.groups = OPTION_GROUPS({ NULL, options_ps }, { NULL, options_json }),
	.main = ps_main,
};
