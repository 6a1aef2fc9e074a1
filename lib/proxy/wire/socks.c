#include "proxy/wire/socks.h"

enum { VERSION = 5, CONNECT = 1, NO_AUTH = 0, NO_METHOD = 0xff };
enum { TYPE_IPV4 = 1, TYPE_NAME = 3, TYPE_IPV6 = 4 };

ssize_t ab_socks_greeting(const uint8_t *data, size_t len, uint8_t *ret_method)
{
	size_t methods;

	if (len > 0 && data[0] != VERSION)
		return -1;
	if (len < 2)
		return 0;
	methods = data[1];
	if (len < 2 + methods)
		return 0;
	*ret_method = memchr(data + 2, NO_AUTH, methods) ? NO_AUTH : NO_METHOD;
	return (ssize_t)(2 + methods);
}

/* The size of a request's address; 0: not known yet; -1: unknown type. */
static ssize_t address_size(const uint8_t *data, size_t len)
{
	switch (data[3]) {
	case TYPE_IPV4:
		return 4;
	case TYPE_IPV6:
		return 16;
	case TYPE_NAME:
		return len < 5 ? 0 : 1 + (ssize_t)data[4];
	default:
		return -1;
	}
}

/* Use the name's full length, so that a name with an invalid byte (NUL) is
 * rejected as a whole. */
static bool read_host(const uint8_t *data, struct ab_host *ret)
{
	if (data[3] == TYPE_NAME)
		return ab_host_parse((const char *)data + 5, data[4], ret, NULL) == 0;
	ab_host_from_addr(data[3] == TYPE_IPV6, data + 4, ret);
	return true;
}

ssize_t ab_socks_request(const uint8_t *data, size_t len, struct ab_socks_request *ret)
{
	struct ab_socks_request r = { .reply = AB_SOCKS_OK };
	const uint8_t *port;
	ssize_t size;

	if ((len > 0 && data[0] != VERSION) || (len > 2 && data[2] != 0))
		return -1;
	if (len < 4)
		return 0;
	size = address_size(data, len);
	if (size < 0) {
		/* The request's end is unknown, so nothing can follow it. */
		r.reply = AB_SOCKS_BAD_ADDRESS;
		*ret = r;
		return 4;
	}
	if (size == 0 || len < 4 + (size_t)size + 2)
		return 0;
	port = data + 4 + size;
	r.port = (uint16_t)(port[0] << 8 | port[1]);
	/* BIND and UDP often have an all-zero address: check the command first. */
	if (data[1] != CONNECT)
		r.reply = AB_SOCKS_NOT_SUPPORTED;
	else if (!read_host(data, &r.host) || r.port == 0)
		r.reply = AB_SOCKS_FAILURE;
	*ret = r;
	return 4 + size + 2;
}

void ab_socks_answer(struct ab_buf *out, enum ab_socks_reply reply)
{
	const uint8_t answer[10] = { VERSION, (uint8_t)reply, 0, TYPE_IPV4 };

	ab_buf_add(out, answer, sizeof(answer));
}
