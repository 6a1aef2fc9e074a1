/*
 * frozen [--all] PROGRAM ARG...: run it on a machine that takes no time: to this process (with --all to those that it
 * starts, too) every look at the clock says what the first one said, for five seconds. So a look that counts as new
 * for some milliseconds is not repeated.
 *
 * The C library reads the clock in the vDSO, which it finds in the auxiliary vector; without that entry it asks
 * the kernel, and the answer can be changed.
 */
#include <elf.h>
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_S = 5 };

static struct timespec first[16];

static bool copy(pid_t pid, bool write, uint64_t at, void *data, size_t len)
{
	struct iovec mine = { data, len }, other = { (void *)at, len };

	return (write ? process_vm_writev : process_vm_readv)(pid, &mine, 1, &other, 1, 0) ==
	       (ssize_t)len;
}

static void hide_vdso(pid_t pid)
{
	uint64_t at, word[2] = { 0 }, ignore = AT_IGNORE;
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) < 0)
		err(1, "ptrace");
	at = info.stack_pointer;
	/* The number of arguments, the arguments, the environment. */
	at += sizeof(word[0]);
	for (int ends = 0; ends < 2; at += sizeof(word[0])) {
		if (!copy(pid, false, at, word, sizeof(word[0])))
			err(1, "stack");
		ends += word[0] == 0;
	}
	for (; copy(pid, false, at, word, sizeof(word)) && word[0] != AT_NULL; at += sizeof(word))
		if (word[0] == AT_SYSINFO_EHDR && !copy(pid, true, at, &ignore, sizeof(ignore)))
			err(1, "auxiliary vector");
}

static void freeze(pid_t pid, const struct __ptrace_syscall_info *entry)
{
	uint64_t clock = entry->entry.args[0], to = entry->entry.args[1];
	struct timespec now;

	if (clock >= sizeof(first) / sizeof(first[0]) || clock == CLOCK_REALTIME ||
	    clock == CLOCK_REALTIME_COARSE || !copy(pid, false, to, &now, sizeof(now)))
		return;
	if (!first[clock].tv_sec)
		first[clock] = now;
	/* Some wait for a time to pass. */
	if (now.tv_sec - first[clock].tv_sec > MOST_S)
		return;
	if (!copy(pid, true, to, &first[clock], sizeof(now)))
		warn("the clock goes on");
}

/* The calls that processes are in. */
static struct call {
	pid_t pid;
	struct __ptrace_syscall_info entry;
} calls[256];

static struct call *find_call(pid_t pid)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].pid == pid || !calls[i].pid) {
			calls[i].pid = pid;
			return &calls[i];
		}
	errx(1, "too many processes");
}

/* The signal that it goes on with. */
static int look_at_stop(pid_t pid, int status)
{
	struct __ptrace_syscall_info info;

	if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		hide_vdso(pid);
	if (status >> 16)
		return 0;
	if (WSTOPSIG(status) != (SIGTRAP | 0x80))
		return WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status);
	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) < 0)
		return 0;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		find_call(pid)->entry = info;
	else if (info.op == PTRACE_SYSCALL_INFO_EXIT && !info.exit.is_error &&
		 find_call(pid)->entry.entry.nr == SYS_clock_gettime)
		freeze(pid, &find_call(pid)->entry);
	return 0;
}

int main(int argc, char **argv)
{
	bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
	int status, options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC;
	pid_t first_pid, pid;

	argv += 1 + all;
	if (!argv[0])
		errx(2, "frozen [--all] PROGRAM ARG...");
	if (all)
		options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
	first_pid = fork();
	if (first_pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(argv[0], argv);
		err(127, "%s", argv[0]);
	}
	if (first_pid < 0 || waitpid(first_pid, &status, 0) != first_pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, first_pid, NULL, options) < 0 ||
	    ptrace(PTRACE_SYSCALL, first_pid, NULL, NULL) < 0)
		err(1, "ptrace");
	/* Others that are left go on by themselves, with the true time. */
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status))
			ptrace(PTRACE_SYSCALL, pid, NULL,
			       (void *)(intptr_t)look_at_stop(pid, status));
		else if (pid == first_pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	err(1, "wait");
}
