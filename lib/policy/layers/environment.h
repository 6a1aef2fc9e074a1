#ifndef AB_POLICY_LAYERS_ENVIRONMENT_H
#define AB_POLICY_LAYERS_ENVIRONMENT_H
/*
 * The environment of the command: the caller's, without what could be a
 * secret, a door out of the box or a program that nobody asked for; plus what
 * the policy sets. Pure.
 *
 * A variable is dropped when a name or pattern of env.strip matches it and
 * none of env.pass does; in the mode "listed" it is dropped unless env.pass
 * matches it. Strip patterns ignore case, pass patterns do not. Entries
 * without "=", without a name, and the second of two with one name are
 * dropped: programs disagree about which of the two counts.
 *
 * SANDBOX_RUNTIME=1 is always set, and TMPDIR, TMP, TEMP and TMPPREFIX point
 * into the private /tmp unless env.set says otherwise. Proxy variables pass
 * only when the network is the host's own: nowhere else does their host exist.
 * Where there is a door they name it, unless env.set says otherwise.
 */
#include <stdbool.h>

struct ab_policy;
struct ab_strv;

/* `ret_stripped` (may be NULL) gets the names that env.strip removed. Both
 * lists are empty before. */
void ab_environment_build(const struct ab_policy *policy, char *const *caller_env,
			  struct ab_strv *ret_env, struct ab_strv *ret_stripped);

/* Does the name match the pattern (* any text, ? any one character)? */
bool ab_name_matches(const char *pattern, const char *name, bool fold_case);

#endif
