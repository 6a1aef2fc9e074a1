#ifndef AB_NETNS_DESTINATION_H
#define AB_NETNS_DESTINATION_H
/*
 * Where a captured connection was meant to go.
 */
#include <stdbool.h>
#include <stdint.h>

#include "netns/capture.h"

struct ab_destination {
	bool v6;
	uint8_t addr[16]; /* IPv4 in the first four */
	uint16_t port;
};

/*
 * Of a connection accepted from an AB_LISTENER_TRANSPARENT socket. -1 with
 * errno when the kernel does not know: refuse it then. A loopback address:
 * the box connected to the listener itself, which is no destination either.
 */
int ab_original_destination(int fd, enum ab_capture capture, struct ab_destination *ret);

#endif
