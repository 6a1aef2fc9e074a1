#ifndef AB_SESSION_TERMINAL_STATE_H
#define AB_SESSION_TERMINAL_STATE_H
/* What terminal.c and terminal_guest.c share. */
#include <sys/ioctl.h>
#include <termios.h>

#include "session/modes.h"
#include "session/relay.h"
#include "session/terminal.h"

struct ab_terminal_live {
	struct termios cooked; /* as the caller had it */
	struct ab_modes modes; /* of what was written to it */
	struct ab_modes next;  /* of that and what is being written */
	bool writing;
	bool raw;     /* we have made it so */
	bool shown;   /* the modes are in effect */
	bool covered; /* by a screen of ours */
	bool same;    /* the screen is of the same terminal */
};

struct ab_terminal {
	struct ab_terminal_live *live;
	struct ab_relay relay;
	size_t attempt; /* bytes that are being written */
	bool pipeline;
	bool beside;			/* the box may write there without us */
	bool wanted;			/* the command may have what is typed */
	bool alike;			/* the box's terminal has the caller's settings */
	struct ab_terminal_guest guest; /* while the relay is held */
	bool dirty;			/* the guest has something new to draw */
	bool lent;			/* raw only for the guest */
	struct ab_timer nudge;		/* the box's size is to be put right */
};

static inline int in_fd(const struct ab_terminal *t)
{
	return t->relay.in.source.fd;
}

static inline int out_fd(const struct ab_terminal *t)
{
	return t->relay.out.source.fd;
}

void ab_terminal_size(const struct ab_terminal *t, struct winsize *ret);
void ab_terminal_make_raw(const struct ab_terminal *t, struct termios *termios);
/* Cooked, as it was, unless somebody else has it now. */
void ab_terminal_step_back(struct ab_terminal *t);
void ab_terminal_redo_modes(struct ab_terminal *t);
/* For the relay. */
void ab_terminal_heard(void *arg, const char *data, size_t len);
void ab_terminal_sent(void *arg);
/* For the timer. */
void ab_terminal_nudged(struct ab_timer *timer);

#endif
