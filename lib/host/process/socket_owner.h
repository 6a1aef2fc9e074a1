#pragma once
/*
 * Find the owner of a socket. The box's network namespace says which socket has a given end,
 * /proc which process of the box has that socket.
 *
 * This is for people to read, and decides nothing: a box can pass a socket from one process to
 * another, give a process any argv, and end it while we look. All of the text is hostile. Reads are
 * bounded in size and time.
 */
#include "base/base.h"

struct ab_peer;

enum {
	AB_OWNER_MS = 200,
	AB_OWNER_FDS = 1024, /* per process */
	AB_OWNER_CHAIN = 32,
	AB_OWNER_WORDS = 64,
	AB_OWNER_ARGV = 4096, /* bytes of all words */
};

/* A datagram names a port, at which several sockets may be: if it is not clear which, none is found.
 *
 * [{"pid":3,"exe":"/usr/bin/curl","argv":["curl","-s"]}, ...] into b: the process, its parent, and
 * so on up to the box's init (given by its pid on the host), without it. [] if it is not found. */
void ab_socket_owner(pid_t init, const struct ab_peer *peer, struct ab_buf *b);
/* The same for the process that listens on this port, without its parents. */
void ab_socket_owner_listener(pid_t init, uint16_t port, struct ab_buf *b);
/* The process of a pidfd; 0: it is gone. */
pid_t ab_socket_owner_pid(int pidfd);
/* Each line of a table of /proc/net until `take` returns false. -1: it could not be read to its end. */
int ab_socket_owner_lines(int fd, bool (*take)(void *arg, const char *line, size_t len), void *arg);

/* The rest is pure. */

/* One line of /proc/net/tcp, tcp6, udp or udp6. An IPv4-mapped IPv6 address becomes IPv4. */
struct ab_socket_owner_socket {
	bool v6;
	uint8_t addr[16];
	uint16_t port;
	bool listens;
	uint8_t state; /* TCP_*; of a datagram socket, TCP_ESTABLISHED if it is connected */
	uint64_t inode;
};
bool ab_socket_owner_parse_socket(const char *line, size_t len, struct ab_socket_owner_socket *ret);
bool ab_socket_owner_is_end(const struct ab_socket_owner_socket *socket,
			    const struct ab_peer *peer);

/* /proc/PID/status: the pid in the namespace of the box, and the parent as the
 * reader of the file sees it. */
bool ab_socket_owner_parse_status(const char *text, size_t len, pid_t *ret_inner,
				  pid_t *ret_parent);

/* /proc/PID/cmdline as a JSON list; "..." is the last word if it is cut. `more`: the file has more
 * than this. */
void ab_socket_owner_argv(const char *text, size_t len, bool more, struct ab_buf *b);
/* {"pid":3,"exe":"/usr/bin/curl","argv":["curl","-s"]} of that, and of what leads to its program. */
void ab_socket_owner_describe(pid_t pid, const char *exe, const char *text, size_t len, bool more,
			      struct ab_buf *b);
