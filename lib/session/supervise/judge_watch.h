#ifndef AB_SESSION_SUPERVISE_JUDGE_WATCH_H
#define AB_SESSION_SUPERVISE_JUDGE_WATCH_H
/*
 * The supervisor's side of the judge: it holds the listener of the box's filter until the kernel
 * holds the first call, then has the broker fork the judge, and records what the judge denies.
 * Most short runs write nothing, and need no judge.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/system/loop.h"
#include "sandbox/start/launch.h"
#include "session/broker/broker.h"

struct ab_failure;
struct ab_fds;
struct ab_supervision;

struct ab_judge_watch {
	const struct ab_supervision *what;
	struct ab_loop *loop;
	struct ab_failure *failure;
	struct ab_source listener; /* until the judge has it; fd -1: none */
	struct ab_source notes;
	bool has_listener;     /* the box has sent its listener */
	struct ab_built built; /* the box, as the judge must know it */
};

/* The box has sent its listener, unless it is `unasked`: a filter that holds no calls. */
int ab_judge_watch_take(struct ab_judge_watch *watch, const struct ab_holds *holds, bool unasked,
			struct ab_fds *fds);
/* Have the judge started now. */
void ab_judge_watch_begin(struct ab_judge_watch *watch);
/* Record what the judge has denied so far. */
void ab_judge_watch_drain(struct ab_judge_watch *watch);

#endif
