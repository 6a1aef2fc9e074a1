#pragma once
/*
 * A new network namespace, and its loopback device.
 */
#include "base/base.h"

/* Move the calling process into one. Needs CAP_SYS_ADMIN. */
int ab_netns_enter_new(struct ab_error *err);

/* Bring `lo` up. One ioctl takes half the time of a netlink exchange. Requires
 * CAP_NET_ADMIN. */
int ab_loopback_up(struct ab_error *err);
/* The same, through a socket of its namespace. */
int ab_loopback_up_by(int sock, struct ab_error *err);

/*
 * Is `lo` the only device that is up? Then nothing can leave, whatever the routes
 * are. A kernel with tunnel support creates one tunnel of each kind in every new
 * namespace (sit0, tunl0, gre0). They are down, and bringing them up needs a
 * capability. Also false if this cannot be determined. Allocates nothing.
 */
bool ab_loopback_alone(void);
