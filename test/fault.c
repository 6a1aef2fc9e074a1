/*
 * For faults.bats: runs a command, counts the system calls of all its processes that can fail, and at
 * the N-th one makes it fail, or kills the process that makes it.
 *
 *	agentbox-fault [-f N] [-c CALL] [-p PROCESS] [-k N] [-a] [-e ERROR] [-o FILE] COMMAND WORD...
 *
 *	-f N      begin to count when so many files were opened for writing or created
 *	-c CALL   count only these calls
 *	-p NAME   count only the calls of processes with this name, which make one at a time
 *	-k N      the N-th call; 0: none
 *	-a        and all later ones
 *	-e ERROR  EIO, ENOSPC, ..., or KILL
 *	-o FILE   gets "NUMBER CALL PROGRAM PROCESS": how many calls were counted, the one that was hit,
 *		  the name of the program that made it and of the process
 *
 * Waits for every process, then ends as the command did; 128 + the signal if one ended it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__aarch64__)
#include <asm/ptrace.h>
#include <elf.h>
#endif

#define NAME(call)                \
	{                         \
		SYS_##call, #call \
	}
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* What only asks for memory or a time, and what ends something, cannot fail in a way that matters.
 * Between two of these calls nothing outside the process changes, so a kill there is the same as one
 * at the next. */
static const struct {
	long number;
	const char *name;
} counted[] = {
	NAME(openat),
	NAME(openat2),
	NAME(read),
	NAME(pread64),
	NAME(readv),
	NAME(write),
	NAME(writev),
	NAME(pwrite64),
	NAME(getdents64),
	NAME(newfstatat),
	NAME(fstat),
	NAME(statx),
	NAME(statfs),
	NAME(fstatfs),
	NAME(faccessat),
	NAME(faccessat2),
	NAME(readlinkat),
	NAME(getcwd),
	NAME(unlinkat),
	NAME(renameat),
	NAME(renameat2),
	NAME(linkat),
	NAME(symlinkat),
	NAME(mkdirat),
	NAME(mknodat),
	NAME(fchmod),
	NAME(fchmodat),
	NAME(fchown),
	NAME(fchownat),
	NAME(utimensat),
	NAME(ftruncate),
	NAME(fallocate),
	NAME(fsync),
	NAME(fdatasync),
	NAME(syncfs),
	NAME(copy_file_range),
	NAME(sendfile),
	NAME(flock),
	NAME(fgetxattr),
	NAME(fsetxattr),
	NAME(flistxattr),
	NAME(lgetxattr),
	NAME(chdir),
	NAME(fchdir),
	NAME(ioctl),
	NAME(clone),
	NAME(clone3),
	NAME(execve),
	NAME(wait4),
	NAME(waitid),
	NAME(pidfd_open),
	NAME(pidfd_send_signal),
	NAME(kill),
	NAME(socket),
	NAME(socketpair),
	NAME(bind),
	NAME(listen),
	NAME(accept4),
	NAME(connect),
	NAME(sendto),
	NAME(sendmsg),
	NAME(recvfrom),
	NAME(recvmsg),
	NAME(setsockopt),
	NAME(getsockopt),
	NAME(getsockname),
	NAME(pipe2),
	NAME(dup),
	NAME(dup3),
	NAME(fcntl),
	NAME(memfd_create),
	NAME(eventfd2),
	NAME(signalfd4),
	NAME(timerfd_create),
	NAME(epoll_create1),
	NAME(epoll_ctl),
	NAME(epoll_pwait),
	NAME(ppoll),
	NAME(inotify_init1),
	NAME(inotify_add_watch),
	NAME(mmap),
	NAME(mprotect),
	NAME(getrandom),
	NAME(unshare),
	NAME(setns),
	NAME(mount),
	NAME(umount2),
	NAME(pivot_root),
	NAME(open_tree),
	NAME(move_mount),
	NAME(fsopen),
	NAME(fsconfig),
	NAME(fsmount),
	NAME(mount_setattr),
	NAME(chroot),
	NAME(prctl),
	NAME(seccomp),
	NAME(capset),
	NAME(prlimit64),
	NAME(setsid),
	NAME(landlock_create_ruleset),
	NAME(landlock_add_rule),
	NAME(landlock_restrict_self),
#if defined(__x86_64__)
	NAME(open),
	NAME(access),
	NAME(stat),
	NAME(lstat),
	NAME(readlink),
	NAME(rename),
	NAME(mkdir),
	NAME(rmdir),
	NAME(unlink),
	NAME(chmod),
	NAME(pipe),
	NAME(poll),
	NAME(fork),
	NAME(vfork),
	NAME(dup2),
	NAME(epoll_wait),
#endif
};

