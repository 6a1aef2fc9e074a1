#include "cmd.h"

static const struct option options_doctor[] = {
	FLAG("json", 0, "print JSON"),
	FLAG("fix", 0, "print an AppArmor profile for this program"),
	FLAG("attack", 0, "attack a box from inside and report"),
	{ 0 },
};

static int print_profile(struct ab_error *err)
{
	ab_autofree char *profile = NULL, *file = NULL;
	bool needed;

	if (ab_doctor_apparmor(&profile, &file, &needed, err) < 0)
		return -1;
	fputs(profile, stdout);
	if (needed) {
		tell("install this profile once, as root:");
		fprintf(stderr,
			"          agentbox doctor --fix | sudo tee %s\n"
			"          sudo apparmor_parser -r %s\n",
			file, file);
	} else {
		tell("not needed here: AppArmor does not stop agentbox from using user namespaces");
	}
	return 0;
}

static void print_report(const struct args *args, const char *text)
{
	if (given(args, "json"))
		fputs(text, stdout);
	else
		print_rows(text);
}

static int run_attack(struct args *args, struct ab_error *err)
{
	ab_autofree char *text = NULL;
	ab_auto(ab_attack_fini) struct ab_attack report = { 0 };

	if (ab_attack(&args->input, &report, err) < 0)
		return -1;
	text = given(args, "json") ? ab_attack_json(&report) : ab_attack_text(&report);
	print_report(args, text);
	return report.broken;
}

static int run_diagnosis(struct args *args, struct ab_error *err)
{
	ab_autofree char *text = NULL;
	ab_auto(ab_diagnosis_fini) struct ab_diagnosis diagnosis = { 0 };

	if (ab_doctor(&args->input, &diagnosis, err) < 0)
		return -1;
	text = given(args, "json") ? ab_diagnosis_json(&diagnosis) : ab_diagnosis_text(&diagnosis);
	print_report(args, text);
	return diagnosis.failed;
}

static int doctor_main(struct args *args, struct ab_error *err)
{
	if (given(args, "fix"))
		return print_profile(err);
	if (ab_caller_init(&args->input, err) < 0)
		return -1;
	return given(args, "attack") ? run_attack(args, err) : run_diagnosis(args, err);
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "[--json] [--attack]  |  doctor --fix",
	.summary = "show what this machine can enforce, and how to fix the rest",
	.groups = OPTION_GROUPS({ "Doctor", options_doctor }),
	.rows = OPTION_ROWS("fix attack json"),
	.bare = true,
	.main = doctor_main,
};
