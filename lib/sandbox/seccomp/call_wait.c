/*
 * Theory of operation.
 *
 * A signal before the system call would be lost if its handler only set a flag. But the kernel
 * receives a call only into a buffer that is all zeros, and refuses any other with EINVAL. So the
 * handler writes into the buffer as well, unless there is a call in it. It runs
 *
 *   before the buffer is empty: the flag is seen;
 *   before the system call: the kernel refuses the buffer;
 *   while it waits: it is interrupted, or begins again and refuses the buffer;
 *   after a call was received: that is handled, and the flag is seen by the next wait.
 */
#include "sandbox/seccomp/call_wait.h"

#include <linux/seccomp.h>
#include <sys/ioctl.h>

/* A handler of signals has no argument of its own. */
static volatile sig_atomic_t stopped;
static struct seccomp_notif notif;

/* Every call has an architecture. */
static void stop_waiting(int sig)
{
	volatile struct seccomp_notif *buffer = &notif;

	(void)sig;
	stopped = 1;
	if (!buffer->data.arch)
		buffer->flags = 1;
}

bool ab_call_wait_open(int sock)
{
	/* Other system calls go on. */
	struct sigaction act = { .sa_handler = stop_waiting, .sa_flags = SA_RESTART };
	int flags = fcntl(sock, F_GETFL);
	sigset_t set;

	sigemptyset(&act.sa_mask);
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	stopped = 1; /* look for what is there already */
	return flags >= 0 && sigaction(SIGIO, &act, NULL) == 0 &&
	       sigprocmask(SIG_UNBLOCK, &set, NULL) == 0 && fcntl(sock, F_SETOWN, getpid()) == 0 &&
	       fcntl(sock, F_SETFL, flags | O_ASYNC) == 0;
}

const struct seccomp_notif *ab_call_wait(int listener)
{
	memset(&notif, 0, sizeof(notif));
	__asm__ volatile("" ::: "memory"); /* as the handler sees it */
	if (stopped) {
		errno = EINTR;
		return NULL;
	}
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notif) == 0)
		return &notif;
	if (errno == EINVAL && stopped)
		errno = EINTR;
	return NULL;
}

void ab_call_wait_again(void)
{
	stopped = 0;
}
