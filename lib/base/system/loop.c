#include "base/system/loop.h"

#include <sys/epoll.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/clock.h"

int ab_loop_init(struct ab_loop *loop, struct ab_error *err)
{
	*loop = (struct ab_loop){ .epoll = epoll_create1(EPOLL_CLOEXEC), .now = ab_now_ms() };
	loop->later_end = &loop->later;
	if (loop->epoll < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create an event loop");
	return 0;
}

int ab_loop_add(struct ab_loop *loop, struct ab_source *source, uint32_t events,
		struct ab_error *err)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, source->fd, &event) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "watch file descriptor %d", source->fd);
	source->active = true;
	return 0;
}

void ab_loop_set(struct ab_loop *loop, struct ab_source *source, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	if (source->active)
		epoll_ctl(loop->epoll, EPOLL_CTL_MOD, source->fd, &event);
}

void ab_loop_remove(struct ab_loop *loop, struct ab_source *source)
{
	if (!source->active)
		return;
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, source->fd, NULL);
	source->active = false;
}

void ab_source_close(struct ab_source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	source->fd = -1;
	source->active = false;
}

void ab_loop_close(struct ab_loop *loop, struct ab_source *source)
{
	ab_loop_remove(loop, source);
	ab_source_close(source);
}

int ab_loop_watch(struct ab_loop *loop, struct ab_source *source, int fd,
		  void (*ready)(struct ab_source *source, uint32_t events), void *owner,
		  struct ab_error *err)
{
	*source = (struct ab_source){ .fd = fd, .ready = ready, .owner = owner };
	return ab_loop_add(loop, source, EPOLLIN, err);
}

/* The heap: a timer is never later than its two children. */
static void put_timer(struct ab_loop *loop, size_t slot, struct ab_timer *timer)
{
	loop->timers[slot] = timer;
	timer->slot = slot;
}

static void move_timer(struct ab_loop *loop, struct ab_timer *timer, size_t slot)
{
	while (slot > 1 && loop->timers[slot / 2]->at > timer->at) {
		put_timer(loop, slot, loop->timers[slot / 2]);
		slot /= 2;
	}
	for (;;) {
		size_t child = 2 * slot;

		if (child < loop->ntimers && loop->timers[child + 1]->at < loop->timers[child]->at)
			child++;
		if (child > loop->ntimers || loop->timers[child]->at >= timer->at)
			break;
		put_timer(loop, slot, loop->timers[child]);
		slot = child;
	}
	put_timer(loop, slot, timer);
}

void ab_loop_timer(struct ab_loop *loop, struct ab_timer *timer, uint64_t ms)
{
	timer->at = loop->now + ms;
	if (!timer->slot) {
		if (loop->ntimers + 1 >= loop->room) {
			loop->room = loop->room ? 2 * loop->room : 64;
			loop->timers = ab_realloc(loop->timers, loop->room * sizeof(timer));
		}
		timer->slot = ++loop->ntimers;
	}
	move_timer(loop, timer, timer->slot);
}

void ab_loop_timer_stop(struct ab_loop *loop, struct ab_timer *timer)
{
	struct ab_timer *last;
	size_t slot = timer->slot;

	if (!slot)
		return;
	timer->slot = 0;
	last = loop->timers[loop->ntimers--];
	if (last != timer)
		move_timer(loop, last, slot);
}

static void fire_timers(struct ab_loop *loop)
{
	while (loop->ntimers && loop->timers[1]->at <= loop->now && !loop->stop) {
		struct ab_timer *timer = loop->timers[1];

		ab_loop_timer_stop(loop, timer);
		timer->fire(timer);
	}
}

void ab_loop_later(struct ab_loop *loop, struct ab_later *later)
{
	if (later->queued)
		return;
	later->queued = true;
	later->next = NULL;
	*loop->later_end = later;
	loop->later_end = &later->next;
}

static void run_later(struct ab_loop *loop)
{
	struct ab_later *later = loop->later;

	loop->later = NULL;
	loop->later_end = &loop->later;
	while (later) {
		struct ab_later *next = later->next;

		later->queued = false;
		later->run(later); /* may free it */
		later = next;
	}
}

static int get_wait_ms(const struct ab_loop *loop)
{
	uint64_t at, now;

	if (loop->later)
		return 0;
	if (!loop->ntimers)
		return -1;
	at = loop->timers[1]->at;
	now = ab_now_ms();
	if (at <= now)
		return 0;
	return at - now > 60000 ? 60000 : (int)(at - now);
}

int ab_loop_run(struct ab_loop *loop, struct ab_error *err)
{
	struct epoll_event events[128];

	while (!loop->stop) {
		int n = epoll_wait(loop->epoll, events, AB_COUNT(events), get_wait_ms(loop));

		if (n < 0 && errno != EINTR)
			return ab_fail(err, AB_ESYSTEM, errno, "wait for events");
		loop->now = ab_now_ms();
		for (int i = 0; i < n && !loop->stop; i++) {
			struct ab_source *source = events[i].data.ptr;

			if (source->active)
				source->ready(source, events[i].events);
		}
		fire_timers(loop);
		run_later(loop);
	}
	return 0;
}

void ab_loop_settle(struct ab_loop *loop)
{
	while (loop->later)
		run_later(loop);
}

void ab_loop_fini(struct ab_loop *loop)
{
	ab_loop_settle(loop);
	free(loop->timers);
	if (loop->epoll >= 0)
		close(loop->epoll);
	*loop = (struct ab_loop){ .epoll = -1 };
	loop->later_end = &loop->later;
}
