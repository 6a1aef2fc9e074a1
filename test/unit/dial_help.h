#ifndef AB_TEST_DIAL_HELP_H
#define AB_TEST_DIAL_HELP_H
/*
 * A dialer, its name server and its peers, for the tests of dialling.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/loop.h"
#include "dns_server.h"
#include "proxy/dial/dial.h"

/*
 * Who is who on the loopback: 127.0.0.1 and ::1 take connections, 127.0.0.2
 * refuses them, 127.0.0.3 never answers (its backlog is full), 127.0.0.4 is
 * free for an upstream proxy. The check allows the loopback and nothing else.
 */
static const struct dns_name names[] = {
	{ .name = "one.test", .a = { "127.0.0.1" }, .ttl = 60 },
	{ .name = "dual.test", .a = { "127.0.0.1" }, .aaaa = { "::1" }, .ttl = 60 },
	{ .name = "second.test", .a = { "127.0.0.2", "127.0.0.1" }, .ttl = 60 },
	{ .name = "noroute.test",
	  .a = { "127.0.0.2", "127.0.0.1" },
	  .aaaa = { "::2", "::3" },
	  .ttl = 60 },
	{ .name = "slow.test", .a = { "127.0.0.3", "127.0.0.1" }, .ttl = 60 },
	{ .name = "refused.test", .a = { "127.0.0.2" }, .aaaa = { "::2" }, .ttl = 60 },
	{ .name = "hole.test", .a = { "127.0.0.3" }, .ttl = 60 },
	{ .name = "alias.test", .cname = "one.example", .a = { "127.0.0.1" }, .ttl = 60 },
	{ .name = "private.test", .a = { "10.0.0.1" }, .ttl = 60 },
	{ .name = "mixed.test", .a = { "127.0.0.1", "127.0.0.1", "169.254.169.254" }, .ttl = 60 },
	{ .name = "mixed6.test", .a = { "127.0.0.1" }, .aaaa = { "fd00::1" }, .ttl = 60 },
	{ .name = "mapped.test", .aaaa = { "::ffff:10.0.0.1" }, .ttl = 60 },
	{ .name = "nat64.test", .aaaa = { "64:ff9b::a00:1" }, .ttl = 60 },
	{ .name = "wrapped.test", .aaaa = { "::ffff:127.0.0.1" }, .ttl = 60 },
	{ .name = "empty.test", .ttl = 60 },
	{ .name = "silent.test", .manner = DNS_SILENT },
	{ .name = "proxy.test", .a = { "127.0.0.4" }, .ttl = 60 },
	{ .name = "mute.test", .a = { "127.0.0.2" }, .ttl = 60 },
};

static struct dns_server dns;
static char dir[] = "/tmp/dial-XXXXXX";
static char resolv_conf[64], hosts[64];
static uint16_t port; /* of all listeners */
static int one;	      /* the listener of 127.0.0.1 */
static int hole, six, full[8];
static struct ab_loop loop;
static struct ab_dialer *dialer;
static unsigned checks;

static bool check(void *arg, const struct ab_host *addr, uint16_t to, struct ab_verdict *ret)
{
	*ret = (struct ab_verdict){ .access = AB_ACCESS_DENY,
				    .basis = AB_BASIS_RANGE,
				    .entry = "private" };
	checks += to == port && arg == names;
	return (addr->kind == AB_HOST_IPV4 && addr->addr[0] == 127) ||
	       strncmp(addr->text, "::", 2) == 0;
}

struct call {
	struct ab_dial *dial;
	int calls;
	struct ab_dialled result;
	struct call *cancels;
};

static int waiting;

static void finished(struct call *c)
{
	c->dial = NULL;
	loop.stop = --waiting <= 0;
}

static void cancel(struct call *c)
{
	ab_dial_cancel(c->dial);
	finished(c);
}

static void dialled(void *arg, struct ab_dialled *result)
{
	static char entry[AB_HOST_ENTRY_TEXT];
	struct call *c = arg;

	c->calls++;
	c->result = *result;
	/* It lives only now. */
	if (result->result == AB_DIAL_FORBIDDEN)
		snprintf(entry, sizeof(entry), "%s", result->verdict.entry);
	c->result.verdict.entry = entry;
	ab_dial_cancel(c->dial); /* too late to do anything */
	finished(c);
	if (c->cancels && c->cancels->dial)
		cancel(c->cancels);
}

static void start_to(struct call *c, const char *name, uint16_t to, bool http)
{
	struct ab_host host;

	*c = (struct call){ .result.fd = -1 };
	if (ab_host_parse(name, strlen(name), &host, NULL) < 0)
		abort();
	waiting++;
	c->dial = ab_dial_start(dialer, &host, to, http, dialled, c);
	memset(&host, 'x', sizeof(host)); /* it is not needed any more */
	if (c->calls)
		abort(); /* never from inside */
}

