#pragma once
/*
 * A terminal for a full-screen view: reads single keys, and writes only changed
 * lines, in one write. Signals that end or stop us wait until the terminal is
 * restored.
 */
#include <termios.h>

#include "base/base.h"
#include "terminal/key_reader.h"
#include "terminal/signal_hold.h"

struct ab_watch_screen {
	struct termios before;
	struct ab_signal_hold hold;
	struct ab_key_reader keys;
	struct ab_strv shown; /* the lines on it */
	size_t rows, cols;
};

/* Standard input and output must be a terminal. */
int ab_watch_screen_open(struct ab_watch_screen *ret, struct ab_error *err);
void ab_watch_screen_close(struct ab_watch_screen *screen);

/* Check the size. True if it has changed; the screen is empty then. */
bool ab_watch_screen_look(struct ab_watch_screen *screen);
void ab_watch_screen_draw(struct ab_watch_screen *screen, const struct ab_strv *lines);

/* Wait for a key, a signal, or `other` (-1: none) to be readable, at most
 * `ms`. */
struct ab_watch_wait {
	bool keys, signal, other;
};
void ab_watch_screen_wait(const struct ab_watch_screen *screen, int other, int ms,
			  struct ab_watch_wait *ret);
/* The keys typed since the last call, at most `room`; -1 if the terminal is
 * gone. */
long ab_watch_screen_keys(struct ab_watch_screen *screen, int *ret, size_t room);

/* A signal is waiting, or (`stop`) Ctrl-Z was typed: give the terminal back,
 * let the signal take effect, and take the terminal again if we survive. */
int ab_watch_screen_yield(struct ab_watch_screen *screen, bool stop, struct ab_error *err);
