#pragma once
/*
 * A box that is prepared before there is a command: namespaces, network, mounts, Landlock and filter
 * are ready, everything is proved, its broker runs, the folder for its record is reserved, and the
 * process that becomes the command waits (sandbox/start/target.c).
 *
 * The run that takes it looks at everything again that made the box what it is (fresh.h). If a new run
 * would get another box, because something changed meanwhile (the settings, the workspace, a socket,
 * a denied file), the prepared one is discarded, and the run starts one of its own. The same goes for
 * a command that needs approval, and for everything else that is not the same for all runs.
 */
#include "base/base.h"

struct ab_request;

struct ab_warm;

/*
 * The request's command only stands for those to come; its 0-2 must be /dev/null. Blocks signals, as a
 * run does. The request is copied, but not what it points to. Fails if nothing can be prepared for this
 * policy, and says why.
 */
#define AB_WARM_UNFIT "fit" /* the step of a failure that another try may not have */
int ab_warm_prepare(const struct ab_request *request, struct ab_warm **ret, struct ab_error *err);
/* Readable: the box has ended. */
int ab_warm_fd(const struct ab_warm *warm);
/* A run comes: begin to look whether the box fits, while the caller reads the request. */
void ab_warm_wake(struct ab_warm *warm);
/* Discards the box, unless a run has taken it. */
void ab_warm_free(struct ab_warm *warm);

/* ab_run() in this box. 1: the box does not fit, and is gone; nothing has started. */
int ab_warm_run(struct ab_warm *warm, const struct ab_request *request, int *ret_status,
		struct ab_error *err);
