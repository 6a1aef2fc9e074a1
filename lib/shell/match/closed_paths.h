#pragma once
/*
 * The files that the policy closes (filesystem.denyRead): the judge gives the same
 * answer about them as the box. Compared by text; links are not followed.
 *
 * The list is long and every path of every command is compared with it, so a filter
 * over the first components of its entries comes first. The list and the
 * folder must stay alive.
 */
#include "base/base.h"
#include "shell/command/path_place.h"

struct ab_closed {
	const struct ab_strv *names; /* absolute; "!path" takes back an earlier match */
	/* Filters over the first components of the entries, up to a pattern: what is at or
	 * below such a folder may be closed; what is above it has closed files in it. */
	uint64_t closes[64], contains[64];
	bool unfiltered; /* an entry begins with a pattern */
	/* The folder in which most commands run, and whether anything below it is closed. */
	struct ab_text cwd;
	bool below_cwd;
};

void ab_closed_init(struct ab_closed *closed, const struct ab_strv *deny_read, const char *cwd);
/* False: nothing at or below this folder is closed, as the filters show. */
bool ab_closed_below(const struct ab_closed *closed, struct ab_text folder);
bool ab_closed_has(const struct ab_closed *closed, const struct ab_path *path);
