#ifndef AB_WORKSPACE_SURVEY_SURVEY_H
#define AB_WORKSPACE_SURVEY_SURVEY_H
/*
 * Examines the writable roots once, before the box exists: which protected objects
 * exist (the mount plan closes them), which protected names are missing (the
 * broker watches for them), and which git directories a worktree or submodule
 * needs in addition to its own folder.
 *
 * Nothing is created or changed. The roots may be hostile even before the start:
 * paths are real, links are not followed, and every walk is bounded. Repositories
 * are known from git's own lists (worktrees, modules) and from a scan to depth 5;
 * a folder with HEAD, objects and refs counts as one, as it does for git.
 *
 * The mount plan makes every folder between a writable root and a closed object a
 * mount point, and every watched folder as well, so that none of them can be
 * renamed and replaced.
 */
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/data/strv.h"
#include "workspace/tree/guard.h"

struct ab_error;
struct ab_policy;

/*
 * Names that did not exist in `dir` at the start and must not be created there. A
 * name may have several components and patterns (workspace/tree/names.h).
 */
struct ab_watch {
	char *dir;
	dev_t dev;
	ino_t ino;
	struct timespec changed; /* its ctime at the start */
	struct ab_strv names;
};

struct ab_survey {
	struct timespec started; /* before the first check */
	struct ab_strv write;	 /* existing roots, and git directories */
	struct ab_guard *closed; /* settled: parents first, each once */
	size_t nclosed;
	struct ab_watch *watch;
	size_t nwatch;
	struct ab_strv repos;	 /* existing git directories (real paths) */
	struct ab_strv names;	 /* protected names at the top of a folder */
	struct ab_strv findings; /* sentences for the user */
	struct ab_strv notes;	 /* the same, for -v */
	bool complete;		 /* otherwise another hard link of a closed file,
			 * or a repository's file, may be writable */
	bool searched;		 /* the scan saw every folder */
};

int ab_survey_make(const struct ab_policy *policy, struct ab_survey *ret, struct ab_error *err);
void ab_survey_fini(struct ab_survey *survey);

#endif
