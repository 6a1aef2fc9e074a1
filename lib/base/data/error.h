#pragma once
/*
 * One error type for the whole program.
 *
 * It contains no pointers, so a process in the box can send it over a socket. The
 * library fills it and returns -1; only cmd/ turns it into text and an exit
 * status. errno is an argument, so nothing can overwrite it.
 */
#include "base/data/libc.h"

enum ab_code {
	AB_ENONE,     /* no error */
	AB_EUSAGE,    /* invalid request */
	AB_ECONFIG,   /* invalid settings file or value */
	AB_ESYSTEM,   /* a system call failed; see errnum */
	AB_EPROPERTY, /* a required guarantee is missing */
	AB_EREFUSED,  /* the policy refuses the command */
	AB_ENOEXEC,   /* found, but cannot be executed */
	AB_ENOTFOUND, /* the command does not exist */
};

struct ab_error {
	enum ab_code code;
	int errnum;	 /* errno of the cause, or 0 */
	char step[40];	 /* the launch step that failed, or "" */
	char text[1024]; /* what happened and where, one sentence */
	char hint[1024]; /* what to do, one or more lines, or "" */
};

/* Fill *err and return -1. errnum is 0 if there was no system error. */
int ab_fail(struct ab_error *err, enum ab_code code, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Prepend "context: " to the text and return -1. */
int ab_wrap(struct ab_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Set the hint and return -1. */
int ab_hint(struct ab_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Set the failed step, unless a deeper one is set, and return -1. */
int ab_step(struct ab_error *err, const char *step);

/* A system error in this step of a launch: fill *err, set the step, and return -1. */
int ab_fail_step(struct ab_error *err, const char *step, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The code as a word for programs: "usage", "not-found". And back; unknown words are "system". */
const char *ab_error_word(enum ab_code code);
enum ab_code ab_error_code(const char *word);
