/*
 * The network of a box, in namespaces of the test's own: what is captured by
 * each way, where it says it was going, what stays the box's own.
 */
#include "netns/capture.h"

#include <linux/netlink.h>
#include <stdlib.h>
#include <time.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "netns/batch.h"
#include "netns/counters.h"
#include "netns/destination.h"
#include "netns/listeners.h"
#include "netns/loopback.h"
#include "netns/netlink.h"
#include "netns/packet_log.h"
#include "netns_help.h"
#include "tap.h"

static int find(const struct ab_network *net, enum ab_listener_kind kind, uint16_t port)
{
	for (size_t i = 0; i < net->n; i++)
		if (net->listeners[i].kind == kind && (!port || net->listeners[i].port == port))
			return net->listeners[i].fd;
	return -1;
}

static int build(const uint16_t *ports, size_t n, struct ab_network *ret, struct ab_error *err)
{
	return ab_network_build(ab_capture_ways, ab_capture_way_count, ports, n, ret, err);
}

/* Connect to the address; what the listener makes of it. */
static void is_captured(const struct ab_network *net, const char *to, uint16_t port, uint16_t at)
{
	int listener = find(net, AB_LISTENER_TRANSPARENT, at);
	ab_autoclose int client = dial_to(to, port, SOCK_STREAM);
	ab_autoclose int server = -1;
	struct ab_destination d = { 0 };
	char text[INET6_ADDRSTRLEN] = "";

	if (client >= 0 && readable(listener, 30000))
		server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	ok(server >= 0, "%s: %s port %u is captured", ab_capture_names[net->capture], to, port);
	if (server < 0)
		return;
	ok(ab_original_destination(server, net->capture, &d) == 0 && d.port == port,
	   "with its port");
	inet_ntop(d.v6 ? AF_INET6 : AF_INET, d.addr, text, sizeof(text));
	is_str(text, strncmp(to, "::ffff:", 7) == 0 ? to + 7 : to, "and its address");
}

static void is_refused(const char *to, uint16_t port, const char *why)
{
	ab_autoclose int client = dial_to(to, port, SOCK_STREAM);

	ok(client < 0 && errno == ECONNREFUSED, "%s", why);
}

/* A server and a client of the box's own, both at this address. */
static void is_own(const char *at, int type)
{
	union end here;
	socklen_t len = end_of(at, 0, &here);
	ab_autoclose int server = socket(here.any.sa_family, type | SOCK_CLOEXEC, 0);
	ab_autoclose int client = -1;
	bool heard;

	if (bind(server, &here.any, len) == 0 && type == SOCK_STREAM)
		listen(server, 1);
	getsockname(server, &here.any, &len);
	client = dial_to(at, ntohs(here.v4.sin_port), type);
	if (type == SOCK_DGRAM && send(client, "x", 1, 0) < 0)
		perror("send");
	heard = readable(server, 30000);
	ok(client >= 0 && heard, "%s at %s is the box's own", type == SOCK_STREAM ? "TCP" : "UDP",
	   at);
}

/* The first datagram is refused, which the second attempt hears. */
static void datagram_is_refused(const char *to, uint16_t port)
{
	ab_autoclose int fd = dial_to(to, port, SOCK_DGRAM);
	bool sent = send(fd, "x", 1, 0) == 1;

	ok(sent && readable(fd, 30000) && send(fd, "x", 1, 0) < 0 && errno == ECONNREFUSED,
	   "a datagram to %s port %u is refused at once", to, port);
}

static void datagram_is_captured(const struct ab_network *net, const char *to)
{
	int listener = find(net, AB_LISTENER_DNS_UDP, 0);
	ab_autoclose int fd = dial_to(to, 53, SOCK_DGRAM);
	char byte;

	ok(send(fd, "x", 1, 0) == 1 && readable(listener, 30000) &&
		   recv(listener, &byte, 1, 0) == 1,
	   "a question to the name server %s is ours", to);
}

/* An unlistened port would be refused on loopback too; a server that listens
 * on all addresses must not get what is meant for somebody else. */
static void server_gets_only_its_own(const struct ab_network *net)
{
	union end here;
	socklen_t len = end_of("0.0.0.0", 0, &here);
	ab_autoclose int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ab_autoclose int datagrams = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint16_t port;

	bind(server, &here.any, len);
	listen(server, 8);
	getsockname(server, &here.any, &len);
	port = ntohs(here.v4.sin_port);
	is_captured(net, "203.0.113.9", port, AB_PORT_CAPTURED);
	ok(!readable(server, 0), "not by a server of the box on that port");
	bind(datagrams, &here.any, len);
	datagram_is_refused("203.0.113.9", port);
	ok(!readable(datagrams, 0), "also where somebody in the box listens");
}

