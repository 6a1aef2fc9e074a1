#ifndef AB_PROXY_WIRE_DNS_H
#define AB_PROXY_WIRE_DNS_H
/*
 * DNS messages of the box: a query in, our answer out. Pure. Nothing is ever
 * forwarded, so a query is one question and an answer at most one record.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/values/host.h"

enum { AB_DNS_MAX = 4096 }; /* a longer message is not a query */

enum ab_dns_type {
	AB_DNS_A = 1,
	AB_DNS_AAAA = 28,
	AB_DNS_HTTPS = 65,
	AB_DNS_ANY = 255,
};

enum ab_dns_code {
	AB_DNS_NOERROR = 0,
	AB_DNS_FORMERR = 1,
	AB_DNS_SERVFAIL = 2,
	AB_DNS_NXDOMAIN = 3,
	AB_DNS_NOTIMP = 4,
	AB_DNS_REFUSED = 5,
	AB_DNS_BADVERS = 16, /* of EDNS; only if the query had it */
};

struct ab_dns_query {
	uint16_t id;
	uint16_t flags; /* as they came: opcode, RD */
	uint16_t type, class;
	bool edns;
	uint16_t udp_size;	 /* what the client can take; 512 without EDNS */
	const uint8_t *question; /* as it came: case is kept in the answer */
	size_t question_len;
	bool is_host;	     /* the name is a valid host name */
	struct ab_host name; /* if so */
};

/*
 * 0: a query. -1: not one that can be answered (a response, or shorter than a
 * header): drop it. 1: answer it with *ret_code (FORMERR, NOTIMP, BADVERS) and
 * no address; ret is good for ab_dns_answer.
 *
 * `question` points into msg. A name that is no host (_ldap._tcp.x, an
 * address, the root) is no error: is_host is false.
 */
int ab_dns_parse(const uint8_t *msg, size_t len, struct ab_dns_query *ret,
		 enum ab_dns_code *ret_code);

/*
 * An answer without records (code), or with one address record of `type`
 * (A: 4 bytes, AAAA: 16) and TTL 1. Returns its length; never more than
 * AB_DNS_ANSWER_MAX.
 */
enum { AB_DNS_ANSWER_MAX = 512 };
size_t ab_dns_answer(const struct ab_dns_query *query, enum ab_dns_code code, const uint8_t *addr,
		     size_t addr_len, uint8_t ret[AB_DNS_ANSWER_MAX]);

#endif
