#pragma once
/* A request to run a command in the box. */
#include "base/base.h"
#include "policy/layers/layers.h"

enum ab_level {
	AB_SAY_DETAIL, /* for -v */
	AB_SAY_NOTE,
	AB_SAY_WARNING, /* the user gets less than requested */
};

/* Told on the supervisor's thread. */
struct ab_run_watch {
	/* All is proved: the command starts. `warm`: in a box that was prepared. */
	void (*began)(void *arg, const char *run_id, bool warm);
	void (*denied)(void *arg, const char *record);
	void *arg;
};

struct ab_request {
	struct ab_policy_input policy;
	/* Where the command starts; clean absolute; NULL: in the current folder. Unlike policy.cwd
	 * it decides nothing about the policy, so it may come from an agent. */
	const char *start;
	uint64_t time_ms; /* a time limit that can only shorten the policy's; 0: none */
	const char *const *argv;
	size_t argc;
	const char *script;   /* text for argv's shell, judged in its place; or NULL */
	bool require_covered; /* fail if a credential is visible in the box */
	bool yes;	      /* approve without asking */
	const char *approver; /* a command to ask instead of a person, or NULL */
	unsigned approver_ms; /* its timeout; 0: a minute */
	bool unboxed;	      /* only judged here: what runs may not be in a box */
	const char *session;  /* the agent's, for answers; NULL: the terminal's */
	const int *fds;	      /* kept open besides 0-2 */
	size_t nfds;
	/* `audit`, a copy of the record, and `result`, JSON: each a file or the
	 * number of an open descriptor, or NULL. */
	const char *audit, *result;
	/* Inside a box, where a run becomes the command and writes no result: the number of a
	 * descriptor that gets what is known before, or NULL. */
	const char *description;
	const char *name;	  /* of the run, besides its id; or NULL */
	bool keep;		  /* the box stays after the command; ab_run_stay() only */
	bool detach;		  /* the command runs without us; the same */
	uint64_t idle_ms;	  /* `keep`: end after this long without a command; 0: never */
	const char *on_violation; /* a command to run for each denial, or NULL */
	bool trace_denials;	  /* also record denied files and system calls */
	bool mark_shell;	  /* a shell for a person: mark its prompt */
	bool learn;		  /* allow unknown hosts, list programs */
	/* The run whose box has called this tool; NULL: it is not a tool. Its terminal belongs to that
	 * box, so nothing is asked there; its folder must stay the one that it is now. */
	const char *tool_of;
	int verbose;	   /* 1: guarantees, 2: also timings */
	bool *interrupted; /* set if SIGINT ended a command that had the terminal; or NULL */
	/* A text that begins with a space continues the previous one. Not
	 * escaped. */
	void (*say)(void *arg, enum ab_level level, const char *text);
	void *arg;
	/* A connected SOCK_SEQPACKET socket, or 0: its other end follows and steers the run from
	 * the start (session/control/control_socket.h). */
	int controller;
	bool controller_asks;		  /* and is asked: consent/ask/controller.h */
	const struct ab_run_watch *watch; /* or NULL */
	bool prepares; /* only prepares a box (session/warm/warm.h): takes no rule that was granted for one run */
};

/* Calls `say`. */
__attribute__((format(printf, 3, 4))) void
ab_request_say(const struct ab_request *request, enum ab_level level, const char *fmt, ...);

/* A `say` that says nothing. */
void ab_say_nothing(void *arg, enum ab_level level, const char *text);

static inline const char *ab_request_start(const struct ab_request *request)
{
	return request->start ? request->start : request->policy.cwd;
}
