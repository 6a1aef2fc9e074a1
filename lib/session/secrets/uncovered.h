#ifndef AB_SESSION_SECRETS_UNCOVERED_H
#define AB_SESSION_SECRETS_UNCOVERED_H
/*
 * Credentials that the box would see as they are: those that no placeholder
 * can stand for (they sign), and variables that look like one and are passed
 * although no secret covers them. Looks at what exists; changes nothing.
 */
struct ab_policy;
struct ab_spec;
struct ab_strv;

/* A sentence for each. `spec`: the box as it will be; NULL: as the policy
 * would have it, with this environment of the caller's. */
void ab_uncovered_find(const struct ab_policy *policy, char *const *caller,
		       const struct ab_spec *spec, struct ab_strv *ret);

#endif
