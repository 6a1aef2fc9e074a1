#pragma once
/*
 * Servers in the box: connect a socket to one, which init does for published ports
 * (it is in the box's network, the supervisor is not), and list them. And the host's end of a published
 * port.
 */
#include "base/base.h"

/* 0 and a socket that is connected or connecting (it does not block), or errno. */
int ab_listening_ports_dial(int port, int *ret_fd);

/* A listener on this port of the host's loopback, and no other address, for this port of a box.
 * `option`: what precedes the ports when the user names them, "--publish " or "". */
int ab_listening_ports_publish(const char *option, uint16_t host, uint16_t port,
			       struct ab_error *err);

/* Pure: the ports in LISTEN state of one /proc/net/tcp or tcp6 text; adds to
 * ret[0..count) and returns the new count. */
size_t ab_ports_parse(const char *text, uint16_t *ret, size_t count, size_t max);
