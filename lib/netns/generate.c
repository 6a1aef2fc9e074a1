/*
 * Writes the netlink messages that build the network of a box, and the request for
 * its counters, as constant bytes. Building them at each launch would cost time,
 * and the constructors of libnl would cost even more, at each of the two execs of
 * a run.
 *
 *     generate CAPTURE COUNTERS
 */
#include <arpa/inet.h>
#include <endian.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter_ipv4.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "netns/batch.h"
#include "netns/capture.h"

/* The box's own addresses, in addition to loopback. */
#define AB_OWN4 "198.19.255.1"
#define AB_OWN6 "fd61:6765:6e74:626f:ffff::1"

struct address {
	unsigned char bytes[16];
	size_t len;
};

enum { LOOPBACK_INDEX = 1 }; /* the index of lo in every namespace */

/* The box decides how much it sends: more than this is counted, but not logged. The bytes are enough
 * for the longest header of IPv4 and the ports. */
enum { LOGS_PER_SECOND = 20, LOGS_BURST = 100, LOG_BYTES = 96 };

static unsigned char batch[16384];
static size_t batch_len;
static uint32_t seq;

static _Noreturn void reject(const char *what)
{
	fprintf(stderr, "generate: %s\n", what);
	exit(1);
}

static void require_room(int r)
{
	if (r < 0)
		reject("a message is too long");
}

static struct nl_msg *begin_message(int type, int flags, const void *info, size_t len)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg || !nlmsg_put(msg, 0, ++seq, type, 0, NLM_F_REQUEST | flags) ||
	    nlmsg_append(msg, (void *)(uintptr_t)info, len, NLMSG_ALIGNTO) < 0)
		reject("out of memory");
	return msg;
}

static void end_message(struct nl_msg *msg)
{
	struct nlmsghdr *head = nlmsg_hdr(msg);
	size_t len = NLMSG_ALIGN(head->nlmsg_len);

	if (batch_len + len > sizeof(batch))
		reject("a batch is too long");
	memcpy(batch + batch_len, head, head->nlmsg_len);
	batch_len += len;
	nlmsg_free(msg);
}

static void print_batch(FILE *out, const char *name)
{
	fprintf(out,
		"\nstatic const unsigned char %s[] "
		"__attribute__((aligned(4))) = {",
		name);
	for (size_t i = 0; i < batch_len; i++)
		fprintf(out, "%s0x%02x,", i % 12 ? " " : "\n\t", batch[i]);
	fputs("\n};\n", out);
	batch_len = 0;
	memset(batch, 0, sizeof(batch));
	seq = 0;
}

/* Addresses. */

static struct address parse_address(int family, const char *text)
{
	struct address a = { .len = family == AF_INET ? 4 : 16 };

	if (inet_pton(family, text, a.bytes) != 1)
		reject(text);
	return a;
}

static void put_address(struct nl_msg *msg, int attr, struct address a)
{
	require_room(nla_put(msg, attr, (int)a.len, a.bytes));
}

/* Routes. */

static void raise_link(void)
{
	struct ifinfomsg info = { .ifi_index = LOOPBACK_INDEX,
				  .ifi_flags = IFF_UP,
				  .ifi_change = IFF_UP };
	struct nl_msg *msg = begin_message(RTM_NEWLINK, 0, &info, sizeof(info));

	end_message(msg);
}

static void add_address(int family, const char *text)
{
	struct address a = parse_address(family, text);
	struct ifaddrmsg info = { .ifa_family = (unsigned char)family,
				  .ifa_prefixlen = (unsigned char)(8 * a.len),
				  .ifa_flags = IFA_F_PERMANENT | IFA_F_NODAD,
				  .ifa_scope = RT_SCOPE_UNIVERSE,
				  .ifa_index = LOOPBACK_INDEX };
	struct nl_msg *msg =
		begin_message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));

	put_address(msg, IFA_LOCAL, a);
	put_address(msg, IFA_ADDRESS, a);
	end_message(msg);
}

