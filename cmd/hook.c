#include "cmd.h"

enum { EVENT_MAX = 8 << 20 };

static const struct option options_hook[] = {
	FLAG("no-box", 0, "judge only; do not rewrite to agentbox run"),
	VALUE("approver", 0, "COMMAND", "ask this program first (agentbox-run(1))"),
	{ 0 },
};

static const struct option options_install[] = {
	FLAG("project", 0, "use the project's settings, not the user's"),
	FLAG("yes", 'y', "write without asking"),
	FLAG("json", 0, "print JSON, and do not ask"),
	{ 0 },
};

/* Such that take_long() reads the same again: the value of --review and the value "--" only count
 * behind "=", and that of --read has become an exception. */
static void add_option(const struct args *args, const char *flag, const char *value,
		       struct ab_strv *options)
{
	const char *name = flag + strlen("--");
	const struct option *o = find_option(args->command, name, strlen(name), 0);

	if (!value || (o && o->kind == OPT_ALLOW)) {
		ab_strv_add(options, flag);
		return;
	}
	if (o && o->kind == OPT_OPEN)
		value++;
	if ((o && o->kind == OPT_SWITCH) || strcmp(value, "--") == 0) {
		ab_strv_addf(options, "%s=%s", flag, value);
		return;
	}
	ab_strv_add(options, flag);
	ab_strv_add(options, value);
}

/*
 * The policy options as given, for the `run` command in the hook's reply. Paths become
 * absolute: an agent changes folders, and a box may have chosen what is there.
 */
void collect_policy_options(struct args *args, struct ab_strv *options)
{
	const struct {
		const char *flag, *const *value;
	} others[] = {
		{ "--profile", &args->input.profile },
		{ "--config", &args->input.config },
		{ "--workspace", &args->input.workspace },
	};

	ab_caller_fix_paths(&args->input, args->settings);
	for (size_t i = 0; i < AB_COUNT(others); i++)
		if (given(args, others[i].flag + strlen("--")))
			add_option(args, others[i].flag, *others[i].value, options);
	for (size_t i = 0; i < args->input.nsettings; i++)
		add_option(args, args->settings[i].origin, args->settings[i].value, options);
}

/* Agents ignore a hook that takes too long or fails with any other status: the
 * command would then run. */
static void exit_on_deadline(int sig)
{
	static const char text[] = "agentbox: timed out while judging the event\n";
	ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)sig;
	(void)n;
	_exit(EXIT_USAGE);
}

static int block_command(const struct args *args, const struct ab_error *err)
{
	complain(args, err);
	return EXIT_USAGE;
}

/* Flush now: agents ignore the status of a failure that comes later. */
static int print_reply(const struct ab_hook_reply *reply)
{
	if (reply->out[0] && (printf("%s\n", reply->out) < 0 || fflush(stdout) != 0)) {
		tell("cannot write the reply: %m");
		_exit(EXIT_USAGE);
	}
	if (reply->say[0])
		fprintf(stderr, "%s\n", reply->say);
	return reply->status;
}

static void fill_request(struct args *args, const char *agent, struct ab_strv *options,
			 struct ab_hook_request *ret)
{
	collect_policy_options(args, options);
	ret->policy = args->input;
	ret->agent = agent;
	ret->options = (const char *const *)options->v;
	ret->noptions = options->len;
	ret->approver = value_of(args, "approver");
}

static int hook_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv options = { 0 };
	struct ab_hook_request request = { .no_box = given(args, "no-box") };
	ab_auto(ab_hook_reply_fini) struct ab_hook_reply reply = { 0 };
	ab_autobuf struct ab_buf event = { 0 };

	signal(SIGALRM, exit_on_deadline);
	alarm(AB_HOOK_DEADLINE_S);
	if (ab_caller_init(&args->input, err) < 0)
		return block_command(args, err);
	fill_request(args, strchr(args->command->name, ' ') + 1, &options, &request);
	/* Of an event that cannot be read, what came is judged: it is not JSON. */
	(void)read_input(stdin, EVENT_MAX, &event);
	request.event = event.data ? event.data : "";
	request.event_len = event.len;
	if (request.event_len > EVENT_MAX) {
		tell("the event is longer than %d MiB", EVENT_MAX >> 20);
		return EXIT_USAGE;
	}
	if (ab_hook(&request, &reply, err) < 0)
		return block_command(args, err);
	return print_reply(&reply);
}

/* What a script needs to ask a person itself, and then --yes. */
static int apply_plan_json(const struct args *args, const struct ab_hook_plan *plan,
			   struct ab_error *err)
{
	bool write = plan->after && given(args, "yes");

	if (write && ab_hook_apply(&args->input, plan, err) < 0)
		return -1;
	put_json("{'file':%s,'diff':%p,'written':%hhd,'needs':%s}\n", plan->path,
		 ab_list(&plan->diff), write, plan->needs);
	return plan->after && !write ? 1 : 0;
}

int apply_plan(const struct args *args, const struct ab_hook_plan *plan, const char *done,
	       const char *nothing, struct ab_error *err)
{
	ab_autofree char *path = ab_escape(plan->path);

	if (given(args, "json"))
		return apply_plan_json(args, plan, err);
	if (!plan->after) {
		printf("%s %s\n", path, nothing);
	} else {
		printf("%s\n", path);
		print_safe("  ", &plan->diff);
		if (get_consent(args, "Write this?",
				"nothing was written: there is no terminal to ask on; to write "
				"this change, add --yes",
				"nothing was written") >= 0)
			return 1;
		if (ab_hook_apply(&args->input, plan, err) < 0)
			return -1;
		printf("%s\n", done);
	}
	if (plan->needs)
		print_messages(plan->needs);
	return 0;
}

