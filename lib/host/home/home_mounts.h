#pragma once
/*
 * What is mounted below the home folder: a volume, a memory card, a server.
 *
 * The kernel puts no overlay above such a folder: that could show what a mount covers. So the home is
 * put together of pieces (home_pieces.h): each folder gets a layer of its own, a mount too. Bare, and
 * read-only, is every mount whose file system is not known to be local and fit for that. What another
 * machine or a program serves is never looked at, because that can take forever: a file system that nobody
 * has heard of may be such a one, and costs its user only the layer, with a line that says so. Nor can an
 * overlay be above what folds names.
 *
 * Pure.
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
/* What is different, for the user; NULL: nothing is mounted there. */
char *ab_home_mounts_line(const struct ab_home_mounts *mounts, const char *home);
/* The bare mount anywhere that this path is in, and the home is not; or NULL. */
const char *ab_home_mounts_served(const struct ab_mount_table *table, const char *home,
				  const char *path);
