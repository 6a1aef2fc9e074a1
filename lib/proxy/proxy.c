/*
 * Theory of operation.
 *
 *	made	the listeners are in the loop's epoll set, which the main
 *		thread watches as one descriptor: somebody knocks
 *	started	the thread runs the loop
 *	failed	the loop, or under `strict` the log: the listeners are
 *		closed, the main thread is told and ends the run
 *	ending	the box is gone: what it had said is passed on, for a while
 *	stopped	every connection has ended and is recorded
 *
 * Between the threads are two mailboxes, and no other shared state: what the
 * thread uses is its own from start to join.
 *
 * Who is let in is keeper.c's affair.
 */
#include "proxy/proxy.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "audit/log.h"
#include "base/error.h"
#include "base/mem.h"
#include "netns/counters.h"
#include "netns/own.h"
#include "policy/policy.h"
#include "proxy/names.h"
#include "proxy/proxy_state.h"
#include "proxy/tunnel.h"

enum { END_MS = 2000 }; /* for what a box that is gone has left */

static struct ab_proxy *proxy_of(struct ab_engine *engine)
{
	return (struct ab_proxy *)engine;
}

static void fail(struct ab_proxy *p, const struct ab_error *err)
{
	struct ab_error *copy = ab_alloc(sizeof(*copy));

	*copy = *err;
	if (!p->tried) {
		free(p->early);
		p->early = copy;
		return;
	}
	ab_mailbox_post(&p->out, 0, 0, -1, copy);
	p->engine.loop.stop = true;
}

static void unrecorded(struct ab_engine *engine, const struct ab_error *err)
{
	if (proxy_of(engine)->setup.strict)
		fail(proxy_of(engine), err);
}

