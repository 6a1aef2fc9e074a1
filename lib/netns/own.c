#include "netns/own.h"

#include <linux/rtnetlink.h>

#include "netns/netlink.h"

enum {
	MOST = 1 << 16, /* addresses of a machine */
	TRIES = 8,	/* if too much changes meanwhile */
};

int ab_own_open(struct ab_error *err)
{
	struct sockaddr_nl at = { .nl_family = AF_NETLINK,
				  .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR };
	ab_autoclose int fd = ab_netlink_open(NETLINK_ROUTE);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "watch the addresses of this machine");
	return ab_take_fd(&fd);
}

static int add_address(struct ab_own *own, const void *addr, size_t len)
{
	struct ab_addr a = { .v6 = len == 16 };

	if (own->len == MOST)
		return ab_errno(E2BIG);
	memcpy(a.addr, addr, len);
	*ab_append(own->v, own->len) = a;
	return 0;
}

/* On a point-to-point link, IFA_ADDRESS is the address of the peer. */
static int parse_address(const struct nlmsghdr *head, void *own)
{
	const struct ifaddrmsg *info = NLMSG_DATA(head);
	const struct rtattr *found = NULL;
	size_t size;
	int len; /* signed, because the macros count below zero */

	if (head->nlmsg_len < NLMSG_LENGTH(sizeof(*info)))
		return 0;
	size = info->ifa_family == AF_INET ? 4 : info->ifa_family == AF_INET6 ? 16 : 0;
	len = (int)IFA_PAYLOAD(head);
	if (size)
		found = ab_netlink_attribute(IFA_RTA(info), len, IFA_LOCAL, size);
	if (size && !found)
		found = ab_netlink_attribute(IFA_RTA(info), len, IFA_ADDRESS, size);
	return found ? add_address(own, RTA_DATA(found), size) : 0;
}

/* Part of the reply, or an event: add it in both cases. An address that was just removed may stay
 * until the next time. */
int ab_own_parse(const void *data, size_t len, struct ab_own *ret)
{
	return ab_netlink_parse(data, len, RTM_NEWADDR, parse_address, ret);
}

/* 1, or 0 if so much has changed meanwhile that the kernel dropped some messages, so
 * that the reply may be incomplete. */
static int request_addresses(int fd, struct ab_own *ret)
{
	struct {
		struct nlmsghdr head;
		struct ifaddrmsg info;
	} question = { .head = { .nlmsg_len = sizeof(question),
				 .nlmsg_type = RTM_GETADDR,
				 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		       .info = { .ifa_family = AF_UNSPEC } };
	union {
		struct nlmsghdr head;
		char bytes[32768]; /* the largest part that the kernel sends */
	} part;
	bool whole = true;
	int r;

	ab_netlink_drain(fd);
	r = ab_netlink_send(fd, &question, sizeof(question));
	while (r == 0) {
		ssize_t n = ab_netlink_recv(fd, &part, sizeof(part));

		if (n >= 0)
			r = ab_own_parse(&part, (size_t)n, ret);
		else if (errno == ENOBUFS)
			whole = false;
		else
			r = -1;
	}
	return r < 0 ? -1 : whole;
}

int ab_own_read(int fd, struct ab_own *ret, struct ab_error *err)
{
	struct ab_own own = { 0 };
	int r = 0;

	for (int i = 0; i < TRIES && r == 0; i++) {
		own.len = 0;
		r = request_addresses(fd, &own);
	}
	if (r <= 0) {
		ab_fail(err, AB_ESYSTEM, r < 0 ? errno : ENOBUFS,
			"read the addresses of this machine");
		ab_own_fini(&own);
		return -1;
	}
	ab_own_fini(ret);
	*ret = own;
	return 0;
}

void ab_own_fini(struct ab_own *own)
{
	free(own->v);
	*own = (struct ab_own){ 0 };
}
