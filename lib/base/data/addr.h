#pragma once
/* An IP address as bytes, and with a port as the kernel takes it. */
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/data/libc.h"

struct ab_addr {
	bool v6;
	uint8_t addr[16]; /* IPv4 in the first four, the rest zero */
};

struct ab_sockaddr {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

/* `addr`: 4 or 16 bytes. */
static inline struct ab_sockaddr ab_sockaddr(bool v6, const void *addr, uint16_t port)
{
	struct ab_sockaddr at = { .len = v6 ? sizeof(at.v6) : sizeof(at.v4) };

	memset(&at.v6, 0, sizeof(at.v6));
	at.any.sa_family = v6 ? AF_INET6 : AF_INET;
	*(v6 ? &at.v6.sin6_port : &at.v4.sin_port) = htons(port);
	if (v6)
		memcpy(&at.v6.sin6_addr, addr, 16);
	else
		memcpy(&at.v4.sin_addr, addr, 4);
	return at;
}

static inline struct ab_sockaddr ab_sockaddr_loopback(bool v6, uint16_t port)
{
	static const uint8_t local4[] = { 127, 0, 0, 1 }, local6[16] = { [15] = 1 };

	return ab_sockaddr(v6, v6 ? local6 : local4, port);
}
