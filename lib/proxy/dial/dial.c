/*
 * A dial is in one of these states:
 *
 *	resolving	`ask` waits for the resolver
 *	connecting	`begun` attempts have begun, `open` of them are still
 *			connecting; the pace timer runs while others remain
 *	tunnelling	connected to the upstream as `winner`; sending the
 *			request or reading the reply
 *	over		the result is final; `later` delivers it
 *
 * The deadline runs in all states but the last, and anew when the name is resolved. `later` delivers the result at
 * the end of the batch, never from inside another function of this file.
 */
#include "proxy/dial/dial.h"

#include <netinet/tcp.h>
#include <sys/epoll.h>

#include "base/data/list.h"
#include "proxy/dial/upstream_tunnel.h"

enum {
	DEADLINE_MS = 10000, /* to connect, once the name is resolved */
	RESOLVE_MS = 35000,  /* the resolver gives up earlier, unless it is busy */
	PACE_MS = 250,
	ATTEMPTS = 2 * AB_ANSWER_MAX,
};

struct ab_dialer {
	struct ab_dialer_setup setup;
	struct ab_resolver *resolver;
	struct ab_dial *dials; /* whose fn has not been called */
};

struct attempt {
	struct ab_source source; /* fd -1: not open */
	struct ab_addr addr;
};

struct ab_dial {
	struct ab_dialer *dialer;
	struct ab_dial *next, **link;
	ab_dialled_fn fn; /* NULL: called, or cancelled */
	void *arg;
	struct ab_ask ask;
	struct ab_timer deadline, pace;
	struct ab_later later;
	struct ab_upstream_tunnel *tunnel; /* or NULL */
	struct attempt *winner;
	bool over;
	uint16_t port;
	unsigned n, begun, open;
	struct ab_dialled result;
	char entry[AB_HOST_ENTRY_TEXT]; /* of the verdict */
	struct attempt attempts[ATTEMPTS];
};

/* Stop everything; keep the dial and its result. */
static void stop_dial(struct ab_dial *dial)
{
	struct ab_loop *loop = dial->dialer->setup.resolver.loop;

	ab_resolver_cancel(&dial->ask);
	ab_loop_timer_stop(loop, &dial->deadline);
	ab_loop_timer_stop(loop, &dial->pace);
	for (unsigned i = 0; i < dial->begun; i++)
		ab_source_close(&dial->attempts[i].source);
	dial->open = 0;
	ab_upstream_tunnel_free(ab_take(dial->tunnel));
}

static void end_dial(struct ab_dial *dial, enum ab_dial_result result)
{
	dial->result.result = result;
	dial->over = true;
	stop_dial(dial);
	ab_loop_later(dial->dialer->setup.resolver.loop, &dial->later);
}

static void unlink_dial(struct ab_dial *dial)
{
	ab_list_remove(dial);
	dial->fn = NULL;
}

static void deliver_result(struct ab_later *later)
{
	struct ab_dial *dial = later->owner;
	ab_dialled_fn fn = dial->fn;

	if (fn) {
		unlink_dial(dial);
		fn(dial->arg, &dial->result);
	}
	free(dial);
}

void ab_dial_cancel(struct ab_dial *dial)
{
	if (!dial->fn)
		return;
	unlink_dial(dial);
	end_dial(dial, dial->result.result);
	ab_closep(&dial->result.fd);
}

static void dial_timed_out(struct ab_timer *timer)
{
	struct ab_dial *dial = timer->owner;

	end_dial(dial, dial->ask.link ? AB_DIAL_NO_ANSWER : AB_DIAL_TIMEOUT);
}

/* 0 or errno. */
static int watch_events(struct ab_dial *dial, struct ab_source *source, uint32_t events)
{
	struct ab_loop *loop = dial->dialer->setup.resolver.loop;
	struct ab_error err;

	if (source->active) {
		ab_loop_set(loop, source, events);
		return 0;
	}
	return ab_loop_add(loop, source, events, &err) < 0 ? err.errnum : 0;
}

static void end_connected(struct ab_dial *dial)
{
	ab_loop_remove(dial->dialer->setup.resolver.loop, &dial->winner->source);
	dial->result.fd = ab_take_fd(&dial->winner->source.fd);
	dial->result.errnum = 0; /* of an earlier address */
	end_dial(dial, AB_DIAL_OK);
}

