/*
 * Theory of operation.
 *
 * One source for the master, two for each client (its messages and its bytes). Output is read when
 * there is some, whatever the clients do: a client whose stream is full misses bytes. Keys are
 * written to the master as far as it takes them; while it takes none, no client is read.
 *
 * Mustn't: block; wait for a client; fill the disk.
 */
#include "session/stay/output.h"

#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "base/system/loop.h"
#include "session/stay/stay_wire.h"

enum {
	LAST_ROOM = 16 * 1024, /* of the output, for a client that attaches */
	CHUNK = 8192,
	KEYS = 256,
	REST = 64 * CHUNK, /* to read after the end */
};

struct client {
	struct ab_output *output;
	struct ab_source sock, bytes; /* fd -1: no client */
};

struct ab_output {
	struct ab_output_setup setup;
	struct ab_source master; /* fd -1: none yet, or gone */
	int file;		 /* -1: none, or it failed */
	uint64_t len;
	bool full; /* the master takes no keys */
	bool failed, ended;
	struct client clients[AB_OUTPUT_CLIENTS];
	char last[LAST_ROOM]; /* a ring: the last `seen` bytes before `at` */
	size_t at, seen;
	struct ab_later later;
};

static void fail_file(struct ab_output *o, int errnum)
{
	struct ab_error err = { 0 };

	ab_closep(&o->file);
	if (o->failed)
		return;
	o->failed = true;
	ab_fail(&err, AB_ESYSTEM, errnum,
		"the output of the command is not kept any more: cannot write " AB_OUTPUT_NAME);
	o->setup.failed(o->setup.arg, &err);
}

