/* Run a command, answer what it asks, and print what was denied. */
#include <agentbox.h>
#include <stdio.h>

static void ask(void *arg, struct ab_proc *proc, const struct ab_asked *q)
{
	printf("%s? %s\n", q->text, (const char *)arg);
	ab_proc_answer(proc, q->id, arg, NULL, NULL);
}

int main(int argc, char **argv)
{
	struct ab_callbacks callbacks = AB_CALLBACKS;
	struct ab_run_options options = AB_RUN_OPTIONS;
	const struct ab_outcome *end;
	struct ab_manager *manager;
	struct ab_proc *proc;
	struct ab_fault fault;

	callbacks.question = ask;
	callbacks.arg = argc > 2 ? argv[2] : "no";
	options.callbacks = &callbacks;
	options.shell = argc > 1 ? argv[1] : "curl http://files.example.com/";
	if (ab_manager_new(NULL, &manager, &fault) < 0 ||
	    ab_manager_run(manager, &options, &proc, &fault) < 0 ||
	    ab_proc_wait(proc, -1, &end, &fault) < 0)
		return fprintf(stderr, "%s\n", fault.text), 1;
	printf("exit %d: %s%s\n", end->exit, end->out, end->error);
	for (size_t i = 0; i < end->nviolations; i++)
		printf("denied: %s\n", end->violations[i]);
	ab_proc_free(proc);
	ab_manager_free(manager);
	return 0;
}
