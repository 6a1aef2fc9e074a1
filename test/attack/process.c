/*
 * Reaching into another process: "attach PID", "memory PID", "take-fd PID FD",
 * "signal PID NUMBER". Without a PID the victim is a child of our own, which is
 * allowed. "shm KEY", "make-shm KEY", "shm-id ID": System V memory.
 */
#include <signal.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "attack.h"

static char secret[16] = "secret";

/* A child that holds still, with `secret` at the same address. */
static pid_t victim(char **a)
{
	pid_t pid;

	if (a[0])
		return (pid_t)strtol(a[0], NULL, 10);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

static int attach(char **a)
{
	pid_t pid = victim(a);

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0)
		return -1;
	waitpid(pid, NULL, 0);
	errno = 0;
	ptrace(PTRACE_PEEKDATA, pid, secret, NULL);
	return errno ? -1 : (int)ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

static int memory(char **a)
{
	char got[16];
	struct iovec to = { got, sizeof(got) }, from = { secret, sizeof(got) };

	return (int)process_vm_readv(victim(a), &to, 1, &from, 1, 0);
}

static int take_fd(char **a)
{
	pid_t pid = victim(a);
	int fd = a[0] && a[1] ? (int)strtol(a[1], NULL, 10) : 0;
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	return pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
}

static int send_signal(char **a)
{
	pid_t pid = victim(a);

	return kill(pid, a[0] && a[1] ? (int)strtol(a[1], NULL, 10) : 0);
}

/* The System V segment of this key, which somebody else made. */
static int shared_memory(char **a)
{
	key_t key = (key_t)strtol(a[0], NULL, 0);

	return shmget(key, 0, 0);
}

static int make_shared_memory(char **a)
{
	key_t key = (key_t)strtol(a[0], NULL, 0);
	int id = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0600);

	return id < 0 ? -1 : shmget(key, 0, 0);
}

/* Attaching needs no key. */
static int shared_memory_id(char **a)
{
	void *p = shmat((int)strtol(a[0], NULL, 10), NULL, 0);

	return p == (void *)-1 ? -1 : 0;
}

static const struct attempt attempts[] = {
	{ "attach", attach },
	{ "memory", memory },
	{ "take-fd", take_fd },
	{ "signal", send_signal },
};

static const struct attempt named[] = {
	{ "attach", attach },		{ "memory", memory },
	{ "take-fd", take_fd },		{ "signal", send_signal },
	{ "shm", shared_memory },	{ "make-shm", make_shared_memory },
	{ "shm-id", shared_memory_id },
};

int main(int argc, char **argv)
{
	if (argc > 2)
		return attack(named, sizeof(named) / sizeof(named[0]), argv);
	return attack(attempts, sizeof(attempts) / sizeof(attempts[0]), argv);
}
