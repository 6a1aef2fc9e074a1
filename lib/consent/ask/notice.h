#pragma once
/*
 * Tells the user about a question outside of the terminal that shows it: with notify-send, and with
 * a message in the tmux that the run was started in. Programs are found by the rule of host commands
 * (host/host_command.h); a way whose program or tmux is missing is left out without an error.
 *
 * The text contains words of the box. tmux runs the command in "#(...)" and desktops show markup, so
 * only characters that mean nothing to either are passed on.
 */
#include "base/base.h"

enum { AB_NOTICE_ROOM = 256 }; /* with its NUL */

/* Pure: at most AB_NOTICE_ROOM - 1 of the `len` bytes; other characters become "?". */
void ab_notice_clean(const char *text, size_t len, char ret[AB_NOTICE_ROOM]);

/* `ways`: AB_NOTICE_BIT()s. Waits for the programs, a few seconds at most. */
void ab_notice_send(uint32_t ways, const struct ab_strv *touched, char *const *env,
		    const char *text, size_t len);
