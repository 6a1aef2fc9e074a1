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
 * Who is let in is proxy/doors/accept.c's affair.
 */
#include "proxy/thread/proxy.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "audit/write/log.h"
#include "audit/write/processes.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/clock.h"
#include "base/system/mailbox.h"
#include "netns/counters.h"
#include "netns/own.h"
#include "policy/model/policy.h"
#include "proxy/conn/conn.h"
#include "proxy/doors/accept.h"
#include "proxy/filter/synthetic.h"
#include "proxy/traffic/tunnel.h"

struct ab_proxy {
	struct ab_engine engine; /* first: its callbacks find us by it */
	struct ab_proxy_setup setup;
	char *run_id;
	struct ab_acceptor acceptor;
	struct ab_source letters, addresses;
	struct ab_mailbox in, out;
	struct ab_timer end;
	struct ab_filter *filter;
	struct ab_error *early; /* a failure before there was a thread */
	pthread_t thread;
	bool tried; /* to start it */
	bool started;
};

/* The run has ended: pass on what is left, then stop. */
static void end_thread(struct ab_proxy *proxy);
/* The ledger is made for its first record. */
static struct ab_ledger *make_ledger(struct ab_proxy *proxy);

/* What other threads tell the proxy. */
static void ask_for_end(struct ab_proxy *proxy);
static int read_mail(struct ab_proxy *proxy, struct ab_error *err);
/* The thread is gone: those that it has not read. */
static void drop_mail(struct ab_proxy *proxy);
static void use_filter(struct ab_proxy *proxy, struct ab_filter *filter);

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
	ab_acceptor_freed(&proxy_of(engine)->acceptor, conn);
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
static void end_thread(struct ab_proxy *p)
{
	struct ab_engine *e = &p->engine;

	ab_acceptor_last(&p->acceptor);
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

static struct ab_ledger *make_ledger(struct ab_proxy *p)
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

	ab_acceptor_prepare(&p->acceptor);
	make_ledger(p);
	if (!p->filter)
		use_filter(p, ab_filter_new(p->setup.policy));
	e->names = ab_synthetic_new();
	e->pipes = ab_pipes_new();
	if (ab_dialer_new(&dialer, &e->dialer, err) < 0 || read_mail(p, err) < 0)
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
	ab_acceptor_close(&p->acceptor);
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
		drop_mail(p);
	ab_acceptor_fini(&p->acceptor);
	ab_dialer_free(e->dialer);
	ab_synthetic_free(e->names);
	ab_pipes_free(e->pipes);
	ab_ledger_free(e->ledger);
	free(e->own.v);
	ab_inspection_fini(&e->inspection);
	ab_waiting_fini(e);
	ab_open_conns_fini(e);
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
	p->engine.inspection = (struct ab_inspection){ .vault = setup->vault,
						       .site = setup->site,
						       .rules = setup->policy->net.http,
						       .stale = setup->stale,
						       .tripped = setup->tripped,
						       .arg = setup->arg };
	ab_inspection_init(&p->engine.inspection, setup->intercepted);
	p->engine.dial_host = setup->dial_host;
	ab_waiting_init(&p->engine.pending, setup);
	ab_open_conns_init(&p->engine, setup);
	if (ab_loop_init(&p->engine.loop, err) < 0 ||
	    ab_acceptor_open(&p->acceptor, &p->engine, &p->setup, err) < 0) {
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

	if (p->acceptor.counters < 0)
		return 0;
	if (ab_counters_read(p->acceptor.counters, &counters, err) < 0)
		return -1;
	if (counters.udp && ab_ledger_packets(make_ledger(p), "udp", counters.udp, err) < 0)
		return -1;
	if (counters.other && ab_ledger_packets(make_ledger(p), "other", counters.other, err) < 0)
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
		ask_for_end(p);
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

/*
 * What the thread is told. Before it is there nobody else uses what is its
 * own, and the same is done at once.
 */

enum letter {
	LETTER_STOP,
	LETTER_DIALLED,
	LETTER_FILTER,
	LETTER_SECRET,
	LETTER_ANSWER,
	LETTER_WHO,
	LETTER_GRANT,
	LETTER_HOLD,
	LETTER_CUT,
	LETTER_CUT_DENIED,
	LETTER_SURVEY,
	LETTER_COUNT,
};

struct secret {
	size_t len;
	char value[];
};

struct note {
	uint32_t number;
	enum ab_host_answer word;
	struct ab_grant grant;
	char *text;    /* who it was, or a reason */
	char *nearest; /* of who it was */
	char *by;
};

/* A dial that was refused may still have to tell by which entry: it is in the
 * queue already. */
struct old {
	struct ab_later later;
	struct ab_filter *filter;
};

static void free_old(struct ab_later *later)
{
	struct old *old = later->owner;

	ab_filter_free(old->filter);
	free(old);
}

static void use_filter(struct ab_proxy *p, struct ab_filter *filter)
{
	struct old *old;

	if (p->filter) {
		old = ab_alloc(sizeof(*old));
		*old = (struct old){ .later = { .run = free_old, .owner = old },
				     .filter = p->filter };
		ab_loop_later(&p->engine.loop, &old->later);
	}
	p->filter = filter;
	p->engine.filter = filter;
}

static void stop(struct ab_proxy *p, struct ab_letter *letter)
{
	(void)letter;
	if (!p->engine.loop.stop)
		end_thread(p);
}

static void dialled(struct ab_proxy *p, struct ab_letter *letter)
{
	ab_acceptor_dialled(&p->acceptor, letter->value, letter->fd);
}

static void take_filter(struct ab_proxy *p, struct ab_letter *letter)
{
	use_filter(p, ab_take(letter->data));
	ab_waiting_review(&p->engine, "reload");
}

static void use_secret(struct ab_proxy *p, struct ab_letter *letter)
{
	struct secret *s = letter->data;

	ab_inspection_renew(&p->engine.inspection, (size_t)letter->value, s->value, s->len);
}

static void answer(struct ab_proxy *p, struct ab_letter *letter)
{
	struct note *note = letter->data;

	ab_waiting_answer(&p->engine, note->number, note->word, note->by);
}

static void who(struct ab_proxy *p, struct ab_letter *letter)
{
	struct note *note = letter->data;

	ab_waiting_who(&p->engine, note->number, note->text, note->nearest);
}

static void grant(struct ab_proxy *p, struct ab_letter *letter)
{
	struct note *note = letter->data;
	const struct ab_grant *g = &note->grant;
	struct ab_engine *e = &p->engine;
	uint64_t until = g->ms ? e->loop.now + g->ms : 0;
	bool taken = ab_grants_add(&e->grants, e->loop.now, g->entry,
				   g->deny ? AB_GRANT_DENY : AB_GRANT_ALLOW, until);
	struct ab_error err;

	if (ab_ledger_grant(e->ledger, g->entry, !g->deny, g->ms, taken, note->by, &err) < 0)
		e->unrecorded(e, &err);
	ab_waiting_review(e, note->by);
}

static void hold(struct ab_proxy *p, struct ab_letter *letter)
{
	struct note *note = letter->data;

	ab_waiting_hold(&p->engine, note->text);
}

static void cut(struct ab_proxy *p, struct ab_letter *letter)
{
	struct note *note = letter->data;

	ab_open_conns_cut(&p->engine, note->text);
}

static void cut_denied(struct ab_proxy *p, struct ab_letter *letter)
{
	(void)letter;
	ab_open_conns_cut_denied(&p->engine);
}

static void survey(struct ab_proxy *p, struct ab_letter *letter)
{
	(void)letter;
	p->setup.surveyed(p->setup.arg, ab_open_conns_survey(&p->engine));
}

static void free_secret(void *data)
{
	struct secret *s = data;

	explicit_bzero(s->value, s->len);
	free(s);
}

static void free_note(void *data)
{
	struct note *note = data;

	free(note->text);
	free(note->nearest);
	free(note->by);
	free(note);
}

static void free_filter(void *data)
{
	ab_filter_free(data);
}

/* How each is read, and how what is in it is freed. */
static const struct {
	void (*read)(struct ab_proxy *p, struct ab_letter *letter);
	void (*free)(void *data);
} letters[LETTER_COUNT] = {
	[LETTER_STOP] = { stop, NULL },
	[LETTER_DIALLED] = { dialled, NULL },
	[LETTER_FILTER] = { take_filter, free_filter },
	[LETTER_SECRET] = { use_secret, free_secret },
	[LETTER_ANSWER] = { answer, free_note },
	[LETTER_WHO] = { who, free_note },
	[LETTER_GRANT] = { grant, free_note },
	[LETTER_HOLD] = { hold, free_note },
	[LETTER_CUT] = { cut, free_note },
	[LETTER_CUT_DENIED] = { cut_denied, NULL },
	[LETTER_SURVEY] = { survey, NULL },
};

static void discard(struct ab_letter *letter)
{
	if (letter->data)
		letters[letter->kind].free(letter->data);
}

static void read_letters(struct ab_source *source, uint32_t events)
{
	struct ab_proxy *p = source->owner;
	struct ab_letter *letter;

	(void)events;
	while ((letter = ab_mailbox_take(&p->in)) != NULL) {
		letters[letter->kind].read(p, letter);
		discard(letter);
		free(letter);
	}
}

static int read_mail(struct ab_proxy *p, struct ab_error *err)
{
	if (ab_mailbox_init(&p->in, err) < 0)
		return -1;
	p->letters = (struct ab_source){ .fd = p->in.fd, .ready = read_letters, .owner = p };
	return ab_loop_add(&p->engine.loop, &p->letters, EPOLLIN, err);
}

static void drop_mail(struct ab_proxy *p)
{
	struct ab_letter *letter;

	while ((letter = ab_mailbox_take(&p->in)) != NULL) {
		if (letter->fd >= 0)
			close(letter->fd);
		discard(letter);
		free(letter);
	}
}

static void send_letter(struct ab_proxy *p, enum letter kind, int value, void *data)
{
	struct ab_letter now = { .kind = kind, .value = value, .fd = -1, .data = data };

	if (p->started) {
		ab_mailbox_post(&p->in, kind, value, -1, data);
		return;
	}
	/* The loop's time stands still until it runs. */
	p->engine.loop.now = (uint64_t)ab_now_ms();
	make_ledger(p);
	letters[kind].read(p, &now);
	discard(&now);
}

void ab_proxy_dialled(struct ab_proxy *p, int errnum, int fd)
{
	ab_mailbox_post(&p->in, LETTER_DIALLED, errnum, fd, NULL);
}

void ab_proxy_replace(struct ab_proxy *p, struct ab_filter *filter)
{
	send_letter(p, LETTER_FILTER, 0, filter);
}

void ab_proxy_cut_denied(struct ab_proxy *p)
{
	send_letter(p, LETTER_CUT_DENIED, 0, NULL);
}

void ab_proxy_answer(struct ab_proxy *p, uint32_t number, enum ab_host_answer word, const char *by)
{
	struct note *note = ab_alloc(sizeof(*note));

	*note = (struct note){ .number = number, .word = word, .by = ab_strdup(by) };
	send_letter(p, LETTER_ANSWER, 0, note);
}

void ab_proxy_who(struct ab_proxy *p, uint32_t number, const char *who)
{
	struct note *note = ab_alloc(sizeof(*note));

	*note = (struct note){
		.number = number,
		.text = who ? ab_processes_line(who) : NULL,
		.nearest = who ? ab_processes_nearest(who) : NULL,
	};
	send_letter(p, LETTER_WHO, 0, note);
}

void ab_proxy_grant(struct ab_proxy *p, const struct ab_grant *grant, const char *by)
{
	struct note *note = ab_alloc(sizeof(*note));

	*note = (struct note){ .grant = *grant, .by = ab_strdup(by) };
	send_letter(p, LETTER_GRANT, 0, note);
}

void ab_proxy_hold(struct ab_proxy *p, const char *reason)
{
	struct note *note = ab_alloc(sizeof(*note));

	note->text = ab_strdup(reason);
	send_letter(p, LETTER_HOLD, 0, note);
}

void ab_proxy_cut(struct ab_proxy *p, const char *reason)
{
	struct note *note = ab_alloc(sizeof(*note));

	note->text = ab_strdup(reason);
	send_letter(p, LETTER_CUT, 0, note);
}

void ab_proxy_survey(struct ab_proxy *p)
{
	if (p->setup.surveyed)
		send_letter(p, LETTER_SURVEY, 0, NULL);
}

void ab_proxy_secret(struct ab_proxy *p, size_t i, const char *value, size_t len)
{
	struct secret *s = ab_alloc(sizeof(*s) + len);

	s->len = len;
	memcpy(s->value, value, len);
	send_letter(p, LETTER_SECRET, (int)i, s);
}

static void ask_for_end(struct ab_proxy *p)
{
	send_letter(p, LETTER_STOP, 0, NULL);
}