/* Without a preferred source the kernel would use the destination itself. */
static void add_local_route(int family, const char *source, int flags)
{
	struct rtmsg info = { .rtm_family = (unsigned char)family,
			      .rtm_table = RT_TABLE_LOCAL,
			      .rtm_protocol = RTPROT_STATIC,
			      .rtm_scope = RT_SCOPE_HOST,
			      .rtm_type = RTN_LOCAL };
	struct nl_msg *msg =
		begin_message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL | flags, &info, sizeof(info));

	require_room(nla_put_u32(msg, RTA_OIF, LOOPBACK_INDEX));
	put_address(msg, RTA_PREFSRC, parse_address(family, source));
	end_message(msg);
}

static void make_routes(void)
{
	raise_link();
	add_address(AF_INET, AB_OWN4);
	add_local_route(AF_INET, "127.0.0.1", 0);
	add_address(AF_INET6, AB_OWN6);
	add_local_route(AF_INET6, "::1", NLM_F_ACK);
	if (seq != AB_SEQ_ROUTE6)
		reject("the route messages have wrong sequence numbers");
}

/*
 * The rules of a box, in the syntax of nft:
 *
 *	table inet agentbox {
 *		counter udp { }
 *		counter other { }
 *		chain in {
 *			type filter hook prerouting priority mangle
 *			ip daddr 127.0.0.0/8 accept
 *			ip daddr 198.19.255.1 accept
 *			ip6 daddr ::1 accept
 *			ip6 daddr fd61:6765:6e74:626f:ffff::1 accept
 *			th dport 53 accept
 *			meta l4proto tcp tproxy to :61081 accept
 *			meta l4proto tcp reject with tcp reset
 *			meta l4proto udp limit rate 20/second burst 100 packets \
 *				log group 1 snaplen 96 queue-threshold 1
 *			meta l4proto udp counter name udp reject with icmpx port-unreachable
 *			meta l4proto != icmp meta l4proto != icmpv6 counter name other drop
 *		}
 *	}
 *
 * Loopback addresses stay inside the box. Port 53 of every address reaches our name
 * server directly, because every address is local. TCP without a listener is
 * reset. ICMP comes only from the kernel itself. Kernels without the log get a batch
 * without the rule that has it.
 *
 * redirect needs connection tracking and acts when a packet is created: a chain
 * "lead" of type nat in the output hook replaces the tproxy rule. A redirected
 * packet has a loopback destination when it comes in.
 */

/* nftables. Its numbers are big-endian. */

static struct nl_msg *nft(int type, int flags)
{
	struct nfgenmsg info = { .nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0 };

	return begin_message(NFNL_SUBSYS_NFTABLES << 8 | type, flags, &info, sizeof(info));
}

static void mark_batch(int type)
{
	struct nfgenmsg info = { .version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES) };
	struct nl_msg *msg = begin_message(type, 0, &info, sizeof(info));

	end_message(msg);
}

static void put_u32(struct nl_msg *msg, int attr, uint32_t value)
{
	require_room(nla_put_u32(msg, attr, htonl(value)));
}

static void put_text(struct nl_msg *msg, int attr, const char *text)
{
	require_room(nla_put_string(msg, attr, text));
}

static struct nlattr *open_nest(struct nl_msg *msg, int attr)
{
	struct nlattr *nest = nla_nest_start(msg, attr);

	if (!nest)
		reject("a message is too long");
	return nest;
}

static void add_table(void)
{
	struct nl_msg *msg = nft(NFT_MSG_NEWTABLE, NLM_F_CREATE);

	put_text(msg, NFTA_TABLE_NAME, AB_NFT_TABLE);
	end_message(msg);
}

static void add_counter(const char *name)
{
	struct nl_msg *msg = nft(NFT_MSG_NEWOBJ, NLM_F_CREATE);

	put_text(msg, NFTA_OBJ_TABLE, AB_NFT_TABLE);
	put_text(msg, NFTA_OBJ_NAME, name);
	put_u32(msg, NFTA_OBJ_TYPE, NFT_OBJECT_COUNTER);
	require_room(nla_nest_end_keep_empty(msg, open_nest(msg, NFTA_OBJ_DATA)));
	end_message(msg);
}

