#include "guard/sockets/splice.h"

#include <netinet/in.h>

#include "base/data/addr.h"
#include "guard/connect/connect.h"
#include "guard/sockets/inet.h"

enum {
	STRANGERS = 256, /* connections of others that are closed before we give up */
	WAIT_MS = 2000,	 /* for the loopback device */
};

int ab_local_socket(int family, int type)
{
	ab_autoclose int fd = socket(family, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) < 0)
		return -1;
	return ab_take_fd(&fd);
}

/* The buffer for receiving is as small as can be. */
static int open_sender(int family)
{
	ab_autoclose int fd = ab_local_socket(family, SOCK_DGRAM | SOCK_NONBLOCK);
	int least = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)) < 0)
		return -1;
	return ab_take_fd(&fd);
}

static int open_end(int type, bool v6, struct ab_destination *ret)
{
	const struct ab_sockaddr here = ab_sockaddr_loopback(v6, 0);
	int family = here.any.sa_family;
	ab_autoclose int fd = type == SOCK_DGRAM
				      ? open_sender(family)
				      : socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, &here.any, here.len) < 0 ||
	    (type == SOCK_STREAM && listen(fd, SOMAXCONN) < 0) || ab_destination_own(fd, ret) < 0)
		return -1;
	return ab_take_fd(&fd);
}

int ab_local_ends_open(struct ab_local_ends *ret, int type)
{
	for (int v6 = 0; v6 < 2; v6++)
		ret->fd[v6] = open_end(type, v6, &ret->at[v6]);
	return ret->fd[0] < 0 ? -1 : 0;
}

int ab_splice_open(struct ab_splice *s, int proxy)
{
	*s = (struct ab_splice){ .proxy = proxy, .listeners.fd = { -1, -1 } };
	return proxy < 0 ? 0 : ab_local_ends_open(&s->listeners, SOCK_STREAM);
}

/* An IPv6 socket that cannot have IPv4 peers? */
static bool has_only_v6(int fd)
{
	struct ab_destination at;
	socklen_t size = sizeof(int);
	int only = 0;

	getsockopt(fd, SOL_IPV6, IPV6_V6ONLY, &only, &size);
	if (only)
		return true;
	/* Bound to an address of IPv6? */
	return ab_destination_own(fd, &at) == 0 && at.v6 &&
	       memcmp(at.addr, (uint8_t[16]){ 0 }, 16) != 0;
}

bool ab_local_ends_v6(const struct ab_local_ends *ends, int family, int fd)
{
	return family == AF_INET6 && ends->fd[1] >= 0 && has_only_v6(fd);
}

/* Over the loopback device this does not wait, unless the machine is busy. */
static int connect_copy(int fd, const struct ab_destination *to, int family)
{
	struct sockaddr_storage at;
	socklen_t len = ab_inet_write(to, family, &at);
	int errnum = EINTR;

	if (!len)
		return ENETUNREACH;
	ab_connects_heed_alarm(true);
	for (int i = 0; i < WAIT_MS / AB_ALARM_MS && errnum == EINTR; i++)
		errnum = connect(fd, (struct sockaddr *)&at, len) < 0 ? errno : 0;
	ab_connects_heed_alarm(false);
	return errnum;
}

/* The other end of `fd`, among what has connected to the listener; or -1. */
static int accept_own(int listener, int fd)
{
	struct ab_destination own, peer;
	struct sockaddr_storage name;
	socklen_t len;

	if (ab_destination_own(fd, &own) < 0)
		return -1;
	for (int i = 0; i < STRANGERS; i++) {
		int taken;

		len = sizeof(name);
		if (ab_poll(listener, POLLIN, WAIT_MS) < 0)
			return -1;
		taken = accept4(listener, (struct sockaddr *)&name, &len,
				SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (taken < 0 && (errno == EAGAIN || errno == EMFILE || errno == ENFILE))
			return -1;
		if (taken >= 0 && ab_destination_parse(&name, len, &peer) == 0 &&
		    ab_inet_equal(&own, &peer))
			return taken;
		ab_closep(&taken);
	}
	return -1;
}

int ab_splice_connect(const struct ab_splice *s, int fd, int family, enum ab_handed_kind kind,
		      const struct ab_destination *to)
{
	struct ab_handed message = { .kind = kind, .to = *to };
	bool v6 = ab_local_ends_v6(&s->listeners, family, fd);
	int errnum;
	ab_autoclose int end = -1;

	if (s->proxy < 0)
		return ENETUNREACH;
	errnum = connect_copy(fd, &s->listeners.at[v6], family);
	if (errnum && errnum != EINPROGRESS)
		return errnum == EINTR ? ETIMEDOUT : errnum;
	end = accept_own(s->listeners.fd[v6], fd);
	if (end < 0 || ab_send_fds(s->proxy, &message, AB_HANDED_LEN(0), &end, 1) < 0)
		return ECONNREFUSED;
	return errnum;
}
