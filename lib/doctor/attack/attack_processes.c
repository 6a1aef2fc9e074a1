/* Other processes and other users. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "doctor/attack/attack.h"

/* Landlock refuses; without its scope the kernel keeps pid 1 from dying of
 * what its own namespace sends. Whoever can still report has not won. */
static enum ab_hold kill_init(struct ab_attacker *a, const struct ab_try *t)
{
	if (kill(1, (int)t->number) < 0)
		return ab_held(a, "%s", strerror(errno));
	usleep(50000);
	return ab_held(a, "sent, and ignored");
}

static enum ab_hold signal_by_pidfd(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = (int)syscall(SYS_pidfd_open, 1, 0);

	if (fd < 0)
		return ab_held(a, "%s", strerror(errno));
	if (syscall(SYS_pidfd_send_signal, fd, (int)t->number, NULL, 0) < 0)
		return ab_held(a, "%s", strerror(errno));
	usleep(50000);
	return ab_held(a, "sent, and ignored");
}

static enum ab_hold signal_host(struct ab_attacker *a, const struct ab_try *t)
{
	char path[32], name[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", a->victim);
	if (kill(a->victim, (int)t->number) < 0)
		return ab_held(a, "%s", strerror(errno));
	ab_first_line(path, name, sizeof(name));
	if (strncmp(name, AB_ATTACKER_NAME, strlen(AB_ATTACKER_NAME)) == 0)
		return ab_untried(a, "a process of the box has that number");
	return ab_broken(a, "it worked");
}

static enum ab_hold see_host(struct ab_attacker *a, const struct ab_try *t)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int seen = 0, own = 0;

	(void)t;
	if (!dir)
		return ab_untried(a, "/proc: %s", strerror(errno));
	while ((entry = readdir(dir)) != NULL) {
		char path[300], name[32];

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		ab_first_line(path, name, sizeof(name));
		seen += strncmp(name, AB_VICTIM_NAME, strlen(AB_VICTIM_NAME)) == 0;
		own++;
	}
	closedir(dir);
	return seen ? ab_broken(a, "it can be seen")
		    : ab_held(a, "%d processes, all of the box", own);
}

static enum ab_hold trace_init(struct ab_attacker *a, const struct ab_try *t)
{
	(void)t;
	return ab_refused(a, ptrace(PTRACE_SEIZE, 1, NULL, NULL));
}

static enum ab_hold read_init(struct ab_attacker *a, const struct ab_try *t)
{
	char byte;
	/* Nothing lies at that address, so nothing can be overwritten. */
	struct iovec local = { &byte, 1 }, remote = { NULL, 1 };
	ssize_t n = t->number ? process_vm_writev(1, &local, 1, &remote, 1, 0)
			      : process_vm_readv(1, &local, 1, &remote, 1, 0);

	if (n < 0 && errno == EFAULT)
		return ab_broken(a, "the kernel looked for the address");
	return ab_refused(a, n);
}

static enum ab_hold steal_fd(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = (int)syscall(SYS_pidfd_open, 1, 0);

	(void)t;
	if (fd < 0)
		return ab_held(a, "%s", strerror(errno));
	return ab_refused_fd(a, (int)syscall(SYS_pidfd_getfd, fd, 0, 0));
}

