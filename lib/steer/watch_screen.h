#ifndef AB_STEER_WATCH_SCREEN_H
#define AB_STEER_WATCH_SCREEN_H
/*
 * A terminal for a full-screen view: keys one by one, and only those lines are
 * written that have changed, in one write. Signals that end or stop us wait
 * until the terminal is as it was.
 */
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "base/strv.h"
#include "session/hold.h"
#include "session/keys.h"

struct ab_error;

struct ab_watch_screen {
	struct termios before;
	struct ab_hold hold;
	struct ab_keys keys;
	struct ab_strv shown;	/* what is on it */
	size_t rows, cols;
};

/* Standard input and output must be a terminal. */
int ab_watch_screen_open(struct ab_watch_screen *ret, struct ab_error *err);
void ab_watch_screen_close(struct ab_watch_screen *screen);

/* Its size now; true: it is another than before, and empty. */
bool ab_watch_screen_look(struct ab_watch_screen *screen);
void ab_watch_screen_draw(struct ab_watch_screen *screen,
			  const struct ab_strv *lines);

/* Wait for a key, a signal, or one of these descriptors (-1: none), at most
 * this long. */
struct ab_watch_wait {
	bool keys, signal, other;
};
void ab_watch_screen_wait(const struct ab_watch_screen *screen, int other,
			  int ms, struct ab_watch_wait *ret);
/* The keys that were typed, at most `room`; -1: the terminal is gone. */
long ab_watch_screen_keys(struct ab_watch_screen *screen, int *ret,
			  size_t room);

/* A signal waits, or we are to stop: give the terminal back, let it have its
 * effect, and come back if we still live. */
int ab_watch_screen_yield(struct ab_watch_screen *screen, bool stop,
			  struct ab_error *err);

#endif
