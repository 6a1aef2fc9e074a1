#pragma once
/*
 * Requests a tunnel from an upstream proxy, over a connected non-blocking
 * socket. The caller watches it and calls ab_upstream_tunnel_step when ready.
 *
 * Only the bytes of the reply's head are read from the socket: what follows
 * comes from the server behind the tunnel.
 */
#include "base/base.h"

struct ab_host;
struct ab_upstream_tunnel;
struct ab_upstream;

enum ab_upstream_tunnel_state {
	AB_UPSTREAM_TUNNEL_WRITE, /* wait until writable */
	AB_UPSTREAM_TUNNEL_READ,  /* wait until readable */
	AB_UPSTREAM_TUNNEL_OPEN,
	/* With the status; 0: the upstream closed the connection or did not
	 * reply as a proxy. */
	AB_UPSTREAM_TUNNEL_REFUSED,
};

struct ab_upstream_tunnel *ab_upstream_tunnel_new(const struct ab_upstream *upstream,
						  const struct ab_host *host, uint16_t port);
void ab_upstream_tunnel_free(struct ab_upstream_tunnel *tunnel);

enum ab_upstream_tunnel_state ab_upstream_tunnel_step(struct ab_upstream_tunnel *tunnel, int fd,
						      int *ret_status);
