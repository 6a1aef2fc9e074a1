#pragma once
/*
 * A list of host entries as one hash table. A look-up tries the host's name and
 * each name above it, or each prefix length that the list uses, so its cost
 * depends on the length of the host, not of the list.
 *
 * Immutable; owns its texts.
 */
#include "policy/values/host.h"

struct ab_hostkey;

struct ab_hostset {
	struct ab_arena texts;
	struct ab_hostkey *keys;
	size_t len;
	uint32_t *slots; /* index of a key + 1; 0: free */
	size_t mask;
	bool v4_bits[33], v6_bits[129]; /* prefix lengths in use */
};

/* The entries must be canonical; another one is a bug and ends the program. */
void ab_hostset_init(struct ab_hostset *set, const struct ab_strv *entries);
void ab_hostset_fini(struct ab_hostset *set);

enum { AB_HOSTSET_ANY_PORT = 65536 };

/*
 * The entry that matches this host and has this port (0: no port), or NULL. The
 * closest match wins: the name itself, or the longest prefix.
 */
const char *ab_hostset_find(const struct ab_hostset *set, const struct ab_host *host,
			    uint32_t port);
