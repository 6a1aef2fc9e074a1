#ifndef AB_SANDBOX_START_CAPS_H
#define AB_SANDBOX_START_CAPS_H
/*
 * Capabilities of the box's init: carried across the re-execution, then
 * given up for good, before any other process of the box exists.
 */
struct ab_error;

/* In the first child, after its maps: the few that init needs, inheritable
 * and ambient. With a uid mapped to itself a plain execve clears all of them;
 * ambient ones survive. Raw: 0 or -errno. */
int ab_caps_carry(void);

/* All sets and the bounding set empty, root without privilege for good,
 * no_new_privs. */
int ab_caps_drop(struct ab_error *err);

#endif
