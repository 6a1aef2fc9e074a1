/* Was the box at its limit of processes: what /proc and a cgroup say, as tables; then this process. */
#include "sandbox/start/limits.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/cgroup.h"
#include "tap.h"

static const struct {
	uint64_t (*read)(const char *text);
	const char *text;
	uint64_t number;
	const char *name;
} cases[] = {
	{ ab_limits_threads, "Name:\tsh\nState:\tS\nThreads:\t12\nSigQ:\t0/1\n", 12, "threads" },
	{ ab_limits_threads, "Name:\tThreads:\t7\nThreads:\t2\n", 2, "a name is not a number" },
	{ ab_limits_threads, "Name:\tsh\nState:\tX\n", 0, "a process that is gone" },
	{ ab_limits_threads, "", 0, "an empty status" },
	{ ab_limits_newest, "0.20 0.18 0.12 1/80 11206\n", 11206, "the newest pid" },
	{ ab_limits_newest, "", 0, "no loadavg" },
	{ ab_cgroup_refused, "max 3\n", 3, "forks that a cgroup refused" },
	{ ab_cgroup_refused, "max.imposed 4\nmax 2\n", 2, "another event before it" },
	{ ab_cgroup_refused, "max 0\n", 0, "none refused" },
	{ ab_cgroup_refused, "", 0, "no events" },
};

static int end_of_wait[2];

static void *wait_in_thread(void *started)
{
	char byte;

	sem_post(started);
	(void)!read(end_of_wait[0], &byte, 1);
	return NULL;
}

/* Threads and a child that has ended count, as they do for the kernel. */
static void check_live(void)
{
	pthread_t threads[3];
	sem_t started;
	pid_t child;

	sem_init(&started, 0, 0);
	ok(pipe(end_of_wait) == 0, "a pipe");
	child = fork();
	if (child == 0)
		_exit(0);
	waitid(P_PID, (id_t)child, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	for (size_t i = 0; i < 3; i++) {
		pthread_create(&threads[i], NULL, wait_in_thread, &started);
		sem_wait(&started);
	}
	ok(ab_limits_reached(4), "three threads and a child that nobody waited for");
	ok(!ab_limits_reached(1 << 22), "not more than there are");
	close(end_of_wait[1]);
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	waitpid(child, NULL, 0);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ok(cases[i].read(cases[i].text) == cases[i].number, "%s", cases[i].name);
	check_live();
	return done();
}
