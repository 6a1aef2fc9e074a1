#ifndef AB_SANDBOX_PLAN_LANDLOCK_RULES_H
#define AB_SANDBOX_PLAN_LANDLOCK_RULES_H
/*
 * The Landlock rules for a mount plan. Pure. Paths are those of the finished box.
 */
struct ab_spec;
struct ab_strv;

/* Fill spec->rules from spec->plan; `sockets` are host sockets that the policy
 * makes reachable. */
void ab_landlock_rules_make(struct ab_spec *spec, const struct ab_strv *sockets);

#endif
