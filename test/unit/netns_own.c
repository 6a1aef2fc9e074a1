/*
 * The addresses of this machine, and the counters: what the kernel answers,
 * as a table, cut at every byte and against a guard page; then the real thing.
 */
#include "netns/own.h"

#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "netns/counters.h"
#include "netns/loopback.h"
#include "netns_help.h"
#include "tap.h"

/* Messages are put together in here. */
static char bytes[4096] __attribute__((aligned(4)));
static size_t used;

static size_t begin(int type, const void *data, size_t len)
{
	struct nlmsghdr head = { .nlmsg_type = (uint16_t)type };
	size_t at = used;

	memcpy(bytes + used, &head, sizeof(head));
	used += sizeof(head);
	memcpy(bytes + used, data, len);
	used += NLMSG_ALIGN(len);
	return at;
}

static void end(size_t at)
{
	((struct nlmsghdr *)(bytes + at))->nlmsg_len = (uint32_t)(used - at);
}

static size_t put(int type, const void *data, size_t len)
{
	struct rtattr a = { .rta_type = (unsigned short)type,
			    .rta_len = (unsigned short)RTA_LENGTH(len) };
	size_t at = used;

	memcpy(bytes + used, &a, sizeof(a));
	memcpy(bytes + used + sizeof(a), data, len);
	used += RTA_SPACE(len);
	return at;
}

static void add_address(int family, int attr, const char *text)
{
	struct ifaddrmsg info = { .ifa_family = (unsigned char)family };
	size_t at = begin(RTM_NEWADDR, &info, sizeof(info));
	unsigned char addr[16];

	inet_pton(family, text, addr);
	put(attr, addr, family == AF_INET ? 4 : 16);
	end(at);
}

static void add_done(void)
{
	int zero = 0;

	end(begin(NLMSG_DONE, &zero, sizeof(zero)));
}

static void add_counter(const char *name, uint64_t packets)
{
	struct nfgenmsg info = { 0 };
	size_t at = begin(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWOBJ, &info, sizeof(info));
	size_t nest;

	put(NFTA_OBJ_NAME, name, strlen(name) + 1);
	nest = put(NFTA_OBJ_DATA | NLA_F_NESTED, "", 0);
	packets = htobe64(packets);
	put(NFTA_COUNTER_PACKETS, &packets, sizeof(packets));
	((struct rtattr *)(bytes + nest))->rta_len = (unsigned short)(used - nest);
	end(at);
}

static char *list(const struct ab_own *own)
{
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < own->len; i++) {
		char text[INET6_ADDRSTRLEN];

		inet_ntop(own->v[i].v6 ? AF_INET6 : AF_INET, own->v[i].addr, text, sizeof(text));
		ab_buf_printf(&b, "%s%s", i ? " " : "", text);
	}
	return ab_buf_take(&b);
}

static void is_parsed(int result, const char *want, const char *name)
{
	struct ab_own own = { 0 };
	int r = ab_own_parse(bytes, used, &own);
	ab_autofree char *got = list(&own);

	ok(r == result, "%s: %d", name, r);
	is_str(got, want, name);
	ab_own_fini(&own);
	used = 0;
}

static void check_addresses(void)
{
	struct nlmsgerr error = { .error = -EPERM };
	struct ifaddrmsg unix_family = { .ifa_family = AF_UNIX };
	size_t at;

	is_parsed(0, "", "nothing");
	add_address(AF_INET, IFA_LOCAL, "192.0.2.1");
	add_address(AF_INET6, IFA_ADDRESS, "2001:db8::1");
	is_parsed(0, "192.0.2.1 2001:db8::1", "one of each, and more follows");
	add_address(AF_INET, IFA_LOCAL, "192.0.2.1");
	add_done();
	add_address(AF_INET, IFA_LOCAL, "192.0.2.2");
	is_parsed(1, "192.0.2.1", "the end is the end");

	at = begin(RTM_NEWADDR, &(struct ifaddrmsg){ .ifa_family = AF_INET },
		   sizeof(struct ifaddrmsg));
	put(IFA_ADDRESS, (unsigned char[]){ 192, 0, 2, 9 }, 4);
	put(IFA_LOCAL, (unsigned char[]){ 192, 0, 2, 8 }, 4);
	end(at);
	is_parsed(0, "192.0.2.8", "of two ends ours");

	at = begin(RTM_DELADDR, &(struct ifaddrmsg){ .ifa_family = AF_INET },
		   sizeof(struct ifaddrmsg));
	put(IFA_LOCAL, (unsigned char[]){ 192, 0, 2, 9 }, 4);
	end(at);
	is_parsed(0, "", "one that goes is not told as ours");

	at = begin(RTM_NEWADDR, &unix_family, sizeof(unix_family));
	put(IFA_LOCAL, "abcd", 4);
	end(at);
	is_parsed(0, "", "of no family that we know");
	add_address(AF_INET6, IFA_ADDRESS, "2001:db8::1");
	((struct rtattr *)(bytes + sizeof(struct nlmsghdr) + sizeof(struct ifaddrmsg)))->rta_len =
		8;
	is_parsed(0, "", "too short for its family");
	end(begin(NLMSG_ERROR, &error, sizeof(error)));
	is_parsed(-1, "", "a refusal");
}

