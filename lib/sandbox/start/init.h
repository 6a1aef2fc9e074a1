#pragma once
/*
 * The box's first process: builds the box, starts the command, then reaps,
 * forwards signals, reports, and answers the supervisor's requests.
 */
#include "base/base.h"
#include "netns/capture.h"
#include "policy/model/policy.h"
#include "sandbox/mount/mounts.h"
#include "sandbox/plan/spec.h"
#include "sandbox/start/box_wire.h"

/* In namespaces of its own, or in the host's. */
_Noreturn void ab_init_main(int sock, bool namespaces);

/* For init.c, init_serve.c and keeper.c. */

struct init {
	struct ab_spec spec;
	struct ab_holds holds;
	int sock;
	int signals;
	int tty;   /* the slave, or -1 */
	int input; /* standard input if it is a file, or -1 */
	int ruleset;
	pid_t target;
	pid_t front;	 /* group that gets the terminal back */
	bool wants_tty;	 /* the command was stopped because it lacks its terminal */
	bool uncaptured; /* ssh is not captured: spec.env_uncaptured counts */
	bool leads;	 /* a leader: the box outlives the command */
	bool ending;	 /* a box that stays ends with its last process */
	bool fenced;	 /* its signals reach only the box's processes */
	bool crowded;	 /* the box was at its limit of processes */
	int64_t next_count;
	struct ab_begin begin;
	enum ab_capture capture;
	enum ab_box_engine engine;
	bool may_step_down; /* to a weaker engine */
	size_t step;
	struct ab_ground ground;
	struct ab_fds walls; /* for AB_MSG_WALLS */
};

/* A message for the supervisor, with a descriptor unless that is -1. */
void ab_init_send_up(struct init *in, enum ab_msg_type type, int value, int fd);
int ab_init_begin_session(struct ab_error *err);
/* If the command has one. */
int ab_init_open_terminal(struct init *in, struct ab_error *err);
int ab_init_start_command(struct init *in, struct ab_error *err);
void ab_init_release_stdio(void);
/* Its name; "init" after the last. */
const char *ab_init_step(int status);
/* End this process, and with it the box. */
_Noreturn void ab_init_exit(struct init *in, int status);
/* This process cannot continue: the supervisor gets the error, msg->u.error. */
_Noreturn void ab_init_report(struct init *in, struct ab_msg *msg);
_Noreturn void ab_init_fail(struct init *in, int errnum, const char *what);
/* The loop of both: after each SIGCHLD, and after each message of the supervisor. */
_Noreturn void ab_init_watch(struct init *in, void (*reap)(struct init *in),
			     void (*answer)(struct init *in));
void ab_init_dial(struct init *in, int port);
/* One command, until it or the socket ends. */
_Noreturn void ab_init_serve(struct init *in);

/*
 * keeper.c: the init of a box that stays. It has no command of its own: it makes the leaders of the
 * commands that the supervisor asks for, and ends when it is told to.
 *
 * A filter and a Landlock domain are inherited. So init enters the walls of the commands itself
 * (ab_keeper_enter) before it starts anything: whatever it starts later is behind them, and all
 * commands are in one domain, as the processes of one command are: they may signal each other.
 *
 * Each command has a leader, a fork of init: the leader of the command's session, its parent, and
 * its end of a socket to the supervisor, over which the same messages go as between init and the
 * supervisor of a box with one command (box_wire.h). So a command that waits, stops or floods its
 * socket never keeps init from its work. The supervisor asks for a leader before there is a command
 * for it: a fork takes longer than everything else that a start needs of init.
 */
int ab_keeper_enter(struct init *in, struct ab_error *err);
_Noreturn void ab_keeper_serve(struct init *in);
