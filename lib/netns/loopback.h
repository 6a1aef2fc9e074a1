#ifndef AB_NETNS_LOOPBACK_H
#define AB_NETNS_LOOPBACK_H
/*
 * The loopback device of a new network namespace. Needs CAP_NET_ADMIN there.
 */
struct ab_error;

/* Bring `lo` up. One ioctl: half the time of a netlink exchange. */
int ab_loopback_up(struct ab_error *err);

#endif
