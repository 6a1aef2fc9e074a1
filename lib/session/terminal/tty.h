#ifndef AB_SESSION_TERMINAL_TTY_H
#define AB_SESSION_TERMINAL_TTY_H
/*
 * The caller's terminal among descriptors 0-2: which of them it is, and
 * descriptors of our own for it.
 *
 * Our own, because they must not block, and O_NONBLOCK belongs to the
 * description: set on an inherited one, the caller's shell would have it too.
 */
#include <stdbool.h>
#include <stdint.h>

struct ab_tty {
	uint32_t fds;		    /* bits of 0-2 that are terminals */
	int in, out;		    /* close-on-exec, or -1; for the caller of
				 * ab_tty_open to close */
	bool in_shared, out_shared; /* could not be had: these may block */
	bool same;		    /* in and out are one terminal */
	bool pipeline;		    /* others may use it beside us */
	bool ours;		    /* plainly for us to read, from the start */
	bool beside;		    /* of ab_tty_beside */
};

/* Only looks. All closed and zero when no descriptor is a terminal. */
void ab_tty_open(struct ab_tty *ret);

/* Does the environment say that nothing can be drawn on it? */
bool ab_tty_dumb(void);

/* May somebody else print there what the command writes? So when it writes
 * into a pipe: what is at the other end, and where that prints, is not known. */
bool ab_tty_beside(void);

/* May we read this terminal and change it now? */
bool ab_tty_foreground(int fd);

#endif