static void add_chain(const char *name, const char *type, int hook, int priority)
{
	struct nl_msg *msg = nft(NFT_MSG_NEWCHAIN, NLM_F_CREATE);
	struct nlattr *nest;

	put_text(msg, NFTA_CHAIN_TABLE, AB_NFT_TABLE);
	put_text(msg, NFTA_CHAIN_NAME, name);
	nest = open_nest(msg, NFTA_CHAIN_HOOK);
	put_u32(msg, NFTA_HOOK_HOOKNUM, (uint32_t)hook);
	put_u32(msg, NFTA_HOOK_PRIORITY, (uint32_t)priority);
	nla_nest_end(msg, nest);
	put_text(msg, NFTA_CHAIN_TYPE, type);
	end_message(msg);
}

/* A rule is a list of expressions over registers; all use the same one. */
enum { REG = NFT_REG_1 };

struct rule {
	struct nl_msg *msg;
	struct nlattr *list, *element, *data;
};

static struct rule open_rule(const char *chain, int flags)
{
	struct rule r = { .msg = nft(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND | flags) };

	put_text(r.msg, NFTA_RULE_TABLE, AB_NFT_TABLE);
	put_text(r.msg, NFTA_RULE_CHAIN, chain);
	r.list = open_nest(r.msg, NFTA_RULE_EXPRESSIONS);
	return r;
}

static void close_rule(struct rule *r)
{
	nla_nest_end(r->msg, r->list);
	end_message(r->msg);
}

static void open_expr(struct rule *r, const char *name)
{
	r->element = open_nest(r->msg, NFTA_LIST_ELEM);
	put_text(r->msg, NFTA_EXPR_NAME, name);
	r->data = open_nest(r->msg, NFTA_EXPR_DATA);
}

static void close_expr(struct rule *r)
{
	nla_nest_end(r->msg, r->data);
	nla_nest_end(r->msg, r->element);
}

static void put_value(struct rule *r, int attr, const void *value, size_t len)
{
	struct nlattr *nest = open_nest(r->msg, attr);

	require_room(nla_put(r->msg, NFTA_DATA_VALUE, (int)len, value));
	nla_nest_end(r->msg, nest);
}

static void load_meta(struct rule *r, int key)
{
	open_expr(r, "meta");
	put_u32(r->msg, NFTA_META_DREG, REG);
	put_u32(r->msg, NFTA_META_KEY, (uint32_t)key);
	close_expr(r);
}

static void load_payload(struct rule *r, int base, uint32_t offset, uint32_t len)
{
	open_expr(r, "payload");
	put_u32(r->msg, NFTA_PAYLOAD_DREG, REG);
	put_u32(r->msg, NFTA_PAYLOAD_BASE, (uint32_t)base);
	put_u32(r->msg, NFTA_PAYLOAD_OFFSET, offset);
	put_u32(r->msg, NFTA_PAYLOAD_LEN, len);
	close_expr(r);
}

static void compare(struct rule *r, int op, const void *value, size_t len)
{
	open_expr(r, "cmp");
	put_u32(r->msg, NFTA_CMP_SREG, REG);
	put_u32(r->msg, NFTA_CMP_OP, (uint32_t)op);
	put_value(r, NFTA_CMP_DATA, value, len);
	close_expr(r);
}

