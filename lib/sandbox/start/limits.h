#ifndef AB_SANDBOX_START_LIMITS_H
#define AB_SANDBOX_START_LIMITS_H
/*
 * Resource limits of the command, by rlimit. The process limit is counted
 * per user namespace, so it is the box's own; the kernel does not hold it
 * against the host's root.
 */
struct ab_spec;

/* For this process and what it starts. Raw: 0 or -errno. */
int ab_limits_apply(const struct ab_spec *spec);

/* Does the kernel hold us to them? By trying, not by reading. Names the first
 * one that it does not, or NULL. */
const char *ab_limits_unheld(const struct ab_spec *spec);

#endif
