#ifndef AB_NETNS_DATAGRAM_H
#define AB_NETNS_DATAGRAM_H
/*
 * Datagrams on the AB_LISTENER_DNS_UDP socket. Every address is local to the
 * box, so a question may have been meant for any name server; its answer must
 * come from the address that was asked, or the program takes it for a forgery.
 */
#include <netinet/in.h>
#include <stddef.h>
#include <sys/types.h>

struct ab_dns_peer {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} from;
	struct in6_addr asked; /* IPv4 as a mapped address */
};

/* The length; -1 with errno: EAGAIN when there is none, EMSGSIZE for one that
 * was longer than `max` and is gone. */
ssize_t ab_dns_socket_recv(int fd, void *buf, size_t max, struct ab_dns_peer *ret_peer);

/* -1 with errno; nobody waits for room here. */
int ab_dns_socket_send(int fd, const void *data, size_t len, const struct ab_dns_peer *peer);

#endif
