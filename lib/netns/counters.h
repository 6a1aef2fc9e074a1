#pragma once
/*
 * Counts the packets that the rules of the box denied: those that are neither
 * captured nor internal to the box.
 *
 * The socket is AB_LISTENER_COUNTERS. The kernel requires CAP_NET_ADMIN over the
 * box's network twice: from the opener of the socket, which was init with its
 * capabilities, and from its user, the supervisor, which owns the box's user
 * namespace.
 */
#include "base/base.h"

struct ab_counters {
	uint64_t udp;	/* datagrams, except name lookups */
	uint64_t other; /* neither TCP nor UDP */
};

int ab_counters_read(int fd, struct ab_counters *ret, struct ab_error *err);

/* Pure: add the counters in one part of the kernel's reply. 1 if it was the last
 * part, 0 if more follow, -1 with errno if it is invalid. */
int ab_counters_parse(const void *data, size_t len, struct ab_counters *ret);

/*
 * Pure: does a text of /proc/net/snmp or snmp6 count an attempt to leave a network that has only the
 * loopback device? Every look-up and connection to the outside finds no route. If the resolver has a
 * loopback address (ab_resolver_is_local() of /etc/resolv.conf, or there is no such file), a look-up
 * is a datagram to a port where nobody listens.
 */
bool ab_counters_unrouted(const char *text, bool local_resolver);
bool ab_resolver_is_local(const char *resolv_conf);
