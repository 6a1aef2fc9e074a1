#include "session/run/lockdown.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
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

static int restrict_files(int state_dir, struct ab_error *err)
{
	int abi = ab_landlock_abi();
	ab_autoclose int ruleset = -1, etc = -1, resolver = -1;
	int r;

	if (abi == 0)
		return 0; /* the filter below still applies */
	if (abi > AB_LL_NEWEST)
		abi = AB_LL_NEWEST;
	ruleset = ab_landlock_open(abi, 0, err);
	if (ruleset < 0 ||
	    ab_landlock_allow_fd(ruleset, abi, state_dir, AB_LL_ALL & ~AB_LL_EXEC, err) < 0)
		return -1;
	etc = open("/etc", O_PATH | O_CLOEXEC);
	if (etc >= 0 && ab_landlock_allow_fd(ruleset, abi, etc, AB_LL_READ, err) < 0)
		return -1;
	resolver = open_resolver_folder();
	if (resolver >= 0 && ab_landlock_allow_fd(ruleset, abi, resolver, AB_LL_READ, err) < 0)
		return -1;
	r = ab_landlock_enter(ruleset);
	return r < 0 ? ab_fail(err, AB_ESYSTEM, -r, "enter Landlock") : 0;
}

int ab_lock_supervisor(int state_dir, struct ab_error *err)
{
	int r;

	if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "give up privileges");
		return ab_step(err, "supervisor's lock");
	}
	if (restrict_files(state_dir, err) < 0)
		return ab_step(err, "supervisor's lock");
	r = ab_seccomp_load(AB_FILTER_SUPERVISOR);
	if (r < 0) {
		ab_fail(err, AB_ESYSTEM, -r, "load the supervisor's filter");
		return ab_step(err, "supervisor's lock");
	}
	return 0;
}
