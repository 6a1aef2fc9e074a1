#pragma once
/*
 * Keeps the mounts in force that close or hide single objects in the box.
 *
 * The kernel drops a mount, in every namespace, when what it is mounted on is removed or renamed
 * over from outside: a `git config` on the host replaces .git/config and with it our mount. The
 * kernel reports that on the box's mountinfo, and the wall is put up again, usually within a
 * millisecond. Until then the box can access the new file:
 *
 * - A configuration file of git is replaced once more, with our own copy, so that a descriptor the
 *   box got in between leads nowhere (git_files.h). Then the content is compared. What the box
 *   might have changed itself is only reported; any other change ends a strict run.
 * - Any other protected file cannot be replaced like that, so a strict run ends.
 * - A hidden file may have been read: it is hidden again and reported.
 *
 * A file that denyRead covers and that is created during the run, where the box cannot write, is
 * hidden when it is seen, and reported (denied_watch.h).
 */
#include "base/base.h"

struct ab_gitchange;
struct ab_spec;
struct ab_wall_watch;
struct stat;

struct ab_wall_watch_setup {
	const struct ab_spec *spec;
	const struct ab_strv *secret; /* files that are hidden or covered because they contain
				       * secrets */
	const struct ab_strv *deny;   /* filesystem.denyRead, or NULL */
	bool strict;
};

/* Remembers what the plan closes and masks, as it is now. What the setup points to lives longer. */
struct ab_wall_watch *ab_wall_watch_open(const struct ab_wall_watch_setup *setup);

/* The box is built: `pid` and `pidfd` of its init, and the descriptors of ab_mounts_apply(), of which
 * it takes some. Nothing is checked before. */
void ab_wall_watch_start(struct ab_wall_watch *watch, pid_t pid, int pidfd, struct ab_fds *walls);
bool ab_wall_watch_started(const struct ab_wall_watch *watch);

/* Poll for POLLPRI, then call event(); -1: there is nothing to poll. look() is for the regular
 * check. end() is for the time after the box. release() lets go of what it has of the box. */
int ab_wall_watch_fd(const struct ab_wall_watch *watch);
void ab_wall_watch_event(struct ab_wall_watch *watch);
void ab_wall_watch_look(struct ab_wall_watch *watch);
void ab_wall_watch_release(struct ab_wall_watch *watch);
void ab_wall_watch_end(struct ab_wall_watch *watch);

/* Must a strict run end? True once, with the error. */
bool ab_wall_watch_failed(struct ab_wall_watch *watch, struct ab_error *ret);
/* The next sentence about what was seen, or NULL; and all of them. */
const char *ab_wall_watch_line(struct ab_wall_watch *watch);
void ab_wall_watch_lines(const struct ab_wall_watch *watch, struct ab_strv *ret);

/*
 * The box renames `from` to `to`, a git configuration file, in the folder that has this device and
 * inode. -1: not a file that agentbox closed; else see ab_git_file_commit(). *ret_path: the file;
 * *ret_created: it did not exist.
 */
int ab_wall_watch_commit(struct ab_wall_watch *watch, const struct stat *dir, const char *from,
			 const char *to, const char **ret_path, bool *ret_created,
			 struct ab_gitchange *ret);
