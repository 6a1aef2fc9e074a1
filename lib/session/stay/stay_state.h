#pragma once
/* Shared by stay.c (running commands) and start.c (requests to start one). */
#include <sys/queue.h>

#include "base/base.h"
#include "base/system/loop.h"
#include "guard/notify/guard_link.h"
#include "session/stay/stay.h"

struct ab_output;

/* One listener is that of the box's proof. A command whose processes all have ended needs none. */
enum { AB_COMMANDS_MAX = AB_GUARD_LISTENERS - 1 };

/* What a leader is sent, until its first message: a process of the box may kill it before. */
struct ab_stay_order {
	int fds[4]; /* the sealed command, then those of 0-2 that are passed on */
	size_t nfds;
	bool report; /* AB_MSG_RUNS */
	unsigned leaders;
};

struct ab_stay_command {
	struct ab_stay *stay;
	struct ab_stay_order order;
	LIST_ENTRY(ab_stay_command) link;
	struct ab_later later;
	struct ab_timer silent;		 /* until the leader's first message */
	struct ab_control_client *asker; /* waits for the answer to its request until then */
	uint32_t number;
	struct ab_strv argv;
	uint64_t begun_ms;
	struct ab_source leader;   /* fd -1: it has ended */
	struct ab_source client;   /* fd -1: none, or it has gone */
	struct ab_source listener; /* until no process of the command is left; fd -1: none */
	struct ab_guard_more approved;
	struct ab_output *output; /* of a detached command, or NULL */
	bool main;		  /* the box ends with it */
	bool went;		  /* `go` was sent */
	bool left;		  /* no process of the command is left */
	bool dropped;		  /* to be freed */
};

struct ab_stay {
	struct ab_stay_setup setup;
	struct ab_stay_hands hands;
	struct ab_strv ours;		       /* variables that agentbox itself set in the box */
	LIST_HEAD(, ab_stay_command) commands; /* the newest first */
	size_t ncommands;		       /* with processes that have no parent any more */
	size_t nrunning;
	size_t naskers;	 /* commands with an asker */
	uint32_t number; /* of the last command */
	uint64_t told;	 /* denials that a client was told of */
	bool asked;	 /* commands have a listener */
	bool ending;	 /* no further leader waits */
	bool ended;
	struct ab_timer idle;
	int spare; /* a leader without a command, or -1 */
	struct ab_timer refill;
};

/* stay.c: a command whose leader has this socket. */
struct ab_stay_command *ab_stay_add(struct ab_stay *stay, int leader, int client,
				    const struct ab_strv *argv, struct ab_error *err);
void ab_stay_go(struct ab_stay_command *command);
/* Answer the request with the first message of the leader: a client that is woken before would run
 * before the leader does, and has nothing to do yet. */
void ab_stay_answer_later(struct ab_stay_command *command, struct ab_control_client *client);

/* start.c. The leader ended before it said anything, so nothing was executed: give the command to another one.
 * False: there is none, or too many were killed. */
bool ab_stay_start_again(struct ab_stay_command *command);
void ab_stay_order_fini(struct ab_stay_order *order);
/* Have init make the leader of the next command, if none waits. */
void ab_stay_refill(struct ab_stay *stay);
void ab_stay_find_ours(struct ab_stay *stay);
/* Start spec->argv, as the box's own command. */
int ab_stay_start_detached(struct ab_stay *stay, struct ab_error *err);
