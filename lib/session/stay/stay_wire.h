#pragma once
/*
 * Between the supervisor of a box that stays and the client of one command, over a SOCK_SEQPACKET
 * pair. The client makes it and passes one end with its request (session/control/control_socket.h:
 * "start", "attach"). Both are processes of the same user outside the box. If the client's end
 * closes, its command gets HUP; if the supervisor's end closes without AB_STAY_ENDED or
 * AB_STAY_FAILED, the supervisor has died, and the box with it.
 */
#include "base/base.h"

enum ab_stay_type {
	/* to the client */
	AB_STAY_TTY = 1,  /* one fd: the master of the command's terminal */
	AB_STAY_STOPPED,  /* value: the signal that stopped the command */
	AB_STAY_ENDED,	  /* value: its wait status */
	AB_STAY_TIMEOUT,  /* before ENDED: the time limit of the box has passed */
	AB_STAY_FAILED,	  /* error: the command was not executed */
	AB_STAY_DETACHED, /* the detach key was typed */
	AB_STAY_SAY,	  /* error.text: a line for the user; value: 1 for a note */
	/* to the supervisor */
	AB_STAY_GO,	/* the terminal is connected: execute the command */
	AB_STAY_SIGNAL, /* value: signal for the command */
	AB_STAY_RESUME, /* value: 1 in the foreground of its terminal, 0 in the background */
	AB_STAY_SIZE,	/* value: rows << 16 | columns, of an attached terminal */
};

struct ab_stay_msg {
	uint32_t type;
	int32_t value;
	struct ab_error error; /* with FAILED and SAY only */
};

#define AB_STAY_SHORT offsetof(struct ab_stay_msg, error)

/* Typed in an attached terminal, it leaves the command alone: Ctrl-]. */
#define AB_STAY_DETACH_KEY '\x1d'
