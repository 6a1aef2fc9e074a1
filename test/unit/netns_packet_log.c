/*
 * What the kernel logs of a denied datagram: packets as a box may make them, cut anywhere, and
 * the messages that carry them.
 */
#include "netns/packet_log.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "base/data/mem.h"
#include "guard.h"
#include "tap.h"

struct packet {
	uint8_t bytes[256];
	size_t len;
};

static void add(struct packet *p, const void *bytes, size_t len)
{
	memcpy(p->bytes + p->len, bytes, len);
	p->len += len;
}

/* From 127.0.0.1 to 203.0.113.9, with so many bytes of options. */
static struct packet make_v4(size_t options, uint16_t fragment, uint8_t protocol)
{
	static const uint8_t ends[] = { 127, 0, 0, 1, 203, 0, 113, 9 }, filler[40] = { 1 };
	uint8_t head[12] = { (uint8_t)(0x45 + options / 4), [8] = 64, [9] = protocol };
	struct packet p = { .len = 0 };

	head[6] = (uint8_t)(fragment >> 8);
	head[7] = (uint8_t)fragment;
	add(&p, head, sizeof(head));
	add(&p, ends, sizeof(ends));
	add(&p, filler, options);
	return p;
}

/* From ::1 to 2001:db8::9. */
static struct packet make_v6(uint8_t next)
{
	static const uint8_t from[16] = { [15] = 1 }, to[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 9 };
	uint8_t head[8] = { 0x60, [6] = next, [7] = 64 };
	struct packet p = { .len = 0 };

	add(&p, head, sizeof(head));
	add(&p, from, sizeof(from));
	add(&p, to, sizeof(to));
	return p;
}

/* A further header of IPv6: 8 bytes and `more` times 8. */
static void add_header(struct packet *p, uint8_t next, uint8_t more, uint16_t fragment)
{
	uint8_t bytes[64] = { next, more, (uint8_t)(fragment >> 8), (uint8_t)fragment };

	add(p, bytes, 8 + 8u * more);
}

/* From port 40961 to 443. */
static void add_ports(struct packet *p)
{
	static const uint8_t ports[] = { 0xa0, 0x01, 0x01, 0xbb };

	add(p, ports, sizeof(ports));
}

static bool is_parsed(const struct packet *p, size_t len, bool v6)
{
	static const uint8_t to4[16] = { 203, 0, 113, 9 }, from4[16] = { 127, 0, 0, 1 };
	static const uint8_t to6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 9 },
			     from6[16] = { [15] = 1 };
	struct ab_denied_datagram d;

	return ab_packet_log_datagram(guarded(p->bytes, len), len, &d) && d.from.v6 == v6 &&
	       d.to.v6 == v6 && d.from.port == 40961 && d.to.port == 443 &&
	       memcmp(d.to.addr, v6 ? to6 : to4, 16) == 0 &&
	       memcmp(d.from.addr, v6 ? from6 : from4, 16) == 0;
}

/* Its last bytes are the ports: with a byte less it is nothing. */
static void is_datagram(struct packet p, bool v6, const char *name)
{
	size_t cut = 0;

	for (size_t n = 0; n < p.len; n++)
		cut += is_parsed(&p, n, v6);
	ok(cut == 0, "%s: cut anywhere it is none, and no byte too many is read", name);
	ok(is_parsed(&p, p.len, v6), "%s: both ends", name);
	p.bytes[p.len] = 0xff;
	ok(is_parsed(&p, p.len + 1, v6), "%s: what follows does not matter", name);
}

static void is_none(const struct packet *p, const char *name)
{
	struct ab_denied_datagram d;
	size_t read = 0;

	for (size_t n = 0; n <= p->len; n++)
		read += ab_packet_log_datagram(guarded(p->bytes, n), n, &d);
	ok(read == 0, "none: %s", name);
}

static void check_v4(void)
{
	struct packet p = make_v4(0, 0, IPPROTO_UDP);

	add_ports(&p);
	is_datagram(p, false, "IPv4");
	p = make_v4(40, 0, IPPROTO_UDP);
	add_ports(&p);
	is_datagram(p, false, "with all options");
	p = make_v4(0, 0x2000, IPPROTO_UDP);
	add_ports(&p);
	is_datagram(p, false, "the first fragment");
	p = make_v4(0, 0x4000, IPPROTO_UDP);
	add_ports(&p);
	is_datagram(p, false, "not to be fragmented");
	p = make_v4(0, 1, IPPROTO_UDP);
	add_ports(&p);
	is_none(&p, "a later fragment of IPv4");
	p = make_v4(0, 0, IPPROTO_TCP);
	add_ports(&p);
	is_none(&p, "another protocol");
	p = make_v4(0, 0, IPPROTO_UDP);
	add_ports(&p);
	p.bytes[0] = 0x44;
	is_none(&p, "a header that is too short");
	p.bytes[0] = 0x55;
	is_none(&p, "another version");
}

