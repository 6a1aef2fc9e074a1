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

#include "base/strv.h"
#include "session/terminal.h"

struct ab_error;
struct ab_log_setup;
struct ab_policy_input;
struct ab_plan;
struct ab_run;
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
};

int ab_broker_start(const struct ab_broker_duty *duty,
		    struct ab_broker **ret, struct ab_error *err);

/* Readable without a request only when it cannot do its work: explain() says
 * why. */
int ab_broker_fd(const struct ab_broker *broker);
void ab_broker_explain(struct ab_broker *broker, struct ab_error *err);

/* After the box is gone: what appeared and was moved away, as sentences. The
 * run's folder is retired then. This is the last request; the broker leaves by
 * itself. It works between the two calls, and so may the caller. */
int ab_broker_sweep(struct ab_broker *broker, struct ab_error *err);
int ab_broker_swept(struct ab_broker *broker, struct ab_strv *ret,
		    struct ab_error *err);

/* Read and check a policy file as it is now; a sealed memfd with its bytes. */
int ab_broker_config(struct ab_broker *broker, const char *path, int *ret_fd,
		     struct ab_error *err);

/* Let it go and reap it. */
void ab_broker_end(struct ab_broker *broker);

#endif
