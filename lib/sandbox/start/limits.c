#include "sandbox/start/limits.h"

#include <ctype.h>
#include <dirent.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/system/folder.h"
#include "sandbox/fence/descendants.h"
#include "sandbox/plan/engine.h"
#include "sandbox/plan/spec.h"

static int set_limit(int what, uint64_t soft, uint64_t hard)
{
	struct rlimit now, lim = { .rlim_cur = soft, .rlim_max = hard };

	/* Never above the caller's limit: that would need a privilege, and the
	 * caller wants the smaller one. */
	if (getrlimit(what, &now) < 0)
		return -errno;
	if (lim.rlim_max > now.rlim_max)
		lim.rlim_max = now.rlim_max;
	if (lim.rlim_cur > lim.rlim_max)
		lim.rlim_cur = lim.rlim_max;
	return setrlimit(what, &lim) < 0 ? -errno : 0;
}

/* What the kernel counts for the user and not for the process: half of it stays outside. */
static int leave_half(void)
{
	static const int shared[] = { RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE };

	for (size_t i = 0; i < AB_COUNT(shared); i++) {
		struct rlimit now;
		int r = getrlimit(shared[i], &now) < 0 ? -errno : 0;

		if (r == 0 && now.rlim_cur != RLIM_INFINITY)
			r = set_limit(shared[i], now.rlim_cur / 2, now.rlim_cur / 2);
		if (r < 0)
			return r;
	}
	return 0;
}

static int limit_processes(const struct ab_spec *spec)
{
	uint64_t n = spec->limits.processes;

	return n ? set_limit(RLIMIT_NPROC, n + spec->others, n + spec->others) : 0;
}

int ab_limits_after_proof(const struct ab_spec *spec)
{
	return spec->uncounted || spec->pids_cgroup ? 0 : limit_processes(spec);
}

int ab_limits_apply(const struct ab_spec *spec)
{
	const struct ab_limits *limits = &spec->limits;
	const struct {
		int what;
		uint64_t value;
		uint64_t grace; /* the hard limit is higher by this */
	} table[] = {
		{ RLIMIT_NOFILE, limits->files, 0 },
		/* SIGXCPU says why a process ended; SIGKILL, a second later, does not. */
		{ RLIMIT_CPU, (limits->cpu_ms + 999) / 1000, 1 },
		{ RLIMIT_FSIZE, limits->file_size, 0 },
		/* Not RLIMIT_AS: runtimes reserve far more than they use. */
		{ RLIMIT_DATA, spec->memory_cgroup ? 0 : limits->memory, 0 },
	};
	struct rlimit none = { 0, 0 };
	/* A core file could leak what the process saw. */
	int r = setrlimit(RLIMIT_CORE, &none) < 0 ? -errno : limit_processes(spec);

	for (size_t i = 0; r == 0 && i < AB_COUNT(table); i++) {
		uint64_t value = table[i].value;

		r = value ? set_limit(table[i].what, value, value + table[i].grace) : 0;
	}
	/* Inside a box the outer run has done it. */
	return r < 0 || spec->nested ? r : leave_half();
}

static int exit_clone(void *arg)
{
	(void)arg;
	/* Not _exit(): a sanitizer would search for the end of this stack. */
	syscall(SYS_exit, 0);
	return 0;
}

/* Can another process be created? If not, errno says why. */
static bool can_fork(void)
{
	static char stack[4096] __attribute__((aligned(16)));
	pid_t pid =
		clone(exit_clone, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);

	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid > 0;
}

#define FIRST_USER_NAMESPACE 0xEFFFFFFDu /* its inode, on every kernel */

bool ab_limits_uncounted(void)
{
	struct stat st;

	return getuid() == 0 && geteuid() == 0 && stat("/proc/self/ns/user", &st) == 0 &&
	       st.st_ino == FIRST_USER_NAMESPACE;
}

/*
 * With a soft limit of one there is no room for another process (init already
 * counts): a kernel that creates one anyway does not count our processes. The limit stays
 * until ab_limits_after_proof().
 */
static bool is_process_limit_enforced(void)
{
	struct rlimit one;

	if (getrlimit(RLIMIT_NPROC, &one) < 0)
		return false;
	one.rlim_cur = 1;
	return setrlimit(RLIMIT_NPROC, &one) == 0 && !can_fork();
}

static bool is_file_limit_enforced(uint64_t files)
{
	ab_autoclose int fd = fcntl(0, F_DUPFD_CLOEXEC, (int)files);

	return fd < 0 && errno == EINVAL;
}

static bool is_memory_limit_enforced(uint64_t memory)
{
	void *p = mmap(NULL, memory, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p != MAP_FAILED)
		munmap(p, memory);
	return p == MAP_FAILED && errno == ENOMEM;
}

static bool are_processes_limited(const struct ab_spec *spec)
{
	if (spec->uncounted)
		return false;
	/* The cgroup was proved before it was widened for the first command. */
	return spec->pids_cgroup ? spec->proved || !can_fork() : is_process_limit_enforced();
}

