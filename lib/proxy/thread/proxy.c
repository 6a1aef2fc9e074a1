/*
 * Theory of operation.
 *
 *	made	the listeners are in the loop's epoll set, which the main
 *		thread watches as one descriptor for the first connection
 *	started	the thread runs the loop
 *	failed	the loop failed, or under `strict` the log: the listeners are
 *		closed, the main thread gets the error and ends the run
 *	ending	the box has ended: deliver what it sent, for a while
 *	stopped	every connection has ended and is recorded
 *
 * The threads share two mailboxes and no other state: the thread owns what it
 * uses from start to join.
 */
#include "proxy/thread/proxy.h"

#include <pthread.h>
#include <sys/epoll.h>

#include "audit/write/processes.h"
#include "base/system/mailbox.h"
#include "netns/counters.h"
#include "netns/own.h"
#include "proxy/conn/agent_terms.h"
#include "proxy/conn/conn.h"
#include "proxy/doors/accept.h"
#include "proxy/filter/synthetic.h"
#include "proxy/traffic/agent.h"
#include "proxy/traffic/exchange.h"
#include "proxy/traffic/tunnel.h"

struct ab_proxy {
	struct ab_engine engine; /* first: proxy_of() casts it back */
	struct ab_proxy_setup setup;
	char *run_id;
	struct ab_acceptor acceptor;
	struct ab_source messages, addresses;
	struct ab_mailbox in, out;
	struct ab_timer end;
	struct ab_filter *filter;
	struct ab_error *early; /* a failure before start */
	pthread_t thread;
	bool tried; /* ab_proxy_start was called */
	bool started;
};

enum { END_MS = 2000 }; /* to deliver what the box has sent */

static struct ab_proxy *proxy_of(struct ab_engine *engine)
{
	return (struct ab_proxy *)engine;
}

static void report_failure(struct ab_proxy *p, const struct ab_error *err)
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

static void handle_unrecorded(struct ab_engine *engine, const struct ab_error *err)
{
	if (proxy_of(engine)->setup.strict)
		report_failure(proxy_of(engine), err);
}

static void conn_freed(struct ab_engine *engine, const struct ab_conn *conn)
{
	ab_acceptor_freed(&proxy_of(engine)->acceptor, conn);
	if (engine->ending && !engine->conns)
		engine->loop.stop = true;
}

static void update_own_addresses(struct ab_source *source, uint32_t events)
{
	struct ab_proxy *p = source->owner;
	struct ab_error err;

	(void)events;
	/* The filter needs the host's own addresses; do not continue without. */
	if (ab_own_read(source->fd, &p->engine.own, &err) < 0)
		report_failure(p, &err);
	else
		ab_own_sort(&p->engine.own);
}

static void end_timed_out(struct ab_timer *timer)
{
	struct ab_proxy *p = timer->owner;

	p->engine.loop.stop = true;
}

/*
 * A program that sends, closes and exits relies on the kernel to deliver the
 * rest; for the box, the proxy must do that. Connections still in the backlog
 * are judged and recorded too.
 */
