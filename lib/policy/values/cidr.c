#include "policy/values/cidr.h"

#include <arpa/inet.h>

#include "base/text/units.h"
#include "policy/values/complaint.h"
#include "policy/values/host.h"

/* Clear the bits after the prefix; false if one was set. */
static bool clear_host_bits(struct ab_cidr *c)
{
	unsigned size = c->v6 ? 16 : 4;
	bool clean = true;

	for (unsigned i = 0; i < size; i++) {
		unsigned from = i * 8;
		uint8_t keep = from >= c->bits	     ? 0
			       : c->bits - from >= 8 ? 0xff
						     : (uint8_t)(0xff00 >> (c->bits - from));

		clean = clean && !(c->addr[i] & (uint8_t)~keep);
		c->addr[i] &= keep;
	}
	return clean;
}

static bool parse_cidr(const char *s, size_t len, struct ab_cidr *c, bool *ret_clean)
{
	const char *slash, *colon = memrchr(s, ':', len);
	struct ab_host host;
	uint64_t bits;

	memset(c, 0, sizeof(*c));
	if (len > 0 && s[0] == '[') {
		const char *close = memchr(s, ']', len);
		size_t rest;

		if (!close)
			return false;
		rest = len - (size_t)(close + 1 - s);
		if (rest > 0 && (close[1] != ':' || !ab_port_parse(close + 2, rest - 1, &c->port)))
			return false;
		s++;
		len = (size_t)(close - s);
	} else if (colon && memchr(s, ':', len) == colon) {
		if (!ab_port_parse(colon + 1, len - (size_t)(colon + 1 - s), &c->port))
			return false;
		len = (size_t)(colon - s);
	}
	slash = memchr(s, '/', len);
	if (ab_host_parse(s, slash ? (size_t)(slash - s) : len, &host, NULL) < 0 ||
	    host.kind == AB_HOST_NAME)
		return false;
	c->v6 = host.kind == AB_HOST_IPV6;
	memcpy(c->addr, host.addr, sizeof(c->addr));
	bits = c->v6 ? 128 : 32;
	if (slash) {
		bool wrapped = !c->v6 && memchr(s, ':', (size_t)(slash - s));
		uint64_t most = wrapped ? 128 : bits;
		size_t n = len - (size_t)(slash + 1 - s);

		if (n > 5 || !ab_parse_digits(slash + 1, n, &bits) || bits > most)
			return false;
		/* ::ffff:10.0.0.0/104 is 10.0.0.0/8; a shorter prefix would
		 * include addresses that are not wrapped. */
		if (wrapped && bits < 96)
			return false;
		bits -= wrapped ? 96 : 0;
	}
	c->bits = (uint8_t)bits;
	*ret_clean = clear_host_bits(c);
	return true;
}

int ab_cidr_parse(const char *s, size_t len, struct ab_cidr *ret_cidr, struct ab_complaint *why)
{
	ab_autofree char *text = NULL;
	char buf[AB_CIDR_TEXT];
	struct ab_cidr c;
	bool clean;

	if (parse_cidr(s, len, &c, &clean) && clean) {
		*ret_cidr = c;
		return 0;
	}
	if (!why)
		return -1;
	text = ab_strndup(s, len);
	if (!parse_cidr(s, len, &c, &clean))
		return ab_complaint_value(why, text, "is not an address range",
					  "use one like 10.1.2.0/24 or 10.1.2.3:5432");
	ab_cidr_format(&c, buf);
	return ab_complaint_value(why, text, "has address bits after its prefix", "use \"%s\"",
				  buf);
}

void ab_cidr_format(const struct ab_cidr *c, char buf[AB_CIDR_TEXT])
{
	char addr[INET6_ADDRSTRLEN] = "";
	bool bracket = c->v6 && c->port;
	int n;

	inet_ntop(c->v6 ? AF_INET6 : AF_INET, c->addr, addr, sizeof(addr));
	n = snprintf(buf, AB_CIDR_TEXT, "%s%s/%u%s", bracket ? "[" : "", addr, c->bits,
		     bracket ? "]" : "");
	if (c->port)
		snprintf(buf + n, AB_CIDR_TEXT - (size_t)n, ":%u", c->port);
}

bool ab_same_prefix(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (memcmp(a, b, whole) != 0)
		return false;
	return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

bool ab_cidr_has(const struct ab_cidr *c, const struct ab_host *host, uint16_t port)
{
	if (host->kind == AB_HOST_NAME || c->v6 != (host->kind == AB_HOST_IPV6))
		return false;
	return (!c->port || c->port == port) && ab_same_prefix(c->addr, host->addr, c->bits);
}
