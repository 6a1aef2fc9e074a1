#pragma once
/*
 * The sockets that the guard made for the box and still has a copy of: streams until they are
 * connected or listen, datagram sockets until nobody else has them. A call names a descriptor of its
 * process; the inode of the file behind it finds the copy again.
 *
 * A copy keeps the socket alive after the box has closed it, so copies that nobody else has are
 * looked for now and then, in /proc. A box can hide a descriptor from that (in a message that nobody
 * has received yet); then the socket can be used but not connected any more.
 */
#include "base/base.h"
#include "netns/destination.h"

enum ab_made_kind { AB_MADE_STREAM, AB_MADE_DATAGRAM, AB_MADE_UNIX };

/* Queries of a datagram socket: from whom it expects the answer. */
enum { AB_MADE_QUERIES = 8 };
struct ab_made_query {
	uint16_t id;
	struct ab_destination server;
};

struct ab_made {
	uint64_t inode;
	int fd;
	int family;
	enum ab_made_kind kind;
	bool seen; /* by sweep() */
	/* of a datagram socket: */
	int twins[2];	/* send from the same port, with IPv4 and IPv6; or -1 */
	bool connected; /* to `peer`, as the box sees it */
	struct ab_destination peer;
	struct ab_made_query queries[AB_MADE_QUERIES];
	unsigned int asked; /* queries, all in all */
};

struct ab_made_table {
	struct ab_made *v;
	size_t len, most;
	size_t look;	     /* look for dead ones when there are so many */
	uint64_t *listeners; /* inodes of the box's own servers */
	size_t nlisteners;
	uint64_t connecting[64]; /* inodes: their next connect() returns 0 */
	size_t nconnecting;
};

void ab_made_init(struct ab_made_table *table);

/* The inode of the caller's descriptor. 0: *ret_errnum is EBADF or ENOTSOCK. */
uint64_t ab_made_inode(pid_t tid, int fd, int *ret_errnum);
/* NULL: we do not have it. Valid until the next add() or sweep(). */
struct ab_made *ab_made_find(struct ab_made_table *table, uint64_t inode);
/* Takes the descriptor, which must be a socket. NULL: there is no room, and it was closed. */
struct ab_made *ab_made_add(struct ab_made_table *table, int fd, int family,
			    enum ab_made_kind kind);
void ab_made_drop(struct ab_made_table *table, struct ab_made *kept);
/* Drop what no process has any more. */
void ab_made_sweep(struct ab_made_table *table);

/* A socket of the box that listens. */
void ab_made_listens(struct ab_made_table *table, uint64_t inode);
bool ab_made_is_listener(const struct ab_made_table *table, uint64_t inode);

/* A connect() that did not wait has connected it: the next one returns 0, as in the kernel. True if
 * so, once. */
void ab_made_connects(struct ab_made_table *table, uint64_t inode);
bool ab_made_connected(struct ab_made_table *table, uint64_t inode);
