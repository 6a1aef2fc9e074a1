/*
 * Should: accept while there are descriptors for both sides of a connection;
 * the others stay in the backlog, none is lost.
 * Mustn't: let one listener starve the rest.
 */
#include "proxy/doors/accept.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>

#include "audit/write/processes.h"
#include "netns/packet_log.h"
#include "proxy/doors/doors.h"
#include "proxy/record/events.h"
#include "proxy/traffic/agent.h"
#include "proxy/traffic/tunnel.h"

enum {
	ACCEPTS = 64, /* per listener and turn */
	HANDED =
		1024, /* the same: what the socket of the guard can queue, so that nothing is left at the end */
	SPARE_FDS = 700, /* pipes, resolver, log, what main has open */
	FEW_FDS = 64,	 /* the same where the limit is low */
	RETRY_MS = 100,	 /* after running out of descriptors */
	/* Each connection may buffer some 64 KiB per direction, which the
	 * box's memory limit does not include. */
	MOST_CONNS = 16384,
	/* dial_inside calls without a result: far fewer than the socket to
	 * init can queue. */
	DIALS = 64,
};

struct ab_acceptor_listener {
	struct ab_source source;
	struct ab_acceptor *acceptor;
	/* NULL: a datagram socket, or `published` */
	void (*admit)(struct ab_engine *engine, int fd, uint16_t port);
	uint16_t port;
	bool published; /* to this port of the box */
	bool pauses;	/* while there is no room for more connections */
};

/* A connection to a published port that waits for its socket in the box. */
struct ab_inside_dial {
	struct ab_inside_dial *next;
	struct ab_conn *conn; /* NULL: it was closed */
};

static void set_listening(struct ab_acceptor *a, bool on)
{
	for (size_t i = 0; i < a->nlisteners; i++)
		if (a->listeners[i].pauses)
			ab_loop_set(&a->engine->loop, &a->listeners[i].source, on ? EPOLLIN : 0);
	a->full = !on;
}

static void resume_listening(struct ab_acceptor *a)
{
	if (a->full && a->engine->nconns < a->engine->max_conns)
		set_listening(a, true);
}

static void retry_listening(struct ab_timer *timer)
{
	resume_listening(timer->owner);
}

void ab_acceptor_freed(struct ab_acceptor *a, const struct ab_conn *conn)
{
	if (conn->door == AB_DOOR_PUBLISH)
		for (struct ab_inside_dial *d = a->dials; d; d = d->next)
			if (d->conn == conn)
				d->conn = NULL;
	if (!a->engine->ending)
		resume_listening(a);
}

static void admit_published(struct ab_acceptor_listener *listener, int fd)
{
	struct ab_acceptor *a = listener->acceptor;
	struct ab_conn *conn = ab_door_open_published(a->engine, fd, listener->port);
	struct ab_inside_dial *dial;

	if (!conn)
		return;
	if (a->engine->setup->dial_inside(a->engine->setup->arg, listener->port) < 0) {
		ab_conn_close(conn, true);
		return;
	}
	dial = ab_alloc(sizeof(*dial));
	dial->conn = conn;
	*a->dials_end = dial;
	a->dials_end = &dial->next;
	a->ndials++;
}

void ab_acceptor_dialled(struct ab_acceptor *a, int errnum, int fd)
{
	struct ab_inside_dial *dial = a->dials;
	struct ab_conn *conn = dial ? dial->conn : NULL;

	if (dial) {
		a->dials = dial->next;
		if (!a->dials)
			a->dials_end = &a->dials;
		free(dial);
		if (a->ndials-- == DIALS && !a->full)
			set_listening(a, true);
	}
	if (!conn || conn->closed) {
		ab_closep(&fd);
		return;
	}
	if (errnum || fd < 0 || ab_conn_attach(conn, fd) < 0)
		ab_conn_close(conn, true);
	else
		ab_tunnel_relay(conn);
}

static void accept_ready(struct ab_source *source, uint32_t events)
{
	struct ab_acceptor_listener *listener = source->owner;
	struct ab_acceptor *a = listener->acceptor;

	(void)events;
	for (int i = 0; i < ACCEPTS && !a->full; i++) {
		int fd;

		if (a->engine->nconns >= a->engine->max_conns) {
			set_listening(a, false);
			return;
		}
		/* Until init has answered some of the dials. */
		if (listener->published && a->ndials >= DIALS) {
			ab_loop_set(&a->engine->loop, source, 0);
			return;
		}
		fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			if (listener->published)
				admit_published(listener, fd);
			else
				listener->admit(a->engine, fd, listener->port);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
			set_listening(a, false);
			ab_loop_timer(&a->engine->loop, &a->retry, RETRY_MS);
		}
		return;
	}
}

