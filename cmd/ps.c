#include "cmd.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static size_t terminal_columns(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static const struct option options_ps[] = {
	{ "all", 'a', OPT_FLAG, ID_ALL, NULL, NULL, "also runs with changes to apply" },
	{ 0 },
};

static void print_active(const struct args *args, const struct ab_run_list *list)
{
	ab_autofree char *text = given(args, ID_JSON) ? ab_run_list_json(list)
						      : ab_run_list_text(list, terminal_columns());

	fputs(text, stdout);
}

static void print_waiting(const struct args *args, const struct ab_layer_infos *waiting)
{
	int64_t now = (int64_t)time(NULL) * 1000;
	ab_autofree char *text = given(args, ID_JSON)
					 ? ab_layers_waiting_json(waiting)
					 : ab_layers_waiting_text(waiting, now, terminal_columns());

	if (*text && !given(args, ID_JSON))
		puts("");
	fputs(text, stdout);
}

static bool has_waiting(const struct ab_layer_infos *waiting)
{
	ab_autofree char *text = ab_layers_waiting_text(waiting, 0, 0);

	return *text != '\0';
}

static int print_all(const struct args *args, const struct ab_run_list *list)
{
	bool json = given(args, ID_JSON);
	struct ab_layer_infos waiting;
	struct ab_error err = { 0 };

	if (ab_layer_infos_get(&args->input, false, &waiting, &err) < 0)
		return complain(args, &err);
	if (!json && !list->len && !has_waiting(&waiting)) {
		puts("no active runs, no changes waiting; runs that have ended: agentbox log --list");
		ab_layer_infos_fini(&waiting);
		return 0;
	}
	fputs(json ? "{\"runs\":" : "", stdout);
	print_active(args, list);
	fputs(json ? ",\"waiting\":" : "", stdout);
	print_waiting(args, &waiting);
	fputs(json ? "}\n" : "", stdout);
	ab_layer_infos_fini(&waiting);
	return 0;
}

static int ps_main(struct args *args)
{
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_error err = { 0 };
	struct ab_run_list list;
	int status = check_words(args, 0, 0);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_runs_list(&args->input, &list, &notes, &err) < 0)
		return complain(args, &err);
	for (size_t i = 0; i < notes.len; i++)
		tell("%s", notes.v[i]);
	status = 0;
	if (given(args, ID_ALL))
		status = print_all(args, &list);
	else
		print_active(args, &list);
	ab_run_list_fini(&list);
	return status;
}

const struct command command_ps = {
	.name = "ps",
	.usage = "[--all] [--json]",
	.summary = "list the active runs",
	.more = "Prints one line per run: its id, its age, its profile, how many requests were\n"
		"allowed and how many denied, the ports its programs listen on, questions that\n"
		"wait for an answer, and its command. With --all, also the runs that have ended\n"
		"and whose changes wait to be applied or discarded. All that have ended:\n"
		"agentbox log --list.",
	.groups = OPTION_GROUPS({ NULL, options_ps }, { NULL, options_json }),
	.main = ps_main,
};
