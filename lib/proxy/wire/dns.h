#pragma once
/*
 * DNS messages of the box: parses a query, writes an answer. Pure. Queries are
 * never forwarded, so a query has one question and an answer at most one record.
 */
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
	AB_DNS_BADVERS = 16, /* only if the query used EDNS */
};

struct ab_dns_query {
	uint16_t id;
	uint16_t flags; /* as received: opcode, RD */
	uint16_t type, rrclass;
	bool edns;
	uint16_t udp_size;	 /* the client's maximum; 512 without EDNS */
	const uint8_t *question; /* as received: the answer keeps its case */
	size_t question_len;
	bool is_host;	     /* the name is a valid host name */
	struct ab_host name; /* if is_host */
};

/*
 * 0: a query. -1: it cannot be answered (a response, or shorter than a header):
 * drop it. 1: answer it with *ret_code (FORMERR, NOTIMP, BADVERS) and no
 * address; pass ret to ab_dns_answer.
 *
 * `question` points into msg. A name that is not a host (_ldap._tcp.x, an
 * address, the root) is not an error: is_host is false.
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
