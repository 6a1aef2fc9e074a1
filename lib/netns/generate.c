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

/* Enough for the longest header of IPv4 and the ports. */
enum { LOG_BYTES = 96 };

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

/* What a message consists of. */
enum kind {
	END,
	NUMBER, /* big-endian */
	BYTES,
	OPEN, /* the attributes up to CLOSE are in this one */
	CLOSE,
};

struct attribute {
	enum kind kind;
	int type;
	size_t len;
	uint64_t number;
	const void *bytes;
};

#define ALL(...) ((const struct attribute[]){ __VA_ARGS__, NONE })
#define ATTRIBUTE(...)      \
	{                   \
		__VA_ARGS__ \
	}
#define NONE ATTRIBUTE(END, 0, 0, 0, NULL)
#define NUM(size, attr, n) ATTRIBUTE(NUMBER, (attr), (size), (n), NULL)
#define U32(attr, n) NUM(4, attr, n)
#define RAW(attr, from, size) ATTRIBUTE(BYTES, (attr), (size), 0, (from))
#define TEXT(attr, text) RAW(attr, text, strlen(text) + 1)
#define OPENED(attr) ATTRIBUTE(OPEN, (attr), 0, 0, NULL)
#define CLOSED ATTRIBUTE(CLOSE, 0, 0, 0, NULL)
#define IN(attr, ...) OPENED(attr), __VA_ARGS__, CLOSED

static void put_attributes(struct nl_msg *msg, const struct attribute *v)
{
	struct nlattr *nests[8];
	size_t depth = 0;

	for (; v->kind != END; v++) {
		uint64_t number;

		switch (v->kind) {
		case NUMBER:
			number = htobe64(v->number << (64 - 8 * v->len));
			require_room(nla_put(msg, v->type, (int)v->len, &number));
			break;
		case BYTES:
			require_room(nla_put(msg, v->type, (int)v->len, v->bytes));
			break;
		case OPEN:
			nests[depth] = nla_nest_start(msg, v->type);
			if (!nests[depth++])
				reject("a message is too long");
			break;
		case CLOSE:
			require_room(nla_nest_end_keep_empty(msg, nests[--depth]));
			break;
		case END:
			break;
		}
	}
}

/* Add a message to the batch. */
static void add_message(int type, int flags, const void *info, size_t info_len,
			const struct attribute *attributes)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlmsghdr *head;
	size_t len;

	if (!msg || !nlmsg_put(msg, 0, ++seq, type, 0, NLM_F_REQUEST | flags) ||
	    nlmsg_append(msg, (void *)(uintptr_t)info, info_len, NLMSG_ALIGNTO) < 0)
		reject("out of memory");
	put_attributes(msg, attributes);
	head = nlmsg_hdr(msg);
	len = NLMSG_ALIGN(head->nlmsg_len);
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

/* Routes. */

static void raise_link(void)
{
	struct ifinfomsg info = { .ifi_index = LOOPBACK_INDEX,
				  .ifi_flags = IFF_UP,
				  .ifi_change = IFF_UP };

	add_message(RTM_NEWLINK, 0, &info, sizeof(info), ALL(NONE));
}

static void add_address(int family, const char *text)
{
	struct address a = parse_address(family, text);
	struct ifaddrmsg info = { .ifa_family = (unsigned char)family,
				  .ifa_prefixlen = (unsigned char)(8 * a.len),
				  .ifa_flags = IFA_F_PERMANENT | IFA_F_NODAD,
				  .ifa_scope = RT_SCOPE_UNIVERSE,
				  .ifa_index = LOOPBACK_INDEX };

	add_message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info),
		    ALL(RAW(IFA_LOCAL, a.bytes, a.len), RAW(IFA_ADDRESS, a.bytes, a.len)));
}

/* Without a preferred source the kernel would use the destination itself. */
static void add_local_route(int family, const char *source, int flags)
{
	static const uint32_t device = LOOPBACK_INDEX;
	struct address a = parse_address(family, source);
	struct rtmsg info = { .rtm_family = (unsigned char)family,
			      .rtm_table = RT_TABLE_LOCAL,
			      .rtm_protocol = RTPROT_STATIC,
			      .rtm_scope = RT_SCOPE_HOST,
			      .rtm_type = RTN_LOCAL };

	add_message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL | flags, &info, sizeof(info),
		    ALL(RAW(RTA_OIF, &device, sizeof(device)), RAW(RTA_PREFSRC, a.bytes, a.len)));
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

