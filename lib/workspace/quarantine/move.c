#include "workspace/quarantine/move.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/fd.h"
#include "base/system/folder.h"
#include "workspace/tree/copy_tree.h"
#include "workspace/tree/dir.h"

#define COPY_BYTES (64 * 1024 * 1024)
#define COPY_ENTRIES 10000
#define QUICK_BYTES (1024 * 1024)
#define QUICK_ENTRIES 64
#define COPY_DEPTH 32
#define REMOVE_TRIES 4

struct budget {
	size_t entries;
	unsigned depth;
};

static int remove_tree(int dir, const char *name, struct budget *b)
{
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int fd = -1;
	int rc = 0;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return errno;
	if (b->depth == 0)
		return ENOTEMPTY;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || ab_listing_read(&l, fd, b->entries) < 0)
		return errno;
	b->entries -= l.len;
	b->depth--;
	for (size_t i = 0; i < l.len && rc == 0; i++)
		rc = remove_tree(fd, l.v[i].name, b);
	b->depth++;
	if (rc == 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0)
		rc = errno == ENOENT ? 0 : errno;
	return rc;
}

static int move_by_copy(int from, const char *name, int to, const char *as, bool quick)
{
	struct ab_copy_tree copy = { .bytes = quick ? QUICK_BYTES : COPY_BYTES,
				     .entries = quick ? QUICK_ENTRIES : COPY_ENTRIES,
				     .depth = COPY_DEPTH };
	struct budget b;
	struct stat st;
	int rc = fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0
			 ? errno
			 : ab_copy_tree(&copy, from, name, st.st_mode, to, as);

	if (rc != 0) {
		/* Half a copy is useless, and the original still exists. */
		b = (struct budget){ COPY_ENTRIES, COPY_DEPTH };
		remove_tree(to, as, &b);
		return rc;
	}
	/* The box may add files while we remove them. */
	for (int i = 0; i < REMOVE_TRIES; i++) {
		b = (struct budget){ 4 * COPY_ENTRIES, 2 * COPY_DEPTH };
		rc = remove_tree(from, name, &b);
		if (rc == 0)
			return 0;
	}
	return ENOTEMPTY;
}

static int rename_to(int from, const char *name, int to, const char *as)
{
	struct stat st;

	if (renameat2(from, name, to, as, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	/* The file system does not support it; `to` is private to us. */
	if (fstatat(to, as, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	return renameat(from, name, to, as) < 0 ? errno : 0;
}

static bool set_mode(int from, const char *name, mode_t folder, mode_t file)
{
	ab_autoclose int fd = openat(from, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char self[32];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return false;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return chmod(self, S_ISDIR(st.st_mode) ? folder : file) == 0;
}

/* A folder can be moved to another parent only if it is writable itself, and a file
 * copied only if it is readable; its creator may have removed these rights. */
static bool unlock_object(int from, const char *name)
{
	return set_mode(from, name, 0700, 0600);
}

int ab_move(int from, const char *name, int to, const char *as, bool anew, bool quick)
{
	int rc;

	if (anew && ab_folder_is(from, name)) {
		unlock_object(from, name);
		return move_by_copy(from, name, to, as, quick);
	}
	rc = rename_to(from, name, to, as);
	if ((rc == EACCES || rc == EPERM) && unlock_object(from, name))
		rc = rename_to(from, name, to, as);
	if (rc != EXDEV)
		return rc;
	unlock_object(from, name);
	return move_by_copy(from, name, to, as, quick);
}

int ab_move_aside(int from, const char *name, const char *as)
{
	int rc = rename_to(from, name, from, as);

	if (rc == 0)
		ab_move_lock(from, as);
	return rc;
}

void ab_move_lock(int from, const char *name)
{
	(void)set_mode(from, name, 0, 0);
}