/* Of `hook install` and `hook uninstall`, which has fewer options. */
static int install_main(struct args *args, struct ab_error *err)
{
	bool remove = strcmp(args->command->name, "hook uninstall") == 0;
	ab_autostrv struct ab_strv options = { 0 };
	struct ab_hook_request request = { .no_box = given(args, "no-box") };
	ab_auto(ab_hook_plan_fini) struct ab_hook_plan plan = { 0 };

	fill_request(args, args->rest[0], &options, &request);
	if (ab_hook_plan(&request, given(args, "project"), remove, &plan, err) < 0)
		return -1;
	return remove ? apply_plan(args, &plan, "removed; takes effect when the agent restarts",
				   "does not have the hook", err)
		      : apply_plan(args, &plan, "written; takes effect when the agent restarts",
				   "already has the hook", err);
}

/* The mark of an item is in front of the margin of its text. */
static void print_item(const char *mark, const char *text)
{
	ab_autobuf struct ab_buf b = { 0 };

	fit_message(&b, STDOUT_FILENO, text, strlen("  + "));
	printf("  %s %s\n", mark, b.data ? b.data : "");
}

static void print_lines(const struct ab_strv *lines, const char *mark)
{
	for (size_t i = 0; i < lines->len; i++)
		print_item(mark, lines->v[i]);
}

/* The command must do no harm if nothing stops it. */
static void print_unproved(const char *title)
{
	ab_autofree char *text =
		ab_printf("Not proved: that %s calls it. Ask the agent to run \"rm "
			  "--help -rf /\", which deletes nothing: the hook must deny "
			  "it.",
			  title);

	print_item("?", text);
}

static void print_list(const struct ab_hook_states *states)
{
	for (size_t i = 0; i < states->len; i++) {
		const struct ab_hook_state *s = &states->v[i];
		ab_autofree char *path = ab_escape(s->path);

		if (s->project && !s->installed && !s->partial)
			continue;
		printf("%-12s %-14s %s\n", s->agent,
		       s->installed	? "installed"
		       : s->partial	? "incomplete"
		       : s->lacking.len ? "unreadable"
					: "not installed",
		       path);
	}
}

/* 1 if an installed hook lacks something, or none is installed. */
static int print_status(const struct ab_hook_states *states)
{
	bool bad = false;
	size_t found = 0;

	for (size_t i = 0; i < states->len; i++) {
		const struct ab_hook_state *s = &states->v[i];
		ab_autofree char *path = ab_escape(s->path);

		if (!s->installed && !s->lacking.len)
			continue;
		found++;
		bad |= s->lacking.len > 0;
		printf("%s (%s): %s\n", s->title, s->agent, path);
		print_lines(&s->proved, "+");
		print_lines(&s->lacking, "-");
		if (s->installed && !s->lacking.len)
			print_unproved(s->title);
	}
	if (!found)
		print_messages("no hook is installed; to install one: agentbox hook install AGENT");
	return bad || !found;
}

static void print_json(const struct ab_hook_states *states)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'hooks':[");
	for (size_t i = 0; i < states->len; i++) {
		const struct ab_hook_state *s = &states->v[i];

		ab_buf_jsonf(&b,
			     ",{'agent':%s,'installed':%hhd,'project':%hhd,'path':%s,'proved':%p,"
			     "'lacking':%p}",
			     s->agent, s->installed, s->project, s->path, ab_list(&s->proved),
			     ab_list(&s->lacking));
	}
	printf("%s]}\n", b.data);
}

static int survey_main(struct args *args, struct ab_error *err)
{
	bool test = strcmp(args->command->name, "hook status") == 0;
	ab_auto(ab_hook_states_fini) struct ab_hook_states states = { 0 };

	if (ab_hook_survey(&args->input, args->rest[0], test, &states, err) < 0)
		return -1;
	if (!given(args, "json") && test)
		return print_status(&states);
	if (given(args, "json"))
		print_json(&states);
	else
		print_list(&states);
	return 0;
}

/* A command for each agent that the library supports. */
/* clang-format off */
#define HOOK(agent, title) \
	{ "hook " agent, "[OPTIONS] < EVENT", "reply to an event of " title, \
	  OPTION_GROUPS({ NULL, options_hook }, { "Policy", options_policy }), \
	  .bare = true, .main = hook_main }
/* clang-format on */

static const struct command subs[] = {
	{ "hook install", "[OPTIONS] AGENT",
	  "add the hook to an agent's settings (shows the change first)",
	  OPTION_GROUPS({ NULL, options_hook }, { NULL, options_install },
			{ "Policy", options_policy }),
	  .words = { 1, 1 }, .main = install_main },
	{ "hook uninstall", "[OPTIONS] AGENT",
	  "remove the hook from an agent's settings (shows the change first)",
	  OPTION_GROUPS({ NULL, options_install }), .words = { 1, 1 }, .main = install_main },
	{ "hook list", "[--json]", "show which agents have the hook, and where", groups_json,
	  .main = survey_main },
	{ "hook status", "[--json] [AGENT]", "test the installed hooks, and say what was proved",
	  groups_json, .words = { 0, 1 }, .main = survey_main },
	HOOK("claude-code", "Claude Code"),
	HOOK("codex", "Codex CLI"),
	HOOK("copilot", "Copilot CLI"),
	HOOK("cursor", "Cursor"),
	HOOK("gemini", "Gemini CLI"),
	HOOK("windsurf", "Windsurf"),
	{ 0 },
};

const struct command command_hook = {
	.name = "hook",
	.usage = "install | uninstall | list | status | AGENT",
	.summary = "judge a command that an agent is about to run",
	.groups = groups_common,
	.subs = subs,
};
