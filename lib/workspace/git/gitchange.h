#ifndef AB_WORKSPACE_GIT_GITCHANGE_H
#define AB_WORKSPACE_GIT_GITCHANGE_H
/*
 * Judges a change of a git configuration file: may the box have made it?
 *
 * Lines of a table are free: the box may add, change and remove them, because
 * git neither runs a program nor reads another file on their account. All
 * other lines must be the same bytes in the same order and in the same sections,
 * so removing one is a change, too.
 *
 * Pure and linear. Both texts may be hostile. A text that any two readers of git's
 * syntax could understand differently is not accepted: a line that continues in the
 * next one, "[a.b]", a key behind a section's name, CR, NUL.
 */
#include <stdbool.h>
#include <stddef.h>

struct ab_gitchange {
	const char *why; /* a clause that follows the key, or the file's name if there is none */
	char key[192];	 /* "core.hookspath", cut if it is longer; "" if none is to blame */
};

struct ab_strv;

struct ab_gitchange_terms {
	/* config.worktree exists and is closed, so extensions.worktreeConfig may be set */
	bool worktree_pinned;
	/* Folders of this machine that may be the address of a remote, or NULL: repositories whose
	 * hooks and configuration are closed. git push runs those of any other. */
	const struct ab_strv *repos;
};

/* False: see *ret. */
bool ab_gitchange_allowed(const char *before, size_t before_len, const char *after,
			  size_t after_len, const struct ab_gitchange_terms *terms,
			  struct ab_gitchange *ret);

#endif
