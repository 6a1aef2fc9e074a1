#ifndef AB_SANDBOX_PORTS_H
#define AB_SANDBOX_PORTS_H
/*
 * What init does for published ports: a socket connected to a server inside,
 * and the list of servers. Init has the box's network, the supervisor has not.
 */
#include <stddef.h>
#include <stdint.h>

/* 0 and a connected (or connecting: it does not block) socket, or errno. */
int ab_ports_dial(int port, int *ret_fd);

/* The TCP ports that listen inside, each once; how many. */
int ab_ports_listening(uint16_t *ret, size_t max);

/* Pure: the ports in LISTEN state of one /proc/net/tcp or tcp6 text; adds to
 * ret[0..count) and returns the new count. */
size_t ab_ports_parse(const char *text, uint16_t *ret, size_t count,
		      size_t max);

#endif
