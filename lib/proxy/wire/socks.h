#pragma once
/*
 * SOCKS5 (RFC 1928) messages of the client. Pure: bytes in, consumed /
 * incomplete / malformed out.
 */
#include "policy/values/host.h"

enum ab_socks_reply {
	AB_SOCKS_OK = 0,
	AB_SOCKS_FAILURE = 1,
	AB_SOCKS_NOT_ALLOWED = 2,
	AB_SOCKS_NET_UNREACHABLE = 3,
	AB_SOCKS_HOST_UNREACHABLE = 4,
	AB_SOCKS_REFUSED = 5,
	AB_SOCKS_TTL = 6,
	AB_SOCKS_NOT_SUPPORTED = 7, /* command */
	AB_SOCKS_BAD_ADDRESS = 8,   /* address type */
};

/* >0: consumed bytes; 0: incomplete; <0: malformed, close. */
ssize_t ab_socks_greeting(const uint8_t *data, size_t len, uint8_t *ret_method /* 0 or 0xff */);

struct ab_socks_request {
	enum ab_socks_reply reply; /* OK, or the error to reply with */
	struct ab_host host;	   /* valid with OK */
	uint16_t port;
};
ssize_t ab_socks_request(const uint8_t *data, size_t len, struct ab_socks_request *ret);

/* Add the reply: 10 bytes, bound address all zero. */
void ab_socks_answer(struct ab_buf *out, enum ab_socks_reply reply);
