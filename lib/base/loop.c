#include "base/loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/error.h"

int ab_loop_init(struct ab_loop *loop, struct ab_error *err)
{
	loop->stop = false;
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "make an event loop");
	return 0;
}

int ab_loop_add(struct ab_loop *loop, struct ab_source *source,
		uint32_t events, struct ab_error *err)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, source->fd, &event) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "watch descriptor %d",
			       source->fd);
	source->active = true;
	return 0;
}

void ab_loop_set(struct ab_loop *loop, struct ab_source *source,
		 uint32_t events)
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

int ab_loop_run(struct ab_loop *loop, struct ab_error *err)
{
	struct epoll_event events[64];

	while (!loop->stop) {
		int n = epoll_wait(loop->epoll, events, 64, -1);

		if (n < 0 && errno != EINTR)
			return ab_fail(err, AB_ESYSTEM, errno,
				       "wait for events");
		for (int i = 0; i < n && !loop->stop; i++) {
			struct ab_source *source = events[i].data.ptr;

			if (source->active)
				source->ready(source, events[i].events);
		}
	}
	return 0;
}

void ab_loop_fini(struct ab_loop *loop)
{
	if (loop->epoll >= 0)
		close(loop->epoll);
	loop->epoll = -1;
}
