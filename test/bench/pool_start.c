/*
 * Start to first instruction through the library: ROUNDS commands in prepared boxes and as many in new
 * ones, in turns.
 *
 *	pool_start AGENTBOX ROUNDS COMMAND
 *
 * COMMAND prints CLOCK_MONOTONIC in nanoseconds, before it does anything else. Prints the times of each
 * round in microseconds, the prepared one first.
 */
#include <agentbox.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double start(struct ab_manager *manager, const struct ab_pool *pool, const char *command)
{
	const char *const argv[] = { command, NULL };
	struct ab_run_options options = AB_RUN_OPTIONS;
	const struct ab_outcome *outcome;
	struct ab_fault fault = { 0 };
	struct ab_proc *proc;
	long long begun;
	double us;

	/* The box that takes the place of the last one is being prepared. */
	nanosleep(&(struct timespec){ .tv_nsec = 20 * 1000 * 1000 }, NULL);
	options.argv = argv;
	options.pool = pool;
	begun = now_ns();
	if (ab_manager_run(manager, &options, &proc, &fault) < 0 ||
	    ab_proc_wait(proc, -1, &outcome, &fault) < 0 || outcome->exit != 0) {
		fprintf(stderr, "%s\n", fault.text);
		exit(1);
	}
	us = (double)(strtoll(outcome->out, NULL, 10) - begun) / 1000;
	ab_proc_free(proc);
	return us;
}

int main(int argc, char **argv)
{
	struct ab_manager_options options = AB_MANAGER_OPTIONS;
	struct ab_pool_options boxes = AB_POOL_OPTIONS;
	struct ab_fault fault = { 0 };
	struct ab_manager *manager;
	struct ab_pool *pool;

	if (argc != 4)
		return 2;
	options.program = argv[1];
	boxes.boxes = 2;
	if (ab_manager_new(&options, &manager, &fault) < 0 ||
	    ab_pool_new(manager, &boxes, &pool, &fault) < 0) {
		fprintf(stderr, "%s\n", fault.text);
		return 1;
	}
	for (long i = strtol(argv[2], NULL, 10); i > 0; i--) {
		double prepared = start(manager, pool, argv[3]);

		printf("%.1f %.1f\n", prepared, start(manager, NULL, argv[3]));
	}
	ab_pool_free(pool);
	ab_manager_free(manager);
	return 0;
}
