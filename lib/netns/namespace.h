#pragma once
/*
 * A new network namespace.
 */
#include "base/base.h"

/* Move the calling process into one. Needs CAP_SYS_ADMIN. */
int ab_netns_enter_new(struct ab_error *err);
