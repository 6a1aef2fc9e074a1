#include "netns/namespace.h"

#include <errno.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/fd.h"

int ab_netns_new(struct ab_error *err)
{
	ab_autoclose int sock = -1;
	int fd;

	if (unshare(CLONE_NEWNET) < 0) {
		int errnum = errno;

		ab_fail(err, AB_ESYSTEM, errnum, "make a network namespace");
		return ab_hint(err, errnum == ENOSPC
					    ? "there are too many already; as "
					      "root: sysctl "
					      "user.max_net_namespaces=15000"
					    : "agentbox doctor looks for the "
					      "cause");
	}
	/* By a socket of it: the way through /proc takes longer, and needs
	 * one. */
	sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	fd = sock < 0 ? -1 : ioctl(sock, SIOCGSKNS);
	if (fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno,
			       "open the network namespace");
	return fd;
}

int ab_netns_enter(int fd, struct ab_error *err)
{
	if (setns(fd, CLONE_NEWNET) < 0)
		return ab_fail(err, AB_ESYSTEM, errno,
			       "enter the network namespace");
	return 0;
}
