#pragma once
/*
 * The original destination of a captured connection.
 */
#include "base/base.h"
#include "netns/capture.h"

struct ab_destination {
	bool v6;
	uint8_t addr[16]; /* IPv4 in the first four */
	uint16_t port;
};

/* A socket address of the kernel or of the box; an IPv4-mapped one becomes IPv4. 0, or the errno that
 * the kernel would answer with: EINVAL, EAFNOSUPPORT. Pure. */
int ab_destination_parse(const void *bytes, size_t len, struct ab_destination *ret);

/* Of the other end of a connection; all zero if it is gone. */
void ab_destination_peer(int fd, struct ab_destination *ret);

/* The address of a socket itself. -1 with errno. */
int ab_destination_own(int fd, struct ab_destination *ret);

/*
 * For a connection accepted from an AB_LISTENER_TRANSPARENT socket. -1 with errno if
 * the kernel does not know: deny it. A loopback address means that the box
 * connected to the listener itself, which must be denied, too.
 */
int ab_original_destination(int fd, enum ab_capture capture, struct ab_destination *ret);

/*
 * A box without a network of its own: the guard makes its connections
 * (guard/sockets/sockets.h) and hands the proxy's ends over, one message each, on a socket that
 * only these two have. So the proxy has no address that other processes of the host could connect to.
 *
 * Queries for names travel the same way, and the answers come back on it.
 */
enum ab_handed_kind {
	AB_HANDED_CONNECTION, /* with a descriptor: connected to `to` */
	AB_HANDED_DOOR,	      /* with a descriptor: to the proxy itself */
	AB_HANDED_NAMES,      /* with a descriptor: to a name server */
	AB_HANDED_HOST_PORT,  /* with a descriptor: to this port of the host */
	AB_HANDED_QUERY,      /* `len` bytes follow; answered with the same `cookie` */
	AB_HANDED_DENIED,     /* datagrams: the last one to `to`, by the process in `bytes`
			       * (audit/write/processes.h); if there is none, only their number */
	AB_HANDED_KINDS,
};

enum { AB_HANDED_MAX = 8192 }; /* bytes of a query, an answer or a process */

struct ab_handed {
	uint32_t kind;
	uint32_t len;
	uint64_t cookie; /* of denied datagrams: how many since the last message */
	struct ab_destination to;
	uint8_t bytes[AB_HANDED_MAX];
};
#define AB_HANDED_LEN(n) (offsetof(struct ab_handed, bytes) + (n))
