#include "proxy/wire/dns.h"

#include <assert.h>

#include "proxy/io/ssh_text.h"

/*
 * A query has one question, no answers, and in its additional section at most
 * one OPT record (RFC 6891); other records there are skipped. Names must not be
 * compressed: nothing precedes the question that they could point to, and such
 * a query could be read in two ways. Anything else gets FORMERR.
 */
enum { HEADER = 12, NAME_MAX_WIRE = 255, LABEL_MAX = 63 };
enum { TYPE_OPT = 41, CLASS_IN = 1, TTL = 1, UDP_LEAST = 512 };

/* The size that the proxy accepts; it fits without fragments. */
enum { UDP_OURS = 1232 };

enum {
	FLAG_QR = 0x8000, /* a response */
	FLAG_OPCODE = 0x7800,
	FLAG_RD = 0x0100,
	FLAG_RA = 0x0080, /* without it glibc tries the next server */
	FLAG_CD = 0x0010,
};

static uint16_t read16(struct ab_ssh_reader *r)
{
	return (uint16_t)ab_ssh_number_of(r, 2);
}

/*
 * Read a name with dots into *ret_text. *ret_len is 0 for the root and for a
 * name with a byte that is invalid in host names. A dot inside a label is such a
 * byte: "a.b" in one label is not the name a.b.
 */
static bool read_name(struct ab_ssh_reader *r, char ret_text[NAME_MAX_WIRE], size_t *ret_len)
{
	size_t begin = r->left, n = 0;
	bool clean = true;

	for (;;) {
		struct ab_ssh_text label = ab_ssh_bytes(r, ab_ssh_byte(r));

		if (r->bad || label.len > LABEL_MAX || begin - r->left > NAME_MAX_WIRE)
			return false;
		if (label.len == 0)
			break;
		if (n > 0)
			ret_text[n++] = '.';
		for (size_t i = 0; i < label.len; i++) {
			clean = clean && ab_host_char(label.at[i]);
			ret_text[n++] = (char)label.at[i];
		}
	}
	*ret_len = clean ? n : 0;
	return true;
}

static bool read_question(struct ab_ssh_reader *r, struct ab_dns_query *q)
{
	char text[NAME_MAX_WIRE];
	size_t n;

	q->question = r->at;
	if (!read_name(r, text, &n))
		return false;
	q->type = read16(r);
	q->rrclass = read16(r);
	q->question_len = (size_t)(r->at - q->question);
	q->is_host = ab_host_parse(text, n, &q->name, NULL) == 0 && q->name.kind == AB_HOST_NAME;
	return !r->bad;
}

/* *ret_version: the EDNS version of an OPT record. */
static bool read_additional(struct ab_ssh_reader *r, struct ab_dns_query *q, uint8_t *ret_version)
{
	bool root = r->left && *r->at == 0;
	char text[NAME_MAX_WIRE];
	uint16_t type, size;
	uint8_t version;
	size_t n;

	if (!read_name(r, text, &n))
		return false;
	type = read16(r);
	size = read16(r);
	(void)ab_ssh_byte(r); /* the upper bits of a code */
	version = ab_ssh_byte(r);
	(void)read16(r); /* flags */
	(void)ab_ssh_bytes(r, read16(r));
	if (r->bad || type != TYPE_OPT)
		return !r->bad;
	if (q->edns || !root)
		return false;
	q->edns = true;
	if (size > UDP_LEAST)
		q->udp_size = size;
	*ret_version = version;
	return true;
}

/* What follows the id and the flags. */
static bool read_query(struct ab_ssh_reader *r, struct ab_dns_query *q, uint8_t *ret_version)
{
	unsigned questions = read16(r), answers = read16(r);
	unsigned authority = read16(r), more = read16(r);

	if (questions != 1 || answers != 0 || authority != 0 || !read_question(r, q))
		return false;
	/* Each record uses bytes, so the length limits the loop. */
	for (; more > 0; more--)
		if (!read_additional(r, q, ret_version))
			return false;
	return ab_ssh_ended(r);
}

static int reject_query(const struct ab_dns_query *q, enum ab_dns_code code,
			struct ab_dns_query *ret, enum ab_dns_code *ret_code)
{
	*ret = *q;
	*ret_code = code;
	return 1;
}

int ab_dns_parse(const uint8_t *msg, size_t len, struct ab_dns_query *ret,
		 enum ab_dns_code *ret_code)
{
	struct ab_dns_query bare = { .udp_size = UDP_LEAST }, q;
	struct ab_ssh_reader r = { .at = msg, .left = len };
	uint8_t version = 0;

	bare.id = read16(&r);
	bare.flags = read16(&r);
	if (len < HEADER || bare.flags & FLAG_QR)
		return -1;
	q = bare;
	if (bare.flags & FLAG_OPCODE)
		return reject_query(&bare, AB_DNS_NOTIMP, ret, ret_code);
	if (len > AB_DNS_MAX || !read_query(&r, &q, &version))
		return reject_query(&bare, AB_DNS_FORMERR, ret, ret_code);
	if (version != 0)
		return reject_query(&q, AB_DNS_BADVERS, ret, ret_code);
	*ret = q;
	return 0;
}

static uint8_t *put16(uint8_t *p, unsigned value)
{
	*p++ = (uint8_t)(value >> 8);
	*p++ = (uint8_t)value;
	return p;
}

static uint8_t *put_address(uint8_t *p, const uint8_t *addr, size_t len)
{
	p = put16(p, 0xc000 | HEADER); /* pointer to the question's name */
	p = put16(p, len == 4 ? AB_DNS_A : AB_DNS_AAAA);
	p = put16(p, CLASS_IN);
	p = put16(p, 0);
	p = put16(p, TTL);
	p = put16(p, (unsigned)len);
	memcpy(p, addr, len);
	return p + len;
}

/* The upper bits of the code are in the TTL field. */
static uint8_t *put_opt(uint8_t *p, enum ab_dns_code code)
{
	*p++ = 0;
	p = put16(p, TYPE_OPT);
	p = put16(p, UDP_OURS);
	p = put16(p, (unsigned)code >> 4 << 8);
	p = put16(p, 0);
	return put16(p, 0);
}

size_t ab_dns_answer(const struct ab_dns_query *query, enum ab_dns_code code, const uint8_t *addr,
		     size_t addr_len, uint8_t ret[AB_DNS_ANSWER_MAX])
{
	unsigned flags = query->flags & (FLAG_OPCODE | FLAG_RD | FLAG_CD);
	uint8_t *p = ret;

	assert(addr_len == 0 || addr_len == 4 || addr_len == 16);
	assert(addr_len == 0 || query->question_len > 0);
	p = put16(p, query->id);
	p = put16(p, flags | FLAG_QR | FLAG_RA | ((unsigned)code & 15));
	p = put16(p, query->question_len > 0);
	p = put16(p, addr_len > 0);
	p = put16(p, 0);
	p = put16(p, query->edns);
	if (query->question_len > 0)
		memcpy(p, query->question, query->question_len);
	p += query->question_len;
	if (addr_len > 0)
		p = put_address(p, addr, addr_len);
	if (query->edns)
		p = put_opt(p, code);
	return (size_t)(p - ret);
}
