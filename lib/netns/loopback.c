#include "netns/loopback.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/fd.h"

int ab_loopback_up(struct ab_error *err)
{
	ab_autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return ab_loopback_up_by(fd, err);
}

int ab_loopback_up_by(int sock, struct ab_error *err)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	if (ioctl(sock, SIOCSIFFLAGS, &req) < 0)
		return ab_fail(err, AB_ESYSTEM, errno,
			       "bring the loopback device up");
	return 0;
}

bool ab_loopback_alone(void)
{
	/* Two lines of headings, then one for each device, in any order: with
	 * two of them there is a third line feed behind the headings' own, or
	 * more text than fits here. */
	ab_autoclose int fd = open("/proc/self/net/dev", O_RDONLY | O_CLOEXEC);
	char text[1024];
	const char *line = text;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	for (int i = 0; i < 2; i++) {
		line = strchr(line, '\n');
		if (!line++)
			return false;
	}
	line += strspn(line, " ");
	if (strncmp(line, "lo:", 3) != 0)
		return false;
	line = strchr(line, '\n');
	return line && line[1] == '\0';
}