static const struct {
	const char *name;
	int number; /* 0: kill */
} errors[] = {
	{ "EIO", EIO },	      { "ENOSPC", ENOSPC }, { "ENOMEM", ENOMEM }, { "EACCES", EACCES },
	{ "EMFILE", EMFILE }, { "EINTR", EINTR },   { "EPERM", EPERM },	  { "EEXIST", EEXIST },
	{ "ESTALE", ESTALE }, { "EBUSY", EBUSY },   { "KILL", 0 },
};

static struct {
	long at, seen;	       /* calls */
	long from, made;       /* files that were opened for writing */
	const char *call, *of; /* only these calls, of these processes */
	bool later;	       /* all from `at` on */
	int error;
	const char *out;
	const char *hit;		/* the call that was hit */
	char program[256], process[32]; /* that made it */
	pid_t failing;			/* the thread that is in it */
} fault;

static void fail(const char *what)
{
	perror(what);
	exit(125);
}

/* Not every machine has rmdir() as a call of its own. */
static const char *find_name(const struct __ptrace_syscall_info *info)
{
	if (info->entry.nr == SYS_unlinkat && (info->entry.args[2] & AT_REMOVEDIR))
		return "rmdir";
	for (size_t i = 0; i < COUNT(counted); i++)
		if ((uint64_t)counted[i].number == info->entry.nr)
			return counted[i].name;
	return NULL;
}

/* The call that is about to be made becomes getpid, which every filter allows. */
static void replace_call(pid_t tid)
{
#if defined(__aarch64__)
	int number = SYS_getpid;
	struct iovec part = { &number, sizeof(number) };

	ptrace(PTRACE_SETREGSET, tid, (void *)NT_ARM_SYSTEM_CALL, &part);
#else
	struct user_regs_struct regs;

	ptrace(PTRACE_GETREGS, tid, NULL, &regs);
	regs.orig_rax = SYS_getpid;
	ptrace(PTRACE_SETREGS, tid, NULL, &regs);
#endif
}

static void set_result(pid_t tid, long result)
{
#if defined(__aarch64__)
	struct user_pt_regs regs;
	struct iovec part = { &regs, sizeof(regs) };

	ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &part);
	regs.regs[0] = (uint64_t)result;
	ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &part);
#else
	struct user_regs_struct regs;

	ptrace(PTRACE_GETREGS, tid, NULL, &regs);
	regs.rax = (unsigned long long)result;
	ptrace(PTRACE_SETREGS, tid, NULL, &regs);
#endif
}

static bool writes_file(const struct __ptrace_syscall_info *info)
{
	return (info->entry.nr == SYS_openat &&
		(info->entry.args[2] & (O_WRONLY | O_RDWR | O_CREAT))) ||
	       info->entry.nr == SYS_mkdirat;
}

static void read_name(pid_t tid, char ret[32])
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	file = fopen(path, "r");
	if (!file || !fgets(ret, 32, file))
		ret[0] = '\0';
	if (file)
		fclose(file);
	ret[strcspn(ret, "\n")] = '\0';
}

