#include "guard/sockets/splice.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "guard/connect/connect.h"
#include "guard/sockets/inet.h"

enum {
	STRANGERS = 256, /* connections of others that are closed before we give up */
	WAIT_MS = 2000,	 /* for the loopback device */
};

static int open_listener(const struct ab_destination *wanted, int family,
			 struct ab_destination *ret)
{
	ab_autoclose int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_storage at;
	socklen_t len = ab_inet_write(wanted, family, &at);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) < 0 || listen(fd, SOMAXCONN) < 0)
		return -1;
	return ab_destination_own(fd, ret) < 0 ? -1 : ab_take_fd(&fd);
}

int ab_splice_open(struct ab_splice *s, int proxy)
{
	static const struct ab_destination here = { .addr = { 127, 0, 0, 1 } };
	static const struct ab_destination here6 = { .v6 = true, .addr = { [15] = 1 } };

	*s = (struct ab_splice){ .proxy = proxy, .listener = -1, .listener6 = -1 };
	if (proxy < 0)
		return 0;
	s->listener = open_listener(&here, AF_INET, &s->at);
	s->listener6 = open_listener(&here6, AF_INET6, &s->at6); /* there may be no IPv6 */
	return s->listener < 0 ? -1 : 0;
}

bool ab_splice_only_v6(int fd)
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
	bool v6 = family == AF_INET6 && s->listener6 >= 0 && ab_splice_only_v6(fd);
	int errnum;
	ab_autoclose int end = -1;

	if (s->proxy < 0)
		return ENETUNREACH;
	errnum = connect_copy(fd, v6 ? &s->at6 : &s->at, family);
	if (errnum && errnum != EINPROGRESS)
		return errnum == EINTR ? ETIMEDOUT : errnum;
	end = accept_own(v6 ? s->listener6 : s->listener, fd);
	if (end < 0 || ab_send_fds(s->proxy, &message, AB_HANDED_LEN(0), &end, 1) < 0)
		return ECONNREFUSED;
	return errnum;
}
