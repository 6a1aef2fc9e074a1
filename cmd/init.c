#include "cmd.h"

static const struct option options_init[] = {
	FLAG("yes", 'y', "write and trust the file without asking"),
	FLAG("print", 0, "print the file; write nothing"),
	FLAG("json", 0, "print what was detected and done as JSON"),
	VALUE("workspace", 0, "DIR", "project folder (default: current folder)"),
	{ 0 },
};

static void print_about(const char *path, const char *what)
{
	ab_autofree char *line = ab_printf("%s %s", path, what);

	print_messages(line);
}

static void print_plan(const struct ab_init_plan *plan)
{
	ab_autofree char *text = ab_init_text(plan), *path = ab_escape(plan->path);

	fputs(text, stdout);
	if (!plan->presets.len && !plan->before)
		printf("nothing was detected that needs settings; the defaults apply\n");
	else if (!plan->after)
		print_about(path, "has all of this already");
	if (plan->before && plan->trust != AB_TRUST_HOLDS)
		print_about(path, "is not trusted; review it with: agentbox trust");
	if (!plan->after)
		return;
	printf("\n%s\n", path);
	print_safe("  ", &plan->diff);
	printf("\n");
}

/* -1: write it; else the exit status. */
static int ask_to_write(const struct args *args, const struct ab_init_plan *plan)
{
	ab_autofree char *without =
		ab_printf("nothing was written: there is no terminal to ask on; to %s this: "
			  "agentbox init --yes",
			  ab_init_trusts(plan) ? "write and trust" : "write");

	return get_consent(args, ab_init_trusts(plan) ? "Write this and trust it?" : "Write this?",
			   without, "nothing was written");
}

static void offer_hook(struct args *args, const char *agent, const char *hook)
{
	struct ab_hook_request request = { .policy = args->input, .agent = hook };
	struct ab_error err = { 0 };
	ab_auto(ab_hook_plan_fini) struct ab_hook_plan plan = { 0 };

	if (ab_hook_plan(&request, false, false, &plan, &err) < 0) {
		complain(args, &err);
		return;
	}
	if (!plan.after) {
		printf("%s: its hook is installed\n", agent);
	} else if (given(args, "yes") || !can_ask()) {
		ab_autofree char *line = ab_printf(
			"%s: to run each of its commands in the box: agentbox hook install %s",
			agent, hook);

		print_messages(line);
	} else {
		ab_autofree char *path = ab_escape(plan.path);

		printf("\n%s\n", path);
		print_safe("  ", &plan.diff);
		if (!confirm("Install this hook, which runs each command of the agent in the box?"))
			printf("not installed\n");
		else if (ab_hook_apply(&args->input, &plan, &err) < 0)
			complain(args, &err);
		else
			printf("installed; takes effect when the agent restarts\n");
		if (plan.needs)
			print_messages(plan.needs);
	}
}

static void offer_agents(struct args *args, const struct ab_init_plan *plan)
{
	for (size_t i = 0; i < plan->agents.len; i++) {
		const char *agent = plan->agents.v[i];

		ab_autofree char *line =
			ab_printf("%s: to run it in the box: agentbox %s; to always "
				  "do that: agentbox alias --install %s",
				  agent, agent, agent);

		print_messages(line);
		if (plan->hooks.v[i][0])
			offer_hook(args, agent, plan->hooks.v[i]);
	}
}

/* Only what is not all right, and the summary. */
static void print_doctor(struct args *args)
{
	static const char *const marks[] = { "ok", "warn", "fail", "skip" };
	ab_autostrv struct ab_strv rows = { 0 };
	ab_autobuf struct ab_buf text = { 0 };
	ab_auto(ab_diagnosis_fini) struct ab_diagnosis d = { 0 };
	struct ab_error err = { 0 };

	if (ab_doctor(&args->input, &d, &err) < 0) {
		complain(args, &err);
		return;
	}
	for (size_t i = 0; i < d.len; i++) {
		ab_autofree char *seen = ab_escape(d.v[i].seen);

		if (d.v[i].health != AB_HEALTH_WARN && d.v[i].health != AB_HEALTH_FAIL)
			continue;
		ab_strv_add(&rows, marks[d.v[i].health]);
		ab_strv_addf(&rows, "%s: %s", d.v[i].name, seen);
	}
	ab_summary_put(&text, &rows, output_columns());
	printf("%sdoctor: %s\n", text.len ? text.data : "", d.summary);
	if (d.failed)
		printf("for the remedies: agentbox doctor\n");
	else
		print_messages(
			"to run a command in the box: agentbox COMMAND, as in agentbox npm test");
}

static int print_json(struct args *args, const struct ab_init_plan *plan, struct ab_error *err)
{
	ab_autofree char *members = ab_init_json(plan);
	bool write = plan->after && given(args, "yes");

	if (write && ab_init_write(&args->input, plan, err) < 0)
		return -1;
	put_json("{%-s,'written':%hhd}\n", members, write);
	return 0;
}

static int write_plan(struct args *args, const struct ab_init_plan *plan, struct ab_error *err)
{
	ab_autofree char *path = ab_escape(plan->path);
	int status;

	print_plan(plan);
	if (plan->after) {
		status = ask_to_write(args, plan);
		if (status >= 0)
			return status;
		if (ab_init_write(&args->input, plan, err) < 0)
			return -1;
		print_about(path, ab_init_trusts(plan)
					  ? "is written, and trusted until it changes"
					  : "is written; to review and trust it: agentbox trust");
	}
	offer_agents(args, plan);
	print_doctor(args);
	return 0;
}

static int init_main(struct args *args, struct ab_error *err)
{
	ab_auto(ab_init_plan_fini) struct ab_init_plan plan = { 0 };

	if (ab_init_look(&args->input, &plan, err) < 0)
		return -1;
	if (given(args, "print")) {
		const char *text = plan.after ? plan.after : plan.before;

		fputs(text ? text : "{}\n", stdout);
		return 0;
	}
	return given(args, "json") ? print_json(args, &plan, err) : write_plan(args, &plan, err);
}

const struct command command_init = {
	.name = "init",
	.usage = "[OPTIONS]",
	.summary = "set up a project: detect what it needs, write .agentbox.json",
	.groups = OPTION_GROUPS({ NULL, options_init }),
	.rows = OPTION_ROWS("print yes json"),
	.main = init_main,
};
