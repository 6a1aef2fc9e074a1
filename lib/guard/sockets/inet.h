#pragma once
/*
 * Internet addresses of the box's calls: read from hostile bytes, and judged. Pure.
 */

#include "base/base.h"
#include "netns/destination.h"

struct ab_socket_owner_socket;

/* As a socket of this family takes it; an IPv6 one gets IPv4 as a mapped address. Returns the
 * length; 0: the family has no such address. */
socklen_t ab_inet_write(const struct ab_destination *at, int family, struct sockaddr_storage *ret);

/* To this machine without leaving it. "Any" address is the loopback one to connect() and sendto(). */
bool ab_inet_is_loopback(const struct ab_destination *at);
/* The loopback address in the place of "any". */
void ab_inet_normalize(struct ab_destination *at);
bool ab_inet_equal(const struct ab_destination *a, const struct ab_destination *b);

/* Does the socket in this line of /proc/net/tcp or udp receive what is sent to `to`? */
bool ab_inet_serves(const struct ab_socket_owner_socket *line, const struct ab_destination *to);

/* Where a connection or datagram goes. */
enum ab_inet_way {
	AB_WAY_OWN,	   /* to a server of the box */
	AB_WAY_DOOR,	   /* to the proxy, which it named itself */
	AB_WAY_HOST_PORT,  /* through the proxy, to a port of the host */
	AB_WAY_NAMES,	   /* to our resolver */
	AB_WAY_PROXY,	   /* through the proxy */
	AB_WAY_NO_SERVER,  /* nobody listens there, as far as the box may know */
	AB_WAY_NO_NETWORK, /* nothing leads there */
};
struct ab_inet_terms {
	bool filtered; /* there is a proxy */
	const uint16_t *host_ports;
	size_t nhost_ports;
};
/* `own`: a server of the box, and nobody else, has that address. */
enum ab_inet_way ab_inet_judge(const struct ab_inet_terms *terms, bool stream,
			       const struct ab_destination *to, bool own);

/* One line of /proc/net/unix: the inode, if a socket listens there at the abstract name (without
 * its leading NUL); else 0. */
uint64_t ab_inet_unix_listener(const char *line, size_t len, const char *name, size_t name_len);