static void request_tunnel(struct ab_dial *dial)
{
	struct ab_source *source = &dial->winner->source;
	int status;

	switch (ab_upstream_tunnel_step(dial->tunnel, source->fd, &status)) {
	case AB_UPSTREAM_TUNNEL_WRITE:
		status = watch_events(dial, source, EPOLLOUT);
		break;
	case AB_UPSTREAM_TUNNEL_READ:
		status = watch_events(dial, source, EPOLLIN);
		break;
	case AB_UPSTREAM_TUNNEL_OPEN:
		end_connected(dial);
		return;
	case AB_UPSTREAM_TUNNEL_REFUSED:
		dial->result.status = status;
		end_dial(dial, AB_DIAL_UPSTREAM);
		return;
	}
	if (status) {
		dial->result.errnum = status;
		end_dial(dial, AB_DIAL_FAILED);
	}
}

static void tunnel_ready(struct ab_source *source, uint32_t events)
{
	(void)events;
	request_tunnel(source->owner);
}

static void use_attempt(struct ab_dial *dial, struct attempt *a)
{
	struct ab_loop *loop = dial->dialer->setup.resolver.loop;

	dial->winner = a;
	ab_host_from_addr(a->addr.v6, a->addr.addr, &dial->result.address);
	if (!dial->tunnel) {
		end_connected(dial);
		return;
	}
	ab_loop_timer_stop(loop, &dial->pace);
	for (unsigned i = 0; i < dial->begun; i++)
		if (&dial->attempts[i] != a)
			ab_source_close(&dial->attempts[i].source);
	a->source.ready = tunnel_ready;
	request_tunnel(dial);
}

static void try_next(struct ab_dial *dial);

static void attempt_ready(struct ab_source *source, uint32_t events)
{
	struct ab_dial *dial = source->owner;
	struct attempt *a = (struct attempt *)source;
	socklen_t len = sizeof(dial->result.errnum);
	int errnum = 0;

	if (!(events & (EPOLLERR | EPOLLHUP))) {
		use_attempt(dial, a);
		return;
	}
	if (getsockopt(source->fd, SOL_SOCKET, SO_ERROR, &errnum, &len) < 0)
		errnum = errno;
	dial->result.errnum = errnum ? errnum : ECONNRESET;
	ab_host_from_addr(a->addr.v6, a->addr.addr, &dial->result.address);
	ab_source_close(source);
	dial->open--;
	try_next(dial);
}

static int connect_to(int fd, const struct ab_addr *addr, uint16_t port)
{
	struct ab_sockaddr at = ab_sockaddr(addr->v6, addr->addr, port);
	int r = connect(fd, &at.any, at.len);

	/* Twice: a peer on this machine accepts before the first call returns
	 * EINPROGRESS, and the second call reports that. */
	return r < 0 && errno == EINPROGRESS ? connect(fd, &at.any, at.len) : r;
}

/* 0: connected; EINPROGRESS: connecting and watched; else the error. */
static int begin_attempt(struct ab_dial *dial, struct attempt *a)
{
	int fd = socket(a->addr.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			0);
	int on = 1, r;

	a->source = (struct ab_source){ .fd = fd, .ready = attempt_ready, .owner = dial };
	if (fd < 0)
		return errno;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect_to(fd, &a->addr, dial->port) == 0)
		return 0;
	if (errno != EALREADY && errno != EINPROGRESS && errno != EINTR)
		r = errno;
	else
		r = watch_events(dial, &a->source, EPOLLOUT);
	if (r) {
		ab_source_close(&a->source);
		return r;
	}
	return EINPROGRESS;
}

/* Begin attempts until one is connecting. If none is, the dial failed. */
static void try_next(struct ab_dial *dial)
{
	struct ab_loop *loop = dial->dialer->setup.resolver.loop;

	ab_loop_timer_stop(loop, &dial->pace);
	while (dial->begun < dial->n) {
		struct attempt *a = &dial->attempts[dial->begun++];
		int r = begin_attempt(dial, a);

		if (r == 0) {
			use_attempt(dial, a);
			return;
		}
		if (r == EINPROGRESS) {
			dial->open++;
			if (dial->begun < dial->n)
				ab_loop_timer(loop, &dial->pace, PACE_MS);
			return;
		}
		dial->result.errnum = r;
		ab_host_from_addr(a->addr.v6, a->addr.addr, &dial->result.address);
		/* Another attempt would not get a descriptor either. */
		if (r == EMFILE || r == ENFILE)
			dial->n = dial->begun;
	}
	if (!dial->open)
		end_dial(dial, AB_DIAL_FAILED);
}

static void pace_elapsed(struct ab_timer *timer)
{
	try_next(timer->owner);
}

static void add_address(struct ab_dial *dial, bool v6, const uint8_t *addr)
{
	struct ab_addr *to = &dial->attempts[dial->n++].addr;

	to->v6 = v6;
	memcpy(to->addr, addr, v6 ? 16 : 4);
}

