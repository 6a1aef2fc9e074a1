#pragma once
/*
 * Finds the submodules (gitlinks, mode 160000) in git's index, for files that may be
 * hostile: `git status` at the top enters each of them and obeys its configuration.
 *
 * Pure and bounded: bytes in, one call per gitlink. Reads versions 2 to 4. A file
 * does not say how long its object names are, so one that can be read both ways is
 * reported both ways.
 */
#include "base/base.h"

#define AB_GITINDEX_MAX (32 * 1024 * 1024) /* a longer file is not read */
#define AB_GITINDEX_PATH 4096

struct ab_gitindex {
	bool valid;
	bool unnamed;  /* a gitlink takes the path of an entry of the shared index */
	char base[65]; /* hex name of the shared index that it extends, or "" */
};

/* path: as written, relative to the top of the checkout; never empty. */
typedef void ab_gitindex_fn(void *arg, const char *path);

/* Nothing is reported if it is not valid. */
struct ab_gitindex ab_gitindex_parse(const char *data, size_t len, ab_gitindex_fn *fn, void *arg);

/*
 * A digest of what the index says, without the stat data that `git status` refreshes and without
 * extensions that git may ignore: version, entries (mode, object, flags, path) and mandatory
 * extensions. -1: it is not valid.
 */
int ab_gitindex_digest(const char *data, size_t len, char ret[65]);
