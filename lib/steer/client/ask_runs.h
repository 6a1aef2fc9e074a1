#pragma once
/*
 * Send one request to several runs at once, over their control sockets
 * (session/control/control_socket.h). A run that is stopped or has no socket has no answer
 * when the time is up. To talk to a single run, use steer.h.
 */
#include <jansson.h>

#include "base/base.h"

struct ab_ask_runs {
	int dir;	/* the run's folder */
	json_t *answer; /* NULL: none came, or it was an error */
	int fd;		/* private */
};

/* `request` is one packet of session/control/control_socket.h; `ms` bounds the whole call. */
void ab_ask_runs(struct ab_ask_runs *v, size_t len, const char *request, int ms);
void ab_ask_runs_fini(struct ab_ask_runs *v, size_t len);
