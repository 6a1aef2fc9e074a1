#include "host/process/socket_owner.h"

#include <inttypes.h>

#include "proxy/record/events.h"

enum { LISTEN = 0x0a }; /* TCP_LISTEN */

/* "0100007F": words of four bytes, each printed in this machine's byte order. */
static bool parse_address(const char *digits, struct ab_socket_owner_socket *ret)
{
	size_t len = strlen(digits);
	uint32_t bytes;

	for (size_t i = 0; i < len / 8; i++) {
		sscanf(digits + 8 * i, "%8" SCNx32, &bytes);
		memcpy(ret->addr + 4 * i, &bytes, sizeof(bytes));
	}
	ret->v6 = len == 32;
	return len == 8 || len == 32;
}

static void unmap_ipv4(struct ab_socket_owner_socket *s)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (!s->v6 || memcmp(s->addr, mapped, sizeof(mapped)) != 0)
		return;
	s->v6 = false;
	memcpy(s->addr, s->addr + 12, 4);
	memset(s->addr + 4, 0, 12);
}

bool ab_socket_owner_parse_socket(const char *line, size_t len, struct ab_socket_owner_socket *ret)
{
	struct ab_socket_owner_socket s = { 0 };
	char text[256], address[33], port[5], state[3], inode[20], behind = '\n';

	snprintf(text, sizeof(text), "%.*s", (int)(len < sizeof(text) ? len : sizeof(text)), line);
	/* number: address:port remote state queues timer retransmissions uid timeout inode */
	if (sscanf(text,
		   " %*10[0-9]: %32[0-9A-Fa-f]:%4[0-9A-Fa-f]%*1[ ]%*s %2[0-9A-Fa-f]%*1[ ]"
		   "%*s %*s %*s %*s %*s %19[0-9]%c",
		   address, port, state, inode, &behind) < 4 ||
	    (behind != ' ' && behind != '\n') || !parse_address(address, &s))
		return false;
	s.port = (uint16_t)strtoul(port, NULL, 16);
	s.inode = strtoull(inode, NULL, 10);
	s.state = (uint8_t)strtoul(state, NULL, 16);
	s.listens = s.state == LISTEN;
	unmap_ipv4(&s);
	*ret = s;
	return true;
}

bool ab_socket_owner_is_end(const struct ab_socket_owner_socket *socket, const struct ab_peer *peer)
{
	static const uint8_t any[16];
	struct ab_socket_owner_socket want = { .v6 = peer->v6 };
	bool same;

	memcpy(want.addr, peer->addr, peer->v6 ? 16 : 4);
	unmap_ipv4(&want);
	same = socket->v6 == want.v6 && memcmp(socket->addr, want.addr, sizeof(any)) == 0;
	/* A datagram socket may have no address of its own; one of IPv6 can send to IPv4 then. */
	if (peer->udp && memcmp(socket->addr, any, sizeof(any)) == 0)
		same = socket->v6 || !want.v6;
	return !socket->listens && socket->inode && socket->port == peer->port && same;
}

bool ab_socket_owner_parse_status(const char *text, size_t len, pid_t *ret_inner, pid_t *ret_parent)
{
	ab_autofree char *copy = ab_printf("\n%.*s", (int)len, text);
	const char *numbers = strstr(copy, "\nNSpid:"), *above = strstr(copy, "\nPPid:");
	char inner[10], parent[10], behind = '\n';

	if (!numbers || !above || sscanf(above, "\nPPid:%*[\t ]%9[0-9]", parent) != 1 ||
	    sscanf(numbers, "\nNSpid:%*[\t ]%9[0-9]%c", inner, &behind) < 1 || !ab_is_space(behind))
		return false;
	/* It has a number for each namespace: ours, the box's, and those that were made in it. */
	if (behind == '\t' && sscanf(numbers, "\nNSpid:%*[\t ]%*9[0-9]%*1[\t]%9[0-9]", inner) != 1)
		return false;
	*ret_inner = (pid_t)strtol(inner, NULL, 10);
	*ret_parent = (pid_t)strtol(parent, NULL, 10);
	return true;
}

void ab_socket_owner_argv(const char *text, size_t len, bool more, struct ab_buf *b)
{
	const char *at = text, *end;
	size_t words = 0;

	if (len > AB_OWNER_ARGV) {
		len = AB_OWNER_ARGV;
		more = true;
	}
	end = text + len;
	ab_buf_puts(b, "[");
	while (at < end && words < AB_OWNER_WORDS) {
		const char *stop = memchr(at, '\0', (size_t)(end - at));

		ab_buf_puts(b, words++ ? "," : "");
		ab_buf_json_n(b, at, (size_t)((stop ? stop : end) - at));
		at = stop ? stop + 1 : end;
	}
	if (more || at < end)
		ab_buf_puts(b, words ? ",\"...\"" : "\"...\"");
	ab_buf_puts(b, "]");
}

void ab_socket_owner_describe(pid_t pid, const char *exe, const char *text, size_t len, bool more,
			      struct ab_buf *b)
{
	ab_buf_jsonf(b, "{'pid':%d,'exe':%s,'argv':", pid, exe);
	ab_socket_owner_argv(text, len, more, b);
	ab_buf_puts(b, "}");
}
