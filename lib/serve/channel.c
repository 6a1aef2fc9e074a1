/*
 * Theory of operation.
 *
 * Passed descriptors come with some byte of a request's line and are queued in order; the request
 * says how many are its own. A request is read whole before the next one, and not at all while the
 * program leaves too many of our replies and events unread.
 *
 * Should: report the end once, whatever it was: end of file, an error, a line that is too long.
 *
 * Mustn't: wait for the program.
 */
#include "serve/channel.h"

#include <sys/epoll.h>

#include "serve/request.h"

enum { BUSY = 1 << 20, FULL = 16 << 20, LAST_MS = 2000 };

enum ab_channel_load ab_channel_load(const struct ab_channel *c)
{
	return c->queued.len >= FULL   ? AB_CHANNEL_FULL
	       : c->queued.len >= BUSY ? AB_CHANNEL_BUSY
				       : AB_CHANNEL_LIGHT;
}

static void end_channel(struct ab_channel *c)
{
	if (c->ended)
		return;
	c->ended = true;
	ab_loop_remove(c->watch.loop, &c->in);
	c->watch.ended(c->watch.arg);
}

static void keep_fds(struct ab_channel *c, struct ab_fds *fds)
{
	for (size_t i = 0; i < fds->len; i++)
		if (c->nfds < AB_COUNT(c->fds))
			c->fds[c->nfds++] = ab_take_fd(&fds->v[i]);
}

static ssize_t read_block(struct ab_channel *c, char *block, size_t room)
{
	ab_autofds struct ab_fds fds = { .len = c->socket ? AB_FDS_MAX : 0 };
	ssize_t n;

	if (!c->socket)
		return read(c->in.fd, block, room);
	n = ab_recv_fds(c->in.fd, block, room, fds.v, &fds.len, MSG_DONTWAIT);
	if (n < 0)
		fds.len = 0;
	keep_fds(c, &fds);
	return n;
}

static void take_lines(struct ab_channel *c)
{
	char *end;

	while (!c->ended && c->got.len > c->searched &&
	       (end = memchr(c->got.data + c->searched, '\n', c->got.len - c->searched)) != NULL) {
		size_t len = (size_t)(end - c->got.data);

		if (len > AB_SERVE_LINE_MAX)
			break;
		c->watch.line(c->watch.arg, c->got.data, len);
		ab_buf_skip(&c->got, len + 1);
		c->searched = 0;
	}
	c->searched = c->got.len;
	if (c->got.len > AB_SERVE_LINE_MAX)
		end_channel(c);
}

static void pause_reading(struct ab_channel *c)
{
	bool unread = ab_channel_load(c) == AB_CHANNEL_FULL;

	if (c->ended || unread == c->unread)
		return;
	c->unread = unread;
	ab_loop_set(c->watch.loop, &c->in, unread ? 0 : EPOLLIN);
}

static void read_ready(struct ab_source *source, uint32_t events)
{
	struct ab_channel *c = source->owner;
	char block[65536];
	ssize_t n;

	if (c->unread) {
		if (events & (EPOLLHUP | EPOLLERR))
			end_channel(c);
		return;
	}
	n = read_block(c, block, sizeof(block));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		end_channel(c);
		return;
	}
	ab_buf_add(&c->got, block, (size_t)n);
	take_lines(c);
	pause_reading(c);
}

static void write_queued(struct ab_channel *c)
{
	while (c->queued.len) {
		ssize_t n = write(c->out.fd, c->queued.data, c->queued.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			ab_buf_fini(&c->queued);
			end_channel(c);
			return;
		}
		ab_buf_skip(&c->queued, (size_t)n);
	}
}

static void settle_load(struct ab_channel *c)
{
	bool light = ab_channel_load(c) == AB_CHANNEL_LIGHT;

	ab_loop_set(c->watch.loop, &c->out, c->queued.len ? EPOLLOUT : 0);
	pause_reading(c);
	if (c->busy && light) {
		c->busy = false;
		c->watch.light(c->watch.arg);
	}
	c->busy = !light;
}

