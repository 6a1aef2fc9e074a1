#pragma once
/*
 * Address ranges that are not public: the machine itself, its neighbours, its
 * cloud, and other forms of these addresses. They are denied unless the policy
 * lifts them (network.allowPrivate). Pure.
 */
#include "policy/values/cidr.h"
#include "policy/values/host.h"

struct ab_range {
	struct ab_cidr cidr;
	const char *text; /* "10.0.0.0/8 (private)": for people */
};

/* The narrowest range is found first. */
extern const struct ab_range ab_ranges[];
extern const size_t ab_range_count;

/* The range that this address is in, or NULL; a name is in none. */
const struct ab_range *ab_range_find(const struct ab_host *host);
