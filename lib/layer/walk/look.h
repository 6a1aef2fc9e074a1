#pragma once
/*
 * Look at one name in a folder that may be hostile: no link is followed, no other
 * mount is entered.
 */
#include "base/base.h"
#include "layer/walk/changes.h"
#include "workspace/tree/dir.h"

struct stat;

struct ab_look {
	struct ab_identity id;
	enum ab_change_type type;
	struct timespec born; /* zero: the file system does not tell */
	uint64_t blocks;
	dev_t device; /* of a device node */
	bool mount;   /* another file system is mounted there */
};

/* -1 with errno. `name` "": the folder itself, for which `dir` may be O_PATH. */
int ab_look_at(int dir, const char *name, struct ab_look *ret);

/* Open a file to read it, whatever it turns out to be: look at the descriptor. Its access time stays
 * as it is where the caller owns it: 10,000 inodes would have to be written. */
int ab_look_open_file(int dir, const char *path);

/* Open the regular file that was looked at; -1 with errno (ESTALE: it is another one now). */
int ab_look_open_known(int dir, const char *path, const struct ab_identity *id, struct stat *ret);

/* The folder of the last name that was looked up; the next one is often beside it. */
struct ab_parent {
	int fd;
	char *path;
};
#define AB_PARENT_NONE   \
	{                \
		.fd = -1 \
	}

/* The folder that contains `path` below `root`, and its last name; -1 with errno. The descriptor
 * belongs to the cache. */
int ab_parent_open(struct ab_parent *cache, int root, const char *path, const char **ret_name);
void ab_parent_fini(struct ab_parent *cache);

struct ab_identity ab_identity_of(const struct stat *st);

/* The same inode, and nothing shows that it was written or its mode changed since. Its
 * ctime may differ: renaming a file changes it. */
bool ab_identity_same(const struct ab_identity *a, const struct ab_identity *b);
