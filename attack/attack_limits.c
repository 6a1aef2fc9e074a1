/* Limits, and what a run could inherit from its caller. */
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "attack/attack.h"

static const char *make_process(struct ab_attacker *a)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid < 0 || waitpid(pid, NULL, 0) != pid ? "creating a process" : NULL;
}

#define BOMB_MAX 200

static enum ab_hold run_fork_bomb(struct ab_attacker *a, const struct ab_try *t)
{
	pid_t pids[BOMB_MAX];
	int n, errnum;

	for (n = 0; n < BOMB_MAX; n++) {
		pids[n] = fork();
		if (pids[n] < 0)
			break;
		if (pids[n] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(0);
		}
	}
	errnum = errno;
	for (int i = 0; i < n; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	if (n < BOMB_MAX)
		return ab_held(a, "%d processes, then %s", n, strerror(errnum));
	if (getuid() == 0)
		return ab_untried(a, "the kernel does not count root's processes without a cgroup");
	return ab_broken(a, "%d processes with a limit of 64", n);
}

static enum ab_hold open_many_files(struct ab_attacker *a, const struct ab_try *t)
{
	int n = 0;

	while (n < t->number && dup(0) >= 0)
		n++;
	return n < t->number ? ab_held(a, "%d, then %s", n, strerror(errno))
			     : ab_broken(a, "%d with a limit of 256", n);
}

static enum ab_hold write_big_file(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = open(ab_attacker_tmp(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	signal(SIGXFSZ, SIG_IGN);
	if (fd < 0)
		return ab_untried(a, "/tmp: %s", strerror(errno));
	return ab_refused(a, pwrite(fd, "x", 1, t->number));
}

static enum ab_hold fill_tmp(struct ab_attacker *a, const struct ab_try *t)
{
	for (long i = 0; i < t->number; i++) {
		int fd = open("/tmp", O_TMPFILE | O_WRONLY, 0600);

		if (fd < 0 || posix_fallocate(fd, 0, 1 << 20) != 0)
			return ab_held(a, "full after %ld MiB", i);
	}
	return ab_broken(a, "%ld MiB with a limit of 8", t->number);
}

/* An empty file takes kernel memory, and none of the size. */
static enum ab_hold fill_with_empty_files(struct ab_attacker *a, const struct ab_try *t)
{
	char path[40];
	long n = 0;
	int errnum = 0;

	for (; n < t->number && !errnum; n++) {
		snprintf(path, sizeof(path), "/tmp/.empty-%ld", n);
		errnum = mknod(path, S_IFREG | 0600, 0) < 0 ? errno : 0;
	}
	for (long i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/tmp/.empty-%ld", i);
		unlink(path);
	}
	return errnum ? ab_held(a, "%ld, then %s", n - 1, strerror(errnum))
		      : ab_broken(a, "%ld files in 8 MiB", n);
}

static long read_limit(const char *path)
{
	char text[32];

	return strtol(ab_first_line(path, text, sizeof(text)), NULL, 10);
}

/* They end with this process. */
static enum ab_hold take_watchers(struct ab_attacker *a, const struct ab_try *t)
{
	long all = read_limit("/proc/sys/fs/inotify/max_user_instances"), n = 0;

	if (read_limit("/proc/sys/user/max_inotify_instances") >= all)
		return ab_untried(a, "the namespace of this box has no limit of its own");
	while (n < all && inotify_init1(IN_CLOEXEC) >= 0)
		n++;
	return n < all ? ab_held(a, "%ld of %ld, then %s", n, all, strerror(errno))
		       : ab_broken(a, "all %ld of the user", n);
}

static enum ab_hold raise_limit(struct ab_attacker *a, const struct ab_try *t)
{
	struct rlimit more;

	getrlimit((__rlimit_resource_t)t->number, &more);
	if (more.rlim_max == RLIM_INFINITY)
		return ab_broken(a, "there is no limit");
	more.rlim_cur = more.rlim_max = more.rlim_max + 1;
	return ab_refused(a, setrlimit((__rlimit_resource_t)t->number, &more));
}

static const struct ab_try limits[] = {
	{ "a fork bomb", run_fork_bomb, NULL, 0, make_process },
	{ "open too many files", open_many_files, NULL, 1000 },
	{ "a file larger than allowed", write_big_file, NULL, 2 << 20 },
	{ "fill /tmp with empty files", fill_with_empty_files, NULL, 4096 },
	{ "fill the private /tmp", fill_tmp, NULL, 64 },
	{ "take every inotify instance of the user", take_watchers },
	{ "raise the process limit", raise_limit, NULL, RLIMIT_NPROC },
	{ "raise the file limit", raise_limit, NULL, RLIMIT_NOFILE },
	{ "allow core files", raise_limit, NULL, RLIMIT_CORE },
};
const struct ab_tries ab_tries_limits = { "limits", limits, AB_COUNT(limits) };

static enum ab_hold find_variable(struct ab_attacker *a, const struct ab_try *t)
{
	return getenv(t->arg) ? ab_broken(a, "it is there") : ab_held(a, "not there");
}

static const char *keep_variable(struct ab_attacker *a)
{
	return getenv("PLANTED_HARMLESS") ? NULL : "an ordinary variable";
}

static enum ab_hold find_secret(struct ab_attacker *a, const struct ab_try *t)
{
	for (char **e = environ; *e; e++)
		if (strstr(*e, AB_PLANTED_SECRET))
			return ab_broken(a, "%.*s", (int)strcspn(*e, "="), *e);
	return ab_held(a, "not there");
}

static enum ab_hold read_stray_fd(struct ab_attacker *a, const struct ab_try *t)
{
	char byte;

	return ab_refused(a, pread(a->stray, &byte, 1, 0));
}

static const struct ab_try environment[] = {
	{ "find a token", find_variable, "PLANTED_TOKEN", 0, keep_variable },
	{ "find an API key", find_variable, "PLANTED_API_KEY" },
	{ "find the secret under any name", find_secret },
	{ "find the ssh agent", find_variable, "SSH_AUTH_SOCK" },
	{ "find the session bus", find_variable, "DBUS_SESSION_BUS_ADDRESS" },
	{ "inherit LD_PRELOAD", find_variable, "LD_PRELOAD" },
	{ "inherit BASH_ENV", find_variable, "BASH_ENV" },
	{ "find the state folder", find_variable, "AGENTBOX_STATE" },
	{ "read a file descriptor left open", read_stray_fd },
};
const struct ab_tries ab_tries_environment = { "environment", environment, AB_COUNT(environment) };
