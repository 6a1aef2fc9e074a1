#pragma once
/*
 * The user's settings of package tools in the box. A file that the box can see (pip.conf) is replaced by its
 * view, which has what is known to be harmless (policy/views), whatever the policy allows; a file of
 * which everything is, is shown itself. Where the policy allows a host group such as @npm and the
 * box cannot see the file in which its tool finds the registry (~/.npmrc is denied, because it may have
 * tokens; a private home has nothing), the box gets the view as well.
 */
#include "base/base.h"

struct ab_policy;
struct ab_registry_views;
struct ab_spec;

/* Before the plan, which hides their other names (host/facts.h): the files that the box may not see as
 * they are. Only those that ab_policy_protect_registries() found are looked at: no program that we
 * started has run since. */
void ab_home_registries_find(const struct ab_policy *policy, struct ab_registry_views *ret);
/* Adds to spec->files; the plan must exist, and the files of secrets must be there. `found` is freed.
 * `details` get what was left out, `notes` what could not be read. */
void ab_home_registries_fill(const struct ab_policy *policy, struct ab_registry_views *found,
			     struct ab_spec *spec, struct ab_strv *notes, struct ab_strv *details);
