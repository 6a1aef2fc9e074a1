#ifndef AB_BASE_DATA_ERROR_H
#define AB_BASE_DATA_ERROR_H
/*
 * One error type for the whole program.
 *
 * It holds no pointers, so a process inside the box can send it up a socket
 * as it is. The library fills it and returns -1; only cmd/ turns it into text
 * and an exit status. errno is an argument, so nothing can overwrite it.
 */
#include <stdarg.h>

enum ab_code {
	AB_ENONE,     /* no error */
	AB_EUSAGE,    /* the caller asked for something that makes no sense */
	AB_ECONFIG,   /* a policy file, or a value in one */
	AB_ESYSTEM,   /* the kernel said no, errnum says how */
	AB_EPROPERTY, /* a required property does not hold */
	AB_EREFUSED,  /* the policy refuses the command */
	AB_ENOEXEC,   /* found, but cannot be executed */
	AB_ENOTFOUND, /* the command does not exist */
};

struct ab_error {
	enum ab_code code;
	int errnum;	 /* errno of the cause, 0 when there is none */
	char step[40];	 /* the launch step that failed, or "" */
	char text[1024]; /* what happened and where, one sentence */
	char hint[1024]; /* the way out, in lines, or "" */
};

/* Fill *err and return -1. errnum 0: no system error behind it. */
int ab_fail(struct ab_error *err, enum ab_code code, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Put "context: " in front of the text and return -1. */
int ab_wrap(struct ab_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Set the way out and return -1. */
int ab_hint(struct ab_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Name the step that failed, unless a deeper one is named, and return -1. */
int ab_step(struct ab_error *err, const char *step);

#endif
