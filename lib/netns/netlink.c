#include "netns/netlink.h"

#include <linux/rtnetlink.h>

int ab_netlink_open(int protocol)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
}

int ab_netlink_send(int fd, const void *data, size_t len)
{
	ssize_t n = send(fd, data, len, 0);

	return n == (ssize_t)len ? 0 : -1;
}

ssize_t ab_netlink_recv(int fd, void *data, size_t max)
{
	struct sockaddr_nl from = { 0 };
	socklen_t len = sizeof(from);
	ssize_t n;

	do
		n = recvfrom(fd, data, max, 0, (struct sockaddr *)&from, &len);
	while (n >= 0 && from.nl_pid != 0);
	return n;
}

void ab_netlink_drain(int fd)
{
	char byte;

	while (recv(fd, &byte, sizeof(byte), 0) >= 0 || errno == ENOBUFS)
		;
}

const struct rtattr *ab_netlink_attribute(const struct rtattr *a, int len, unsigned int type,
					  size_t least)
{
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
		if ((a->rta_type & NLA_TYPE_MASK) == type && RTA_PAYLOAD(a) >= least)
			return a;
	return NULL;
}

int ab_netlink_error(const struct nlmsghdr *head)
{
	const struct nlmsgerr *error = NLMSG_DATA(head);

	errno = head->nlmsg_len >= NLMSG_LENGTH(sizeof(error->error)) && error->error < 0
			? -error->error
			: EPROTO;
	return -1;
}

int ab_netlink_answer(int fd, uint32_t *ret_seq)
{
	union {
		struct nlmsghdr head;
		char bytes[512]; /* a longer one is cut, after the error */
	} a;
	const struct nlmsgerr *error = NLMSG_DATA(&a.head);
	ssize_t n = ab_netlink_recv(fd, &a, sizeof(a));

	if (n < 0)
		return errno;
	if (n < (ssize_t)NLMSG_LENGTH(sizeof(error->error)) || a.head.nlmsg_type != NLMSG_ERROR)
		return EPROTO;
	*ret_seq = a.head.nlmsg_seq;
	return -error->error;
}
