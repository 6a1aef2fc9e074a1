#ifndef AB_SESSION_HOST_WRITABLE_LINKS_H
#define AB_SESSION_HOST_WRITABLE_LINKS_H
/*
 * What a box can change decides nothing on the host. A path that the host
 * follows on its own account (the file of a secret, the program that tells
 * one) must not lead over a symbolic link that a box could have put there:
 * it would choose which of the user's files is read, or what is run.
 *
 * `writable` are the roots that the box can write, as the policy has them.
 */
#include <stdbool.h>

struct ab_strv;

/* Is this real path in one of them? */
bool ab_writable_links_writes(const struct ab_strv *writable, const char *real);

/* Where `path` (clean) leads to; NULL: nowhere, errno says why. `ret_led`: over a link that
 * the box can write. */
char *ab_writable_links_follow(const struct ab_strv *writable, const char *path, bool *ret_led);

/* Open for reading what follow has found, unless a link has come between. */
int ab_writable_links_open(const char *real);

#endif
