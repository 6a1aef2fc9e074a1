#pragma once
/*
 * Address ranges: "10.1.2.0/24", "10.1.2.3:5432", "[fd00::/8]:22". A single
 * address is a range of one. Without a port the range has every port. Pure.
 */
#include "base/base.h"

struct ab_host;
struct ab_complaint;

struct ab_cidr {
	bool v6;
	uint8_t addr[16]; /* the bits after the prefix are zero */
	uint8_t bits;
	uint16_t port; /* 0: every port */
};

#define AB_CIDR_TEXT 64

int ab_cidr_parse(const char *s, size_t len, struct ab_cidr *ret_cidr, struct ab_complaint *why);
void ab_cidr_format(const struct ab_cidr *c, char buf[AB_CIDR_TEXT]);
/* Is this address (a host that is not a name) with this port in the range? */
bool ab_cidr_has(const struct ab_cidr *c, const struct ab_host *host, uint16_t port);
/* Do the first `bits` bits agree? */
bool ab_same_prefix(const uint8_t *a, const uint8_t *b, unsigned bits);
