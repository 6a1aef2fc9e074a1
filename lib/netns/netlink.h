#pragma once
/*
 * The small part of netlink that is needed to send prepared messages. The kernel
 * executes requests while they are sent, so every reply is available when the send
 * returns: nothing here blocks.
 */
#include <linux/netlink.h>

#include "base/base.h"

struct nlmsghdr;
struct rtattr;

/* -1 with errno. */
int ab_netlink_open(int protocol);
int ab_netlink_send(int fd, const void *data, size_t len);

/* Receive one datagram from the kernel, and from no other sender; -1 with errno
 * (EAGAIN: there is none). `data` is aligned as a struct nlmsghdr. */
ssize_t ab_netlink_recv(int fd, void *data, size_t max);

/* Discard everything in the queue: events, and the rest of an abandoned reply. */
void ab_netlink_drain(int fd);

/* -1, with the errno of an NLMSG_ERROR (EPROTO if it has none). */
int ab_netlink_error(const struct nlmsghdr *head);

/* Read one reply and return its errno, 0 for success, EPROTO if it is invalid.
 * ret_seq: the message that it answers. */
int ab_netlink_answer(int fd, uint32_t *ret_seq);

/* The first attribute of this type with at least so many bytes, or NULL. Attributes of netfilter and
 * rtnetlink have the same format, and the kernel has macros for the latter. */
const struct rtattr *ab_netlink_attribute(const struct rtattr *first, int len, unsigned int type,
					  size_t least);

/* The kernel's macros that iterate over messages compare signed with unsigned
 * lengths; these two do not. */
static inline bool ab_netlink_ok(const struct nlmsghdr *head, size_t left)
{
	return left >= sizeof(*head) && head->nlmsg_len >= sizeof(*head) && head->nlmsg_len <= left;
}

static inline const struct nlmsghdr *ab_netlink_next(const struct nlmsghdr *head, size_t *left)
{
	size_t n = NLMSG_ALIGN((size_t)head->nlmsg_len);

	if (n > *left)
		n = *left;
	*left -= n;
	return (const struct nlmsghdr *)((const char *)head + n);
}

/*
 * Read one part of a reply: call `take` for each message of this type. 0: more parts follow; 1: it
 * was the last; -1 with errno.
 */
static inline int ab_netlink_parse(const void *data, size_t left, uint16_t type,
				   int (*take)(const struct nlmsghdr *head, void *arg), void *arg)
{
	const struct nlmsghdr *head = data;

	for (; ab_netlink_ok(head, left); head = ab_netlink_next(head, &left)) {
		if (head->nlmsg_type == NLMSG_DONE)
			return 1;
		if (head->nlmsg_type == NLMSG_ERROR)
			return ab_netlink_error(head);
		if (head->nlmsg_type == type && take(head, arg) < 0)
			return -1;
	}
	return 0;
}
