#pragma once
/*
 * The environment of the command: the caller's, without variables that could
 * hold a secret, lead out of the box or run code; plus what the policy sets.
 * Pure.
 *
 * A variable is dropped if env.strip matches it, or if its value looks like a
 * credential (secret_text.h), and env.pass does not match it; in the mode "listed"
 * it is dropped unless env.pass matches it. A URL with a user and a password is
 * passed without them, so that programs still find their server. Strip patterns ignore
 * case, pass patterns do not. Entries without "=" or without a name are
 * dropped, and so is the second of two with the same name: programs disagree
 * about which of them counts.
 *
 * SANDBOX_RUNTIME=1 is always set (and AGENTBOX, the id of the run, by its caller), and TMPDIR, TMP, TEMP and TMPPREFIX point
 * into the private /tmp unless env.set says otherwise. The caller's proxy
 * variables pass only with the host's own network: their host exists nowhere
 * else. With the proxy of the box they name it, unless env.set says otherwise, and npm does not
 * look for a newer npm.
 */
#include "base/base.h"

struct ab_policy;

struct ab_environment_report {
	/* Set by the caller: names whose values contain only placeholders, which
	 * look like keys. */
	struct ab_strv covered;
	struct ab_strv stripped; /* names, with the reason if it is the value */
	struct ab_strv cleaned;	 /* names of those that lost a login */
};
void ab_environment_report_fini(struct ab_environment_report *report);

/* `report` may be NULL. All lists must be empty. */
void ab_environment_build(const struct ab_policy *policy, char *const *caller_env,
			  struct ab_strv *ret_env, struct ab_environment_report *report);

/* Let the prompt of this shell show that it is in the box, and in which one (AGENTBOX of `env`), as
 * far as variables can; the user's start-up files may override them. */
void ab_environment_mark_shell(struct ab_strv *env, const char *shell);

/* Does the name match the pattern (* any text, ? any one character)? */
bool ab_name_matches(const char *pattern, const char *name, bool fold_case);
