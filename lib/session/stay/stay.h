#pragma once
/*
 * The commands of a box that stays, in its supervisor.
 *
 *	client -- control socket: "start" --> start.c: guard, environment, record
 *	                                       |
 *	                      AB_MSG_COMMAND   v
 *	leader <-------------------------------+
 *	leader <-- box_wire.h --> stay.c <-- stay_wire.h --> client
 *
 * A leader waits for the next command: init has made it before (AB_MSG_LEADER).
 *
 * Nothing about the box changes with a command: the policy, the mounts, the network and the limits
 * are those it was started with. Only processes of the same user outside the box reach the control
 * socket, and a process in the box has no socket to init.
 *
 * A detached command (run -d) has no client: the supervisor starts it and keeps its output
 * (session/stay/output.h).
 */
#include "base/base.h"

struct ab_box;
struct ab_control_client;
struct ab_control_request;
struct ab_consent;
struct ab_loop;
struct ab_guard_link;
struct ab_refused_programs;
struct ab_steering_setup;
struct ab_stay;

struct ab_stay_setup {
	/* Its request: with `detach` spec->argv is started without a client; with `keep` the box
	 * outlives it. */
	const struct ab_steering_setup *run;
	const struct ab_consent *consent; /* to the request */
	uint16_t rows, cols;
};

/* Actions that others carry out. */
struct ab_stay_hands {
	struct ab_loop *loop;
	const struct ab_box *box;
	struct ab_guard_link *guard;
	void (*fail)(void *arg, const struct ab_error *err); /* ends the run */
	/* Clients may come; a detached command was executed. */
	void (*ready)(void *arg);
	/* The box ends with its detached command; its wait status. */
	void (*over)(void *arg, int status);
	/* No command has run for idle_ms. */
	void (*idle)(void *arg);
	/* Record a finding, and tell it. */
	void (*found)(void *arg, const char *text);
	/* The number of denials in the box so far. */
	uint64_t (*denials)(void *arg);
	struct ab_refused_programs *refusals; /* gets commands that were not approved */
	void *arg;
};

struct ab_stay *ab_stay_new(const struct ab_stay_setup *setup, const struct ab_stay_hands *hands);
/* The box is proved: start the detached command, or wait for clients. `asked`: it has a guard. */
void ab_stay_begin(struct ab_stay *stay, bool asked);
/* Requests over the control socket, with their descriptors. */
void ab_stay_start(struct ab_stay *stay, struct ab_control_client *client,
		   const struct ab_control_request *request);
void ab_stay_attach(struct ab_stay *stay, struct ab_control_client *client,
		    const struct ab_control_request *request);
/* Add "stays" and "commands" to the answer to "status". */
void ab_stay_describe(const struct ab_stay *stay, struct ab_buf *status);
/* Show a line to every client. */
void ab_stay_say(struct ab_stay *stay, bool note, const char *text);
/* The time limit of the box has passed: its commands get TERM now. */
void ab_stay_timed_out(struct ab_stay *stay);
/* Before AB_MSG_END: no leader waits any more. */
void ab_stay_ending(struct ab_stay *stay);
/* After the loop: tell the clients that are left. */
void ab_stay_end(struct ab_stay *stay);
