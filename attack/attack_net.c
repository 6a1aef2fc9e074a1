/* Ways out through the network. */
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>

#include "attack/attack.h"
#include "base/data/addr.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#ifndef MSG_FASTOPEN
#define MSG_FASTOPEN 0x20000000
#endif

static struct ab_sockaddr parse_address(const char *text, long port)
{
	uint8_t addr[16] = { 0 };
	bool v6 = inet_pton(AF_INET, text, addr) != 1;

	if (v6)
		inet_pton(AF_INET6, text, addr);
	return ab_sockaddr(v6, addr, (uint16_t)port);
}

/* A socket that is connected, or -1. A connection that is still in progress has left the box. */
static int dial(const char *text, long port, int type, int protocol)
{
	struct ab_sockaddr to = parse_address(text, port);
	ab_autoclose int fd =
		socket(to.any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	int error = 0;
	socklen_t len = sizeof(error);

	if (fd < 0)
		return -1;
	if (connect(fd, &to.any, to.len) < 0) {
		if (errno != EINPROGRESS)
			return -1;
		if (ab_poll(fd, POLLOUT, 200) != 0)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	}
	return error ? ab_errno(error) : ab_take_fd(&fd);
}

/*
 * With a proxy, every address is local to the box: a connection starts on the
 * loopback device, and the proxy closes it silently. So check where the socket is
 * and whether something answers.
 */
static bool is_inside(int fd)
{
	struct ab_sockaddr here = { .len = sizeof(here.v6) };

	if (getsockname(fd, &here.any, &here.len) < 0)
		return false;
	return here.any.sa_family == AF_INET
		       ? ntohl(here.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
		       : IN6_IS_ADDR_LOOPBACK(&here.v6.sin6_addr);
}

static enum ab_hold await_answer(struct ab_attacker *a, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char byte;
	ssize_t n;

	if (!is_inside(fd))
		return ab_broken(a, "it left the box");
	if (poll(&p, 1, 1000) == 0)
		return ab_held(a, "no answer");
	n = recv(fd, &byte, sizeof(byte), MSG_DONTWAIT);
	if (n > 0)
		return ab_broken(a, "something answers");
	return ab_held(a, "%s", n < 0 ? strerror(errno) : "closed immediately");
}

static enum ab_hold connect_by(struct ab_attacker *a, const char *to, int port, int type,
			       int protocol)
{
	ab_autoclose int fd = dial(to, port, type, protocol);

	if (fd < 0)
		return ab_refused(a, -1);
	/* So the host knows who it was. */
	send(fd, a->word, strlen(a->word), MSG_DONTWAIT | MSG_NOSIGNAL);
	return ab_refused(a, 0);
}

static enum ab_hold connect_tcp(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = dial(t->arg, t->number, SOCK_STREAM, 0);

	return fd < 0 ? ab_refused(a, -1) : await_answer(a, fd);
}

static enum ab_hold connect_mptcp(struct ab_attacker *a, const struct ab_try *t)
{
	return connect_by(a, t->arg, (int)t->number, SOCK_STREAM, IPPROTO_MPTCP);
}

static enum ab_hold send_datagram(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = dial(t->arg, t->number, SOCK_DGRAM, 0);

	return fd < 0 || send(fd, "", 0, MSG_DONTWAIT) < 0 ? ab_refused(a, -1)
							   : await_answer(a, fd);
}

/* Ask the proxy for it explicitly. */
static enum ab_hold connect_through_proxy(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *to = ab_printf("%s:%ld", t->arg, t->number);
	struct ab_side side;

	if (ab_wire_dial(&side, to))
		return ab_broken(a, "it worked");
	return ab_held(a, "%.*s", side.in.len ? (int)strcspn(side.in.data, "\r\n") : 9,
		       side.in.len ? side.in.data : "no answer");
}

static enum ab_hold send_ping(struct ab_attacker *a, const struct ab_try *t)
{
	return connect_by(a, t->arg, 0, SOCK_DGRAM, IPPROTO_ICMP);
}

/* Data in the first packet, without a connect() that could be judged. */
static enum ab_hold send_fast_open(struct ab_attacker *a, const struct ab_try *t)
{
	struct ab_sockaddr to = parse_address(t->arg, t->number ? t->number : a->port);
	ab_autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 ||
	    sendto(fd, a->word, strlen(a->word), MSG_FASTOPEN | MSG_NOSIGNAL, &to.any, to.len) < 0)
		return ab_refused(a, -1);
	/* The host's loopback would look like that of the box. */
	return t->number ? await_answer(a, fd) : ab_broken(a, "it worked");
}

static enum ab_hold connect_host_loopback(struct ab_attacker *a, const struct ab_try *t)
{
	if (!a->port)
		return ab_untried(a, "the host has no loopback device");
	return connect_by(a, t->arg, a->port, SOCK_STREAM, 0);
}

static enum ab_hold open_family(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused_fd(a, socket((int)t->number, SOCK_RAW, 0));
}

static enum ab_hold open_raw(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused_fd(a, socket(AF_INET, SOCK_RAW, (int)t->number));
}

static enum ab_hold open_netlink(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused_fd(a, socket(AF_NETLINK, SOCK_RAW, (int)t->number));
}

/* Send a route netlink request; 0, or -1 with errno. */
static int request_routes(int type, int flags)
{
	struct {
		struct nlmsghdr head;
		struct rtmsg route;
	} ask = { .head = { .nlmsg_len = sizeof(ask),
			    .nlmsg_type = (uint16_t)type,
			    .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) },
		  .route = { .rtm_family = AF_INET,
			     .rtm_table = RT_TABLE_MAIN,
			     .rtm_protocol = RTPROT_STATIC,
			     .rtm_scope = RT_SCOPE_LINK,
			     .rtm_type = RTN_UNICAST } };
	ab_autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	union {
		struct nlmsghdr head;
		char bytes[8192];
	} answer;
	struct nlmsgerr *error = NLMSG_DATA(&answer.head);

	if (fd < 0 || send(fd, &ask, sizeof(ask), 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) < (ssize_t)sizeof(ask.head))
		return -1;
	if (answer.head.nlmsg_type != NLMSG_ERROR)
		return 0;
	errno = -error->error;
	return error->error ? -1 : 0;
}

