#pragma once
/*
 * The process of the guard (guard/notify/guard_link.h), and what answers the calls that the
 * kernel holds for it: programs are answered here, every other call by a handler.
 *
 * A handler must not wait: every process of the box that makes such a call would wait with it. It
 * replies at once, or keeps the id and replies later, when a descriptor that it gave to
 * ab_guard_watch() is ready. Everything that it reads from a process is hostile, and may change at
 * any time.
 */
#include "base/base.h"
#include "guard/notify/exec_read.h"
#include "guard/notify/trace.h"

struct ab_guard;
struct ab_helper;
struct ab_spots;
struct seccomp_data;

/* A call that the kernel holds. */
struct ab_held {
	uint64_t id;
	pid_t pid; /* of the thread, on the host */
	const struct seccomp_data *data;
	struct ab_arena *arena; /* emptied before each call */
};

enum ab_reply_kind {
	AB_REPLY_CONTINUE, /* the kernel carries it out, with what the arguments are by then: this
			    * permits nothing that the walls deny */
	AB_REPLY_ERROR,	   /* it fails with `errnum` */
	AB_REPLY_VALUE,	   /* the handler carried it out; it returns `value` */
	AB_REPLY_FD,	   /* it returns a new descriptor for the file behind ours, `value` */
	AB_REPLY_LATER,	   /* the caller waits for ab_guard_reply() */
	AB_REPLY_NEXT,	   /* not a call of this handler: the next one is asked */
};

struct ab_reply {
	enum ab_reply_kind kind;
	int errnum;
	int64_t value;
	bool cloexec; /* of AB_REPLY_FD */
};

/* It fails, or returns 0. */
static inline struct ab_reply ab_reply_errno(int errnum)
{
	return (struct ab_reply){ .kind = errnum ? AB_REPLY_ERROR : AB_REPLY_VALUE,
				  .errnum = errnum };
}

static inline struct ab_reply ab_reply_pass(void)
{
	return (struct ab_reply){ .kind = AB_REPLY_CONTINUE };
}

static inline struct ab_reply ab_reply_next(void)
{
	return (struct ab_reply){ .kind = AB_REPLY_NEXT };
}

struct ab_call_handler {
	/* Runs once in the guard's process, before its filter. Returns the `state` of the handler.
	 * NULL: the setup is its state. */
	void *(*open)(struct ab_guard *guard, const void *setup);
	const void *setup;
	/* Handlers are asked in their order, until one answers. */
	struct ab_reply (*handle)(struct ab_guard *guard, void *state, const struct ab_held *call);
	/* The box is gone: send what is left. Or NULL. */
	void (*close)(void *state);
};

enum { AB_HANDLERS_MAX = 6 };

struct ab_guard_duty {
	struct ab_terms terms;
	struct ab_trace_terms trace;
	struct ab_call_handler handlers[AB_HANDLERS_MAX];
	size_t nhandlers;
	/* The guard makes the box's sockets; a socket to the proxy (netns/destination.h), or -1. */
	bool sockets;
	int proxy;
	struct ab_spots *spots; /* for the search at the end, or NULL */
};

/* `sock` leads to the supervisor, `listener` to the held calls. Its own socket takes the requests of
 * handlers. */
int ab_guard_start(const struct ab_guard_duty *duty, int sock, int listener, struct ab_helper *ret,
		   struct ab_error *err);

/* For handlers. */

const struct ab_trace_terms *ab_guard_terms(const struct ab_guard *guard);
/* A socket for requests that a handler sends to the broker, or -1. */
int ab_guard_broker(const struct ab_guard *guard);
const struct ab_guard_duty *ab_guard_duty(const struct ab_guard *guard);
/* Does the caller still wait? If not, what was read may be about another process. */
bool ab_guard_waits(const struct ab_guard *guard, uint64_t id);
/* After AB_REPLY_LATER. If the caller is gone, nothing happens. */
void ab_guard_reply(struct ab_guard *guard, uint64_t id, const struct ab_reply *reply);
/* Record that the box denies this call, or that we did. Folded and bounded. */
void ab_guard_report(struct ab_guard *guard, const struct ab_held *call,
		     const struct ab_denied *denied);
/* Call `ready` whenever the descriptor is. -1: there is no room for one more. */
int ab_guard_watch(struct ab_guard *guard, int fd, short events,
		   void (*ready)(struct ab_guard *guard, void *arg, short events), void *arg);
void ab_guard_unwatch(struct ab_guard *guard, int fd);
/* Leave it out until ab_guard_resume(): every call of the box pays for each descriptor that the guard
 * waits for. Its place stays. */
void ab_guard_pause(struct ab_guard *guard, int fd);
void ab_guard_resume(struct ab_guard *guard, int fd);
