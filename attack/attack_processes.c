/* Other processes and other users. */
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "attack/attack.h"
#include "base/system/folder.h"
#include "sandbox/plan/engine.h"

/* Landlock denies it; without its scope the kernel protects pid 1 from signals of
 * its own namespace. If the attempt can still report, it has failed. */
static enum ab_hold judge_signal(struct ab_attacker *a, long sent)
{
	if (sent < 0)
		return ab_held(a, "%s", strerror(errno));
	usleep(50000);
	return ab_held(a, "sent, but ignored");
}

static enum ab_hold kill_init(struct ab_attacker *a, const struct ab_try *t)
{
	return judge_signal(a, kill(1, (int)t->number));
}

static enum ab_hold signal_by_pidfd(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = (int)syscall(SYS_pidfd_open, 1, 0);

	return judge_signal(
		a, fd < 0 ? -1 : syscall(SYS_pidfd_send_signal, fd, (int)t->number, NULL, 0));
}

static enum ab_hold signal_host(struct ab_attacker *a, const struct ab_try *t)
{
	char path[32], name[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", a->victim);
	if (kill(a->victim, (int)t->number) < 0)
		return ab_held(a, "%s", strerror(errno));
	/* A shared /proc has other numbers. Whether it was the host's process, the outside sees. */
	ab_first_line(path, name, sizeof(name));
	if (access(AB_SHARED_PROC, F_OK) == 0 ||
	    strncmp(name, AB_ATTACKER_NAME, strlen(AB_ATTACKER_NAME)) == 0)
		return ab_untried(a, "a process in the box has that pid");
	return ab_broken(a, "it worked");
}

static enum ab_hold see_host(struct ab_attacker *a, const struct ab_try *t)
{
	/* Where the processes of the host are, if the engine shares their /proc. */
	const char *proc = access(AB_SHARED_PROC, F_OK) == 0 ? AB_SHARED_PROC : "/proc";
	ab_autodir DIR *dir = ab_folder_list(AT_FDCWD, proc);
	const char *entry;
	int seen = 0, own = 0;

	if (!dir)
		return ab_untried(a, "%s: %s", proc, strerror(errno));
	while ((entry = ab_folder_next(dir)) != NULL) {
		char path[300], name[32];

		if (!ab_is_digit(entry[0]))
			continue;
		snprintf(path, sizeof(path), "%s/%s/comm", proc, entry);
		ab_first_line(path, name, sizeof(name));
		seen += strncmp(name, AB_VICTIM_NAME, strlen(AB_VICTIM_NAME)) == 0;
		own++;
	}
	return seen ? ab_broken(a, "it is visible")
		    : ab_held(a, "%d processes, all in the box", own);
}

/* The planted process is one of the host; a box that does not see it cannot even name it. */
static enum ab_hold open_host(struct ab_attacker *a, const struct ab_try *t)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%d/%s", AB_SHARED_PROC, a->victim, t->arg);
	return ab_refused_fd(a, open(path, (int)t->number | O_CLOEXEC));
}

static enum ab_hold limit_host(struct ab_attacker *a, const struct ab_try *t)
{
	struct rlimit now;

	/* Only reads it: setting a limit of processor time would end a process. */
	if (kill(a->victim, 0) == 0)
		return ab_untried(a, "a process in the box has that pid");
	return ab_refused(a, prlimit(a->victim, RLIMIT_CPU, NULL, &now));
}

static enum ab_hold trace_init(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused(a, ptrace(PTRACE_SEIZE, 1, NULL, NULL));
}

static enum ab_hold read_init(struct ab_attacker *a, const struct ab_try *t)
{
	char byte;
	/* Nothing is mapped at that address, so nothing can be overwritten. */
	struct iovec local = { &byte, 1 }, remote = { NULL, 1 };
	ssize_t n = t->number ? process_vm_writev(1, &local, 1, &remote, 1, 0)
			      : process_vm_readv(1, &local, 1, &remote, 1, 0);

	if (n < 0 && errno == EFAULT)
		return ab_broken(a, "the kernel tried to access the address");
	return ab_refused(a, n);
}

static enum ab_hold steal_fd(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = (int)syscall(SYS_pidfd_open, 1, 0);

	return ab_refused_fd(a, fd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, fd, 0, 0));
}

static enum ab_hold enter_namespace(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = open(t->arg, O_RDONLY | O_CLOEXEC);

	return ab_refused(a, fd < 0 ? -1 : setns(fd, 0));
}

static enum ab_hold set_realtime(struct ab_attacker *a, const struct ab_try *t)
{
	struct sched_param param = { .sched_priority = 50 };

	return ab_refused(a, sched_setscheduler(0, SCHED_FIFO, &param));
}

static pid_t fork_idle_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	return pid;
}

static const char *trace_child(struct ab_attacker *a)
{
	pid_t pid = fork_idle_child();
	const char *why = NULL;

	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		why = "tracing its own child";
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return why;
}

static const char *signal_child(struct ab_attacker *a)
{
	int status = 0;
	pid_t pid = fork_idle_child();

	if (pid < 0 || kill(pid, SIGTERM) < 0 || waitpid(pid, &status, 0) != pid ||
	    !WIFSIGNALED(status))
		return "killing its own child";
	return NULL;
}

