#include "base/system/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/data/error.h"
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
	ok(ab_loop_run(&loop, &err) == 0 && p.calls == 3, "what was not read is said again");

	ab_loop_remove(&loop, &p.source);
	ok(!p.source.active, "a source is removed");
	ab_loop_remove(&loop, &p.source);
	ab_loop_set(&loop, &p.source, EPOLLIN);
	ok(!p.source.active, "removing it twice or setting it does nothing");
	ok(ab_loop_add(&loop, &p.source, EPOLLIN, &err) == 0, "it can be added again");
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
	ok(ab_loop_run(&loop, &err) == 0 && quiet.calls == 1, "and is called again when it waits");
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
	ok(ab_loop_run(&loop, &err) == 0 && a.calls * b.calls == 0 && a.calls + b.calls == 2,
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
	ok(ab_loop_add(&loop, &bad, EPOLLIN, &err) == -1 && err.errnum == EBADF && !bad.active,
	   "a source without a descriptor is refused");
	ab_loop_fini(&loop);
	loop.stop = false;
	ok(ab_loop_run(&loop, &err) == -1 && err.errnum == EBADF, "a loop that ended cannot run");
}

enum { TIMERS = 200 };

struct bell {
	struct ab_timer timer;
	struct ab_loop *loop;
	uint64_t ms;
};

static struct bell bells[TIMERS];
static size_t rung, out_of_order;
static uint64_t last_at;

static void ring(struct ab_timer *timer)
{
	struct bell *b = timer->owner;

	out_of_order += b->timer.at < last_at;
	last_at = b->timer.at;
	if (++rung == TIMERS / 2)
		b->loop->stop = true;
}

/* Half of them are stopped again: the heap must stay one. */
static void test_timers(void)
{
	struct ab_error err;
	struct ab_loop loop;
	uint32_t seed = 7;
	size_t set = 0;

	ab_loop_init(&loop, &err);
	for (size_t i = 0; i < TIMERS; i++) {
		seed = seed * 1664525 + 1013904223;
		bells[i].loop = &loop;
		bells[i].timer.fire = ring;
		bells[i].timer.owner = &bells[i];
		ab_loop_timer(&loop, &bells[i].timer, seed >> 26);
	}
	for (size_t i = 0; i < TIMERS; i += 2)
		ab_loop_timer_stop(&loop, &bells[i].timer);
	for (size_t i = 1; i < TIMERS; i += 10)
		ab_loop_timer(&loop, &bells[i].timer, 3);
	ok(ab_loop_run(&loop, &err) == 0 && rung == TIMERS / 2,
	   "every timer that was not stopped fires once");
	ok(out_of_order == 0, "the earlier one first");
	for (size_t i = 0; i < TIMERS; i++)
		set += bells[i].timer.slot != 0;
	ok(set == 0 && loop.ntimers == 0, "and none is left");
	ab_loop_timer_stop(&loop, &bells[0].timer);
	ok(loop.ntimers == 0, "stopping a stopped one does nothing");
	ab_loop_fini(&loop);
}

struct chore {
	struct ab_later later;
	struct ab_loop *loop;
	int runs;
};

static void do_chore(struct ab_later *later)
{
	struct chore *c = later->owner;

	if (++c->runs < 3)
		ab_loop_later(c->loop, later);
	else
		c->loop->stop = true;
}

static void test_later(void)
{
	struct ab_error err;
	struct ab_loop loop;
	struct chore c = { .later = { .run = do_chore, .owner = &c }, .loop = &loop };

	ab_loop_init(&loop, &err);
	ab_loop_later(&loop, &c.later);
	ab_loop_later(&loop, &c.later);
	ok(ab_loop_run(&loop, &err) == 0 && c.runs == 3,
	   "what is queued twice runs once, and again when it asks to");
	c.runs = 2;
	ab_loop_later(&loop, &c.later);
	ab_loop_fini(&loop);
	ok(c.runs == 3, "the end of the loop does what is queued");
}

int main(void)
{
	test_ready();
	test_set();
	test_remove_in_batch();
	test_errors();
	test_timers();
	test_later();
	return done();
}
