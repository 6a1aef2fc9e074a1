#ifndef AB_WORKSPACE_SURVEY_SURVEY_H
#define AB_WORKSPACE_SURVEY_SURVEY_H
/*
 * What is in the writable roots, seen once before the box exists: which
 * protected objects there are (the mount plan closes them), which protected
 * names are still missing (the broker watches for them), and which git
 * directories a worktree or submodule needs beside its own folder.
 *
 * Nothing on the disk is created or changed. The roots may be hostile before
 * the start too: paths are real, read without following links, and every
 * walk is bounded. Repositories are known from git's own lists (worktrees,
 * modules) and from a scan to depth 5; a folder with HEAD, objects and refs
 * counts as one, because git takes it for one.
 *
 * The mount plan binds every folder between a writable root and a closed
 * object on itself, and every watched folder as well, so that none of them
 * can be renamed away and replaced.
 */
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/data/strv.h"
#include "workspace/tree/guard.h"

struct ab_error;
struct ab_policy;

/*
 * Names that did not exist in `dir` at the start and must not appear there.
 * A name may have several components and patterns (workspace/tree/names.h).
 */
struct ab_watch {
	char *dir;
	dev_t dev;
	ino_t ino;
	struct timespec changed; /* its ctime at the start */
	struct ab_strv names;
};

struct ab_survey {
	struct timespec started; /* before the first look */
	struct ab_strv write;	 /* the roots that exist, and git directories */
	struct ab_guard *closed; /* settled: parents first, none twice */
	size_t nclosed;
	struct ab_watch *watch;
	size_t nwatch;
	struct ab_strv repos;	 /* git directories that exist (real paths) */
	struct ab_strv names;	 /* protected names at the top of a folder */
	struct ab_strv findings; /* sentences for the user */
	struct ab_strv notes;	 /* the same, for those who ask for more */
	bool complete;		 /* else another hard link of a closed file, or a
			 * repository's file, may be writable */
	bool searched;		 /* the scan saw every folder that it looks for */
};

int ab_survey_make(const struct ab_policy *policy, struct ab_survey *ret, struct ab_error *err);
void ab_survey_fini(struct ab_survey *survey);

#endif
