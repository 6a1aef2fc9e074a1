#ifndef AB_PROXY_FILTER_SYNTHETIC_H
#define AB_PROXY_FILTER_SYNTHETIC_H
/*
 * Synthetic addresses: what our resolver answers in the box, one per name and
 * family, and the way back from address to name. An address means one name
 * for the whole run; none is used twice. At most AB_NAMES_MAX names.
 *
 *	IPv4	198.18.0.0/16	the name's number in the last two bytes
 *	IPv6	fd61:6765:6e74:626f::/64	the same in the last two
 *
 * 198.19.255.1 and fd61:...:ffff:0:0:1 belong to the box's lo.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/values/host.h"

enum { AB_NAMES_MAX = 65535, AB_NAMES_GUESTS = AB_NAMES_MAX / 2 };

struct ab_names;

struct ab_names *ab_names_new(void);
void ab_names_free(struct ab_names *names);

/* The number of a name, given on first use; 0 when the table is full. */
uint16_t ab_names_number(struct ab_names *names, const struct ab_host *name);
/* The same for one that only somebody's word would let through, and of which
 * the box can make up as many as it likes: half of the table is for others. */
uint16_t ab_names_guest(struct ab_names *names, const struct ab_host *name);
void ab_names_v4(uint16_t number, uint8_t ret[4]);
void ab_names_v6(uint16_t number, uint8_t ret[16]);

/* Is this address one that could stand for a name? */
bool ab_names_synthetic(const struct ab_host *addr);
/* The name that it stands for; NULL when it was never given. The text lives
 * as long as the table. */
const char *ab_names_find(const struct ab_names *names, const struct ab_host *addr);

#endif
