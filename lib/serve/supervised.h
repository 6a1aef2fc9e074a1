#pragma once
/*
 * In the child process of a run, which becomes its supervisor. The socket `steer` connects it with us;
 * served_run.h describes its messages.
 *
 * The child of a pool prepares a box first (session/warm/warm.h), says
 *
 *	{"event":"ready"} or {"event":"failed",...}
 *
 * and waits: for a packet of ab_supervised_hand(), which makes it a run like every other, or for the
 * end of the socket. If its box ends, it says
 *
 *	{"event":"ended"}
 */
#include "base/base.h"

struct ab_helper;
struct ab_serve_request;

/* What the child gets; -1: none. */
struct ab_ends {
	int stdio[3];
	int steer, records, result; /* `steer` is known in the child only */
};

#define AB_ENDS_NONE                       \
	{                                  \
		{ -1, -1, -1 }, -1, -1, -1 \
	}

/* Start a child: for this request, or, if it is NULL, one of the pool that waits with a box. `pool`:
 * the request of the pool that the run belongs to, or NULL. `before`: the signal mask that we were
 * started with. It ends with us. */
int ab_supervised_start(const struct ab_serve_request *request, const struct ab_serve_request *pool,
			const struct ab_ends *ends, const sigset_t *before, struct ab_helper *ret,
			struct ab_error *err);

/* In the server: hand a run to a child that waits. -1 with errno: it is gone. */
int ab_supervised_hand(int steer, const char *line, size_t len, const struct ab_ends *ends);
