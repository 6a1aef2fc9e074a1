/*
 * Theory of operation.
 *
 *	made	the listeners are in the loop's epoll set, which the main
 *		thread watches as one descriptor: somebody knocks
 *	started	the thread runs the loop
 *	failed	the loop, or under `strict` the log: the listeners are
 *		closed, the main thread is told and ends the run
 *	stopped	the box is gone: every connection ends and is recorded
 *
 * Between the threads are two mailboxes, and no other shared state: what the
 * thread uses is its own from start to join.
 *
 * Should: accept as long as there are descriptors for both sides; let the
 * backlog hold the others, none is lost.
 * Mustn't: let one listener, datagram flood or connection keep the rest
 * waiting.
 */
#include "proxy/proxy.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "audit/log.h"
#include "base/error.h"
#include "base/mailbox.h"
#include "base/mem.h"
#include "netns/counters.h"
#include "netns/own.h"
#include "policy/policy.h"
#include "proxy/conn.h"
#include "proxy/doors.h"
#include "proxy/names.h"
#include "proxy/tunnel.h"

enum {
	ACCEPTS = 64,		/* of one listener at a stretch */
	SPARE_FDS = 700,	/* pipes, resolver, log, what main has open */
	FEW_FDS = 64,		/* the same where the limit is low */
	RETRY_MS = 100,		/* when descriptors ran out all the same */
	/* Each may make us hold some 64 KiB for each direction, which is not
	 * in the box's own limit of memory. */
	MOST_CONNS = 16384,
};

enum letter { LETTER_STOP, LETTER_DIALLED, LETTER_FILTER, LETTER_FAILED };

struct knocker {	/* a listener in the loop */
	struct ab_source source;
	struct ab_proxy *proxy;
	void (*admit)(struct knocker *knocker, int fd);	/* NULL: datagrams */
	uint16_t port;
};

/* A published connection that waits for its socket in the box. */
struct caller {
	struct caller *next;
	struct ab_conn *conn;	/* NULL: it has gone */
};

struct ab_proxy {
	struct ab_engine engine;	/* first: its callbacks find us by it */
	struct ab_proxy_setup setup;
	char *run_id;
	struct knocker *knockers;
	size_t nknockers;
	struct ab_source letters, addresses;
	struct ab_mailbox in, out;
	struct ab_timer retry;
	struct caller *callers, **callers_end;
	struct ab_filter **filters;	/* old ones: records may name entries */
	size_t nfilters;
	size_t max_conns;
	int counters;
	pthread_t thread;
	bool started, full;
};

static struct ab_proxy *proxy_of(struct ab_engine *engine)
{
	return (struct ab_proxy *)engine;
}

static void fail(struct ab_proxy *p, const struct ab_error *err)
{
	struct ab_error *copy = ab_alloc(sizeof(*copy));

	*copy = *err;
	ab_mailbox_post(&p->out, LETTER_FAILED, 0, -1, copy);
	p->engine.loop.stop = true;
}

static void unrecorded(struct ab_engine *engine, const struct ab_error *err)
{
	if (proxy_of(engine)->setup.strict)
		fail(proxy_of(engine), err);
}

static void listen_to(struct ab_proxy *p, bool on)
{
	for (size_t i = 0; i < p->nknockers; i++)
		if (p->knockers[i].admit)
			ab_loop_set(&p->engine.loop, &p->knockers[i].source,
				    on ? EPOLLIN : 0);
	p->full = !on;
}

static void listen_again(struct ab_proxy *p)
{
	if (p->full && p->engine.nconns < p->max_conns)
		listen_to(p, true);
}

static void freed(struct ab_engine *engine, const struct ab_conn *conn)
{
	struct ab_proxy *p = proxy_of(engine);

	if (conn->door == AB_DOOR_PUBLISH)
		for (struct caller *c = p->callers; c; c = c->next)
			if (c->conn == conn)
				c->conn = NULL;
	listen_again(p);
}

static void retry(struct ab_timer *timer)
{
	listen_again(timer->owner);
}

static void admit_explicit(struct knocker *k, int fd)
{
	ab_door_open_explicit(&k->proxy->engine, fd);
}

static void admit_transparent(struct knocker *k, int fd)
{
	ab_door_open_transparent(&k->proxy->engine, fd,
				 k->proxy->setup.network.capture);
}

static void admit_dns(struct knocker *k, int fd)
{
	ab_door_open_dns(&k->proxy->engine, fd);
}

