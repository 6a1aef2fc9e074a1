#include "workspace/git/gitlink.h"

#include "workspace/git/gitconfig.h"
#include "workspace/tree/dir.h"

/* git stops at a NUL byte and we would not: such a file is ambiguous, so it is not
 * accepted. */
char *ab_gitlink_line(const char *data, size_t len)
{
	while (len > 0 && (data[len - 1] == '\n' || data[len - 1] == '\r'))
		len--;
	if (len == 0 || len > AB_GITLINK_MAX || memchr(data, '\0', len))
		return NULL;
	return ab_strndup(data, len);
}

/* The path ends at a NUL byte, but only the file's end is trimmed: as in git. */
char *ab_gitlink_parse(const char *data, size_t len)
{
	static const char head[] = "gitdir: ";
	size_t n = sizeof(head) - 1;

	if (len < n || memcmp(data, head, n) != 0)
		return NULL;
	while (len > n && (data[len - 1] == '\n' || data[len - 1] == '\r'))
		len--;
	len = strnlen(data + n, len - n);
	return len > 0 && len <= AB_GITLINK_MAX ? ab_strndup(data + n, len) : NULL;
}

/* NULL with errno. */
static char *read_line(int dir, const char *name, size_t max, char *(*parse)(const char *, size_t))
{
	ab_autofree char *data = NULL, *line = NULL;
	size_t len;

	if (ab_read_small(dir, name, max, &data, &len) < 0)
		return NULL;
	line = parse(data, len);
	if (!line)
		errno = ENOENT;
	return ab_take(line);
}

/* Open the folder `path`, relative to `dir`; follows links. */
static int open_folder(int dir, const char *path, char **ret_real)
{
	ab_autoclose int fd = openat(dir, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *real;

	if (fd < 0)
		return -1;
	real = ab_real_path(fd);
	if (!real)
		return -1;
	*ret_real = real;
	return ab_take_fd(&fd);
}

static bool has_entry(int dir, const char *name, bool folder)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (folder ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode) || S_ISLNK(st.st_mode));
}

bool ab_is_gitdir_at(int dir)
{
	return has_entry(dir, "HEAD", false) && has_entry(dir, "objects", true) &&
	       has_entry(dir, "refs", true);
}

bool ab_is_gitdir(const char *path)
{
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, path, O_PATH | O_DIRECTORY);

	return fd >= 0 && ab_is_gitdir_at(fd);
}

/* git does not use a repository of another user, and neither do we. */
static bool is_owned_by(int dir, uid_t owner)
{
	struct stat st;

	return fstat(dir, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == owner);
}

static void take_worktree(void *arg, const char *key, const char *value)
{
	char **last = arg;

	if (strcmp(key, "core.worktree") != 0)
		return;
	/* git refuses a file with one that has no value. */
	free(*last);
	*last = value ? ab_strdup(value) : NULL;
}

char *ab_gitlink_worktree(int gitdir, const char *file)
{
	ab_autofree char *data = NULL, *last = NULL;
	size_t len;

	if (ab_read_small(gitdir, file, AB_GITCONFIG_MAX, &data, &len) < 0 ||
	    ab_gitconfig_parse(data, len, take_worktree, &last))
		return NULL;
	return ab_take(last);
}

static bool leads_to(int dir, const char *path, const char *top)
{
	ab_autofree char *real = NULL;
	ab_autoclose int fd = open_folder(dir, path, &real);

	return fd >= 0 && strcmp(real, top) == 0;
}

static bool submodule_points_back(int gitdir, const char *top)
{
	ab_autofree char *to = ab_gitlink_worktree(gitdir, "config");

	return to && leads_to(gitdir, to, top);
}

/*
 * Compare paths, not inodes: a hard link to another worktree's .git file has the same
 * inode, but is in another folder.
 */
static bool worktree_points_back(int gitdir, const char *top)
{
	ab_autofree char *back = read_line(gitdir, "gitdir", AB_GITLINK_MAX, ab_gitlink_line);
	char *slash = back ? strrchr(back, '/') : NULL;

	if (!slash || strcmp(slash, "/.git") != 0)
		return false;
	if (slash == back)
		slash++;
	*slash = '\0';
	return leads_to(gitdir, back, top);
}

/* COMMON/worktrees/NAME, and nothing deeper or elsewhere. */
static bool is_admin_of(const char *gitdir, const char *common)
{
	ab_autofree char *worktrees = ab_path_parent(gitdir);
	ab_autofree char *above = ab_path_parent(worktrees);

	return strcmp(ab_path_name(worktrees), "worktrees") == 0 && strcmp(above, common) == 0;
}

static const char *check_worktree(int gitdir, const char *top, uid_t owner, struct ab_gitlink *l)
{
	ab_autofree char *to = read_line(gitdir, "commondir", AB_GITLINK_MAX, ab_gitlink_line);
	ab_autoclose int common = -1;

	if (to)
		common = open_folder(gitdir, to, &l->common);
	if (common < 0)
		return "its commondir does not exist";
	if (!is_admin_of(l->gitdir, l->common) || !ab_is_gitdir_at(common))
		return "its commondir is not the repository that contains it";
	if (!is_owned_by(common, owner) || !is_owned_by(gitdir, owner))
		return "the repository belongs to another user";
	if (!worktree_points_back(gitdir, top))
		return "that repository does not list this folder as a worktree";
	return NULL;
}

static const char *check_submodule(int gitdir, const char *top, uid_t owner, struct ab_gitlink *l)
{
	l->common = ab_strdup(l->gitdir);
	if (!ab_is_gitdir_at(gitdir))
		return "that folder is not a git directory";
	if (!is_owned_by(gitdir, owner))
		return "the repository belongs to another user";
	if (!submodule_points_back(gitdir, top))
		return "its core.worktree does not point back to this folder";
	return NULL;
}

/* Why it is not verified, or NULL. */
static const char *follow_link(const char *top, struct ab_gitlink *ret)
{
	ab_autoclose int dir = ab_open_beneath(AT_FDCWD, top, O_PATH | O_DIRECTORY);
	ab_autofree char *to = NULL;
	ab_autoclose int gitdir = -1;
	struct stat st;

	if (dir < 0 || fstat(dir, &st) < 0)
		return "the folder cannot be opened";
	to = read_line(dir, ".git", AB_GITFILE_MAX, ab_gitlink_parse);
	if (!to)
		return "it has no \"gitdir: PATH\" line";
	gitdir = open_folder(dir, to, &ret->gitdir);
	if (gitdir < 0)
		return "the folder that it names does not exist";
	return has_entry(gitdir, "commondir", false) ? check_worktree(gitdir, top, st.st_uid, ret)
						     : check_submodule(gitdir, top, st.st_uid, ret);
}

int ab_gitlink_read(const char *top, struct ab_gitlink *ret)
{
	*ret = (struct ab_gitlink){ 0 };
	ret->why = follow_link(top, ret);
	return ret->gitdir ? 0 : -1;
}

void ab_gitlink_fini(struct ab_gitlink *link)
{
	ab_free_all(link->gitdir, link->common);
	*link = (struct ab_gitlink){ 0 };
}
