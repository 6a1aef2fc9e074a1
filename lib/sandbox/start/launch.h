#ifndef AB_SANDBOX_START_LAUNCH_H
#define AB_SANDBOX_START_LAUNCH_H
/*
 * Start a box: new namespaces, our own binary executed again as their first
 * process (sandbox/start/init.h), connected by one socket pair.
 *
 * The caller must have one thread, be dumpable (otherwise the child cannot
 * write its own uid_map), and have all signals blocked.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/system/fd.h"
#include "sandbox/start/box_wire.h"

struct ab_spec;

struct ab_box {
	pid_t pid; /* of init, in our namespace */
	int pidfd;
	int sock;
};

/* What must be known of the network before there is a specification. */
struct ab_box_net {
	bool own;		    /* a namespace of its own */
	bool door;		    /* which has the door to the supervisor */
	const uint16_t *host_ports; /* with a door */
	size_t nhost_ports;
};

/*
 * In two halves, because a new process takes as long to get going as the plan
 * for it takes to be made: init starts, and waits for its specification.
 */
int ab_box_launch(const struct ab_box_net *net, uint64_t tmp_size, struct ab_box *ret,
		  struct ab_error *err);
int ab_box_specify(const struct ab_box *box, struct ab_spec *spec, struct ab_error *err);

/* One message down; -1 with errno. Does not wait: EAGAIN when init has not read
 * so many that there is no room. It may itself be waiting for us to read. */
int ab_box_tell(const struct ab_box *box, enum ab_msg_type type, int value);

/* One message from below, with its descriptors. 1, 0 at the end of the box,
 * -1 with errno (EPROTO: not a message). */
int ab_box_hear(const struct ab_box *box, struct ab_msg *ret, struct ab_fds *ret_fds, int flags);

/* End every process of the box at once. */
void ab_box_kill(const struct ab_box *box);

/* Wait until init is gone, and close what belongs to it. */
void ab_box_fini(struct ab_box *box);

/* The inodes of our own namespaces, for the proof inside (spec->host_ns). */
void ab_box_namespaces(uint64_t ret[]);

#endif
