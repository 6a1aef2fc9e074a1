#ifndef AB_STEER_STEER_H
#define AB_STEER_STEER_H
/*
 * The other end of a run's control socket (session/control.h): what ps, allow,
 * watch and the like use.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/state.h"

struct ab_error;
struct ab_policy_input;

struct ab_steer {
	char id[8];
	int fd;		/* readable when there is something to hear */
};

/* The state folder of who calls; refuses inside a box. */
int ab_steer_state(const struct ab_policy_input *input, struct ab_state *ret,
		   struct ab_error *err);
/* To the socket in this folder of a run, which has none at once: -1 with errno
 * when it does not come. */
int ab_steer_dial(int dir, int flags);
/* By id or name; NULL: the only run that goes on. */
int ab_steer_open(const struct ab_state *state, const char *run,
		  struct ab_steer *ret, struct ab_error *err);
void ab_steer_fini(struct ab_steer *steer);

/* Ask and wait, at most a few seconds. `request` is taken over; "v" and "do"
 * are put in. A refusal of the run is an error with its words. */
int ab_steer_ask(struct ab_steer *steer, const char *what, json_t *request,
		 json_t **ret_answer, struct ab_error *err);
/* The same without waiting for the answer, which has the member "ok": answers
 * come in the order of the requests. */
int ab_steer_send(struct ab_steer *steer, const char *what, json_t *request,
		  struct ab_error *err);
/* The question with this id, which is looked for from this number on: 1, and 0
 * when it is not open. */
int ab_steer_question(struct ab_steer *steer, const char *id, uint32_t from,
		      json_t **ret, struct ab_error *err);
/* The next packet, without waiting: 1, 0 when there is none, -1 when the run
 * is gone. */
int ab_steer_hear(struct ab_steer *steer, json_t **ret);

#endif
