#ifndef AB_SESSION_NOTIFY_JUDGE_PROCESS_H
#define AB_SESSION_NOTIFY_JUDGE_PROCESS_H
/*
 * The process of the judge (session/notify/program_judge.h), and what answers the calls that the
 * kernel holds for it: programs are answered here, every other call by a handler.
 *
 * A handler must not wait: every process of the box that makes such a call would wait with it. It
 * replies at once, or keeps the id and replies later, when a descriptor that it gave to
 * ab_judge_watch() is ready. Everything that it reads from a process is hostile, and may change at
 * any time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/notify/exec_read.h"
#include "session/notify/trace.h"

struct ab_arena;
struct ab_denied;
struct ab_judge;
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
	AB_REPLY_LATER,	   /* the caller waits for ab_judge_reply() */
	AB_REPLY_NEXT,	   /* the next handler that takes the call answers it */
};

struct ab_reply {
	enum ab_reply_kind kind;
	int errnum;
	int64_t value;
	bool cloexec; /* of AB_REPLY_FD */
};

struct ab_call_handler {
	/* Runs once in the judge's process, before its filter. Returns the `state` of the handler. */
	void *(*open)(struct ab_judge *judge, const void *setup);
	const void *setup;
	/* Handlers are asked in their order, until one answers. */
	bool (*takes)(int nr);
	struct ab_reply (*handle)(struct ab_judge *judge, void *state, const struct ab_held *call);
};

enum { AB_HANDLERS_MAX = 6 };

struct ab_judge_duty {
	struct ab_terms terms;
	struct ab_trace_terms trace;
	struct ab_call_handler handlers[AB_HANDLERS_MAX];
	size_t nhandlers;
	/* The judge makes the box's sockets; a socket to the proxy (netns/destination.h), or -1. */
	bool sockets;
	int proxy;
};

/* `sock` leads to the supervisor, `listener` to the held calls, `broker` to the broker or -1;
 * everything else is closed. */
_Noreturn void ab_judge_be(const struct ab_judge_duty *duty, int sock, int listener, int broker);

/* For handlers. */

const struct ab_trace_terms *ab_judge_terms(const struct ab_judge *judge);
/* A socket for requests that a handler sends to the broker, or -1. */
int ab_judge_broker(const struct ab_judge *judge);
/* A socket to the proxy, or -1. */
int ab_judge_proxy(const struct ab_judge *judge);
/* Does the caller still wait? If not, what was read may be about another process. */
bool ab_judge_waits(const struct ab_judge *judge, uint64_t id);
/* After AB_REPLY_LATER. If the caller is gone, nothing happens. */
void ab_judge_reply(struct ab_judge *judge, uint64_t id, const struct ab_reply *reply);
/* Record that the box denies this call, or that we did. Folded and bounded. */
void ab_judge_report(struct ab_judge *judge, const struct ab_held *call,
		     const struct ab_denied *denied);
/* Call `ready` whenever the descriptor is. -1: there is no room for one more. */
int ab_judge_watch(struct ab_judge *judge, int fd, short events,
		   void (*ready)(struct ab_judge *judge, void *arg, short events), void *arg);
void ab_judge_unwatch(struct ab_judge *judge, int fd);
/* Leave it out until ab_judge_resume(): every call of the box pays for each descriptor that the judge
 * waits for. Its place stays. */
void ab_judge_pause(struct ab_judge *judge, int fd);
void ab_judge_resume(struct ab_judge *judge, int fd);

#endif