static bool check_host(struct ab_dial *dial, const struct ab_host *host, uint16_t port)
{
	const struct ab_dialer_setup *setup = &dial->dialer->setup;

	if (setup->check(setup->arg, host, port, &dial->result.verdict))
		return true;
	/* The lists and grants may change before the result is delivered. */
	snprintf(dial->entry, sizeof(dial->entry), "%s", dial->result.verdict.entry);
	dial->result.verdict.entry = dial->entry;
	dial->result.address = *host;
	end_dial(dial, AB_DIAL_FORBIDDEN);
	return false;
}

static bool check_addresses(struct ab_dial *dial)
{
	for (unsigned i = 0; i < dial->n; i++) {
		struct ab_host host;

		const struct ab_addr *addr = &dial->attempts[i].addr;

		/* An IPv6 address that wraps an IPv4 address is judged and shown as that one, but
		 * dialled as received: behind NAT64 only that works. */
		ab_host_from_addr(addr->v6, addr->addr, &host);
		if (!check_host(dial, &host, dial->port))
			return false;
	}
	return true;
}

static void use_answer(struct ab_dial *dial, const struct ab_answer *answer)
{
	if (answer->kind != AB_ANSWER_OK) {
		end_dial(dial,
			 answer->kind == AB_ANSWER_NO_NAME ? AB_DIAL_NO_NAME : AB_DIAL_NO_ANSWER);
		return;
	}
	for (unsigned i = 0; i < AB_ANSWER_MAX; i++) {
		if (i < answer->n6)
			add_address(dial, true, answer->v6[i]);
		if (i < answer->n4)
			add_address(dial, false, answer->v4[i]);
	}
	/* The user chose the upstream's address. */
	if (dial->result.upstream || check_addresses(dial))
		try_next(dial);
}

static void name_resolved(struct ab_ask *ask, const struct ab_answer *answer)
{
	struct ab_dial *dial = ask->owner;

	use_answer(dial, answer);
	if (!dial->over)
		ab_loop_timer(dial->dialer->setup.resolver.loop, &dial->deadline, DEADLINE_MS);
}

static void begin_dial(struct ab_dial *dial, const struct ab_host *host, uint16_t port, bool http)
{
	const struct ab_upstream *up = dial->dialer->setup.upstream;
	const struct ab_answer *answer;

	if (host->kind != AB_HOST_NAME && !check_host(dial, host, port))
		return;
	if (up && !ab_upstream_bypasses(up, host, port)) {
		dial->result.upstream = true;
		dial->port = up->port;
		if (!http)
			dial->tunnel = ab_upstream_tunnel_new(up, host, port);
		host = &up->host;
	}
	if (host->kind != AB_HOST_NAME) {
		add_address(dial, host->kind == AB_HOST_IPV6, host->addr);
		try_next(dial);
		return;
	}
	answer = ab_resolver_ask(dial->dialer->resolver, host, &dial->ask);
	if (answer)
		use_answer(dial, answer);
}

struct ab_dial *ab_dial_start(struct ab_dialer *dialer, const struct ab_host *host, uint16_t port,
			      bool http, ab_dialled_fn fn, void *arg)
{
	struct ab_dial *dial = ab_alloc(sizeof(*dial));

	dial->dialer = dialer;
	dial->fn = fn;
	dial->arg = arg;
	dial->port = port;
	dial->result.fd = -1;
	dial->ask = (struct ab_ask){ .fn = name_resolved, .owner = dial };
	dial->deadline = (struct ab_timer){ .fire = dial_timed_out, .owner = dial };
	dial->pace = (struct ab_timer){ .fire = pace_elapsed, .owner = dial };
	dial->later = (struct ab_later){ .run = deliver_result, .owner = dial };
	ab_list_push(&dialer->dials, dial);
	begin_dial(dial, host, port, http);
	if (!dial->over)
		ab_loop_timer(dialer->setup.resolver.loop, &dial->deadline,
			      dial->ask.link ? RESOLVE_MS : DEADLINE_MS);
	return dial;
}

int ab_dialer_new(const struct ab_dialer_setup *setup, struct ab_dialer **ret, struct ab_error *err)
{
	if (!setup->check)
		return ab_fail(err, AB_EUSAGE, 0, "the dialer has no address check");
	*ret = ab_alloc(sizeof(**ret));
	(*ret)->setup = *setup;
	(*ret)->resolver = ab_resolver_new(&setup->resolver);
	return 0;
}

void ab_dialer_free(struct ab_dialer *dialer)
{
	if (!dialer)
		return;
	while (dialer->dials)
		ab_dial_cancel(dialer->dials);
	ab_resolver_free(dialer->resolver);
	free(dialer);
}
