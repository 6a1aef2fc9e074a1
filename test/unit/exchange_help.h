#ifndef AB_TEST_EXCHANGE_HELP_H
#define AB_TEST_EXCHANGE_HELP_H
/*
 * A client, an exchange and its servers, over TCP on the loopback, in one
 * thread: say() and hear() are the peers', and the loop runs while they wait.
 * What the exchange asks of others (dial, filter, ledger, tunnels) is played
 * here: hosts that begin with "denied" are denied, each dial is one more
 * server, and records are lines of text.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "proxy/traffic/exchange.h"
#include "proxy/traffic/tunnel.h"
#include "proxy/filter/synthetic.h"
#include "tap.h"

static const struct ab_policy engine_policy;
static struct ab_proxy_setup engine_setup = { .policy = &engine_policy };
static struct ab_engine engine;
static struct ab_conn *conn;
static int client = -1;
static int servers[64], nservers;
static char dialled_hosts[64][300];
static struct ab_buf records;
static uint32_t denials;
static bool log_is_full;
static unsigned gone;
static struct ab_dialled next_dial; /* what the next one gets */
static char tunnel[300];
static bool was_reset; /* the kernel says so only once */

struct ab_dial {
	struct ab_later later;
	ab_dialled_fn fn;
	void *arg;
	struct ab_dialled result;
};