static void check_counters(const struct ab_network *net)
{
	int fd = find(net, AB_LISTENER_COUNTERS, 0);
	struct ab_counters before = { 0 }, after = { 0 };
	struct ab_error err = { 0 };

	ok(ab_counters_read(fd, &before, &err) == 0, "counters can be read %s", err.text);
	ok(before.udp > 0, "refused datagrams were counted");
	datagram_is_refused("203.0.113.1", 443);
	datagram_is_captured(net, "8.8.8.8");
	is_own("127.0.0.1", SOCK_DGRAM);
	ok(ab_counters_read(fd, &after, &err) == 0, "and read again");
	ok(after.udp == before.udp + 1, "one more, and no other kind");
	ok(after.other == before.other, "nothing else was refused");
}

/* A datagram to the address, from a socket that is connected or not; what the log says. */
static void is_logged(int log, const char *to, bool connected)
{
	union end at;
	socklen_t len = end_of(to, 4433, &at);
	ab_autoclose int fd = connected ? dial_to(to, 4433, SOCK_DGRAM)
					: socket(at.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ab_denied_datagram d = { 0 };
	char text[INET6_ADDRSTRLEN] = "";
	bool sent = sendto(fd, "x", 1, 0, connected ? NULL : &at.any, connected ? 0 : len) == 1;

	len = sizeof(at);
	getsockname(fd, &at.any, &len);
	ok(sent && readable(log, 30000) && ab_packet_log_read(log, &d), "%s is logged", to);
	inet_ntop(d.to.v6 ? AF_INET6 : AF_INET, d.to.addr, text, sizeof(text));
	is_str(text, strncmp(to, "::ffff:", 7) == 0 ? to + 7 : to, "with its address");
	ok(d.to.port == 4433 && d.from.v6 == d.to.v6, "and its port");
	/* Both families have it in the same place. */
	ok(d.from.port == ntohs(at.v4.sin_port), "and the port of its socket");
}

static void check_log(const struct ab_network *net)
{
	int log = find(net, AB_LISTENER_COUNTERS, 0);
	struct ab_denied_datagram d;

	while (ab_packet_log_read(log, &d))
		;
	is_logged(log, "203.0.113.1", true);
	is_logged(log, "203.0.113.1", false);
	is_logged(log, "2001:db8::1", true);
	is_logged(log, "2001:db8::1", false);
	is_logged(log, "::ffff:203.0.113.8", true);
	is_logged(log, "::ffff:203.0.113.8", false);
	datagram_is_captured(net, "8.8.8.8");
	is_own("127.0.0.1", SOCK_DGRAM);
	is_own("::1", SOCK_DGRAM);
	ok(!ab_packet_log_read(log, &d), "name lookups and what stays in the box are not");
}

/* More than the rule lets through: the counters have all of them. */
static void check_flood(const struct ab_network *net)
{
	enum { SENT = 3000 };
	int log = find(net, AB_LISTENER_COUNTERS, 0);
	ab_autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ab_counters before = { 0 }, after = { 0 };
	struct ab_denied_datagram d;
	struct ab_error err = { 0 };
	struct timespec begin, end;
	union end to;
	socklen_t len = end_of("203.0.113.1", 9, &to);
	size_t logged = 0, most, sent = 0;

	ok(ab_counters_read(log, &before, &err) == 0, "before a flood");
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (size_t i = 0; i < SENT; i++) {
		sent += sendto(fd, "x", 1, 0, &to.any, len) == 1;
		logged += ab_packet_log_read(log, &d);
	}
	while (ab_packet_log_read(log, &d))
		logged++;
	clock_gettime(CLOCK_MONOTONIC, &end);
	most = 101 + 20 * (size_t)(end.tv_sec - begin.tv_sec + 1);
	ok(logged > 0 && logged <= most, "of %zu datagrams %zu are logged", sent, logged);
	ok(ab_counters_read(log, &after, &err) == 0 && after.udp - before.udp == sent,
	   "and all are counted");
}

static void check_any_port(const struct ab_network *net)
{
	static const uint16_t ports[] = { 1, 22, 443, 5432, 61080, 65535 };

	for (size_t i = 0; i < AB_COUNT(ports); i++)
		is_captured(net, "203.0.113.7", ports[i], AB_PORT_CAPTURED);
	is_captured(net, "198.18.0.5", 443, AB_PORT_CAPTURED);
	is_captured(net, "169.254.169.254", 80, AB_PORT_CAPTURED);
	is_captured(net, "::ffff:203.0.113.8", 80, AB_PORT_CAPTURED);
	is_captured(net, "2001:db8::5", 443, AB_PORT_CAPTURED);
	is_captured(net, "fd61:6765:6e74:626f::5", 443, AB_PORT_CAPTURED);
	/* Whoever connects to the listener itself is told from those. */
	is_captured(net, "127.0.0.1", AB_PORT_CAPTURED, AB_PORT_CAPTURED);
	is_captured(net, "::1", AB_PORT_CAPTURED, AB_PORT_CAPTURED);
	server_gets_only_its_own(net);
	datagram_is_refused("203.0.113.1", 443);
	datagram_is_refused("2001:db8::1", 443);
}

static void check_own(void)
{
	static const char *const own[] = { "127.0.0.1", "127.8.8.8", "::1", "198.19.255.1",
					   "fd61:6765:6e74:626f:ffff::1" };

	for (size_t i = 0; i < AB_COUNT(own); i++) {
		is_own(own[i], SOCK_STREAM);
		is_own(own[i], SOCK_DGRAM);
	}
	is_refused("127.0.0.1", 4, "a port of the box that nobody listens on");
	is_refused("::1", 4, "also by IPv6");
}

static void check_names(const struct ab_network *net)
{
	int tcp = find(net, AB_LISTENER_DNS_TCP, 0);
	ab_autoclose int client = -1, server = -1;

	datagram_is_captured(net, "127.0.0.1");
	datagram_is_captured(net, "8.8.8.8");
	datagram_is_captured(net, "2001:4860:4860::8888");
	client = dial_to("8.8.8.8", 53, SOCK_STREAM);
	if (client >= 0 && readable(tcp, 30000))
		server = accept4(tcp, NULL, NULL, SOCK_CLOEXEC);
	ok(server >= 0, "and so is one by TCP");
}

static void check_door(const struct ab_network *net)
{
	int door = find(net, AB_LISTENER_DOOR, AB_PORT_DOOR);
	ab_autoclose int client = dial_to("127.0.0.1", AB_PORT_DOOR, SOCK_STREAM);

	ok(client >= 0 && readable(door, 30000), "the door is there");
	ok((fcntl(door, F_GETFD) & FD_CLOEXEC) && (fcntl(door, F_GETFL) & O_NONBLOCK),
	   "closed on exec, and does not block");
}

/* As a box without capabilities would see it: no listener of its own there. */
static void check_full(enum ab_capture capture, const uint16_t *ports, size_t nports,
		       const struct ab_capture_way *ways, size_t nways)
{
	struct ab_network net = { 0 };
	struct ab_error err = { 0 };

	ok(ab_network_build(ways, nways, ports, nports, &net, &err) == 0 && net.capture == capture,
	   "the way is %s (%s) %s", ab_capture_names[capture], ab_capture_names[net.capture],
	   err.text);
	ok(ab_loopback_alone(), "there is no device but lo");
	check_door(&net);
	check_own();
	check_names(&net);
	if (capture == AB_CAPTURE_TPROXY || capture == AB_CAPTURE_REDIRECT) {
		check_any_port(&net);
		check_counters(&net);
		if (net.logs) {
			check_log(&net);
			check_flood(&net);
		}
		ok(find(&net, AB_LISTENER_TRANSPARENT, 0) >= 0, "listener");
		close(find(&net, AB_LISTENER_TRANSPARENT, 0));
		is_refused("203.0.113.1", 80, "without listener: refused");
		is_own("127.0.0.1", SOCK_STREAM);
	} else {
		ok(find(&net, AB_LISTENER_COUNTERS, 0) < 0, "nothing counts");
		is_captured(&net, "203.0.113.1", 443, 443);
		is_captured(&net, "2001:db8::5", 22, 22);
		is_captured(&net, "127.0.0.1", 443, 443);
		is_refused("203.0.113.1", 81, "ports that nobody knows are not");
		datagram_is_refused("203.0.113.1", 443);
	}
}

static void tproxy(void)
{
	check_full(AB_CAPTURE_TPROXY, NULL, 0, ab_capture_ways, ab_capture_way_count);
}

static struct ab_capture_way way_of(enum ab_capture capture)
{
	for (size_t i = 0; i < ab_capture_way_count; i++)
		if (ab_capture_ways[i].capture == capture)
			return ab_capture_ways[i];
	return (struct ab_capture_way){ 0 };
}

/* A kernel that does not know the expression of the rule refuses the batch. */
static void spoil(struct ab_capture_way *way, const char *word)
{
	static char copies[2][8192];
	static size_t used;
	char *copy = copies[used++];
	char *at;

	memcpy(copy, way->batch, way->len);
	at = memmem(copy, way->len, word, strlen(word));
	ok(at, "%s is in the batch", word);
	if (at)
		*at = 'X';
	way->batch = copy;
}

static void redirect(void)
{
	struct ab_capture_way ways[] = { way_of(AB_CAPTURE_TPROXY), way_of(AB_CAPTURE_REDIRECT) };

	spoil(&ways[0], "tproxy");
	check_full(AB_CAPTURE_REDIRECT, NULL, 0, ways, AB_COUNT(ways));
}

/* A kernel without the log. */
static void no_log(void)
{
	struct ab_capture_way ways[] = { ab_capture_ways[0], ab_capture_ways[1] };
	struct ab_network net = { 0 };
	struct ab_error err = { 0 };

	spoil(&ways[0], "limit");
	ok(ways[0].logs && !ways[1].logs, "the same rules without a log are next");
	check_full(AB_CAPTURE_TPROXY, NULL, 0, ways, AB_COUNT(ways));
	ok(enter_namespaces() && ab_network_build(ways, AB_COUNT(ways), NULL, 0, &net, &err) == 0 &&
		   !net.logs,
	   "nothing is logged then %s", err.text);
	ab_network_fini(&net);
}

/* Another socket has the log: the kernel refuses it to ours, which a request without an answer would
 * not tell. */
static void log_taken(void)
{
	ab_autoclose int other = ab_netlink_open(NETLINK_NETFILTER);
	struct ab_network net = { 0 };
	struct ab_counters counters = { 0 };
	struct ab_error err = { 0 };
	int rules;

	ok(ab_packet_log_request(other) == 0, "the first that asks gets the log");
	ok(ab_network_build(ab_capture_ways, ab_capture_way_count, NULL, 0, &net, &err) == 0 &&
		   net.capture == AB_CAPTURE_TPROXY && !net.logs,
	   "the next one is told that it does not %s", err.text);
	rules = find(&net, AB_LISTENER_COUNTERS, 0);
	ok(ab_packet_log_request(rules) < 0 && (errno == EPERM || errno == EBUSY),
	   "with the reason: %s", strerror(errno));
	datagram_is_refused("203.0.113.1", 443);
	ok(ab_counters_read(rules, &counters, &err) == 0 && counters.udp == 1,
	   "and its datagrams are counted %s", err.text);
	ab_network_fini(&net);
}

static void ports(void)
{
	struct ab_capture_way ways[] = { way_of(AB_CAPTURE_TPROXY), way_of(AB_CAPTURE_REDIRECT) };

	spoil(&ways[0], "tproxy");
	spoil(&ways[1], "redir");
	check_full(AB_CAPTURE_PORTS, NULL, 0, ways, AB_COUNT(ways));
}

/* A host that has it switched off: the rest works. */
static void without_ipv6(void)
{
	struct ab_network net = { 0 };
	struct ab_error err = { 0 };

	write_text("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
	write_text("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	write_text("/proc/sys/net/ipv6/conf/lo/disable_ipv6", "1");
	ok(dial_to("::1", 1, SOCK_DGRAM) < 0, "there is no IPv6");
	ok(build(NULL, 0, &net, &err) == 0 && net.capture == AB_CAPTURE_TPROXY,
	   "the network comes up without it %s", err.text);
	is_captured(&net, "203.0.113.1", 443, AB_PORT_CAPTURED);
	is_own("127.0.0.1", SOCK_STREAM);
	datagram_is_captured(&net, "8.8.8.8");
	ab_network_fini(&net);
}

static void host_ports(void)
{
	static const uint16_t wanted[] = { 5432, 8080 };
	static const uint16_t taken[] = { AB_PORT_DOOR };
	uint16_t many[AB_HOST_PORTS_MAX + 1];
	struct ab_network net = { 0 };
	struct ab_error err = { 0 };
	ab_autoclose int v4 = -1, v6 = -1;
	size_t n = 0;

	for (size_t i = 0; i < AB_COUNT(many); i++)
		many[i] = (uint16_t)(10000 + i);
	ok(build(many, AB_COUNT(many), &net, &err) < 0 && err.code == AB_EUSAGE,
	   "too many are refused");
	ok(build(wanted, AB_COUNT(wanted), &net, &err) == 0, "ports of the host are offered %s",
	   err.text);
	for (size_t i = 0; i < net.n; i++)
		n += net.listeners[i].kind == AB_LISTENER_HOST_PORT;
	ok(n == 4, "each by IPv4 and IPv6");
	v4 = dial_to("127.0.0.1", 5432, SOCK_STREAM);
	v6 = dial_to("::1", 8080, SOCK_STREAM);
	ok(v4 >= 0 && v6 >= 0, "on loopback");
	is_captured(&net, "203.0.113.1", 5432, AB_PORT_CAPTURED);
	ab_network_fini(&net);
	ok(net.n == 0, "all is closed");
	ok(build(taken, 1, &net, &err) < 0 && err.hint[0],
	   "a port that the box needs itself is not: %s", err.text);
	ok(net.n == 0, "and nothing is left open");
}

static void most_host_ports(void)
{
	uint16_t many[AB_HOST_PORTS_MAX];
	struct ab_network net = { 0 };
	struct ab_error err = { 0 };

	for (size_t i = 0; i < AB_COUNT(many); i++)
		many[i] = (uint16_t)(10000 + i);
	ok(ab_network_build(NULL, 0, many, AB_COUNT(many), &net, &err) == 0,
	   "as many as there may be fit beside the port list %s", err.text);
	ok(net.n <= AB_LISTENERS_MAX && net.n > 2 * AB_HOST_PORTS_MAX + 16, "%zu in all", net.n);
	ab_network_fini(&net);
}

/* As a kernel would be heard that tells of a failure and then says no more. */
static void answers_end(void)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
	} told = { .head = { .nlmsg_len = sizeof(told), .nlmsg_type = NLMSG_ERROR } };

	for (uint32_t seq = 1; seq <= AB_SEQ_ROUTE6; seq++) {
		bool logs;
		int pair[2];

		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair);
		told.head.nlmsg_seq = seq;
		told.error.error = -EAFNOSUPPORT;
		ok(send(pair[1], &told, sizeof(told), 0) == sizeof(told),
		   "a kernel says that message %u failed", seq);
		alarm(240);
		ok(ab_capture_raise(pair[0], -1, NULL, 0, &logs) ==
			   (seq == AB_SEQ_ROUTE6 ? AB_CAPTURE_PORTS : AB_CAPTURE_NONE),
		   "what is not answered is not waited for");
		alarm(0);
		close(pair[0]);
		close(pair[1]);
	}
}

