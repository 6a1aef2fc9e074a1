#pragma once
/*
 * Tells the box's own servers from others on the same loopback device: by the address, the port and
 * the inode, which the kernel lists in /proc/net.
 */
#include "base/base.h"

struct ab_destination;
struct ab_made_table;

/* True: sockets of the box receive what is sent to this loopback address, and no others do. */
bool ab_own_server(struct ab_made_table *kept, bool stream, const struct ab_destination *to);
/* The same for the abstract name of a Unix stream socket, without its leading NUL. */
bool ab_own_unix_server(struct ab_made_table *kept, const char *name, size_t len);
