#include "cmd.h"

#include <stdio.h>

/* The result first, then what a person should know of the policy. */
static void print_result(const char *text, const struct ab_strv *notes)
{
	fputs(text, stdout);
	fflush(stdout);
	for (size_t i = 0; i < notes->len; i++)
		tell("%s", notes->v[i]);
}

static int list_main(struct args *args)
{
	ab_autostrv struct ab_strv notes = { 0 };
	ab_autofree char *text = NULL;
	struct ab_secrets_report report;
	struct ab_error err = { 0 };
	int status = check_words(args, 0, 0);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_secrets_report_list(&args->input, &report, &notes, &err) < 0)
		return complain(args, &err);
	text = given(args, ID_JSON) ? ab_secrets_report_list_json(&report)
				    : ab_secrets_report_list_text(&report);
	ab_secrets_report_fini(&report);
	print_result(text, &notes);
	return 0;
}

static int providers_main(struct args *args)
{
	ab_autofree char *text = NULL;
	int status = check_words(args, 0, 0);

	if (status >= 0)
		return status;
	text = given(args, ID_JSON) ? ab_secrets_report_providers_json()
				    : ab_secrets_report_providers_text();
	fputs(text, stdout);
	return 0;
}

static int check_main(struct args *args)
{
	ab_autostrv struct ab_strv notes = { 0 };
	ab_autofree char *text = NULL;
	struct ab_secrets_report report;
	struct ab_error err = { 0 };
	bool failed;

	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_secrets_report_check(&args->input, args->rest, args->nrest, &report, &notes, &err) <
		    0)
		return complain(args, &err);
	text = given(args, ID_JSON) ? ab_secrets_report_check_json(&report)
				    : ab_secrets_report_check_text(&report);
	failed = report.failed;
	ab_secrets_report_fini(&report);
	print_result(text, &notes);
	return failed;
}

static const struct command command_list = {
	.name = "secrets list",
	.usage = "[OPTIONS]",
	.summary = "what would be put in where, in a run with these options",
	.more = "Where each value comes from and whether something is there, "
		"its hosts, how it\ntravels, and where its placeholder is "
		"seen; then credentials that nothing\ncovers. Runs no command, "
		"and never prints a value.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_json },
			{ "Policy", options_policy },
			{ NULL, options_common },
			{ 0 },
		},
	.main = list_main,
};

static const struct command command_providers = {
	.name = "secrets providers",
	.usage = "[--json]",
	.summary = "services that are known by the names of their variables",
	.more = "For these, `agentbox run --secret NAME` is enough. GATEWAY is "
		"the variable in\nwhich libraries of the service look for "
		"another URL.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_json },
			{ NULL, options_common },
			{ 0 },
		},
	.main = providers_main,
};

static const struct command command_secrets_check = {
	.name = "secrets check",
	.usage = "[OPTIONS] [NAME...]",
	.summary = "does every source give a value that can be used?",
	.more = "Reads each source once, as a run would; commands are run. "
		"Prints nothing of\nthe values. A NAME that the policy does "
		"not have is tried as with --secret.\nExit status 0: all of "
		"them work, 1: something does not.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_json },
			{ "Policy", options_policy },
			{ NULL, options_common },
			{ 0 },
		},
	.main = check_main,
};

const struct command command_secrets = {
	.name = "secrets",
	.usage = "list | providers | check",
	.summary = "keys that the box can use and never sees",
	.more = "The box gets placeholders; the door puts the values in, in "
		"requests to the hosts\nthat they belong to. Example:\n\n"
		"  agentbox run --secret OPENAI_API_KEY -- python3 ask.py",
	.groups =
		(const struct option_group[]){
			{ NULL, options_common },
			{ 0 },
		},
	.subs = (const struct command *const[]){ &command_list, &command_providers,
						 &command_secrets_check, NULL },
	.main = sub_main,
};
