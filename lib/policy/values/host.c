#include "policy/values/host.h"

#include <arpa/inet.h>

#include "base/text/units.h"
#include "policy/values/cidr.h"
#include "policy/values/complaint.h"
#include "policy/values/idna.h"

bool ab_host_char(int c)
{
	return ab_is_alnum(c) || c == '-' || c == '_';
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

		if (n == 0 || n > 63 || s[0] == '-' || s[n - 1] == '-')
			return false;
		for (size_t i = 0; i < n; i++)
			if (!ab_host_char(s[i]))
				return false;
		if (s[n] == '.') {
			s += n + 1;
			continue;
		}
		*ret_numeric = strspn(s, "0123456789") == n ||
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
		struct in_addr addr;

		if (inet_aton(name, &addr) == 0)
			return false;
		set_ipv4(h, (const uint8_t *)&addr);
		return true;
	}
	h->kind = AB_HOST_NAME;
	memcpy(h->text, name, len + 1);
	return true;
}

/* The same for a host with letters outside ASCII. Returns -1. */
static int explain_letters(const char *text, const char *host, size_t n, struct ab_complaint *why)
{
	const char *reason = NULL;
	char name[AB_IDNA_TEXT];

	if (ab_idna_fold(host, n, name, &reason) == 0)
		reason = "it has other mistakes";
	return ab_complaint_value(why, text, "is not a host",
				  "%s; use the name in its ASCII form (xn--...)", reason);
}

