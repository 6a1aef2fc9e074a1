#include "proxy/io/socket_side.h"

#include "proxy/io/allowance.h"
#include "proxy/io/tls.h"

enum {
	READ_ROOM = 16 * 1024, /* per read; the size of a TLS record */
	PIPE_ROOM = 1 << 20,   /* capacity of a pipe */
	COPY_ROOM = 64 * 1024, /* the same without a pipe */
	SHARE = 4 << 20,       /* bytes per turn, so that no flow starves others */
	PIPES_MAX = 256,
};

struct ab_pipes {
	int free[PIPES_MAX][2];
	size_t nfree, nmade;
	uint8_t copy[COPY_ROOM];
};

static ssize_t receive_bytes(struct ab_side *side, void *data, size_t len)
{
	ssize_t n;

	if (side->tls)
		return ab_tls_read(side->tls, data, len);
	if (side->ops)
		return side->ops->read(side->stream, data, len);
	n = recv(side->source.fd, data, len, 0);
	if (n < 0 && errno == EAGAIN)
		side->readable = false;
	return n;
}

/* How many of `len` bytes may be sent now. */
static size_t take_allowance(struct ab_side *side, size_t len)
{
	if (!side->allowance)
		return len;
	if (!side->taken)
		side->taken = ab_allowance_take(side->allowance, len);
	return side->taken < len ? (size_t)side->taken : len;
}

static void count_sent(struct ab_side *side, ssize_t n)
{
	uint64_t sent = n > 0 ? (uint64_t)n : 0;

	side->sent += sent;
	if (!side->allowance)
		return;
	ab_allowance_sent(side->allowance, sent);
	side->taken -= sent;
	/* TLS may have sent a part of a record, and must try again with at
	 * least as many bytes. */
	if (side->tls)
		return;
	ab_allowance_return(side->allowance, side->taken);
	side->taken = 0;
}

static ssize_t transmit_bytes(struct ab_side *side, const void *data, size_t len)
{
	ssize_t n;

	len = take_allowance(side, len);
	if (!len)
		return ab_errno(EAGAIN);
	n = side->tls	? ab_tls_write(side->tls, data, len)
	    : side->ops ? side->ops->write(side->stream, data, len)
			: send(side->source.fd, data, len, MSG_NOSIGNAL);
	if (n < 0 && errno == EAGAIN && !side->tls)
		side->writable = false;
	count_sent(side, n);
	return n;
}

/* DONE: *ret_want bytes may be read. */
static enum ab_io measure_read(const struct ab_side *side, size_t max, size_t *ret_want)
{
	bool ready = side->readable || (side->tls && ab_tls_pending(side->tls));

	if (side->eof)
		return AB_IO_EOF;
	*ret_want = ready && max > side->in.len ? max - side->in.len : 0;
	return *ret_want ? AB_IO_DONE : AB_IO_WAIT;
}

/* What a read returned, with errno. */
static enum ab_io judge_read(struct ab_side *side, ssize_t n)
{
	if (n > 0)
		return AB_IO_DONE;
	if (n == 0) {
		side->eof = true;
		return AB_IO_EOF;
	}
	return errno == EAGAIN ? AB_IO_WAIT : AB_IO_FAILED;
}

/* Through the stack: few bytes do not keep much memory. */
enum ab_io ab_side_read(struct ab_side *side, size_t max)
{
	uint8_t chunk[READ_ROOM];
	size_t want;
	enum ab_io io = measure_read(side, max, &want);
	ssize_t n;

	if (io != AB_IO_DONE)
		return io;
	n = receive_bytes(side, chunk, want < sizeof(chunk) ? want : sizeof(chunk));
	if (n > 0)
		ab_buf_add(&side->in, chunk, (size_t)n);
	return judge_read(side, n);
}

enum ab_io ab_side_read_body(struct ab_side *side, size_t max)
{
	size_t want;
	enum ab_io io = measure_read(side, max, &want);
	ssize_t n;

	if (io != AB_IO_DONE)
		return io;
	n = receive_bytes(side, ab_buf_room(&side->in, want), want);
	io = judge_read(side, n);
	ab_buf_add_used(&side->in, n > 0 ? (size_t)n : 0);
	return io;
}