static void devices(void)
{
	struct ab_error err = { 0 };

	ok(ab_loopback_alone(), "a new namespace has lo");
	ok(ab_loopback_up(&err) == 0 && ab_loopback_alone(), "also when it is up");
	if (system("ip link add v0 type veth peer name v1 2>/dev/null") != 0) {
		lacks("another device", "none can be made");
		return;
	}
	ok(ab_loopback_alone(), "another device that is down leads nowhere");
	ok(system("ip link set v0 up") == 0 && !ab_loopback_alone(), "one that is up is seen");
	ok(system("ip link set v0 down; ip link set v1 up") == 0 && !ab_loopback_alone(),
	   "each of them");
	ok(system("ip link del v0") == 0 && ab_loopback_alone(), "and that it is gone");
}

/* As in a run: somebody inside makes the sockets, we outside do the rest. */
static void from_outside(void)
{
	struct ab_network net = { 0 };
	struct ab_counters counters = { 0 };
	struct ab_denied_datagram d = { 0 };
	struct ab_error err = { 0 };
	struct ab_fds fds = { .len = AB_COUNT(fds.v) };
	int pair[2], status;
	pid_t pid;
	char c;

	socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
	pid = fork();
	if (pid == 0) {
		bool good = enter_namespaces() && ab_network_make(NULL, 0, &net, &err) == 0;
		int client;

		for (size_t i = 0; i < net.n; i++)
			fds.v[i] = net.listeners[i].fd;
		good = good && ab_send_fds(pair[1], &net, sizeof(net), fds.v, net.n) == 0 &&
		       recv(pair[1], &c, 1, 0) == 1;
		client = dial_to("203.0.113.1", 443, SOCK_DGRAM);
		good = good && send(client, "x", 1, 0) == 1;
		client = dial_to("203.0.113.1", 443, SOCK_STREAM);
		_exit(!(good && client >= 0));
	}
	close(pair[1]);
	ok(ab_recv_fds(pair[0], &net, sizeof(net), fds.v, &fds.len, 0) == (ssize_t)sizeof(net) &&
		   fds.len == net.n,
	   "the sockets come out");
	for (size_t i = 0; i < net.n; i++)
		net.listeners[i].fd = fds.v[i];
	ok(ab_network_raise(&net, ab_capture_ways, ab_capture_way_count, &err) == 0 &&
		   net.capture == AB_CAPTURE_TPROXY,
	   "whoever owns the namespace brings it up from outside %s", err.text);
	ok(find(&net, AB_LISTENER_ROUTES, 0) < 0, "the routes are done with");
	ok(send(pair[0], "x", 1, 0) == 1 && waitpid(pid, &status, 0) == pid && status == 0,
	   "inside it works");
	ok(readable(find(&net, AB_LISTENER_TRANSPARENT, 0), 30000), "a connection has arrived");
	ok(net.logs && ab_packet_log_read(find(&net, AB_LISTENER_COUNTERS, 0), &d) &&
		   d.to.port == 443,
	   "and the datagram is logged");
	ok(ab_counters_read(find(&net, AB_LISTENER_COUNTERS, 0), &counters, &err) == 0,
	   "and the counters can be read %s", err.text);
	ok(counters.udp == 1 && counters.other == 0, "as they are");
	ab_network_fini(&net);
	close(pair[0]);
}

