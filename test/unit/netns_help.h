#ifndef AB_TEST_NETNS_HELP_H
#define AB_TEST_NETNS_HELP_H
/*
 * A network namespace for a test to build in, and ends of connections in it.
 * A child lives in the namespace and does what is asked of it; the test stays
 * outside, as the supervisor does.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (write(fd, text, strlen(text)) < 0)
			perror(path);
		close(fd);
	}
}

/* New user and network namespaces, with our own uid; false: not here. */
static inline bool enter_namespaces(void)
{
	unsigned int uid = getuid(), gid = getgid();
	char map[64];

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return false;
	write_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	write_text("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	write_text("/proc/self/gid_map", map);
	return true;
}

union end {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static inline socklen_t end_of(const char *text, uint16_t port, union end *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons(port);
		return sizeof(ret->v4);
	}
	inet_pton(AF_INET6, text, &ret->v6.sin6_addr);
	ret->v6.sin6_family = AF_INET6;
	ret->v6.sin6_port = htons(port);
	return sizeof(ret->v6);
}

static inline bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

/* A socket, connected or on its way; -1 with errno. */
static inline int dial_to(const char *text, uint16_t port, int type)
{
	union end to;
	socklen_t len = end_of(text, port, &to);
	int fd = socket(to.any.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int error = 0;

	if (fd < 0)
		return -1;
	if (connect(fd, &to.any, len) < 0) {
		if (errno == EINPROGRESS && poll(&p, 1, 30000) == 1) {
			len = sizeof(error);
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
		} else {
			error = errno;
		}
	}
	if (error) {
		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

#endif
