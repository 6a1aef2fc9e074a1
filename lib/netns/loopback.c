#include "netns/loopback.h"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>

int ab_netns_enter_new(struct ab_error *err)
{
	if (unshare(CLONE_NEWNET) == 0)
		return 0;
	ab_fail(err, AB_ESYSTEM, errno, "create a network namespace");
	if (err->errnum == ENOSPC)
		return ab_hint(err, "there are too many; as root: "
				    "sysctl user.max_net_namespaces=15000");
	return ab_hint(err, "run agentbox doctor to find the cause");
}

int ab_loopback_up(struct ab_error *err)
{
	ab_autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return ab_loopback_up_by(fd, err);
}

int ab_loopback_up_by(int sock, struct ab_error *err)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	if (ioctl(sock, SIOCSIFFLAGS, &req) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "bring up the loopback device");
	return 0;
}

/* A device whose state is unknown counts as up. */
static bool is_up(int sock, const char *name, size_t len)
{
	struct ifreq req = { 0 };

	if (len >= sizeof(req.ifr_name))
		return true;
	memcpy(req.ifr_name, name, len);
	return ioctl(sock, SIOCGIFFLAGS, &req) < 0 || (req.ifr_flags & IFF_UP);
}

/* Read the whole list; false if it does not fit. */
static bool read_devices(char *text, size_t room)
{
	ab_autoclose int fd = open("/proc/self/net/dev", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : ab_read_full(fd, text, room);

	if (n < 0 || (size_t)n == room)
		return false;
	text[n] = '\0';
	return true;
}

bool ab_loopback_alone(void)
{
	/* Two heading lines, then one line per device: "  lo: ...". */
	char text[8192];
	const char *line = text;
	ab_autoclose int sock = -1;
	bool found = false;

	if (!read_devices(text, sizeof(text)))
		return false;
	for (int i = 0; (line = strchr(line, '\n')) != NULL; i++) {
		const char *name = line + 1 + strspn(line + 1, " ");
		size_t len = strcspn(name, ":\n");

		line++;
		if (i == 0 || !*line)
			continue;
		if (len == 2 && memcmp(name, "lo", 2) == 0) {
			found = true;
			continue;
		}
		if (sock < 0)
			sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (is_up(sock, name, len))
			return false;
	}
	return found;
}
