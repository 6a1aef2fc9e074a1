#pragma once
/*
 * Follows a path name by name, and symbolic links by their text, as the kernel
 * does: at most 40 links, ".." of the real folder, "/" above itself.
 *
 * _next and _follow are pure: the caller looks names up itself, for example
 * below a descriptor. _step looks them up by path.
 */
#include "base/data/libc.h"

struct ab_linkwalk {
	char *text;	  /* what `name` and `left` point into */
	const char *name; /* the current name; NULL before the first */
	char *left;	  /* what follows it, without slashes around it */
	unsigned int links;

	/* Of _step only. */
	char *at;	/* the folder that contains `name`: a real path */
	char *path;	/* `name` in it; NULL: not looked up yet */
	struct stat st; /* of `path`, zero if lstat() failed */
};

enum ab_linkwalk_step {
	AB_LINKWALK_NAME,   /* `path` exists and is not a link */
	AB_LINKWALK_LINK,   /* `path` is a link; the next step follows it */
	AB_LINKWALK_END,    /* `at` is where the path leads */
	AB_LINKWALK_FAILED, /* errno says why `path` leads nowhere */
};

/* Begin in the folder `at`, also if `path` has a slash in front. `at` is a
 * real path, or NULL without _step. */
void ab_linkwalk_init(struct ab_linkwalk *w, const char *at, const char *path);
void ab_linkwalk_fini(struct ab_linkwalk *w);
#define ab_autolinkwalk __attribute__((cleanup(ab_linkwalk_fini)))

/* Go to the next name, which may be "." or ".."; false at the end. A trailing
 * slash is ignored. */
bool ab_linkwalk_next(struct ab_linkwalk *w);
/* The current name is a link to `target`: continue with that text. The caller
 * goes to the root if it begins with a slash. NULL: count a link that has no
 * text. -1 with errno: ELOOP, or ENOENT for an empty text. */
int ab_linkwalk_follow(struct ab_linkwalk *w, const char *target);

/* Go to the next name other than "." and "..". A path that grows beyond
 * PATH_MAX fails with ENAMETOOLONG. */
enum ab_linkwalk_step ab_linkwalk_step(struct ab_linkwalk *w);