/* A kernel that knows no netlink. */
static void without_netlink(void)
{
	struct ab_network net = { 0 };
	struct ab_error err = { 0 };
	size_t n = 0;

	ok(ab_network_make(NULL, 0, &net, &err) == 0, "sockets %s", err.text);
	for (size_t i = 0; i < net.n; i++)
		if (net.listeners[i].kind == AB_LISTENER_ROUTES ||
		    net.listeners[i].kind == AB_LISTENER_COUNTERS)
			close(net.listeners[i].fd);
		else
			net.listeners[n++] = net.listeners[i];
	net.n = n;
	ok(ab_network_raise(&net, ab_capture_ways, ab_capture_way_count, &err) == 0 &&
		   net.capture == AB_CAPTURE_NONE,
	   "nothing is captured %s", err.text);
	check_door(&net);
	is_own("127.0.0.1", SOCK_STREAM);
	ok(dial_to("203.0.113.1", 443, SOCK_STREAM) < 0 && errno == ENETUNREACH,
	   "and there is no way");
	ab_network_fini(&net);
}

static const struct {
	const char *name;
	void (*run)(void);
	bool outside;
} cases[] = {
	{ "tproxy", tproxy, false },
	{ "redirect", redirect, false },
	{ "no log", no_log, false },
	{ "log taken", log_taken, false },
	{ "ports", ports, false },
	{ "without IPv6", without_ipv6, false },
	{ "host ports", host_ports, false },
	{ "most host ports", most_host_ports, false },
	{ "devices", devices, false },
	{ "answers end", answers_end, true },
	{ "without netlink", without_netlink, false },
	{ "from outside", from_outside, true },
};

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		int status = 0, count[2] = { 0, 0 };
		int ends[2];
		pid_t pid;

		fflush(stdout);
		if (pipe2(ends, O_CLOEXEC) < 0)
			return 1;
		pid = fork();
		if (pid == 0) {
			if (!cases[i].outside && !enter_namespaces()) {
				lacks(cases[i].name, "no user namespaces");
			} else {
				printf("# %s\n", cases[i].name);
				cases[i].run();
			}
			fflush(stdout);
			count[0] = tap_count;
			count[1] = tap_failed;
			_exit(write(ends[1], count, sizeof(count)) < 0);
		}
		close(ends[1]);
		if (read(ends[0], count, sizeof(count)) == sizeof(count)) {
			tap_count = count[0];
			tap_failed = count[1];
		}
		close(ends[0]);
		waitpid(pid, &status, 0);
		ok(status == 0, "%s: ended", cases[i].name);
	}
	return done();
}
