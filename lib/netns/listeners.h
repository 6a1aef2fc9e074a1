#ifndef AB_NETNS_LISTENERS_H
#define AB_NETNS_LISTENERS_H
/*
 * The network of a filtered box. A socket keeps the namespace that it was made
 * in, so what connects to one of these inside is accepted outside, with no
 * process and no port in between; and what a netlink socket changes from
 * outside changes inside. Whoever holds one keeps the namespace alive.
 *
 * Made in three steps, because two processes have time at different moments:
 *
 *	make		by the box's init: the sockets, before anything is up
 *	raise		by the supervisor, who got them: device, routes, rules
 *	make_ports	by init again, where there can be no rules
 *
 * All sockets are close-on-exec and do not block. TCP sockets listen.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netns/capture.h"

struct ab_error;

enum ab_listener_kind {
	AB_LISTENER_DOOR, /* TCP: HTTP and SOCKS, 127.0.0.1:61080 */
	/*
	 * TCP: captured connections; see netns/destination.h. Whoever connects
	 * to it on purpose has a loopback destination: refuse.
	 */
	AB_LISTENER_TRANSPARENT,
	AB_LISTENER_DNS_UDP, /* see netns/datagram.h */
	AB_LISTENER_DNS_TCP,
	AB_LISTENER_HOST_PORT, /* TCP: a port of the host, on loopback */
	AB_LISTENER_COUNTERS,  /* no listener: see netns/counters.h */
	AB_LISTENER_ROUTES,    /* nor is this; gone once the network is up */
	AB_LISTENER_COUNT,
};

/* IPv4 and IPv6 for each host port, and all the rest. */
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
};

/*
 * In a new network namespace, with CAP_NET_ADMIN and CAP_NET_BIND_SERVICE.
 * On failure nothing is left open. At most AB_HOST_PORTS_MAX host ports.
 */
int ab_network_make(const uint16_t *host_ports, size_t nhost_ports, struct ab_network *ret,
		    struct ab_error *err);

/*
 * Bring it up, and say in net->capture by which of these ways connections are
 * captured. Sockets that are of no use then are closed and left out. Needs to
 * own the user namespace of the box, or CAP_NET_ADMIN in it.
 */
int ab_network_raise(struct ab_network *net, const struct ab_capture_way *ways, size_t nways,
		     struct ab_error *err);

/* For AB_CAPTURE_PORTS: adds a listener on every well-known port. In the
 * namespace, with CAP_NET_BIND_SERVICE. */
void ab_network_make_ports(struct ab_network *net);

/* All of it at once, by whoever is in the namespace. */
int ab_network_build(const struct ab_capture_way *ways, size_t nways, const uint16_t *host_ports,
		     size_t nhost_ports, struct ab_network *ret, struct ab_error *err);

/* Is a connection to this port of any address captured? */
bool ab_network_captures(const struct ab_network *net, uint16_t port);

/* Close what is open; the struct is then an empty network. */
void ab_network_fini(struct ab_network *net);

#endif
