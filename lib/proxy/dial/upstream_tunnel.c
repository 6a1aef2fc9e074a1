#include "proxy/dial/upstream_tunnel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/data/mem.h"
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
	struct ab_upstream_tunnel *talk = ab_alloc(sizeof(*talk));

	talk->request = ab_upstream_request(upstream, host, port);
	talk->len = strlen(talk->request);
	return talk;
}

void ab_upstream_tunnel_free(struct ab_upstream_tunnel *talk)
{
	if (!talk)
		return;
	explicit_bzero(talk->request, talk->len); /* credentials */
	free(talk->request);
	free(talk);
}

static enum ab_upstream_tunnel_state send_request(struct ab_upstream_tunnel *talk, int fd)
{
	ssize_t n = send(fd, talk->request + talk->sent, talk->len - talk->sent, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return AB_TALK_REFUSED;
	talk->sent += n > 0 ? (size_t)n : 0;
	return talk->sent < talk->len ? AB_TALK_WRITE : AB_TALK_READ;
}

static enum ab_upstream_tunnel_state judge(struct ab_upstream_tunnel *talk, int status,
					   int *ret_status)
{
	if (status / 100 == 2)
		return AB_TALK_OPEN;
	if (status / 100 == 1 && status != 101) {
		talk->got = 0; /* the real one is still to come */
		return AB_TALK_READ;
	}
	*ret_status = status;
	return AB_TALK_REFUSED;
}

static enum ab_upstream_tunnel_state read_reply(struct ab_upstream_tunnel *talk, int fd,
						int *ret_status)
{
	for (;;) {
		char *to = talk->reply + talk->got;
		ssize_t n = recv(fd, to, sizeof(talk->reply) - talk->got, MSG_PEEK);
		int status = 0;
		ssize_t head;
		size_t take;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return AB_TALK_READ;
		if (n <= 0)
			return AB_TALK_REFUSED;
		head = ab_upstream_reply(talk->reply, talk->got + (size_t)n, &status);
		if (head < 0)
			return AB_TALK_REFUSED;
		take = head > 0 ? (size_t)head - talk->got : (size_t)n;
		if (recv(fd, to, take, 0) != (ssize_t)take)
			return AB_TALK_REFUSED;
		talk->got += take;
		if (head > 0)
			return judge(talk, status, ret_status);
	}
}

enum ab_upstream_tunnel_state ab_upstream_tunnel_step(struct ab_upstream_tunnel *talk, int fd,
						      int *ret_status)
{
	*ret_status = 0;
	if (talk->sent < talk->len)
		return send_request(talk, fd);
	return read_reply(talk, fd, ret_status);
}
