#ifndef AB_SESSION_BROKER_H
#define AB_SESSION_BROKER_H
/*
 * The broker: a small process, forked before the supervisor locks itself in,
 * that does on the host what the locked supervisor no longer can. No byte of
 * the box's network reaches it; it takes a table of typed, bounded requests
 * over one socket. When the supervisor dies it gives the terminal back,
 * sweeps, retires the run, and leaves.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"
#include "session/terminal.h"

struct ab_log_setup;
struct ab_policy_input;
struct ab_plan;
struct ab_run;
struct ab_secrets;
struct ab_survey;
struct ab_broker;

struct ab_broker_duty {
	const struct ab_policy_input *input;
	const struct ab_survey *survey;
	struct ab_run *run;
	const struct ab_log_setup *log;	/* to write the end of the record */
	int init;	/* pidfd of the box's init */
	const char *cgroup;	/* to be removed after it, or NULL */
	const struct ab_plan *plan;	/* what the box's mounts close */
	bool strict;		/* a wall that falls ends the run */
	struct ab_terminal_rescue rescue;
	const struct ab_secrets *secrets;	/* to be read again, or NULL */
	char *const *environ;		/* with secrets: for their commands */
	const uint64_t *stamps;		/* with secrets: as they were read */
	const struct ab_strv *hidden;	/* files that values are in, or NULL */
};

int ab_broker_start(const struct ab_broker_duty *duty,
		    struct ab_broker **ret, struct ab_error *err);

/* A secret that was read again. */
struct ab_broker_news {
	size_t secret;
	const char *value;	/* NULL: it cannot be read: `error` */
	size_t len;
	struct ab_error error;
};

/*
 * Readable when it has news, and when it cannot do its work any more. 0: news,
 * whose value is good until it is forgotten; -1: why it cannot.
 */
int ab_broker_fd(const struct ab_broker *broker);
int ab_broker_hear(struct ab_broker *broker, struct ab_broker_news *ret,
		   struct ab_error *err);
void ab_broker_forget(struct ab_broker_news *news);	/* wipes */

/* Read this secret again, if there is a point in it: the answer is news. Does
 * not wait; what cannot be asked now is not asked. */
void ab_broker_secret(struct ab_broker *broker, size_t i);

/* After the box is gone: what appeared and was moved away, as sentences. The
 * run's folder is retired then. This is the last request; the broker leaves by
 * itself. It works between the two calls, and so may the caller. */
int ab_broker_sweep(struct ab_broker *broker, struct ab_error *err);
int ab_broker_swept(struct ab_broker *broker, struct ab_strv *ret,
		    struct ab_error *err);

/* Read and check a policy file as it is now; a sealed memfd with its bytes.
 * News that come meanwhile are lost. */
int ab_broker_config(struct ab_broker *broker, const char *path, int *ret_fd,
		     struct ab_error *err);

/* Let it go and reap it. */
void ab_broker_end(struct ab_broker *broker);

#endif
