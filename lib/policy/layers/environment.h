#ifndef AB_POLICY_LAYERS_ENVIRONMENT_H
#define AB_POLICY_LAYERS_ENVIRONMENT_H
/*
 * The environment of the command: the caller's, without variables that could
 * hold a secret, lead out of the box or run code; plus what the policy sets.
 * Pure.
 *
 * A variable is dropped if env.strip matches it and env.pass does not; in the
 * mode "listed" it is dropped unless env.pass matches it. Strip patterns ignore
 * case, pass patterns do not. Entries without "=" or without a name are
 * dropped, and so is the second of two with the same name: programs disagree
 * about which of them counts.
 *
 * SANDBOX_RUNTIME=1 is always set, and TMPDIR, TMP, TEMP and TMPPREFIX point
 * into the private /tmp unless env.set says otherwise. The caller's proxy
 * variables pass only with the host's own network: their host exists nowhere
 * else. With the proxy of the box they name it, unless env.set says otherwise.
 */
#include <stdbool.h>

struct ab_policy;
struct ab_strv;

/* `ret_stripped` (may be NULL) gets the names that env.strip removed. Both
 * lists must be empty. */
void ab_environment_build(const struct ab_policy *policy, char *const *caller_env,
			  struct ab_strv *ret_env, struct ab_strv *ret_stripped);

/* Does the name match the pattern (* any text, ? any one character)? */
bool ab_name_matches(const char *pattern, const char *name, bool fold_case);

#endif