static void open_file(struct ab_output *o)
{
	if (o->failed)
		return;
	o->len = 0;
	o->file = openat(o->setup.dir, AB_OUTPUT_NAME,
			 O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (o->file < 0)
		fail_file(o, errno);
}

/* The file before becomes output.1. */
static void change_file(struct ab_output *o)
{
	if (o->len < o->setup.most / 2)
		return;
	close(ab_take_fd(&o->file));
	if (renameat(o->setup.dir, AB_OUTPUT_NAME, o->setup.dir, AB_OUTPUT_NAME ".1") < 0)
		fail_file(o, errno);
	else
		open_file(o);
}

static void keep_output(struct ab_output *o, const char *data, size_t len)
{
	if (o->file >= 0) {
		if (ab_write_all(o->file, data, len) < 0)
			fail_file(o, errno);
		o->len += len;
		change_file(o);
	}
	for (size_t i = 0; i < len; i++) {
		o->last[o->at] = data[i];
		o->at = (o->at + 1) % LAST_ROOM;
	}
	o->seen = o->seen + len > LAST_ROOM ? LAST_ROOM : o->seen + len;
}

static void send_bytes(struct client *c, const char *data, size_t len)
{
	if (c->bytes.fd >= 0)
		(void)!send(c->bytes.fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void drop_client(struct client *c)
{
	ab_loop_close(c->output->setup.loop, &c->sock);
	ab_loop_close(c->output->setup.loop, &c->bytes);
}

static void tell_client(struct client *c, enum ab_stay_type type, int value)
{
	struct ab_stay_msg msg = { .type = type, .value = value };

	if (c->sock.fd >= 0)
		(void)!send(c->sock.fd, &msg, AB_STAY_SHORT, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void watch_ends(struct ab_output *o)
{
	if (o->master.fd >= 0)
		ab_loop_set(o->setup.loop, &o->master, EPOLLIN | (o->full ? EPOLLOUT : 0));
	for (size_t i = 0; i < AB_OUTPUT_CLIENTS; i++)
		if (o->clients[i].bytes.fd >= 0)
			ab_loop_set(o->setup.loop, &o->clients[i].bytes, o->full ? 0 : EPOLLIN);
}

/* False: there is none now. */
static bool take_output(struct ab_output *o)
{
	char data[CHUNK];
	ssize_t n = read(o->master.fd, data, sizeof(data));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) { /* EIO: no process in the box has it open */
		ab_loop_close(o->setup.loop, &o->master);
		return false;
	}
	keep_output(o, data, (size_t)n);
	for (size_t i = 0; i < AB_OUTPUT_CLIENTS; i++)
		send_bytes(&o->clients[i], data, (size_t)n);
	return true;
}

static void master_ready(struct ab_source *source, uint32_t events)
{
	struct ab_output *o = source->owner;

	if (events & EPOLLOUT)
		o->full = false;
	if (events & ~(uint32_t)EPOLLOUT)
		take_output(o);
	watch_ends(o);
}

/* Keys that the command does not take are lost, as on a terminal whose buffer is full. */
static void pass_keys(struct ab_output *o, const char *keys, size_t len)
{
	ssize_t n;

	if (o->master.fd < 0 || len == 0)
		return;
	n = write(o->master.fd, keys, len);
	o->full = n < (ssize_t)len;
}

static void bytes_ready(struct ab_source *source, uint32_t events)
{
	struct client *c = source->owner;
	char keys[KEYS];
	const char *key;
	ssize_t n;

	if (c->output->full && !(events & (EPOLLHUP | EPOLLERR)))
		return;
	n = read(source->fd, keys, sizeof(keys));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop_client(c);
		return;
	}
	key = memchr(keys, AB_STAY_DETACH_KEY, (size_t)n);
	pass_keys(c->output, keys, key ? (size_t)(key - keys) : (size_t)n);
	if (key) {
		tell_client(c, AB_STAY_DETACHED, 0);
		drop_client(c);
	}
	watch_ends(c->output);
}

static void set_size(struct ab_output *o, int rows, int cols)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols };

	if (o->master.fd >= 0 && rows > 0 && cols > 0)
		ioctl(o->master.fd, TIOCSWINSZ, &size);
}

static void sock_ready(struct ab_source *source, uint32_t events)
{
	struct client *c = source->owner;
	struct ab_stay_msg msg;
	ssize_t n = recv(source->fd, &msg, AB_STAY_SHORT, MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != (ssize_t)AB_STAY_SHORT)
		drop_client(c);
	else if (msg.type == AB_STAY_SIZE)
		set_size(c->output, msg.value >> 16 & 0xffff, msg.value & 0xffff);
}

struct ab_output *ab_output_new(const struct ab_output_setup *setup)
{
	struct ab_output *o = ab_alloc(sizeof(*o));

	o->setup = *setup;
	o->master.fd = o->file = -1;
	for (size_t i = 0; i < AB_OUTPUT_CLIENTS; i++)
		o->clients[i] =
			(struct client){ .output = o, .sock = { .fd = -1 }, .bytes = { .fd = -1 } };
	open_file(o);
	return o;
}

int ab_output_begin(struct ab_output *o, int master, struct ab_error *err)
{
	o->master = (struct ab_source){ .fd = master, .ready = master_ready, .owner = o };
	set_size(o, o->setup.rows ? o->setup.rows : 24, o->setup.cols ? o->setup.cols : 80);
	if (ab_set_nonblocking(master) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "prepare the command's terminal");
	return ab_loop_add(o->setup.loop, &o->master, EPOLLIN, err);
}

static void send_last(struct client *c)
{
	const struct ab_output *o = c->output;
	size_t from = (o->at + LAST_ROOM - o->seen) % LAST_ROOM;
	size_t until_end = LAST_ROOM - from;

	if (o->seen <= until_end) {
		send_bytes(c, o->last + from, o->seen);
		return;
	}
	send_bytes(c, o->last + from, until_end);
	send_bytes(c, o->last, o->seen - until_end);
}

int ab_output_attach(struct ab_output *o, int sock, int bytes, struct ab_error *err)
{
	struct client *c = o->clients;

	while (c < o->clients + AB_OUTPUT_CLIENTS && c->sock.fd >= 0)
		c++;
	if (c == o->clients + AB_OUTPUT_CLIENTS) {
		close(sock);
		close(bytes);
		ab_fail(err, AB_ESYSTEM, 0, "%d clients are attached already", AB_OUTPUT_CLIENTS);
		return ab_hint(err, "detach one of them with Ctrl-]");
	}
	c->sock = (struct ab_source){ .fd = sock, .ready = sock_ready, .owner = c };
	c->bytes = (struct ab_source){ .fd = bytes, .ready = bytes_ready, .owner = c };
	if (ab_set_nonblocking(sock) < 0 || ab_set_nonblocking(bytes) < 0 ||
	    ab_loop_add(o->setup.loop, &c->sock, EPOLLIN, err) < 0 ||
	    ab_loop_add(o->setup.loop, &c->bytes, o->full ? 0 : EPOLLIN, err) < 0) {
		drop_client(c);
		return ab_fail(err, AB_ESYSTEM, errno, "attach");
	}
	send_last(c);
	return 0;
}

size_t ab_output_clients(const struct ab_output *o)
{
	size_t n = 0;

	for (size_t i = 0; i < AB_OUTPUT_CLIENTS; i++)
		n += o->clients[i].sock.fd >= 0;
	return n;
}

static void free_output(struct ab_later *later)
{
	free(later->owner);
}

void ab_output_end(struct ab_output *o, int status)
{
	for (size_t n = 0; n < REST && o->master.fd >= 0 && take_output(o); n += CHUNK)
		;
	for (size_t i = 0; i < AB_OUTPUT_CLIENTS; i++) {
		tell_client(&o->clients[i], AB_STAY_ENDED, status);
		drop_client(&o->clients[i]);
	}
	ab_loop_close(o->setup.loop, &o->master);
	ab_closep(&o->file);
	o->later = (struct ab_later){ .run = free_output, .owner = o };
	ab_loop_later(o->setup.loop, &o->later);
}
