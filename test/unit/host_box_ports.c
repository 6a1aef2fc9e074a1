/* Ports of our own network namespace, through the descriptors that the supervisor keeps. */
#include "host/box_ports.h"

#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"

static int listen_on(uint16_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 1) == 0 ? fd : -1;
}

static bool skip_port(const void *arg, uint16_t port)
{
	return *(const uint16_t *)arg == port;
}

int main(void)
{
	struct ab_box_ports ports;
	uint16_t skipped = 3000;
	int fd;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0) {
		lacks("ports of a box", "no user namespaces");
		return done();
	}
	ab_box_ports_open(getpid(), &ports);
	ok(ports.tables[0] >= 0, "the table is open");
	ok(ab_box_ports_look(&ports, skip_port, &skipped) == 0, "nothing listens");
	ok(listen_on(3000) >= 0 && listen_on(40000) >= 0 && listen_on(61080) >= 0 &&
		   listen_on(8081) >= 0,
	   "four servers");
	fd = listen_on(8080);
	ok(ab_box_ports_look(&ports, skip_port, &skipped) == 0, "not at the first look");
	close(fd);
	ok(ab_box_ports_look(&ports, skip_port, &skipped) == 8081,
	   "the one that stays, is not skipped, ours or picked by the kernel");
	skipped = 8081;
	ok(ab_box_ports_look(&ports, skip_port, &skipped) == 3000, "the lowest of those left");
	ab_box_ports_fini(&ports);
	ok(ports.tables[0] == -1 && ab_box_ports_look(&ports, skip_port, &skipped) == 0,
	   "closed: nothing");
	return done();
}