const char *ab_limits_unheld(const struct ab_spec *spec)
{
	const struct ab_limits *limits = &spec->limits;
	bool processes = limits->processes && !are_processes_limited(spec);
	struct rlimit core;

	if (processes && limits->memory && !spec->memory_cgroup)
		return "processes, and memory of the whole box (no cgroup is delegated)";
	if (processes)
		return "processes (no cgroup is delegated)";
	if (limits->files && !is_file_limit_enforced(limits->files))
		return "files";
	/* Per process at most: the broker samples the sum (host/process/box_processes.h), which
	 * the kernel does not enforce. */
	if (limits->memory && !spec->memory_cgroup)
		return is_memory_limit_enforced(limits->memory)
			       ? "memory of the whole box (no cgroup is delegated)"
			       : "memory";
	if (getrlimit(RLIMIT_CORE, &core) < 0 || core.rlim_max != 0)
		return "core files";
	return NULL;
}

const char *ab_limits_without(const struct ab_spec *spec)
{
	bool memory = spec->limits.memory && !spec->memory_cgroup;

	if (!spec->limits.processes || spec->pids_cgroup || !spec->uncounted)
		return memory ? "--memory none" : NULL;
	return memory ? "--processes none --memory none" : "--processes none";
}

uint64_t ab_limits_threads(const char *status)
{
	static const char key[] = "\nThreads:";
	const char *at = strstr(status, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

uint64_t ab_limits_newest(const char *loadavg)
{
	const char *last = strrchr(loadavg, ' ');

	return last ? strtoull(last + 1, NULL, 10) : 0;
}

/* Those of the first look that are still there existed together in between. */
static uint64_t count_again(int proc, const struct ab_processes *list)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < list->len; i++) {
		struct ab_process now;
		char name[16];

		snprintf(name, sizeof(name), "%d", list->v[i].pid);
		if (list->v[i].ours && ab_process_read(proc, name, &now))
			sum += now.threads < list->v[i].threads ? now.threads : list->v[i].threads;
	}
	return sum;
}

/* Everything in a /proc of the box; in a shared one, `init` and what descends from it. */
static uint64_t mark_own(struct ab_processes *list, pid_t init)
{
	uint64_t sum = 0;

	if (init)
		ab_descendants_mark(list->v, list->len, init);
	for (size_t i = 0; i < list->len; i++) {
		struct ab_process *p = &list->v[i];

		p->ours |= !init || p->pid == init;
		sum += p->ours ? p->threads : 0;
	}
	return sum;
}

/* Is this the status of a process with our real user? */
static bool is_of_user(const char *status)
{
	static const char key[] = "\nUid:";
	const char *at = strstr(status, key);

	return at && strtoul(at + strlen(key), NULL, 10) == getuid();
}

uint64_t ab_limits_others(void)
{
	ab_autoclose int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ab_entries entries = { .fd = proc };
	const struct dirent64 *d;
	char path[32], text[4096];
	uint64_t sum = 0;

	while ((d = ab_entries_next(&entries))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%.16s/status", d->d_name);
		ab_read_start(proc, path, text, sizeof(text));
		sum += is_of_user(text) ? ab_limits_threads(text) : 0;
	}
	return sum;
}

bool ab_limits_reached(uint64_t limit)
{
	ab_autoclose int own = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ab_autoclose int shared =
		openat(own, AB_SHARED_PROC_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int proc = shared >= 0 ? shared : own;
	struct ab_processes list = { 0 };
	struct ab_process self = { .pid = 0 };
	char text[256];
	uint64_t newest;
	bool reached;

	/* Numbers in a shared one, and the newest of them, are those outside. */
	if (shared >= 0) {
		if (!ab_process_read(own, "self", &self))
			return false;
	} else {
		newest = ab_limits_newest(ab_read_start(own, "loadavg", text, sizeof(text)));
		if (own < 0 || (newest && newest < limit))
			return false;
	}
	ab_processes_list(proc, shared >= 0 ? UINT64_MAX : limit, &list);
	reached = mark_own(&list, self.pid) >= limit && count_again(proc, &list) >= limit;
	free(list.v);
	return reached;
}

/* A watcher needs one instance, and a watch for each folder: so of these the box gets more. */
static const struct {
	const char *all, *own;
	unsigned quarters;
} tables[] = {
	{ "/proc/sys/fs/inotify/max_user_instances", "/proc/sys/user/max_inotify_instances", 2 },
	{ "/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches", 3 },
};

static uint64_t read_sysctl(const char *path)
{
	char text[24];

	return strtoull(ab_read_start(AT_FDCWD, path, text, sizeof(text)), NULL, 10);
}

int ab_limits_share(void)
{
	for (size_t i = 0; i < AB_COUNT(tables); i++) {
		uint64_t part = read_sysctl(tables[i].all) / 4 * tables[i].quarters;
		char text[24];

		snprintf(text, sizeof(text), "%llu", (unsigned long long)(part ? part : 1));
		/* ENOENT: a kernel without inotify. */
		if (ab_write_file(AT_FDCWD, tables[i].own, text) < 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}
