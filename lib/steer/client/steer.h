#pragma once
/*
 * The client's end of a run's control socket (session/control/control_socket.h), for ps,
 * allow, watch and the like.
 */
#include <jansson.h>

#include "base/base.h"
#include "state/state.h"

struct ab_policy_input;

struct ab_steer {
	char id[8];
	int fd; /* readable when a packet has come */
};

/* The caller's state folder; fails inside a box. */
int ab_steer_state(const struct ab_policy_input *input, struct ab_state *ret, struct ab_error *err);
/* Connect to the socket in a run's folder. A new run has none at first, so wait a
 * moment for it. -1 with errno. */
int ab_steer_dial(int dir, int flags);
/* `run` is an id or a name; NULL: the only live run. */
int ab_steer_open(const struct ab_state *state, const char *run, struct ab_steer *ret,
		  struct ab_error *err);
/* The same for a run that was found already. */
int ab_steer_open_run(const struct ab_run *run, struct ab_steer *ret, struct ab_error *err);
void ab_steer_fini(struct ab_steer *steer);

/* Send a request and wait for the answer, ten seconds at most. The template (ab_buf_jsonf()) has
 * the members of the request: "'do':'stop','grace_ms':%u". A refusal becomes an error with its
 * text. */
int ab_steer_ask(struct ab_steer *steer, json_t **ret_answer, struct ab_error *err,
		 const char *pattern, ...) __attribute__((format(printf, 4, 5)));
/* The same with descriptors. */
int ab_steer_pass(struct ab_steer *steer, const int *fds, size_t nfds, json_t **ret_answer,
		  struct ab_error *err, const char *pattern, ...)
	__attribute__((format(printf, 6, 7)));
/* The same without waiting. Answers have the member "ok" and come in the order
 * of the requests; ab_steer_hear() returns them. */
int ab_steer_send(struct ab_steer *steer, struct ab_error *err, const char *pattern, ...)
	__attribute__((format(printf, 3, 4)));
int ab_steer_vsend(struct ab_steer *steer, struct ab_error *err, const char *pattern, va_list ap)
	__attribute__((format(printf, 3, 0)));
/* Find an open question by its id, from this number on. 1: it is in *ret, to be
 * released by json_decref(); 0: it is not open. */
int ab_steer_question(struct ab_steer *steer, const char *id, uint32_t from, json_t **ret,
		      struct ab_error *err);
/* Without waiting: 1: the next packet; 0: there is none; -1: the run is gone. */
int ab_steer_hear(struct ab_steer *steer, json_t **ret);