static void end_thread(struct ab_proxy *p)
{
	struct ab_engine *e = &p->engine;

	ab_acceptor_last(&p->acceptor);
	e->ending = true;
	ab_acceptor_end_log(&p->acceptor);
	for (struct ab_conn *conn = e->conns; conn; conn = conn->next) {
		/* Do not wait for the next event; the loop may stop first. */
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

/* Created for the first record. */
static struct ab_ledger *make_ledger(struct ab_proxy *p)
{
	if (!p->engine.ledger)
		p->engine.ledger = ab_ledger_new(p->run_id, p->setup.log);
	return p->engine.ledger;
}

/*
 * Messages to the thread. Before start there is no thread to share state with,
 * so the sender handles its message at once.
 */

struct message {
	void (*handle)(struct ab_proxy *p, struct message *m);
	int fd;	   /* the handler owns it; -1: none */
	int value; /* an errno, a port, or the number of a secret */
	uint32_t number;
	enum ab_host_answer answer;
	struct ab_grant grant;
	struct ab_filter *filter;
	bool cut;
	char *text;    /* the processes, a reason, or the value of a secret */
	size_t len;    /* of the value */
	char *nearest; /* process */
	char *by;
};

/* A denied dial whose result is still queued points to an entry of the old
 * filter, so free that after the batch. */
struct old_filter {
	struct ab_later later;
	struct ab_filter *filter;
};

static void free_old_filter(struct ab_later *later)
{
	struct old_filter *old = later->owner;

	ab_filter_free(old->filter);
	free(old);
}

static void use_filter(struct ab_proxy *p, struct ab_filter *filter)
{
	struct old_filter *old;

	if (p->filter) {
		old = ab_alloc(sizeof(*old));
		*old = (struct old_filter){ .later = { .run = free_old_filter, .owner = old },
					    .filter = p->filter };
		ab_loop_later(&p->engine.loop, &old->later);
	}
	p->filter = filter;
	p->engine.filter = filter;
}

static void handle_stop(struct ab_proxy *p, struct message *m)
{
	(void)m;
	if (!p->engine.loop.stop)
		end_thread(p);
}

static void handle_dialled(struct ab_proxy *p, struct message *m)
{
	ab_acceptor_dialled(&p->acceptor, m->value, m->fd);
}

static void handle_publish(struct ab_proxy *p, struct message *m)
{
	ab_acceptor_publish(&p->acceptor, m->fd, (uint16_t)m->value);
}

static void handle_serve_agent(struct ab_proxy *p, struct message *m)
{
	ab_acceptor_serve_agent(&p->acceptor, m->fd);
}

static void handle_agent_dialled(struct ab_proxy *p, struct message *m)
{
	ab_agent_dialled(&p->engine, m->number, m->value, m->fd);
}

static void handle_filter(struct ab_proxy *p, struct message *m)
{
	use_filter(p, ab_take(m->filter));
	ab_waiting_review(&p->engine, "reload");
	/* Open connections to hosts that the new lists deny end at once. */
	ab_open_conns_cut_denied(&p->engine, m->cut);
}

static void handle_secret(struct ab_proxy *p, struct message *m)
{
	if (!ab_inspection_renew(&p->engine.inspection, (size_t)m->value, m->text, m->len))
		ab_inspection_fail(&p->engine.inspection, (size_t)m->value,
				   "the value cannot be sent in a request", p->engine.loop.now);
	ab_exchange_wake(&p->engine, (size_t)m->value);
}

static void handle_secret_failed(struct ab_proxy *p, struct message *m)
{
	ab_inspection_fail(&p->engine.inspection, (size_t)m->value, m->text, p->engine.loop.now);
	ab_exchange_wake(&p->engine, (size_t)m->value);
}

static void handle_answer(struct ab_proxy *p, struct message *m)
{
	ab_waiting_answer(&p->engine, m->number, m->answer, m->by, m->text);
}

static void handle_who(struct ab_proxy *p, struct message *m)
{
	ab_waiting_who(&p->engine, m->number, m->text, m->nearest);
}

static void handle_grant(struct ab_proxy *p, struct message *m)
{
	const struct ab_grant *g = &m->grant;
	struct ab_engine *e = &p->engine;
	uint64_t until = g->ms ? e->loop.now + g->ms : 0;
	bool taken = ab_grants_add(&e->grants, e->loop.now, g->entry,
				   g->deny ? AB_GRANT_DENY : AB_GRANT_ALLOW, until);
	struct ab_error err;

	if (ab_ledger_grant(e->ledger, g->entry, !g->deny, g->ms, taken, m->by, &err) < 0)
		e->unrecorded(e, &err);
	ab_waiting_review(e, m->by);
	if (g->deny && taken)
		ab_open_conns_cut_denied(e, false);
}

static void handle_hold(struct ab_proxy *p, struct message *m)
{
	ab_waiting_hold(&p->engine, m->text);
}

static void handle_cut(struct ab_proxy *p, struct message *m)
{
	ab_open_conns_cut(&p->engine, m->text);
}

static void handle_survey(struct ab_proxy *p, struct message *m)
{
	(void)m;
	p->setup.surveyed(p->setup.arg, ab_open_conns_survey(&p->engine));
}

static void fini_message(struct message *m)
{
	if (m->len)
		explicit_bzero(m->text, m->len);
	ab_filter_free(m->filter);
	ab_free_all(m->text, m->nearest, m->by);
}

/* The oldest one; NULL: there is none. */
static struct message *take_message(struct ab_proxy *p)
{
	struct ab_letter *letter = ab_mailbox_take(&p->in);
	struct message *m = letter ? letter->data : NULL;

	free(letter);
	return m;
}

static void read_messages(struct ab_source *source, uint32_t events)
{
	struct ab_proxy *p = source->owner;
	struct message *m;

	(void)events;
	while ((m = take_message(p)) != NULL) {
		m->handle(p, m);
		fini_message(m);
		free(m);
	}
}

static int open_inbox(struct ab_proxy *p, struct ab_error *err)
{
	if (ab_mailbox_init(&p->in, err) < 0)
		return -1;
	return ab_loop_watch(&p->engine.loop, &p->messages, p->in.fd, read_messages, p, err);
}

static void drop_messages(struct ab_proxy *p)
{
	struct message *m;

	while ((m = take_message(p)) != NULL) {
		ab_closep(&m->fd);
		fini_message(m);
		free(m);
	}
}

static void post_message(struct ab_proxy *p, int fd, struct message content)
{
	struct message *m = ab_alloc(sizeof(*m));

	*m = content;
	m->fd = fd;
	ab_mailbox_post(&p->in, 0, 0, -1, m);
}

static void send_message(struct ab_proxy *p, int fd, struct message content)
{
	if (p->started) {
		post_message(p, fd, content);
		return;
	}
	/* The loop updates its time only while it runs. A listener alone is not recorded. */
	p->engine.loop.now = (uint64_t)ab_now_ms();
	if (fd < 0)
		make_ledger(p);
	content.fd = fd;
	content.handle(p, &content);
	fini_message(&content);
}

static bool check_address(void *arg, const struct ab_host *addr, uint16_t port,
			  struct ab_verdict *ret)
{
	return ab_conn_reachable(arg, addr, port, ret);
}

static int prepare_engine(struct ab_proxy *p, struct ab_error *err)
{
	struct ab_engine *e = &p->engine;
	struct ab_dialer_setup dialer = {
		.resolver = { .loop = &e->loop },
		.check = check_address,
		.arg = e,
		.upstream = p->setup.upstream,
	};

	ab_acceptor_prepare(&p->acceptor);
	make_ledger(p);
	if (!p->filter)
		use_filter(p, ab_filter_new(p->setup.policy));
	e->synthetic = ab_synthetic_new();
	e->pipes = ab_pipes_new();
	if (ab_dialer_new(&dialer, &e->dialer, err) < 0 || open_inbox(p, err) < 0)
		return -1;
	p->addresses =
		(struct ab_source){ .fd = p->setup.own, .ready = update_own_addresses, .owner = p };
	if (ab_own_read(p->setup.own, &e->own, err) < 0 ||
	    ab_loop_add(&e->loop, &p->addresses, EPOLLIN, err) < 0)
		return -1;
	ab_own_sort(&e->own);
	return 0;
}

static void *run_thread(void *arg)
{
	struct ab_proxy *p = arg;
	struct ab_error err;

	if (ab_loop_run(&p->engine.loop, &err) < 0)
		report_failure(p, &err);
	ab_acceptor_close(&p->acceptor);
	while (p->engine.conns) {
		struct ab_conn *conn = p->engine.conns;

		/* Closing only queues the free; ab_loop_settle does it. */
		for (; conn; conn = conn->next)
			ab_conn_close(conn, true);
		ab_loop_settle(&p->engine.loop);
	}
	return NULL;
}

static void free_proxy(struct ab_proxy *p)
{
	struct ab_engine *e = &p->engine;

	if (p->started)
		drop_messages(p);
	ab_acceptor_fini(&p->acceptor);
	ab_dialer_free(e->dialer);
	ab_synthetic_free(e->synthetic);
	ab_pipes_free(e->pipes);
	ab_ledger_free(e->ledger);
	free(e->own.v);
	ab_inspection_fini(&e->inspection);
	ab_waiting_fini(e);
	ab_open_conns_fini(e);
	ab_grants_fini(&e->grants);
	ab_agent_terms_free(e->agent);
	free(e->cut);
	ab_filter_free(p->filter);
	ab_loop_fini(&e->loop);
	if (p->started) {
		ab_mailbox_fini(&p->in);
		ab_mailbox_fini(&p->out);
	}
	ab_closep(&p->setup.own);
	ab_free_all(p->run_id, p->early, p);
}

int ab_proxy_new(const struct ab_proxy_setup *setup, struct ab_proxy **ret, struct ab_error *err)
{
	struct ab_proxy *p = ab_alloc(sizeof(*p));

	p->setup = *setup;
	p->setup.ask_ms = setup->ask_ms ? setup->ask_ms : AB_ASK_MS;
	p->setup.hold_ms = setup->hold_ms ? setup->hold_ms : AB_HOLD_MS;
	p->run_id = ab_strdup(setup->run_id);
	p->end = (struct ab_timer){ .fire = end_timed_out, .owner = p };
	p->engine.freed = conn_freed;
	p->engine.unrecorded = handle_unrecorded;
	p->engine.setup = &p->setup;
	TAILQ_INIT(&p->engine.half_open);
	p->engine.inspection = (struct ab_inspection){ .vault = setup->vault,
						       .site = setup->site,
						       .setup = &p->setup };
	ab_inspection_init(&p->engine.inspection, setup->intercepted);
	p->engine.agent = setup->agent;
	ab_open_conns_init(&p->engine);
	if (ab_loop_init(&p->engine.loop, err) < 0 ||
	    ab_acceptor_open(&p->acceptor, &p->engine, err) < 0) {
		free_proxy(p);
		return ab_step(err, "proxy");
	}
	p->engine.begun = p->engine.loop.now;
	*ret = p;
	return 0;
}

int ab_proxy_ready_fd(const struct ab_proxy *proxy)
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
	if (ab_mailbox_init(&p->out, err) < 0 || prepare_engine(p, err) < 0)
		return ab_step(err, "proxy");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 512 * 1024);
	r = pthread_create(&p->thread, &attr, run_thread, p);
	pthread_attr_destroy(&attr);
	if (r)
		return ab_fail_step(err, "proxy", r, "create the proxy thread");
	p->started = true;
	return 0;
}

