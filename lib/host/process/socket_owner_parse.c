#include "host/process/socket_owner.h"

#include "proxy/record/events.h"

enum { LISTEN = 0x0a }; /* TCP_LISTEN */

struct cursor {
	const char *at, *end;
};

static void skip_blanks(struct cursor *c)
{
	while (c->at < c->end && ab_is_blank(*c->at))
		c->at++;
}

static void skip_word(struct cursor *c)
{
	skip_blanks(c);
	while (c->at < c->end && !ab_is_blank(*c->at))
		c->at++;
}

static bool skip_byte(struct cursor *c, char byte)
{
	if (c->at == c->end || *c->at != byte)
		return false;
	c->at++;
	return true;
}

/* Up to `most` digits, at least one; *ret_len says how many. */
static bool parse_number(struct cursor *c, int base, size_t most, uint64_t *ret, size_t *ret_len)
{
	uint64_t n = 0;
	size_t len = 0;

	for (; c->at < c->end; c->at++) {
		int digit = ab_hex(*c->at);

		if (digit < 0 || digit >= base)
			break;
		if (len++ == most)
			return false;
		n = n * (uint64_t)base + (uint64_t)digit;
	}
	*ret = n;
	if (ret_len)
		*ret_len = len;
	return len > 0;
}

/* "0100007F:1F90": words of four bytes, each printed in this machine's byte order. */
static bool parse_address(struct cursor *c, struct ab_socket_owner_socket *ret)
{
	size_t words = 0;
	uint64_t n;

	while (words < 4 && c->end - c->at >= 8 && *c->at != ':') {
		struct cursor word = { c->at, c->at + 8 };
		uint32_t bytes;

		if (!parse_number(&word, 16, 8, &n, NULL) || word.at != word.end)
			return false;
		bytes = (uint32_t)n;
		memcpy(ret->addr + 4 * words++, &bytes, 4);
		c->at += 8;
	}
	ret->v6 = words == 4;
	if ((words != 1 && words != 4) || !skip_byte(c, ':') || !parse_number(c, 16, 4, &n, NULL))
		return false;
	ret->port = (uint16_t)n;
	return true;
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
	struct cursor c = { line, line + len };
	struct ab_socket_owner_socket s = { 0 };
	uint64_t n;

	skip_blanks(&c);
	if (!parse_number(&c, 10, 10, &n, NULL) || !skip_byte(&c, ':'))
		return false;
	skip_blanks(&c);
	if (!parse_address(&c, &s))
		return false;
	skip_word(&c); /* the remote address */
	skip_blanks(&c);
	if (!parse_number(&c, 16, 2, &n, NULL))
		return false;
	s.listens = n == LISTEN;
	s.state = (uint8_t)n;
	/* queues, timer, retransmissions, uid, timeout */
	for (int i = 0; i < 5; i++)
		skip_word(&c);
	skip_blanks(&c);
	if (!parse_number(&c, 10, 19, &s.inode, NULL) ||
	    (c.at < c.end && *c.at != ' ' && *c.at != '\n'))
		return false;
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

/* The number `which` after "key:" at the start of a line, or the last one if it has fewer. */
static bool read_number_of(const char *text, size_t len, const char *key, size_t which, pid_t *ret)
{
	size_t n = strlen(key);
	const char *end = text + len;
	bool found = false;

	for (const char *line = text; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		struct cursor c = { line, stop ? stop : end };
		uint64_t value;

		line = c.end + (stop != NULL);
		if ((size_t)(c.end - c.at) < n || memcmp(c.at, key, n) != 0)
			continue;
		c.at += n;
		skip_blanks(&c);
		for (size_t i = 0; i <= which && c.at < c.end; i++) {
			if (!parse_number(&c, 10, 9, &value, NULL))
				return false;
			*ret = (pid_t)value;
			found = true;
			skip_blanks(&c);
		}
		return found;
	}
	return false;
}

bool ab_socket_owner_parse_status(const char *text, size_t len, pid_t *ret_inner, pid_t *ret_parent)
{
	/* NSpid has a number for each namespace: ours, the box's, and those that were made in it. */
	enum { IN_OURS, IN_BOX };
	pid_t inner, parent;

	if (!read_number_of(text, len, "NSpid:", IN_BOX, &inner) ||
	    !read_number_of(text, len, "PPid:", IN_OURS, &parent))
		return false;
	*ret_inner = inner;
	*ret_parent = parent;
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
