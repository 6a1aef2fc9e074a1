#pragma once
/* Signals that are blocked and wait. */
#include "base/data/libc.h"

/* Is there one that should end us? For loops that wait or work while signals are blocked. `keys`:
 * those of Ctrl-C and Ctrl-\ count as well; a question on the terminal takes them as an answer. */
static inline bool ab_must_end(bool keys)
{
	sigset_t waits;

	if (sigpending(&waits) < 0)
		return false;
	return sigismember(&waits, SIGTERM) || sigismember(&waits, SIGHUP) ||
	       (keys && (sigismember(&waits, SIGINT) || sigismember(&waits, SIGQUIT)));
}
