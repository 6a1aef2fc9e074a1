/* Several commands at once, from a loop of the program's own: poll() and no thread. */
#include <agentbox.h>
#include <poll.h>
#include <stdio.h>

static void ended(void *arg, struct ab_proc *proc, const struct ab_outcome *outcome)
{
	int *left = arg;

	(void)proc;
	printf("exit %d after output: %s", outcome->exit, outcome->out);
	--*left;
}

int main(void)
{
	const char *commands[] = { "echo one", "echo two; exit 2", "sleep 60" };
	struct ab_setting_value settings[] = { { "network.mode", "blocked" } };
	struct ab_policy_options policy = AB_POLICY_OPTIONS;
	struct ab_manager_options base = AB_MANAGER_OPTIONS;
	struct ab_callbacks callbacks = AB_CALLBACKS;
	struct ab_proc *procs[3];
	struct ab_manager *manager;
	struct ab_fault fault;
	int left = 3;

	policy.settings = settings;
	policy.nsettings = 1;
	base.policy = &policy;
	callbacks.ended = ended;
	callbacks.arg = &left;
	if (ab_manager_new(&base, &manager, &fault) < 0)
		return fprintf(stderr, "%s\n", fault.text), 1;
	for (int i = 0; i < 3; i++) {
		struct ab_run_options options = AB_RUN_OPTIONS;

		options.shell = commands[i];
		options.deadline_ms = 2000;
		options.callbacks = &callbacks;
		if (ab_manager_run(manager, &options, &procs[i], &fault) < 0)
			return fprintf(stderr, "%s\n", fault.text), 1;
	}
	while (left) {
		struct pollfd p = { .fd = ab_manager_fd(manager), .events = POLLIN };

		poll(&p, 1, -1);
		if (ab_manager_dispatch(manager, 0, &fault) < 0)
			return fprintf(stderr, "%s\n", fault.text), 1;
	}
	for (int i = 0; i < 3; i++)
		ab_proc_free(procs[i]);
	ab_manager_free(manager);
	return 0;
}
