#ifndef AB_TEST_ATTACK_H
#define AB_TEST_ATTACK_H
/*
 * The frame of an attack program: a table of attempts, each of which returns
 * 0 when it got through and -1 with errno when it was refused. It prints
 * "NAME: ok" or "NAME: EPERM", one line for each name that it is given, or for
 * all of the table. Every attempt runs in a child, so that none can spoil the
 * next.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct attempt {
	const char *name;
	int (*run)(char **args);
};

static inline void perform(const struct attempt *a, char **args)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int r = a->run(args);

		printf("%s: %s\n", a->name, r >= 0 ? "ok" : strerrorname_np(errno));
		fflush(stdout);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		perror("attack");
		exit(2);
	}
	if (WIFSIGNALED(status))
		printf("%s: killed by SIG%s\n", a->name, sigabbrev_np(WTERMSIG(status)));
}

/* NAME [ARG...] does one attempt, no name does all. */
static inline int attack(const struct attempt *table, size_t n, char **argv)
{
	char *none[] = { NULL };

	for (size_t i = 0; i < n; i++) {
		if (argv[1] && strcmp(argv[1], table[i].name) != 0)
			continue;
		perform(&table[i], argv[1] ? argv + 2 : none);
		if (argv[1])
			return 0;
	}
	if (argv[1]) {
		fprintf(stderr, "no attempt %s\n", argv[1]);
		return 2;
	}
	return 0;
}

#define ATTACK_MAIN(table)                                                      \
	int main(int argc, char **argv)                                         \
	{                                                                       \
		(void)argc;                                                     \
		return attack(table, sizeof(table) / sizeof((table)[0]), argv); \
	}

#endif
