#pragma once
/*
 * git's index below a layer. `git status` on the host rewrites it with fresh stat data
 * only: that is not a change. An index is compared by its digest (workspace/git/gitindex.h);
 * the digest of the workspace's own index is kept beside the layer, where no box can write,
 * since a run has begun on it.
 *
 * Also: which paths are in a repository's own folder.
 */
#include "base/base.h"

#define AB_INDEX_PATH ".git/index"
#define AB_INDEX_DIGEST 65

/* Is it the index of a repository? Of which length is then the path of its .git, else 0. */
size_t ab_index_repo(const char *path);
/* Is it a loose object or a pack of a repository, or a folder of them? */
bool ab_index_object(const char *path);

/* Is it a part of a repository's state: its index, HEAD, a ref, what a merge is doing? Of which length
 * is then the path of its .git, else 0. These belong together: a HEAD of another time than the index
 * makes other files look deleted or changed. Submodules and linked worktrees are part of their .git. */
size_t ab_index_state(const char *path);

/* The digest of the index `path` below `root`. -1: there is none, or it is not valid. */
int ab_index_digest(int root, const char *path, char ret[AB_INDEX_DIGEST]);

/* A run begins: remember the host's index, unless the layer has one of its own already. `project`
 * is the layer's part of the set, `upper` in it the layer. Fails silently: then a refreshed index
 * counts as a conflict. */
void ab_index_remember(int project, const char *upper, int host);
/* "" if there is none. */
void ab_index_recall(int project, char ret[AB_INDEX_DIGEST]);