/* A query that the guard passes on. A client that misses the answer asks again. */
static void answer_handed(struct ab_acceptor *a, int sock, struct ab_handed *m)
{
	uint8_t answer[AB_DNS_ANSWER_MAX];

	m->len = (uint32_t)ab_door_dns_answer(a->engine, m->bytes, m->len, answer);
	if (!m->len)
		return;
	memcpy(m->bytes, answer, m->len);
	(void)!send(sock, m, AB_HANDED_LEN(m->len), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A connection that the guard made for the box. */
static void admit_handed(struct ab_acceptor *a, const struct ab_handed *m, int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
	switch ((enum ab_handed_kind)m->kind) {
	case AB_HANDED_CONNECTION:
		ab_door_open_captured(a->engine, fd, &m->to);
		return;
	case AB_HANDED_DOOR:
		ab_door_open_explicit(a->engine, fd, 0);
		return;
	case AB_HANDED_NAMES:
		ab_door_open_dns(a->engine, fd, 0);
		return;
	case AB_HANDED_HOST_PORT:
		ab_door_open_host_port(a->engine, fd, m->to.port);
		return;
	case AB_HANDED_QUERY:
	case AB_HANDED_DENIED:
	case AB_HANDED_KINDS:
		break;
	}
	close(fd);
}

static void record_handed(struct ab_acceptor *a, const struct ab_handed *m)
{
	ab_autofree char *text = ab_strndup((const char *)m->bytes, m->len);
	ab_autofree char *who = ab_processes_line(text);
	struct ab_host host;

	ab_host_from_addr(m->to.v6, m->to.addr, &host);
	ab_conn_name(a->engine, &host);
	ab_conn_deny_datagram(a->engine, host.text, m->to.port, who);
}

/* The guard reads what hostile programs wrote: believe nothing but the form. */
static void take_handed(struct ab_acceptor *a, int sock, struct ab_handed *m, size_t n, int fd)
{
	if (n < AB_HANDED_LEN(0) || n != AB_HANDED_LEN(m->len)) {
		ab_closep(&fd);
	} else if (fd >= 0) {
		admit_handed(a, m, fd);
	} else if (m->kind == AB_HANDED_QUERY) {
		answer_handed(a, sock, m);
	} else if (m->kind == AB_HANDED_DENIED) {
		a->dropped += m->cookie;
		if (m->len)
			record_handed(a, m);
	}
}

static void handed_ready(struct ab_source *source, uint32_t events)
{
	struct ab_acceptor_listener *listener = source->owner;
	struct ab_acceptor *a = listener->acceptor;
	struct ab_handed m;

	(void)events;
	for (int i = 0; i < HANDED && !a->full; i++) {
		int fd = -1;
		size_t nfds = 1;
		ssize_t n;

		if (a->engine->nconns >= a->engine->max_conns) {
			set_listening(a, false);
			return;
		}
		n = ab_recv_fds(source->fd, &m, sizeof(m), &fd, &nfds, MSG_DONTWAIT);
		if (n > 0) {
			take_handed(a, source->fd, &m, (size_t)n, nfds ? fd : -1);
		} else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			return;
		} else if (n < 0 && errno == EMFILE) { /* that connection is lost */
			set_listening(a, false);
			ab_loop_timer(&a->engine->loop, &a->retry, RETRY_MS);
		} else {
			ab_source_close(source); /* the guard is gone */
			return;
		}
	}
}

static void datagrams_ready(struct ab_source *source, uint32_t events)
{
	struct ab_acceptor_listener *listener = source->owner;

	(void)events;
	ab_door_dns_datagrams(listener->acceptor->engine, source->fd);
}

static void log_ready(struct ab_source *source, uint32_t events)
{
	struct ab_acceptor *a = source->owner;
	struct ab_denied_datagram datagram;

	(void)events;
	for (int i = 0; i < ACCEPTS && ab_packet_log_read(source->fd, &datagram); i++)
		ab_waiting_datagram(a->engine, &datagram);
}

void ab_acceptor_end_log(struct ab_acceptor *a)
{
	struct ab_denied_datagram datagram;

	while (a->log.active && ab_packet_log_read(a->log.fd, &datagram))
		ab_waiting_datagram(a->engine, &datagram);
	ab_loop_remove(&a->engine->loop, &a->log);
	ab_waiting_end_datagrams(a->engine);
}

/* Two descriptors per connection, plus some spare ones. The box keeps the
 * limit that the caller had. */
static void raise_fd_limit(struct ab_engine *e)
{
	rlim_t limit = ab_fd_limit_raise().rlim_max;
	rlim_t spare = limit >= 4 * SPARE_FDS ? SPARE_FDS : FEW_FDS;

	e->max_conns = limit > spare + 2 ? (size_t)(limit - spare) / 2 : 1;
	if (e->max_conns > MOST_CONNS)
		e->max_conns = MOST_CONNS;
	/* A connection that waits for an answer must not use up the limit. */
	e->waiting.max_conns = e->max_conns - e->max_conns / 4;
}

void ab_acceptor_prepare(struct ab_acceptor *a)
{
	int on = 1;

	raise_fd_limit(a->engine);
	/* Accepted sockets inherit this. */
	for (size_t i = 0; i < a->nlisteners; i++)
		if (a->listeners[i].admit || a->listeners[i].published)
			setsockopt(a->listeners[i].source.fd, IPPROTO_TCP, TCP_NODELAY, &on,
				   sizeof(on));
}

static int add_listener(struct ab_acceptor *a, int fd, uint16_t port,
			void (*ready)(struct ab_source *source, uint32_t events),
			void (*admit)(struct ab_engine *engine, int fd, uint16_t port),
			struct ab_error *err)
{
	struct ab_acceptor_listener *listener = &a->listeners[a->nlisteners++];

	*listener = (struct ab_acceptor_listener){
		.source = { .fd = fd, .ready = ready, .owner = listener },
		.acceptor = a,
		.admit = admit,
		.port = port,
		.published = ready == accept_ready && !admit,
		.pauses = ready != datagrams_ready,
	};
	/* It pauses with the others. */
	return ab_loop_add(&a->engine->loop, &listener->source, a->full ? 0 : EPOLLIN, err);
}

/* By kind of listener; NULL: it takes datagrams. */
static void (*const admits[])(struct ab_engine *engine, int fd, uint16_t port) = {
	[AB_LISTENER_DOOR] = ab_door_open_explicit,
	[AB_LISTENER_TRANSPARENT] = ab_door_open_transparent,
	[AB_LISTENER_DNS_UDP] = NULL,
	[AB_LISTENER_DNS_TCP] = ab_door_open_dns,
	[AB_LISTENER_HOST_PORT] = ab_door_open_host_port,
};

int ab_acceptor_open(struct ab_acceptor *a, struct ab_engine *engine, struct ab_error *err)
{
	const struct ab_proxy_setup *setup = engine->setup;
	const struct ab_network *net = &setup->network;
	int r = 0;

	*a = (struct ab_acceptor){ .engine = engine,
				   .retry = { .fire = retry_listening, .owner = a },
				   .counters = -1 };
	a->dials_end = &a->dials;
	/* They do not move: the loop has pointers to them. */
	a->room = net->n + setup->npublished + AB_PUBLISHED_LATE + (setup->agent != NULL);
	a->listeners = ab_alloc(a->room * sizeof(a->listeners[0]));
	for (size_t i = 0; i < net->n; i++) {
		const struct ab_listener *l = &net->listeners[i];

		if (l->kind == AB_LISTENER_COUNTERS)
			a->counters = l->fd;
		else if (l->kind == AB_LISTENER_HANDED)
			r |= add_listener(a, l->fd, 0, handed_ready, NULL, err);
		else
			r |= add_listener(a, l->fd, l->port,
					  admits[l->kind] ? accept_ready : datagrams_ready,
					  admits[l->kind], err);
	}
	if (net->logs)
		r |= ab_loop_watch(&engine->loop, &a->log, a->counters, log_ready, a, err);
	for (size_t i = 0; i < setup->npublished; i++)
		r |= add_listener(a, setup->published[i].fd, setup->published[i].port, accept_ready,
				  NULL, err);
	return r;
}

bool ab_acceptor_publish(struct ab_acceptor *a, int fd, uint16_t port)
{
	struct ab_error err;
	int on = 1;

	if (a->nlisteners == a->room - (a->engine->agent && !a->serves_agent) ||
	    a->engine->ending) {
		close(fd);
		return false;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return add_listener(a, fd, port, accept_ready, NULL, &err) == 0;
}

void ab_acceptor_serve_agent(struct ab_acceptor *a, int fd)
{
	struct ab_error err;

	if (a->serves_agent || !a->engine->agent || a->engine->ending) {
		close(fd);
		return;
	}
	a->serves_agent = true;
	(void)add_listener(a, fd, 0, accept_ready, ab_agent_open, &err);
}

void ab_acceptor_last(struct ab_acceptor *a)
{
	for (size_t i = 0; i < a->nlisteners; i++) {
		struct ab_source *source = &a->listeners[i].source;

		if (source->active && !a->listeners[i].published &&
		    a->listeners[i].admit != ab_agent_open)
			source->ready(source, EPOLLIN);
	}
	ab_acceptor_close(a);
}

void ab_acceptor_close(struct ab_acceptor *a)
{
	for (size_t i = 0; i < a->nlisteners; i++)
		ab_source_close(&a->listeners[i].source);
}

void ab_acceptor_fini(struct ab_acceptor *a)
{
	ab_acceptor_close(a);
	while (a->dials)
		ab_acceptor_dialled(a, ECANCELED, -1);
	ab_closep(&a->counters);
	free(a->listeners);
}
