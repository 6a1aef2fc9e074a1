/* The sockets and timers of one exchange. */
#include <sys/epoll.h>

#include "base/data/list.h"
#include "containers/engine_client.h"
#include "containers/engine_relay.h"
#include "containers/exchange.h"

enum {
	REQUEST_MS = 60000,
	RETRY_MS = 50,
	RETRIES = 200,
};

struct ab_relay_conn {
	struct ab_engine_relay *relay;
	struct ab_relay_conn *next, **link;
	struct ab_source client, engine;
	struct ab_timer patience; /* until the request is there */
	struct ab_timer retry;	  /* to connect to the engine */
	struct ab_later later;
	struct ab_engine_exchange x;
	unsigned tries;
	bool shut; /* the engine was told that nothing more comes */
	uint64_t begun;
};

static void free_relay_conn(struct ab_later *later)
{
	struct ab_relay_conn *c = later->owner;

	ab_engine_exchange_fini(&c->x);
	free(c);
}

void ab_relay_conn_end(struct ab_relay_conn *c)
{
	struct ab_engine_relay *r = c->relay;

	if (!c->link)
		return;
	ab_engine_exchange_abandon(&c->x, "the run ended before the engine answered");
	ab_list_remove(c);
	ab_loop_timer_stop(&r->loop, &c->patience);
	ab_loop_timer_stop(&r->loop, &c->retry);
	ab_source_close(&c->client);
	ab_source_close(&c->engine);
	c->later = (struct ab_later){ .run = free_relay_conn, .owner = c };
	ab_loop_later(&r->loop, &c->later);
	r->nopen--;
	if (r->ending && !r->nopen)
		r->loop.stop = true;
	else if (r->listener.fd >= 0)
		ab_loop_set(&r->loop, &r->listener, EPOLLIN);
}

void ab_relay_conns_hurry(struct ab_engine_relay *r)
{
	struct ab_relay_conn *next;

	for (struct ab_relay_conn *c = r->open; c; c = next) {
		next = c->next;
		if (!ab_engine_exchange_matters(&c->x))
			ab_relay_conn_end(c);
	}
}

static int take_note(void *arg, struct ab_engine_note *note)
{
	struct ab_relay_conn *c = arg;

	note->ms = (int64_t)(c->relay->loop.now - c->begun);
	return c->relay->note(c->relay->arg, note);
}

static void engine_side_ready(struct ab_source *source, uint32_t events);

static void connect_engine(struct ab_relay_conn *c)
{
	struct ab_engine_relay *r = c->relay;
	struct ab_error err;
	int fd = ab_engine_connect(r->engine);

	if (fd < 0 && errno == EAGAIN && c->tries++ < RETRIES) {
		ab_loop_timer(&r->loop, &c->retry, RETRY_MS);
		return;
	}
	if (fd < 0) {
		ab_autofree char *why = ab_printf("cannot reach the container engine at %s: %s",
						  r->engine, strerror(errno));

		ab_engine_exchange_unreachable(&c->x, why);
		return;
	}
	if (ab_loop_watch(&r->loop, &c->engine, fd, engine_side_ready, c, &err) < 0)
		ab_engine_exchange_unreachable(&c->x, "cannot watch the container engine's socket");
	else
		ab_engine_exchange_connected(&c->x);
}

/* False: the other side reads no more. */
static bool write_some(struct ab_source *to, struct ab_buf *from)
{
	while (from->len && to->fd >= 0) {
		ssize_t n = send(to->fd, from->data, from->len, MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		ab_buf_skip(from, (size_t)n);
	}
	return true;
}

static void set_events(struct ab_relay_conn *c, struct ab_source *side, bool reads, size_t unsent)
{
	if (side->fd >= 0)
		ab_loop_set(&c->relay->loop, side,
			    (reads ? (uint32_t)EPOLLIN : 0) | (unsent ? (uint32_t)EPOLLOUT : 0));
}

/* Do what the exchange wants, and wait for more. */
static void serve(struct ab_relay_conn *c)
{
	struct ab_engine_wishes w = ab_engine_exchange_wishes(&c->x);

	if (c->x.state > AB_ENGINE_BODY)
		ab_loop_timer_stop(&c->relay->loop, &c->patience);
	if (w.connect && !c->retry.slot)
		connect_engine(c);
	if (!write_some(&c->engine, &c->x.to_engine))
		ab_engine_exchange_engine_deaf(&c->x);
	if (!write_some(&c->client, &c->x.to_client))
		ab_engine_exchange_client_gone(&c->x);
	w = ab_engine_exchange_wishes(&c->x);
	if (w.shut_engine && !c->shut)
		c->shut = shutdown(c->engine.fd, SHUT_WR) == 0;
	if (w.drop_engine)
		ab_source_close(&c->engine);
	if (w.over) {
		ab_relay_conn_end(c);
		return;
	}
	set_events(c, &c->client, w.read_client, c->x.to_client.len);
	set_events(c, &c->engine, w.read_engine, c->x.to_engine.len);
}

/* >0: bytes; 0: it sends no more; -1: nothing yet. */
static ssize_t receive(struct ab_source *from, uint32_t events, void *room, size_t size)
{
	ssize_t n = events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? recv(from->fd, room, size, 0)
							     : ab_errno(EAGAIN);

	return n < 0 && errno != EAGAIN && errno != EINTR ? 0 : n;
}

static void client_side_ready(struct ab_source *source, uint32_t events)
{
	struct ab_relay_conn *c = source->owner;
	char room[16384];
	ssize_t n = c->x.client_ended ? -1 : receive(source, events, room, sizeof(room));

	if (n > 0)
		ab_engine_exchange_client_data(&c->x, room, (size_t)n);
	else if (n == 0)
		ab_engine_exchange_client_ended(&c->x);
	/* It does not read either. */
	if (events & (EPOLLHUP | EPOLLERR) && c->x.client_ended) {
		ab_source_close(source);
		ab_engine_exchange_client_gone(&c->x);
	}
	serve(c);
}

static void engine_side_ready(struct ab_source *source, uint32_t events)
{
	struct ab_relay_conn *c = source->owner;
	char room[16384];
	ssize_t n = c->x.engine_ended ? -1 : receive(source, events, room, sizeof(room));

	if (n > 0)
		ab_engine_exchange_engine_data(&c->x, room, (size_t)n);
	else if (n == 0)
		ab_engine_exchange_engine_ended(&c->x);
	serve(c);
}

static void request_timed_out(struct ab_timer *timer)
{
	struct ab_relay_conn *c = timer->owner;

	ab_engine_exchange_expire(&c->x);
	serve(c);
}

static void retry_connect(struct ab_timer *timer)
{
	serve(timer->owner);
}

void ab_relay_conn_start(struct ab_engine_relay *r, int fd)
{
	struct ab_relay_conn *c = ab_alloc(sizeof(*c));
	struct ab_error err;

	c->relay = r;
	c->client = (struct ab_source){ .fd = fd, .ready = client_side_ready, .owner = c };
	c->engine.fd = -1;
	c->patience = (struct ab_timer){ .fire = request_timed_out, .owner = c };
	c->retry = (struct ab_timer){ .fire = retry_connect, .owner = c };
	c->begun = r->loop.now;
	ab_engine_exchange_init(&c->x, &r->judge, take_note, c);
	ab_list_push(&r->open, c);
	r->nopen++;
	if (ab_loop_add(&r->loop, &c->client, EPOLLIN, &err) < 0) {
		ab_relay_conn_end(c);
		return;
	}
	ab_loop_timer(&r->loop, &c->patience, REQUEST_MS);
}
