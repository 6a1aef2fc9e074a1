#ifndef AB_POLICY_VALUES_HOST_H
#define AB_POLICY_VALUES_HOST_H
/*
 * Hosts. Bytes become a host once, here; everything after (lists, resolver,
 * SNI, log) uses only that value, so no two parsers can disagree about it.
 *
 * A name: labels of letters, digits and hyphens, at most 63 bytes each and
 * 253 together, lower case, without the trailing dot. Punycode is such a
 * name; other scripts are not. An address: every spelling that any resolver
 * or inet_aton takes (0x7f000001, 0177.1, ::ffff:127.0.0.1, 64:ff9b::7f00:1)
 * is the one canonical address. A name whose last label is a number is an
 * address or nothing.
 *
 * Pure: no I/O; no allocation but for the words in `why` (NULL: none wanted).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* The same from an address in network order: 16 bytes if v6, else 4. One that
 * only wraps an IPv4 address becomes that. */
void ab_host_from_addr(bool v6, const uint8_t *addr, struct ab_host *ret_host);

/* One line of a list: "github.com", "*.x.y:443", "[::1]:8080", or a range of
 * addresses, "203.0.113.0/24:443". */
struct ab_host_entry {
	struct ab_host host; /* of a range: its first address */
	bool below;	     /* "*.": names strictly below host */
	uint8_t bits;	     /* of an address: how many count; of a name 0 */
	uint16_t port;	     /* 0: none was given */
};

#define AB_HOST_ENTRY_TEXT (AB_HOST_TEXT + 16)

/* The entry for just this host. */
struct ab_host_entry ab_host_entry_of(const struct ab_host *host, uint16_t port);
/* The smallest one that allows this: a usual port goes without saying. */
struct ab_host_entry ab_host_entry_for(const struct ab_host *host, uint16_t port);
int ab_host_entry_parse(const char *s, size_t len, struct ab_host_entry *ret_entry,
			struct ab_complaint *why);
void ab_host_entry_format(const struct ab_host_entry *e, char buf[AB_HOST_ENTRY_TEXT]);

/* "443": 1 to 65535, digits only. */
bool ab_port_parse(const char *s, size_t len, uint16_t *ret_port);
/* 80, 443 and 22: what an allowing entry without a port means. */
bool ab_port_usual(uint16_t port);

/* Say what somebody who wrote this, which is no host, probably wanted.
 * Returns -1. */
int ab_host_explain(const char *s, size_t len, struct ab_complaint *why);

/*
 * Does the entry mean this host and port? Without a port of its own it means
 * the usual ones when it allows, and every port when it denies. An entry that
 * is an address or a range never means a name.
 */
bool ab_host_entry_allows(const struct ab_host_entry *e, const struct ab_host *host, uint16_t port);
bool ab_host_entry_denies(const struct ab_host_entry *e, const struct ab_host *host, uint16_t port);

/* Is everything that `e` allows (denies) in what these entries, canonical
 * text, allow (deny)? */
bool ab_hosts_cover(char *const *entries, size_t n, const char *e, bool denying);

#endif
