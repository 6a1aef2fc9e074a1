#ifndef AB_PROXY_FILTER_SYNTHETIC_H
#define AB_PROXY_FILTER_SYNTHETIC_H
/*
 * Synthetic addresses: what our resolver answers in the box, one per name and
 * family, and the way back from address to name. An address means one name
 * for the whole run; none is used twice. At most AB_SYNTHETIC_MAX names.
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

enum { AB_SYNTHETIC_MAX = 65535, AB_NAMES_GUESTS = AB_SYNTHETIC_MAX / 2 };

struct ab_synthetic;

struct ab_synthetic *ab_synthetic_new(void);
void ab_synthetic_free(struct ab_synthetic *names);

/* The number of a name, given on first use; 0 when the table is full. */
uint16_t ab_synthetic_number(struct ab_synthetic *names, const struct ab_host *name);
/* The same for one that only somebody's word would let through, and of which
 * the box can make up as many as it likes: half of the table is for others. */
uint16_t ab_synthetic_guest(struct ab_synthetic *names, const struct ab_host *name);
void ab_synthetic_v4(uint16_t number, uint8_t ret[4]);
void ab_synthetic_v6(uint16_t number, uint8_t ret[16]);

/* Is this address one that could stand for a name? */
bool ab_synthetic_is(const struct ab_host *addr);
/* The name that it stands for; NULL when it was never given. The text lives
 * as long as the table. */
const char *ab_synthetic_find(const struct ab_synthetic *names, const struct ab_host *addr);

#endif
