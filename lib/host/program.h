#pragma once
/*
 * A program of the user that runs on the host, outside of any box, and whose output we read: an
 * approver, a source of a secret. It leads a process group, which is killed with it and has ended when
 * the call returns; its time and output are limited. While it runs, signals that would end us are held
 * back, and end it.
 */
#include "base/base.h"

struct ab_program {
	const char *const *argv; /* looked up in the PATH of `env` */
	char *const *env;
	const char *cwd; /* NULL: ours */
	int in;		 /* its standard input; -1: /dev/null */
	unsigned ms;
	char *out; /* buffer for its output */
	size_t room;
	bool discard_output; /* discard its output */
	char *err; /* buffer for the beginning of its standard error; NULL: it goes to ours */
	size_t err_room;
};

enum ab_ran_how {
	AB_RAN_ENDED,  /* see `status` */
	AB_RAN_FAILED, /* it could not be run, see `errnum` */
	AB_RAN_LATE,
	AB_RAN_TOO_MUCH,    /* its output exceeds the buffer */
	AB_RAN_INTERRUPTED, /* a signal is pending for us */
};

struct ab_ran {
	enum ab_ran_how how;
	int errnum;
	int status; /* wait status */
	size_t out_len, err_len;
};

void ab_program_run(const struct ab_program *program, struct ab_ran *ret);
