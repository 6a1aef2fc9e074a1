#include "cmd.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENT_MAX = 8 << 20 };

static const struct option options_hook[] = {
	{ "no-box", 0, OPT_FLAG, ID_NO_BOX, NULL, NULL,
	  "judge only; do not rewrite to agentbox run" },
	{ "approver", 0, OPT_VALUE, ID_APPROVER, "COMMAND", NULL,
	  "ask this program first (agentbox-run(1))" },
	{ 0 },
};

static const struct option options_install[] = {
	{ "no-box", 0, OPT_FLAG, ID_NO_BOX, NULL, NULL,
	  "judge only; do not rewrite to agentbox run" },
	{ "approver", 0, OPT_VALUE, ID_APPROVER, "COMMAND", NULL,
	  "ask this program first (agentbox-run(1))" },
	{ "project", 0, OPT_FLAG, ID_PROJECT, NULL, NULL,
	  "use the project's settings, not the user's" },
	{ "yes", 'y', OPT_FLAG, ID_YES, NULL, NULL, "write without asking" },
	{ 0 },
};

/*
 * The policy options as given, for the `run` command in the hook's reply. Only
 * a file becomes an absolute path: an agent changes folders, and another project
 * may have a file of the same name.
 */
static void collect_policy_options(struct args *args, struct ab_strv *options)
{
	static const struct {
		enum option_id id;
		const char *flag;
	} others[] = {
		{ ID_PROFILE, "--profile" },
		{ ID_CONFIG, "--config" },
		{ ID_WORKSPACE, "--workspace" },
	};

	if (given(args, ID_CONFIG) && args->input.config) {
		char *path = realpath(args->input.config, NULL);

		if (path)
			args->values[ID_CONFIG] = args->input.config = path;
	}
	for (size_t i = 0; i < AB_COUNT(others); i++)
		if (given(args, others[i].id)) {
			ab_strv_add(options, others[i].flag);
			ab_strv_add(options, args->values[others[i].id]);
		}
	for (size_t i = 0; i < args->input.nsettings; i++) {
		ab_strv_add(options, args->settings[i].origin);
		if (args->settings[i].value)
			ab_strv_add(options, args->settings[i].value);
	}
}

static char *read_event(size_t *ret_len)
{
	struct ab_buf b = { 0 };
	char block[16384];
	size_t n;

	while (b.len <= EVENT_MAX && (n = fread(block, 1, sizeof(block), stdin)) > 0)
		ab_buf_add(&b, block, n);
	*ret_len = b.len;
	return ab_buf_take(&b);
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

static void begin_deadline(void)
{
	enum { SECONDS = 15 }; /* less than any agent waits */

	signal(SIGALRM, exit_on_deadline);
	alarm(SECONDS);
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

static int hook_main(struct args *args)
{
	ab_autostrv struct ab_strv options = { 0 };
	struct ab_hook_request request = { .no_box = given(args, ID_NO_BOX) };
	struct ab_hook_reply reply;
	struct ab_error err = { 0 };
	ab_autofree char *event = NULL;
	int status;

	status = check_words(args, 0, 0);
	if (status >= 0)
		return status;
	begin_deadline();
	if (ab_caller_init(&args->input, &err) < 0)
		return block_command(args, &err);
	collect_policy_options(args, &options);
	request.policy = args->input;
	request.agent = strchr(args->command->name, ' ') + 1;
	request.options = (const char *const *)options.v;
	request.noptions = options.len;
	request.approver = args->values[ID_APPROVER];
	event = read_event(&request.event_len);
	request.event = event;
	if (request.event_len > EVENT_MAX) {
		tell("the event is longer than %d MiB", EVENT_MAX >> 20);
		return EXIT_USAGE;
	}
	if (ab_hook(&request, &reply, &err) < 0)
		return block_command(args, &err);
	status = print_reply(&reply);
	ab_hook_reply_fini(&reply);
	return status;
}

static int apply_plan(const struct args *args, const struct ab_hook_plan *plan)
{
	ab_autofree char *path = ab_escape(plan->path);
	struct ab_error err = { 0 };

	if (!plan->after) {
		printf("%s already has the hook\n", path);
		return 0;
	}
	printf("%s\n", path);
	for (size_t i = 0; i < plan->diff.len; i++)
		printf("  %s\n", plan->diff.v[i]);
	fflush(stdout);
	if (!given(args, ID_YES)) {
		if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
			tell("nothing was written: there is no terminal to ask on; "
			     "to write this change, add --yes");
			return 1;
		}
		if (!confirm("Write this?")) {
			tell("nothing was written");
			return 1;
		}
	}
	if (ab_hook_apply(plan, &err) < 0)
		return complain(args, &err);
	printf("written; takes effect when the agent restarts\n");
	return 0;
}

static int install_main(struct args *args)
{
	ab_autostrv struct ab_strv options = { 0 };
	struct ab_hook_request request = { .no_box = given(args, ID_NO_BOX) };
	struct ab_hook_plan plan;
	struct ab_error err = { 0 };
	int status = check_words(args, 1, 1);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	collect_policy_options(args, &options);
	request.policy = args->input;
	request.agent = args->rest[0];
	request.options = (const char *const *)options.v;
	request.noptions = options.len;
	request.approver = args->values[ID_APPROVER];
	if (ab_hook_plan(&request, given(args, ID_PROJECT), &plan, &err) < 0)
		return complain(args, &err);
	status = apply_plan(args, &plan);
	ab_hook_plan_fini(&plan);
	return status;
}

static const struct command hook_install = {
	.name = "hook install",
	.usage = "[OPTIONS] AGENT",
	.summary = "add the hook to an agent's settings (shows the change first)",
	.more = "Agents: claude-code, codex, cursor, gemini, windsurf. The hook's command line\n"
		"keeps the policy options.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_install },
			{ "Policy", options_policy },
			{ NULL, options_common },
			{ 0 },
		},
	.main = install_main,
};

static const struct option_group groups_hook[] = {
	{ NULL, options_hook },
	{ "Policy", options_policy },
	{ NULL, options_common },
	{ 0 },
};

/* One command for each agent that the library supports. */
#define HOOK(id, agent, title)                            \
	static const struct command hook_##id = {         \
		.name = "hook " agent,                    \
		.usage = "[OPTIONS] < EVENT",             \
		.summary = "reply to an event of " title, \
		.groups = groups_hook,                    \
		.main = hook_main,                        \
	}

HOOK(claude_code, "claude-code", "Claude Code");
HOOK(codex, "codex", "Codex CLI");
HOOK(copilot, "copilot", "Copilot CLI");
HOOK(cursor, "cursor", "Cursor");
HOOK(gemini, "gemini", "Gemini CLI");
HOOK(windsurf, "windsurf", "Windsurf");

const struct command command_hook = {
	.name = "hook",
	.usage = "install | AGENT",
	.summary = "judge a command that an agent is about to run",
	.more = "Reads the agent's event from standard input and replies in the format the agent\n"
		"expects: forbidden commands are denied, escalated ones need approval, and others\n"
		"are rewritten to run in the box if the agent lets a hook do that.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_common },
			{ 0 },
		},
	.subs =
		(const struct command *const[]){
			&hook_install,
			&hook_claude_code,
			&hook_codex,
			&hook_copilot,
			&hook_cursor,
			&hook_gemini,
			&hook_windsurf,
			NULL,
		},
	.main = sub_main,
};