static enum ab_hold add_route(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused(a, request_routes(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_ACK));
}

static enum ab_hold change_device(struct ab_attacker *a, const struct ab_try *t)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_PROMISC };
	ab_autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return ab_refused(a, ioctl(fd, SIOCSIFFLAGS, &req));
}

/* One socket for all numbers: if_indextoname() makes one for each of them. */
static enum ab_hold find_interfaces(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int others = 0, loopback = 0;

	for (int i = 1; i < 4096; i++) {
		struct ifreq req = { .ifr_ifindex = i };

		if (ioctl(fd, SIOCGIFNAME, &req) < 0)
			continue;
		if (strcmp(req.ifr_name, "lo") == 0)
			loopback++;
		else
			others++;
	}
	if (others)
		return ab_broken(a, "%d devices in addition to lo", others);
	return loopback ? ab_held(a, "only lo") : ab_untried(a, "devices cannot be listed");
}

static const char *read_routes(struct ab_attacker *a)
{
	return request_routes(RTM_GETROUTE, NLM_F_DUMP) < 0 ? "reading routes" : NULL;
}

/* Run a server and its client, both in the box. */
static const char *serve_at(const char *at)
{
	struct ab_sockaddr to = parse_address(at, 0);
	ab_autoclose int here = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ab_autoclose int there = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (here < 0 || there < 0 || bind(here, &to.any, to.len) < 0 || listen(here, 1) < 0 ||
	    getsockname(here, &to.any, &to.len) < 0 || connect(there, &to.any, to.len) < 0)
		return at;
	return NULL;
}

static const char *serve_v4(struct ab_attacker *a)
{
	return serve_at("127.0.0.1");
}

/* A machine may not have IPv6. */
static const char *serve_v6(struct ab_attacker *a)
{
	return access("/proc/sys/net/ipv6", F_OK) == 0 ? serve_at("::1") : NULL;
}

static const struct ab_try net[] = {
	{ "connect out with TCP", connect_tcp, AB_OUT4, 443, serve_v4, .claim = AB_CLAIM_MOUNTS },
	{ "connect out with TCP over IPv6", connect_tcp, AB_OUT6, 443, serve_v6,
	  .claim = AB_CLAIM_MOUNTS },
	{ "reach a cloud's metadata service", connect_tcp, AB_METADATA, 80 },
	{ "reach a private network", connect_tcp, AB_PRIVATE, 22 },
	{ "connect out with MPTCP", connect_mptcp, AB_OUT4, 443 },
	{ "send data without connecting (fast open)", send_fast_open, AB_OUT4, 443 },
	{ "send a datagram", send_datagram, AB_OUT4, 443 },
	{ "send a datagram over IPv6", send_datagram, AB_OUT6, 443 },
	{ "query a name server outside", send_datagram, "192.0.2.53", 53 },
	{ "go through the proxy", connect_through_proxy, AB_OUT4, 443 },
	{ "reach a private network through the proxy", connect_through_proxy, AB_PRIVATE, 22 },
	{ "ping", send_ping, AB_OUT4 },
	{ "reach the host's loopback", connect_host_loopback, "127.0.0.1" },
	{ "reach it at another loopback address", connect_host_loopback, "127.8.8.8" },
	{ "reach it over IPv6", connect_host_loopback, "::ffff:127.0.0.1" },
	{ "reach it with fast open", send_fast_open, "127.0.0.1", 0 },
	{ "create a raw socket", open_raw, NULL, IPPROTO_ICMP },
	{ "create a packet socket", open_family, NULL, AF_PACKET },
	{ "create a socket to the VM's host", open_family, NULL, AF_VSOCK },
	{ "create a kernel crypto socket", open_family, NULL, AF_ALG },
	{ "create a Bluetooth socket", open_family, NULL, AF_BLUETOOTH },
	{ "configure the packet filter", open_netlink, NULL, NETLINK_NETFILTER },
	{ "listen to kernel events", open_netlink, NULL, NETLINK_KOBJECT_UEVENT },
	{ "add a route", add_route, NULL, 0, read_routes },
	{ "change a network device", change_device },
	{ "find another network device", find_interfaces, .claim = AB_CLAIM_MOUNTS },
};
const struct ab_tries ab_tries_net = { "network", net, AB_COUNT(net) };
