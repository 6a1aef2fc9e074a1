#pragma once
/*
 * git changes its configuration with a rename: config.lock becomes config. In a repository that
 * existed at the start the box has a mount on config, and the kernel would refuse the rename. So the
 * broker is asked to do it (guard/walls/git_files.h), and the caller waits for its answer. The same
 * for .gitmodules, which the box may not create itself.
 *
 * The names that are read here decide only whether to ask: the broker compares the folder with
 * those that it holds, and reads the new content itself.
 */
#include "base/base.h"

struct ab_guard;
struct ab_held;
struct ab_held_renames;
struct ab_call_name;
struct ab_survey;

struct ab_git_renames {
	struct ab_held_renames *held; /* NULL: nobody is asked */
	const struct ab_survey *survey;
	/* The last target that the mounts decide about, if it was an absolute path: a clone replaces
	 * its config ten times in a row, and each look takes 20 system calls. An outdated answer
	 * leaves it to the mounts, too. */
	char other[PATH_MAX];
};

/* True: the broker was asked, and the call is answered later. */
bool ab_git_renames_ask(struct ab_git_renames *renames, struct ab_guard *guard,
			const struct ab_held *call, const struct ab_call_name *from,
			const struct ab_call_name *to);
