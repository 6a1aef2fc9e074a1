#ifndef AB_SESSION_WALLS_GIT_FILES_H
#define AB_SESSION_WALLS_GIT_FILES_H
/*
 * The configuration files of the repositories that existed at the start: read-only mounts in the
 * box, and changed for it from here.
 *
 * A new version is written into the repository's hooks folder, which a read-only mount covers in the
 * box. There it gets its own mount, and only then it takes the place of the old file, by
 * RENAME_EXCHANGE: a mount belongs to the name's object and moves with it. So the box can open
 * neither the new nor the old file for writing at any time.
 *
 * Files in a folder without a closed hooks folder of its own are not changed: a worktree's
 * config.worktree is in another mount than the hooks of its repository.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/data/buf.h"
#include "workspace/git/gitchange.h"

struct ab_fds;
struct ab_inside;
struct ab_plan;

struct ab_git_files;

/* One of them. */
struct ab_git_file {
	struct ab_git_repo *repo;
	const char *name;    /* "config" or "config.worktree" */
	char *path;	     /* real */
	struct stat st;	     /* as it was known last */
	struct ab_buf known; /* its content then */
};

/* `walls`: see ab_mounts_apply(); it takes the descriptors that it needs. The plan lives longer. */
struct ab_git_files *ab_git_files_open(const struct ab_plan *plan, struct ab_fds *walls,
				       const char *run_id);
void ab_git_files_free(struct ab_git_files *files);

struct ab_git_file *ab_git_files_find(struct ab_git_files *files, const char *path);

/* Read it again if it was written on the host meanwhile: its mount kept the box out. */
void ab_git_file_refresh(struct ab_git_file *file);

/*
 * Replace it with our own copy of what it contains now, after a program on the host has replaced
 * it: whatever the box opened in between is a file without a name then. 0 or an errno; EAGAIN: the
 * host has replaced it again. *ret_allowed: false if the copy has a change that the box may not make,
 * compared with what was known; then see *ret. Both are unchanged if it could not be read.
 */
int ab_git_file_renew(struct ab_git_file *file, const struct ab_inside *in, bool *ret_allowed,
		      struct ab_gitchange *ret);

/* The same comparison, after the box: true if the box might have made the change. */
bool ab_git_file_compare(const struct ab_git_file *file, struct ab_gitchange *ret);

/*
 * The box renames `from` to `to` in the folder that has this device and inode: do it for the box, if
 * `from` is the lock file of `to` and every change is harmless. 0: done; -1: `to` is none of the
 * files; otherwise an errno for the box: see *ret and *ret_path (EACCES: the change is refused).
 */
int ab_git_files_commit(struct ab_git_files *files, const struct ab_inside *in,
			const struct stat *dir, const char *from, const char *to,
			const char **ret_path, struct ab_gitchange *ret);

#endif
