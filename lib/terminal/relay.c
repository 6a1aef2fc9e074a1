/*
 * Theory of operation.
 *
 * There are three sides: `in`, the keys of the caller's terminal; `out`, its
 * screen; `box`, the master of the box's terminal. A side is watched for input
 * only while the flow from it has room, and for output only while the flow to
 * it has bytes; only ab_relay_arm decides that. epoll reports a hang-up in any
 * case, which closes that side: without `out` the output is discarded (the box
 * must not wait for a closed window), without `box` the input.
 *
 * While held, `in` and `out` belong to us: the box's output stays in the flow,
 * and the box waits when it is full.
 *
 * Should: move all available bytes at each call, at most one buffer.
 * Mustn't: block; read from the background.
 */
#include "terminal/relay.h"

#include <sys/epoll.h>

#include "terminal/tty.h"

enum {
	ROOM = AB_RELAY_ROOM,
	/* Where a write may block, no more than surely fits. */
	SMALL = 256,
	/* The least and the most to read at once for the filter. */
	READ_MIN = 256,
	READ_MAX = 8192,
	/* How long to wait for a screen that takes nothing: the line or the
	 * machine may be slow. */
	SCREEN_MS = 5000,
	/* How long to wait for the end of a dead box's output; only a
	 * descriptor that was passed to a program outside can delay it. */
	END_MS = 100,
	/* Several times what the buffers of a terminal hold. */
	REST = 4 * ROOM,
};

static bool is_open(const struct ab_relay_end *side)
{
	return side->source.fd >= 0;
}

static void close_side(struct ab_relay *r, struct ab_relay_end *side)
{
	if (r->loop)
		ab_loop_remove(r->loop, &side->source);
	ab_closep(&side->source.fd);
}

static bool has_room(const struct ab_relay_flow *flow)
{
	return flow->start > 0 || flow->end < ROOM;
}

/* For the box's output, which can become longer in the filter. */
static bool has_up_room(const struct ab_relay *r)
{
	size_t used = r->up.end - r->up.start;

	return r->raw ? used < ROOM : ROOM - used > AB_SCREEN_FILTER_ROOM(READ_MIN);
}

static bool has_bytes(const struct ab_relay_flow *flow)
{
	return flow->start < flow->end;
}

static bool has_own(const struct ab_relay *r)
{
	return r->own_sent < r->own.len;
}

static void watch_side(struct ab_relay *r, struct ab_relay_end *side, bool in, bool out)
{
	uint32_t events = (in ? EPOLLIN : 0u) | (out ? EPOLLOUT : 0u);
	struct ab_error err;

	if (events && is_open(side) && !side->source.active &&
	    ab_loop_add(r->loop, &side->source, events, &err) < 0)
		close_side(r, side);
	if (side->events == events)
		return;
	side->events = events;
	ab_loop_set(r->loop, &side->source, events);
}

/* Else epoll would report the same hang-up again and again. */
static void unwatch_side(struct ab_relay *r, struct ab_relay_end *side)
{
	ab_loop_remove(r->loop, &side->source);
	side->events = 0;
}

void ab_relay_arm(struct ab_relay *r)
{
	bool moves = !r->quiet, flows = moves && !r->held;

	if (!r->loop)
		return;
	watch_side(r, &r->in, moves && (r->held || (r->reading && has_room(&r->down))), false);
	watch_side(r, &r->out, false, moves && (has_own(r) || (flows && has_bytes(&r->up))));
	watch_side(r, &r->box, flows && has_up_room(r), moves && has_bytes(&r->down));
}

static void make_room(struct ab_relay_flow *flow, size_t wanted)
{
	if (!has_bytes(flow)) {
		flow->start = flow->end = 0;
	} else if (ROOM - flow->end < wanted) {
		memmove(flow->data, flow->data + flow->start, flow->end - flow->start);
		flow->end -= flow->start;
		flow->start = 0;
	}
}

/* Reads once. */
static ssize_t read_into(struct ab_relay_flow *flow, int fd)
{
	ssize_t n;

	make_room(flow, 1);
	n = read(fd, flow->data + flow->end, ROOM - flow->end);
	if (n > 0)
		flow->end += (size_t)n;
	return n;
}

