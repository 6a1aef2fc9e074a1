#include "netns/destination.h"

#include <netinet/in.h>

/* linux/netfilter_ipv4.h conflicts with netinet/in.h. */
#define SO_ORIGINAL_DST 80
#define IP6T_SO_ORIGINAL_DST 80

int ab_destination_parse(const void *bytes, size_t len, struct ab_destination *ret)
{
	struct ab_destination d = { 0 };
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;
	sa_family_t family;

	if (len < sizeof(family))
		return EINVAL;
	memcpy(&family, bytes, sizeof(family));
	if (family == AF_INET) {
		if (len < sizeof(v4))
			return EINVAL;
		memcpy(&v4, bytes, sizeof(v4));
		memcpy(d.addr, &v4.sin_addr, 4);
		d.port = ntohs(v4.sin_port);
	} else if (family == AF_INET6) {
		/* The kernel takes an address without its scope, too. */
		if (len < offsetof(struct sockaddr_in6, sin6_scope_id))
			return EINVAL;
		memcpy(&v6, bytes, offsetof(struct sockaddr_in6, sin6_scope_id));
		d.v6 = !IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr);
		if (d.v6)
			memcpy(d.addr, &v6.sin6_addr, 16);
		else
			memcpy(d.addr, v6.sin6_addr.s6_addr + 12, 4);
		d.port = ntohs(v6.sin6_port);
	} else {
		return EAFNOSUPPORT;
	}
	*ret = d;
	return 0;
}

void ab_destination_peer(int fd, struct ab_destination *ret)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);

	if (getpeername(fd, (struct sockaddr *)&at, &len) < 0 ||
	    ab_destination_parse(&at, len, ret) != 0)
		*ret = (struct ab_destination){ 0 };
}

int ab_destination_own(int fd, struct ab_destination *ret)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	int errnum;

	if (getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		return -1;
	errnum = ab_destination_parse(&at, len, ret);
	return errnum ? ab_errno(errnum) : 0;
}

int ab_original_destination(int fd, enum ab_capture capture, struct ab_destination *ret)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	int errnum;

	if (ab_destination_own(fd, ret) < 0)
		return -1;
	/* Without a redirect, our own address is the destination. */
	if (capture != AB_CAPTURE_REDIRECT)
		return 0;
	if ((ret->v6 ? getsockopt(fd, SOL_IPV6, IP6T_SO_ORIGINAL_DST, &at, &len)
		     : getsockopt(fd, SOL_IP, SO_ORIGINAL_DST, &at, &len)) < 0)
		return -1;
	errnum = ab_destination_parse(&at, len, ret);
	return errnum ? ab_errno(errnum) : 0;
}
