#ifndef AB_SESSION_HOST_WRITABLE_LINKS_H
#define AB_SESSION_HOST_WRITABLE_LINKS_H
/*
 * A box must not decide what the host reads or runs. A path that the host follows for itself (the
 * file of a secret, the program that prints one) must not lead through a symbolic link that a box
 * could have created: it would choose which of the user's files is read, or what is run.
 *
 * `writable` are the roots that the box can write to, as in the policy.
 */
#include <stdbool.h>

struct ab_strv;

/* Is this real path in one of them? */
bool ab_writable_links_writes(const struct ab_strv *writable, const char *real);

/* The target of `path` (clean); NULL: nowhere, see errno. *ret_led: through a link that the box can
 * write. */
char *ab_writable_links_follow(const struct ab_strv *writable, const char *path, bool *ret_led);

/* Open the result of follow for reading, unless it has become a link since. */
int ab_writable_links_open(const char *real);

#endif
