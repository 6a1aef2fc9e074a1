#pragma once
/*
 * Files and folders that only their user (or root) can have written. Another user must not decide
 * what is in a file that we obey, nor where a link leads that we follow.
 */
#include "base/data/libc.h"

/* Open a path, but follow no link of another user. -1 with errno: EPERM for such a link. */
int ab_own_path_open(const char *path, int flags);

/* What is wrong with the owner or mode of the file behind fd, or of the folders in which `path` and its
 * target are, as a phrase ("belongs to another user"); NULL: nothing. *ret_where: what has the fault;
 * free it. */
const char *ab_own_path_check(int fd, const char *path, char **ret_where);
/* The same if it must belong to root, and not to the user. */
const char *ab_own_path_check_root(int fd, const char *path, char **ret_where);
/* The answer if it could not look; errno says why. */
extern const char ab_own_path_unknown[];
