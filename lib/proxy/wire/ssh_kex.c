#include "proxy/wire/ssh_kex.h"

/* Types of packets. A reply has one of two numbers, and so has the group of a
 * Diffie-Hellman group exchange, which has two strings and not three. */
enum { NEWKEYS = 21, KEX_REPLY = 31, KEX_GEX_REPLY = 33 };

enum {
	LINE_MAX_LEN = 1024, /* before and with the version, with its end */
	PACKET_MAX = 35000,  /* RFC 4253, 6.1 */
};

/* Servers may send other lines before their version. */
static bool take_line(struct ab_ssh_kex *kex)
{
	const char *end = memchr(kex->pending.data, '\n', kex->pending.len);
	size_t len = end ? (size_t)(end - kex->pending.data) + 1 : kex->pending.len + 1;

	/* The same line is too long, whether or not its end has arrived. */
	kex->done = len > LINE_MAX_LEN;
	if (!end || kex->done)
		return false;
	kex->versioned = len > 8 && memcmp(kex->pending.data, "SSH-2.0-", 8) == 0;
	ab_buf_skip(&kex->pending, len);
	return true;
}

static void take_payload(struct ab_ssh_kex *kex, struct ab_ssh_text payload)
{
	struct ab_ssh_reader r = ab_ssh_read(payload);
	uint8_t type = ab_ssh_byte(&r);
	struct ab_ssh_text host_key, signature;

	kex->done = r.bad || type == NEWKEYS;
	if (type != KEX_REPLY && type != KEX_GEX_REPLY)
		return;
	host_key = ab_ssh_string(&r);
	(void)ab_ssh_string(&r); /* the server's share */
	signature = ab_ssh_string(&r);
	if (ab_ssh_ended(&r) && signature.len)
		kex->signed_by(kex->arg, host_key, signature);
}

static bool take_packet(struct ab_ssh_kex *kex)
{
	struct ab_ssh_reader r = { .at = ab_buf_bytes(&kex->pending), .left = kex->pending.len };
	uint32_t len = ab_ssh_number_of(&r, 4);
	uint8_t padding = ab_ssh_byte(&r);

	if (r.bad)
		return false;
	if (len < 2 || len > PACKET_MAX || padding > len - 2) {
		kex->done = true;
		return false;
	}
	if (r.left < len - 1)
		return false;
	take_payload(kex, (struct ab_ssh_text){ r.at, len - 1 - padding });
	ab_buf_skip(&kex->pending, 4 + (size_t)len);
	return true;
}

void ab_ssh_kex_feed(struct ab_ssh_kex *kex, const uint8_t *data, size_t len)
{
	if (kex->done || !len)
		return;
	/* What comes after the limit is not read, however the stream is cut. */
	ab_buf_add(&kex->pending, data,
		   len < AB_SSH_KEX_MAX - kex->seen ? len : AB_SSH_KEX_MAX - kex->seen);
	kex->seen += len;
	while (!kex->done && kex->pending.len &&
	       (kex->versioned ? take_packet(kex) : take_line(kex)))
		;
	kex->done |= kex->seen > AB_SSH_KEX_MAX;
	if (kex->done)
		ab_ssh_kex_fini(kex);
}

void ab_ssh_kex_fini(struct ab_ssh_kex *kex)
{
	ab_buf_fini(&kex->pending);
}
