#include "session/fetch/fetcher.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/system/fd.h"
#include "session/lock/lockdown.h"

void ab_fetcher_leave(const char *name, int keep)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t all;

	setsid();
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	if (ab_close_others(&keep, keep >= 0) < 0 || chdir("/") < 0)
		_exit(1);
}

int ab_fetcher_confine(char *const *variables, struct ab_error *err)
{
	for (char *const *v = variables; *v; v++)
		explicit_bzero(*v, strlen(*v));
	return ab_lock_fetcher(err);
}
