#ifndef AB_PROXY_DIAL_UPSTREAM_TUNNEL_H
#define AB_PROXY_DIAL_UPSTREAM_TUNNEL_H
/*
 * Asking an upstream proxy for a tunnel, over a connected non-blocking socket.
 * The caller watches the socket and calls ab_upstream_tunnel_step when it is ready.
 *
 * What a server behind the tunnel sends first is not ours: only bytes that
 * were seen to belong to the answer's head are taken from the socket.
 */
#include <stdint.h>

struct ab_host;
struct ab_upstream_tunnel;
struct ab_upstream;

enum ab_upstream_tunnel_state {
	AB_TALK_WRITE,	 /* wait until it can be written to */
	AB_TALK_READ,	 /* wait until it can be read from */
	AB_TALK_OPEN,	 /* the tunnel is there */
	AB_TALK_REFUSED, /* with the status; 0: it hung up, or did not
				 * answer as a proxy does */
};

struct ab_upstream_tunnel *ab_upstream_tunnel_new(const struct ab_upstream *upstream,
						  const struct ab_host *host, uint16_t port);
void ab_upstream_tunnel_free(struct ab_upstream_tunnel *talk);

enum ab_upstream_tunnel_state ab_upstream_tunnel_step(struct ab_upstream_tunnel *talk, int fd,
						      int *ret_status);

#endif