static const struct ab_try processes[] = {
	{ "kill init", kill_init, NULL, SIGKILL, signal_child },
	{ "terminate init", kill_init, NULL, SIGTERM },
	{ "kill init through a pidfd", signal_by_pidfd, NULL, SIGKILL },
	{ "see a process of the host", see_host, .claim = AB_PROP_BIT(AB_PROP_PID_VIEW) },
	{ "signal a process of the host", signal_host, NULL, SIGUSR1 },
	{ "read the limits of a host process", limit_host },
	{ "read the environment of a host process", open_host, "environ", O_RDONLY },
	{ "read the memory of a host process", open_host, "mem", O_RDONLY },
	{ "enter the root of a host process", open_host, "root/.", O_RDONLY },
	{ "enter the folder of a host process", open_host, "cwd/.", O_RDONLY },
	{ "open a file of a host process", open_host, "fd/0", O_RDONLY },
	{ "open the network of a host process", open_host, "ns/net", O_RDONLY },
	{ "choose a host process for the OOM killer", open_host, "oom_score_adj", O_WRONLY },
	{ "change the priority group of a host process", open_host, "autogroup", O_WRONLY },
	{ "trace init", trace_init, NULL, 0, trace_child },
	{ "read init with process_vm_readv", read_init, NULL, 0 },
	{ "write init with process_vm_writev", read_init, NULL, 1 },
	{ "steal a file descriptor of init", steal_fd },
	{ "enter init's mount namespace", enter_namespace, "/proc/1/ns/mnt" },
	{ "enter init's network namespace", enter_namespace, "/proc/1/ns/net" },
	{ "enter its own user namespace again", enter_namespace, "/proc/self/ns/user" },
	{ "get real-time priority", set_realtime },
};
const struct ab_tries ab_tries_processes = { "processes", processes, AB_COUNT(processes) };

static enum ab_hold become_user(struct ab_attacker *a, const struct ab_try *t)
{
	uid_t other = getuid() == 0 ? 65534 : 0;

	return ab_refused(a, setresuid(other, other, other));
}

static enum ab_hold become_group(struct ab_attacker *a, const struct ab_try *t)
{
	gid_t other = getgid() == 0 ? 65534 : 0;

	return ab_refused(a, setresgid(other, other, other));
}

static enum ab_hold drop_groups(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused(a, setgroups(0, NULL));
}

static enum ab_hold unshare_it(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused(a, unshare((int)t->number));
}

static enum ab_hold clone_it(struct ab_attacker *a, const struct ab_try *t)
{
	long pid = syscall(SYS_clone, (unsigned long)t->number | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return ab_refused(a, pid);
}

static enum ab_hold clone3_it(struct ab_attacker *a, const struct ab_try *t)
{
	struct clone_args args = { .flags = (uint64_t)t->number, .exit_signal = SIGCHLD };
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	return ab_refused(a, pid);
}

static enum ab_hold raise_capability(struct ab_attacker *a, const struct ab_try *t)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2] = {
		{ .effective = 1u << CAP_SYS_ADMIN, .permitted = 1u << CAP_SYS_ADMIN },
	};

	return ab_refused(a, syscall(SYS_capset, &head, caps));
}

static enum ab_hold find_capability(struct ab_attacker *a, const struct ab_try *t)
{
	for (int cap = 0; cap < 64; cap++) {
		int in = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		if (in < 0)
			break;
		if (in)
			return ab_broken(a, "capability %d is in the bounding set", cap);
	}
	return ab_held(a, "the bounding set is empty");
}

static enum ab_hold clear_no_new_privs(struct ab_attacker *a, const struct ab_try *t)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return ab_broken(a, "set-user-id programs work");
	return ab_held(a, "no_new_privs stays set");
}

static enum ab_hold write_maps(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = open(t->arg, O_WRONLY | O_CLOEXEC);

	return ab_refused(a, fd < 0 ? -1 : write(fd, "0 0 1", 5));
}

static const struct ab_try users[] = {
	{ "become another user", become_user },
	{ "become another group", become_group },
	{ "drop groups", drop_groups },
	{ "create a user namespace with unshare", unshare_it, NULL, CLONE_NEWUSER },
	{ "create a user namespace with clone", clone_it, NULL, CLONE_NEWUSER, signal_child },
	{ "create a user namespace with clone3", clone3_it, NULL, CLONE_NEWUSER },
	{ "create a mount namespace", unshare_it, NULL, CLONE_NEWNS },
	{ "create a network namespace", unshare_it, NULL, CLONE_NEWNET },
	{ "create a process namespace", unshare_it, NULL, CLONE_NEWPID },
	{ "raise a capability", raise_capability },
	{ "find a capability to inherit", find_capability, .claim = AB_PROP_BIT(AB_PROP_USER_NS) },
	{ "gain privileges by executing a program", clear_no_new_privs },
	{ "map more users", write_maps, "/proc/self/uid_map" },
};
const struct ab_tries ab_tries_users = { "users", users, AB_COUNT(users) };
