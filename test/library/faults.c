/*
 * Every allocation and every system call at the border of the library fails once, in turn: no call
 * may crash, hang or succeed with half a result, and nothing may be left afterwards. Allocations
 * inside of jansson are not among them: its parser does not survive them.
 *
 * Linked with the archive and -Wl,--wrap for the functions below.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <agentbox.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors.h"

static int countdown = -1;
static int failed;

/* Is it this one's turn? */
static int fails(void)
{
	if (countdown < 0 || countdown-- > 0)
		return 0;
	failed = 1;
	return 1;
}

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : __real_strdup(s);
}

int __real_socketpair(int domain, int type, int protocol, int fds[2]);
int __wrap_socketpair(int domain, int type, int protocol, int fds[2]);
int __wrap_socketpair(int domain, int type, int protocol, int fds[2])
{
	errno = EMFILE;
	return fails() ? -1 : __real_socketpair(domain, type, protocol, fds);
}

int __real_pipe2(int fds[2], int flags);
int __wrap_pipe2(int fds[2], int flags);
int __wrap_pipe2(int fds[2], int flags)
{
	errno = EMFILE;
	return fails() ? -1 : __real_pipe2(fds, flags);
}

ssize_t __real_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	errno = EPIPE;
	return fails() ? -1 : __real_sendmsg(fd, msg, flags);
}

ssize_t __real_recv(int fd, void *to, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t n, int flags)
{
	errno = ECONNRESET;
	return fails() ? -1 : __real_recv(fd, to, n, flags);
}

static void ignore_violation(void *arg, struct ab_proc *proc, const char *json)
{
	(void)arg;
	(void)proc;
	(void)json;
}

static void run_one(struct ab_manager *m, struct ab_fault *fault)
{
	struct ab_setting_value settings[] = { { "network.allow", "a.example" } };
	struct ab_policy_options policy = AB_POLICY_OPTIONS;
	struct ab_callbacks callbacks = AB_CALLBACKS;
	struct ab_run_options o = AB_RUN_OPTIONS;
	const struct ab_outcome *end = NULL;
	struct ab_proc *proc;

	policy.settings = settings;
	policy.nsettings = 1;
	callbacks.violation = ignore_violation;
	o.shell = "cat; exit 3";
	o.input = "text";
	o.input_len = 4;
	o.policy = &policy;
	o.callbacks = &callbacks;
	if (ab_manager_run(m, &o, &proc, fault) < 0)
		return;
	if (ab_proc_wait(proc, 30000, &end, fault) != 1 || !end)
		exit(2);
	/* The whole truth, or an error. */
	if (end->exit == 3 ? strcmp(end->out, "text") != 0 : end->exit != 125 || !*end->error)
		exit(3);
	ab_proc_free(proc);
}

static void use_library(void)
{
	const char *argv[] = { "git", "push", NULL };
	struct ab_fault fault = { .code = AB_FAULT_NONE };
	enum ab_verdict verdict;
	struct ab_manager *m;
	char **words;

	if (ab_manager_new(NULL, &m, &fault) < 0) {
		if (!fault.text[0] || fault.code == AB_FAULT_NONE)
			exit(4);
		return;
	}
	if (ab_manager_check(m, argv, NULL, NULL, &verdict, NULL, &fault) == 0 &&
	    verdict != AB_VERDICT_ESCALATED)
		exit(5);
	if (ab_manager_wrap(m, argv, NULL, NULL, &words, &fault) == 0)
		ab_strings_free(words);
	run_one(m, &fault);
	ab_manager_free(m);
}

int main(void)
{
	int n = 0, fds = count_fds();

	do {
		failed = 0;
		countdown = n;
		alarm(60);
		use_library();
		countdown = -1;
		if (count_fds() != fds || waitpid(-1, NULL, WNOHANG | __WALL) != -1) {
			fprintf(stderr, "fault %d left something\n", n);
			return 1;
		}
		n++;
	} while (failed);
	printf("%d faults\n", n - 1);
	return n < 20;
}
