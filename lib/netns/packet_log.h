#pragma once
/*
 * The datagrams that the rules of the box deny, each when it is denied. A rule of the batch
 * (generate.c) sends the beginning of each to this socket, which is that of the counters, up to a
 * limit per second; the others are only counted (netns/counters.h). The kernel does not wait for
 * us: what the box gets back is the same with and without a reader.
 *
 * The bytes are the box's.
 */
#include "base/base.h"
#include "netns/destination.h"

struct ab_denied_datagram {
	struct ab_destination from; /* the socket of the box */
	struct ab_destination to;
};

/* -1 with errno. */
int ab_packet_log_request(int fd);

/* Read the next one, and nothing that is not one. False: there is none yet. */
bool ab_packet_log_read(int fd, struct ab_denied_datagram *ret);

/* The rest is pure. */

/* One message of the kernel, aligned as a struct nlmsghdr. */
bool ab_packet_log_parse(const void *data, size_t len, struct ab_denied_datagram *ret);
/* The beginning of a packet. False: it does not begin a datagram of IPv4 or IPv6, as the further
 * fragments of one do not, or its ports are missing. */
bool ab_packet_log_datagram(const uint8_t *packet, size_t len, struct ab_denied_datagram *ret);
