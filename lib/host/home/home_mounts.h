#pragma once
/*
 * What is mounted below the home folder: a volume, a memory card, a server.
 *
 * The kernel puts no overlay above such a folder: that could show what a mount covers. So the home is
 * put together of pieces (home_pieces.h): each folder gets a layer of its own, a mount too. Bare, and
 * read-only, is what another machine or a program serves, because looking at it can take forever; and what
 * folds names, because no overlay can be above it.
 *
 * Pure, but for the last. A run, its preview, `config show` and the doctor all ask here.
 */
#include "base/base.h"

struct ab_mount_table;

struct ab_home_mounts {
	struct ab_strv all;  /* where; nothing in a bare one */
	struct ab_strv bare; /* those of them that are bare */
};

/* `home` is its real path. */
void ab_home_mounts_find(const struct ab_mount_table *table, const char *home,
			 struct ab_home_mounts *ret);
void ab_home_mounts_fini(struct ab_home_mounts *mounts);
/* Is this folder on the way to one? */
bool ab_home_mounts_below(const struct ab_home_mounts *mounts, const char *path);
/* What is different, for the user; NULL: nothing is mounted there. */
char *ab_home_mounts_line(const struct ab_home_mounts *mounts, const char *home);
/* The same about what is mounted now. `ret_bare`: something of it is bare. */
char *ab_home_mounts_look(const char *home, bool *ret_bare);
