#ifndef AB_NETNS_CAPTURE_H
#define AB_NETNS_CAPTURE_H
/*
 * How connections of the box reach the door although the program that makes
 * them knows of none. Every address becomes local to the box (a route of type
 * local for the whole address space), and its packets, which never leave the
 * loopback device, are led to a listener of ours.
 *
 * Convenience, not the fence: the namespace has no other device, so a way
 * that is missing costs reach, never confinement.
 */
#include <stddef.h>
#include <stdint.h>

/* Each one catches what those before it do. */
enum ab_capture {
	AB_CAPTURE_NONE,     /* only the explicit doors */
	AB_CAPTURE_PORTS,    /* listeners on well-known ports */
	AB_CAPTURE_REDIRECT, /* nftables redirect: every TCP port */
	AB_CAPTURE_TPROXY,   /* the same without connection tracking */
	AB_CAPTURE_COUNT,
};
extern const char *const ab_capture_names[AB_CAPTURE_COUNT];

/* Above the range from which the kernel takes ports for clients. */
enum {
	AB_PORT_DOOR = 61080,	  /* HTTP and SOCKS, on 127.0.0.1 */
	AB_PORT_CAPTURED = 61081, /* what tproxy and redirect lead to */
	AB_PORT_DNS = 53,
};

/* One way to lead packets: a batch of nftables messages, the answer to whose
 * message number `last` says that it is in force. */
struct ab_capture_way {
	enum ab_capture capture;
	const void *batch;
	size_t len;
	uint32_t last;
};
extern const struct ab_capture_way ab_capture_ways[];
extern const size_t ab_capture_way_count;

/*
 * Bring `lo` up, with an address of its own that is not 127.0.0.1 (programs
 * take a machine without one for a machine without network), make every
 * address local, and put the first of `ways` that this kernel takes in force.
 *
 * By two netlink sockets of the namespace, for routes and for rules (-1: there
 * is none), that were opened with CAP_NET_ADMIN there. Whoever owns its user
 * namespace may use them, from outside too. AB_CAPTURE_NONE: `lo` may be down.
 */
enum ab_capture ab_capture_raise(int routes, int rules, const struct ab_capture_way *ways,
				 size_t nways);

#endif
