#pragma once
/*
 * Synthetic addresses: the box's DNS server answers with one per name and
 * family, and the doors map it back to the name. An address belongs to one name
 * for the whole run. At most AB_SYNTHETIC_MAX names.
 *
 *	IPv4	198.18.0.0/16	the name's number in the last two bytes
 *	IPv6	fd61:6765:6e74:626f::/64	the same in the last two
 *
 * 198.19.255.1 and fd61:...:ffff:0:0:1 belong to the box's lo.
 */
#include "policy/values/host.h"

enum { AB_SYNTHETIC_MAX = 65535, AB_NAMES_GUESTS = AB_SYNTHETIC_MAX / 2 };

struct ab_synthetic;

struct ab_synthetic *ab_synthetic_new(void);
void ab_synthetic_free(struct ab_synthetic *names);

/* The number of a name, assigned on first use while there are fewer names than `most`; else 0. For
 * a name that only an answer could allow, this is AB_NAMES_GUESTS: the box can invent any number of
 * these, so half of the table is kept for allowed names. */
uint16_t ab_synthetic_number(struct ab_synthetic *names, const struct ab_host *name, size_t most);
void ab_synthetic_v4(uint16_t number, uint8_t ret[4]);
void ab_synthetic_v6(uint16_t number, uint8_t ret[16]);

/* Is this address in the synthetic ranges? */
bool ab_synthetic_is(const struct ab_host *addr);
/* The name of an address; NULL: it was never assigned. The text lives as long
 * as the table. */
const char *ab_synthetic_find(const struct ab_synthetic *names, const struct ab_host *addr);
