#pragma once
/*
 * The configuration files of the repositories that existed at the start: read-only mounts in the
 * box, and changed for it from here.
 *
 * A new version is written into the repository's hooks folder, which a read-only mount covers in the
 * box. There it gets its own mount, and only then it takes the place of the old file, by
 * RENAME_EXCHANGE: a mount belongs to the name's object and moves with it. So the box can open
 * neither the new nor the old file for writing at any time.
 *
 * The mount must be made where the file will be: config and hooks are in the mount of ".git", and
 * .gitmodules is in the one around it, in which ".git/hooks" can be reached from below the mount of
 * ".git" only. A worktree's config.worktree is in another mount than the hooks of its repository,
 * and is not changed.
 *
 * .gitmodules may be created like this, too. It gets its mount then, and stays.
 */
#include "base/base.h"
#include "workspace/git/gitchange.h"

struct ab_inside;
struct ab_plan;

struct ab_git_files;

/* One of them. */
struct ab_git_file {
	struct ab_git_repo *repo;
	const char *name;    /* "config", "config.worktree" or ".gitmodules" */
	char *path;	     /* real */
	bool is_config;	     /* git obeys it in every command; not .gitmodules */
	int dir;	     /* its folder on the host */
	int stage;	     /* a folder in the box from which the prepared file is reached */
	char staged[48];     /* its path from there */
	bool missing;	     /* only .gitmodules */
	struct stat st;	     /* as it was known last */
	struct ab_buf known; /* its content then */
};

/* `walls`: see ab_mounts_apply(); it takes the descriptors that it needs. The plan lives longer. */
struct ab_git_files *ab_git_files_open(const struct ab_plan *plan, struct ab_fds *walls,
				       const char *run_id);

/* Remove the prepared file of a run that was killed at that moment from these git directories. */
void ab_git_files_clean(const struct ab_strv *repos, const char *run_id);

/* By its path, or by its name in the folder that has this device and inode; or NULL. */
struct ab_git_file *ab_git_files_find(struct ab_git_files *files, const char *path);
struct ab_git_file *ab_git_files_at(struct ab_git_files *files, const struct stat *dir,
				    const char *name);

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
 * The box renames `from`, in the same folder, to the file: do it for the box, if it is the lock file
 * and every change is harmless. 0: done; otherwise an errno for the box, and *ret says why (EACCES:
 * the change is refused).
 */
int ab_git_file_commit(struct ab_git_file *file, const struct ab_inside *in, const char *from,
		       struct ab_gitchange *ret);
