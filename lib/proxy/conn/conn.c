#include "proxy/conn/conn.h"

#include <sys/epoll.h>

#include "audit/write/processes.h"
#include "base/data/list.h"
#include "policy/toolchains/host_groups.h"
#include "proxy/filter/synthetic.h"
#include "proxy/wire/http.h"
#include "proxy/wire/ssh_kex.h"

enum {
	EDGES = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
	DIAL_ROOM = 16 * 1024, /* bytes of a tunnel that are buffered during the dial */
};

static void count_buffered(struct ab_conn *conn, size_t now)
{
	conn->engine->buffered += now - conn->buffered;
	conn->buffered = now;
}

/* The oldest half-open connection that has sent something; NULL: none. */
static struct ab_conn *find_oldest_buffered(const struct ab_engine *engine)
{
	struct ab_conn *conn;

	TAILQ_FOREACH(conn, &engine->half_open, half_link)
	if (conn->buffered)
		return conn;
	return NULL;
}

/* The client's bytes are buffered while its request is incomplete, waits for an
 * answer, or is being dialled for. */
static void limit_buffered(struct ab_conn *conn)
{
	struct ab_engine *engine = conn->engine;
	bool unsent = conn->half_open || conn->waiter || conn->dial;

	count_buffered(conn, unsent ? conn->client.in.len : 0);
	while (engine->buffered > AB_BUFFERED_MAX) {
		struct ab_conn *oldest = find_oldest_buffered(engine);

		if (!oldest && !unsent)
			return;
		ab_conn_close(oldest ? oldest : conn, true);
		if (!oldest)
			return;
	}
}

static void take_step(struct ab_conn *conn)
{
	conn->step(conn);
	if (!conn->closed)
		limit_buffered(conn);
}

static void side_ready(struct ab_source *source, uint32_t events)
{
	struct ab_side *side = (struct ab_side *)source;

	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		side->readable = true;
	if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
		side->writable = true;
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		side->hung = true;
	take_step(source->owner);
}

static void deadline_passed(struct ab_timer *timer)
{
	struct ab_conn *conn = timer->owner;
	void (*late)(struct ab_conn *) = ab_take(conn->late);

	if (!late) {
		ab_conn_close(conn, true);
		return;
	}
	late(conn);
	if (!conn->closed)
		limit_buffered(conn);
}

static void free_conn(struct ab_conn *conn)
{
	struct ab_engine *engine = conn->engine;

	ab_list_remove(conn);
	engine->nconns--;
	engine->freed(engine, conn);
	if (conn->kex)
		ab_ssh_kex_fini(conn->kex);
	ab_free_all(conn->kex, conn->host, conn->entry, conn->address, conn->sni, conn->failure,
		    conn);
}

static void run_later(struct ab_later *later)
{
	struct ab_conn *conn = later->owner;

	if (conn->closed)
		free_conn(conn);
	else
		take_step(conn);
}

static int watch_side(struct ab_conn *conn, struct ab_side *side, int fd)
{
	struct ab_error err;

	side->source = (struct ab_source){ .fd = fd, .ready = side_ready, .owner = conn };
	return ab_loop_add(&conn->engine->loop, &side->source, EDGES, &err);
}

static struct ab_conn *new_conn(struct ab_engine *engine, enum ab_door door,
				void (*step)(struct ab_conn *conn))
{
	struct ab_conn *conn = ab_alloc(sizeof(*conn));

	*conn = (struct ab_conn){
		.engine = engine,
		.step = step,
		.door = (uint8_t)door,
		.client = { .source = { .fd = -1 } },
		.server = { .source = { .fd = -1 } },
		.up = AB_FLOW_INIT,
		.down = AB_FLOW_INIT,
		.begun = engine->loop.now,
	};
	conn->deadline = (struct ab_timer){ .fire = deadline_passed, .owner = conn };
	conn->later = (struct ab_later){ .run = run_later, .owner = conn };
	ab_list_push(&engine->conns, conn);
	engine->nconns++;
	return conn;
}

struct ab_conn *ab_conn_new(struct ab_engine *engine, enum ab_door door, int fd,
			    void (*step)(struct ab_conn *conn))
{
	struct ab_conn *conn = new_conn(engine, door, step);

	if (watch_side(conn, &conn->client, fd) < 0) {
		ab_conn_close(conn, true);
		return NULL;
	}
	return conn;
}

struct ab_conn *ab_conn_new_stream(struct ab_conn *carrier, void (*step)(struct ab_conn *conn))
{
	struct ab_conn *conn = new_conn(carrier->engine, (enum ab_door)carrier->door, step);

	conn->carrier = carrier;
	return conn;
}

int ab_conn_socket(const struct ab_conn *conn)
{
	return conn->carrier ? conn->carrier->client.source.fd : conn->client.source.fd;
}

