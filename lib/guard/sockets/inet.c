#include "guard/sockets/inet.h"

#include "base/data/addr.h"
#include "base/text/units.h"
#include "host/process/socket_owner.h"

static const uint8_t any[16], loop6[16] = { [15] = 1 };
static const uint8_t loop4[4] = { 127, 0, 0, 1 };

socklen_t ab_inet_write(const struct ab_destination *at, int family, struct sockaddr_storage *ret)
{
	uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff };
	struct ab_sockaddr to;

	memset(ret, 0, sizeof(*ret));
	if (family == AF_INET && at->v6)
		return 0;
	memcpy(mapped + 12, at->addr, 4);
	to = ab_sockaddr(family != AF_INET, at->v6 || family == AF_INET ? at->addr : mapped,
			 at->port);
	memcpy(ret, &to.v6, to.len);
	return to.len;
}

static bool is_any(const struct ab_destination *at)
{
	return memcmp(at->addr, any, at->v6 ? 16 : 4) == 0;
}

bool ab_inet_is_loopback(const struct ab_destination *at)
{
	return is_any(at) || (at->v6 ? memcmp(at->addr, loop6, 16) == 0 : at->addr[0] == 127);
}

void ab_inet_normalize(struct ab_destination *at)
{
	if (is_any(at))
		memcpy(at->addr, at->v6 ? loop6 : loop4, at->v6 ? 16 : 4);
}

bool ab_inet_equal(const struct ab_destination *a, const struct ab_destination *b)
{
	return a->v6 == b->v6 && a->port == b->port &&
	       memcmp(a->addr, b->addr, a->v6 ? 16 : 4) == 0;
}

bool ab_inet_serves(const struct ab_socket_owner_socket *line, const struct ab_destination *to)
{
	if (line->port != to->port)
		return false;
	/* An IPv6 socket without an address of its own takes IPv4, too. In doubt it does. */
	if (memcmp(line->addr, any, line->v6 ? 16 : 4) == 0)
		return line->v6 || !to->v6;
	return line->v6 == to->v6 && memcmp(line->addr, to->addr, to->v6 ? 16 : 4) == 0;
}

static bool is_host_port(const struct ab_inet_terms *terms, uint16_t port)
{
	for (size_t i = 0; i < terms->nhost_ports; i++)
		if (terms->host_ports[i] == port)
			return true;
	return false;
}

enum ab_inet_way ab_inet_judge(const struct ab_inet_terms *terms, bool stream,
			       const struct ab_destination *to, bool own)
{
	bool inside = ab_inet_is_loopback(to);

	if (inside && own)
		return AB_WAY_OWN;
	if (to->port == AB_PORT_DNS && terms->filtered)
		return AB_WAY_NAMES;
	if (!inside)
		return stream && terms->filtered ? AB_WAY_PROXY : AB_WAY_NO_NETWORK;
	if (stream && terms->filtered && to->port == AB_PORT_DOOR)
		return AB_WAY_DOOR;
	if (stream && terms->filtered && is_host_port(terms, to->port))
		return AB_WAY_HOST_PORT;
	return AB_WAY_NO_SERVER;
}

/* The next word; false: there is none. */
static bool next_word(const char **at, const char *end, const char **ret, size_t *ret_len)
{
	while (*at < end && **at == ' ')
		(*at)++;
	*ret = *at;
	while (*at < end && **at != ' ')
		(*at)++;
	*ret_len = (size_t)(*at - *ret);
	return *ret_len > 0;
}

static bool is_name(const char *shown, size_t len, const char *name, size_t name_len)
{
	if (len != name_len + 1 || shown[0] != '@')
		return false;
	for (size_t i = 0; i < name_len; i++)
		if (shown[i + 1] != (name[i] ? name[i] : '@'))
			return false;
	return true;
}

uint64_t ab_inet_unix_listener(const char *line, size_t len, const char *name, size_t name_len)
{
	/* Num RefCount Protocol Flags Type St Inode Path */
	enum { FLAGS = 3, INODE = 6, WORDS = 7 };
	const char *at = line, *end = line + len, *word[WORDS];
	size_t lens[WORDS];
	uint64_t inode = 0;

	for (int i = 0; i < WORDS; i++)
		if (!next_word(&at, end, &word[i], &lens[i]))
			return 0;
	if (at == end || !is_name(at + 1, (size_t)(end - at) - 1, name, name_len))
		return 0;
	if (lens[FLAGS] != 8 || memcmp(word[FLAGS], "00010000", 8) != 0)
		return 0;
	return ab_parse_digits(word[INODE], lens[INODE], &inode) ? inode : 0;
}
