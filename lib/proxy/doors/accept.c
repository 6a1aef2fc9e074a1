/*
 * Should: accept as long as there are descriptors for both sides of a
 * connection; let the backlog hold the others, none is lost.
 * Mustn't: let one listener keep the rest waiting.
 */
#include "proxy/doors/accept.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "proxy/conn/conn.h"
#include "proxy/doors/doors.h"
#include "proxy/record/events.h"
#include "proxy/traffic/tunnel.h"

enum {
	ACCEPTS = 64,	 /* of one listener at a stretch */
	SPARE_FDS = 700, /* pipes, resolver, log, what main has open */
	FEW_FDS = 64,	 /* the same where the limit is low */
	RETRY_MS = 100,	 /* when descriptors ran out all the same */
	/* Each may make us hold some 64 KiB for each direction, which is not
	 * in the box's own limit of memory. */
	MOST_CONNS = 16384,
	DIALS = 64, /* that init is asked for at a time: far fewer
				 * than the socket to it holds */
};

struct ab_knocker { /* a listener in the loop */
	struct ab_source source;
	struct ab_acceptor *acceptor;
	/* NULL: datagrams */
	void (*admit)(struct ab_knocker *knocker, int fd);
	uint16_t port;
};

/* A published connection that waits for its socket in the box. */
struct ab_caller {
	struct ab_caller *next;
	struct ab_conn *conn; /* NULL: it has gone */
};

static void listen_to(struct ab_acceptor *k, bool on)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->knockers[i].admit)
			ab_loop_set(&k->engine->loop, &k->knockers[i].source, on ? EPOLLIN : 0);
	k->full = !on;
}

static void listen_again(struct ab_acceptor *k)
{
	if (k->full && k->engine->nconns < k->max_conns)
		listen_to(k, true);
}

static void retry(struct ab_timer *timer)
{
	listen_again(timer->owner);
}

void ab_acceptor_freed(struct ab_acceptor *k, const struct ab_conn *conn)
{
	if (conn->door == AB_DOOR_PUBLISH)
		for (struct ab_caller *c = k->callers; c; c = c->next)
			if (c->conn == conn)
				c->conn = NULL;
	if (!k->engine->ending)
		listen_again(k);
}

static void admit_explicit(struct ab_knocker *knocker, int fd)
{
	ab_door_open_explicit(knocker->acceptor->engine, fd);
}

static void admit_transparent(struct ab_knocker *knocker, int fd)
{
	ab_door_open_transparent(knocker->acceptor->engine, fd, knocker->acceptor->capture);
}

static void admit_dns(struct ab_knocker *knocker, int fd)
{
	ab_door_open_dns(knocker->acceptor->engine, fd);
}

static void admit_host_port(struct ab_knocker *knocker, int fd)
{
	ab_door_open_host_port(knocker->acceptor->engine, fd, knocker->port);
}

static void admit_published(struct ab_knocker *knocker, int fd)
{
	struct ab_acceptor *k = knocker->acceptor;
	struct ab_conn *conn = ab_door_open_published(k->engine, fd, knocker->port);
	struct ab_caller *caller;

	if (!conn)
		return;
	if (k->dial_inside(k->arg, knocker->port) < 0) {
		ab_conn_close(conn, true);
		return;
	}
	caller = ab_alloc(sizeof(*caller));
	caller->conn = conn;
	*k->callers_end = caller;
	k->callers_end = &caller->next;
	k->ncallers++;
}

/* Until init has answered some of those who came before. */
static bool must_wait(const struct ab_knocker *knocker)
{
	return knocker->admit == admit_published && knocker->acceptor->ncallers >= DIALS;
}

void ab_acceptor_dialled(struct ab_acceptor *k, int errnum, int fd)
{
	struct ab_caller *caller = k->callers;
	struct ab_conn *conn = caller ? caller->conn : NULL;

	if (caller) {
		k->callers = caller->next;
		if (!k->callers)
			k->callers_end = &k->callers;
		free(caller);
		if (k->ncallers-- == DIALS && !k->full)
			listen_to(k, true);
	}
	if (!conn || conn->closed) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (errnum || fd < 0 || ab_conn_attach(conn, fd) < 0)
		ab_conn_close(conn, true);
	else
		ab_tunnel_relay(conn);
}

