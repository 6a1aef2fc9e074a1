#ifndef AB_SERVE_SUPERVISED_H
#define AB_SERVE_SUPERVISED_H
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
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

struct ab_serve_request;

/* What the child gets; -1: none. */
struct ab_ends {
	int stdio[3];
	int steer, records, result;
};

#define AB_ENDS_NONE                       \
	{                                  \
		{ -1, -1, -1 }, -1, -1, -1 \
	}

/* `pool`: the request of the pool that the run belongs to, or NULL. */
_Noreturn void ab_supervised_run(const struct ab_serve_request *request,
				 const struct ab_serve_request *pool, const struct ab_ends *ends,
				 const sigset_t *before, pid_t parent);
_Noreturn void ab_supervised_wait(const struct ab_serve_request *pool, int steer,
				  const sigset_t *before, pid_t parent);

/* In the server: hand a run to a child that waits. -1 with errno: it is gone. */
int ab_supervised_hand(int steer, const char *line, size_t len, const struct ab_ends *ends);

#endif
