#include "base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/error.h"
#include "tap.h"

struct pipe_source {
	struct ab_source source;
	struct ab_loop *loop;
	struct pipe_source *other; /* removed by the first that is called */
	int end;
	int calls;
	uint32_t seen;
};

static void make_pipe(struct pipe_source *p, struct ab_loop *loop,
		      void (*ready)(struct ab_source *, uint32_t))
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		abort();
	*p = (struct pipe_source){
		.source = { .fd = fds[0], .ready = ready, .owner = p },
		.loop = loop,
		.end = fds[1],
	};
}

static void end_pipe(struct pipe_source *p)
{
	close(p->source.fd);
	close(p->end);
}

static void poke(struct pipe_source *p)
{
	if (write(p->end, "x", 1) != 1)
		abort();
}

static void count_and_stop(struct ab_source *source, uint32_t events)
{
	struct pipe_source *p = source->owner;

	p->calls++;
	p->seen |= events;
	p->loop->stop = true;
}

static void count_to_three(struct ab_source *source, uint32_t events)
{
	struct pipe_source *p = source->owner;

	(void)events;
	p->loop->stop = ++p->calls == 3;
}

static void remove_other(struct ab_source *source, uint32_t events)
{
	struct pipe_source *p = source->owner;
	char byte;

	(void)events;
	p->calls++;
	ab_loop_remove(p->loop, &p->other->source);
	if (read(source->fd, &byte, 1) != 1)
		p->loop->stop = true;
}

static void test_ready(void)
{
	struct ab_error err;
	struct ab_loop loop;
	struct pipe_source p;

	ok(ab_loop_init(&loop, &err) == 0, "a loop is made");
	ok(fcntl(loop.epoll, F_GETFD) & FD_CLOEXEC, "it is close-on-exec");
	make_pipe(&p, &loop, count_and_stop);
	ok(ab_loop_add(&loop, &p.source, EPOLLIN, &err) == 0 && p.source.active,
	   "a source is added");
	poke(&p);
	ok(ab_loop_run(&loop, &err) == 0 && p.calls == 1 && p.seen == EPOLLIN,
	   "it is called once with what happened, and stops the loop");

	loop.stop = false;
	p.calls = 0;
	p.source.ready = count_to_three;
	ok(ab_loop_run(&loop, &err) == 0 && p.calls == 3,
	   "what was not read is said again");

	ab_loop_remove(&loop, &p.source);
	ok(!p.source.active, "a source is removed");
	ab_loop_remove(&loop, &p.source);
	ab_loop_set(&loop, &p.source, EPOLLIN);
	ok(!p.source.active, "removing it twice or setting it does nothing");
	ok(ab_loop_add(&loop, &p.source, EPOLLIN, &err) == 0,
	   "it can be added again");
	end_pipe(&p);
	ab_loop_fini(&loop);
	ok(loop.epoll == -1, "the end leaves no descriptor");
	ab_loop_fini(&loop);
}

static void test_set(void)
{
	struct ab_error err;
	struct ab_loop loop;
	struct pipe_source quiet, loud;

	ab_loop_init(&loop, &err);
	make_pipe(&quiet, &loop, count_and_stop);
	make_pipe(&loud, &loop, count_to_three);
	ab_loop_add(&loop, &quiet.source, EPOLLIN, &err);
	ab_loop_add(&loop, &loud.source, EPOLLIN, &err);
	poke(&quiet);
	poke(&loud);
	ab_loop_set(&loop, &quiet.source, 0);
	ok(ab_loop_run(&loop, &err) == 0 && quiet.calls == 0 && loud.calls == 3,
	   "a source that waits for nothing is not called");
	loop.stop = false;
	loud.calls = 4;
	ab_loop_set(&loop, &quiet.source, EPOLLIN);
	ok(ab_loop_run(&loop, &err) == 0 && quiet.calls == 1,
	   "and is called again when it waits");
	end_pipe(&quiet);
	end_pipe(&loud);
	ab_loop_fini(&loop);
}

/* Both are ready in one batch; whichever comes first removes the other. */
static void test_remove_in_batch(void)
{
	struct ab_error err;
	struct ab_loop loop;
	struct pipe_source a, b;

	ab_loop_init(&loop, &err);
	make_pipe(&a, &loop, remove_other);
	make_pipe(&b, &loop, remove_other);
	a.other = &b;
	b.other = &a;
	ab_loop_add(&loop, &a.source, EPOLLIN | EPOLLHUP, &err);
	ab_loop_add(&loop, &b.source, EPOLLIN | EPOLLHUP, &err);
	poke(&a);
	poke(&b);
	close(a.end);
	close(b.end);
	ok(ab_loop_run(&loop, &err) == 0 && a.calls * b.calls == 0 &&
		   a.calls + b.calls == 2,
	   "a removed source gets no event that was already fetched");
	a.end = b.end = -1;
	end_pipe(&a);
	end_pipe(&b);
	ab_loop_fini(&loop);
}

static void test_errors(void)
{
	struct ab_error err;
	struct ab_loop loop;
	struct ab_source bad = { .fd = -1 };

	ab_loop_init(&loop, &err);
	ok(ab_loop_add(&loop, &bad, EPOLLIN, &err) == -1 &&
		   err.errnum == EBADF && !bad.active,
	   "a source without a descriptor is refused");
	ab_loop_fini(&loop);
	loop.stop = false;
	ok(ab_loop_run(&loop, &err) == -1 && err.errnum == EBADF,
	   "a loop that ended cannot run");
}

int main(void)
{
	test_ready();
	test_set();
	test_remove_in_batch();
	test_errors();
	return done();
}
