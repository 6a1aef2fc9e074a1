#include "base/system/own_path.h"

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/linkwalk.h"
#include "base/system/path.h"

/* In a user namespace without it, root appears as the owner of the kernel's files. */
static bool is_root(uid_t uid)
{
	struct stat st;

	return uid == 0 || (stat("/proc", &st) == 0 && uid == st.st_uid);
}

static bool is_trusted(uid_t uid)
{
	return uid == geteuid() || is_root(uid);
}

/* In a folder with the sticky bit, others cannot replace files. */
static const char *find_fault(const struct stat *st)
{
	if (!is_trusted(st->st_uid))
		return "belongs to another user";
	if ((st->st_mode & 022) && !(S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX)))
		return "can be written by others";
	return NULL;
}

/* The real path, if no link of another user is on the way. */
static char *follow_own(const char *path)
{
	ab_autolinkwalk struct ab_linkwalk w;
	enum ab_linkwalk_step step;

	ab_linkwalk_init(&w, "/", path);
	while ((step = ab_linkwalk_step(&w)) <= AB_LINKWALK_LINK)
		if (step == AB_LINKWALK_LINK && !is_trusted(w.st.st_uid)) {
			errno = EPERM;
			return NULL;
		}
	return step == AB_LINKWALK_END ? ab_take(w.at) : NULL;
}

int ab_own_path_open(const char *path, int flags)
{
	int fd = ab_open_real(AT_FDCWD, path, flags, 0);
	ab_autofree char *real = NULL;

	if (fd >= 0 || errno != ELOOP)
		return fd;
	real = follow_own(path);
	return real ? ab_open_real(AT_FDCWD, real, flags, 0) : -1;
}

const char ab_own_path_unknown[] = "cannot be examined";

static const char *check_folder(const char *file, char **ret_where)
{
	ab_autofree char *dir = ab_path_parent(file);
	const char *fault;
	struct stat st;

	fault = stat(dir, &st) < 0 ? ab_own_path_unknown : find_fault(&st);
	if (fault)
		*ret_where = ab_take(dir);
	return fault;
}

const char *ab_own_path_check(int fd, const char *path, char **ret_where)
{
	ab_autofree char *real = ab_fd_path(fd);
	const char *fault = ab_own_path_unknown;
	struct stat st;

	if (real && fstat(fd, &st) == 0)
		fault = find_fault(&st);
	if (fault) {
		*ret_where = ab_strdup(path);
		return fault;
	}
	fault = check_folder(real, ret_where);
	return fault || strcmp(real, path) == 0 ? fault : check_folder(path, ret_where);
}

const char *ab_own_path_check_root(int fd, const char *path, char **ret_where)
{
	ab_autofree char *dir = ab_path_parent(path);
	static const char foreign[] = "does not belong to root";
	struct stat file, folder;
	const char *fault = NULL;

	if (fstat(fd, &file) < 0 || stat(dir, &folder) < 0)
		fault = ab_own_path_unknown;
	else if (!is_root(file.st_uid) || !is_root(folder.st_uid))
		fault = foreign;
	if (fault)
		*ret_where = ab_strdup(fault == foreign && is_root(file.st_uid) ? dir : path);
	return fault;
}
