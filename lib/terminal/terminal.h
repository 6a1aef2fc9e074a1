#pragma once
/*
 * The caller's terminal, the box's own terminal, and the relay between them.
 * The box never has a descriptor of the caller's terminal: it can only write
 * bytes to its screen and read the keys typed for it.
 *
 * Expects all signals blocked (SIGTTIN and SIGTTOU would stop us halfway).
 * While the caller's terminal is raw, others must end lines with "\r\n".
 *
 * A guest is our own prompt, which uses the terminal while a question is shown.
 */
#include <termios.h>

#include "base/base.h"
#include "base/system/loop.h"

struct ab_terminal;

/*
 * Looks at descriptors 0-2. ret_fds gets a bit for each that is a terminal; if
 * none is, it is 0 and *ret NULL. Changes nothing yet.
 */
int ab_terminal_open(struct ab_terminal **ret, uint32_t *ret_fds, uint16_t *ret_rows,
		     uint16_t *ret_cols, struct ab_error *err);

/* Passes all output as it is; call before ab_terminal_attach. */
void ab_terminal_unfilter(struct ab_terminal *terminal);

/* Our controlling terminal, for a guest only: the command has none. *ret is
 * NULL if there is no such terminal. Attach it with the master -1. */
int ab_terminal_open_own(struct ab_terminal **ret, struct ab_error *err);

/*
 * Must the command start in the background of its own terminal? Yes if we may
 * not read the caller's: we are in the background, or others in a pipeline may
 * read it. If the command then wants input, its terminal stops it (SIGTTIN,
 * SIGTTOU). Call ab_terminal_claim; if true, continue it in the foreground,
 * else stop ourselves too.
 */
bool ab_terminal_behind(const struct ab_terminal *terminal);
/* If not, its terminal must start with these settings: set later, they would
 * overwrite changes by the command. */
const struct termios *ab_terminal_settings(const struct ab_terminal *terminal);
bool ab_terminal_claim(struct ab_terminal *terminal);

/* Starts the relay to this master, which it takes over. The caller's terminal
 * becomes raw if we are in its foreground. */
int ab_terminal_attach(struct ab_terminal *terminal, int master, struct ab_loop *loop,
		       struct ab_error *err);

void ab_terminal_resize(struct ab_terminal *terminal);	/* SIGWINCH */
void ab_terminal_suspend(struct ab_terminal *terminal); /* before we stop */
/* After SIGCONT. True: keys reach the command, which may be in its terminal's
 * foreground; false: it continues in the background. */
bool ab_terminal_resume(struct ab_terminal *terminal);

/*
 * While a guest uses the terminal, the box's output waits and no key reaches
 * the box. Unread keys are discarded when it begins and when it ends.
 */
struct ab_terminal_guest {
	/* Adds the whole screen; the size may change between calls. */
	void (*draw)(void *arg, struct ab_buf *b, size_t rows, size_t cols);
	/* The terminal has taken all of it. */
	void (*drawn)(void *arg);
	/* len 0: the terminal is gone. */
	void (*keys)(void *arg, const char *keys, size_t len);
	/* After its end: nothing of it is on the screen any more. */
	void (*uncovered)(void *arg);
	void *arg;
};

/* Would our own line among the command's output be readable? Not on the full screen of a program, or
 * while it reads single keys and draws itself. */
bool ab_terminal_takes_lines(const struct ab_terminal *terminal);

/* Can a person see a guest and answer it now? Not in the background, and not
 * while another program has made the terminal raw. */
bool ab_terminal_can_hold(const struct ab_terminal *terminal);
/* Can it ever? */
bool ab_terminal_supports_guest(const struct ab_terminal *terminal);
/* Begins, or discards keys and redraws. False: not possible now. Ends by itself
 * when we are stopped or put into the background. */
bool ab_terminal_hold(struct ab_terminal *terminal, const struct ab_terminal_guest *guest);
bool ab_terminal_held(const struct ab_terminal *terminal);
void ab_terminal_redraw(struct ab_terminal *terminal);
/* Makes the box's program redraw itself if needed. The screen is uncovered a moment later. */
void ab_terminal_release(struct ab_terminal *terminal);
/* Until then, text that others write would disappear with the guest. */
bool ab_terminal_covered(const struct ab_terminal *terminal);
/* After the loop has ended: release it, and wait until the screen is uncovered. Forgets the
 * guest. */
void ab_terminal_uncover(struct ab_terminal *terminal);

/*
 * After the end of the box: writes the rest of its output, switches off modes
 * that the command left on (full screen, mouse, hidden cursor), discards answers
 * of the terminal that the command did not wait for, and restores the caller's
 * terminal. NULL does nothing.
 */
void ab_terminal_close(struct ab_terminal *terminal);

/*
 * Lets the broker do the same if the supervisor dies. `live` is shared memory;
 * at any moment it says what has to be undone.
 */
struct ab_terminal_live;
struct ab_terminal_rescue {
	int fd; /* the caller's terminal, or -1 */
	const struct ab_terminal_live *live;
};
/* Call before the fork. `terminal` may be NULL: nothing to restore. */
void ab_terminal_rescue_get(const struct ab_terminal *terminal, struct ab_terminal_rescue *ret);
void ab_terminal_rescue(const struct ab_terminal_rescue *rescue);
