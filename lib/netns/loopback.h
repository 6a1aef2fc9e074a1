#ifndef AB_NETNS_LOOPBACK_H
#define AB_NETNS_LOOPBACK_H
/*
 * The loopback device of a network namespace.
 */
#include <stdbool.h>

struct ab_error;

/* Bring `lo` up. One ioctl: half the time of a netlink exchange. Needs
 * CAP_NET_ADMIN. */
int ab_loopback_up(struct ab_error *err);
/* By a socket of its namespace. */
int ab_loopback_up_by(int sock, struct ab_error *err);

/*
 * Is `lo` the only device here that is up? Then nothing can leave, whatever the
 * routes say. A kernel with tunnels in it puts one of each kind into every new
 * namespace (sit0, tunl0, gre0), down, and without a capability it stays so.
 * false also when that cannot be found out. Allocates nothing.
 */
bool ab_loopback_alone(void);

#endif