bool ab_conn_tls(const struct ab_conn *conn)
{
	return conn->server.tls || (conn->carrier && conn->carrier->server.tls);
}

void ab_conn_close(struct ab_conn *conn, bool reset)
{
	struct ab_engine *engine = conn->engine;

	if (conn->closed)
		return;
	conn->closed = true;
	ab_conn_whole(conn);
	count_buffered(conn, 0);
	if (conn->waiter)
		ab_waiting_leave(conn);
	if (conn->kind)
		conn->kind->end(conn);
	if (conn->dial)
		ab_dial_cancel(ab_take(conn->dial));
	ab_loop_timer_stop(&engine->loop, &conn->deadline);
	ab_flow_fini(&conn->up, engine->pipes);
	ab_flow_fini(&conn->down, engine->pipes);
	ab_side_close(&conn->client, reset);
	ab_side_close(&conn->server, reset);
	ab_loop_later(&engine->loop, &conn->later);
}

void ab_conn_again(struct ab_conn *conn)
{
	if (!conn->closed)
		ab_loop_later(&conn->engine->loop, &conn->later);
}

enum {
	LINGER_MS = 10000,
	LINGER_MAX = 64 << 20, /* bytes discarded */
	LINGER_ROOM = 16 * 1024,
	LINGER_SHARE = 64, /* reads per turn */
};

/*
 * Send client.out and half-close. Closing with unread bytes would reset the
 * connection and the client would lose the response, so read them, up to a
 * limit, until the client has closed too.
 */
static void linger_until_closed(struct ab_conn *conn)
{
	enum ab_io io = ab_side_flush(&conn->client);

	if (io == AB_IO_WAIT)
		return;
	ab_side_shut(&conn->client);
	for (int i = 0; io == AB_IO_DONE && i < LINGER_SHARE; i++) {
		io = ab_side_read(&conn->client, LINGER_ROOM);
		conn->discarded += conn->client.in.len;
		ab_buf_fini(&conn->client.in);
	}
	if (conn->discarded > LINGER_MAX)
		io = AB_IO_FAILED;
	if (io == AB_IO_DONE)
		ab_conn_again(conn);
	else if (io != AB_IO_WAIT)
		ab_conn_close(conn, io == AB_IO_FAILED);
}

void ab_conn_linger(struct ab_conn *conn)
{
	ab_conn_whole(conn);
	ab_buf_fini(&conn->client.in);
	conn->step = linger_until_closed;
	ab_conn_deadline(conn, LINGER_MS);
	ab_conn_again(conn);
}

bool ab_conn_moved(struct ab_conn *conn, enum ab_io io, struct ab_side *to)
{
	if (io == AB_IO_FAILED)
		ab_conn_close(conn, true);
	else if (io == AB_IO_YIELD)
		ab_conn_again(conn);
	else if (io == AB_IO_EOF)
		ab_side_shut(to);
	return io != AB_IO_FAILED;
}

void ab_conn_half_open(struct ab_conn *conn)
{
	struct ab_engine *engine = conn->engine;

	if (conn->half_open)
		return;
	conn->half_open = true;
	TAILQ_INSERT_TAIL(&engine->half_open, conn, half_link);
	if (++engine->nhalf_open > AB_HALF_OPEN_MAX)
		ab_conn_close(TAILQ_FIRST(&engine->half_open), true);
}

void ab_conn_whole(struct ab_conn *conn)
{
	if (!conn->half_open)
		return;
	conn->half_open = false;
	TAILQ_REMOVE(&conn->engine->half_open, conn, half_link);
	conn->engine->nhalf_open--;
}

void ab_conn_deadline(struct ab_conn *conn, uint64_t ms)
{
	conn->late = NULL;
	if (ms)
		ab_loop_timer(&conn->engine->loop, &conn->deadline, ms);
	else
		ab_loop_timer_stop(&conn->engine->loop, &conn->deadline);
}

void ab_conn_deadline_then(struct ab_conn *conn, uint64_t ms, void (*late)(struct ab_conn *conn))
{
	ab_conn_deadline(conn, ms);
	conn->late = late;
}

int ab_conn_attach(struct ab_conn *conn, int fd)
{
	conn->server.writable = true; /* epoll would report it a batch later */
	return watch_side(conn, &conn->server, fd);
}

/* A program asks for updates when it starts. A host of a group is needed for other things later. */
static void end_quiet(const struct ab_engine *engine, const struct ab_host *host,
		      struct ab_verdict *verdict)
{
	enum { QUIET_MS = 30000 };

	if (verdict->basis == AB_BASIS_QUIET && engine->loop.now >= engine->begun + QUIET_MS &&
	    ab_group_of(host->text))
		ab_filter_other(engine->filter, verdict);
}