static void check_v6(void)
{
	struct packet p = make_v6(IPPROTO_UDP);

	add_ports(&p);
	is_datagram(p, true, "IPv6");
	p = make_v6(IPPROTO_HOPOPTS);
	add_header(&p, IPPROTO_DSTOPTS, 2, 0);
	add_header(&p, IPPROTO_ROUTING, 0, 0);
	add_header(&p, IPPROTO_FRAGMENT, 1, 0);
	add_header(&p, IPPROTO_UDP, 0, 1); /* the first fragment: more will follow */
	add_ports(&p);
	is_datagram(p, true, "all further headers");
	p = make_v6(IPPROTO_FRAGMENT);
	add_header(&p, IPPROTO_UDP, 0, 8);
	add_ports(&p);
	is_none(&p, "a later fragment of IPv6");
	p = make_v6(IPPROTO_ESP);
	add_header(&p, IPPROTO_UDP, 0, 0);
	add_ports(&p);
	is_none(&p, "a header that hides what follows");
	p = make_v6(IPPROTO_DSTOPTS);
	for (int i = 0; i < 9; i++)
		add_header(&p, i == 8 ? IPPROTO_UDP : IPPROTO_DSTOPTS, 0, 0);
	add_ports(&p);
	is_none(&p, "more headers than are read");
	p = make_v6(IPPROTO_DSTOPTS);
	add_header(&p, IPPROTO_UDP, 0, 0);
	p.bytes[41] = 0xff;
	add_ports(&p);
	is_none(&p, "a header longer than the packet");
}

/* A message as the kernel makes it. */
struct message {
	_Alignas(struct nlmsghdr) uint8_t bytes[512];
	size_t len;
};

static void add_attribute(struct message *m, uint16_t type, const void *data, size_t len)
{
	struct nlattr a = { .nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type };

	memcpy(m->bytes + m->len, &a, sizeof(a));
	memcpy(m->bytes + m->len + NLA_HDRLEN, data, len);
	m->len += NLMSG_ALIGN(NLA_HDRLEN + len);
}

static struct message make_message(uint16_t type, const struct packet *p)
{
	struct nlmsghdr head = { .nlmsg_type = type };
	struct nfulnl_msg_packet_hdr about = { .hook = 0 };
	struct message m = { .len = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct nfgenmsg)) };

	add_attribute(&m, NFULA_PACKET_HDR, &about, sizeof(about));
	add_attribute(&m, NFULA_PAYLOAD, p->bytes, p->len);
	head.nlmsg_len = (uint32_t)m.len;
	memcpy(m.bytes, &head, sizeof(head));
	return m;
}

static void check_messages(void)
{
	enum { PACKET = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET };
	struct packet p = make_v4(0, 0, IPPROTO_UDP);
	struct ab_denied_datagram d = { 0 };
	struct message m, other;
	size_t cut = 0;

	add_ports(&p);
	m = make_message(PACKET, &p);
	ok(ab_packet_log_parse(m.bytes, m.len, &d) && d.to.port == 443, "a message");
	for (size_t n = 0; n < m.len; n++) {
		ab_autofree uint8_t *copy = ab_alloc(n + 1);

		memcpy(copy, m.bytes, n);
		cut += ab_packet_log_parse(copy, n, &d);
	}
	ok(cut == 0, "cut anywhere it is none");
	/* What it says of its length does not reach beyond it either. */
	for (size_t i = 0; i < m.len; i++) {
		other = m;
		other.bytes[i] = 0xff;
		(void)ab_packet_log_parse(other.bytes, other.len, &d);
	}
	ok(true, "any byte may be wrong");
	other = make_message(NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG, &p);
	ok(!ab_packet_log_parse(other.bytes, other.len, &d), "another kind of message");
	other = make_message(NLMSG_ERROR, &p);
	ok(!ab_packet_log_parse(other.bytes, other.len, &d), "an error");
	p = make_v4(0, 1, IPPROTO_UDP);
	add_ports(&p);
	other = make_message(PACKET, &p);
	ok(!ab_packet_log_parse(other.bytes, other.len, &d), "a packet that is no datagram");
}

int main(void)
{
	check_v4();
	check_v6();
	check_messages();
	return done();
}
