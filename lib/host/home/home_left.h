#pragma once
/*
 * What a run leaves in the temporary layers of its home, which end with it. The box is gone, and what
 * it left is hostile: names are bytes, folders are entered by descriptor and without links, and the
 * search is bounded.
 */
#include "base/base.h"

struct ab_spec;

enum { AB_HOME_LEFT_NAMES = 3, AB_HOME_LEFT_MAX = 20000, AB_HOME_LEFT_DEPTH = 64 };

struct ab_home_left {
	size_t files;	      /* neither caches nor logs; written or removed */
	struct ab_strv names; /* the first few, escaped: "~/.gitconfig", "~/x (removed)" */
	size_t seen;	      /* entries, of at most AB_HOME_LEFT_MAX */
	bool cut;	      /* there is more than was looked at */
};

/* Search one layer. `upper` is its folder; `prefix` its path below the home folder, "" or
 * ".cache". */
void ab_home_left_search(int upper, const char *prefix, struct ab_home_left *ret);
void ab_home_left_fini(struct ab_home_left *left);

/* The sentences for the end of a run: `stage` is the box's staging tmpfs, `home` the real path of the
 * home folder or NULL. Nothing if the run wrote nothing. */
void ab_home_left_lines(const struct ab_spec *spec, int stage, const char *home,
			struct ab_strv *ret);
