#pragma once
/*
 * The supervisor's loop, from `go` to the end of the command: signals, the
 * box's messages, the terminal, the time limit.
 */
#include "base/base.h"
#include "sandbox/start/launch.h"

struct ab_terminal;
struct ab_streams;
struct ab_container_watch;
struct ab_tool_watch;
struct ab_guard_link;
struct ab_steering_setup;
struct ab_box_network;
struct ab_refused_programs;
struct ab_stay;
struct ab_stay_setup;

/* What a prepared box sent before the loop: sockets, and its proof. */
struct ab_heard {
	struct ab_heard_message {
		uint32_t type;
		int fd; /* or -1 */
	} v[8];
	size_t len;
	struct ab_holds holds; /* of AB_MSG_HOLDS */
};
void ab_heard_fini(struct ab_heard *heard);

struct ab_supervision {
	struct ab_box *box;
	struct ab_heard *heard;	      /* its first messages, if it was prepared ahead */
	struct ab_terminal *terminal; /* or NULL */
	struct ab_streams *streams;
	struct ab_guard_link *children; /* answers the calls that the kernel holds */
	struct ab_refused_programs *refusals;
	struct ab_container_watch *containers; /* or NULL: the box has no container engine */
	struct ab_tool_watch *tools;	       /* or NULL: the box has no host tools */
	uint64_t timeout_ms;		       /* 0: none */
	/* Called once, when the command is about to start. */
	int (*holds)(void *arg, const struct ab_holds *holds, struct ab_error *err);
	void *arg;
	struct ab_box_network *box_network; /* or NULL: the run has no proxy */
	/* the box's, for box_network; empty without a filtered network */
	struct ab_network *network;
	const struct ab_steering_setup *steering; /* and what all parts need */
	/* A box that stays: its commands, which are in *stay_at while the loop runs; or NULL. */
	const struct ab_stay_setup *stay;
	struct ab_stay **stay_at;
	int (*ready)(void *arg, struct ab_error *err);
	/* The command has ended, the box has not yet, and nobody waits for the broker any more.
	 * `alone`: init is the only process left in it. Returns whether the caller will wait for
	 * init's end (ab_box_fini()). */
	bool (*ending)(void *arg, bool alone);
};

/* The value of a SIGTERM (sigqueue) of our parent that is a request to stop, as a client of the control
 * socket sends it: the supervisor may not be there yet to read one. */
enum { AB_TERM_STOPS = 0x73746f70 };

struct ab_outcome {
	int status; /* wait status of the command */
	bool timed_out;
	bool stopped;		/* by a client of the control socket, or AB_TERM_STOPS */
	bool unrouted;		/* it failed and had tried to use a blocked network */
	bool crowded;		/* it failed, and the box was at its limit of processes */
	int killed;		/* the signal that ended the box's init, and was not ours; else 0 */
	struct ab_strv told;	/* findings, which the user should know at once */
	uint64_t memory_used;	/* more than the limit, in bytes; else 0 */
	struct ab_error failed; /* code AB_ENONE when the command ran */
};

/* Returns when the command has ended and init is gone. -1: we failed ourselves; the box is dead
 * then too. */
int ab_supervise(const struct ab_supervision *what, struct ab_outcome *ret, struct ab_error *err);