static bool is_retry(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static bool wait_for(int fd, short events, int ms)
{
	return ab_poll(fd, events, ms) > 0;
}

/* The most to write at once; 0: nothing now. */
static size_t limit_write(const struct ab_relay *r, size_t len)
{
	if (!r->out.shared)
		return len;
	if (!wait_for(r->out.source.fd, POLLOUT, 0))
		return 0;
	return len < SMALL ? len : SMALL;
}

/* False: not all of it is written. */
static bool write_own(struct ab_relay *r)
{
	while (has_own(r)) {
		size_t len = limit_write(r, r->own.len - r->own_sent);
		ssize_t n = -1;

		if (is_open(&r->out)) {
			if (len == 0)
				return false;
			n = write(r->out.source.fd, r->own.data + r->own_sent, len);
			if (is_retry(n))
				return false;
		}
		if (n <= 0)
			close_side(r, &r->out);
		r->own_sent = n > 0 ? r->own_sent + (size_t)n : r->own.len;
		if (has_own(r))
			continue;
		r->own.len = r->own_sent = 0;
		r->sent(r->arg);
	}
	return true;
}

static void write_output(struct ab_relay *r)
{
	struct ab_relay_flow *up = &r->up;

	if (!write_own(r) || (r->held && is_open(&r->out)))
		return;
	while (has_bytes(up) && is_open(&r->out)) {
		const char *from = up->data + up->start;
		size_t len = limit_write(r, up->end - up->start);
		ssize_t n;
		bool later;

		if (len == 0)
			return;
		r->writes(r->arg, from, len);
		n = write(r->out.source.fd, from, len);
		later = is_retry(n);
		r->wrote(r->arg, from, n > 0 ? (size_t)n : 0);
		if (later)
			return;
		if (n > 0)
			up->start += (size_t)n;
		else
			close_side(r, &r->out);
	}
	up->start = up->end;
}

/* Reads once, through the filter. */
static ssize_t read_filtered(struct ab_relay *r)
{
	struct ab_relay_flow *up = &r->up;
	char data[READ_MAX];
	size_t most;
	ssize_t n;

	make_room(up, AB_SCREEN_FILTER_ROOM(READ_MAX));
	most = (ROOM - up->end - AB_SCREEN_FILTER_HELD) / 2;
	n = read(r->box.source.fd, data, most < READ_MAX ? most : READ_MAX);
	if (n > 0)
		up->end += ab_screen_filter_take(&r->filter, data, (size_t)n, up->data + up->end);
	return n;
}

static size_t read_output(struct ab_relay *r)
{
	size_t total = 0;

	while (is_open(&r->box) && has_up_room(r)) {
		ssize_t n = r->raw ? read_into(&r->up, r->box.source.fd) : read_filtered(r);

		if (is_retry(n))
			break;
		if (n > 0)
			total += (size_t)n;
		else /* EIO: no process in the box has it open */
			close_side(r, &r->box);
	}
	return total;
}

static void write_input(struct ab_relay *r)
{
	struct ab_relay_flow *down = &r->down;

	while (has_bytes(down) && is_open(&r->box)) {
		ssize_t n =
			write(r->box.source.fd, down->data + down->start, down->end - down->start);

		if (is_retry(n))
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
		write_input(r);
	if (events & ~(uint32_t)EPOLLOUT) {
		read_output(r);
		write_output(r);
		if ((events & EPOLLHUP) && is_open(&r->box) && !has_up_room(r))
			unwatch_side(r, &r->box);
	}
	ab_relay_arm(r);
}

static void out_ready(struct ab_source *source, uint32_t events)
{
	struct ab_relay *r = source->owner;

	if (events & (EPOLLHUP | EPOLLERR))
		close_side(r, &r->out);
	write_output(r);
	if (r->held && !is_open(&r->out))
		r->heard(r->arg, NULL, 0);
	ab_relay_arm(r);
}

static void read_keys(struct ab_relay *r, uint32_t events)
{
	char keys[256];
	ssize_t n = read(r->in.source.fd, keys, sizeof(keys));

	if (n > 0) {
		r->heard(r->arg, keys, (size_t)n);
		return;
	}
	if (is_retry(n) || (n == 0 && !(events & (EPOLLHUP | EPOLLERR))))
		return;
	/* EIO in the background: the terminal still exists. */
	if (n == 0 || errno != EIO || ab_tty_foreground(r->in.source.fd))
		close_side(r, &r->in);
	r->heard(r->arg, NULL, 0);
}

static void in_ready(struct ab_source *source, uint32_t events)
{
	struct ab_relay *r = source->owner;
	ssize_t n = 0;

	if (r->held) {
		read_keys(r, events);
		ab_relay_arm(r);
		return;
	}
	if ((events & EPOLLIN) && r->reading && has_room(&r->down))
		n = read_into(&r->down, source->fd);
	/* We are in the background now; SIGCONT will follow. */
	if (n < 0 && errno == EIO && !ab_tty_foreground(source->fd))
		r->reading = false;
	else if (n <= 0 && !is_retry(n) && (n < 0 || (events & (EPOLLHUP | EPOLLERR))))
		close_side(r, &r->in);
	write_input(r);
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

	r->box.source.fd = box;
	if (box >= 0 && ab_set_nonblocking(box) < 0)
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
		size_t n = read_output(r);

		total += n;
		write_output(r);
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

		if (n <= 0 && !is_retry(n))
			return;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
}

void ab_relay_fini(struct ab_relay *r)
{
	close_side(r, &r->in);
	close_side(r, &r->out);
	close_side(r, &r->box);
	ab_buf_fini(&r->own);
}
