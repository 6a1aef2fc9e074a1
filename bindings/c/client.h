#ifndef AB_CLIENT_CLIENT_H
#define AB_CLIENT_CLIENT_H
/*
 * Inside of the library.
 *
 * One lock guards a manager and its handles. No thread is ours, so the callers' threads take roles:
 * one at a time reads the socket (`reading`), one at a time calls callbacks (`delivering`), without
 * the lock; the others wait for `moved`. A reader only queues events, so a callback can wait for the
 * reply to a request of its own.
 */
#include <jansson.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "agentbox.h"

/* A request that waits for its reply; on the stack of its thread. */
struct ab_reply {
	struct ab_reply *next;
	uint64_t id;
	json_t *answer;	      /* or NULL */
	struct ab_proc *proc; /* gets the number of its run with the reply, or NULL */
};

struct ab_event {
	struct ab_event *next;
	json_t *json;
};

struct ab_manager {
	pthread_mutex_t lock, writing;
	pthread_cond_t moved;
	unsigned refs; /* the caller's, and one for each handle */
	bool noop;
	int noop_exit;
	json_t *policy; /* members of every request about a command */
	int sock, pidfd;
	/* `ready` is readable if the socket is, or `queued`, which is if there is an event; -1: none */
	int ready, queued;
	bool reading, delivering;
	pthread_t deliverer;
	bool dead; /* nothing comes any more */
	enum ab_fault_code why;
	char *bytes; /* the reader's */
	size_t len, room;
	uint64_t id;
	struct ab_reply *waiting;
	struct ab_event *first, **last;
	struct ab_proc *procs;
};

struct ab_proc {
	struct ab_proc *next;
	struct ab_manager *manager;
	uint64_t number;
	struct ab_callbacks callbacks;
	bool called;			  /* a callback runs */
	const struct ab_outcome *outcome; /* or NULL: it has not ended */
	struct ab_outcome *own;		  /* to be released */
};

/* fault.c: both return -1. */
int ab_client_fail(struct ab_fault *fault, enum ab_fault_code code, int errnum, const char *fmt,
		   ...) __attribute__((format(printf, 4, 5)));
int ab_client_memory(struct ab_fault *fault);
/* A refusal of agentbox. */
int ab_client_refused(const json_t *reply, struct ab_fault *fault);
/* NULL: out of memory. */
char *ab_client_dump(const json_t *json);
const char *ab_client_text(const json_t *object, const char *key); /* "": none */
/* Bytes of a stream: NAME or NAME_base64. NULL: out of memory; *ret_len 0 and "": none. */
char *ab_client_bytes(const json_t *object, const char *name, size_t *ret_len);
json_t *ab_client_base64(const void *data, size_t len); /* a string, or NULL */

/* launch.c */
int ab_client_launch(const struct ab_manager_options *options, int *ret_sock, int *ret_pidfd,
		     struct ab_fault *fault);
/* Move a descriptor above 2. If the caller has closed a standard stream, a new descriptor gets its
 * number, and a run would be given it in place of the stream. False: errno says why. */
bool ab_client_raise(int *fd);
/* End the process, and wait until it is gone. */
void ab_client_end(int sock, int pidfd);

/* wire.c. The request is taken over; NULL: out of memory. *ret (may be NULL) is the reply, which the
 * caller releases. */
int ab_client_ask(struct ab_manager *m, json_t *request, const int *fds, size_t nfds,
		  struct ab_proc *proc, json_t **ret, struct ab_fault *fault);
/* The same without a reply. */
void ab_client_tell(struct ab_manager *m, json_t *request);
/* With the lock: read once, until `until` (milliseconds; -1: no limit). 0: the time is over; -1: dead.
 * Another thread may do it. */
int ab_client_read(struct ab_manager *m, int64_t until);
/* With the lock: wait until something has changed. False: the time is over. */
bool ab_client_await(struct ab_manager *m, int64_t until);
int64_t ab_client_now(void);
int64_t ab_client_until(int timeout_ms);
int ab_client_gone(const struct ab_manager *m, struct ab_fault *fault);

/* events.c. With the lock: add an event. */
void ab_client_queue(struct ab_manager *m, struct ab_event *event);
/* With the lock: call the callbacks of the first event. False: there is none, or another
 * thread does. */
bool ab_client_deliver(struct ab_manager *m);
bool ab_client_in_callback(struct ab_manager *m);

/* manager.c. A struct of the caller as we know it: members that the caller's version does not have
 * are 0. */
int ab_client_options(void *to, size_t room, const void *from, size_t size, struct ab_fault *fault);
int ab_client_unsized(struct ab_fault *fault);
bool ab_client_utf8(const char *text); /* or NULL */
void ab_client_ref(struct ab_manager *m);
void ab_client_unref(struct ab_manager *m);
/* "do" and the members about the policy; NULL: out of memory, or *fault says what is wrong. */
json_t *ab_client_request(const struct ab_manager *m, const char *what, const char *const *argv,
			  const char *shell, const struct ab_policy_options *policy,
			  struct ab_fault *fault);

/* The same without a command. */
json_t *ab_client_policy(const struct ab_manager *m, const char *what,
			 const struct ab_policy_options *policy, struct ab_fault *fault);

/* pool.c */
uint64_t ab_client_pool_number(const struct ab_pool *pool); /* 0: none */
bool ab_client_pool_of(const struct ab_pool *pool, const struct ab_manager *m);

/* outcome.c. NULL: out of memory. */
struct ab_outcome *ab_client_outcome(json_t *result);
void ab_client_outcome_free(struct ab_outcome *outcome);
extern const struct ab_outcome ab_client_lost;

#endif
