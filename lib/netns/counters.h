#ifndef AB_NETNS_COUNTERS_H
#define AB_NETNS_COUNTERS_H
/*
 * What the rules of the box refused: packets that are neither captured nor
 * the box's own.
 *
 * The socket is AB_LISTENER_COUNTERS. The kernel asks twice for CAP_NET_ADMIN
 * over the box's network: of whoever opened the socket, which was init with
 * its capabilities, and of whoever uses it, which is the supervisor: it owns
 * the box's user namespace.
 */
#include <stddef.h>
#include <stdint.h>

struct ab_error;

struct ab_counters {
	uint64_t udp;	/* datagrams, but for names */
	uint64_t other; /* neither TCP nor UDP */
};

int ab_counters_read(int fd, struct ab_counters *ret, struct ab_error *err);

/* Pure: adds what a part of the kernel's answer tells. 1 when it was the last
 * part, 0 when more follows, -1 with errno when it is none. */
int ab_counters_parse(const void *data, size_t len, struct ab_counters *ret);

#endif
