#include "layer/walk/points.h"

#include <sys/xattr.h>

#include "base/system/folder.h"
#include "layer/walk/look.h"

void ab_points_add(struct ab_strv *points, const char *path, mode_t mode)
{
	ab_strv_addf(points, "%o %s", (unsigned)mode & 07777, path);
}

bool ab_points_has(const struct ab_strv *points, const char *path, mode_t mode)
{
	ab_autofree char *entry =
		points->len ? ab_printf("%o %s", (unsigned)mode & 07777, path) : NULL;

	return entry && ab_strv_has(points, entry);
}

/* A folder that is not opaque, which one in place of a removed folder is; -1: it is another one now. */
static int open_made(int dir, const char *name, mode_t mode)
{
	ab_autoclose int fd = ab_open_same_mount(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || (st.st_mode & 07777) != (mode & 07777) ||
	    fgetxattr(fd, "user.overlay.opaque", NULL, 0) >= 0 ||
	    (errno != ENODATA && errno != EOPNOTSUPP))
		return -1;
	return ab_take_fd(&fd);
}

bool ab_points_untouched(const struct ab_strv *points, const char *path, int dir, const char *name,
			 mode_t mode)
{
	ab_autoclose int fd = ab_points_has(points, path, mode) ? open_made(dir, name, mode) : -1;
	ab_autodir DIR *entries = fd < 0 ? NULL : ab_folder_list(fd, ".");

	return entries && !ab_folder_next(entries);
}

void ab_points_tidy(struct ab_strv *points, int upper)
{
	struct ab_parent parent = AB_PARENT_NONE;

	/* What is in a folder was made after it. */
	for (size_t i = points->len; i-- > 0;) {
		char *path;
		mode_t mode = (mode_t)strtoul(points->v[i], &path, 8);
		const char *name;
		int dir = ab_parent_open(&parent, upper, path + (*path == ' '), &name);
		ab_autoclose int fd = dir < 0 ? -1 : open_made(dir, name, mode);

		if (fd < 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0)
			ab_strv_remove(points, i);
	}
	ab_parent_fini(&parent);
}
