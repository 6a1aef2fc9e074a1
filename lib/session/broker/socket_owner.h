#ifndef AB_SESSION_BROKER_SOCKET_OWNER_H
#define AB_SESSION_BROKER_SOCKET_OWNER_H
/*
 * Whose socket is it? The box's network namespace says which socket has a
 * given end, /proc which process of the box has that socket.
 *
 * It is for people to read, and decides nothing: a box can hand a socket from
 * one process to another, give a process any argv, and end it while we look.
 * All of the text is hostile. What is read is bounded, in size and in time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ab_buf;
struct ab_peer;

enum {
	AB_WHOIS_MS = 200,
	AB_WHOIS_PROCESSES = 4096,
	AB_WHOIS_FDS = 1024, /* of one process */
	AB_WHOIS_CHAIN = 32,
	AB_WHOIS_WORDS = 64,
	AB_WHOIS_ARGV = 4096, /* bytes of all of them */
};

/*
 * [{"pid":3,"exe":"/usr/bin/curl","argv":["curl","-s"]}, ...] into b: the
 * process, its parent, and so on up to the box's init (whose pid is given, as
 * the host has it) but without it. [] when it cannot be found.
 */
void ab_socket_owner(pid_t init, const struct ab_peer *peer, struct ab_buf *b);
/* The process that a pidfd is for; 0: it is gone. */
pid_t ab_socket_owner_pid(int pidfd);

/* The rest is pure. */

/* One line of /proc/net/tcp or tcp6. An IPv4 address in an IPv6 one becomes
 * IPv4. */
struct ab_socket_owner_socket {
	bool v6;
	uint8_t addr[16];
	uint16_t port;
	bool listens;
	uint64_t inode;
};
bool ab_socket_owner_parse_socket(const char *line, size_t len, struct ab_socket_owner_socket *ret);
bool ab_socket_owner_is_end(const struct ab_socket_owner_socket *socket,
			    const struct ab_peer *peer);

/* /proc/PID/status: the pid in the innermost namespace, and the parent as the
 * reader of the file sees it. */
bool ab_socket_owner_parse_status(const char *text, size_t len, pid_t *ret_inner,
				  pid_t *ret_parent);

/* /proc/PID/cmdline as a JSON list; "..." is the last word of one that is cut.
 * `more`: of the file there is more than this. */
void ab_socket_owner_argv(const char *text, size_t len, bool more, struct ab_buf *b);

#endif
