#pragma once
/*
 * Examines the writable roots once, before the box exists: which protected objects
 * exist (the mount plan closes them), which protected names are missing (the
 * broker watches for them), and which git directories a worktree or submodule
 * needs in addition to its own folder.
 *
 * Nothing is created or changed, except that a repository without a folder of hooks
 * gets an empty one. The roots may be hostile even before the start: paths are
 * real, links are not followed, and every walk is bounded. Repositories are known
 * from git's own lists (worktrees, modules) and from a search of all folders; a
 * folder with HEAD, objects and refs counts as one, as it does for git. A folder
 * that was not searched is reported, and `complete` is false.
 *
 * The mount plan makes every folder between a writable root and a closed object a
 * mount point, and every watched folder as well, so that none of them can be
 * renamed and replaced.
 */
#include "base/base.h"
#include "workspace/tree/guard.h"
#include "workspace/tree/names.h"

struct ab_policy;

/*
 * Names that did not exist in `dir` at the start and must not be created there. A
 * name may have several components and patterns (workspace/tree/names.h). "!x": x
 * matches a pattern, but existed and is protected by itself.
 */
struct ab_watch {
	char *dir;
	dev_t dev;
	ino_t ino;
	struct timespec changed; /* its ctime at the start */
	bool top;		 /* the top of a writable root or repository */
	struct ab_strv names;
};

/* A file that is open to the box, but reported if it changes (project_files.h). */
struct ab_project_file {
	char *path;
	struct timespec changed; /* its ctime at the start */
};

/* The permissions of a folder at the start. */
struct ab_folder_mode {
	char *path;
	dev_t dev;
	ino_t ino;
	mode_t mode; /* 0: it was not there */
	bool acl;    /* new files in it get a list of rights from it */
	struct timespec changed;
};

struct ab_survey {
	struct timespec started; /* before the first check */
	struct ab_strv write;	 /* existing roots, and git directories */
	/* Folders of filesystem.share, and other writable folders in them: only in the latter the box
	 * may leave links (quarantine/shared.h). */
	struct ab_strv shared, unshared;
	/* Of each of `shared`, then of folders below them that give others more rights than usual. None: it
	 * is not known any more. */
	struct ab_folder_mode *modes;
	size_t nmodes;
	mode_t mask; /* with them: the caller's umask */
	/* The workspace, if its changes go to a layer (filesystem.review): nothing in it is examined or
	 * protected, because no program outside reads the layer. Not in `write`. Or NULL. */
	char *reviewed;
	struct ab_guard *closed; /* settled: parents first, each once */
	size_t nclosed;
	struct ab_watch *watch;
	size_t nwatch;
	struct ab_project_file *project;
	size_t nproject;
	struct ab_strv repos;	 /* existing git directories (real paths) */
	struct ab_names names;	 /* protected at the top of a folder; no others */
	struct ab_strv findings; /* sentences for the user */
	struct ab_strv notes;	 /* the same, for -v */
	bool complete;		 /* otherwise another hard link of a closed file,
			 * or a repository's file, may be writable */
};

/* How many entries of the writable folders are searched, and how many in folders of
 * generated files (node_modules and the like). */
struct ab_survey_limits {
	size_t entries, generated;
	bool look_only; /* create nothing, also not a missing folder of hooks */
};
#define AB_SURVEY_USUAL .entries = 1000000, .generated = 10000

/* Does the policy want the changes of a workspace reviewed that the run may write? */
bool ab_survey_reviews(const struct ab_policy *policy);
/*
 * env: the caller's, which says where the user's git configuration is. limits: NULL for
 * the usual ones.
 */
int ab_survey_make(const struct ab_policy *policy, char *const *env,
		   const struct ab_survey_limits *limits, struct ab_survey *ret,
		   struct ab_error *err);
/* Fills everything but the path; without the folder it is all 0. */
void ab_folder_mode_read(const char *path, struct ab_folder_mode *ret);
/* Did this entry of a watched folder exist at the start, though a pattern matches it? */
bool ab_survey_existed(const struct ab_survey *survey, const char *dir, const char *entry);
void ab_survey_fini(struct ab_survey *survey);
