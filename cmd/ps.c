#include "cmd.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static size_t terminal_columns(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int ps_main(struct args *args)
{
	ab_autostrv struct ab_strv notes = { 0 };
	ab_autofree char *text = NULL;
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
	text = given(args, ID_JSON) ? ab_run_list_json(&list)
				    : ab_run_list_text(&list, terminal_columns());
	fputs(text, stdout);
	ab_run_list_fini(&list);
	return 0;
}

const struct command command_ps = {
	.name = "ps",
	.usage = "[--json]",
	.summary = "list the active runs",
	.more = "Prints one line per run: its id, its age, its profile, how many requests were\n"
		"allowed and how many denied, the ports its programs listen on, questions that\n"
		"wait for an answer, and its command.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_json },
			{ NULL, options_common },
			{ 0 },
		},
	.main = ps_main,
};
