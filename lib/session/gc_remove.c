#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/folder.h"
#include "session/gc.h"

/*
 * What is in a quarantine was made by the box: folders as deep as it liked,
 * closed to their owner. So there is no descent: a folder in a folder is moved
 * up to the top, and the top is looked through until it is empty.
 */
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static bool is_folder(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Only our own can be opened up; a link was told from a folder before, and
 * nobody else writes here. */
static int open_folder(int dir, const char *name)
{
	int fd = openat(dir, name, OPEN_DIR);

	if (fd < 0 && errno == EACCES && is_folder(dir, name) && fchmodat(dir, name, 0700, 0) == 0)
		fd = openat(dir, name, OPEN_DIR);
	return fd;
}

static void move_up(int from, const char *name, int top, unsigned *number)
{
	char to[32];

	/* To be moved, a folder must be writable itself. */
	if (is_folder(from, name))
		fchmodat(from, name, 0700, 0);
	for (int i = 0; i < 64; i++) {
		snprintf(to, sizeof(to), ".up-%u", (*number)++);
		if (renameat(from, name, top, to) == 0 || errno == ENOENT)
			return;
	}
}

/* Files go, folders move to the top. */
static void flatten(int top, const char *name, unsigned *number)
{
	ab_autoclose int dir = open_folder(top, name);
	ab_autodir DIR *list = dir < 0 ? NULL : ab_folder_list(dir, ".");
	const char *file;

	if (dir >= 0)
		fchmod(dir, 0700);
	while ((file = ab_folder_next(list)) != NULL)
		if (unlinkat(dir, file, 0) < 0 && (errno == EISDIR || errno == EPERM))
			move_up(dir, file, top, number);
}

/* How many entries of the top went or were emptied. */
static size_t clear(int top, unsigned *number)
{
	ab_autodir DIR *list = ab_folder_list(top, ".");
	const char *name;
	size_t n = 0;

	while ((name = ab_folder_next(list)) != NULL) {
		if (unlinkat(top, name, 0) == 0) {
			n++;
		} else if (is_folder(top, name)) {
			flatten(top, name, number);
			n += unlinkat(top, name, AT_REMOVEDIR) == 0;
		}
	}
	return n;
}

int ab_gc_remove(int runs, const char *name)
{
	ab_autoclose int top = open_folder(runs, name);
	unsigned number = 0;

	if (top < 0)
		return errno == ENOENT ? 0 : -1;
	fchmod(top, 0700);
	while (clear(top, &number) > 0)
		;
	if (unlinkat(runs, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return -1;
	return 0;
}