enum ab_io ab_side_write(struct ab_side *side, struct ab_buf *b, uint64_t len,
			 uint64_t *ret_written)
{
	*ret_written = 0;
	if (len > b->len)
		len = b->len;
	while (*ret_written < len) {
		ssize_t n;

		if (!side->writable)
			return AB_IO_WAIT;
		n = transmit_bytes(side, ab_buf_bytes(b), (size_t)(len - *ret_written));
		if (n < 0 && errno == EAGAIN)
			return AB_IO_WAIT;
		if (n < 0)
			return AB_IO_FAILED;
		*ret_written += (uint64_t)n;
		ab_buf_skip(b, (size_t)n);
	}
	return AB_IO_DONE;
}

enum ab_io ab_side_flush(struct ab_side *side)
{
	uint64_t written;

	if (!side->out.len)
		return AB_IO_DONE;
	return ab_side_write(side, &side->out, UINT64_MAX, &written);
}

void ab_side_shut(struct ab_side *side)
{
	if (!side->shut && side->tls)
		ab_tls_shut(side->tls);
	if (!side->shut && side->ops)
		side->ops->shut(side->stream);
	if (!side->shut && side->source.fd >= 0)
		shutdown(side->source.fd, SHUT_WR);
	side->shut = true;
}

void ab_side_close(struct ab_side *side, bool reset)
{
	struct linger now = { .l_onoff = 1 };

	if (!ab_side_is_open(side))
		return;
	if (side->ops)
		side->ops->close(ab_take(side->stream), reset);
	side->ops = NULL;
	if (side->tls && !reset && !side->shut)
		ab_tls_shut(side->tls);
	ab_tls_free(ab_take(side->tls));
	if (reset && side->source.fd >= 0)
		setsockopt(side->source.fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	if (side->source.fd >= 0)
		ab_source_close(&side->source);
	ab_buf_fini_all(&side->in, &side->out);
	side->readable = side->writable = false;
	side->allowance = NULL;
	side->taken = 0;
}

struct ab_pipes *ab_pipes_new(void)
{
	return ab_alloc(sizeof(struct ab_pipes));
}

void ab_pipes_free(struct ab_pipes *pipes)
{
	if (!pipes)
		return;
	for (size_t i = 0; i < pipes->nfree; i++)
		ab_close_all(&pipes->free[i][0], &pipes->free[i][1]);
	free(pipes);
}

static bool hold_pipe(struct ab_flow *flow, struct ab_pipes *pipes)
{
	if (flow->pipe[0] >= 0)
		return true;
	if (pipes->nfree) {
		memcpy(flow->pipe, pipes->free[--pipes->nfree], sizeof(flow->pipe));
		return true;
	}
	/* Slow peers must not use up all descriptors: beyond the limit, copy. */
	if (pipes->nmade == PIPES_MAX || pipe2(flow->pipe, O_NONBLOCK | O_CLOEXEC) < 0) {
		flow->pipe[0] = flow->pipe[1] = -1;
		return false;
	}
	/* May fail: users have a limit on pipe pages. A small pipe works too. */
	(void)fcntl(flow->pipe[0], F_SETPIPE_SZ, PIPE_ROOM);
	pipes->nmade++;
	return true;
}

void ab_flow_fini(struct ab_flow *flow, struct ab_pipes *pipes)
{
	if (flow->pipe[0] < 0)
		return;
	if (flow->held) { /* the connection failed: not empty */
		ab_close_all(&flow->pipe[0], &flow->pipe[1]);
		pipes->nmade--;
	} else {
		memcpy(pipes->free[pipes->nfree++], flow->pipe, sizeof(flow->pipe));
	}
	flow->pipe[0] = flow->pipe[1] = -1;
	flow->held = 0;
}

static void count_moved(struct ab_flow *flow, uint64_t *left, uint64_t n)
{
	flow->moved += n;
	if (*left != AB_FLOW_ALL)
		*left -= n;
}

static enum ab_io fill_pipe(struct ab_flow *flow, struct ab_side *from, uint64_t want)
{
	ssize_t n = splice(from->source.fd, NULL, flow->pipe[1], NULL,
			   want < PIPE_ROOM ? (size_t)want : PIPE_ROOM,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

	if (n > 0)
		flow->held += (uint32_t)n;
	else if (n == 0)
		from->eof = true;
	else if (errno != EAGAIN)
		return AB_IO_FAILED;
	else if (!flow->held)
		/* If the pipe is not empty, it may be full instead: each
		 * packet, however small, takes a slot. */
		from->readable = false;
	return AB_IO_DONE;
}

static enum ab_io drain_pipe(struct ab_flow *flow, struct ab_side *to, uint64_t *left)
{
	size_t len;
	ssize_t n;

	if (!to->writable)
		return AB_IO_WAIT;
	len = take_allowance(to, flow->held);
	if (!len)
		return AB_IO_WAIT;
	n = splice(flow->pipe[0], NULL, to->source.fd, NULL, len,
		   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	count_sent(to, n);
	if (n > 0) {
		flow->held -= (uint32_t)n;
		count_moved(flow, left, (uint64_t)n);
		return AB_IO_DONE;
	}
	if (n < 0 && errno == EAGAIN) {
		to->writable = false;
		return AB_IO_WAIT;
	}
	return AB_IO_FAILED;
}

/*
 * Without a pipe, or with TLS: read and write once through memory. Bytes that
 * could not be written go to to->out and count as moved. A TLS read may wait for
 * room to write while `readable` is still set, so do not retry on EAGAIN.
 */
static enum ab_io copy_bytes(struct ab_flow *flow, struct ab_pipes *pipes, struct ab_side *from,
			     struct ab_side *to, uint64_t *left)
{
	size_t want = *left < COPY_ROOM ? (size_t)*left : COPY_ROOM;
	ssize_t n = receive_bytes(from, pipes->copy, want), sent = 0;

	if (n < 0)
		return errno == EAGAIN ? AB_IO_WAIT : AB_IO_FAILED;
	if (n == 0) {
		from->eof = true;
		return AB_IO_DONE;
	}
	count_moved(flow, left, (uint64_t)n);
	if (to->writable)
		sent = transmit_bytes(to, pipes->copy, (size_t)n);
	if (sent < 0 && errno != EAGAIN)
		return AB_IO_FAILED;
	if (sent < 0)
		sent = 0;
	if (sent == n)
		return AB_IO_DONE;
	ab_buf_add(&to->out, pipes->copy + sent, (size_t)(n - sent));
	return ab_side_flush(to);
}

enum ab_io ab_flow_move(struct ab_flow *flow, struct ab_pipes *pipes, struct ab_side *from,
			struct ab_side *to, uint64_t *left)
{
	uint64_t begun = flow->moved, written;
	enum ab_io io = ab_side_flush(to);

	if (io == AB_IO_DONE && from->in.len) {
		io = ab_side_write(to, &from->in, *left, &written);
		count_moved(flow, left, written);
	}
	while (io == AB_IO_DONE) {
		uint64_t want = *left == AB_FLOW_ALL ? PIPE_ROOM : *left - flow->held;

		if (*left == 0) {
			ab_flow_fini(flow, pipes);
			return AB_IO_DONE;
		}
		if (flow->moved - begun >= SHARE)
			return AB_IO_YIELD;
		if (want && from->readable && !from->eof && flow->held < PIPE_ROOM / 2) {
			if (from->tls || to->tls || from->ops || to->ops ||
			    !hold_pipe(flow, pipes)) {
				io = copy_bytes(flow, pipes, from, to, left);
				continue;
			}
			io = fill_pipe(flow, from, want);
			if (io != AB_IO_DONE)
				break;
		}
		if (flow->held) {
			io = drain_pipe(flow, to, left);
			continue;
		}
		if (!from->eof && from->readable)
			continue;
		ab_flow_fini(flow, pipes);
		return from->eof ? AB_IO_EOF : AB_IO_WAIT;
	}
	return io;
}
