#include "cmd.h"

const struct option options_run[] = {
	VALUE("command", 'c', "STRING", "run this text with a shell"),
	VALUE("shell", 0, "PATH", "shell for -c (default: /bin/sh)"),
	FLAG("yes", 0, "approve everything that would be asked"),
	VALUE("approver", 0, "COMMAND", "ask this program instead of a person"),
	FLAG("require-covered", 0, "refuse to start if credentials are exposed"),
	VALUE("fd", 0, "N", "keep this file descriptor open in the box"),
	VALUE("cwd", 0, "DIR", "start the command in this folder"),
	VALUE("name", 0, "NAME", "name the run and keep its home layer"),
	VALUE("audit", 0, "FILE|FD|-|otlp:URL", "also write the record of the run here"),
	VALUE("on-violation", 0, "COMMAND", "run this program for every denial"),
	FLAG("trace-denials", 0, "also record denied files and system calls"),
	FLAG("verbose", 'v', "show guarantees in force; -vv adds timings"),
	FLAG("quiet", 'q', "print only errors"),
	{ 0 },
};

/* For run only: exec prints the result, learn reads it. */
static const struct option options_result[] = {
	VALUE("result", 0, "FILE|FD", "write the result of the run here, as JSON"),
	{ 0 },
};

static const struct option options_dry[] = {
	FLAG("dry-run", 0, "show what it may do, and start nothing"),
	FLAG("json", 0, "with --dry-run: print JSON"),
	{ 0 },
};

static const struct option options_stay[] = {
	FLAG("keep", 0, "keep the box after the command; see stop"),
	VALUE("idle", 0, "DURATION", "end a kept box idle for this long"),
	VALUE("in", 0, "NAME", "run the command in this kept box"),
	FLAG("detach", 'd', "run it in the background; see attach"),
	{ 0 },
};

void print_said(void *arg, enum ab_level level, const char *text)
{
	const struct args *args = arg;

	if (level == AB_SAY_DETAIL && !given(args, "verbose"))
		return;
	if (level == AB_SAY_NOTE && given(args, "quiet"))
		return;
	if (text[0] == ' ')
		tell_more(text);
	else
		tell_in(level == AB_SAY_WARNING ? COLOUR_YELLOW : COLOUR_BOLD, "%s", text);
}

/* As for a shell: what follows the text are its $0, $1, ... Without them the text is shown and judged alone. */
static void take_script(struct args *args, struct ab_request *request)
{
	const char *shell = value_of(args, "shell");
	const char **argv = ab_alloc((args->nrest + 3) * sizeof(*argv));

	argv[0] = shell ? shell : "/bin/sh";
	argv[1] = "-c";
	argv[2] = value_of(args, "command");
	for (size_t i = 0; i < args->nrest; i++)
		argv[3 + i] = args->rest[i];
	request->argv = argv;
	request->argc = args->nrest + 3;
	if (args->nrest)
		request->script = NULL;
}

static int take_folder(struct args *args, struct ab_request *request, struct ab_error *err)
{
	const char *folder = value_of(args, "cwd");
	struct stat st;

	if (!folder)
		return 0;
	request->start = realpath(folder, NULL);
	if (!request->start || stat(request->start, &st) < 0 || !S_ISDIR(st.st_mode))
		return misuse(args, err, "--cwd: there is no folder %s", folder);
	return 0;
}

int run_request(struct args *args, struct ab_request *ret, struct ab_error *err)
{
	struct ab_request request = { .policy = args->input,
				      .argv = args->rest,
				      .argc = args->nrest,
				      .script = value_of(args, "command"),
				      .require_covered = given(args, "require-covered"),
				      .yes = given(args, "yes"),
				      .approver = value_of(args, "approver"),
				      .fds = args->fds,
				      .nfds = args->nfds,
				      .audit = value_of(args, "audit"),
				      .on_violation = value_of(args, "on-violation"),
				      .result = value_of(args, "result"),
				      .name = value_of(args, "name"),
				      .trace_denials = given(args, "trace-denials"),
				      .verbose = count_given(args, "verbose"),
				      .say = print_said,
				      .arg = args };

	if (given(args, "command"))
		take_script(args, &request);
	if (take_folder(args, &request, err) < 0)
		return -1;
	if (request.audit && strcmp(request.audit, "-") == 0 && args->command != &command_run)
		return misuse(args, err, "--audit - is for run: %s prints its own result there",
			      args->command->name);
	if (request.argc == 0)
		return misuse(args, err, "no command given; usage: agentbox %s -- COMMAND",
			      args->command->name);
	/* A shell by itself, on a terminal, is for a person. */
	request.mark_shell = request.argc == 1 && isatty(STDIN_FILENO);
	if (!request.script)
		request.policy.program = request.argv[0];
	*ret = request;
	return 0;
}

