#ifndef AB_SESSION_HOME_HOME_REGISTRIES_H
#define AB_SESSION_HOME_HOME_REGISTRIES_H
/*
 * The user's registry settings in the box. Where the policy allows a host group such as
 * @npm and the box cannot see the file in which its tool finds the registry (~/.npmrc is
 * denied, because it may have tokens; a private home has nothing), the box gets that file with
 * the registry settings only. A file that it can see (pip.conf) has no logins in it, whatever the
 * policy allows: package services tell their users to write them there.
 */
#include <stdbool.h>

struct ab_policy;
struct ab_spec;

/* Adds to spec->files; the plan must exist, and the files of secrets must be there. `again`: to compare
 * with a specification of the same policy; the caller knows that no file has appeared (ab_policy_same()). */
void ab_home_registries_fill(const struct ab_policy *policy, char *const *env, bool again,
			     struct ab_spec *spec);

#endif