static void admit_host_port(struct knocker *k, int fd)
{
	ab_door_open_host_port(&k->proxy->engine, fd, k->port);
}

static void admit_published(struct knocker *k, int fd)
{
	struct ab_proxy *p = k->proxy;
	struct ab_conn *conn =
		ab_door_open_published(&p->engine, fd, k->port);
	struct caller *caller;

	if (!conn)
		return;
	if (p->setup.dial_inside(p->setup.arg, k->port) < 0) {
		ab_conn_close(conn, true);
		return;
	}
	caller = ab_alloc(sizeof(*caller));
	caller->conn = conn;
	*p->callers_end = caller;
	p->callers_end = &caller->next;
}

static void somebody_knocks(struct ab_source *source, uint32_t events)
{
	struct knocker *k = source->owner;
	struct ab_proxy *p = k->proxy;

	(void)events;
	for (int i = 0; i < ACCEPTS && !p->full; i++) {
		int fd;

		if (p->engine.nconns >= p->max_conns) {
			listen_to(p, false);
			return;
		}
		fd = accept4(source->fd, NULL, NULL,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			k->admit(k, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM) {
			listen_to(p, false);
			ab_loop_timer(&p->engine.loop, &p->retry, RETRY_MS);
		}
		return;
	}
}

static void datagrams_came(struct ab_source *source, uint32_t events)
{
	struct knocker *k = source->owner;

	(void)events;
	ab_door_dns_datagrams(&k->proxy->engine, source->fd);
}

static void take_addresses(struct ab_source *source, uint32_t events)
{
	struct ab_proxy *p = source->owner;
	struct ab_error err;

	(void)events;
	/* Not knowing our own addresses is no reason to go on. */
	if (ab_own_read(source->fd, &p->engine.own, &err) < 0)
		fail(p, &err);
	else
		ab_own_sort(&p->engine.own);
}

static void take_dialled(struct ab_proxy *p, int errnum, int fd)
{
	struct caller *caller = p->callers;
	struct ab_conn *conn;

	if (!caller) {
		if (fd >= 0)
			close(fd);
		return;
	}
	p->callers = caller->next;
	if (!p->callers)
		p->callers_end = &p->callers;
	conn = caller->conn;
	free(caller);
	if (!conn && fd >= 0)
		close(fd);
	if (!conn)
		return;
	if (errnum || fd < 0 || ab_conn_attach(conn, fd) < 0)
		ab_conn_close(conn, true);
	else
		ab_tunnel_relay(conn);
}

static void use_filter(struct ab_proxy *p, struct ab_filter *filter)
{
	p->filters = ab_realloc(p->filters,
				(p->nfilters + 1) * sizeof(p->filters[0]));
	p->filters[p->nfilters++] = filter;
	p->engine.filter = filter;
}

static void read_letters(struct ab_source *source, uint32_t events)
{
	struct ab_proxy *p = source->owner;
	struct ab_letter *letter;

	(void)events;
	while ((letter = ab_mailbox_take(&p->in)) != NULL) {
		switch ((enum letter)letter->kind) {
		case LETTER_STOP:
			p->engine.loop.stop = true;
			break;
		case LETTER_DIALLED:
			take_dialled(p, letter->value, letter->fd);
			break;
		case LETTER_FILTER:
			use_filter(p, letter->data);
			break;
		case LETTER_FAILED:
			break;	/* goes the other way */
		}
		free(letter);
	}
}

/* Descriptors: two for each connection, and some to work with. The box keeps
 * the limit of the caller; this one is ours. */
static void raise_limit(struct ab_proxy *p)
{
	struct rlimit limit;
	rlim_t spare;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		limit.rlim_cur = limit.rlim_max = 256;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	spare = limit.rlim_cur >= 4 * SPARE_FDS ? SPARE_FDS : FEW_FDS;
	p->max_conns = limit.rlim_cur > spare + 2 ?
			       (size_t)(limit.rlim_cur - spare) / 2 :
			       1;
	if (p->max_conns > MOST_CONNS)
		p->max_conns = MOST_CONNS;
}

static bool check_address(void *arg, const struct ab_host *addr, uint16_t port,
			  struct ab_verdict *ret)
{
	const struct ab_engine *engine = arg;

	return ab_filter_address(engine->filter, &engine->own, addr, port, ret);
}

/* What is accepted from it inherits this. */
static void set_nodelay(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static int prepare(struct ab_proxy *p, struct ab_error *err)
{
	struct ab_engine *e = &p->engine;
	struct ab_dialer_setup dialer = { .loop = &e->loop,
					  .check = check_address,
					  .arg = e,
					  .upstream = p->setup.upstream };

	raise_limit(p);
	e->ledger = ab_ledger_new(p->run_id, p->setup.log);
	for (size_t i = 0; i < p->nknockers; i++)
		if (p->knockers[i].admit)
			set_nodelay(p->knockers[i].source.fd);
	use_filter(p, ab_filter_new(p->setup.policy));
	e->names = ab_names_new();
	e->pipes = ab_pipes_new();
	if (ab_dialer_new(&dialer, &e->dialer, err) < 0 ||
	    ab_mailbox_init(&p->in, err) < 0)
		return -1;
	p->letters = (struct ab_source){ .fd = p->in.fd,
					 .ready = read_letters,
					 .owner = p };
	p->addresses = (struct ab_source){ .fd = p->setup.own,
					   .ready = take_addresses,
					   .owner = p };
	if (ab_loop_add(&e->loop, &p->letters, EPOLLIN, err) < 0 ||
	    ab_own_read(p->setup.own, &e->own, err) < 0 ||
	    ab_loop_add(&e->loop, &p->addresses, EPOLLIN, err) < 0)
		return -1;
	ab_own_sort(&e->own);
	return 0;
}

static void close_listeners(struct ab_proxy *p)
{
	for (size_t i = 0; i < p->nknockers; i++)
		ab_source_close(&p->knockers[i].source);
}

static void *serve(void *arg)
{
	struct ab_proxy *p = arg;
	struct ab_error err;

	if (ab_loop_run(&p->engine.loop, &err) < 0)
		fail(p, &err);
	close_listeners(p);
	while (p->engine.conns) {
		struct ab_conn *conn = p->engine.conns;

		/* Freed by what is queued for later, at the loop's end. */
		for (; conn; conn = conn->next)
			ab_conn_close(conn, true);
		ab_loop_settle(&p->engine.loop);
	}
	return NULL;
}

/* What each listener of the box is for. */
static void (*const admits[])(struct knocker *knocker, int fd) = {
	[AB_LISTENER_DOOR] = admit_explicit,
	[AB_LISTENER_TRANSPARENT] = admit_transparent,
	[AB_LISTENER_DNS_TCP] = admit_dns,
	[AB_LISTENER_HOST_PORT] = admit_host_port,
};

static int add_listener(struct ab_proxy *p, int fd, uint16_t port,
			void (*admit)(struct knocker *knocker, int fd),
			struct ab_error *err)
{
	struct knocker *k = &p->knockers[p->nknockers++];

	*k = (struct knocker){
		.source = { .fd = fd,
			    .ready = admit ? somebody_knocks : datagrams_came,
			    .owner = k },
		.proxy = p,
		.admit = admit,
		.port = port,
	};
	return ab_loop_add(&p->engine.loop, &k->source, EPOLLIN, err);
}

static int add_listeners(struct ab_proxy *p, struct ab_error *err)
{
	const struct ab_network *net = &p->setup.network;
	int r = 0;

	p->knockers = ab_alloc((net->n + p->setup.npublished + 1) *
			       sizeof(p->knockers[0]));
	for (size_t i = 0; i < net->n; i++) {
		const struct ab_listener *l = &net->listeners[i];

		if (l->kind == AB_LISTENER_COUNTERS)
			p->counters = l->fd;
		else
			r |= add_listener(p, l->fd, l->port, admits[l->kind],
					  err);
	}
	for (size_t i = 0; i < p->setup.npublished; i++)
		r |= add_listener(p, p->setup.published[i].fd,
				  p->setup.published[i].port, admit_published,
				  err);
	return r;
}

static void destroy(struct ab_proxy *p)
{
	struct ab_engine *e = &p->engine;

	close_listeners(p);
	ab_dialer_free(e->dialer);
	ab_names_free(e->names);
	ab_pipes_free(e->pipes);
	ab_ledger_free(e->ledger);
	free(e->own.v);
	if (p->started)
		read_letters(&p->letters, 0);	/* may bring lists */
	for (size_t i = 0; i < p->nfilters; i++)
		ab_filter_free(p->filters[i]);
	free(p->filters);
	while (p->callers) {
		struct caller *next = p->callers->next;

		free(p->callers);
		p->callers = next;
	}
	ab_loop_fini(&e->loop);
	if (p->started) {
		ab_mailbox_fini(&p->in);
		ab_mailbox_fini(&p->out);
	}
	if (p->counters >= 0)
		close(p->counters);
	if (p->setup.own >= 0)
		close(p->setup.own);
	free(p->knockers);
	free(p->run_id);
	free(p);
}

int ab_proxy_new(const struct ab_proxy_setup *setup, struct ab_proxy **ret,
		 struct ab_error *err)
{
	struct ab_proxy *p = ab_alloc(sizeof(*p));

	p->setup = *setup;
	p->counters = -1;
	p->callers_end = &p->callers;
	p->run_id = ab_strdup(setup->run_id);
	p->engine.freed = freed;
	p->engine.unrecorded = unrecorded;
	p->engine.upstream = setup->upstream;
	p->engine.dial_host = setup->dial_host;
	p->retry = (struct ab_timer){ .fire = retry, .owner = p };
	if (ab_loop_init(&p->engine.loop, err) < 0 ||
	    add_listeners(p, err) < 0) {
		destroy(p);
		return ab_step(err, "proxy");
	}
	*ret = p;
	return 0;
}

int ab_proxy_knock_fd(const struct ab_proxy *proxy)
{
	return proxy->engine.loop.epoll;
}

int ab_proxy_start(struct ab_proxy *p, struct ab_error *err)
{
	pthread_attr_t attr;
	int r;

	if (ab_mailbox_init(&p->out, err) < 0 || prepare(p, err) < 0)
		return ab_step(err, "proxy");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 512 * 1024);
	r = pthread_create(&p->thread, &attr, serve, p);
	pthread_attr_destroy(&attr);
	if (r) {
		ab_fail(err, AB_ESYSTEM, r, "make the proxy's thread");
		return ab_step(err, "proxy");
	}
	p->started = true;
	return 0;
}

int ab_proxy_failure_fd(const struct ab_proxy *proxy)
{
	return proxy->out.fd;
}

void ab_proxy_failure(struct ab_proxy *proxy, struct ab_error *err)
{
	struct ab_letter *letter = ab_mailbox_take(&proxy->out);

	ab_fail(err, AB_ESYSTEM, 0, "the proxy failed and did not say why");
	if (letter) {
		*err = *(struct ab_error *)letter->data;
		free(letter->data);
		free(letter);
	}
	ab_step(err, "proxy");
}

void ab_proxy_dialled(struct ab_proxy *proxy, int errnum, int fd)
{
	ab_mailbox_post(&proxy->in, LETTER_DIALLED, errnum, fd, NULL);
}

void ab_proxy_replace(struct ab_proxy *proxy, struct ab_filter *filter)
{
	ab_mailbox_post(&proxy->in, LETTER_FILTER, 0, -1, filter);
}

/* What the kernel refused without asking anybody. */
static int report_packets(struct ab_proxy *p, struct ab_error *err)
{
	struct ab_counters counters;

	if (p->counters < 0)
		return 0;
	if (ab_counters_read(p->counters, &counters, err) < 0)
		return -1;
	if (!p->engine.ledger && (counters.udp || counters.other))
		p->engine.ledger = ab_ledger_new(p->run_id, p->setup.log);
	if (counters.udp && ab_ledger_packets(p->engine.ledger, "udp",
					      counters.udp, err) < 0)
		return -1;
	if (counters.other && ab_ledger_packets(p->engine.ledger, "other",
						counters.other, err) < 0)
		return -1;
	return 0;
}

static int report_totals(struct ab_proxy *p, struct ab_proxy_report *ret,
			 struct ab_error *err)
{
	struct ab_ledger_totals totals;
	int r = ab_ledger_flush(p->engine.ledger, err);

	ab_ledger_totals(p->engine.ledger, &totals);
	ret->allowed = totals.allowed;
	ret->denied = totals.denied;
	ret->failed = totals.failed;
	ret->bytes_up = totals.bytes_up;
	ret->bytes_down = totals.bytes_down;
	ab_ledger_summary(p->engine.ledger, &ret->lines);
	return r;
}

int ab_proxy_stop(struct ab_proxy *p, struct ab_proxy_report *ret,
		  struct ab_error *err)
{
	struct ab_error late;
	int r;

	if (p->started) {
		ab_mailbox_post(&p->in, LETTER_STOP, 0, -1, NULL);
		pthread_join(p->thread, NULL);
	}
	*ret = (struct ab_proxy_report){ 0 };
	r = report_packets(p, err);
	if (p->engine.ledger && report_totals(p, ret, r < 0 ? &late : err) < 0)
		r = -1;
	destroy(p);
	return r < 0 ? ab_step(err, "proxy") : 0;
}
