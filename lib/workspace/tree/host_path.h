#pragma once
/*
 * A box must not decide what the host opens, reads or runs. This is the one rule for every path
 * that the host follows on its own account: a writable path, a socket, the file of a secret, the
 * program that prints one. A symbolic link in a folder that a box can write may have been created
 * by a box, this one or an earlier one, so it must not lead out of that folder; for a file that
 * the host reads, and for a program, it must not be followed at all.
 *
 * `roots` are these folders: fs.touched of the policy. They need not exist.
 */
#include "base/base.h"

/* Is this real path in one of them? */
bool ab_host_path_writes(const struct ab_strv *roots, const char *real);

/* Can a box write `path` (absolute), create it, or replace a link on the way to it? */
bool ab_host_path_is_open(const struct ab_strv *roots, const char *path);

/* The target of `path` (clean); NULL: nowhere, see errno. *ret_led: through a link in a root. */
char *ab_host_path_follow(const struct ab_strv *roots, const char *path, bool *ret_led);

/* The same. *ret_stray: the first link in a root that leads out of it, or NULL; free it. The
 * innermost root counts. A link that leads nowhere is judged by how far it can be followed. */
char *ab_host_path_resolve(const struct ab_strv *roots, const char *path, char **ret_stray);

/* Open the result of follow for reading, unless it has become a link since. */
int ab_host_path_open(const char *real);
