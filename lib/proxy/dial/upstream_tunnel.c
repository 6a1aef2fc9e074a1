#include "proxy/dial/upstream_tunnel.h"

#include "proxy/dial/upstream.h"

struct ab_upstream_tunnel {
	char *request;
	size_t sent, len;
	size_t got;
	char reply[AB_UPSTREAM_HEAD];
};

struct ab_upstream_tunnel *ab_upstream_tunnel_new(const struct ab_upstream *upstream,
						  const struct ab_host *host, uint16_t port)
{
	struct ab_upstream_tunnel *tunnel = ab_alloc(sizeof(*tunnel));

	tunnel->request = ab_upstream_request(upstream, host, port);
	tunnel->len = strlen(tunnel->request);
	return tunnel;
}

void ab_upstream_tunnel_free(struct ab_upstream_tunnel *tunnel)
{
	if (!tunnel)
		return;
	explicit_bzero(tunnel->request, tunnel->len); /* credentials */
	ab_free_all(tunnel->request, tunnel);
}

static enum ab_upstream_tunnel_state send_request(struct ab_upstream_tunnel *tunnel, int fd)
{
	ssize_t n =
		send(fd, tunnel->request + tunnel->sent, tunnel->len - tunnel->sent, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return AB_UPSTREAM_TUNNEL_REFUSED;
	tunnel->sent += n > 0 ? (size_t)n : 0;
	return tunnel->sent < tunnel->len ? AB_UPSTREAM_TUNNEL_WRITE : AB_UPSTREAM_TUNNEL_READ;
}

static enum ab_upstream_tunnel_state judge_status(struct ab_upstream_tunnel *tunnel, int status,
						  int *ret_status)
{
	if (status / 100 == 2)
		return AB_UPSTREAM_TUNNEL_OPEN;
	if (status / 100 == 1 && status != 101) {
		tunnel->got = 0; /* the final reply follows */
		return AB_UPSTREAM_TUNNEL_READ;
	}
	*ret_status = status;
	return AB_UPSTREAM_TUNNEL_REFUSED;
}

static enum ab_upstream_tunnel_state read_reply(struct ab_upstream_tunnel *tunnel, int fd,
						int *ret_status)
{
	for (;;) {
		char *to = tunnel->reply + tunnel->got;
		ssize_t n = recv(fd, to, sizeof(tunnel->reply) - tunnel->got, MSG_PEEK);
		int status = 0;
		ssize_t head;
		size_t take;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return AB_UPSTREAM_TUNNEL_READ;
		if (n <= 0)
			return AB_UPSTREAM_TUNNEL_REFUSED;
		head = ab_upstream_reply(tunnel->reply, tunnel->got + (size_t)n, &status);
		if (head < 0)
			return AB_UPSTREAM_TUNNEL_REFUSED;
		take = head > 0 ? (size_t)head - tunnel->got : (size_t)n;
		if (recv(fd, to, take, 0) != (ssize_t)take)
			return AB_UPSTREAM_TUNNEL_REFUSED;
		tunnel->got += take;
		if (head > 0)
			return judge_status(tunnel, status, ret_status);
	}
}

enum ab_upstream_tunnel_state ab_upstream_tunnel_step(struct ab_upstream_tunnel *tunnel, int fd,
						      int *ret_status)
{
	*ret_status = 0;
	if (tunnel->sent < tunnel->len)
		return send_request(tunnel, fd);
	return read_reply(tunnel, fd, ret_status);
}
