#pragma once
/*
 * Datagrams on the AB_LISTENER_DNS_UDP socket. Every address is local to the box, so
 * a query may have been sent to any name server. The reply must come from that
 * address, or the program will not accept it.
 */
#include <netinet/in.h>

#include "base/base.h"

struct ab_dns_peer {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} from;
	struct in6_addr asked; /* IPv4 as a mapped address */
};

/* The length; -1 with errno: EAGAIN if there is none, EMSGSIZE if it was longer than
 * `max` and was dropped. */
ssize_t ab_dns_socket_recv(int fd, void *buf, size_t max, struct ab_dns_peer *ret_peer);

/* -1 with errno; never blocks. */
int ab_dns_socket_send(int fd, const void *data, size_t len, const struct ab_dns_peer *peer);
