#ifndef AB_SANDBOX_LAUNCH_H
#define AB_SANDBOX_LAUNCH_H
/*
 * Start a box: new namespaces, our own binary executed again as their first
 * process (sandbox/init.h), connected by one socket pair.
 *
 * The caller must have one thread, be dumpable (otherwise the child cannot
 * write its own uid_map), and have all signals blocked.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/wire.h"

struct ab_spec;

struct ab_box {
	pid_t pid;	/* of init, in our namespace */
	int pidfd;
	int sock;
};

/*
 * In two halves, because a new process takes as long to get going as the plan
 * for it takes to be made: init starts, and waits for its specification.
 */
int ab_box_launch(bool own_net, uint64_t tmp_size, struct ab_box *ret,
		  struct ab_error *err);
int ab_box_specify(const struct ab_box *box, struct ab_spec *spec,
		   struct ab_error *err);

/* One message down; -1 with errno. */
int ab_box_tell(const struct ab_box *box, enum ab_msg_type type, int value);

/* One message from below, with its fd if it has one (-1). 1, 0 at the end
 * of the box, -1 with errno (EPROTO: not a message). */
int ab_box_hear(const struct ab_box *box, struct ab_msg *ret, int *ret_fd,
		int flags);

/* End every process of the box at once. */
void ab_box_kill(const struct ab_box *box);

/* Wait until init is gone, and close what belongs to it. */
void ab_box_fini(struct ab_box *box);

/* The inodes of our own namespaces, for the proof inside (spec->host_ns). */
void ab_box_namespaces(uint64_t ret[]);

#endif
