#ifndef AB_PROXY_DOORS_DOORS_H
#define AB_PROXY_DOORS_DOORS_H
/*
 * What happens to a connection right after it was accepted, at each door.
 * Private to lib/proxy.
 */
#include <stddef.h>
#include <stdint.h>

#include "netns/listeners.h"
#include "proxy/conn/conn.h"
#include "proxy/wire/dns.h"

/* HTTP or SOCKS5, told apart by the first byte. */
void ab_door_open_explicit(struct ab_engine *engine, int fd);
/* Whoever the client wanted to reach, it has reached us. */
void ab_door_open_transparent(struct ab_engine *engine, int fd, enum ab_capture capture);
/* Queries over a stream, one after another. */
void ab_door_open_dns(struct ab_engine *engine, int fd);
/* From the box to this port of the host's loopback. */
void ab_door_open_host_port(struct ab_engine *engine, int fd, uint16_t port);
/* From the host to a port of the box: a socket for its server's side is still
 * to be attached. NULL: it is closed already. */
struct ab_conn *ab_door_open_published(struct ab_engine *engine, int fd, uint16_t port);

/* All datagrams that wait on a DNS socket. */
void ab_door_dns_datagrams(struct ab_engine *engine, int fd);

#endif
