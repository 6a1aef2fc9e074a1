#pragma once
/*
 * The other names of files. A mount covers one name, so a file with several is covered only if all
 * of them are found: by a walk of the folders in which they may be.
 */
#include "base/base.h"
#include "workspace/tree/guard.h"

struct ab_hardlink {
	dev_t dev;
	ino_t ino;
	nlink_t names;
	/* Those that were met: the folder's inode and the name in it. A folder that is mounted
	 * twice has no second name. */
	struct ab_strv met;
};

struct ab_hardlinks {
	struct ab_hardlink *v;
	size_t n;
	size_t unfound;		 /* names of all of them that were not met */
	struct ab_strv searched; /* folders that a later search leaves out */
};

/* Leaves out what has one name, is no plain file, or is noted already. */
void ab_hardlinks_note(struct ab_hardlinks *links, const struct stat *st);
/* The same, and this name of it (a real path) is known. */
void ab_hardlinks_meet(struct ab_hardlinks *links, const char *path, const struct stat *st);
/*
 * Search these folders (real paths, also files) but for those of an earlier search, at most *entries of
 * them, which is reduced. Each name is added to *v. False: not everything was searched.
 */
bool ab_hardlinks_find(struct ab_hardlinks *links, const struct ab_strv *roots, size_t *entries,
		       struct ab_guard **v, size_t *len);
/* After the search: were all names of this file met? */
bool ab_hardlinks_met(const struct ab_hardlinks *links, const struct stat *st);
void ab_hardlinks_fini(struct ab_hardlinks *links);
