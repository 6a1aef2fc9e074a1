#include "netns/listeners.h"

#include "base/data/addr.h"
#include "netns/loopback.h"
#include "netns/netlink.h"
#include "netns/packet_log.h"

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif

/*
 * For kernels without nftables: the ports to which programs connect that ignore proxy
 * settings. Each gets a listener, so servers inside cannot use these ports.
 */
static const uint16_t well_known[] = {
	21, 22, 25, 80, 443, 465, 587, 993, 995, 3306, 5432, 6379, 8080, 8443, 9418, 27017,
};

/* More than a burst of connections needs while the proxy starts. */
enum { BACKLOG = 4096 };

enum where {
	LOOPBACK4,
	LOOPBACK6,
	ANYWHERE, /* both families with one socket */
};

struct socket_spec {
	enum ab_listener_kind kind;
	int type;
	enum where where;
	uint16_t port;
};

static const struct socket_spec sockets[] = {
	{ AB_LISTENER_DOOR, SOCK_STREAM, LOOPBACK4, AB_PORT_DOOR },
	{ AB_LISTENER_DNS_UDP, SOCK_DGRAM, ANYWHERE, AB_PORT_DNS },
	{ AB_LISTENER_DNS_TCP, SOCK_STREAM, ANYWHERE, AB_PORT_DNS },
	{ AB_LISTENER_TRANSPARENT, SOCK_STREAM, ANYWHERE, AB_PORT_CAPTURED },
};

static int bind_socket(int fd, int family, enum where where, uint16_t port)
{
	static const uint8_t any[16];
	bool v6 = family == AF_INET6;
	struct ab_sockaddr at =
		where == ANYWHERE ? ab_sockaddr(v6, any, port) : ab_sockaddr_loopback(v6, port);

	return bind(fd, &at.any, at.len);
}

static int enable_option(int fd, int family, int option4, int option6)
{
	int on = 1;

	return family == AF_INET ? setsockopt(fd, SOL_IP, option4, &on, sizeof(on))
				 : setsockopt(fd, SOL_IPV6, option6, &on, sizeof(on));
}

/* On a dual-stack socket, IPv6 options also apply to IPv4. */
static int set_options(int fd, int family, enum ab_listener_kind kind)
{
	switch (kind) {
	case AB_LISTENER_TRANSPARENT:
		/* tproxy needs this option. */
		return enable_option(fd, family, IP_TRANSPARENT, IPV6_TRANSPARENT);
	case AB_LISTENER_DNS_UDP:
		/* A reply comes from the queried address, which is local, but
		 * on no device. */
		return enable_option(fd, family, IP_PKTINFO, IPV6_RECVPKTINFO) < 0
			       ? -1
			       : enable_option(fd, family, IP_FREEBIND, IPV6_FREEBIND);
	case AB_LISTENER_DOOR:
	case AB_LISTENER_HOST_PORT:
		/* The loopback device is not up yet. */
		return enable_option(fd, family, IP_FREEBIND, IPV6_FREEBIND);
	case AB_LISTENER_DNS_TCP:
	case AB_LISTENER_COUNTERS:
	case AB_LISTENER_ROUTES:
	case AB_LISTENER_HANDED:
	case AB_LISTENER_COUNT:
		break;
	}
	return 0;
}

/* -1 with errno. */
static int open_socket(const struct socket_spec *d)
{
	int family = d->where == LOOPBACK4 ? AF_INET : AF_INET6;
	int flags = d->type | SOCK_CLOEXEC | SOCK_NONBLOCK;
	ab_autoclose int fd = socket(family, flags, 0);

	/* A kernel without IPv6. */
	if (fd < 0 && errno == EAFNOSUPPORT && d->where == ANYWHERE) {
		family = AF_INET;
		fd = socket(family, flags, 0);
	}
	if (fd < 0 || set_options(fd, family, d->kind) < 0 ||
	    bind_socket(fd, family, d->where, d->port) < 0 ||
	    (d->type == SOCK_STREAM && listen(fd, BACKLOG) < 0))
		return -1;
	return ab_take_fd(&fd);
}

static void add_listener(struct ab_network *net, enum ab_listener_kind kind, uint16_t port, int fd)
{
	net->listeners[net->n++] = (struct ab_listener){ .kind = kind, .port = port, .fd = fd };
}

static int add_socket(struct ab_network *net, const struct socket_spec *d, struct ab_error *err)
{
	int fd = open_socket(d);

	if (fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "listen on port %u of the box", d->port);
	add_listener(net, d->kind, d->port, fd);
	return 0;
}

