#pragma once
/*
 * How connections of the box reach the proxy even if the program ignores proxy
 * settings. Every address becomes local to the box (a route of type local for the
 * whole address space), and the packets, which never leave the loopback device,
 * are directed to one of our listeners.
 *
 * This is for convenience, not for confinement: the namespace has no other device,
 * so without capture fewer programs reach the network, and none escapes.
 */
#include "base/base.h"

/* Each one captures everything that those before it do, and more. */
enum ab_capture {
	AB_CAPTURE_NONE,     /* only the explicit proxy ports */
	AB_CAPTURE_PORTS,    /* listeners on well-known ports */
	AB_CAPTURE_REDIRECT, /* nftables redirect: every TCP port */
	AB_CAPTURE_TPROXY,   /* the same without connection tracking */
	AB_CAPTURE_COUNT,
};
extern const char *const ab_capture_names[AB_CAPTURE_COUNT];

/* Above the range of the kernel's ephemeral ports. */
enum {
	AB_PORT_DOOR = 61080,	  /* HTTP and SOCKS, on 127.0.0.1 */
	AB_PORT_CAPTURED = 61081, /* target of tproxy and redirect */
	AB_PORT_DNS = 53,
};

/* The box decides how many datagrams it sends: of so many at once and each second, more than their number
 * is recorded. */
enum { AB_DATAGRAMS_BURST = 100, AB_DATAGRAMS_PER_SECOND = 20 };

/* One way to capture packets: a batch of nftables messages. The reply to message
 * number `last` tells whether it is in force. */
struct ab_capture_way {
	enum ab_capture capture;
	bool logs; /* also logs the datagrams that it denies: netns/packet_log.h */
	const void *batch;
	size_t len;
	uint32_t last;
};
extern const struct ab_capture_way ab_capture_ways[];
extern const size_t ab_capture_way_count;

/*
 * Bring `lo` up with an address other than 127.0.0.1 (without one, programs think
 * that the machine has no network), make every address local, and activate the
 * first of `ways` that this kernel supports.
 *
 * Uses two netlink sockets of the namespace, for routes and for rules (-1: not
 * available), that were opened with CAP_NET_ADMIN there. The owner of its user
 * namespace may use them, even from outside. AB_CAPTURE_NONE: `lo` may be down.
 * ret_logs: that of the way in force.
 */
enum ab_capture ab_capture_raise(int routes, int rules, const struct ab_capture_way *ways,
				 size_t nways, bool *ret_logs);
