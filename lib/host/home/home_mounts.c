#include "host/home/home_mounts.h"

#include "base/process/mount_table.h"

enum { NAMES = 3 }; /* that a sentence has */

static const char *const bare[] = {
	"9p",	 "afs",	  "autofs", "ceph", "cifs", "exfat", "fuse", "lustre",
	"msdos", "ncpfs", "nfs",    "nfs4", "smb3", "smbfs", "vfat",
};

static bool is_bare(const char *type)
{
	for (size_t i = 0; i < AB_COUNT(bare); i++)
		if (strcmp(type, bare[i]) == 0)
			return true;
	return strncmp(type, "fuse.", 5) == 0;
}

static bool is_below(const char *path, const char *home)
{
	return ab_path_within(path, home) && strcmp(path, home) != 0;
}

void ab_home_mounts_find(const struct ab_mount_table *table, const char *home,
			 struct ab_home_mounts *ret)
{
	*ret = (struct ab_home_mounts){ 0 };
	/* What is mounted later covers what is there. */
	for (size_t i = table->n; i-- > 0;)
		if (is_below(table->v[i].path, home) && !ab_strv_has(&ret->all, table->v[i].path)) {
			ab_strv_add(&ret->all, table->v[i].path);
			if (is_bare(table->v[i].type))
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

bool ab_home_mounts_below(const struct ab_home_mounts *mounts, const char *path)
{
	for (size_t i = 0; i < mounts->all.len; i++)
		if (is_below(mounts->all.v[i], path))
			return true;
	return false;
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

char *ab_home_mounts_look(const char *home, bool *ret_bare)
{
	ab_auto(ab_home_mounts_fini) struct ab_home_mounts mounts = { 0 };
	ab_auto(ab_mount_table_fini) struct ab_mount_table table = { 0 };

	if (ab_mount_table_read(&table) < 0)
		return NULL;
	ab_home_mounts_find(&table, home, &mounts);
	*ret_bare = mounts.bare.len > 0;
	return ab_home_mounts_line(&mounts, home);
}