static enum ab_hold enter_namespace(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = open(t->arg, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return ab_held(a, "%s", strerror(errno));
	return ab_refused(a, setns(fd, 0));
}

static enum ab_hold realtime(struct ab_attacker *a, const struct ab_try *t)
{
	struct sched_param param = { .sched_priority = 50 };

	(void)t;
	return ab_refused(a, sched_setscheduler(0, SCHED_FIFO, &param));
}

static const char *trace_child(struct ab_attacker *a)
{
	pid_t pid = fork();
	const char *why = NULL;

	(void)a;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		why = "tracing an own child";
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return why;
}

static const char *signal_child(struct ab_attacker *a)
{
	int status = 0;
	pid_t pid = fork();

	(void)a;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	if (pid < 0 || kill(pid, SIGTERM) < 0 || waitpid(pid, &status, 0) != pid ||
	    !WIFSIGNALED(status))
		return "ending an own child";
	return NULL;
}

#define PROCESSES "processes"
static const struct ab_try processes[] = {
	{ PROCESSES, "kill init", kill_init, NULL, SIGKILL, signal_child },
	{ PROCESSES, "end init politely", kill_init, NULL, SIGTERM },
	{ PROCESSES, "kill init by a descriptor", signal_by_pidfd, NULL, SIGKILL },
	{ PROCESSES, "see a process of the host", see_host },
	{ PROCESSES, "signal a process of the host", signal_host, NULL, SIGUSR1 },
	{ PROCESSES, "trace init", trace_init, NULL, 0, trace_child },
	{ PROCESSES, "read init by process_vm_readv", read_init, NULL, 0 },
	{ PROCESSES, "write init by process_vm_writev", read_init, NULL, 1 },
	{ PROCESSES, "take a descriptor of init", steal_fd },
	{ PROCESSES, "enter init's mount namespace", enter_namespace, "/proc/1/ns/mnt" },
	{ PROCESSES, "enter init's network namespace", enter_namespace, "/proc/1/ns/net" },
	{ PROCESSES, "enter our own user namespace again", enter_namespace, "/proc/self/ns/user" },
	{ PROCESSES, "run in real time", realtime },
};
const struct ab_tries ab_tries_processes = { processes, AB_COUNT(processes) };

static enum ab_hold become(struct ab_attacker *a, const struct ab_try *t)
{
	uid_t other = getuid() == 0 ? 65534 : 0;

	(void)t;
	return ab_refused(a, setresuid(other, other, other));
}

static enum ab_hold become_group(struct ab_attacker *a, const struct ab_try *t)
{
	gid_t other = getgid() == 0 ? 65534 : 0;

	(void)t;
	return ab_refused(a, setresgid(other, other, other));
}

static enum ab_hold drop_groups(struct ab_attacker *a, const struct ab_try *t)
{
	(void)t;
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

static enum ab_hold raise_caps(struct ab_attacker *a, const struct ab_try *t)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2] = {
		{ .effective = 1u << CAP_SYS_ADMIN, .permitted = 1u << CAP_SYS_ADMIN },
	};

	(void)t;
	return ab_refused(a, syscall(SYS_capset, &head, caps));
}

static enum ab_hold no_caps(struct ab_attacker *a, const struct ab_try *t)
{
	(void)t;
	for (int cap = 0; cap < 64; cap++) {
		int in = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		if (in < 0)
			break;
		if (in)
			return ab_broken(a,
					 "capability %d is in the bounding "
					 "set",
					 cap);
	}
	return ab_held(a, "the bounding set is empty");
}

static enum ab_hold new_privileges(struct ab_attacker *a, const struct ab_try *t)
{
	(void)t;
	if (prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return ab_broken(a, "set-user-id programs have their effect");
	return ab_held(a, "no_new_privs stays");
}

static enum ab_hold write_maps(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = open(t->arg, O_WRONLY | O_CLOEXEC);

	return ab_refused(a, fd < 0 ? -1 : write(fd, "0 0 1", 5));
}

#define USERS "users"
static const struct ab_try users[] = {
	{ USERS, "become another user", become },
	{ USERS, "become another group", become_group },
	{ USERS, "give up groups", drop_groups },
	{ USERS, "a user namespace by unshare", unshare_it, NULL, CLONE_NEWUSER },
	{ USERS, "a user namespace by clone", clone_it, NULL, CLONE_NEWUSER, signal_child },
	{ USERS, "a user namespace by clone3", clone3_it, NULL, CLONE_NEWUSER },
	{ USERS, "a mount namespace", unshare_it, NULL, CLONE_NEWNS },
	{ USERS, "a network namespace", unshare_it, NULL, CLONE_NEWNET },
	{ USERS, "a process namespace", unshare_it, NULL, CLONE_NEWPID },
	{ USERS, "raise a capability", raise_caps },
	{ USERS, "find a capability to inherit", no_caps },
	{ USERS, "gain privileges by executing", new_privileges },
	{ USERS, "map more users", write_maps, "/proc/self/uid_map" },
};
const struct ab_tries ab_tries_users = { users, AB_COUNT(users) };
