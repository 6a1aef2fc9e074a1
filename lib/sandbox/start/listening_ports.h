#ifndef AB_SANDBOX_START_LISTENING_PORTS_H
#define AB_SANDBOX_START_LISTENING_PORTS_H
/*
 * Servers of the box: a socket that is connected to one, which init makes for
 * published ports (it has the box's network, the supervisor has not), and the
 * list of them.
 */
#include <stddef.h>
#include <stdint.h>

/* 0 and a connected (or connecting: it does not block) socket, or errno. */
int ab_listening_ports_dial(int port, int *ret_fd);

/* Pure: the ports in LISTEN state of one /proc/net/tcp or tcp6 text; adds to
 * ret[0..count) and returns the new count. */
size_t ab_ports_parse(const char *text, uint16_t *ret, size_t count, size_t max);

#endif