static void write_ready(struct ab_source *source, uint32_t events)
{
	struct ab_channel *c = source->owner;

	if (events & (EPOLLERR | EPOLLHUP)) {
		ab_loop_remove(c->watch.loop, &c->out);
		ab_buf_fini(&c->queued);
		end_channel(c);
		return;
	}
	write_queued(c);
	settle_load(c);
}

void ab_channel_send(struct ab_channel *c, const char *line, size_t len)
{
	bool idle = c->queued.len == 0;

	if (!c->out.active && !c->file)
		return;
	ab_buf_add(&c->queued, line, len);
	ab_buf_add(&c->queued, "\n", 1);
	if (idle)
		write_queued(c);
	settle_load(c);
}

bool ab_channel_take_fds(struct ab_channel *c, size_t n, struct ab_fds *ret)
{
	if (n > c->nfds)
		return false;
	memcpy(ret->v, c->fds, n * sizeof(int));
	ret->len = n;
	c->nfds -= n;
	memmove(c->fds, c->fds + n, c->nfds * sizeof(int));
	return true;
}

/* Of a file there is nothing to watch. */
static void read_file(struct ab_later *later)
{
	struct ab_channel *c = later->owner;

	read_ready(&c->in, EPOLLIN);
	if (!c->ended)
		ab_loop_later(c->watch.loop, &c->next);
}

static int watch_in(struct ab_channel *c, struct ab_error *err)
{
	if (ab_loop_add(c->watch.loop, &c->in, EPOLLIN, err) == 0)
		return 0;
	if (err->errnum != EPERM)
		return -1;
	c->next = (struct ab_later){ .run = read_file, .owner = c };
	ab_loop_later(c->watch.loop, &c->next);
	return 0;
}

static int watch_out(struct ab_channel *c, struct ab_error *err)
{
	if (ab_loop_add(c->watch.loop, &c->out, 0, err) == 0)
		return 0;
	c->file = err->errnum == EPERM;
	return c->file ? 0 : -1;
}

/* Not waiting is a property of the open file, which pipes and sockets share with nobody at this
 * end. */
static int make_ready(int fd, struct ab_error *err)
{
	if (ab_set_nonblocking(fd) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "prepare the channel");
	return 0;
}

int ab_channel_open(struct ab_channel *c, int in, int out, const struct ab_channel_watch *watch,
		    struct ab_error *err)
{
	ab_autoclose int second = in == out ? fcntl(in, F_DUPFD_CLOEXEC, 3) : out;

	*c = (struct ab_channel){ .watch = *watch,
				  .socket = in == out && ab_is_unix_socket(in, SOCK_STREAM) };
	c->in = (struct ab_source){ .fd = in, .ready = read_ready, .owner = c };
	c->out = (struct ab_source){ .fd = -1, .ready = write_ready, .owner = c };
	if (second < 0 || make_ready(in, err) < 0 || make_ready(second, err) < 0)
		return second < 0 ? ab_fail(err, AB_ESYSTEM, errno, "prepare the channel") : -1;
	c->out.fd = ab_take_fd(&second);
	return watch_in(c, err) < 0 ? -1 : watch_out(c, err);
}

void ab_channel_fini(struct ab_channel *c)
{
	int64_t end = ab_now_ms() + LAST_MS, left;

	while (c->queued.len && (left = end - ab_now_ms()) > 0) {
		struct pollfd p = { .fd = c->out.fd, .events = POLLOUT };

		if (poll(&p, 1, (int)left) <= 0 || p.revents & (POLLERR | POLLHUP))
			break;
		write_queued(c);
	}
	ab_buf_fini_all(&c->got, &c->queued);
	for (size_t i = 0; i < c->nfds; i++)
		close(c->fds[i]);
	ab_close_all(&c->in.fd, &c->out.fd);
}
