/*
 * Theory of operation.
 *
 * Three sides: `in`, what is typed on the caller's terminal; `out`, its screen;
 * `box`, the master of the box's own. A side is watched for input only while
 * the flow from it has room, and for output only while the flow to it has
 * bytes; arm() is the one place that says so. A hang-up is reported whatever
 * is watched, and takes that side away: without `out` the output is dropped
 * (the box must not wait for a window that was closed), without `box` the
 * input.
 *
 * Held, `in` and `out` are ours: the box's output stays where it is, and when
 * the flow is full the box waits.
 *
 * Should: move as much as there is at each call, at most one buffer.
 * Mustn't: block; read from the background.
 */
#include "session/terminal/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/system/fd.h"
#include "session/terminal/tty.h"

enum {
	ROOM = AB_RELAY_ROOM,
	/* Where writing may block, no more than surely fits. */
	SMALL = 256,
	/* How long to wait for a screen that takes nothing, which one behind a
	 * slow line, or on a machine with much to do, may well for a while... */
	SCREEN_MS = 5000,
	/* ... and for the end of a box that is dead; only a descriptor that
	 * went to a program outside can delay it. */
	END_MS = 100,
	/* All that the buffers of a terminal hold, several times. */
	REST = 4 * ROOM,
};

static bool is_open(const struct ab_relay_end *side)
{
	return side->source.fd >= 0;
}

static void drop(struct ab_relay *r, struct ab_relay_end *side)
{
	if (r->loop)
		ab_loop_remove(r->loop, &side->source);
	ab_closep(&side->source.fd);
	side->source.fd = -1;
}

static bool has_room(const struct ab_relay_flow *flow)
{
	return flow->start > 0 || flow->end < ROOM;
}

static bool has_bytes(const struct ab_relay_flow *flow)
{
	return flow->start < flow->end;
}

static bool has_own(const struct ab_relay *r)
{
	return r->own_sent < r->own.len;
}

static void watch(struct ab_relay *r, struct ab_relay_end *side, bool in, bool out)
{
	uint32_t events = (in ? EPOLLIN : 0u) | (out ? EPOLLOUT : 0u);
	struct ab_error err;

	if (events && is_open(side) && !side->source.active &&
	    ab_loop_add(r->loop, &side->source, events, &err) < 0)
		drop(r, side);
	if (side->events == events)
		return;
	side->events = events;
	ab_loop_set(r->loop, &side->source, events);
}

/* A hang-up that nothing can be done about yet is not to be told again and
 * again. */
static void unwatch(struct ab_relay *r, struct ab_relay_end *side)
{
	ab_loop_remove(r->loop, &side->source);
	side->events = 0;
}

void ab_relay_arm(struct ab_relay *r)
{
	bool moves = !r->quiet, flows = moves && !r->held;

	if (!r->loop)
		return;
	watch(r, &r->in, moves && (r->held || (r->reading && has_room(&r->down))), false);
	watch(r, &r->out, false, moves && (has_own(r) || (flows && has_bytes(&r->up))));
	watch(r, &r->box, flows && has_room(&r->up), moves && has_bytes(&r->down));
}

/* One read. */
static ssize_t fill(struct ab_relay_flow *flow, int fd)
{
	ssize_t n;

	if (!has_bytes(flow)) {
		flow->start = flow->end = 0;
	} else if (flow->end == ROOM) {
		memmove(flow->data, flow->data + flow->start, flow->end - flow->start);
		flow->end -= flow->start;
		flow->start = 0;
	}
	n = read(fd, flow->data + flow->end, ROOM - flow->end);
	if (n > 0)
		flow->end += (size_t)n;
	return n;
}