static int check_stay(const struct args *args, struct ab_request *request, struct ab_error *err)
{
	const char *idle = value_of(args, "idle");

	request->keep = given(args, "keep");
	request->detach = given(args, "detach");
	if (idle && (ab_parse_duration(idle, &request->idle_ms) < 0 || !request->idle_ms))
		return misuse(args, err, "--idle: invalid duration \"%s\"; for example 30m", idle);
	/* The box exists: nothing about it can be changed. */
	if (given(args, "in") && args->input.nsettings)
		return misuse(
			args, err,
			"--in cannot be combined with %s: it belongs to the box, which exists already",
			args->settings[0].origin);
	return 0;
}

static int run_staying(struct args *args, struct ab_request *request, struct ab_error *err)
{
	struct ab_stayed stayed;
	const char *name;
	int status = 0;

	if (ab_run_stay(request, &stayed, err) < 0)
		return complain(args, err);
	name = request->name ? request->name : stayed.id;
	if (request->detach) {
		puts(name);
		return 0;
	}
	/* How to use the box from now on, once. */
	if (!given(args, "quiet"))
		tell("box %s stays: agentbox run --in %s -- COMMAND, agentbox stop %s", name, name,
		     name);
	if (ab_enter(request, stayed.id, stayed.approved, &status, err) < 0)
		return complain(args, err);
	return status;
}

int run_in_box(struct args *args, struct ab_request *request, const char *box, struct ab_error *err)
{
	bool interrupted = false;
	int status = 0;

	request->interrupted = &interrupted;
	if (request->keep || request->detach)
		return run_staying(args, request, err);
	if (box ? ab_enter(request, box, NULL, &status, err) < 0
		: ab_run(request, &status, err) < 0)
		return complain(args, err);
	/* A shell ends its loop only if we end as the command did. If that is not possible, the exit
	 * status says the same. */
	return end_like(status, interrupted ? SIGINT : 0);
}

/* "run ls --net allowed": the option went to the command, which may have failed of it. */
static void point_at_option(const struct args *args, int status)
{
	if (status == 0 || args->dashes || given(args, "quiet") || given(args, "command"))
		return;
	for (size_t i = 1; i < args->nrest; i++)
		if (is_distinct_option(args->rest[i])) {
			tell("%s comes after the command, so %s got it; options of agentbox come "
			     "first: agentbox run %s ... -- %s",
			     args->rest[i], args->rest[0], args->rest[i], args->rest[0]);
			return;
		}
}

static int run_main(struct args *args, struct ab_error *err)
{
	struct ab_request request;
	int status;

	if (run_request(args, &request, err) < 0 || check_stay(args, &request, err) < 0)
		return -1;
	if (given(args, "dry-run"))
		return preview_main(args, &request, err);
	status = run_in_box(args, &request, value_of(args, "in"), err);
	point_at_option(args, status);
	return status;
}

const struct command command_run = {
	.name = "run",
	.usage = "[OPTIONS] [--] COMMAND [ARG...]  |  run [OPTIONS] -c STRING",
	.summary = "run a command in the box",
	.groups = OPTION_GROUPS({ "Running", options_run }, { "Looking first", options_dry },
				{ "Boxes that stay", options_stay }, { "Result", options_result },
				{ "Policy", options_policy }),
	.runs = true,
	.words = { 0, SIZE_MAX },
	.rows = OPTION_ROWS(
		"idle needs keep", "json needs dry-run: agentbox exec --json runs a command",
		"dry-run in keep detach", "fd keep detach",
		"in profile config workspace cwd approver require-covered fd name audit "
		"on-violation trace-denials result keep detach: it belongs to the box, which exists already"),
	.main = run_main,
};
