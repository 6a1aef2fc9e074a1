#ifndef AB_SESSION_HOST_PROGRAM_H
#define AB_SESSION_HOST_PROGRAM_H
/*
 * A program of the user's own that is run on the host, outside of any box, and
 * listened to: an approver, a source of a secret. It leads a process group,
 * which is ended with it; its time and what it may say are bounded. While it
 * runs, signals that would end us wait, and end it.
 */
#include <stdbool.h>
#include <stddef.h>

struct ab_program {
	const char *const *argv; /* looked up in the PATH of `env` */
	char *const *env;
	const char *cwd; /* NULL: ours */
	int in;		 /* its standard input; -1: /dev/null */
	unsigned ms;
	char *out; /* what it says is put here */
	size_t room;
	bool unheard; /* what it says goes nowhere */
	char *err;    /* the begin of what it complains about; NULL:
				 * that goes where ours goes */
	size_t err_room;
};

enum ab_ran_how {
	AB_RAN_ENDED,  /* `status` says how */
	AB_RAN_FAILED, /* it could not be run: `errnum` */
	AB_RAN_LATE,
	AB_RAN_TOO_MUCH,    /* it said more than there is room for */
	AB_RAN_INTERRUPTED, /* a signal waits for us */
};

struct ab_ran {
	enum ab_ran_how how;
	int errnum;
	int status; /* wait status */
	size_t out_len, err_len;
};

void ab_program_run(const struct ab_program *program, struct ab_ran *ret);

#endif
