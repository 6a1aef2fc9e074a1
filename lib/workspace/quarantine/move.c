#include "workspace/quarantine/move.h"

#include "base/system/folder.h"
#include "workspace/tree/copy_tree.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/remove_tree.h"

#define COPY_BYTES (64 * 1024 * 1024)
#define COPY_ENTRIES 10000
#define QUICK_BYTES (1024 * 1024)
#define QUICK_ENTRIES 64
#define COPY_DEPTH 32
#define REMOVE_TRIES 4

static int move_by_copy(int from, const char *name, int to, const char *as, bool quick)
{
	struct ab_copy_tree copy = { .max_bytes = quick ? QUICK_BYTES : COPY_BYTES,
				     .max_entries = quick ? QUICK_ENTRIES : COPY_ENTRIES,
				     .max_depth = COPY_DEPTH,
				     .keep = AB_COPY_PRIVATE,
				     .skip_special = true };
	struct stat st;
	int rc = fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0
			 ? errno
			 : ab_copy_tree(&copy, from, name, st.st_mode, to, as);

	ab_copy_tree_fini(&copy);
	if (rc != 0) {
		/* Half a copy is useless, and the original still exists. */
		ab_remove_live(to, as, COPY_ENTRIES, COPY_DEPTH + 1);
		return rc;
	}
	/* The box may add files while we remove them. */
	for (int i = 0; i < REMOVE_TRIES; i++)
		if (ab_remove_live(from, name, 4 * COPY_ENTRIES, 2 * COPY_DEPTH) == 0)
			return 0;
	return ENOTEMPTY;
}

static int rename_to(int from, const char *name, int to, const char *as)
{
	return ab_rename_new(from, name, to, as) < 0 ? errno : 0;
}

static bool set_mode(int from, const char *name, mode_t folder, mode_t file)
{
	ab_autoclose int fd = openat(from, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return false;
	return ab_fd_chmod(fd, S_ISDIR(st.st_mode) ? folder : file) == 0;
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