int ab_proxy_failure_fd(const struct ab_proxy *proxy)
{
	return proxy->out.fd;
}

void ab_proxy_failure(struct ab_proxy *proxy, struct ab_error *err)
{
	struct ab_letter *message = ab_mailbox_take(&proxy->out);

	ab_fail(err, AB_ESYSTEM, 0, "the proxy failed for an unknown reason");
	if (message) {
		*err = *(struct ab_error *)message->data;
		ab_free_all(message->data, message);
	}
	ab_step(err, "proxy");
}

/* Packets that the kernel or the guard dropped, and of which they did not tell more. */
static int record_packets(struct ab_proxy *p, struct ab_error *err)
{
	struct ab_ledger_totals totals = { 0 };
	struct ab_counters counters = { 0 };

	if (p->acceptor.counters >= 0 && ab_counters_read(p->acceptor.counters, &counters, err) < 0)
		return -1;
	counters.udp += p->acceptor.dropped;
	if (p->engine.ledger)
		ab_ledger_totals(p->engine.ledger, &totals);
	if (counters.udp > totals.packets &&
	    ab_ledger_packets(make_ledger(p), "udp", counters.udp - totals.packets, err) < 0)
		return -1;
	if (counters.other && ab_ledger_packets(make_ledger(p), "other", counters.other, err) < 0)
		return -1;
	return 0;
}