void ab_conn_name(const struct ab_engine *engine, struct ab_host *host)
{
	const char *name =
		ab_synthetic_is(host) ? ab_synthetic_find(engine->synthetic, host) : NULL;

	/* The table holds valid names only. */
	if (name) {
		*host = (struct ab_host){ .kind = AB_HOST_NAME };
		memcpy(host->text, name, strlen(name) + 1);
	}
}

void ab_conn_judge(struct ab_conn *conn, struct ab_host *host, uint16_t port,
		   struct ab_verdict *ret)
{
	const struct ab_engine *engine = conn->engine;

	ab_conn_name(engine, host);
	ab_filter_judge(engine->filter, &engine->own, host, port, ret);
	end_quiet(engine, host, ret);
	ab_grants_judge(&engine->grants, engine->loop.now, host, port, ret);
}

void ab_conn_resolve(struct ab_engine *engine, const struct ab_host *name, struct ab_verdict *ret)
{
	(void)ab_filter_resolvable(engine->filter, name, ret);
	end_quiet(engine, name, ret);
	ab_grants_name(&engine->grants, engine->loop.now, name, ret);
}

bool ab_conn_reachable(const struct ab_engine *engine, const struct ab_host *addr, uint16_t port,
		       struct ab_verdict *ret)
{
	if (!ab_filter_address(engine->filter, &engine->own, addr, port, ret))
		return false;
	ab_grants_judge(&engine->grants, engine->loop.now, addr, port, ret);
	return ret->access != AB_ACCESS_DENY;
}

void ab_verdict_keep(struct ab_verdict *verdict, char **entry)
{
	char *copy = ab_strdup(verdict->entry);

	free(*entry);
	*entry = copy;
	verdict->entry = copy;
}

bool ab_conn_describe(const struct ab_conn *conn, struct ab_request_record *ret)
{
	bool has_server = ab_side_is_open(&conn->server) || conn->dial;

	return !conn->closed && !conn->waiter && has_server && conn->kind && conn->kind->describe &&
	       conn->kind->describe(conn, ret);
}

static void dial_ended(void *arg, struct ab_dialled *result)
{
	struct ab_conn *conn = arg;

	conn->dial = NULL;
	conn->upstream = result->upstream;
	if (result->address.text[0])
		conn->address = ab_strdup(result->address.text);
	if (result->result == AB_DIAL_OK && ab_conn_attach(conn, result->fd) < 0) {
		ab_conn_close(conn, true);
		return;
	}
	if (result->result == AB_DIAL_OK)
		ab_open_conns_opened(conn);
	conn->dialled(conn, result);
}

/* Buffer the client's bytes, and notice that it failed. */
static void wait_for_dial(struct ab_conn *conn)
{
	if (ab_side_read(&conn->client, conn->http ? AB_HTTP_HEAD_MAX : DIAL_ROOM) == AB_IO_FAILED)
		ab_conn_close(conn, true);
}

void ab_conn_dial(struct ab_conn *conn, const struct ab_host *host, uint16_t port, bool http,
		  ab_conn_dialled_fn done)
{
	conn->step = wait_for_dial;
	conn->dialled = done;
	conn->dial = ab_dial_start(conn->engine->dialer, host, port, http, dial_ended, conn);
}

int ab_conn_deny(struct ab_conn *conn, struct ab_request_record *r)
{
	struct ab_error err;

	if (ab_ledger_deny(conn->engine->ledger, r, &r->denial, &err) == 0)
		return 0;
	conn->unrecorded = true;
	conn->engine->unrecorded(conn->engine, &err);
	ab_conn_close(conn, true);
	return -1;
}

void ab_conn_deny_datagram(struct ab_engine *engine, const char *host, uint16_t port,
			   const char *who)
{
	ab_autofree char *nearest = who ? ab_processes_nearest(who) : NULL;
	struct ab_request_record r = { .door = AB_DOOR_UDP,
				       .host = host,
				       .port = port,
				       .verdict = { .entry = "" },
				       .fault = AB_FAULT_NOT_TCP,
				       .process = nearest ? who : NULL,
				       .packets = 1 };
	struct ab_error err;

	if (ab_ledger_deny(engine->ledger, &r, &r.denial, &err) < 0)
		engine->unrecorded(engine, &err);
	else if (nearest)
		ab_ledger_who(engine->ledger, r.denial, nearest);
}

bool ab_conn_record(struct ab_conn *conn, struct ab_request_record *r)
{
	struct ab_error err;

	r->upstream = conn->upstream;
	if (ab_ledger_request(conn->engine->ledger, r, &err) < 0) {
		conn->unrecorded = true;
		conn->engine->unrecorded(conn->engine, &err);
		ab_conn_close(conn, true);
	}
	return !conn->closed;
}