/* Explain why this is not a host, and what was probably meant. Returns -1. */
static int explain_host(const char *s, size_t len, struct ab_complaint *why)
{
	ab_autofree char *text = NULL;
	struct ab_host_entry e;
	const char *host;
	size_t n;

	if (!why)
		return -1;
	text = ab_strndup(s, len);
	if (strcmp(text, "*") == 0)
		return ab_complaint_value(why, text, "is not a host",
					  "for an open network use \"mode\": \"allowed\"");
	host = strstr(text, "://");
	host = host ? host + 3 : text;
	n = strcspn(host, "/?#");
	if (memchr(host, '@', n)) {
		const char *at = memrchr(host, '@', n);

		n -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	/* n < len: the text got shorter, so this recursion ends. */
	if (n > 0 && n < len && ab_host_entry_parse(host, n, &e, NULL) == 0) {
		char buf[AB_HOST_ENTRY_TEXT];

		ab_host_entry_format(&e, buf);
		return ab_complaint_value(why, text, "is not a host", "use \"%s\"", buf);
	}
	if (ab_idna_needed(host, n))
		return explain_letters(text, host, n, why);
	return ab_complaint_value(why, text, "is not a host",
				  "use a name (github.com), *.name, or an address");
}

int ab_host_parse(const char *s, size_t len, struct ab_host *ret_host, struct ab_complaint *why)
{
	struct ab_host h;

	if (!parse_host(s, len, &h))
		return explain_host(s, len, why);
	*ret_host = h;
	return 0;
}

/* The ports of an allowing entry without a port: http, https, ssh. */
static const uint16_t usual_ports[] = { 80, 443, 22 };

bool ab_port_usual(uint16_t port)
{
	for (size_t i = 0; i < AB_COUNT(usual_ports); i++)
		if (usual_ports[i] == port)
			return true;
	return false;
}

bool ab_port_parse(const char *s, size_t len, uint16_t *ret_port)
{
	uint64_t n;

	if (len > 5 || !ab_parse_digits(s, len, &n) || n == 0 || n > 65535)
		return false;
	*ret_port = (uint16_t)n;
	return true;
}

uint8_t ab_host_bits(const struct ab_host *host)
{
	static const uint8_t bits[] = {
		[AB_HOST_NAME] = 0, [AB_HOST_IPV4] = 32, [AB_HOST_IPV6] = 128
	};

	return bits[host->kind];
}

/* Is it an address, "/" and a digit, valid or not? */
static bool looks_like_range(const char *s, size_t len)
{
	const char *slash = memchr(s, '/', len);
	size_t skip = len > 0 && s[0] == '[';
	struct ab_host h;

	return slash && slash + 1 < s + len && slash[1] >= '0' && slash[1] <= '9' &&
	       (size_t)(slash - s) > skip &&
	       ab_host_parse(s + skip, (size_t)(slash - s) - skip, &h, NULL) == 0 &&
	       h.kind != AB_HOST_NAME;
}

static int parse_range(const char *s, size_t len, struct ab_host_entry *ret_entry,
		       struct ab_complaint *why)
{
	struct ab_host_entry e = { .below = false };
	struct ab_cidr c;

	if (ab_cidr_parse(s, len, &c, why) < 0)
		return -1;
	ab_host_from_addr(c.v6, c.addr, &e.host);
	e.bits = c.bits;
	e.port = c.port;
	*ret_entry = e;
	return 0;
}

int ab_host_entry_parse(const char *s, size_t len, struct ab_host_entry *ret_entry,
			struct ab_complaint *why)
{
	struct ab_host_entry e = { .port = 0 };
	const char *host = s, *colon = memrchr(s, ':', len), *reason;
	char ascii[AB_IDNA_TEXT];
	size_t n = len;

	if (looks_like_range(s, len))
		return parse_range(s, len, ret_entry, why);
	/* The colon before a port: after the bracket, or the only one. */
	if (colon && ((len > 0 && s[0] == '[' && colon > s && colon[-1] == ']') ||
		      memchr(s, ':', len) == colon)) {
		n = (size_t)(colon - s);
		if (!ab_port_parse(colon + 1, len - n - 1, &e.port)) {
			ab_autofree char *text = NULL;

			if (!why || memmem(s, len, "://", 3))
				return explain_host(s, len, why);
			text = ab_strndup(s, len);
			return ab_complaint_value(why, text, "has an invalid port",
						  "use host:PORT, 1 to 65535");
		}
	}
	if (n > 2 && host[0] == '*' && host[1] == '.') {
		e.below = true;
		host += 2;
		n -= 2;
	}
	if (ab_idna_needed(host, n) && ab_idna_fold(host, n, ascii, &reason) == 0) {
		host = ascii;
		n = strlen(ascii);
	}
	if (ab_host_parse(host, n, &e.host, NULL) < 0 || (e.below && e.host.kind != AB_HOST_NAME))
		return explain_host(s, len, why);
	e.bits = ab_host_bits(&e.host);
	*ret_entry = e;
	return 0;
}

/* Nobody can register names below these: RFC 6761, 6762 and its appendix G, 9476, and the labels that
 * ICANN does not delegate. */
static const char *const private_labels[] = {
	"alt", "corp",	"example",     "home",	    "internal", "intranet", "invalid",
	"lan", "local", "localdomain", "localhost", "private",	"test",
};

int ab_host_entry_may_allow(const struct ab_host_entry *e, struct ab_complaint *why)
{
	char text[AB_HOST_ENTRY_TEXT];
	ab_autofree char *wrong = NULL;

	if (!e->below || strchr(e->host.text, '.') ||
	    ab_has_word(private_labels, AB_COUNT(private_labels), e->host.text))
		return 0;
	if (!why)
		return -1;
	ab_host_entry_format(e, text);
	wrong = ab_printf("allows every name below .%s, which is not reserved for private networks",
			  e->host.text);
	return ab_complaint_value(why, text, wrong, "use one like \"*.example.%s\"", e->host.text);
}

struct ab_host_entry ab_host_entry_of(const struct ab_host *host, uint16_t port)
{
	return (struct ab_host_entry){ .host = *host, .bits = ab_host_bits(host), .port = port };
}

struct ab_host_entry ab_host_entry_for(const struct ab_host *host, uint16_t port)
{
	return ab_host_entry_of(host, ab_port_usual(port) ? 0 : port);
}

void ab_host_entry_format(const struct ab_host_entry *e, char buf[AB_HOST_ENTRY_TEXT])
{
	bool bracket = e->host.kind == AB_HOST_IPV6 && e->port;
	char range[8] = "", port[8] = "";

	if (e->bits < ab_host_bits(&e->host))
		snprintf(range, sizeof(range), "/%u", e->bits);
	if (e->port)
		snprintf(port, sizeof(port), ":%u", e->port);
	snprintf(buf, AB_HOST_ENTRY_TEXT, "%s%s%s%s%s%s", e->below ? "*." : "", bracket ? "[" : "",
		 e->host.text, range, bracket ? "]" : "", port);
}

/* Is `name` strictly below `top`? */
static bool is_below(const char *name, const char *top)
{
	size_t n = strlen(name), m = strlen(top);

	return n > m + 1 && name[n - m - 1] == '.' && memcmp(name + n - m, top, m) == 0;
}

static bool same_host(const struct ab_host_entry *e, const struct ab_host *h)
{
	if (e->host.kind != h->kind)
		return false;
	if (e->below)
		return is_below(h->text, e->host.text);
	if (h->kind != AB_HOST_NAME)
		return ab_same_prefix(e->host.addr, h->addr, e->bits);
	return strcmp(e->host.text, h->text) == 0;
}

static bool has_port(const struct ab_host_entry *e, uint16_t port, bool denying)
{
	if (e->port || denying)
		return !e->port || e->port == port;
	return ab_port_usual(port);
}

bool ab_host_entry_allows(const struct ab_host_entry *e, const struct ab_host *host, uint16_t port)
{
	return same_host(e, host) && has_port(e, port, false);
}

bool ab_host_entry_denies(const struct ab_host_entry *e, const struct ab_host *host, uint16_t port)
{
	return same_host(e, host) && has_port(e, port, true);
}

/* Does a match every host that b matches? */
static bool covers_host(const struct ab_host_entry *a, const struct ab_host_entry *b)
{
	if (a->host.kind != b->host.kind)
		return false;
	if (a->host.kind != AB_HOST_NAME)
		return a->bits <= b->bits && ab_same_prefix(a->host.addr, b->host.addr, a->bits);
	if (a->below && is_below(b->host.text, a->host.text))
		return true;
	return a->below == b->below && strcmp(a->host.text, b->host.text) == 0;
}

static bool covers_port(char *const *entries, size_t n, const struct ab_host_entry *e,
			uint16_t port, bool denying)
{
	for (size_t i = 0; i < n; i++) {
		struct ab_host_entry base;

		if (ab_host_entry_parse(entries[i], strlen(entries[i]), &base, NULL) == 0 &&
		    covers_host(&base, e) && (port ? has_port(&base, port, denying) : !base.port))
			return true;
	}
	return false;
}

bool ab_hosts_cover(char *const *entries, size_t n, const char *text, bool denying)
{
	struct ab_host_entry e;

	if (ab_host_entry_parse(text, strlen(text), &e, NULL) < 0)
		return false;
	if (e.port || denying)
		return covers_port(entries, n, &e, e.port, denying);
	for (size_t i = 0; i < AB_COUNT(usual_ports); i++)
		if (!covers_port(entries, n, &e, usual_ports[i], false))
			return false;
	return true;
}
