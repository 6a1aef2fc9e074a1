#pragma once
/* Hosts that stay denied whatever the allow list or a grant says. Pure. */
#include "base/base.h"
#include "proxy/filter/filter.h"

/* What the proxy's filter would base its verdict on: DENY, BOUND and RANGE cannot be overridden. */
enum ab_basis ab_host_closed(const struct ab_policy *policy, const struct ab_host_entry *entry);

/* The error for a private address. Returns -1. */
int ab_closed_range_error(const struct ab_host_entry *entry, struct ab_error *err);
