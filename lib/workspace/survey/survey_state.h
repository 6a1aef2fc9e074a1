#ifndef AB_WORKSPACE_SURVEY_SURVEY_STATE_H
#define AB_WORKSPACE_SURVEY_SURVEY_STATE_H
/* What the files of the survey share while it is made. */
#include "workspace/survey/survey.h"
#include "workspace/tree/names.h"

struct ab_listing;

struct ab_surveyor {
	struct ab_survey *out;
	struct ab_names names;
	const char *home;
	struct ab_strv roots; /* as asked for, real paths, folders only */
	struct ab_strv extra; /* git directories opened beside them */
	struct ab_strv tops;  /* folders whose names are looked at already */
	struct ab_strv later; /* checkouts known from git's own lists */
	size_t looked;	      /* entries read in closed folders */

	struct ab_hardlink { /* a closed file with several names */
		dev_t dev;
		ino_t ino;
		nlink_t names, found;
	} * links;
	size_t nlinks;

	struct ab_strv deep; /* protected names below the tops: the first */
	size_t ndeep;	     /* and how many */
};

/* The path, or something above it, is writable. */
bool ab_survey_inside(const struct ab_surveyor *s, const char *path);

/* Something could not be looked at. What is not there needs no protection; any
 * other answer means that we do not know. */
void ab_survey_unsure(struct ab_surveyor *s, int errnum);

/* survey_guard.c: close `name` in the folder `dir` (a real path), or watch
 * for it; close the other hard links of what was closed. */
void ab_survey_guard(struct ab_surveyor *s, const char *dir, const char *name);
/* The same for a way without pattern characters, like a link's target. */
void ab_survey_guard_literal(struct ab_surveyor *s, const char *dir, const char *name);
/* The real path of `name`, its links pinned but the object left open; NULL
 * when it does not exist. */
char *ab_survey_pin(struct ab_surveyor *s, const char *dir, const char *name);
/* The watch of a folder, made when there is none; NULL: nobody writes there. */
struct ab_watch *ab_survey_watched(struct ab_surveyor *s, const char *dir);
void ab_survey_guard_absolute(struct ab_surveyor *s);
void ab_survey_hardlinks(struct ab_surveyor *s);

/* survey_git.c: the git directories that the roots need; the repository
 * checked out in `top`; a git directory, checked out in `top` or NULL. */
void ab_survey_extend(struct ab_surveyor *s);
void ab_survey_checkout(struct ab_surveyor *s, const char *top);
void ab_survey_gitdir(struct ab_surveyor *s, const char *gitdir, const char *top);

#endif