static void decide(struct rule *r, int verdict)
{
	struct nlattr *data, *inner;

	open_expr(r, "immediate");
	put_u32(r->msg, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = open_nest(r->msg, NFTA_IMMEDIATE_DATA);
	inner = open_nest(r->msg, NFTA_DATA_VERDICT);
	put_u32(r->msg, NFTA_VERDICT_CODE, (uint32_t)verdict);
	nla_nest_end(r->msg, inner);
	nla_nest_end(r->msg, data);
	close_expr(r);
}

static void load_port(struct rule *r, uint16_t port)
{
	uint16_t value = htons(port);

	open_expr(r, "immediate");
	put_u32(r->msg, NFTA_IMMEDIATE_DREG, REG);
	put_value(r, NFTA_IMMEDIATE_DATA, &value, sizeof(value));
	close_expr(r);
}

static void count(struct rule *r, const char *counter)
{
	open_expr(r, "objref");
	put_u32(r->msg, NFTA_OBJREF_IMM_TYPE, NFT_OBJECT_COUNTER);
	put_text(r->msg, NFTA_OBJREF_IMM_NAME, counter);
	close_expr(r);
}

static void refuse(struct rule *r, int type, uint8_t code)
{
	open_expr(r, "reject");
	put_u32(r->msg, NFTA_REJECT_TYPE, (uint32_t)type);
	require_room(nla_put_u8(r->msg, NFTA_REJECT_ICMP_CODE, code));
	close_expr(r);
}

/* Each packet at once, not several together after a while. */
static void log_packet(struct rule *r)
{
	open_expr(r, "limit");
	require_room(nla_put_u64(r->msg, NFTA_LIMIT_RATE, htobe64(LOGS_PER_SECOND)));
	require_room(nla_put_u64(r->msg, NFTA_LIMIT_UNIT, htobe64(1)));
	put_u32(r->msg, NFTA_LIMIT_BURST, LOGS_BURST);
	close_expr(r);
	open_expr(r, "log");
	require_room(nla_put_u16(r->msg, NFTA_LOG_GROUP, htons(AB_NFT_LOG_GROUP)));
	put_u32(r->msg, NFTA_LOG_SNAPLEN, LOG_BYTES);
	require_room(nla_put_u16(r->msg, NFTA_LOG_QTHRESHOLD, htons(1)));
	close_expr(r);
}

static void match_protocol(struct rule *r, int op, uint8_t protocol)
{
	load_meta(r, NFT_META_L4PROTO);
	compare(r, op, &protocol, sizeof(protocol));
}

/* The first `len` bytes of the destination. */
static void accept_address(const char *chain, int family, const char *text, size_t len)
{
	struct address a = parse_address(family, text);
	uint8_t proto = family == AF_INET ? NFPROTO_IPV4 : NFPROTO_IPV6;
	struct rule r = open_rule(chain, 0);

	load_meta(&r, NFT_META_NFPROTO);
	compare(&r, NFT_CMP_EQ, &proto, sizeof(proto));
	load_payload(&r, NFT_PAYLOAD_NETWORK_HEADER, family == AF_INET ? 16 : 24, (uint32_t)len);
	compare(&r, NFT_CMP_EQ, a.bytes, len);
	decide(&r, NF_ACCEPT);
	close_rule(&r);
}

/* Accept the addresses that are not captured. */
static void accept_own(const char *chain)
{
	uint16_t dns = htons(AB_PORT_DNS);
	struct rule r;

	accept_address(chain, AF_INET, "127.0.0.0", 1);
	accept_address(chain, AF_INET, AB_OWN4, 4);
	accept_address(chain, AF_INET6, "::1", 16);
	accept_address(chain, AF_INET6, AB_OWN6, 16);
	r = open_rule(chain, 0);
	load_payload(&r, NFT_PAYLOAD_TRANSPORT_HEADER, 2, sizeof(dns));
	compare(&r, NFT_CMP_EQ, &dns, sizeof(dns));
	decide(&r, NF_ACCEPT);
	close_rule(&r);
}

static struct rule open_lead(const char *chain)
{
	struct rule r = open_rule(chain, 0);

	match_protocol(&r, NFT_CMP_EQ, IPPROTO_TCP);
	load_port(&r, AB_PORT_CAPTURED);
	return r;
}

/* Marks the packet, or continues with the next rule if there is no listener. */
static void lead_by_tproxy(const char *chain)
{
	struct rule r = open_lead(chain);

	open_expr(&r, "tproxy");
	put_u32(r.msg, NFTA_TPROXY_FAMILY, NFPROTO_UNSPEC); /* both */
	put_u32(r.msg, NFTA_TPROXY_REG_PORT, REG);
	close_expr(&r);
	decide(&r, NF_ACCEPT);
	close_rule(&r);
}

static void lead_by_redirect(const char *chain)
{
	struct rule r = open_lead(chain);

	open_expr(&r, "redir");
	put_u32(r.msg, NFTA_REDIR_REG_PROTO_MIN, REG);
	close_expr(&r);
	close_rule(&r);
}

/* Deny the rest; the last rule requests an acknowledgement. */
static void refuse_rest(const char *chain, bool logs)
{
	struct rule r = open_rule(chain, 0);

	match_protocol(&r, NFT_CMP_EQ, IPPROTO_TCP);
	refuse(&r, NFT_REJECT_TCP_RST, 0);
	close_rule(&r);

	if (logs) {
		r = open_rule(chain, 0);
		match_protocol(&r, NFT_CMP_EQ, IPPROTO_UDP);
		log_packet(&r);
		close_rule(&r);
	}

	r = open_rule(chain, 0);
	match_protocol(&r, NFT_CMP_EQ, IPPROTO_UDP);
	count(&r, AB_NFT_UDP);
	refuse(&r, NFT_REJECT_ICMPX_UNREACH, NFT_REJECT_ICMPX_PORT_UNREACH);
	close_rule(&r);

	r = open_rule(chain, NLM_F_ACK);
	match_protocol(&r, NFT_CMP_NEQ, IPPROTO_ICMP);
	match_protocol(&r, NFT_CMP_NEQ, IPPROTO_ICMPV6);
	count(&r, AB_NFT_OTHER);
	decide(&r, NF_DROP);
	close_rule(&r);
}

static void begin_table(void)
{
	mark_batch(NFNL_MSG_BATCH_BEGIN);
	add_table();
	add_counter(AB_NFT_UDP);
	add_counter(AB_NFT_OTHER);
}

static void add_tproxy(bool logs)
{
	begin_table();
	add_chain("in", "filter", NF_INET_PRE_ROUTING, NF_IP_PRI_MANGLE);
	accept_own("in");
	lead_by_tproxy("in");
	refuse_rest("in", logs);
}

static void add_redirect(bool logs)
{
	begin_table();
	add_chain("lead", "nat", NF_INET_LOCAL_OUT, NF_IP_PRI_NAT_DST);
	accept_own("lead");
	lead_by_redirect("lead");
	add_chain("in", "filter", NF_INET_PRE_ROUTING, NF_IP_PRI_MANGLE);
	accept_own("in");
	refuse_rest("in", logs);
}

static void add_batch_end(void)
{
	mark_batch(NFNL_MSG_BATCH_END);
}

static void add_counters_request(void)
{
	struct nl_msg *msg = nft(NFT_MSG_GETOBJ, NLM_F_DUMP);

	put_text(msg, NFTA_OBJ_TABLE, AB_NFT_TABLE);
	put_u32(msg, NFTA_OBJ_TYPE, NFT_OBJECT_COUNTER);
	end_message(msg);
}

static void print_way(FILE *out, const char *name)
{
	uint32_t last = seq;

	add_batch_end();
	fprintf(out, "\n#define %s_last %u\n", name, last);
	print_batch(out, name);
}

static FILE *create_file(const char *path)
{
	FILE *out = fopen(path, "we");

	if (!out)
		reject("cannot write the output");
	fputs("/* Generated by lib/netns/generate.c. */\n", out);
	return out;
}

static void close_file(FILE *out)
{
	if (fflush(out) || ferror(out) || fclose(out))
		reject("cannot write the output");
}

int main(int argc, char *argv[])
{
	static const uint16_t order = 1;
	FILE *out;

	/* Headers have the byte order of the sender; both architectures that
	 * agentbox supports have this one. */
	if (*(const unsigned char *)&order != 1)
		reject("the build machine is not little-endian");
	if (argc != 3)
		reject("usage: generate CAPTURE COUNTERS");
	out = create_file(argv[1]);
	make_routes();
	print_batch(out, "routes");
	add_tproxy(true);
	print_way(out, "tproxy_log");
	add_tproxy(false);
	print_way(out, "tproxy");
	add_redirect(true);
	print_way(out, "redirect_log");
	add_redirect(false);
	print_way(out, "redirect");
	close_file(out);
	out = create_file(argv[2]);
	add_counters_request();
	print_batch(out, "counters");
	close_file(out);
	return 0;
}
