#include <sys/random.h>

#include "guard/walls/rename_wire.h"
#include "guard/moves/moves.h"
#include "workspace/tree/copy_tree.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/remove_tree.h"

enum { ANCESTORS_MAX = 4096, MOST = 1000 * 1000 };

/* How much one rename may copy. A folder that git or a build tool renames is far below this; the caller
 * waits meanwhile. */
enum { ENTRIES_MAX = 100000, COPY_MS = 60000 };
#define BYTES_MAX (2ULL << 30)

static volatile sig_atomic_t asked_to_stop;

static void note_stop(int sig)
{
	(void)sig;
	asked_to_stop = 1;
}

static bool is_over(void *arg)
{
	const int64_t *until = arg;

	return asked_to_stop || ab_now_ms() >= *until;
}

/* Is the folder inside the other one, or the same? True in doubt. */
static bool is_within(int folder, const struct stat *other)
{
	ab_autoclose int at = openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st, last = { 0 };

	for (int i = 0; i < ANCESTORS_MAX; i++) {
		int up;

		if (at < 0 || fstat(at, &st) < 0 || ab_stat_same(&st, other))
			return true;
		/* Another mount begins, or this is the root. */
		if (st.st_dev != other->st_dev || ab_stat_same(&st, &last))
			return false;
		last = st;
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = up;
	}
	return true;
}

static int count_entries(int parent, const char *name)
{
	ab_autoclose int dir =
		ab_open_same_mount(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	ab_autolisting struct ab_listing list = { 0 };

	return dir < 0 || ab_listing_read(&list, dir, 1) < 0 ? -1 : (int)list.len;
}

/* Would the kernel refuse it on any file system, or overlay only because the folder is lower? 0: only
 * that. */
static int check_target(const struct ab_move_ask *ask, int to_dir)
{
	struct stat st;

	if (fstatat(to_dir, ask->to, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : AB_MOVE_NOT;
	if (ask->noreplace || !S_ISDIR(st.st_mode))
		return AB_MOVE_NOT;
	switch (count_entries(to_dir, ask->to)) {
	case 0:
		return 0;
	case 1:
		/* The kernel would answer EXDEV, and a program might then copy into it. */
		return ENOTEMPTY;
	default:
		return AB_MOVE_NOT;
	}
}

/* A mount point stays in place. The kernel refuses it in this namespace as well, which also decides
 * if the box exchanges the names after this look. */
static bool are_movable(const struct ab_move_ask *ask, int from_dir, int to_dir)
{
	ab_autoclose int from = openat(from_dir, ask->from, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	ab_autoclose int to = openat(to_dir, ask->to, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int missing = to < 0 ? errno : 0;
	struct statx stx;

	if (from < 0 || (to < 0 && missing != ENOENT) ||
	    statx(from, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_TYPE, &stx) < 0 ||
	    !S_ISDIR(stx.stx_mode) || (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return false;
	return to < 0 || (statx(to, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_TYPE, &stx) == 0 &&
			  !(stx.stx_attributes & STATX_ATTR_MOUNT_ROOT));
}

static int name_result(int errnum)
{
	switch (errnum) {
	case EFBIG:
		return AB_MOVE_TOO_LARGE;
	case ENOSPC:
	case EDQUOT:
		return AB_MOVE_NO_SPACE;
	case EPERM:
		return AB_MOVE_OTHERS;
	case ECANCELED:
		return asked_to_stop ? AB_MOVE_NOT : AB_MOVE_TOO_LARGE;
	default:
		return AB_MOVE_NOT;
	}
}

static int copy_beside(const struct ab_move_ask *ask, int src, int to_dir, const char *name)
{
	int64_t until = ab_now_ms() + COPY_MS;
	struct ab_copy_tree copy = { .max_entries = ENTRIES_MAX,
				     .max_bytes = BYTES_MAX,
				     .one_mount = true,
				     .own_only = true,
				     .stop = is_over,
				     .arg = &until };
	ab_autoclose int dst = -1;
	int errnum;

	if (mkdirat(to_dir, name, 0700) < 0)
		return errno;
	dst = ab_open_same_mount(to_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	errnum = dst < 0 ? errno : ab_copy_folder(&copy, src, dst);
	ab_copy_tree_fini(&copy);
	if (!errnum &&
	    renameat2(to_dir, name, to_dir, ask->to, ask->noreplace ? RENAME_NOREPLACE : 0) < 0)
		errnum = errno == EPERM ? EACCES : errno;
	if (errnum)
		(void)ab_remove_live(to_dir, name, MOST, AB_COPY_DEPTH_MAX + 1);
	return errnum;
}

int ab_move_folder(const struct ab_move_ask *ask, int from_dir, int to_dir)
{
	struct sigaction stop = { .sa_handler = note_stop };
	ab_autoclose int src = -1;
	struct stat st, parent;
	uint64_t random;
	char name[40];
	int result;

	sigaction(SIGTERM, &stop, NULL);
	if (!are_movable(ask, from_dir, to_dir))
		return AB_MOVE_NOT;
	if (renameat2(from_dir, ask->from, to_dir, ask->to,
		      ask->noreplace ? RENAME_NOREPLACE : 0) == 0)
		return AB_MOVE_DONE;
	if (errno != EXDEV)
		return AB_MOVE_NOT;
	src = ab_open_same_mount(from_dir, ask->from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (src < 0 || fstat(src, &st) < 0 || fstat(from_dir, &parent) < 0)
		return AB_MOVE_NOT;
	/* What would fail after the copy. */
	if (st.st_uid != geteuid() || st.st_gid != getegid() || parent.st_uid != geteuid() ||
	    parent.st_gid != getegid())
		return AB_MOVE_OTHERS;
	if (faccessat(from_dir, ".", W_OK | X_OK, AT_EACCESS) < 0 || is_within(to_dir, &st))
		return AB_MOVE_NOT;
	result = check_target(ask, to_dir);
	if (result)
		return result;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return AB_MOVE_NOT;
	snprintf(name, sizeof(name), ".agentbox-%016llx.tmp", (unsigned long long)random);
	result = copy_beside(ask, src, to_dir, name);
	if (result)
		return name_result(result);
	/* Both exist now. If the old one cannot be removed completely, say so: nothing is lost. */
	return ab_remove_live(from_dir, ask->from, MOST, AB_COPY_DEPTH_MAX + 1) ? EIO
										: AB_MOVE_DONE;
}
