#include "cmd.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENT_MAX = 8 << 20 };

static const struct option options_hook[] = {
	{ "no-box", 0, OPT_FLAG, ID_NO_BOX, NULL, NULL,
	  "judge only, do not rewrite to agentbox run" },
	{ "approver", 0, OPT_VALUE, ID_APPROVER, "COMMAND", NULL,
	  "ask this program first (agentbox-run(1))" },
	{ 0 },
};

static const struct option options_install[] = {
	{ "no-box", 0, OPT_FLAG, ID_NO_BOX, NULL, NULL,
	  "judge only, do not rewrite to agentbox run" },
	{ "approver", 0, OPT_VALUE, ID_APPROVER, "COMMAND", NULL,
	  "ask this program first (agentbox-run(1))" },
	{ "project", 0, OPT_FLAG, ID_PROJECT, NULL, NULL,
	  "in this project's settings, not the user's" },
	{ "yes", 'y', OPT_FLAG, ID_YES, NULL, NULL, "write without asking" },
	{ 0 },
};

/*
 * The policy options as they were given, for the `run` that is written. Only a
 * file is named in full: an agent goes from folder to folder, and a project's
 * own file of that name is not the one that was meant.
 */
static void collect(struct args *args, struct ab_strv *options)
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

/* A hook that takes too long is ignored by agents, as is one that fails with
 * another status: then the command would run. */
static void give_up(int sig)
{
	static const char text[] = "agentbox: the event took too long\n";
	ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)sig;
	(void)n;
	_exit(EXIT_USAGE);
}

static void begin_deadline(void)
{
	enum { SECONDS = 15 }; /* less than any agent waits */

	signal(SIGALRM, give_up);
	alarm(SECONDS);
}

static int block(const struct args *args, const struct ab_error *err)
{
	complain(args, err);
	return EXIT_USAGE;
}

/* At once: what fails later would end with a status that agents ignore. */
static int print_reply(const struct ab_hook_reply *reply)
{
	if (reply->out[0] && (printf("%s\n", reply->out) < 0 || fflush(stdout) != 0)) {
		tell("cannot write the answer: %m");
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
		return block(args, &err);
	collect(args, &options);
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
		return block(args, &err);
	status = print_reply(&reply);
	ab_hook_reply_fini(&reply);
	return status;
}

static int apply(const struct args *args, const struct ab_hook_plan *plan)
{
	ab_autofree char *path = ab_escape(plan->path);
	struct ab_error err = { 0 };

	if (!plan->after) {
		printf("%s has the hook already\n", path);
		return 0;
	}
	printf("%s\n", path);
	for (size_t i = 0; i < plan->diff.len; i++)
		printf("  %s\n", plan->diff.v[i]);
	fflush(stdout);
	if (!given(args, ID_YES)) {
		if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
			tell("nothing was written: there is no terminal to "
			     "ask on; to write what is shown above add --yes");
			return 1;
		}
		if (!confirm("Write this?")) {
			tell("nothing was written");
			return 1;
		}
	}
	if (ab_hook_apply(plan, &err) < 0)
		return complain(args, &err);
	printf("written; it counts from the agent's next start\n");
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
	collect(args, &options);
	request.policy = args->input;
	request.agent = args->rest[0];
	request.options = (const char *const *)options.v;
	request.noptions = options.len;
	request.approver = args->values[ID_APPROVER];
	if (ab_hook_plan(&request, given(args, ID_PROJECT), &plan, &err) < 0)
		return complain(args, &err);
	status = apply(args, &plan);
	ab_hook_plan_fini(&plan);
	return status;
}

static const struct command hook_install = {
	.name = "hook install",
	.usage = "[OPTIONS] AGENT",
	.summary = "put the hook into an agent's settings, after showing it",
	.more = "Agents: claude-code, codex, cursor, gemini, windsurf. Policy "
		"options are kept in\nthe hook's command line.",
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

/* One command for each agent that the library knows. */
#define HOOK(id, agent, title)                          \
	static const struct command hook_##id = {       \
		.name = "hook " agent,                  \
		.usage = "[OPTIONS] < EVENT",           \
		.summary = "answer an event of " title, \
		.groups = groups_hook,                  \
		.main = hook_main,                      \
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
	.summary = "answer an agent that is about to run a command",
	.more = "Reads the agent's event from standard input and answers as it "
		"wants to be\nanswered: forbidden commands are denied, escalated "
		"ones asked about, and what is\npermitted is rewritten to run in "
		"the box where the agent lets a hook do that.",
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
