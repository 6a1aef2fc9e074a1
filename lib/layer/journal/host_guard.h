#pragma once
/*
 * Asked before files of the host are changed: new files are staged beside their place, where a box
 * that can write there could change them. Given by the caller, who knows which boxes there are
 * (state/claim.h).
 */
#include "base/base.h"

struct ab_host_guard {
	/* May `paths` in the folder `root` be changed (NULL: everything in it)? From then on until
	 * leave() nobody else does. */
	int (*enter)(struct ab_host_guard *guard, const char *root, const struct ab_strv *paths,
		     struct ab_error *err);
	void (*leave)(struct ab_host_guard *guard);
};
