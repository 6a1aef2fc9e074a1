#ifndef AB_SANDBOX_START_LIMITS_H
#define AB_SANDBOX_START_LIMITS_H
/*
 * Resource limits of the command, with rlimit. The kernel counts processes per user
 * namespace, so the process limit applies to the box alone; it does not apply to
 * the host's root.
 */
struct ab_spec;

/* For this process and its children. Raw: 0 or -errno. */
int ab_limits_apply(const struct ab_spec *spec);

/* Try whether the kernel enforces the limits. Returns the name of the first one
 * that it does not enforce, or NULL. */
const char *ab_limits_unheld(const struct ab_spec *spec);

#endif