static bool again(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static bool wait_for(int fd, short events, int ms)
{
	struct pollfd ready = { .fd = fd, .events = events };

	return poll(&ready, 1, ms) > 0;
}

/* How much may be tried at once; 0: nothing now. */
static size_t share(const struct ab_relay *r, size_t len)
{
	if (!r->out.shared)
		return len;
	if (!wait_for(r->out.source.fd, POLLOUT, 0))
		return 0;
	return len < SMALL ? len : SMALL;
}

/* False: there is more of it. */
static bool show_own(struct ab_relay *r)
{
	while (has_own(r)) {
		size_t len = share(r, r->own.len - r->own_sent);
		ssize_t n = -1;

		if (is_open(&r->out)) {
			if (len == 0)
				return false;
			n = write(r->out.source.fd, r->own.data + r->own_sent, len);
			if (again(n))
				return false;
		}
		if (n <= 0)
			drop(r, &r->out);
		r->own_sent = n > 0 ? r->own_sent + (size_t)n : r->own.len;
		if (has_own(r))
			continue;
		r->own.len = r->own_sent = 0;
		r->sent(r->arg);
	}
	return true;
}

static void show(struct ab_relay *r)
{
	struct ab_relay_flow *up = &r->up;

	if (!show_own(r) || (r->held && is_open(&r->out)))
		return;
	while (has_bytes(up) && is_open(&r->out)) {
		const char *from = up->data + up->start;
		size_t len = share(r, up->end - up->start);
		ssize_t n;
		bool later;

		if (len == 0)
			return;
		r->writes(r->arg, from, len);
		n = write(r->out.source.fd, from, len);
		later = again(n);
		r->wrote(r->arg, from, n > 0 ? (size_t)n : 0);
		if (later)
			return;
		if (n > 0)
			up->start += (size_t)n;
		else
			drop(r, &r->out);
	}
	up->start = up->end;
}

static size_t take_output(struct ab_relay *r)
{
	size_t total = 0;

	while (is_open(&r->box) && has_room(&r->up)) {
		ssize_t n = fill(&r->up, r->box.source.fd);

		if (again(n))
			break;
		if (n > 0)
			total += (size_t)n;
		else /* EIO: nothing inside has it open any more */
			drop(r, &r->box);
	}
	return total;
}

static void pass_input(struct ab_relay *r)
{
	struct ab_relay_flow *down = &r->down;

	while (has_bytes(down) && is_open(&r->box)) {
		ssize_t n =
			write(r->box.source.fd, down->data + down->start, down->end - down->start);

		if (again(n))
			return;
		if (n <= 0)
			break;
		down->start += (size_t)n;
	}
	down->start = down->end;
}

static void box_ready(struct ab_source *source, uint32_t events)
{
	struct ab_relay *r = source->owner;

	if (events & EPOLLOUT)
		pass_input(r);
	if (events & ~(uint32_t)EPOLLOUT) {
		take_output(r);
		show(r);
		if ((events & EPOLLHUP) && is_open(&r->box) && !has_room(&r->up))
			unwatch(r, &r->box);
	}
	ab_relay_arm(r);
}

static void out_ready(struct ab_source *source, uint32_t events)
{
	struct ab_relay *r = source->owner;

	if (events & (EPOLLHUP | EPOLLERR))
		drop(r, &r->out);
	show(r);
	if (r->held && !is_open(&r->out))
		r->heard(r->arg, NULL, 0);
	ab_relay_arm(r);
}

static void listen_to(struct ab_relay *r, uint32_t events)
{
	char keys[256];
	ssize_t n = read(r->in.source.fd, keys, sizeof(keys));

	if (n > 0) {
		r->heard(r->arg, keys, (size_t)n);
		return;
	}
	if (again(n) || (n == 0 && !(events & (EPOLLHUP | EPOLLERR))))
		return;
	/* In the background it is still there, for others. */
	if (n == 0 || errno != EIO || ab_tty_foreground(r->in.source.fd))
		drop(r, &r->in);
	r->heard(r->arg, NULL, 0);
}

static void in_ready(struct ab_source *source, uint32_t events)
{
	struct ab_relay *r = source->owner;
	ssize_t n = 0;

	if (r->held) {
		listen_to(r, events);
		ab_relay_arm(r);
		return;
	}
	if ((events & EPOLLIN) && r->reading && has_room(&r->down))
		n = fill(&r->down, source->fd);
	/* Somebody has put us into the background; SIGCONT will tell. */
	if (n < 0 && errno == EIO && !ab_tty_foreground(source->fd))
		r->reading = false;
	else if (n <= 0 && !again(n) && (n < 0 || (events & (EPOLLHUP | EPOLLERR))))
		drop(r, &r->in);
	pass_input(r);
	ab_relay_arm(r);
}

void ab_relay_init(struct ab_relay *r, int in, int out)
{
	r->in.source = (struct ab_source){ .fd = in, .ready = in_ready, .owner = r };
	r->out.source = (struct ab_source){ .fd = out, .ready = out_ready, .owner = r };
	r->box.source = (struct ab_source){ .fd = -1, .ready = box_ready, .owner = r };
}

int ab_relay_start(struct ab_relay *r, int box, struct ab_loop *loop, struct ab_error *err)
{
	struct ab_relay_end *sides[] = { &r->in, &r->out, &r->box };
	int flags = box >= 0 ? fcntl(box, F_GETFL) : 0;

	r->box.source.fd = box;
	if (flags < 0 || (box >= 0 && fcntl(box, F_SETFL, flags | O_NONBLOCK) < 0))
		return ab_fail(err, AB_ESYSTEM, errno, "prepare the box's terminal");
	r->loop = loop;
	for (size_t i = 0; i < 3; i++)
		if (is_open(sides[i]) && ab_loop_add(loop, &sides[i]->source, 0, err) < 0)
			return ab_wrap(err, "terminal");
	ab_relay_arm(r);
	return 0;
}

void ab_relay_flush(struct ab_relay *r, bool ended)
{
	size_t total = 0;

	while (total < REST) {
		size_t n = take_output(r);

		total += n;
		show(r);
		if (has_own(r) || has_bytes(&r->up)) {
			if (!wait_for(r->out.source.fd, POLLOUT, SCREEN_MS))
				return;
		} else if (!is_open(&r->box)) {
			return;
		} else if (n == 0) {
			if (!ended || !wait_for(r->box.source.fd, POLLIN, END_MS))
				return;
		}
	}
}

void ab_relay_write(int fd, const char *data, size_t len)
{
	while (len > 0 && wait_for(fd, POLLOUT, SCREEN_MS)) {
		ssize_t n = write(fd, data, len < SMALL ? len : SMALL);

		if (n <= 0 && !again(n))
			return;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
}

void ab_relay_fini(struct ab_relay *r)
{
	drop(r, &r->in);
	drop(r, &r->out);
	drop(r, &r->box);
	ab_buf_fini(&r->own);
}
