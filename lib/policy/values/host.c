#include "policy/values/host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/text/ascii.h"
#include "policy/values/complaint.h"

static bool is_ldh(char c)
{
	return ab_is_digit(c) || (c >= 'a' && c <= 'z') || c == '-';
}

/* One part of an IPv4 address as inet_aton reads it; lower case. */
static bool parse_ipv4_part(const char *s, size_t len, uint64_t *ret)
{
	unsigned base = 10;
	uint64_t n = 0;

	if (len > 2 && s[0] == '0' && s[1] == 'x') {
		base = 16;
		s += 2;
		len -= 2;
	} else if (len > 1 && s[0] == '0') {
		base = 8;
		s++;
		len--;
	}
	if (len == 0)
		return false;
	for (; len > 0; s++, len--) {
		int digit = ab_hex(*s);

		if (digit < 0 || (unsigned)digit >= base)
			return false;
		n = n * base + (unsigned)digit;
		if (n > UINT32_MAX)
			return false;
	}
	*ret = n;
	return true;
}

static bool parse_ipv4(const char *s, uint8_t addr[4])
{
	uint64_t sum = 0, part;
	unsigned parts = 0;

	for (;;) {
		size_t n = strcspn(s, ".");
		bool last = s[n] == '\0';

		if (++parts > 4 || !parse_ipv4_part(s, n, &part))
			return false;
		if (last) {
			/* The last part fills the remaining bytes. */
			unsigned bits = 8 * (5 - parts);

			if (part >> bits)
				return false;
			sum = sum << bits | part;
			break;
		}
		if (part > 255)
			return false;
		sum = sum << 8 | part;
		s += n + 1;
	}
	for (int i = 0; i < 4; i++)
		addr[i] = (uint8_t)(sum >> (24 - 8 * i));
	return true;
}

/* The IPv4 address that an IPv6 address wraps: ::ffff:0:0/96 and 64:ff9b::/96
 * reach the same host. */
static const uint8_t *find_wrapped_ipv4(const uint8_t a[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const uint8_t nat64[12] = { 0x00, 0x64, 0xff, 0x9b };

	if (memcmp(a, mapped, 12) == 0 || memcmp(a, nat64, 12) == 0)
		return a + 12;
	return NULL;
}

static void set_ipv4(struct ab_host *h, const uint8_t addr[4])
{
	memcpy(h->addr, addr, 4);
	h->kind = AB_HOST_IPV4;
	snprintf(h->text, sizeof(h->text), "%u.%u.%u.%u", addr[0], addr[1], addr[2], addr[3]);
}

void ab_host_from_addr(bool v6, const uint8_t *addr, struct ab_host *ret_host)
{
	const uint8_t *v4 = v6 ? find_wrapped_ipv4(addr) : addr;
	struct ab_host h = { .kind = AB_HOST_IPV6 };

	if (v4) {
		set_ipv4(&h, v4);
	} else {
		memcpy(h.addr, addr, 16);
		inet_ntop(AF_INET6, h.addr, h.text, sizeof(h.text));
	}
	*ret_host = h;
}

static bool set_ipv6(struct ab_host *h, const char *s)
{
	uint8_t addr[16];

	if (inet_pton(AF_INET6, s, addr) != 1)
		return false;
	ab_host_from_addr(true, addr, h);
	return true;
}

/* Check the labels of a lower-case name. *ret_numeric: the last one is a number,
 * so resolvers would read the whole as an address. */
static bool check_labels(const char *s, bool *ret_numeric)
{
	for (;;) {
		size_t n = strcspn(s, ".");
		uint64_t number;

		if (n == 0 || n > 63 || s[0] == '-' || s[n - 1] == '-')
			return false;
		for (size_t i = 0; i < n; i++)
			if (!is_ldh(s[i]))
				return false;
		if (s[n] == '.') {
			s += n + 1;
			continue;
		}
		*ret_numeric = strspn(s, "0123456789") == n || parse_ipv4_part(s, n, &number) ||
			       (n >= 2 && s[0] == '0' && s[1] == 'x' &&
				strspn(s + 2, "0123456789abcdef") == n - 2);
		return true;
	}
}

static bool parse_host(const char *s, size_t len, struct ab_host *h)
{
	char name[AB_HOST_TEXT + 1];
	bool numeric;

	memset(h, 0, sizeof(*h));
	if (len >= 2 && s[0] == '[' && s[len - 1] == ']') {
		s++;
		len -= 2;
		if (!memchr(s, ':', len))
			return false;
	}
	if (len == 0 || len >= sizeof(name) || memchr(s, '\0', len))
		return false;
	for (size_t i = 0; i < len; i++)
		name[i] = (char)ab_lower(s[i]);
	name[len] = '\0';
	if (memchr(name, ':', len))
		return set_ipv6(h, name);
	if (name[len - 1] == '.')
		name[--len] = '\0';
	if (len == 0 || len > 253 || !check_labels(name, &numeric))
		return false;
	if (numeric) {
		uint8_t addr[4];

		if (!parse_ipv4(name, addr))
			return false;
		set_ipv4(h, addr);
		return true;
	}
	h->kind = AB_HOST_NAME;
	memcpy(h->text, name, len + 1);
	return true;
}

int ab_host_parse(const char *s, size_t len, struct ab_host *ret_host, struct ab_complaint *why)
{
	struct ab_host h;

	if (!parse_host(s, len, &h))
		return ab_host_explain(s, len, why);
	*ret_host = h;
	return 0;
}
