#pragma once
/*
 * Tells the box's own servers from others on the same loopback device: by the address, the port and
 * the inode, which the kernel lists in /proc/net.
 */
#include "guard/sockets/inet.h"

struct ab_made_table;

/* Where it goes: ab_inet_judge(), of an address that is normalized first. It is of a server of the box
 * if sockets of the box receive what is sent to it, and no others do. */
enum ab_inet_way ab_own_way(struct ab_made_table *kept, const struct ab_inet_terms *terms,
			    bool stream, struct ab_destination *to);
/* Does a Unix stream socket of the box, and no other, have the abstract name, without its leading
 * NUL? */
bool ab_own_unix_server(struct ab_made_table *kept, const char *name, size_t len);
