#pragma once
/*
 * The network of a filtered box. A socket stays in the namespace in which it was
 * created, so the supervisor can accept connections that are made inside, without
 * a process or port in between, and can change the inside through a netlink
 * socket. An open socket keeps the namespace alive.
 *
 * Built in three steps, so that init and the supervisor can work in parallel:
 *
 *	make		in init: the sockets, before anything is up
 *	raise		in the supervisor, which got them: device, routes, rules
 *	make_ports	in init again, if rules are not available
 *
 * All sockets are close-on-exec and non-blocking. TCP sockets listen.
 */
#include "base/base.h"
#include "netns/capture.h"

enum ab_listener_kind {
	AB_LISTENER_DOOR, /* TCP: HTTP and SOCKS, 127.0.0.1:61080 */
	/*
	 * TCP: captured connections; see netns/destination.h. A connection to
	 * the listener itself has a loopback destination: deny it.
	 */
	AB_LISTENER_TRANSPARENT,
	AB_LISTENER_DNS_UDP, /* see netns/datagram.h */
	AB_LISTENER_DNS_TCP,
	AB_LISTENER_HOST_PORT, /* TCP: a port of the host, on loopback */
	AB_LISTENER_COUNTERS,  /* not a listener: see netns/counters.h */
	AB_LISTENER_ROUTES,    /* not a listener; closed once the network is up */
	AB_LISTENER_HANDED,    /* not a listener: see netns/destination.h */
	AB_LISTENER_COUNT,
};

/* IPv4 and IPv6 for each host port, and all others. */
enum { AB_HOST_PORTS_MAX = 48, AB_LISTENERS_MAX = 2 * 48 + 32 };

struct ab_listener {
	enum ab_listener_kind kind;
	uint16_t port; /* in the box; 0 for counters */
	int fd;
};

struct ab_network {
	enum ab_capture capture;
	struct ab_listener listeners[AB_LISTENERS_MAX];
	size_t n;
	bool logs; /* AB_LISTENER_COUNTERS also hears of denied datagrams: netns/packet_log.h */
};

/*
 * Call in a new network namespace, with CAP_NET_ADMIN and CAP_NET_BIND_SERVICE. On
 * failure nothing stays open. At most AB_HOST_PORTS_MAX host ports.
 */
int ab_network_make(const uint16_t *host_ports, size_t nhost_ports, struct ab_network *ret,
		    struct ab_error *err);

/*
 * Bring it up and set net->capture to the way in which connections are captured, and net->logs.
 * Closes and removes the sockets that are not needed then. Requires ownership of
 * the user namespace of the box, or CAP_NET_ADMIN in it.
 */
int ab_network_raise(struct ab_network *net, const struct ab_capture_way *ways, size_t nways,
		     struct ab_error *err);

/* For AB_CAPTURE_PORTS: add a listener on every well-known port. Call in the
 * namespace, with CAP_NET_BIND_SERVICE. */
void ab_network_make_ports(struct ab_network *net);

/* All steps at once, in the namespace. */
int ab_network_build(const struct ab_capture_way *ways, size_t nways, const uint16_t *host_ports,
		     size_t nhost_ports, struct ab_network *ret, struct ab_error *err);

/* Is a connection to this port of any address captured? */
bool ab_network_captures(const struct ab_network *net, uint16_t port);

/* Close all sockets; the struct is then an empty network. */
void ab_network_fini(struct ab_network *net);
