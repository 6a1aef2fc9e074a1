#include "netns/datagram.h"

/* A dual-stack socket uses IPv6 addresses for both families. */
union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

static void map_v4(const struct in_addr *v4, struct in6_addr *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->s6_addr[10] = ret->s6_addr[11] = 0xff;
	memcpy(ret->s6_addr + 12, v4, 4);
}

static bool find_asked_address(struct msghdr *msg, struct in6_addr *ret)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			*ret = info.ipi6_addr;
			return true;
		}
		if (c->cmsg_level == SOL_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			map_v4(&info.ipi_addr, ret);
			return true;
		}
	}
	return false;
}

ssize_t ab_dns_socket_recv(int fd, void *buf, size_t max, struct ab_dns_peer *ret_peer)
{
	struct ab_dns_peer peer = { 0 };
	union control control;
	struct iovec iov = { .iov_base = buf, .iov_len = max };
	struct msghdr msg = { .msg_name = &peer.from,
			      .msg_namelen = sizeof(peer.from),
			      .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT);

	if (n < 0)
		return -1;
	if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		return ab_errno(EMSGSIZE);
	if (!find_asked_address(&msg, &peer.asked))
		return ab_errno(EPROTO);
	*ret_peer = peer;
	return n;
}

/* Control data of one kind: from which address the answer comes. */
static void set_source(struct msghdr *msg, int level, int type, const void *info, size_t len)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), info, len);
	msg->msg_controllen = CMSG_SPACE(len);
}

int ab_dns_socket_send(int fd, const void *data, size_t len, const struct ab_dns_peer *peer)
{
	struct ab_dns_peer to = *peer;
	struct in6_pktinfo info6 = { .ipi6_addr = to.asked };
	struct in_pktinfo info4 = { 0 };
	bool v4 = to.from.any.sa_family == AF_INET;
	union control control = { 0 };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)data, .iov_len = len };
	struct msghdr msg = { .msg_name = &to.from,
			      .msg_namelen = v4 ? sizeof(to.from.v4) : sizeof(to.from.v6),
			      .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };

	memcpy(&info4.ipi_spec_dst, to.asked.s6_addr + 12, 4);
	if (v4)
		set_source(&msg, SOL_IP, IP_PKTINFO, &info4, sizeof(info4));
	else
		set_source(&msg, SOL_IPV6, IPV6_PKTINFO, &info6, sizeof(info6));
	return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -1 : 0;
}
