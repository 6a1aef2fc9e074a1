#include "session/supervise/judge_watch.h"

#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/system/fd.h"
#include "session/broker/broker.h"
#include "session/notify/program_judge.h"
#include "session/notify/refused_programs.h"
#include "session/supervise/failure.h"
#include "session/supervise/supervisor.h"

enum { NOTES_AT_ONCE = 256 };

/* False: there was none, or the run ends. */
static bool take_note(struct ab_judge_watch *watch)
{
	const struct ab_supervision *what = watch->what;
	struct ab_error *err = watch->failure->err;
	struct ab_note note;
	int r = ab_program_judge_hear(what->children, &note, err);

	if (r < 0 || (r > 0 && ab_refused_programs_take(what->refusals, &note, err) < 0)) {
		ab_failure_end(watch->failure);
		return false;
	}
	if (r > 0)
		what->denied(what->arg, &note);
	return r > 0;
}

static void judge_ready(struct ab_source *source, uint32_t events)
{
	(void)events;
	take_note(source->owner);
}

void ab_judge_watch_drain(struct ab_judge_watch *watch)
{
	for (int i = 0; watch->notes.active && i < NOTES_AT_ONCE; i++)
		if (!take_note(watch))
			return;
}

/* At the first held call: the broker forks the judge. If that fails, the judge's socket ends. */
static int call_judge(struct ab_judge_watch *watch)
{
	struct ab_program_judge *judge = watch->what->children;
	struct ab_error *err = watch->failure->err;

	watch->notes = (struct ab_source){ .fd = ab_program_judge_fd(judge),
					   .ready = judge_ready,
					   .owner = watch };
	if (ab_loop_add(watch->loop, &watch->notes, EPOLLIN, err) < 0)
		return -1;
	ab_program_judge_begin(judge);
	if (ab_broker_start_judge(watch->what->broker, watch->listener.fd, &watch->built) < 0) {
		ab_fail(err, AB_ESYSTEM, 0, "the broker cannot start the judge");
		return ab_step(err, "enforcement");
	}
	return 0;
}

static void listener_ready(struct ab_source *source, uint32_t events)
{
	struct ab_judge_watch *watch = source->owner;

	if ((events & EPOLLIN) && call_judge(watch) < 0)
		ab_failure_end(watch->failure);
	/* The judge has it, or no process is left. */
	ab_loop_remove(watch->loop, source);
	close(ab_take_fd(&source->fd));
}

void ab_judge_watch_begin(struct ab_judge_watch *watch)
{
	listener_ready(&watch->listener, EPOLLIN);
}

int ab_judge_watch_take(struct ab_judge_watch *watch, const struct ab_holds *holds, bool unasked,
			struct ab_fds *fds)
{
	struct ab_error *err = watch->failure->err;

	memcpy(watch->built.layers, holds->layers, sizeof(watch->built.layers));
	watch->built.filters = holds->filters;
	if (!watch->what->children || watch->has_listener || unasked)
		return 0;
	watch->has_listener = true;
	if (fds->len != 1)
		return ab_fail(err, AB_ESYSTEM, 0, "the box sent no seccomp listener");
	watch->listener = (struct ab_source){ .fd = ab_take_fd(&fds->v[0]),
					      .ready = listener_ready,
					      .owner = watch };
	return ab_loop_add(watch->loop, &watch->listener, EPOLLIN, err);
}