static void is_counted(int result, uint64_t udp, uint64_t other, const char *name)
{
	struct ab_counters c = { 0 };

	ok(ab_counters_parse(bytes, used, &c) == result, "%s", name);
	ok(c.udp == udp && c.other == other, "%s: %llu %llu", name, (unsigned long long)c.udp,
	   (unsigned long long)c.other);
	used = 0;
}

static void check_counters(void)
{
	struct nlmsgerr error = { .error = -ENOENT };

	is_counted(0, 0, 0, "nothing");
	add_counter("udp", 7);
	add_counter("other", 1ULL << 40);
	add_counter("udpx", 9);
	add_done();
	is_counted(1, 7, 1ULL << 40, "two, and one that is none of ours");
	end(begin(NLMSG_ERROR, &error, sizeof(error)));
	is_counted(-1, 0, 0, "a refusal");
}

#define SNMP(routes, ports)                                                          \
	"Ip: Forwarding InDiscards OutNoRoutes OutNoRoutesX\nIp: 2 9 " routes " 5\n" \
	"Icmp: InMsgs OutNoRoutes\nIcmp: 3 7\n"                                      \
	"Udp: InDatagrams NoPorts InErrors\nUdp: 4 " ports " 6\n"

static const struct {
	const char *text;
	bool far, local; /* with a resolver elsewhere, and with a local one */
	const char *name;
} attempts[] = {
	{ "", false, false, "no counters" },
	{ SNMP("0", "0"), false, false, "counters of 0, beside others that are not" },
	{ SNMP("1", "0"), true, true, "a packet without a route" },
	{ SNMP("0", "12"), false, true, "a datagram to a closed port" },
	{ "Ip6InReceives  \t1\nIp6OutNoRoutes  \t0\n", false, false, "nothing over IPv6" },
	{ "Ip6InReceives  \t1\nIp6OutNoRoutes  \t2\n", true, true, "a packet over IPv6" },
	{ "Udp6InDatagrams \t1\nUdp6NoPorts \t3\n", false, true, "a datagram over IPv6" },
	{ "Ip: Forwarding OutNoRoutes", false, false, "names without a line of values" },
	{ "Ip: Forwarding OutNoRoutes\nIp: 2", false, false, "too few values" },
};

static const struct {
	const char *text;
	bool local;
} resolvers[] = {
	{ "", true },
	{ "# nothing\nsearch example.org\n", true },
	{ "nameserver 127.0.0.53\noptions edns0\n", true },
	{ "search x\nnameserver\t::1", true },
	{ "nameserver 192.0.2.53\nnameserver 127.0.0.1\n", false },
	{ "nameserver 2001:db8::53\n", false },
};

static void check_attempts(void)
{
	for (size_t i = 0; i < AB_COUNT(attempts); i++) {
		const char *text = attempts[i].text;

		ok(ab_counters_unrouted(text, false) == attempts[i].far &&
			   ab_counters_unrouted(text, true) == attempts[i].local,
		   "attempts: %s", attempts[i].name);
	}
	for (size_t i = 0; i < AB_COUNT(resolvers); i++)
		ok(ab_resolver_is_local(resolvers[i].text) == resolvers[i].local, "resolver %zu",
		   i);
}

