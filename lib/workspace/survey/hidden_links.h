#pragma once
/*
 * A file that is hidden is hidden under each of its names. The others are looked for in the writable
 * folders, in the reviewed workspace and in hidden folders, and in the home folder with a budget that
 * those cannot use up.
 */
#include "base/base.h"
#include "workspace/tree/guard.h"

struct ab_survey;

struct ab_hidden_links {
	struct ab_guard *v; /* the other names, to be hidden too */
	size_t n;
	struct ab_strv unmet; /* files of which not all names were found, so they can be read */
};

/* About a fifth of a second; only for a file that has other names. */
enum { AB_HIDDEN_LINKS_ENTRIES = 200000 };

/* `hidden`: what denyRead covers. Files inside hidden folders are not looked at. home: or NULL, and half
 * of the `entries` is for it. */
void ab_hidden_links_find(const char *home, const struct ab_survey *survey,
			  const struct ab_guard *hidden, size_t n, size_t entries,
			  struct ab_hidden_links *ret);
void ab_hidden_links_fini(struct ab_hidden_links *links);
