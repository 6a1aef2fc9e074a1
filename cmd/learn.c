#include "cmd.h"

static const struct option options_learn[] = {
	FLAG("json", 0, "print one object: policy, notes, status"),
	VALUE("save", 0, "NAME", "save it as a profile, or add it to one"),
	{ 0 },
};

/* Standard output is for the policy. The command's own output goes to standard
 * error instead, unless it is a terminal. */
static int divert_stdout(void)
{
	int kept;

	if (isatty(STDOUT_FILENO))
		return -1;
	kept = dup(STDOUT_FILENO);
	if (kept >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	return kept;
}

/* Ask once for all the hosts that will be allowed. */
static int ask_consent(const struct args *args)
{
	static const char question[] =
		"agentbox: learn lets the command reach any public host "
		"while it runs, and\n          records everything. Continue?";
	static const char without[] =
		"not started: learn lets the command reach any public host, "
		"and there is no terminal to ask on; to accept that, add --yes";

	return get_consent(args, question, without, "not started") < 0 ? -1 : EXIT_REFUSED;
}

static void tell_indented(const struct ab_strv *lines)
{
	for (size_t i = 0; i < lines->len; i++) {
		ab_autofree char *line = ab_printf("  %s", lines->v[i]);

		tell_more(line);
	}
}

static int save_profile(const struct args *args, const struct ab_policy_input *input,
			const struct ab_lesson *lesson, struct ab_error *err)
{
	const char *name = value_of(args, "save");
	ab_auto(ab_learn_saved_fini) struct ab_learn_saved saved = { 0 };

	if (!name)
		return 0;
	if (ab_learn_save(input, name, given(args, "yes"), lesson, &saved, err) < 0) {
		return -1;
	}
	if (saved.existed)
		tell(saved.diff.len ? "added to profile %s: %s" : "profile %s has all of it: %s",
		     name, saved.path);
	else
		tell("saved as profile %s: %s", name, saved.path);
	tell_indented(&saved.diff);
	tell("use it:  agentbox run --profile %s -- ...", name);
	if (saved.lacking.len)
		tell("a settings file or variable overrides this part of the profile:");
	tell_indented(&saved.lacking);
	return 0;
}

/* The policy is JSON already, on several lines. */
static void print_lesson_json(const struct ab_lesson *lesson, int status)
{
	ab_autobuf struct ab_buf b = { 0 };
	bool quoted = false;

	ab_buf_puts(&b, "{\"policy\":");
	for (const char *p = lesson->policy; *p; p++) {
		if (quoted && *p == '\\' && p[1])
			ab_buf_add(&b, p++, 1);
		else if (*p == '"')
			quoted = !quoted;
		if (quoted || !strchr(" \n\t", *p))
			ab_buf_add(&b, p, 1);
	}
	put_json("%-s,'notes':%p,'status':%d}\n", b.data, ab_list(&lesson->notes), status);
}

/* Print what was learned. Returns the command's status unless this fails. */
static int print_lesson(const struct args *args, const struct ab_policy_input *input,
			const char *result, int status, struct ab_error *err)
{
	ab_auto(ab_lesson_fini) struct ab_lesson lesson = { 0 };

	if (ab_learn(input, result, &lesson, err) < 0)
		return -1;
	if (!given(args, "quiet") && !given(args, "json"))
		tell_notes(&lesson.notes);
	if (status)
		tell("the command ended with status %d, so it may need more than this", status);
	if (given(args, "json"))
		print_lesson_json(&lesson, status);
	else
		fputs(lesson.policy, stdout);
	if (save_profile(args, input, &lesson, err) < 0)
		status = complain(args, err);
	return status;
}

static int run_recorded(struct args *args, struct ab_request *request, struct ab_child_run *ret,
			int *ret_status)
{
	struct ab_error err = { 0 };
	int kept = divert_stdout();
	int status = ask_consent(args);

	if (status < 0 && ab_run_in_child(request, 0, ret, ret_status, &err) < 0) {
		ab_child_run_fini(ret);
		status = complain(args, &err);
	}
	fflush(stdout);
	if (kept >= 0) {
		dup2(kept, STDOUT_FILENO);
		close(kept);
	}
	return status;
}

static int learn_main(struct args *args, struct ab_error *err)
{
	struct ab_request request;
	struct ab_child_run apart;
	int status, ended = 0;

	if (run_request(args, &request, err) < 0)
		return -1;
	if (given(args, "save") &&
	    ab_learn_place(&request.policy, value_of(args, "save"), given(args, "yes"), err) < 0)
		return -1;
	request.learn = true;
	request.trace_denials = true;
	status = run_recorded(args, &request, &apart, &ended);
	if (status >= 0)
		return status;
	status = print_lesson(args, &request.policy, apart.result, ended, err);
	ab_child_run_fini(&apart);
	return status;
}

const struct command command_learn = {
	.name = "learn",
	.usage = "[OPTIONS] [--] COMMAND [ARG...]  |  "
		 "learn [OPTIONS] -c STRING",
	.summary = "run a command and print the policy it needs",
	.groups = OPTION_GROUPS({ "Learning", options_learn }, { "Running", options_run },
				{ "Policy", options_policy }),
	.runs = true,
	.words = { 0, SIZE_MAX },
	.main = learn_main,
};
