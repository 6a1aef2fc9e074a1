#ifndef AB_STEER_CLIENT_ASK_RUNS_H
#define AB_STEER_CLIENT_ASK_RUNS_H
/*
 * Ask several runs the same question at once, over their control sockets
 * (session/control/control_socket.h). A run that is stopped or has no socket simply has no
 * answer when the time is up. To hold a conversation with one run: steer.h.
 */
#include <jansson.h>
#include <stddef.h>

struct ab_ask_runs {
	int dir;	/* the run's folder */
	json_t *answer; /* NULL: none came, or it was a refusal */
	int fd;		/* private */
};

/* `request` is one packet of session/control/control_socket.h; `ms` bounds the whole call. */
void ab_ask_runs(struct ab_ask_runs *v, size_t len, const char *request, int ms);
void ab_ask_runs_fini(struct ab_ask_runs *v, size_t len);

#endif
