#ifndef AB_NETNS_NETLINK_H
#define AB_NETNS_NETLINK_H
/*
 * The little of netlink that is needed when the messages are there already.
 * Requests are carried out while they are sent, so every answer is there when
 * the send returns: nothing here waits.
 */
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nlmsghdr;

/* -1 with errno. */
int ab_netlink_open(int protocol);
int ab_netlink_send(int fd, const void *data, size_t len);

/* One datagram from the kernel, never from anybody else; -1 with errno
 * (EAGAIN: there is none). `data` is aligned as a struct nlmsghdr. */
ssize_t ab_netlink_recv(int fd, void *data, size_t max);

/* Throw away what is there: news, and the rest of an answer that was given up. */
void ab_netlink_drain(int fd);

/* -1, with the errno that an NLMSG_ERROR tells of (EPROTO: of none). */
int ab_netlink_error(const struct nlmsghdr *head);

/* One answer: the errno that it tells of, 0 for success, EPROTO when it is
 * none. ret_seq: to which message. */
int ab_netlink_answer(int fd, uint32_t *ret_seq);

/* The kernel's own macros for a walk over messages compare signed with
 * unsigned lengths; these two do not. */
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

#endif
