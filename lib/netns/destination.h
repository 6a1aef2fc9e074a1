#ifndef AB_NETNS_DESTINATION_H
#define AB_NETNS_DESTINATION_H
/*
 * The original destination of a captured connection.
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
 * For a connection accepted from an AB_LISTENER_TRANSPARENT socket. -1 with errno if
 * the kernel does not know: deny it. A loopback address means that the box
 * connected to the listener itself, which must be denied, too.
 */
int ab_original_destination(int fd, enum ab_capture capture, struct ab_destination *ret);

#endif
