#ifndef AB_SESSION_RUN_WARM_H
#define AB_SESSION_RUN_WARM_H
/*
 * A box that is prepared before there is a command: namespaces, network, mounts, Landlock and filter
 * are ready, everything is proved, and the process that becomes the command waits
 * (sandbox/start/target.c).
 *
 * The run that takes it is a run like every other: it loads the policy, judges the command, looks
 * at the host and makes the specification of its box, as if there were none. Only then it compares:
 * if the prepared box has the same specification, every path in it is still the same file, and
 * neither its mounts nor those of the host have changed, the box gets the command. Otherwise the
 * box is discarded and the run starts one of its own. So whatever changed meanwhile (the settings,
 * the workspace, a socket, a secret file), the box is never another one than it would have been.
 */
#include <stdbool.h>

struct ab_error;
struct ab_request;
struct run;

struct ab_warm;

/*
 * The request's command only stands for those to come; its 0-2 must be /dev/null. Blocks signals, as a
 * run does. Fails if nothing can be prepared for this policy, and says why.
 */
#define AB_WARM_UNFIT "fit" /* the step of a failure that another try may not have */
int ab_warm_prepare(const struct ab_request *request, struct ab_warm **ret, struct ab_error *err);
/* Readable: the box has ended. */
int ab_warm_fd(const struct ab_warm *warm);
/* Discards the box, unless a run has taken it. */
void ab_warm_free(struct ab_warm *warm);

/* For run.c: ab_request.warm, of which a run takes what there is. */

/* Take the box instead of launching one; false: there is none. */
bool ab_warm_take(struct run *r);
/* The specification is made. 1: the box has its command; 0: it does not fit, and is gone. */
int ab_warm_settle(struct run *r, struct ab_error *err);

#endif
