#pragma once
/*
 * Start a box: create namespaces and execute our own binary again as their first
 * process (sandbox/start/init.h), connected by a socket pair. Where the machine
 * creates none, and the policy permits it, the box does without.
 *
 * The caller must have one thread, be dumpable (otherwise the child cannot
 * write its own uid_map), and have all signals blocked.
 */
#include "base/base.h"
#include "policy/model/policy.h"
#include "sandbox/start/box_wire.h"

struct ab_spec;

struct ab_box {
	pid_t pid; /* of init, in our namespace */
	int pidfd;
	int sock;
	bool namespaces;	 /* it has its own; else its engine is AB_ENGINE_NO_NAMESPACES */
	struct ab_error refused; /* why not, if that was not asked for */
	int end;		 /* the wait status of init, when it has ended */
};

/*
 * In three parts, because starting a process takes as long as planning: init starts
 * meanwhile, and waits for what it needs next. The launch itself needs nothing of the
 * policy but the engine, and with AB_ENGINE_AUTO not even that.
 */
int ab_box_launch(enum ab_box_engine engine, const int stdio[3], struct ab_box *ret,
		  struct ab_error *err);
int ab_box_begin(const struct ab_box *box, const struct ab_begin *begin, struct ab_error *err);
int ab_box_specify(const struct ab_box *box, struct ab_spec *spec, struct ab_error *err);

/*
 * A box that waits for its command (spec->waits). Only pipes and sockets of the host enter a box that
 * exists, and /dev/null, which it has: can these be 0-2? -1: the same as ours.
 */
bool ab_box_takes(const int stdio[3]);
/*
 * After AB_MSG_READY: send it the command of `spec`. It starts when the eventfd `go` is written, not by
 * AB_MSG_GO: the kernel wakes the reader of a socket where the writer runs, which still has work to do.
 * 1: the box is gone.
 */
int ab_box_hand(const struct ab_box *box, const struct ab_spec *spec, const int stdio[3], int go,
		struct ab_error *err);

/* Send one message to init; -1 with errno. Does not block: EAGAIN if the queue is
 * full, because init itself may be waiting for us to read. */
int ab_box_tell(const struct ab_box *box, enum ab_msg_type type, int value);

/* Receive one message from init, with its file descriptors. 1, 0 at the end of the
 * box, -1 with errno (EPROTO: not a valid message). */
int ab_box_hear(const struct ab_box *box, struct ab_msg *ret, struct ab_fds *ret_fds, int flags);

/* Kill every process of the box. Without namespaces init does it, and ends then. */
void ab_box_kill(const struct ab_box *box);

/* Init has ended, and has not said why. */
void ab_box_explain_end(const struct ab_box *box, struct ab_error *err);

/* Wait until init has ended, and close what belongs to it. */
void ab_box_fini(struct ab_box *box);

/*
 * explain.c: find the cause of a failed start in a table and set it as the hint, unless there is one.
 * Allocates nothing: the first child shares our memory.
 */
void ab_box_explain(struct ab_error *err);
/* Is the root of this process a folder inside a mount? In a chroot the kernel creates no user
 * namespaces. */
bool ab_box_in_chroot(void);
/* Is a system call filter in force that we did not load: that of a container? */
bool ab_box_is_filtered(void);

/* The inodes of our own namespaces, for the proof inside (spec->host_ns). */
void ab_box_namespaces(uint64_t ret[]);