static int fill_report(struct ab_proxy *p, struct ab_proxy_report *ret, struct ab_error *err)
{
	int r = ab_ledger_flush(p->engine.ledger, err);

	ab_ledger_totals(p->engine.ledger, &ret->totals);
	ab_ledger_summary(p->engine.ledger, &ret->lines);
	return r;
}

/* The box may end before the main thread has seen its first connection. */
static bool has_backlog(const struct ab_proxy *p)
{
	return ab_poll(p->engine.loop.epoll, POLLIN, 0) == 1;
}

int ab_proxy_stop(struct ab_proxy *p, struct ab_proxy_report *ret, struct ab_error *err)
{
	struct ab_error late;
	int r;

	if (!p->tried && has_backlog(p) && ab_proxy_start(p, err) < 0) {
		free_proxy(p);
		return -1;
	}
	if (p->started) {
		send_message(p, -1, (struct message){ .handle = handle_stop });
		pthread_join(p->thread, NULL);
	}
	*ret = (struct ab_proxy_report){ 0 };
	r = record_packets(p, err);
	if (p->early && r == 0) {
		*err = *p->early;
		r = -1;
	}
	if (p->engine.ledger && fill_report(p, ret, r < 0 ? &late : err) < 0)
		r = -1;
	free_proxy(p);
	return r < 0 ? ab_step(err, "proxy") : 0;
}

