#ifndef AB_NETNS_NAMESPACE_H
#define AB_NETNS_NAMESPACE_H
/*
 * A new network namespace.
 */
struct ab_error;

/* Move the calling process into one. Needs CAP_SYS_ADMIN. */
int ab_netns_enter_new(struct ab_error *err);

#endif
