#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>

static const struct option options_doctor[] = {
	{ "json", 0, OPT_FLAG, ID_JSON, NULL, NULL, "print JSON" },
	{ "fix", 0, OPT_FLAG, ID_FIX, NULL, NULL, "print an AppArmor profile for this program" },
	{ "attack", 0, OPT_FLAG, ID_ATTACK, NULL, NULL, "attack a box from inside and report" },
	{ 0 },
};

static int print_profile(struct args *args)
{
	struct ab_error err = { 0 };
	char *profile, *file;
	bool needed;

	if (ab_doctor_apparmor(&profile, &file, &needed, &err) < 0)
		return complain(args, &err);
	fputs(profile, stdout);
	free(profile);
	if (needed) {
		tell("install this profile once, as root:");
		fprintf(stderr,
			"          agentbox doctor --fix | sudo tee %s\n"
			"          sudo apparmor_parser -r %s\n",
			file, file);
	} else {
		tell("not needed here: AppArmor does not stop agentbox from using user namespaces");
	}
	free(file);
	return 0;
}

static int run_attack(struct args *args, const struct ab_policy_input *input)
{
	struct ab_error err = { 0 };
	struct ab_attack report;
	bool broken;
	char *text;

	if (ab_attack(input, &report, &err) < 0)
		return complain(args, &err);
	text = given(args, ID_JSON) ? ab_attack_json(&report) : ab_attack_text(&report);
	broken = report.broken;
	if (given(args, ID_JSON))
		fputs(text, stdout);
	else
		print_rows(text);
	free(text);
	ab_attack_fini(&report);
	return broken;
}

static int run_diagnosis(struct args *args, const struct ab_policy_input *input)
{
	struct ab_diagnosis diagnosis;
	struct ab_error err = { 0 };
	bool failed;
	char *text;

	if (ab_doctor(input, &diagnosis, &err) < 0)
		return complain(args, &err);
	text = given(args, ID_JSON) ? ab_diagnosis_json(&diagnosis) : ab_diagnosis_text(&diagnosis);
	failed = diagnosis.failed;
	if (given(args, ID_JSON))
		fputs(text, stdout);
	else
		print_rows(text);
	free(text);
	ab_diagnosis_fini(&diagnosis);
	return failed;
}

static int doctor_main(struct args *args)
{
	struct ab_policy_input input = args->input;
	struct ab_error err = { 0 };

	if (args->nrest > 0)
		return misuse(args->command, "unexpected argument \"%s\"", args->rest[0]);
	if (given(args, ID_FIX) && (given(args, ID_ATTACK) || given(args, ID_JSON)))
		return misuse(args->command, "--fix cannot be combined with --attack or --json");
	if (given(args, ID_FIX))
		return print_profile(args);
	if (ab_caller_init(&input, &err) < 0)
		return complain(args, &err);
	return given(args, ID_ATTACK) ? run_attack(args, &input) : run_diagnosis(args, &input);
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "[--json] [--attack]  |  doctor --fix",
	.summary = "show what this machine can enforce, and how to fix the rest",
	.more = "Tries everything; nothing is guessed from version numbers. The exit status is 0\n"
		"if nothing failed, else 1. --attack starts a box, attacks every wall from inside\n"
		"and then checks whether anything outside has changed.",
	.groups = OPTION_GROUPS({ "Doctor", options_doctor }),
	.main = doctor_main,
};
