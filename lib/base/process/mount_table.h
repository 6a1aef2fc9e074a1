#pragma once
/* What is mounted where, and other paths of an object: a folder that is mounted a second time shows
 * everything in it there, too. */
#include "base/base.h"

struct ab_mount_point { /* the words are in `text` of the table */
	char *dev;	/* "8:1", of the file system */
	char *root;	/* the folder of it that is mounted */
	char *path;	/* where */
	char *type;	/* of the file system: "ext4"; "" if the line does not say */
};

struct ab_mount_table {
	struct ab_mount_point *v;
	size_t n;
	char *text;
};

/* Pure: the text of /proc/self/mountinfo. Lines that are no mounts are left out. */
void ab_mount_table_parse(const char *text, struct ab_mount_table *ret);
/* That of this process; -1 with errno. */
int ab_mount_table_read(struct ab_mount_table *ret);
void ab_mount_table_fini(struct ab_mount_table *table);
/* Pure: is something mounted below `path`? */
bool ab_mount_table_has_below(const struct ab_mount_table *table, const char *path);
/*
 * Pure: where else `path` (real), or a part of it if it is a folder, would be: *ret_other[i] is what
 * *ret_own[i] is. Something may be mounted above either, so compare the files.
 */
void ab_mount_table_others(const struct ab_mount_table *table, const char *path, bool folder,
			   struct ab_strv *ret_own, struct ab_strv *ret_other);