static void start(struct call *c, const char *name)
{
	start_to(c, name, port, false);
}

static void give_up(struct ab_timer *timer)
{
	(void)timer;
	loop.stop = true;
}

static void run(uint64_t ms)
{
	struct ab_timer guard = { .fire = give_up };
	struct ab_error err;

	loop.stop = false;
	ab_loop_timer(&loop, &guard, ms);
	ab_loop_run(&loop, &err);
	ab_loop_timer_stop(&loop, &guard);
}

/* Dial and hang up; what came of it. */
static struct ab_dialled dial_to(const char *name, uint16_t to, bool http)
{
	struct call c;

	waiting = 0;
	start_to(&c, name, to, http);
	run(15000);
	if (c.calls != 1)
		abort();
	return c.result;
}

static struct ab_dialled dial(const char *name)
{
	struct ab_dialled result = dial_to(name, port, false);

	if (result.fd >= 0)
		close(result.fd);
	return result;
}

static void open_dialer(const struct ab_upstream *upstream)
{
	struct ab_dialer_setup setup = {
		.check = check,
		.arg = (void *)names,
		.upstream = upstream,
		.resolver = {
			.loop = &loop,
			.resolv_conf = resolv_conf,
			.hosts = hosts,
			.port = dns.port,
		},
	};
	struct ab_error err;

	if (ab_loop_init(&loop, &err) < 0 || ab_dialer_new(&setup, &dialer, &err) < 0)
		abort();
	waiting = 0;
}

static void close_dialer(void)
{
	ab_dialer_free(dialer);
	ab_loop_fini(&loop);
}

static unsigned count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* The other threads close theirs in their own time. */
static bool back_to(unsigned fds)
{
	for (int i = 0; i < 6000 && count_fds() != fds; i++)
		usleep(10000);
	return count_fds() == fds;
}

/* Questions of those that gave up may still be on their way to the server. */
static unsigned asked_so_far(void)
{
	unsigned asked = dns.asked;

	/* Long enough for a server that waits for its processor. */
	for (int quiet = 0; quiet < 6; quiet++) {
		usleep(50000);
		if (dns.asked != asked)
			quiet = -1;
		asked = dns.asked;
	}
	return asked;
}

/* -1 when the address is not there. */
static int listen_at(const char *address, uint16_t to, int backlog)
{
	bool v6 = strchr(address, ':');
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_port = htons(to) };
	struct sockaddr_in a4 = { .sin_family = AF_INET, .sin_port = htons(to) };
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	inet_pton(v6 ? AF_INET6 : AF_INET, address,
		  v6 ? (void *)&a6.sin6_addr : (void *)&a4.sin_addr);
	if (fd >= 0 &&
	    bind(fd, v6 ? (void *)&a6 : (void *)&a4, v6 ? sizeof(a6) : sizeof(a4)) == 0 &&
	    listen(fd, backlog) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Connections that nobody accepts, until one more would hang. */
static void fill(const char *address, int fds[8])
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };

	to.sin_addr.s_addr = inet_addr(address);
	for (int i = 0; i < 8; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		connect(fds[i], (void *)&to, sizeof(to));
	}
}

static void open_world(void)
{
	if (!mkdtemp(dir))
		abort();
	snprintf(resolv_conf, sizeof(resolv_conf), "%s/resolv.conf", dir);
	snprintf(hosts, sizeof(hosts), "%s/hosts", dir);
	write_file(resolv_conf, "nameserver 127.0.0.1\n");
	write_file(hosts, "127.0.0.1 hosts.test\n10.0.0.2 hosts-private.test\n");
	dns_start(&dns, "127.0.0.1", 0, names, AB_COUNT(names));
	for (int i = 0; i < 50 && (one <= 0 || hole < 0); i++) {
		port = (uint16_t)(20000 + (getpid() * 7 + i * 131) % 12000);
		one = listen_at("127.0.0.1", port, 4096);
		hole = listen_at("127.0.0.3", port, 0);
	}
	if (one < 0 || hole < 0)
		abort();
	fcntl(one, F_SETFL, O_NONBLOCK);
	six = listen_at("::1", port, 64);
	fill("127.0.0.3", full);
}

static void close_world(void)
{
	for (int i = 0; i < 8; i++)
		close(full[i]);
	close(one);
	close(hole);
	if (six >= 0)
		close(six);
	dns_stop(&dns);
	unlink(resolv_conf);
	unlink(hosts);
	rmdir(dir);
}

#endif
