/*
 * Bytes between two sockets: what arrives is what was sent, whatever the
 * sizes, the order of readiness and the limit; nothing is held when idle.
 */
#include "proxy/io/socket_side.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "tap.h"

static struct ab_pipes *pipes;

struct link {
	struct ab_side side; /* ours */
	int peer;
};

static void open_link(struct link *l)
{
	int pair[2], small = 8192;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	l->side =
		(struct ab_side){ .source = { .fd = pair[0] }, .readable = true, .writable = true };
	l->peer = pair[1];
}

static void close_link(struct link *l)
{
	ab_side_close(&l->side, false);
	if (l->peer >= 0)
		close(l->peer);
}

/* What an edge-triggered loop would say. */
static void wake(struct link *a, struct link *b)
{
	a->side.readable = a->side.writable = true;
	b->side.readable = b->side.writable = true;
}

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 31 + (i >> 8));
}

/* Sends `len` bytes through a flow in writes of `step`; counts wrong ones. */
static void carry(size_t len, size_t step, bool no_pipes, const char *name)
{
	struct link from, to;
	struct ab_flow flow = AB_FLOW_INIT;
	struct rlimit limit, none = { 0 };
	uint8_t *data = ab_alloc(len), got[65536];
	size_t sent = 0, seen = 0, wrong = 0, rounds = 0;
	enum ab_io io = AB_IO_WAIT;

	open_link(&from);
	open_link(&to);
	getrlimit(RLIMIT_NOFILE, &limit);
	none.rlim_max = limit.rlim_max;
	if (no_pipes)
		setrlimit(RLIMIT_NOFILE, &none);
	for (size_t i = 0; i < len; i++)
		data[i] = byte_at(i);
	while (io != AB_IO_EOF && io != AB_IO_FAILED && rounds++ < 1000000) {
		uint64_t all = AB_FLOW_ALL;
		ssize_t n = 0;

		if (sent < len) {
			n = write(from.peer, data + sent, step < len - sent ? step : len - sent);
			if (n > 0)
				sent += (size_t)n;
		} else {
			shutdown(from.peer, SHUT_WR);
		}
		wake(&from, &to);
		io = ab_flow_move(&flow, pipes, &from.side, &to.side, &all);
		while ((n = read(to.peer, got, sizeof(got))) > 0)
			for (ssize_t i = 0; i < n; i++)
				wrong += got[i] != byte_at(seen++);
	}
	setrlimit(RLIMIT_NOFILE, &limit);
	ok(io == AB_IO_EOF && seen == len && wrong == 0 && flow.moved == len, "%s", name);
	ok(flow.pipe[0] == -1 && !from.side.in.data && !to.side.out.data,
	   "%s: nothing is held at the end", name);
	ab_flow_fini(&flow, pipes);
	close_link(&from);
	close_link(&to);
	free(data);
}

static void test_body(void)
{
	struct link from;

	open_link(&from);
	ok(ab_side_read_body(&from.side, 100) == AB_IO_WAIT && !from.side.in.data &&
		   !from.side.readable,
	   "no bytes of a body: nothing is held");
	from.side.readable = true;
	ok(write(from.peer, "abcdefgh", 8) == 8 && ab_side_read_body(&from.side, 5) == AB_IO_DONE &&
		   from.side.in.len == 5 && ab_side_read_body(&from.side, 5) == AB_IO_WAIT,
	   "no more than the limit");
	ok(ab_side_read_body(&from.side, 100) == AB_IO_DONE, "the rest");
	is_str(from.side.in.data, "abcdefgh", "behind what was there");
	close(from.peer);
	from.peer = -1;
	ok(ab_side_read_body(&from.side, 100) == AB_IO_EOF && from.side.eof &&
		   ab_side_read_body(&from.side, 100) == AB_IO_EOF && from.side.in.len == 8,
	   "the end");
	close_link(&from);
}

static void test_limit(void)
{
	struct link from, to;
	struct ab_flow flow = AB_FLOW_INIT;
	uint64_t left = 10;
	char got[64];

	open_link(&from);
	open_link(&to);
	ok(write(from.peer, "abcdefghijklmnop", 16) == 16, "16 bytes come");
	ok(ab_side_read(&from.side, 4) == AB_IO_DONE && from.side.in.len == 4,
	   "4 of them are looked at");
	ok(ab_side_read(&from.side, 4) == AB_IO_WAIT, "and no more than 4");
	ok(ab_flow_move(&flow, pipes, &from.side, &to.side, &left) == AB_IO_DONE && left == 0,
	   "10 may pass");
	ok(read(to.peer, got, sizeof(got)) == 10 && memcmp(got, "abcdefghij", 10) == 0,
	   "those that were looked at come first, the rest stays");
	ab_buf_add(&to.side.out, "X", 1);
	left = 2;
	ok(ab_flow_move(&flow, pipes, &from.side, &to.side, &left) == AB_IO_DONE &&
		   read(to.peer, got, sizeof(got)) == 3 && memcmp(got, "Xkl", 3) == 0,
	   "what is to be said goes before what passes");
	left = 100;
	ok(ab_flow_move(&flow, pipes, &from.side, &to.side, &left) == AB_IO_WAIT && left == 96 &&
		   flow.pipe[0] == -1,
	   "a flow that waits for bytes holds no pipe");
	close(from.peer);
	from.peer = -1;
	wake(&from, &to);
	ok(ab_flow_move(&flow, pipes, &from.side, &to.side, &left) == AB_IO_EOF,
	   "the end before the limit is an end");
	ab_flow_fini(&flow, pipes);
	close_link(&from);
	close_link(&to);
}

static void test_broken(void)
{
	struct link from, to;
	struct ab_flow flow = AB_FLOW_INIT;
	uint64_t all = AB_FLOW_ALL;

	open_link(&from);
	open_link(&to);
	close(to.peer);
	to.peer = -1;
	ok(write(from.peer, "abc", 3) == 3 &&
		   ab_flow_move(&flow, pipes, &from.side, &to.side, &all) == AB_IO_FAILED,
	   "a receiver that is gone breaks the flow");
	ab_flow_fini(&flow, pipes);
	ok(flow.pipe[0] == -1, "its pipe, which is not empty, is not reused");
	close_link(&from);
	close_link(&to);
}

/* A sender that never ends and a receiver that is never full. */
static void test_share(void)
{
	struct ab_side from = { .source = { .fd = open("/dev/zero", O_RDONLY | O_CLOEXEC) },
				.readable = true };
	struct ab_side to = { .source = { .fd = open("/dev/null", O_WRONLY | O_CLOEXEC) },
			      .writable = true };
	struct ab_flow flow = AB_FLOW_INIT;
	uint64_t all = AB_FLOW_ALL;

	ok(ab_flow_move(&flow, pipes, &from, &to, &all) == AB_IO_YIELD && flow.moved >= 1 << 20 &&
		   flow.moved < 64 << 20,
	   "an endless sender has to let others go on after its share");
	ab_flow_fini(&flow, pipes);
	ab_side_close(&from, false);
	ab_side_close(&to, false);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	pipes = ab_pipes_new();
	carry(3, 3, false, "a few bytes");
	carry(3000000, 65536, false, "megabytes");
	carry(20000, 1, false, "a byte at a time");
	carry(1, 1, false, "one byte");
	ab_pipes_free(pipes);
	pipes = ab_pipes_new();
	carry(1000000, 4096, true, "without a descriptor for a pipe");
	test_body();
	test_limit();
	test_broken();
	test_share();
	ab_pipes_free(pipes);
	return done();
}
