#pragma once
/*
 * How the supervisor's parts end the run: its loop stops, and the box must not run without it.
 */
#include "base/base.h"
#include "base/system/loop.h"

struct ab_failure {
	struct ab_loop *loop;
	struct ab_error *err; /* the caller's */
	int result;	      /* -1: something failed, and *err says what */
};

/* *err is set. */
static inline void ab_failure_end(struct ab_failure *failure)
{
	failure->result = -1;
	failure->loop->stop = true;
}

/* The same; keeps the first of several errors. */
static inline void ab_failure_set(struct ab_failure *failure, const struct ab_error *err)
{
	if (failure->result == 0)
		*failure->err = *err;
	ab_failure_end(failure);
}
