#ifndef AB_SESSION_TERMINAL_SIGNAL_HOLD_H
#define AB_SESSION_TERMINAL_SIGNAL_HOLD_H
/*
 * While something must be put back (a terminal) or ended (a program that we
 * started), the signals that would end or stop us wait. `fd` is readable when
 * one does; it is not taken: it has its effect at the end of the hold.
 */
#include <signal.h>

struct ab_error;

struct ab_signal_hold {
	sigset_t before;
	int fd;
};

int ab_signal_hold_begin(struct ab_signal_hold *hold, struct ab_error *err);
void ab_signal_hold_end(struct ab_signal_hold *hold);

#endif