static void note_process(pid_t tid)
{
	char path[64], link[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", tid);
	n = readlink(path, link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = '\0';
	snprintf(fault.program, sizeof(fault.program), "%.255s",
		 strrchr(link, '/') ? strrchr(link, '/') + 1 : link);
	read_name(tid, fault.process);
}

static bool is_counted(pid_t tid, const char *name)
{
	char process[32];

	if (!name || fault.made < fault.from || (fault.call && strcmp(name, fault.call) != 0))
		return false;
	if (fault.of)
		read_name(tid, process);
	return !fault.of || strcmp(process, fault.of) == 0;
}

/* True: the process was killed. */
static bool enter_call(pid_t tid, const struct __ptrace_syscall_info *info)
{
	const char *name = find_name(info);

	fault.made += writes_file(info);
	if (!is_counted(tid, name) || !(++fault.seen == fault.at || (fault.later && fault.hit)))
		return false;
	fault.hit = name;
	note_process(tid);
	if (!fault.error) {
		kill(tid, SIGKILL);
		return true;
	}
	fault.failing = tid;
	replace_call(tid);
	return false;
}

static void leave_call(pid_t tid)
{
	if (fault.failing != tid)
		return;
	fault.failing = 0;
	set_result(tid, -fault.error);
}

static void handle_stop(pid_t tid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;
	struct __ptrace_syscall_info info;

	if (signal == (SIGTRAP | 0x80)) {
		if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) > 0) {
			if (info.op == PTRACE_SYSCALL_INFO_ENTRY && enter_call(tid, &info))
				return;
			if (info.op == PTRACE_SYSCALL_INFO_EXIT)
				leave_call(tid);
		}
		signal = 0;
	} else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
		ptrace(PTRACE_LISTEN, tid, NULL, NULL); /* it was stopped, and stays so */
		return;
	} else if (event) {
		signal = 0;
	}
	ptrace(PTRACE_SYSCALL, tid, NULL, (void *)(intptr_t)signal);
}

static pid_t start(char **argv)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE |
			     PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
	int go[2];
	char byte;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		fail("pipe2");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0) {
		close(go[1]);
		(void)!read(go[0], &byte, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(go[0]);
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) < 0 ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0)
		fail("ptrace");
	close(go[1]);
	return pid;
}

static int trace(pid_t first)
{
	int status, result = 0;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (tid > 0 && WIFSTOPPED(status))
			handle_stop(tid, status);
		else if (tid == first && WIFEXITED(status))
			result = WEXITSTATUS(status);
		else if (tid == first && WIFSIGNALED(status))
			result = 128 + WTERMSIG(status);
	}
	return result;
}

static int find_error(const char *name)
{
	for (size_t i = 0; i < COUNT(errors); i++)
		if (strcmp(errors[i].name, name) == 0)
			return errors[i].number;
	fprintf(stderr, "unknown error %s\n", name);
	exit(125);
}

static void write_result(void)
{
	FILE *file = fault.out ? fopen(fault.out, "w") : NULL;

	if (file) {
		fprintf(file, "%ld %s %s %s\n", fault.seen, fault.hit ? fault.hit : "-",
			fault.program, fault.process);
		fclose(file);
	}
}

int main(int argc, char **argv)
{
	int option, result;

	while ((option = getopt(argc, argv, "+f:c:p:k:ae:o:")) != -1) {
		switch (option) {
		case 'f':
			fault.from = atol(optarg);
			break;
		case 'c':
			fault.call = optarg;
			break;
		case 'p':
			fault.of = optarg;
			break;
		case 'a':
			fault.later = true;
			break;
		case 'k':
			fault.at = atol(optarg);
			break;
		case 'e':
			fault.error = find_error(optarg);
			break;
		case 'o':
			fault.out = optarg;
			break;
		default:
			return 125;
		}
	}
	if (optind == argc)
		return 125;
	result = trace(start(argv + optind));
	write_result();
	return result;
}
