#pragma once
/*
 * Blocks the signals that would end or stop us, while we must restore something
 * (a terminal) or kill something (a program that we started). `fd` is readable
 * when one is pending; do not read it: the signal takes effect when the hold
 * ends.
 */
#include "base/base.h"

struct ab_signal_hold {
	sigset_t before;
	int fd;
};

int ab_signal_hold_begin(struct ab_signal_hold *hold, struct ab_error *err);
void ab_signal_hold_end(struct ab_signal_hold *hold);