static void freed(struct ab_engine *engine, const struct ab_conn *conn)
{
	ab_keeper_freed(&proxy_of(engine)->keeper, conn);
	if (engine->ending && !engine->conns)
		engine->loop.stop = true;
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

static void give_up(struct ab_timer *timer)
{
	struct ab_proxy *p = timer->owner;

	p->engine.loop.stop = true;
}

/*
 * A program that sends, closes and ends may rely on the kernel for the rest;
 * here we are that. Whoever is still in the backlog has its turn, too: it is
 * judged and recorded.
 */
void ab_proxy_end(struct ab_proxy *p)
{
	struct ab_engine *e = &p->engine;

	ab_keeper_last(&p->keeper);
	e->ending = true;
	for (struct ab_conn *conn = e->conns; conn; conn = conn->next) {
		/* The next events would come too late. */
		conn->client.readable = true;
		if (!conn->closed)
			conn->step(conn);
		if (!ab_tunnel_remains(conn))
			ab_conn_close(conn, true);
	}
	ab_loop_timer(&e->loop, &p->end, END_MS);
	if (!e->conns)
		e->loop.stop = true;
}

static bool check_address(void *arg, const struct ab_host *addr, uint16_t port,
			  struct ab_verdict *ret)
{
	return ab_conn_reachable(arg, addr, port, ret);
}

struct ab_ledger *ab_proxy_ledger(struct ab_proxy *p)
{
	if (!p->engine.ledger)
		p->engine.ledger = ab_ledger_new(p->run_id, p->setup.log);
	return p->engine.ledger;
}

static int prepare(struct ab_proxy *p, struct ab_error *err)
{
	struct ab_engine *e = &p->engine;
	struct ab_dialer_setup dialer = {
		.loop = &e->loop, .check = check_address, .arg = e, .upstream = p->setup.upstream
	};

	ab_keeper_prepare(&p->keeper);
	ab_proxy_ledger(p);
	if (!p->filter)
		ab_proxy_use_filter(p, ab_filter_new(p->setup.policy));
	e->names = ab_names_new();
	e->pipes = ab_pipes_new();
	if (ab_dialer_new(&dialer, &e->dialer, err) < 0 || ab_proxy_listen(p, err) < 0)
		return -1;
	p->addresses =
		(struct ab_source){ .fd = p->setup.own, .ready = take_addresses, .owner = p };
	if (ab_own_read(p->setup.own, &e->own, err) < 0 ||
	    ab_loop_add(&e->loop, &p->addresses, EPOLLIN, err) < 0)
		return -1;
	ab_own_sort(&e->own);
	return 0;
}

static void *serve(void *arg)
{
	struct ab_proxy *p = arg;
	struct ab_error err;

	if (ab_loop_run(&p->engine.loop, &err) < 0)
		fail(p, &err);
	ab_keeper_close(&p->keeper);
	while (p->engine.conns) {
		struct ab_conn *conn = p->engine.conns;

		/* Freed by what is queued for later, at the loop's end. */
		for (; conn; conn = conn->next)
			ab_conn_close(conn, true);
		ab_loop_settle(&p->engine.loop);
	}
	return NULL;
}

static void destroy(struct ab_proxy *p)
{
	struct ab_engine *e = &p->engine;

	if (p->started)
		ab_proxy_drop_letters(p);
	ab_keeper_fini(&p->keeper);
	ab_dialer_free(e->dialer);
	ab_names_free(e->names);
	ab_pipes_free(e->pipes);
	ab_ledger_free(e->ledger);
	free(e->own.v);
	ab_insight_fini(&e->insight);
	ab_pending_fini(e);
	ab_overseer_fini(e);
	ab_grants_fini(&e->grants);
	free(e->cut);
	ab_filter_free(p->filter);
	ab_loop_fini(&e->loop);
	if (p->started) {
		ab_mailbox_fini(&p->in);
		ab_mailbox_fini(&p->out);
	}
	if (p->setup.own >= 0)
		close(p->setup.own);
	free(p->run_id);
	free(p->early);
	free(p);
}

int ab_proxy_new(const struct ab_proxy_setup *setup, struct ab_proxy **ret, struct ab_error *err)
{
	struct ab_proxy *p = ab_alloc(sizeof(*p));

	p->setup = *setup;
	p->run_id = ab_strdup(setup->run_id);
	p->end = (struct ab_timer){ .fire = give_up, .owner = p };
	p->engine.freed = freed;
	p->engine.unrecorded = unrecorded;
	p->engine.upstream = setup->upstream;
	p->engine.insight = (struct ab_insight){ .vault = setup->vault,
						 .site = setup->site,
						 .rules = setup->policy->net.http,
						 .stale = setup->stale,
						 .tripped = setup->tripped,
						 .arg = setup->arg };
	ab_insight_init(&p->engine.insight, setup->intercepted);
	p->engine.dial_host = setup->dial_host;
	ab_pending_init(&p->engine.pending, setup);
	ab_overseer_init(&p->engine, setup);
	if (ab_loop_init(&p->engine.loop, err) < 0 ||
	    ab_keeper_open(&p->keeper, &p->engine, &p->setup, err) < 0) {
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

	p->tried = true;
	if (p->early) {
		*err = *p->early;
		return ab_step(err, "proxy");
	}
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

/* What the kernel refused without asking anybody. */
static int report_packets(struct ab_proxy *p, struct ab_error *err)
{
	struct ab_counters counters;

	if (p->keeper.counters < 0)
		return 0;
	if (ab_counters_read(p->keeper.counters, &counters, err) < 0)
		return -1;
	if (counters.udp && ab_ledger_packets(ab_proxy_ledger(p), "udp", counters.udp, err) < 0)
		return -1;
	if (counters.other &&
	    ab_ledger_packets(ab_proxy_ledger(p), "other", counters.other, err) < 0)
		return -1;
	return 0;
}

static int report_totals(struct ab_proxy *p, struct ab_proxy_report *ret, struct ab_error *err)
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

/* A command can be faster than we are. */
static bool somebody_waits(const struct ab_proxy *p)
{
	struct pollfd knock = { .fd = p->engine.loop.epoll, .events = POLLIN };

	return poll(&knock, 1, 0) == 1;
}

int ab_proxy_stop(struct ab_proxy *p, struct ab_proxy_report *ret, struct ab_error *err)
{
	struct ab_error late;
	int r;

	if (!p->tried && somebody_waits(p) && ab_proxy_start(p, err) < 0) {
		destroy(p);
		return -1;
	}
	if (p->started) {
		ab_proxy_ask_end(p);
		pthread_join(p->thread, NULL);
	}
	*ret = (struct ab_proxy_report){ 0 };
	r = report_packets(p, err);
	if (p->early && r == 0) {
		*err = *p->early;
		r = -1;
	}
	if (p->engine.ledger && report_totals(p, ret, r < 0 ? &late : err) < 0)
		r = -1;
	destroy(p);
	return r < 0 ? ab_step(err, "proxy") : 0;
}
