#ifndef AB_SESSION_CONSENT_REQUEST_H
#define AB_SESSION_CONSENT_REQUEST_H
/* A command that is to run in the box, and how. */
#include <stdbool.h>
#include <stddef.h>

#include "policy/layers/layers.h"

enum ab_level {
	AB_SAY_DETAIL,	/* for -v */
	AB_SAY_NOTE,	/* worth knowing */
	AB_SAY_WARNING, /* something is less than was asked for */
};

struct ab_request {
	struct ab_policy_input policy;
	const char *const *argv;
	size_t argc;
	const char *script;   /* the text that argv hands to a shell, if it
				 * does: that is what is judged then */
	bool require_covered; /* fail if a credential is not covered by any
				 * secret of the policy */
	bool yes;	      /* go ahead where a person would be asked */
	const char *approver; /* a command to ask instead, or NULL */
	unsigned approver_ms; /* how long it may take; 0: a minute */
	const char *session;  /* an agent's name for its session, under which
				 * answers are kept; NULL: the terminal's */
	const int *fds;	      /* to be kept open besides 0-2 */
	size_t nfds;
	const char *audit;	  /* a copy of the record: a file, or the number
				 * of an open descriptor; NULL: none */
	const char *name;	  /* of the run, besides its id; or NULL */
	const char *result;	  /* where to write the result as JSON: a file, or
				 * the number of an open descriptor; or NULL */
	const char *on_violation; /* a command to run for each, or NULL */
	bool trace_denials;	  /* also record refused files and calls */
	bool learn;		  /* let unknown hosts through, list programs */
	int verbose;		  /* 1: properties, 2: what each step took */
	/* A text that begins with a space continues the one before. Not
	 * escaped. */
	void (*say)(void *arg, enum ab_level level, const char *text);
	void *arg;
};

#endif
