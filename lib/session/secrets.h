#ifndef AB_SESSION_SECRETS_H
#define AB_SESSION_SECRETS_H
/*
 * The secrets of one run, before it starts: values into the vault, and out of
 * everything that the box will see. Nothing is made, and no TLS library
 * initialised, where the policy has no secrets and no rules about paths.
 */
#include "base/strv.h"
#include "proxy/tls.h"
#include "proxy/vault.h"

struct ab_error;
struct ab_policy;
struct ab_policy_input;
struct ab_spec;

struct ab_safe {	/* all zero: nothing of it is needed */
	struct ab_vault *vault;		/* NULL: no secrets */
	struct ab_tls_site *site;	/* NULL: nothing is looked into */
	struct ab_strv intercepted;	/* canonical entries, each with a port */
};

/*
 * Read every source, draw the placeholders, make the authority, and wipe the
 * values from our own environment block. `state` is the state folder (for the
 * key of stable placeholders). Notes: what a person should know.
 */
int ab_safe_open(const struct ab_policy *policy,
		 const struct ab_policy_input *input, int state,
		 struct ab_safe *ret, struct ab_strv *ret_notes,
		 struct ab_error *err);
void ab_safe_fini(struct ab_safe *safe);

/*
 * What the box gets to see: placeholders in environment and argv, base URLs,
 * the authority in the view of the system's bundles and in the variables that
 * clients read, declared files with placeholders in them. Fails on a collision:
 * `--env` or env.set that sets a variable of ours to something else.
 */
int ab_safe_fill(const struct ab_safe *safe, const struct ab_policy *policy,
		 struct ab_spec *spec, struct ab_strv *ret_notes,
		 struct ab_error *err);

#endif
