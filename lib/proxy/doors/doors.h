#pragma once
/*
 * The first steps of an accepted connection. A door is a kind of listener: it
 * decides how the client names its target. Private to lib/proxy.
 */
#include "netns/destination.h"
#include "netns/listeners.h"
#include "proxy/conn/conn.h"
#include "proxy/wire/dns.h"

/* `port`: of the listener, where that means something. */
/* HTTP or SOCKS5, told apart by the first byte. */
void ab_door_open_explicit(struct ab_engine *engine, int fd, uint16_t port);
/* A captured connection: the client meant to reach the target itself. */
void ab_door_open_transparent(struct ab_engine *engine, int fd, uint16_t port);
/* The same where the target is known; NULL: it is not, and the connection is closed. */
void ab_door_open_captured(struct ab_engine *engine, int fd, const struct ab_destination *to);
/* DNS queries over TCP. */
void ab_door_open_dns(struct ab_engine *engine, int fd, uint16_t port);
/* From the box to this port of the host's loopback. */
void ab_door_open_host_port(struct ab_engine *engine, int fd, uint16_t port);
/* From the host to a port of the box. The caller attaches the server's socket.
 * NULL: the connection was closed. */
struct ab_conn *ab_door_open_published(struct ab_engine *engine, int fd, uint16_t port);

/* Answer the datagrams queued on a DNS socket. */
void ab_door_dns_datagrams(struct ab_engine *engine, int fd);
/* One query; the length of the answer, 0: send none. */
size_t ab_door_dns_answer(struct ab_engine *engine, const uint8_t *msg, size_t len,
			  uint8_t ret[AB_DNS_ANSWER_MAX]);
