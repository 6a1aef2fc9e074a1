#include "netns/counters.h"

#include <endian.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>

#include "netns/batch.h"
#include "netns/netlink.h"

#include "netns/messages_counters.h" /* generated */

static bool has_name(const struct rtattr *a, const char *name)
{
	size_t n = strlen(name) + 1;

	return RTA_PAYLOAD(a) >= n && memcmp(RTA_DATA(a), name, n) == 0;
}

static int add_counter(const struct nlmsghdr *head, void *counters_read)
{
	struct ab_counters *ret = counters_read;
	int skip = NLMSG_ALIGN(sizeof(struct nfgenmsg));
	const struct rtattr *attrs, *name, *data, *packets;
	int len = (int)NLMSG_PAYLOAD(head, 0);
	uint64_t n;

	if (len < skip)
		return 0;
	attrs = (const void *)((const char *)NLMSG_DATA(head) + skip);
	len -= skip;
	name = ab_netlink_attribute(attrs, len, NFTA_OBJ_NAME, 1);
	data = ab_netlink_attribute(attrs, len, NFTA_OBJ_DATA, 0);
	packets = data ? ab_netlink_attribute(RTA_DATA(data), (int)RTA_PAYLOAD(data),
					      NFTA_COUNTER_PACKETS, sizeof(n))
		       : NULL;
	if (!name || !packets)
		return 0;
	memcpy(&n, RTA_DATA(packets), sizeof(n));
	if (has_name(name, AB_NFT_UDP))
		ret->udp += be64toh(n);
	else if (has_name(name, AB_NFT_OTHER))
		ret->other += be64toh(n);
	return 0;
}

int ab_counters_parse(const void *data, size_t len, struct ab_counters *ret)
{
	return ab_netlink_parse(data, len, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWOBJ, add_counter,
				ret);
}

/* "Ip: Forwarding DefaultTTL ...", then "Ip: 2 64 ...": the value in the column of the name. */
static const char *find_column(const char *names, const char *name)
{
	size_t len = strcspn(names, "\n"), want = strlen(name);
	const char *values = names[len] ? names + len + 1 : names + len;

	for (; *names != '\n' && *names; names += strspn(names, " ")) {
		len = strcspn(names, " \n");
		if (len == want && memcmp(names, name, want) == 0)
			return values;
		names += len;
		values += strcspn(values, " \n");
		values += strspn(values, " ");
	}
	return "";
}

/* The value of a counter in its line of snmp (`column`) or snmp6; "" if the line has another one. */
static const char *find_value(const char *line, const char *prefix, const char *column)
{
	if (strncmp(line, prefix, strlen(prefix)) != 0)
		return "";
	line = column ? find_column(line, column) : line + strlen(prefix);
	return line + strspn(line, " \t");
}

bool ab_counters_unrouted(const char *text, bool local_resolver)
{
	static const struct {
		const char *prefix, *column;
		bool look_up;
	} attempts[] = {
		{ "Ip: ", "OutNoRoutes", false },
		{ "Ip6OutNoRoutes", NULL, false },
		{ "Udp: ", "NoPorts", true },
		{ "Udp6NoPorts", NULL, true },
	};

	for (; *text; text += *text == '\n') {
		for (size_t i = 0; i < AB_COUNT(attempts); i++) {
			char first = *find_value(text, attempts[i].prefix, attempts[i].column);

			if (first >= '1' && first <= '9' &&
			    (local_resolver || !attempts[i].look_up))
				return true;
		}
		text += strcspn(text, "\n");
	}
	return false;
}

bool ab_resolver_is_local(const char *text)
{
	static const char word[] = "nameserver";

	for (; *text; text += *text == '\n') {
		if (strncmp(text, word, strlen(word)) == 0) {
			const char *at = text + strlen(word);

			at += strspn(at, " \t");
			/* The first one is asked first. */
			return strncmp(at, "127.", 4) == 0 || strncmp(at, "::1", 3) == 0;
		}
		text += strcspn(text, "\n");
	}
	return true;
}

int ab_counters_read(int fd, struct ab_counters *ret, struct ab_error *err)
{
	struct ab_counters sum = { 0 };
	union {
		struct nlmsghdr head;
		char bytes[8192];
	} part;
	int r;

	ab_netlink_drain(fd);
	r = ab_netlink_send(fd, counters, sizeof(counters));
	while (r == 0) {
		ssize_t n = ab_netlink_recv(fd, &part, sizeof(part));

		r = n < 0 ? -1 : ab_counters_parse(&part, (size_t)n, &sum);
	}
	if (r < 0)
		return ab_fail(err, AB_ESYSTEM, errno,
			       "read the counters of the box's packet filter");
	*ret = sum;
	return 0;
}