static void add_nft(int type, int flags, const struct attribute *attributes)
{
	struct nfgenmsg info = { .nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0 };

	add_message(NFNL_SUBSYS_NFTABLES << 8 | type, flags, &info, sizeof(info), attributes);
}

static void mark_batch(int type)
{
	struct nfgenmsg info = { .version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES) };

	add_message(type, 0, &info, sizeof(info), ALL(NONE));
}

static void add_counter(const char *name)
{
	add_nft(NFT_MSG_NEWOBJ, NLM_F_CREATE,
		ALL(TEXT(NFTA_OBJ_TABLE, AB_NFT_TABLE), TEXT(NFTA_OBJ_NAME, name),
		    U32(NFTA_OBJ_TYPE, NFT_OBJECT_COUNTER), OPENED(NFTA_OBJ_DATA), CLOSED));
}

static void add_chain(const char *name, const char *type, uint32_t hook, int priority)
{
	add_nft(NFT_MSG_NEWCHAIN, NLM_F_CREATE,
		ALL(TEXT(NFTA_CHAIN_TABLE, AB_NFT_TABLE), TEXT(NFTA_CHAIN_NAME, name),
		    IN(NFTA_CHAIN_HOOK, U32(NFTA_HOOK_HOOKNUM, hook),
		       U32(NFTA_HOOK_PRIORITY, (uint32_t)priority)),
		    TEXT(NFTA_CHAIN_TYPE, type)));
}

/* A rule is a list of expressions over registers; all use the same one. */
enum { REG = NFT_REG_1 };

#define EXPR(name, ...) \
	IN(NFTA_LIST_ELEM, TEXT(NFTA_EXPR_NAME, name), IN(NFTA_EXPR_DATA, __VA_ARGS__))
#define META(key) EXPR("meta", U32(NFTA_META_DREG, REG), U32(NFTA_META_KEY, key))
#define PAYLOAD(base, offset, len)                                                 \
	EXPR("payload", U32(NFTA_PAYLOAD_DREG, REG), U32(NFTA_PAYLOAD_BASE, base), \
	     U32(NFTA_PAYLOAD_OFFSET, offset), U32(NFTA_PAYLOAD_LEN, len))
#define COMPARE(op, value) \
	EXPR("cmp", U32(NFTA_CMP_SREG, REG), U32(NFTA_CMP_OP, op), IN(NFTA_CMP_DATA, value))
#define PROTOCOL(op, protocol) \
	META(NFT_META_L4PROTO), COMPARE(op, NUM(1, NFTA_DATA_VALUE, protocol))
#define DECIDE(verdict)                                              \
	EXPR("immediate", U32(NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT), \
	     IN(NFTA_IMMEDIATE_DATA, IN(NFTA_DATA_VERDICT, U32(NFTA_VERDICT_CODE, verdict))))
#define LOAD_PORT(port)                                  \
	EXPR("immediate", U32(NFTA_IMMEDIATE_DREG, REG), \
	     IN(NFTA_IMMEDIATE_DATA, NUM(2, NFTA_DATA_VALUE, port)))
#define COUNT(counter)                                                \
	EXPR("objref", U32(NFTA_OBJREF_IMM_TYPE, NFT_OBJECT_COUNTER), \
	     TEXT(NFTA_OBJREF_IMM_NAME, counter))
#define REFUSE(type, code) \
	EXPR("reject", U32(NFTA_REJECT_TYPE, type), NUM(1, NFTA_REJECT_ICMP_CODE, code))
/* Each packet at once, not several together after a while. */
#define LOG_PACKET                                                                   \
	EXPR("limit", NUM(8, NFTA_LIMIT_RATE, AB_DATAGRAMS_PER_SECOND),              \
	     NUM(8, NFTA_LIMIT_UNIT, 1), U32(NFTA_LIMIT_BURST, AB_DATAGRAMS_BURST)), \
		EXPR("log", NUM(2, NFTA_LOG_GROUP, AB_NFT_LOG_GROUP),                \
		     U32(NFTA_LOG_SNAPLEN, LOG_BYTES), NUM(2, NFTA_LOG_QTHRESHOLD, 1))

#define RULE(chain, ...)                                                       \
	ALL(TEXT(NFTA_RULE_TABLE, AB_NFT_TABLE), TEXT(NFTA_RULE_CHAIN, chain), \
	    IN(NFTA_RULE_EXPRESSIONS, __VA_ARGS__))

