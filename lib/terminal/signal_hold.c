#include "terminal/signal_hold.h"

#include <sys/signalfd.h>

static const int held[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP };

int ab_signal_hold_begin(struct ab_signal_hold *hold, struct ab_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < AB_COUNT(held); i++)
		sigaddset(&set, held[i]);
	hold->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (hold->fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "watch for signals");
	/* Raised by using a terminal from the background. Blocked, we can still
	 * restore it, and reading fails instead. */
	sigaddset(&set, SIGTTOU);
	sigaddset(&set, SIGTTIN);
	sigprocmask(SIG_BLOCK, &set, &hold->before);
	return 0;
}

void ab_signal_hold_end(struct ab_signal_hold *hold)
{
	ab_closep(&hold->fd);
	sigprocmask(SIG_SETMASK, &hold->before, NULL);
}
