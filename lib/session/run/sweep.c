/*
 * The broker's part of a run's end: it sweeps the workspace, retires the run's folder and exits,
 * while the supervisor waits for init, closes the network and completes the record.
 */
#include <poll.h>

#include "base/data/mem.h"
#include "session/broker/broker.h"
#include "session/consent/request.h"
#include "session/notify/program_judge.h"
#include "session/run/prepare.h"
#include "session/run/run_state.h"

enum { FIRST_MS = 2 }; /* how long the broker may go first */

/* The next run may want them when this one has ended. */
static bool keeps_layers(const struct run *r)
{
	int locks[AB_KEPT_LOCKS];

	ab_kept_layers_locks(&r->prepared->kept, locks);
	return r->prepared->review || locks[0] >= 0 || locks[1] >= 0;
}

/*
 * The judge ends with the broker, and the hook gets the last violations: then it must wait. So it must
 * where the reader of the output may keep us: if we are killed then, the broker finishes the run.
 */
static bool may_sweep_early(const struct run *r)
{
	return !ab_program_judge_begun(r->children) && !r->request->on_violation && !r->terminal &&
	       r->streams.nrelays == 0;
}

void ab_run_ask_for_sweep(void *arg, bool alone)
{
	struct run *r = arg;
	/* A cgroup can be removed, and a layer is free, only when init is gone too. */
	bool empty = alone && !r->cgroup.path && !keeps_layers(r);
	struct pollfd answer = { .events = POLLIN };

	ab_cgroup_look(&r->cgroup);
	if (!may_sweep_early(r) ||
	    ab_broker_sweep(r->broker, empty, &(struct ab_error){ 0 }) < 0)
		return;
	r->asked = true;
	/*
	 * The broker has more to do than we have. Woken together with it by init's end, on one
	 * processor, we would go first; woken by its answer, we get another processor.
	 */
	answer.fd = ab_broker_fd(r->broker);
	(void)poll(&answer, 1, FIRST_MS);
}

/* Its end takes a while: it holds the box's mounts. Without layers that it keeps locked nobody depends
 * on that, and the caller cleans up meanwhile. */
void ab_run_end_broker(struct run *r)
{
	if (keeps_layers(r))
		ab_broker_end(ab_take(r->broker));
	else
		ab_broker_dismiss(r->broker);
}