static void add_rule(int flags, const struct attribute *rule)
{
	add_nft(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND | flags, rule);
}

/* The first `len` bytes of the destination. */
static void accept_address(const char *chain, int family, const char *text, size_t len)
{
	struct address a = parse_address(family, text);

	add_rule(0,
		 RULE(chain, META(NFT_META_NFPROTO),
		      COMPARE(NFT_CMP_EQ, NUM(1, NFTA_DATA_VALUE,
					      family == AF_INET ? NFPROTO_IPV4 : NFPROTO_IPV6)),
		      PAYLOAD(NFT_PAYLOAD_NETWORK_HEADER, family == AF_INET ? 16 : 24, len),
		      COMPARE(NFT_CMP_EQ, RAW(NFTA_DATA_VALUE, a.bytes, len)), DECIDE(NF_ACCEPT)));
}

/* Accept the addresses that are not captured. */
static void accept_own(const char *chain)
{
	accept_address(chain, AF_INET, "127.0.0.0", 1);
	accept_address(chain, AF_INET, AB_OWN4, 4);
	accept_address(chain, AF_INET6, "::1", 16);
	accept_address(chain, AF_INET6, AB_OWN6, 16);
	add_rule(0, RULE(chain, PAYLOAD(NFT_PAYLOAD_TRANSPORT_HEADER, 2, 2),
			 COMPARE(NFT_CMP_EQ, NUM(2, NFTA_DATA_VALUE, AB_PORT_DNS)),
			 DECIDE(NF_ACCEPT)));
}

/* Marks the packet, or continues with the next rule if there is no listener. */
static void lead_by_tproxy(const char *chain)
{
	add_rule(0, RULE(chain, PROTOCOL(NFT_CMP_EQ, IPPROTO_TCP), LOAD_PORT(AB_PORT_CAPTURED),
			 EXPR("tproxy", U32(NFTA_TPROXY_FAMILY, NFPROTO_UNSPEC) /* both */,
			      U32(NFTA_TPROXY_REG_PORT, REG)),
			 DECIDE(NF_ACCEPT)));
}

static void lead_by_redirect(const char *chain)
{
	add_rule(0, RULE(chain, PROTOCOL(NFT_CMP_EQ, IPPROTO_TCP), LOAD_PORT(AB_PORT_CAPTURED),
			 EXPR("redir", U32(NFTA_REDIR_REG_PROTO_MIN, REG))));
}

/* Deny the rest; the last rule requests an acknowledgement. */
static void refuse_rest(const char *chain, bool logs)
{
	add_rule(0, RULE(chain, PROTOCOL(NFT_CMP_EQ, IPPROTO_TCP), REFUSE(NFT_REJECT_TCP_RST, 0)));
	if (logs)
		add_rule(0, RULE(chain, PROTOCOL(NFT_CMP_EQ, IPPROTO_UDP), LOG_PACKET));
	add_rule(0, RULE(chain, PROTOCOL(NFT_CMP_EQ, IPPROTO_UDP), COUNT(AB_NFT_UDP),
			 REFUSE(NFT_REJECT_ICMPX_UNREACH, NFT_REJECT_ICMPX_PORT_UNREACH)));
	add_rule(NLM_F_ACK,
		 RULE(chain, PROTOCOL(NFT_CMP_NEQ, IPPROTO_ICMP),
		      PROTOCOL(NFT_CMP_NEQ, IPPROTO_ICMPV6), COUNT(AB_NFT_OTHER), DECIDE(NF_DROP)));
}

static void begin_table(void)
{
	mark_batch(NFNL_MSG_BATCH_BEGIN);
	add_nft(NFT_MSG_NEWTABLE, NLM_F_CREATE, ALL(TEXT(NFTA_TABLE_NAME, AB_NFT_TABLE)));
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

static void print_way(FILE *out, const char *name)
{
	uint32_t last = seq;

	mark_batch(NFNL_MSG_BATCH_END);
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
	add_nft(NFT_MSG_GETOBJ, NLM_F_DUMP,
		ALL(TEXT(NFTA_OBJ_TABLE, AB_NFT_TABLE), U32(NFTA_OBJ_TYPE, NFT_OBJECT_COUNTER)));
	print_batch(out, "counters");
	close_file(out);
	return 0;
}
