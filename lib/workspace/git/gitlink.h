#ifndef AB_WORKSPACE_GIT_GITLINK_H
#define AB_WORKSPACE_GIT_GITLINK_H
/*
 * Checkouts whose ".git" is a file: linked worktrees and submodules.
 *
 * The file is hostile bytes. It is read as git reads it, but what it names
 * counts only when the named folder is a git directory that points back to
 * this very checkout: nobody opens another folder by writing a ".git" file.
 */
#include <stdbool.h>
#include <stddef.h>

#define AB_GITLINK_MAX 8192 /* of a .git, gitdir or commondir file */

/* The path in "gitdir: PATH\n", as a new string; NULL when it is none. Pure. */
char *ab_gitlink_parse(const char *data, size_t len);

/* The path in a commondir or gitdir file (one line); NULL when none. Pure. */
char *ab_gitlink_line(const char *data, size_t len);

struct ab_gitlink {
	char *gitdir;  /* real path of this checkout's git directory */
	char *common;  /* of the repository it belongs to; may be the same */
	bool verified; /* the back link leads here */
	char why[160]; /* why not, a clause */
};

/*
 * Follow the ".git" file of the folder `top` (real path). -1 when there is
 * nothing to follow (no such file, or it names no folder): why says it.
 */
int ab_gitlink_read(const char *top, struct ab_gitlink *ret);
void ab_gitlink_fini(struct ab_gitlink *link);

/* Does the folder hold what every git directory has (HEAD, objects, refs)? */
bool ab_is_gitdir(const char *path);

#endif
