#pragma once
/* Shared by the files of the survey. */
#include "workspace/survey/hardlinks.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/names.h"

struct ab_walk;

struct ab_surveyor {
	struct ab_survey *out;
	struct ab_names names;
	const char *home;
	const struct ab_survey_limits *limits;
	struct ab_walk *walk; /* the scan */
	struct ab_strv roots; /* the requested folders, as real paths */
	struct ab_strv extra; /* git directories that are also writable */
	struct ab_strv tops;  /* folders whose names were already checked */
	struct ab_strv later; /* checkouts known from git's own lists */
	/* Paths that the user's configuration of git names in each checkout. */
	struct ab_strv shared;
	size_t paths;	  /* that configuration files have named */
	size_t looked;	  /* entries read in closed folders */
	size_t shut;	  /* folders that were closed because they cannot be searched */
	size_t unguarded; /* repositories beyond the limit */
	dev_t spelled;	  /* the file system that was asked about spellings last */

	struct ab_hardlinks links; /* closed files with several names */

	struct ab_strv deep; /* the first protected names below the tops */
	size_t ndeep;	     /* and their number */
};

/* Is the path, or something above it, writable? */
bool ab_survey_inside(const struct ab_surveyor *s, const char *path);

/* Something could not be examined. A missing file needs no protection; after any
 * other error the survey is incomplete. */
void ab_survey_unsure(struct ab_surveyor *s, const char *path, int errnum);

/* survey_guard.c: close `name` in the folder `dir` (a real path), or watch for it;
 * close the other hard links of closed files. */
void ab_survey_guard(struct ab_surveyor *s, const char *dir, const char *name);
/* The same for a path without pattern characters, such as a link's target. */
void ab_survey_guard_literal(struct ab_surveyor *s, const char *dir, const char *name);
/* Follow `name` and pin its links. If `final`, the object at its end is closed and the first missing
 * name watched for. The real path at its end; NULL if it does not exist. */
char *ab_survey_follow(struct ab_surveyor *s, const char *dir, const char *name, bool final);
/* Close a folder (a real path) as a whole, whatever it contains: its files are not
 * protected under other names. */
void ab_survey_close_folder(struct ab_surveyor *s, const char *path);
/* The watch of a folder, created if necessary; NULL if it is not writable. */
struct ab_watch *ab_survey_watched(struct ab_surveyor *s, const char *dir);
void ab_survey_guard_absolute(struct ab_surveyor *s);
void ab_survey_hardlinks(struct ab_surveyor *s);

/* survey_git.c: add the git directories that the roots need; guard the repository
 * checked out in `top`; guard a git directory, checked out in `top` or NULL. */
void ab_survey_extend(struct ab_surveyor *s);
void ab_survey_checkout(struct ab_surveyor *s, const char *top);
void ab_survey_gitdir(struct ab_surveyor *s, const char *gitdir, const char *top);
/* A folder that git calls a checkout; examined later if it is in a writable root. */
void ab_survey_add_later(struct ab_surveyor *s, const char *path);

/* survey_config.c: guard what the configuration of the git directory (open as fd)
 * names; read the user's and the system's configuration; guard what those name in
 * a checkout. */
void ab_survey_config(struct ab_surveyor *s, int fd, const char *gitdir, const char *top);
void ab_survey_shared_config(struct ab_surveyor *s, char *const *env);
void ab_survey_share(struct ab_surveyor *s, const char *base);
