#ifndef AB_SESSION_WRITES_GIT_RENAME_H
#define AB_SESSION_WRITES_GIT_RENAME_H
/*
 * git changes its configuration with a rename: config.lock becomes config. In a repository that
 * existed at the start the box has a mount on config, and the kernel would refuse the rename. So the
 * broker is asked to do it (session/walls/git_files.h), and the caller waits for its answer. The same
 * for .gitmodules, which the box may not create itself.
 *
 * The names that are read here decide only whether to ask: the broker compares the folder with
 * those that it holds, and reads the new content itself.
 */
#include <stdbool.h>

struct ab_folder_renames;
struct ab_git_renames;
struct ab_held;
struct ab_judge;
struct ab_survey;

/* NULL: there is no broker to ask. The survey lives longer. `folders` (or NULL) gets its answers
 * from the same socket. */
struct ab_git_renames *ab_git_renames_open(struct ab_judge *judge, const struct ab_survey *survey,
					   struct ab_folder_renames *folders);

/* A name of the call: the text, relative to a descriptor of the caller or AT_FDCWD. */
struct ab_git_name {
	int dir;
	const char *text;
};

/* True: the broker was asked, and the call is answered later. */
bool ab_git_renames_ask(struct ab_git_renames *renames, struct ab_judge *judge,
			const struct ab_held *call, const struct ab_git_name *from,
			const struct ab_git_name *to);

#endif