static void somebody_knocks(struct ab_source *source, uint32_t events)
{
	struct ab_knocker *knocker = source->owner;
	struct ab_acceptor *k = knocker->acceptor;

	(void)events;
	for (int i = 0; i < ACCEPTS && !k->full; i++) {
		int fd;

		if (k->engine->nconns >= k->max_conns) {
			listen_to(k, false);
			return;
		}
		if (must_wait(knocker)) {
			ab_loop_set(&k->engine->loop, source, 0);
			return;
		}
		fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			knocker->admit(knocker, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
			listen_to(k, false);
			ab_loop_timer(&k->engine->loop, &k->retry, RETRY_MS);
		}
		return;
	}
}

static void datagrams_came(struct ab_source *source, uint32_t events)
{
	struct ab_knocker *knocker = source->owner;

	(void)events;
	ab_door_dns_datagrams(knocker->acceptor->engine, source->fd);
}

/* Descriptors: two for each connection, and some to work with. The box keeps
 * the limit of the caller; this one is ours. */
static void raise_limit(struct ab_acceptor *k)
{
	struct rlimit limit;
	rlim_t spare;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		limit.rlim_cur = limit.rlim_max = 256;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	spare = limit.rlim_cur >= 4 * SPARE_FDS ? SPARE_FDS : FEW_FDS;
	k->max_conns = limit.rlim_cur > spare + 2 ? (size_t)(limit.rlim_cur - spare) / 2 : 1;
	if (k->max_conns > MOST_CONNS)
		k->max_conns = MOST_CONNS;
	/* Who waits for a word must not keep others out. */
	k->engine->pending.room = k->max_conns - k->max_conns / 4;
}

void ab_acceptor_prepare(struct ab_acceptor *k)
{
	int on = 1;

	raise_limit(k);
	/* What is accepted from a listener inherits this. */
	for (size_t i = 0; i < k->n; i++)
		if (k->knockers[i].admit)
			setsockopt(k->knockers[i].source.fd, IPPROTO_TCP, TCP_NODELAY, &on,
				   sizeof(on));
}

static int add(struct ab_acceptor *k, int fd, uint16_t port,
	       void (*admit)(struct ab_knocker *knocker, int fd), struct ab_error *err)
{
	struct ab_knocker *knocker = &k->knockers[k->n++];

	*knocker = (struct ab_knocker){
		.source = { .fd = fd,
			    .ready = admit ? somebody_knocks : datagrams_came,
			    .owner = knocker },
		.acceptor = k,
		.admit = admit,
		.port = port,
	};
	return ab_loop_add(&k->engine->loop, &knocker->source, EPOLLIN, err);
}

/* What each listener of the box is for. */
static void (*const admits[])(struct ab_knocker *knocker, int fd) = {
	[AB_LISTENER_DOOR] = admit_explicit,
	[AB_LISTENER_TRANSPARENT] = admit_transparent,
	[AB_LISTENER_DNS_UDP] = NULL,
	[AB_LISTENER_DNS_TCP] = admit_dns,
	[AB_LISTENER_HOST_PORT] = admit_host_port,
};

int ab_acceptor_open(struct ab_acceptor *k, struct ab_engine *engine,
		     const struct ab_proxy_setup *setup, struct ab_error *err)
{
	const struct ab_network *net = &setup->network;
	int r = 0;

	*k = (struct ab_acceptor){ .engine = engine,
				   .retry = { .fire = retry, .owner = k },
				   .counters = -1,
				   .capture = net->capture,
				   .dial_inside = setup->dial_inside,
				   .arg = setup->arg };
	k->callers_end = &k->callers;
	k->knockers = ab_alloc((net->n + setup->npublished + 1) * sizeof(k->knockers[0]));
	for (size_t i = 0; i < net->n; i++) {
		const struct ab_listener *l = &net->listeners[i];

		if (l->kind == AB_LISTENER_COUNTERS)
			k->counters = l->fd;
		else
			r |= add(k, l->fd, l->port, admits[l->kind], err);
	}
	for (size_t i = 0; i < setup->npublished; i++)
		r |= add(k, setup->published[i].fd, setup->published[i].port, admit_published, err);
	return r;
}

void ab_acceptor_last(struct ab_acceptor *k)
{
	for (size_t i = 0; i < k->n; i++) {
		struct ab_source *source = &k->knockers[i].source;

		if (source->active && k->knockers[i].admit != admit_published)
			source->ready(source, EPOLLIN);
	}
	ab_acceptor_close(k);
}

void ab_acceptor_close(struct ab_acceptor *k)
{
	for (size_t i = 0; i < k->n; i++)
		ab_source_close(&k->knockers[i].source);
}

void ab_acceptor_fini(struct ab_acceptor *k)
{
	ab_acceptor_close(k);
	while (k->callers)
		ab_acceptor_dialled(k, ECANCELED, -1);
	if (k->counters >= 0)
		close(k->counters);
	free(k->knockers);
}
