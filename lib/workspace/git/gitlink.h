#pragma once
/*
 * Checkouts whose ".git" is a file: linked worktrees and submodules.
 *
 * The file is untrusted. It is read as git reads it, but the folder that it names is
 * accepted only if that is a git directory that points back to this checkout, so
 * that writing a ".git" file does not open another folder.
 */
#include "base/base.h"

#define AB_GITLINK_MAX 8192    /* of a path, and of a gitdir or commondir file */
#define AB_GITFILE_MAX 1048576 /* of a .git file; git's own limit */

/* The path in "gitdir: PATH\n", as a new string; NULL if there is none. Pure. */
char *ab_gitlink_parse(const char *data, size_t len);

/* The path in a commondir or gitdir file (one line); NULL if there is none. Pure. */
char *ab_gitlink_line(const char *data, size_t len);

/* The last core.worktree in a configuration file of a git directory, as a new string; NULL: there is
 * none, or git would not read the file. */
char *ab_gitlink_worktree(int gitdir, const char *file);

struct ab_gitlink {
	char *gitdir;	 /* real path of this checkout's git directory */
	char *common;	 /* real path of the repository; may be the same */
	const char *why; /* a clause: why the git directory does not point back here; or NULL */
};

/*
 * Follow the ".git" file of the folder `top` (real path). -1 if there is nothing to
 * follow (no such file, or it does not name a folder): see `why`, and errno.
 */
int ab_gitlink_read(const char *top, struct ab_gitlink *ret);
void ab_gitlink_fini(struct ab_gitlink *link);

/* Does the folder contain what every git directory has (HEAD, objects, refs)? */
bool ab_is_gitdir(const char *path);
bool ab_is_gitdir_at(int dir);
