#pragma once
/* Which layer a list or an element of it comes from. */
#include "base/base.h"

struct ab_policy;

/* Where an element of a list comes from, or, for a NULL element, the list:
 * "~/.config/agentbox/config.json:3". NULL: there is none. */
char *ab_policy_origin(const struct ab_policy *policy, const char *key, const char *element);

/* Where the list is from that replaced those of earlier layers; *ret_project: from a project's file.
 * NULL: there is none. */
char *ab_policy_replaced_by(const struct ab_policy *policy, const char *key, bool *ret_project);
