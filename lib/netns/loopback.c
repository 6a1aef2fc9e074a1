#include "netns/loopback.h"

#include <errno.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/fd.h"

int ab_loopback_up(struct ab_error *err)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	ab_autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &req) < 0)
		return ab_fail(err, AB_ESYSTEM, errno,
			       "bring the loopback device up");
	return 0;
}
