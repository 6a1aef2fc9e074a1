#include "netns/destination.h"

#include <netinet/in.h>
#include <sys/socket.h>

/* linux/netfilter_ipv4.h conflicts with netinet/in.h. */
#define SO_ORIGINAL_DST 80
#define IP6T_SO_ORIGINAL_DST 80

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int decode_address(const union address *a, struct ab_destination *ret)
{
	struct ab_destination d = { 0 };

	if (a->any.sa_family == AF_INET) {
		memcpy(d.addr, &a->v4.sin_addr, 4);
		d.port = ntohs(a->v4.sin_port);
	} else if (a->any.sa_family == AF_INET6) {
		d.v6 = !IN6_IS_ADDR_V4MAPPED(&a->v6.sin6_addr);
		if (d.v6)
			memcpy(d.addr, &a->v6.sin6_addr, 16);
		else
			memcpy(d.addr, a->v6.sin6_addr.s6_addr + 12, 4);
		d.port = ntohs(a->v6.sin6_port);
	} else {
		return ab_errno(EAFNOSUPPORT);
	}
	*ret = d;
	return 0;
}

int ab_original_destination(int fd, enum ab_capture capture, struct ab_destination *ret)
{
	union address here, meant;
	socklen_t len = sizeof(here);

	/* Without a redirect, our own address is the destination. */
	if (getsockname(fd, &here.any, &len) < 0 || decode_address(&here, ret) < 0)
		return -1;
	if (capture != AB_CAPTURE_REDIRECT)
		return 0;
	len = sizeof(meant);
	if ((ret->v6 ? getsockopt(fd, SOL_IPV6, IP6T_SO_ORIGINAL_DST, &meant, &len)
		     : getsockopt(fd, SOL_IP, SO_ORIGINAL_DST, &meant, &len)) < 0)
		return -1;
	return decode_address(&meant, ret);
}
