#include "host/lock/lockdown.h"

#include <sys/prctl.h>

#include "base/process/helper.h"
#include "landlock/landlock.h"
#include "sandbox/seccomp/seccomp.h"

/* The host's resolver settings are often not in /etc itself. Open the folder, because the file in
 * it is replaced while we run. */
static int open_resolver_folder(void)
{
	ab_autofree char *real = realpath("/etc/resolv.conf", NULL);
	char *slash = real ? strrchr(real, '/') : NULL;

	if (!slash || slash == real)
		return -1;
	*slash = '\0';
	if (strcmp(real, "/etc") == 0)
		return -1; /* already allowed */
	return open(real, O_PATH | O_CLOEXEC);
}

enum { ALONE = AB_LL_SCOPE_SIGNAL | AB_LL_SCOPE_ABSTRACT };

struct allowed {
	int fd; /* -1: there is no such file */
	unsigned int rights;
};

static int restrict_files(const struct allowed *v, size_t n, unsigned int scopes,
			  struct ab_error *err)
{
	int abi = ab_landlock_abi(), r;
	ab_autoclose int ruleset = -1;

	if (abi == 0)
		return 0; /* the filter of system calls still applies */
	if (abi > AB_LL_NEWEST)
		abi = AB_LL_NEWEST;
	ruleset = ab_landlock_open(abi, scopes, err);
	if (ruleset < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (v[i].fd >= 0 &&
		    ab_landlock_allow_fd(ruleset, abi, v[i].fd, v[i].rights, err) < 0)
			return -1;
	r = ab_landlock_enter(ruleset);
	return r < 0 ? ab_fail(err, AB_ESYSTEM, -r, "enter Landlock") : 0;
}

/* `state_dir` -1: no folder is for writing. */
static int restrict_to_state(int state_dir, unsigned int scopes, struct ab_error *err)
{
	ab_autoclose int etc = open("/etc", O_PATH | O_CLOEXEC), resolver = open_resolver_folder();
	const struct allowed v[] = { { state_dir, AB_LL_ALL & ~AB_LL_EXEC },
				     { etc, AB_LL_READ },
				     { resolver, AB_LL_READ } };

	return restrict_files(v, AB_COUNT(v), scopes, err);
}

/* Sockets in this folder, and no file. */
static int restrict_to_sockets(const char *folder, unsigned int scopes, struct ab_error *err)
{
	ab_autoclose int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return restrict_files(&(struct allowed){ fd, AB_LL_SOCKET }, 1, scopes, err);
}

static sigset_t before; /* the caller's signal mask */

int ab_supervise_prepare(struct ab_error *err)
{
	sigset_t all;

	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, &before) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "block signals");
	return 0;
}

void ab_supervise_release(void)
{
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static int give_up_privileges(struct ab_error *err)
{
	if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "give up privileges");
	return 0;
}

static int load_filter(enum ab_filter which, struct ab_error *err)
{
	int r = ab_seccomp_load(which);

	return r < 0 ? ab_fail(err, AB_ESYSTEM, -r, "load the filter of system calls") : 0;
}

int ab_lock_supervisor(int state_dir, struct ab_error *err)
{
	if (give_up_privileges(err) < 0 || restrict_to_state(state_dir, 0, err) < 0 ||
	    load_filter(AB_FILTER_SUPERVISOR, err) < 0)
		return ab_step(err, "supervisor's lock");
	return 0;
}

static int drop_capabilities(struct ab_error *err)
{
	if (ab_drop_capabilities() < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "give up capabilities");
	return 0;
}

int ab_lock_fetcher(struct ab_error *err)
{
	if (give_up_privileges(err) < 0 || restrict_to_state(-1, ALONE, err) < 0 ||
	    drop_capabilities(err) < 0 || load_filter(AB_FILTER_FETCHER, err) < 0)
		return ab_step(err, "fetcher's lock");
	return 0;
}

int ab_lock_container_filter(const char *folder, struct ab_error *err)
{
	if (give_up_privileges(err) < 0 || restrict_to_sockets(folder, ALONE, err) < 0 ||
	    drop_capabilities(err) < 0 || load_filter(AB_FILTER_CONTAINERS, err) < 0)
		return ab_step(err, "container filter's lock");
	return 0;
}
