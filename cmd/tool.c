/*
 * Our binary under other names: a command of the box that stands for a program of the host, and the
 * run that the broker of the tools starts for it. Neither is a command of agentbox's own.
 */
#include "cmd.h"

static const struct command tool = { .name = "tool", .runs = true };

int end_like(int status, int sig)
{
	sigset_t set;

	if (!sig)
		return status;
	fflush(stdout);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	return status;
}

static int call_tool(const char *name, int argc, char **argv)
{
	const struct args args = { .command = &tool };
	struct ab_error err = { 0 };
	int sig, status = ab_tool_client_run(name, (const char *const *)argv + 1,
					     argc > 0 ? (size_t)argc - 1 : 0, &sig, &err);

	return status < 0 ? complain(&args, &err) : end_like(status, sig);
}

/* argv: our name, the descriptor of the settings, the workspace, the run whose box called, the program
 * and its words. */
static int run_tool(int argc, char **argv)
{
	struct args args = { .command = &tool };
	struct ab_request request = { .policy = { .workspace = argv[2], .no_project = true },
				      .argv = (const char *const *)argv + 4,
				      .argc = (size_t)argc - 4,
				      .yes = true,
				      .tool_of = argv[3],
				      .say = print_said,
				      .arg = &args };
	struct ab_error err = { 0 };
	bool interrupted = false;
	ab_autostrv struct ab_strv variables = { 0 };
	ab_autofree struct ab_setting *set = NULL;
	ab_autofree char *settings = NULL;
	int status = 0;

	ab_tool_fixed_variables(&variables);
	set = ab_alloc(variables.len * sizeof(*set));
	for (size_t i = 0; i < variables.len; i++)
		set[i] = (struct ab_setting){ "env.set", variables.v[i], "tools" };
	request.policy.settings = set;
	request.policy.nsettings = variables.len;
	request.interrupted = &interrupted;
	settings = ab_tool_settings(argv[1], &err);
	request.policy.config_text = settings;
	if (!settings || ab_caller_init(&request.policy, &err) < 0 ||
	    ab_run(&request, &status, &err) < 0)
		return complain(&args, &err);
	return end_like(status, interrupted ? SIGINT : 0);
}

bool tool_main(int argc, char **argv, int *ret_status)
{
	const char *name = argc > 0 ? ab_path_name(argv[0]) : "";

	if (argc >= 5 && strcmp(argv[0], AB_TOOL_RUN_NAME) == 0)
		*ret_status = run_tool(argc, argv);
	else if (ab_tool_client_is(name))
		*ret_status = call_tool(name, argc, argv);
	else
		return false;
	return true;
}
