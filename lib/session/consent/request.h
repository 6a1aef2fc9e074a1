#ifndef AB_SESSION_CONSENT_REQUEST_H
#define AB_SESSION_CONSENT_REQUEST_H
/* A command that is to run in the box, and how. */
#include <stdbool.h>
#include <stddef.h>

#include "policy/layers/layers.h"

enum ab_level {
	AB_SAY_DETAIL,	/* for -v */
	AB_SAY_NOTE,	/* worth knowing */
	AB_SAY_WARNING, /* less than was requested */
};

struct ab_request {
	struct ab_policy_input policy;
	const char *const *argv;
	size_t argc;
	const char *script;   /* the text that argv passes to a shell, or
				 * NULL; it is judged instead of argv */
	bool require_covered; /* fail if a credential is not covered by any
				 * secret of the policy */
	bool yes;	      /* approve everything that would be asked */
	const char *approver; /* a command to ask instead, or NULL */
	unsigned approver_ms; /* its time limit; 0: a minute */
	const char *session;  /* the agent's session, for which answers are
				 * kept; NULL: the terminal's */
	const int *fds;	      /* kept open in addition to 0-2 */
	size_t nfds;
	const char *audit;	  /* a copy of the record: a file, or the number
				 * of an open descriptor; NULL: none */
	const char *name;	  /* name of the run, in addition to its id; or NULL */
	const char *result;	  /* where to write the result as JSON: a file, or
				 * the number of an open descriptor; or NULL */
	const char *on_violation; /* a command to run for each denial, or NULL */
	bool trace_denials;	  /* also record denied files and calls */
	bool learn;		  /* allow unknown hosts, list programs */
	int verbose;		  /* 1: guarantees, 2: also the time of each step */
	/* Text that begins with a space continues the previous message. It is
	 * not escaped. */
	void (*say)(void *arg, enum ab_level level, const char *text);
	void *arg;
};

#endif
