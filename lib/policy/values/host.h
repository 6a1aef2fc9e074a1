#pragma once
/*
 * Hosts. Bytes become a host once, here. Everything else (lists, resolver, SNI,
 * log) uses that value, so no two parsers can disagree about it.
 *
 * A name has labels of letters, digits, hyphens and underscores (which names in
 * private networks have), at most 63 bytes each and 253 together, in lower case,
 * without the trailing dot. Punycode is accepted,
 * other scripts are not, except in an entry, which a person writes (idna.h). An
 * address: every spelling that a resolver or inet_aton accepts (0x7f000001,
 * 0177.1, ::ffff:127.0.0.1, 64:ff9b::7f00:1) becomes the canonical address. If
 * the last label is a number, the text is an address or an error.
 *
 * Pure: no I/O; it allocates only for `why` (NULL: no reason wanted).
 */
#include "base/base.h"

struct ab_complaint;

enum ab_host_kind { AB_HOST_NAME, AB_HOST_IPV4, AB_HOST_IPV6 };

#define AB_HOST_TEXT 254

struct ab_host {
	enum ab_host_kind kind;
	uint8_t addr[16];	 /* IPv4 in the first four */
	char text[AB_HOST_TEXT]; /* canonical; IPv6 without brackets */
};

/* Parse one host without port: "github.com", "10.1", "::1", "[::1]". */
int ab_host_parse(const char *s, size_t len, struct ab_host *ret_host, struct ab_complaint *why);

bool ab_host_char(int c); /* may it be in a label, in any case? */

/* The same from an address in network order: 16 bytes if v6, else 4. A wrapped
 * IPv4 address is unwrapped. */
void ab_host_from_addr(bool v6, const uint8_t *addr, struct ab_host *ret_host);

/* One line of a list: "github.com", "*.x.y:443", "[::1]:8080", or a range of
 * addresses, "203.0.113.0/24:443". */
struct ab_host_entry {
	struct ab_host host; /* of a range: its first address */
	bool below;	     /* "*.": names strictly below host */
	uint8_t bits;	     /* of an address: the prefix length; of a name: 0 */
	uint16_t port;	     /* 0: none was given */
};

#define AB_HOST_ENTRY_TEXT (AB_HOST_TEXT + 16)

/* How long an address is; 0: it is a name. */
uint8_t ab_host_bits(const struct ab_host *host);

/* The entry for this host and nothing else. */
struct ab_host_entry ab_host_entry_of(const struct ab_host *host, uint16_t port);
/* The smallest entry that allows this; a usual port is not written. */
struct ab_host_entry ab_host_entry_for(const struct ab_host *host, uint16_t port);
int ab_host_entry_parse(const char *s, size_t len, struct ab_host_entry *ret_entry,
			struct ab_complaint *why);
void ab_host_entry_format(const struct ab_host_entry *e, char buf[AB_HOST_ENTRY_TEXT]);

/* May the entry be in a list that allows? A star before a public top-level label would open every
 * name that anybody registers there. -1: `why` says so. */
int ab_host_entry_may_allow(const struct ab_host_entry *e, struct ab_complaint *why);

/* "443": 1 to 65535, digits only. */
bool ab_port_parse(const char *s, size_t len, uint16_t *ret_port);
/* 80, 443 and 22: the ports of an allowing entry without a port. */
bool ab_port_usual(uint16_t port);

/*
 * Does the entry match this host and port? An entry without a port matches the
 * usual ports if it allows, and every port if it denies. An address or a range
 * never matches a name.
 */
bool ab_host_entry_allows(const struct ab_host_entry *e, const struct ab_host *host, uint16_t port);
bool ab_host_entry_denies(const struct ab_host_entry *e, const struct ab_host *host, uint16_t port);

/* Do these entries (canonical text) allow (deny) everything that `e` allows
 * (denies)? */
bool ab_hosts_cover(char *const *entries, size_t n, const char *e, bool denying);
