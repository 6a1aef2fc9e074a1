#include "sandbox/start/listening_ports.h"

#include "base/data/addr.h"

static int connect_loopback(bool v6, uint16_t port, int *ret_fd)
{
	struct ab_sockaddr at = ab_sockaddr_loopback(v6, port);
	ab_autoclose int fd =
		socket(at.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return errno;
	r = connect(fd, &at.any, at.len);
	/* On loopback the result is already known, but only a second call
	 * returns it: refused, connected, or still in progress. */
	if (r < 0 && errno == EINPROGRESS)
		r = connect(fd, &at.any, at.len);
	if (r < 0 && errno != EALREADY && errno != EISCONN)
		return errno;
	*ret_fd = ab_take_fd(&fd);
	return 0;
}

int ab_listening_ports_dial(int port, int *ret_fd)
{
	int r;

	if (port < 1 || port > 65535)
		return EINVAL;
	r = connect_loopback(false, (uint16_t)port, ret_fd);
	/* Many development servers listen only on ::1. */
	if (r == ECONNREFUSED)
		r = connect_loopback(true, (uint16_t)port, ret_fd);
	return r;
}

int ab_listening_ports_publish(const char *option, uint16_t host, uint16_t port,
			       struct ab_error *err)
{
	struct ab_sockaddr at = ab_sockaddr_loopback(false, host);
	ab_autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, &at.any, at.len) < 0 || listen(fd, SOMAXCONN) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "listen on 127.0.0.1:%u", host);
		return ab_hint(err,
			       "publish it on another host port: %sHOSTPORT:PORT, as in 8080:%u",
			       option, port);
	}
	return ab_take_fd(&fd);
}

size_t ab_ports_parse(const char *text, uint16_t *ret, size_t count, size_t max)
{
	/* "  0: 0100007F:1F90 00000000:0000 0A ...": slot, local, remote,
	 * state; 0A is LISTEN. */
	while ((text = strchr(text, '\n')) != NULL) {
		const char *p = strchr(++text, ':');
		char *end;
		unsigned long port;
		bool known = false;

		if (!p || !(p = strchr(p + 1, ':')))
			break;
		port = strtoul(p + 1, &end, 16);
		if (*end != ' ' || !(p = strchr(end + 1, ' ')))
			break;
		if (strncmp(p, " 0A ", 4) != 0 || port == 0 || port > 65535)
			continue;
		for (size_t i = 0; i < count; i++)
			known |= ret[i] == port;
		if (!known && count < max)
			ret[count++] = (uint16_t)port;
	}
	return count;
}
