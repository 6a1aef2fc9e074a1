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
 * Is `lo` the only device here? Then nothing can leave, whatever the routes
 * say. false also when that cannot be found out. Allocates nothing.
 */
bool ab_loopback_alone(void);

#endif
