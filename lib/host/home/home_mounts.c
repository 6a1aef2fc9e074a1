#include "host/home/home_mounts.h"

#include "base/process/mount_table.h"

enum { NAMES = 3 }; /* that a sentence has */

static const char *const fit[] = {
	"bcachefs", "btrfs",	"ecryptfs", "erofs", "ext2",   "ext3",	"ext4",
	"f2fs",	    "fuseblk",	"iso9660",  "jfs",   "nilfs2", "ntfs3", "overlay",
	"ramfs",    "reiserfs", "squashfs", "tmpfs", "udf",    "xfs",	"zfs",
};

static bool is_bare(const struct ab_mount_point *m)
{
	return !ab_has_word(fit, AB_COUNT(fit), m->type);
}

/* By what is mounted in the same place later. */
static bool is_covered(const struct ab_mount_table *table, size_t i)
{
	return ab_find_row(table->v + i + 1, table->n - i - 1, path, table->v[i].path) != NULL;
}

static bool is_below(const char *path, const char *home)
{
	return ab_path_within(path, home) && strcmp(path, home) != 0;
}

void ab_home_mounts_find(const struct ab_mount_table *table, const char *home,
			 struct ab_home_mounts *ret)
{
	*ret = (struct ab_home_mounts){ 0 };
	for (size_t i = table->n; i-- > 0;)
		if (is_below(table->v[i].path, home) && !is_covered(table, i)) {
			ab_strv_add(&ret->all, table->v[i].path);
			if (is_bare(&table->v[i]))
				ab_strv_add(&ret->bare, table->v[i].path);
		}
	for (size_t i = 0; i < ret->bare.len; i++)
		for (size_t k = ret->all.len; k-- > 0;)
			if (is_below(ret->all.v[k], ret->bare.v[i]))
				ab_strv_remove(&ret->all, k);
}

void ab_home_mounts_fini(struct ab_home_mounts *mounts)
{
	ab_strv_fini_all(&mounts->all, &mounts->bare);
}

static void put_names(const struct ab_strv *paths, const char *home, struct ab_buf *b)
{
	for (size_t i = 0; i < paths->len && i < NAMES; i++) {
		ab_autofree char *shown = ab_escape(paths->v[i] + strlen(home));

		ab_buf_printf(b, "%s~%s", i ? ", " : "", shown);
	}
	ab_buf_puts(b, paths->len > NAMES ? ", ..." : "");
}

char *ab_home_mounts_line(const struct ab_home_mounts *mounts, const char *home)
{
	struct ab_buf b = { 0 };

	if (!mounts->all.len)
		return NULL;
	ab_buf_puts(&b, "something is mounted below your home folder (");
	put_names(&mounts->all, home, &b);
	ab_buf_puts(&b, "), so each folder in it has a layer of its own and cannot be renamed");
	if (mounts->bare.len) {
		ab_buf_puts(&b, "; read-only, because of the file system: ");
		put_names(&mounts->bare, home, &b);
	}
	return ab_buf_take(&b);
}

const char *ab_home_mounts_served(const struct ab_mount_table *table, const char *home,
				  const char *path)
{
	for (size_t i = table->n; i-- > 0;)
		if (ab_path_within(path, table->v[i].path) && is_bare(&table->v[i]) &&
		    !ab_path_within(home, table->v[i].path) && !is_covered(table, i))
			return table->v[i].path;
	return NULL;
}