/* Every beginning of an answer, with nothing readable behind it. */
static void check_cuts(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *map =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool fine = true;

	mprotect(map + 2 * page, page, PROT_NONE);
	add_address(AF_INET, IFA_LOCAL, "192.0.2.1");
	add_counter("udp", 7);
	add_address(AF_INET6, IFA_ADDRESS, "2001:db8::1");
	add_counter("other", 8);
	add_done();
	/* Headers are aligned to four bytes, so the end is what is cut. */
	for (size_t n = 0; n <= used; n++) {
		char *at = map + 2 * page - NLMSG_ALIGN(n);
		struct ab_own own = { 0 };
		struct ab_counters c = { 0 };

		memcpy(at, bytes, n);
		fine &= ab_own_parse(at, n, &own) == (n == used);
		fine &= ab_counters_parse(at, n, &c) == (n == used);
		fine &= own.len <= 2;
		/* One message that says it is all of it, odd or not. */
		if (n >= sizeof(struct nlmsghdr)) {
			uint32_t whole = (uint32_t)n;

			memcpy(at, &whole, sizeof(whole));
			fine &= ab_own_parse(at, n, &own) == 0;
			fine &= ab_counters_parse(at, n, &c) == 0;
		}
		ab_own_fini(&own);
	}
	ok(fine, "cut at every byte it waits for more");
	/* Lengths that lie. */
	for (size_t i = 0; i + 2 <= used; i += 2)
		for (int v = -1; v <= (int)used + 4; v++) {
			uint16_t lie = (uint16_t)v;
			char *at = map + 2 * page - used;
			struct ab_own own = { 0 };
			struct ab_counters c = { 0 };

			memcpy(at, bytes, used);
			memcpy(at + i, &lie, 2);
			ab_own_parse(at, used, &own);
			ab_counters_parse(at, used, &c);
			fine &= own.len <= 2;
			ab_own_fini(&own);
		}
	ok(fine, "lengths that lie add nothing");
	munmap(map, 3 * page);
	used = 0;
}

static bool has(const struct ab_own *own, const char *text)
{
	ab_autofree char *all = list(own);
	ab_autofree char *padded = ab_printf(" %s ", all);
	ab_autofree char *wanted = ab_printf(" %s ", text);

	return strstr(padded, wanted) != NULL;
}

static void set_address(const char *device, const char *text)
{
	struct ifreq req = { 0 };
	struct sockaddr_in *at = (struct sockaddr_in *)&req.ifr_addr;
	ab_autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", device);
	at->sin_family = AF_INET;
	inet_pton(AF_INET, text, &at->sin_addr);
	if (ioctl(fd, SIOCSIFADDR, &req) < 0)
		perror("SIOCSIFADDR");
}

static void check_machine(void)
{
	struct ab_own own = { 0 };
	struct ab_error err = { 0 };
	int fd = ab_own_open(&err);

	ok(fd >= 0, "the kernel can be asked %s", err.text);
	ok(ab_own_read(fd, &own, &err) == 0, "and answers %s", err.text);
	ok(own.len == 0, "a new namespace has no address");
	ok(!readable(fd, 0), "nothing is news");
	ab_loopback_up(&err);
	ok(readable(fd, 30000), "an address that comes is");
	ok(ab_own_read(fd, &own, &err) == 0 && has(&own, "127.0.0.1"), "it is there");
	set_address("lo:1", "192.0.2.77");
	ok(ab_own_read(fd, &own, &err) == 0 && has(&own, "192.0.2.77") && has(&own, "127.0.0.1"),
	   "and the next one");
	ok(!readable(fd, 0), "reading forgets the news");
	close(fd);
	ok(ab_own_read(-1, &own, &err) < 0 && err.errnum == EBADF && has(&own, "192.0.2.77"),
	   "a failure leaves what was known");
	ab_own_fini(&own);
}

/* More news than the socket holds, and then more addresses than one part of
 * an answer has room for. */
static void check_flood(void)
{
	struct ab_own own = { 0 };
	struct ab_error err = { 0 };
	int fd = ab_own_open(&err), small = 1;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	for (int i = 0; i < 600; i++) {
		char name[16], text[16];

		snprintf(name, sizeof(name), "lo:%d", i + 2);
		snprintf(text, sizeof(text), "192.0.%d.%d", 3 + i / 200, 1 + i % 200);
		set_address(name, text);
	}
	ok(ab_own_read(fd, &own, &err) == 0, "news were lost %s", err.text);
	ok(own.len >= 600 && has(&own, "192.0.3.1") && has(&own, "192.0.5.200"),
	   "the answer is whole: %zu", own.len);
	ab_own_fini(&own);
	close(fd);
}

int main(void)
{
	check_addresses();
	check_counters();
	check_attempts();
	check_cuts();
	if (!enter_namespaces()) {
		lacks("the machine's", "no user namespaces");
		return done();
	}
	check_machine();
	check_flood();
	return done();
}
