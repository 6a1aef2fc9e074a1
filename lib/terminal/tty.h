#pragma once
/*
 * Finds the caller's terminal among descriptors 0-2, and opens it again.
 *
 * O_NONBLOCK belongs to the open file description: if we set it on an inherited
 * descriptor, the caller's shell would have it too.
 */
#include "base/base.h"

struct ab_tty {
	uint32_t fds;		    /* bits of 0-2 that are terminals */
	int in, out;		    /* close-on-exec, or -1; the caller closes them */
	bool in_shared, out_shared; /* could not be opened again: may block */
	bool same;		    /* in and out are the same terminal */
	bool pipeline;		    /* other processes may use it too */
	bool ours;		    /* only we read it, from the start */
	bool bypassed;		    /* ab_tty_bypassed() */
};

/* Changes nothing. in and out are -1 if no descriptor is a terminal. */
void ab_tty_open(struct ab_tty *ret);

/* Its width, or `unknown`. */
size_t ab_tty_columns(int fd, size_t unknown);

/* TERM=dumb: nothing can be drawn on it. */
bool ab_tty_dumb(void);

/* May output of the command reach the terminal without us? So if it writes to a
 * pipe: we do not know where the program at the other end prints. */
bool ab_tty_bypassed(void);

/* May we read this terminal and change it now? */
bool ab_tty_foreground(int fd);
