#include "cmd.h"

static int list_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv notes = { 0 };
	ab_auto(ab_secrets_report_fini) struct ab_secrets_report report = { 0 };

	if (ab_secrets_report_list(&args->input, &report, &notes, err) < 0)
		return -1;
	return print_made(given(args, "json") ? ab_secrets_report_list_json(&report)
					      : ab_secrets_report_list_text(&report),
			  &notes);
}

static int providers_main(struct args *args, struct ab_error *err)
{
	ab_autofree char *text = NULL;

	(void)err;
	if (given(args, "json"))
		return print_made(ab_secrets_report_providers_json(), NULL);
	text = ab_secrets_report_providers_text();
	print_text(text);
	return 0;
}

static int check_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv notes = { 0 };
	ab_auto(ab_secrets_report_fini) struct ab_secrets_report report = { 0 };

	if (ab_secrets_report_check(&args->input, args->rest, args->nrest, &report, &notes, err) <
	    0)
		return -1;
	print_made(given(args, "json") ? ab_secrets_report_check_json(&report)
				       : ab_secrets_report_check_text(&report),
		   &notes);
	return report.failed;
}

static int rotate_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv notes = { 0 }, names = { 0 }, active = { 0 };
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	ab_auto(ab_run_list_fini) struct ab_run_list runs = { 0 };

	if (ab_steer_state(&args->input, &state, err) < 0 ||
	    ab_secrets_report_rotate(&args->input, state.root, args->rest, args->nrest, &names,
				     &notes, err) < 0 ||
	    ab_runs_list(&args->input, &runs, &notes, err) < 0)
		return -1;
	for (size_t i = 0; i < runs.len * names.len; i++)
		if (ab_strv_has(&runs.v[i / names.len].secrets, names.v[i % names.len]))
			ab_strv_add_once(&active, runs.v[i / names.len].id);
	tell_notes(&notes);
	if (given(args, "json")) {
		put_json("{'rotated':%p,'active':%p}\n", ab_list(&names), ab_list(&active));
		return 0;
	}
	print_each("", &names, " has a new placeholder in every run that starts from now on");
	for (size_t i = 0; i < active.len; i++)
		printf("%s%s%s",
		       i ? " " : "active runs keep the old one until they end: agentbox stop ",
		       active.v[i], i + 1 == active.len ? "\n" : "");
	return 0;
}

static const struct command subs[] = {
	{ "secrets list", "[OPTIONS]", "show which secrets a run with these options would inject",
	  OPTION_GROUPS({ NULL, options_json }, { "Policy", options_policy }), .main = list_main },
	{ "secrets providers", "[--json]", "list the services whose variables are known",
	  groups_json, .bare = true, .main = providers_main },
	{ "secrets check", "[OPTIONS] [NAME...]", "check that every source gives a usable value",
	  OPTION_GROUPS({ NULL, options_json }, { "Policy", options_policy }),
	  .words = { 0, SIZE_MAX }, .main = check_main },
	{ "secrets rotate", "[OPTIONS] [NAME...]",
	  "replace the placeholders of secrets by new ones",
	  OPTION_GROUPS({ NULL, options_json }, { "Policy", options_policy }),
	  .words = { 0, SIZE_MAX }, .main = rotate_main },
	{ 0 },
};

const struct command command_secrets = {
	.name = "secrets",
	.usage = "list | providers | check | rotate",
	.summary = "use API keys without exposing them to the box",
	.groups = groups_common,
	.subs = subs,
};