static inline void tcp_pair(int pair[2])
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(addr);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1;

	if (listener < 0 || bind(listener, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    listen(listener, 1) < 0 || getsockname(listener, (struct sockaddr *)&addr, &len) < 0)
		abort();
	pair[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(pair[0], (struct sockaddr *)&addr, sizeof(addr)) < 0)
		abort();
	pair[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	for (int i = 0; i < 2; i++) {
		fcntl(pair[i], F_SETFL, O_NONBLOCK);
		setsockopt(pair[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	}
}

static inline void dial_now(struct ab_later *later)
{
	struct ab_dial *dial = later->owner;
	struct ab_dialled result = dial->result;
	ab_dialled_fn fn = dial->fn;
	void *arg = dial->arg;

	free(dial);
	if (fn)
		fn(arg, &result);
	else if (result.fd >= 0)
		close(result.fd);
}

struct ab_dial *ab_dial_start(struct ab_dialer *dialer, const struct ab_host *host, uint16_t port,
			      bool http, ab_dialled_fn fn, void *arg)
{
	struct ab_dial *dial = ab_alloc(sizeof(*dial));
	int pair[2];

	(void)dialer;
	dial->later.run = dial_now;
	dial->later.owner = dial;
	dial->fn = fn;
	dial->arg = arg;
	dial->result = next_dial;
	next_dial = (struct ab_dialled){ .fd = -1 };
	snprintf(dialled_hosts[nservers], sizeof(dialled_hosts[0]), "%s:%u%s", host->text, port,
		 http ? "" : " tunnel");
	servers[nservers] = -1;
	if (dial->result.result == AB_DIAL_OK) {
		tcp_pair(pair);
		dial->result.fd = pair[0];
		servers[nservers] = pair[1];
		if (!dial->result.address.text[0])
			strcpy(dial->result.address.text, "192.0.2.1");
	}
	nservers++;
	ab_loop_later(&engine.loop, &dial->later);
	return dial;
}

void ab_dial_cancel(struct ab_dial *dial)
{
	dial->fn = NULL;
}

bool ab_synthetic_is(const struct ab_host *addr)
{
	return strncmp(addr->text, "198.18.", 7) == 0;
}

const char *ab_synthetic_find(const struct ab_synthetic *names, const struct ab_host *addr)
{
	(void)names;
	return strcmp(addr->text, "198.18.0.1") == 0 ? "a.test" : NULL;
}

void ab_filter_judge(const struct ab_filter *filter, const struct ab_own *own,
		     const struct ab_host *host, uint16_t port, struct ab_verdict *ret)
{
	(void)filter;
	(void)own;
	(void)port;
	if (strncmp(host->text, "denied", 6) == 0)
		*ret = (struct ab_verdict){ .entry = "" };
	else if (strncmp(host->text, "ask", 3) == 0)
		*ret = (struct ab_verdict){ .access = AB_ACCESS_ASK, .entry = "" };
	else
		*ret = (struct ab_verdict){ .access = AB_ACCESS_ALLOW,
					    .basis = AB_BASIS_ALLOW,
					    .entry = host->text };
}

int ab_ledger_deny(struct ab_ledger *ledger, const struct ab_request_record *r,
		   uint32_t *ret_number, struct ab_error *err)
{
	(void)ledger;
	if (log_is_full)
		return ab_fail(err, AB_ESYSTEM, ENOSPC, "write");
	*ret_number = ++denials;
	ab_buf_printf(&records, "denied %s:%u fault %d%s%s\n", r->host, r->port, r->fault,
		      r->sni ? " " : "", r->sni ? r->sni : "");
	return 0;
}

/* "GET a.test:80/path 200 up 0 down 5" */
int ab_ledger_request(struct ab_ledger *ledger, const struct ab_request_record *r,
		      struct ab_error *err)
{
	(void)ledger;
	if (log_is_full)
		return ab_fail(err, AB_ESYSTEM, ENOSPC, "write");
	ab_buf_printf(&records, "%s %s:%u%s %d up %" PRIu64 " down %" PRIu64,
		      r->method ? r->method : "-", r->host, r->port, r->path ? r->path : "-",
		      r->status, r->bytes_up, r->bytes_down);
	if (r->denial)
		ab_buf_printf(&records, " denial %u", r->denial);
	if (r->error)
		ab_buf_printf(&records, " (%s)", r->error);
	ab_buf_puts(&records, "\n");
	return 0;
}

void ab_ledger_id(const struct ab_ledger *ledger, uint32_t number, char ret[AB_DENIAL_ID])
{
	(void)ledger;
	snprintf(ret, AB_DENIAL_ID, "7kq2-%u", number);
}

void ab_ledger_who(struct ab_ledger *ledger, uint32_t number, const char *nearest)
{
	(void)ledger;
	ab_buf_printf(&records, "denial %u of %s\n", number, nearest);
}

const char *ab_ledger_reason(const struct ab_request_record *r, char ret[AB_REASON_ROOM])
{
	snprintf(ret, AB_REASON_ROOM, "%s", r->fault ? "not this host" : "not on the allow list");
	return ret;
}

const char *ab_ledger_rule(const struct ab_request_record *r)
{
	return r->fault ? "http-host" : "network.allow";
}

void ab_ledger_hint(const struct ab_request_record *r, char ret[AB_REASON_ROOM])
{
	snprintf(ret, AB_REASON_ROOM, r->fault ? "%.0s" : "--allow %s", r->host);
}

static inline void sleeping(struct ab_conn *c)
{
	(void)c;
}

void ab_tunnel_start(struct ab_conn *c, enum ab_door door, const struct ab_host *host,
		     uint16_t port)
{
	snprintf(tunnel, sizeof(tunnel), "%s:%u%s%s in %zu", host->text, port,
		 door == AB_DOOR_CONNECT ? "" : " wrong door",
		 c->http || c->server.source.fd >= 0 || c->address ? " dirty" : "",
		 c->client.in.len);
	c->step = sleeping;
}

void ab_tunnel_end(struct ab_conn *c)
{
	(void)c;
}

bool ab_tunnel_describe(const struct ab_conn *c, struct ab_request_record *ret)
{
	(void)c;
	*ret = (struct ab_request_record){ 0 };
	return true;
}

void ab_tunnel_break(struct ab_conn *c, enum ab_fault fault, const struct ab_verdict *verdict)
{
	(void)fault;
	(void)verdict;
	ab_conn_close(c, true);
}

void ab_filter_other(const struct ab_filter *filter, struct ab_verdict *ret)
{
	(void)filter;
	*ret = (struct ab_verdict){ AB_ACCESS_DENY, AB_BASIS_NONE, "" };
}

bool ab_filter_resolvable(const struct ab_filter *filter, const struct ab_host *name,
			  struct ab_verdict *ret)
{
	ab_filter_judge(filter, NULL, name, 0, ret);
	return ret->access != AB_ACCESS_DENY;
}

bool ab_filter_address(const struct ab_filter *filter, const struct ab_own *own,
		       const struct ab_host *addr, uint16_t port, struct ab_verdict *ret)
{
	ab_filter_judge(filter, own, addr, port, ret);
	return ret->access == AB_ACCESS_ALLOW;
}

/* Nobody is there to be asked, or to be told. */
bool ab_waiting_begin(struct ab_conn *c, struct ab_host *host, struct ab_request_record *r,
		      ab_resume_fn resume)
{
	(void)c;
	(void)host;
	(void)r;
	(void)resume;
	return false;
}

bool ab_waiting_identify(struct ab_conn *c, const struct ab_request_record *r, ab_resume_fn resume)
{
	(void)c;
	(void)r;
	(void)resume;
	return false;
}

void ab_waiting_leave(struct ab_conn *c)
{
	(void)c;
}

void ab_open_conns_opened(struct ab_conn *c)
{
	(void)c;
}

static inline void stop_loop(struct ab_timer *timer)
{
	(void)timer;
	engine.loop.stop = true;
}

/* What can be done now is done. */
static inline void turn(void)
{
	struct ab_timer timer = { .fire = stop_loop };
	struct ab_error err;

	engine.loop.stop = false;
	ab_loop_timer(&engine.loop, &timer, 0);
	if (ab_loop_run(&engine.loop, &err) < 0)
		abort();
	ab_loop_timer_stop(&engine.loop, &timer);
}

static inline void turns(int n)
{
	while (n-- > 0)
		turn();
}

static inline void conn_freed(struct ab_engine *e, const struct ab_conn *c)
{
	(void)e;
	(void)c;
	conn = NULL;
	gone++;
}

static inline void conn_unrecorded(struct ab_engine *e, const struct ab_error *err)
{
	(void)e;
	(void)err;
}

static inline void start_proxy(struct ab_conn *c)
{
	ab_exchange_start(c, AB_EXCHANGE_PROXY);
}

static inline void world_init(void)
{
	struct ab_error err;

	signal(SIGPIPE, SIG_IGN); /* splice has no MSG_NOSIGNAL */
	if (ab_loop_init(&engine.loop, &err) < 0)
		abort();
	engine.setup = &engine_setup;
	TAILQ_INIT(&engine.half_open);
	engine.pipes = ab_pipes_new();
	engine.freed = conn_freed;
	engine.unrecorded = conn_unrecorded;
	next_dial.fd = -1;
}

/* Everything of the last connection is gone. */
static inline void finish(void)
{
	if (client >= 0)
		close(client);
	client = -1;
	for (int i = 0; i < nservers; i++)
		if (servers[i] >= 0)
			close(servers[i]);
	for (int i = 0; conn && i < 20; i++)
		turn();
	if (conn)
		ab_conn_close(conn, true);
	turns(2);
	nservers = 0;
	denials = 0;
	log_is_full = was_reset = false;
	engine_setup.upstream = NULL;
	ab_buf_fini(&records);
}

static inline void world_fini(void)
{
	finish();
	ab_pipes_free(engine.pipes);
	ab_loop_fini(&engine.loop);
}

static inline void open_proxy(void)
{
	int pair[2];

	finish();
	tcp_pair(pair);
	client = pair[0];
	conn = ab_conn_new(&engine, AB_DOOR_HTTP, pair[1], start_proxy);
}

/* servers[0] is what the tunnel leads to. */
static inline void open_tunnel_to(const char *host, uint16_t port)
{
	int pair[2];

	finish();
	tcp_pair(pair);
	client = pair[0];
	conn = ab_conn_new(&engine, AB_DOOR_TRANSPARENT, pair[1], sleeping);
	conn->host = ab_alloc(sizeof(*conn->host));
	if (ab_host_parse(host, strlen(host), conn->host, NULL) < 0)
		abort();
	conn->port = port;
	ab_conn_judge(conn, conn->host, port, &conn->verdict);
	conn->unrecorded = true;
	tcp_pair(pair);
	servers[nservers++] = pair[1];
	ab_conn_attach(conn, pair[0]);
	turns(2);
	ab_exchange_start(conn, AB_EXCHANGE_TUNNEL);
}

static inline void say_bytes(int fd, const void *data, size_t len)
{
	const char *p = data;

	for (int i = 0; len && i < 10000; i++) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (n < 0 && errno != EAGAIN) {
			return;
		}
		turn();
	}
	turns(3);
}

static inline void say(int fd, const char *text)
{
	say_bytes(fd, text, strlen(text));
}

/* Up to len bytes; fewer at the end, or when nothing comes for a while. */
static inline size_t take(int fd, void *data, size_t len)
{
	size_t have = 0;

	for (int i = 0; have < len && i < 300; i++) {
		ssize_t n = recv(fd, (char *)data + have, len - have, 0);

		if (n > 0) {
			have += (size_t)n;
			i = 0;
		} else if (n == 0 || errno != EAGAIN) {
			was_reset = n < 0 && errno == ECONNRESET;
			break;
		} else {
			struct pollfd p = { .fd = fd, .events = POLLIN };

			turn();
			poll(&p, 1, i < 20 ? 0 : 1);
		}
	}
	return have;
}

static inline void hear_at(const char *file, int line, int fd, const char *text, const char *name)
{
	size_t len = strlen(text);
	ab_autofree char *got = ab_alloc(len + 1);

	take(fd, got, len);
	is_str_at(file, line, got, text, name);
}
#define hear(fd, text, name) hear_at(__FILE__, __LINE__, fd, text, name)

enum end { OPEN, ENDED, RESET };
static inline enum end end_of(int fd)
{
	char byte;
	ssize_t n = -1;

	for (int i = 0; i < 300; i++) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		n = recv(fd, &byte, 1, 0);
		if (n >= 0 || errno != EAGAIN)
			break;
		turn();
		poll(&p, 1, i < 20 ? 0 : 1);
	}
	if (n == 0 && !was_reset)
		return ENDED;
	return was_reset || (n < 0 && errno == ECONNRESET) ? RESET : OPEN;
}

/* Nothing has come, and nothing has ended. */
static inline bool is_silent(int fd)
{
	char byte;

	turns(5);
	return recv(fd, &byte, 1, MSG_PEEK) < 0 && errno == EAGAIN;
}

static inline const char *recorded(void)
{
	turns(3);
	return records.data ? records.data : "";
}

#endif
