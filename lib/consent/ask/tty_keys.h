#pragma once
/*
 * Keys that answer a question on a terminal which nobody else uses meanwhile.
 */
#include <termios.h>

#include "base/base.h"

/* No line editing, no echo, and no key raises a signal. Discards what was typed before. */
int ab_tty_keys_begin(int tty, struct termios *ret_before);
/* Discards excess keys: nobody else must read them either. */
void ab_tty_keys_end(int tty, const struct termios *before);

/* The next keys that can be an answer to a question shown at `shown`, in ab_now_ms(). 0: the
 * terminal is gone, or `wake` has become readable or was closed at its other end. */
size_t ab_tty_keys_read(int tty, int wake, int64_t shown, char *keys, size_t room, bool *ret_woken);
