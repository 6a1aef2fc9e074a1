#pragma once
/*
 * The submodules that the index of a git directory names, and which content of the index was read
 * last. It may be based on a second file, the shared index, which can change by itself.
 */
#include "base/base.h"

#define AB_REPO_LINKS_MAX 1000

struct ab_stamp {
	ino_t ino; /* 0: none */
	struct timespec ctime;
};

/* Zero-initialized: nothing was read. */
struct ab_repo_index {
	struct ab_stamp own, shared;
	char base[65]; /* the name of the shared index, or "" */
};

/* Add the submodules. -1: it cannot be read, or names more than AB_REPO_LINKS_MAX. */
int ab_repo_index_read(struct ab_repo_index *index, int gitdir, struct ab_strv *ret);
/* Has it been the same since then? */
bool ab_repo_index_is_read(const struct ab_repo_index *index, int gitdir);
/* Is it a file with this name? */
bool ab_repo_index_has_name(const char *name);
