#ifndef AB_SESSION_TERMINAL_TERMINAL_H
#define AB_SESSION_TERMINAL_TERMINAL_H
/*
 * The caller's terminal on one side, the box's own on the other, and the
 * relay between them. The box never holds the caller's terminal: what it
 * writes is bytes on a screen, what it reads is what was typed for it.
 *
 * Expects all signals blocked (SIGTTIN and SIGTTOU would stop us in the
 * middle). While the caller's terminal is raw, a line written to it by others
 * needs "\r\n".
 *
 * A guest is ourselves: it has the terminal while a question is on the screen.
 */
#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

#include "base/system/loop.h"

struct ab_buf;
struct ab_error;
struct ab_terminal;

/*
 * Look at descriptors 0-2. ret_fds gets a bit for each that is a terminal; 0
 * and *ret NULL when none is. Changes nothing yet.
 */
int ab_terminal_open(struct ab_terminal **ret, uint32_t *ret_fds, uint16_t *ret_rows,
		     uint16_t *ret_cols, struct ab_error *err);

/* The terminal that controls us, for a guest only: the command has none. *ret
 * is NULL where there is no such terminal. Attached with the master -1. */
int ab_terminal_open_own(struct ab_terminal **ret, struct ab_error *err);

/*
 * Must the command start in the background of its own terminal? So when the
 * caller's is not plainly ours to read: we are in the background, or others
 * of a pipeline may be reading it. A command that then wants input is stopped
 * by its terminal (SIGTTIN, SIGTTOU): call ab_terminal_claim, and let it go on
 * with the terminal if that says true; else stop, as it did.
 */
bool ab_terminal_behind(const struct ab_terminal *terminal);
/* Otherwise these are the settings that its own terminal must begin with: set
 * later they would overwrite what the command has already changed. */
const struct termios *ab_terminal_settings(const struct ab_terminal *terminal);
bool ab_terminal_claim(struct ab_terminal *terminal);

/* Relay between the caller's terminal and this master (taken over): the
 * caller's becomes raw if we are in its foreground. */
int ab_terminal_attach(struct ab_terminal *terminal, int master, struct ab_loop *loop,
		       struct ab_error *err);

void ab_terminal_resize(struct ab_terminal *terminal);	/* SIGWINCH */
void ab_terminal_suspend(struct ab_terminal *terminal); /* cooked, quiet */
/* After SIGCONT. True: what is typed reaches the command, which may have its
 * terminal's foreground; false: it goes on in the background. */
bool ab_terminal_resume(struct ab_terminal *terminal);

/*
 * A guest has the screen and the keys: what the box writes waits, and nothing
 * that is typed reaches it. What was typed before is thrown away, and what is
 * left at the end too.
 */
struct ab_terminal_guest {
	/* Add all that is to be on the screen; it may be of another size each
	 * time. */
	void (*draw)(void *arg, struct ab_buf *b, size_t rows, size_t cols);
	/* The terminal has taken all of it. */
	void (*drawn)(void *arg);
	/* With nothing: the terminal is gone. */
	void (*keys)(void *arg, const char *keys, size_t len);
	void *arg;
};

/* Is there somebody who can see it and type, now? Not in the background, and
 * not where others read the terminal too. */
bool ab_terminal_able(const struct ab_terminal *terminal);
/* Could it ever be so? */
bool ab_terminal_suits(const struct ab_terminal *terminal);
/* Begin, or throw away what was typed and draw anew. False: not now. Ends by
 * itself when we are stopped or pushed into the background. */
bool ab_terminal_hold(struct ab_terminal *terminal, const struct ab_terminal_guest *guest);
bool ab_terminal_held(const struct ab_terminal *terminal);
void ab_terminal_redraw(struct ab_terminal *terminal);
/* The box's program is told to draw itself anew if that is needed. */
void ab_terminal_release(struct ab_terminal *terminal);

/*
 * The box has ended: write what is left of its output, then give the caller
 * its terminal back as it was, modes that the command left switched on (full
 * screen, mouse, hidden cursor) switched off. NULL does nothing.
 */
void ab_terminal_close(struct ab_terminal *terminal);

/*
 * What the broker needs to do the same for a supervisor that died. `live` is
 * memory that both processes see; it holds what is to be undone at any moment.
 */
struct ab_terminal_live;
struct ab_terminal_rescue {
	int fd; /* the caller's terminal, or -1 */
	const struct ab_terminal_live *live;
};
/* Before the fork; NULL: nothing to rescue. */
void ab_terminal_rescue_get(const struct ab_terminal *terminal, struct ab_terminal_rescue *ret);
void ab_terminal_rescue(const struct ab_terminal_rescue *rescue);

#endif
