#include "netns/packet_log.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

#include "netns/batch.h"
#include "netns/netlink.h"

enum {
	PORTS = 4,   /* bytes of a datagram's header that are read */
	HEADERS = 8, /* further ones of IPv6 */
};

/* What the group logs goes to the sender of this. */
int ab_packet_log_request(int fd)
{
	struct {
		struct nlmsghdr head;
		struct nfgenmsg info;
		struct nlattr name;
		struct nfulnl_msg_config_cmd cmd;
		uint8_t padding[3];
	} request = { .head = { .nlmsg_len = sizeof(request),
				.nlmsg_type = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG,
				.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		      .info = { .res_id = htons(AB_NFT_LOG_GROUP) },
		      .name = { NLA_HDRLEN + sizeof(request.cmd), NFULA_CFG_CMD },
		      .cmd = { NFULNL_CFG_CMD_BIND } };

	if (ab_netlink_send(fd, &request, sizeof(request)) < 0)
		return -1;
	/* Nothing is logged before the answer: no process of the box runs yet. */
	errno = ab_netlink_answer(fd, &request.head.nlmsg_seq);
	return errno ? -1 : 0;
}

static uint16_t read_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/* Where the datagram begins; 0: there is none, or its ports are missing. */
static size_t find_v4(const uint8_t *p, size_t len)
{
	enum { LEAST = 20, OFFSET = 0x1fff };
	size_t at = (p[0] & 15u) * 4;

	return at >= LEAST && at + PORTS <= len && p[9] == IPPROTO_UDP &&
			       !(read_u16(p + 6) & OFFSET)
		       ? at
		       : 0;
}

static size_t find_v6(const uint8_t *p, size_t len)
{
	enum { HEAD = 40, OFFSET = 0xfff8 };
	uint8_t next = len < HEAD ? IPPROTO_NONE : p[6];
	size_t at = HEAD;

	for (int i = 0; i < HEADERS && at + PORTS <= len && next != IPPROTO_UDP; i++) {
		bool fragment = next == IPPROTO_FRAGMENT;
		size_t step = fragment ? 8 : (p[at + 1] + 1u) * 8;

		if (fragment ? read_u16(p + at + 2) & OFFSET
			     : next != IPPROTO_HOPOPTS && next != IPPROTO_ROUTING &&
				       next != IPPROTO_DSTOPTS)
			return 0;
		next = p[at];
		at += step;
	}
	return next == IPPROTO_UDP && at + PORTS <= len ? at : 0;
}

bool ab_packet_log_datagram(const uint8_t *packet, size_t len, struct ab_denied_datagram *ret)
{
	unsigned int version = len ? packet[0] >> 4 : 0;
	bool v6 = version == 6;
	size_t at = version == 4 ? find_v4(packet, len) : v6 ? find_v6(packet, len) : 0;
	size_t size = v6 ? 16 : 4, from = v6 ? 8 : 12;

	if (!at)
		return false;
	*ret = (struct ab_denied_datagram){
		.from = { .v6 = v6, .port = read_u16(packet + at) },
		.to = { .v6 = v6, .port = read_u16(packet + at + 2) },
	};
	memcpy(ret->from.addr, packet + from, size);
	memcpy(ret->to.addr, packet + from + size, size);
	return true;
}

/* The rule wants a message for each packet. */
bool ab_packet_log_parse(const void *data, size_t len, struct ab_denied_datagram *ret)
{
	const struct nlmsghdr *head = data;
	size_t skip = NLMSG_SPACE(sizeof(struct nfgenmsg));
	const struct rtattr *packet;

	if (!ab_netlink_ok(head, len) || head->nlmsg_len < skip ||
	    head->nlmsg_type != (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET))
		return false;
	packet = ab_netlink_attribute((const void *)((const char *)data + skip),
				      (int)(head->nlmsg_len - skip), NFULA_PAYLOAD, 0);
	return packet && ab_packet_log_datagram(RTA_DATA(packet), RTA_PAYLOAD(packet), ret);
}

bool ab_packet_log_read(int fd, struct ab_denied_datagram *ret)
{
	union {
		struct nlmsghdr head;
		char bytes[1024]; /* several times as long as a message with what the rule takes */
	} message;
	ssize_t n;

	do {
		n = ab_netlink_recv(fd, &message, sizeof(message));
		if (n >= 0 && ab_packet_log_parse(&message, (size_t)n, ret))
			return true;
	} while (n >= 0 || errno == ENOBUFS); /* some were lost, which the counters tell */
	return false;
}
