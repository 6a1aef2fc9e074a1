#ifndef AB_PROXY_FILTER_HOSTSET_H
#define AB_PROXY_FILTER_HOSTSET_H
/*
 * A list of host entries that is looked up without walking it: one hash
 * table, in which a host is looked for under its name, under each name that
 * it is below, or under each prefix of its address that the list uses. So a
 * look-up costs as much as the host is long, not as the list is.
 *
 * Immutable once made; owns its texts.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/strv.h"
#include "base/data/arena.h"
#include "policy/values/host.h"

struct ab_hostkey;

struct ab_hostset {
	struct ab_arena texts;
	struct ab_hostkey *keys;
	size_t len;
	uint32_t *slots; /* number of a key, counted from 1; 0: free */
	size_t mask;
	bool v4_bits[33], v6_bits[129]; /* prefixes that are in use */
};

/* The entries are canonical; one that is not is a bug and ends the program. */
void ab_hostset_init(struct ab_hostset *set, const struct ab_strv *entries);
void ab_hostset_fini(struct ab_hostset *set);

/*
 * The entry that means this host and has this port (0: has none), or NULL. Of
 * several the nearest: the name itself before those above it, the longer
 * prefix before the shorter.
 */
const char *ab_hostset_find(const struct ab_hostset *set, const struct ab_host *host,
			    uint16_t port);
/* The same, whatever its port. */
const char *ab_hostset_any(const struct ab_hostset *set, const struct ab_host *host);

/* The most slots that are read for one key: what the table's shape costs. */
size_t ab_hostset_longest(const struct ab_hostset *set);

#endif
