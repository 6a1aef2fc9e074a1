#pragma once
/* Hosts that stay denied whatever the allow list or a grant says. Pure. */
#include "base/base.h"

struct ab_host_entry;
struct ab_policy;

enum ab_closed {
	AB_CLOSED_NOT,
	AB_CLOSED_DENIED,  /* by an entry of network.deny */
	AB_CLOSED_MANAGED, /* the managed settings do not permit it */
	AB_CLOSED_RANGE,   /* an address in a private range */
};
enum ab_closed ab_host_closed(const struct ab_policy *policy, const struct ab_host_entry *entry);
/* The error for a private address. Returns -1. */
int ab_closed_range_error(const struct ab_host_entry *entry, struct ab_error *err);