/* Only the thread dials. */
void ab_proxy_dialled(struct ab_proxy *p, int errnum, int fd)
{
	post_message(p, fd, (struct message){ .handle = handle_dialled, .value = errnum });
}

void ab_proxy_agent_dialled(struct ab_proxy *p, uint32_t ticket, int errnum, int fd)
{
	post_message(p, fd,
		     (struct message){
			     .handle = handle_agent_dialled, .number = ticket, .value = errnum });
}

void ab_proxy_publish(struct ab_proxy *p, int fd, uint16_t port)
{
	send_message(p, fd, (struct message){ .handle = handle_publish, .value = port });
}

void ab_proxy_serve_agent(struct ab_proxy *p, int fd)
{
	send_message(p, fd, (struct message){ .handle = handle_serve_agent });
}

void ab_proxy_replace(struct ab_proxy *p, struct ab_filter *filter, bool cut)
{
	send_message(p, -1,
		     (struct message){ .handle = handle_filter, .filter = filter, .cut = cut });
}

void ab_proxy_answer(struct ab_proxy *p, uint32_t number, enum ab_host_answer answer,
		     const char *by, const char *why)
{
	send_message(p, -1,
		     (struct message){ .handle = handle_answer,
				       .number = number,
				       .answer = answer,
				       .by = ab_strdup(by),
				       .text = ab_strdup(why) });
}

void ab_proxy_who(struct ab_proxy *p, uint32_t number, const char *who)
{
	send_message(p, -1,
		     (struct message){ .handle = handle_who,
				       .number = number,
				       .text = who ? ab_processes_line(who) : NULL,
				       .nearest = who ? ab_processes_nearest(who) : NULL });
}

void ab_proxy_grant(struct ab_proxy *p, const struct ab_grant *grant, const char *by)
{
	send_message(
		p, -1,
		(struct message){ .handle = handle_grant, .grant = *grant, .by = ab_strdup(by) });
}

void ab_proxy_hold(struct ab_proxy *p, const char *reason)
{
	send_message(p, -1, (struct message){ .handle = handle_hold, .text = ab_strdup(reason) });
}

void ab_proxy_cut(struct ab_proxy *p, const char *reason)
{
	send_message(p, -1, (struct message){ .handle = handle_cut, .text = ab_strdup(reason) });
}

void ab_proxy_survey(struct ab_proxy *p)
{
	if (p->setup.surveyed)
		send_message(p, -1, (struct message){ .handle = handle_survey });
}

void ab_proxy_secret(struct ab_proxy *p, size_t i, const char *value, size_t len)
{
	char *copy = ab_alloc(len + 1);

	memcpy(copy, value, len);
	send_message(p, -1,
		     (struct message){
			     .handle = handle_secret, .value = (int)i, .text = copy, .len = len });
}

void ab_proxy_secret_failed(struct ab_proxy *p, size_t i, const char *why)
{
	send_message(p, -1,
		     (struct message){ .handle = handle_secret_failed,
				       .value = (int)i,
				       .text = ab_strdup(why) });
}