static int add_host_port(struct ab_network *net, uint16_t port, struct ab_error *err)
{
	struct socket_spec d = { AB_LISTENER_HOST_PORT, SOCK_STREAM, LOOPBACK4, port };
	int fd;

	if (add_socket(net, &d, err) < 0)
		return ab_hint(err,
			       "the box itself uses port %u, so that port of the host "
			       "cannot be reachable in it",
			       port);
	d.where = LOOPBACK6;
	fd = open_socket(&d);
	if (fd >= 0)
		add_listener(net, d.kind, port, fd);
	else if (errno != EAFNOSUPPORT) /* a kernel without IPv6 */
		return ab_fail(err, AB_ESYSTEM, errno, "listen on port %u of the box with IPv6",
			       port);
	return 0;
}

/* The kernel may lack this protocol; that is noticed when it is needed. */
static void add_netlink(struct ab_network *net, enum ab_listener_kind kind, int protocol)
{
	int fd = ab_netlink_open(protocol);

	if (fd >= 0)
		add_listener(net, kind, 0, fd);
}

static int add_sockets(struct ab_network *net, const uint16_t *host_ports, size_t n,
		       struct ab_error *err)
{
	for (size_t i = 0; i < AB_COUNT(sockets); i++)
		if (add_socket(net, &sockets[i], err) < 0)
			return -1;
	for (size_t i = 0; i < n; i++)
		if (add_host_port(net, host_ports[i], err) < 0)
			return -1;
	add_netlink(net, AB_LISTENER_ROUTES, NETLINK_ROUTE);
	add_netlink(net, AB_LISTENER_COUNTERS, NETLINK_NETFILTER);
	return 0;
}

int ab_network_make(const uint16_t *host_ports, size_t nhost_ports, struct ab_network *ret,
		    struct ab_error *err)
{
	ret->n = 0;
	ret->capture = AB_CAPTURE_NONE;
	ret->logs = false;
	if (nhost_ports > AB_HOST_PORTS_MAX)
		return ab_fail(err, AB_EUSAGE, 0, "more than %d host ports", AB_HOST_PORTS_MAX);
	if (add_sockets(ret, host_ports, nhost_ports, err) < 0) {
		ab_network_fini(ret);
		return -1;
	}
	return 0;
}

static int find_listener(const struct ab_network *net, enum ab_listener_kind kind)
{
	for (size_t i = 0; i < net->n; i++)
		if (net->listeners[i].kind == kind)
			return net->listeners[i].fd;
	return -1;
}

static void close_listeners(struct ab_network *net, enum ab_listener_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < net->n; i++)
		if (net->listeners[i].kind == kind)
			close(net->listeners[i].fd);
		else
			net->listeners[n++] = net->listeners[i];
	net->n = n;
}

int ab_network_raise(struct ab_network *net, const struct ab_capture_way *ways, size_t nways,
		     struct ab_error *err)
{
	int rules = find_listener(net, AB_LISTENER_COUNTERS);

	net->capture = ab_capture_raise(find_listener(net, AB_LISTENER_ROUTES), rules, ways, nways,
					&net->logs);
	net->logs = net->logs && ab_packet_log_request(rules) == 0;
	close_listeners(net, AB_LISTENER_ROUTES);
	if (net->capture >= AB_CAPTURE_REDIRECT)
		return 0;
	close_listeners(net, AB_LISTENER_COUNTERS);
	close_listeners(net, AB_LISTENER_TRANSPARENT);
	return net->capture == AB_CAPTURE_NONE
		       ? ab_loopback_up_by(find_listener(net, AB_LISTENER_DOOR), err)
		       : 0;
}

void ab_network_make_ports(struct ab_network *net)
{
	struct socket_spec d = { AB_LISTENER_TRANSPARENT, SOCK_STREAM, ANYWHERE, 0 };

	/* Skip a port that is already in use by a host port. */
	for (size_t i = 0; i < AB_COUNT(well_known); i++) {
		int fd;

		d.port = well_known[i];
		fd = open_socket(&d);
		if (fd >= 0)
			add_listener(net, d.kind, d.port, fd);
	}
}

int ab_network_build(const struct ab_capture_way *ways, size_t nways, const uint16_t *host_ports,
		     size_t nhost_ports, struct ab_network *ret, struct ab_error *err)
{
	if (ab_network_make(host_ports, nhost_ports, ret, err) < 0)
		return -1;
	if (ab_network_raise(ret, ways, nways, err) < 0) {
		ab_network_fini(ret);
		return -1;
	}
	if (ret->capture == AB_CAPTURE_PORTS)
		ab_network_make_ports(ret);
	return 0;
}

bool ab_network_captures(const struct ab_network *net, uint16_t port)
{
	for (size_t i = 0; i < net->n; i++) {
		const struct ab_listener *l = &net->listeners[i];

		if (l->kind == AB_LISTENER_TRANSPARENT &&
		    (net->capture != AB_CAPTURE_PORTS || l->port == port))
			return true;
	}
	return false;
}

void ab_network_fini(struct ab_network *net)
{
	for (size_t i = 0; i < net->n; i++)
		ab_closep(&net->listeners[i].fd);
	net->n = 0;
	net->capture = AB_CAPTURE_NONE;
}
