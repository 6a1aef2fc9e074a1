#ifndef AB_NETNS_NAMESPACE_H
#define AB_NETNS_NAMESPACE_H
/*
 * A new network namespace. Making one takes the kernel longer than all that
 * is then done in it, so a thread can do both while others do something else.
 */
struct ab_error;

/* Move the calling thread, and no other, into a new one. Returns a descriptor
 * of it, for ab_netns_enter() by the others, or -1. Needs CAP_SYS_ADMIN. */
int ab_netns_new(struct ab_error *err);
int ab_netns_enter(int fd, struct ab_error *err);

#endif
