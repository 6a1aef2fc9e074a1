#include "session/supervise/guard_watch.h"

#include <sys/epoll.h>

#include "consent/request.h"
#include "guard/notify/guard_link.h"
#include "guard/notify/refused_programs.h"
#include "session/control/steering.h"
#include "session/supervise/failure.h"
#include "session/supervise/supervisor.h"

enum { NOTES_AT_ONCE = 256, RETRY_MS = 20, TRIES = 1000 };

void ab_guard_watch_say(const struct ab_request *request, struct ab_refused_programs *refusals,
			const struct ab_note *note)
{
	ab_autofree char *text = ab_refused_programs_notice(refusals, note);

	if (text)
		ab_request_say(request, AB_SAY_NOTE, "%s", text);
}

/* False: there was none, or the run ends. */
static bool take_note(struct ab_guard_watch *watch)
{
	const struct ab_supervision *what = watch->what;
	struct ab_error *err = watch->failure->err;
	struct ab_note note;
	int r = ab_guard_link_hear(what->children, &note, err);

	if (r < 0 || (r > 0 && ab_refused_programs_take(what->refusals, &note, err) < 0)) {
		ab_failure_end(watch->failure);
		return false;
	}
	/* Not on a screen that a program draws: the end of the run tells it, too. */
	if (r > 0 && (!what->terminal || ab_terminal_takes_lines(what->terminal)))
		ab_guard_watch_say(what->steering->request, what->refusals, &note);
	return r > 0;
}

static void judge_ready(struct ab_source *source, uint32_t events)
{
	(void)events;
	take_note(source->owner);
}

void ab_guard_watch_drain(struct ab_guard_watch *watch)
{
	for (int i = 0; watch->notes.active && i < NOTES_AT_ONCE; i++)
		if (!take_note(watch))
			return;
}

/* At the first held call: the broker forks the guard. If that fails, the guard's socket ends. 1: the
 * broker has no room for the request, for the box decides what else it is asked at that moment. */
static int call_judge(struct ab_guard_watch *watch)
{
	struct ab_guard_link *guard = watch->what->children;
	struct ab_error *err = watch->failure->err;
	int r;

	if (!watch->notes.active &&
	    ab_loop_watch(watch->loop, &watch->notes, guard->sock, judge_ready, watch, err) < 0)
		return -1;
	r = ab_broker_start_guard(watch->what->steering->broker, watch->listener.fd, &watch->built);
	guard->begun = r <= 0;
	if (r > 0 && watch->tries++ < TRIES)
		return 1;
	return r == 0 ? 0
		      : ab_fail_step(err, "enforcement", 0, "the broker cannot start the guard");
}

static void start_again(struct ab_timer *timer);

static void listener_ready(struct ab_source *source, uint32_t events)
{
	struct ab_guard_watch *watch = source->owner;
	int r = events & EPOLLIN ? call_judge(watch) : 0;

	if (r > 0) {
		watch->retry.fire = start_again;
		watch->retry.owner = watch;
		ab_loop_set(watch->loop, source, 0);
		ab_loop_timer(watch->loop, &watch->retry, RETRY_MS);
		return;
	}
	ab_loop_timer_stop(watch->loop, &watch->retry);
	if (r < 0)
		ab_failure_end(watch->failure);
	/* The guard has it, or no process is left. */
	ab_loop_remove(watch->loop, source);
	close(ab_take_fd(&source->fd));
}

static void start_again(struct ab_timer *timer)
{
	struct ab_guard_watch *watch = timer->owner;

	listener_ready(&watch->listener, EPOLLIN);
}

void ab_guard_watch_begin(struct ab_guard_watch *watch)
{
	listener_ready(&watch->listener, EPOLLIN);
}

int ab_guard_watch_take(struct ab_guard_watch *watch, const struct ab_holds *holds, bool unasked,
			struct ab_fds *fds)
{
	struct ab_error *err = watch->failure->err;

	memcpy(watch->built.layers, holds->layers, sizeof(watch->built.layers));
	watch->built.filters = holds->filters;
	if (!watch->what->children || unasked)
		ab_broker_unheld(watch->what->steering->broker);
	if (!watch->what->children || watch->has_listener || unasked)
		return 0;
	watch->has_listener = true;
	if (fds->len != 1)
		return ab_fail(err, AB_ESYSTEM, 0, "the box sent no seccomp listener");
	return ab_loop_watch(watch->loop, &watch->listener, ab_take_fd(&fds->v[0]), listener_ready,
			     watch, err);
}
