#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
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

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

/* A new stream: the position of one is the descriptor's. */
static DIR *list(int dir)
{
	int fd = openat(dir, ".", OPEN_DIR);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (!stream && fd >= 0)
		close(fd);
	return stream;
}

static struct dirent *next(DIR *stream)
{
	struct dirent *entry;

	do
		entry = readdir(stream);
	while (entry &&
	       (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")));
	return entry;
}

/* Only our own can be opened up; a link was told from a folder before, and
 * nobody else writes here. */
static int open_folder(int dir, const char *name)
{
	int fd = openat(dir, name, OPEN_DIR);

	if (fd < 0 && errno == EACCES && is_folder(dir, name) &&
	    fchmodat(dir, name, 0700, 0) == 0)
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
	DIR *stream = dir < 0 ? NULL : list(dir);
	struct dirent *entry;

	if (dir >= 0)
		fchmod(dir, 0700);
	while (stream && (entry = next(stream)) != NULL)
		if (unlinkat(dir, entry->d_name, 0) < 0 &&
		    (errno == EISDIR || errno == EPERM))
			move_up(dir, entry->d_name, top, number);
	if (stream)
		closedir(stream);
}

/* How many entries of the top went or were emptied. */
static size_t clear(int top, unsigned *number)
{
	DIR *stream = list(top);
	struct dirent *entry;
	size_t n = 0;

	while (stream && (entry = next(stream)) != NULL) {
		const char *name = entry->d_name;

		if (unlinkat(top, name, 0) == 0) {
			n++;
		} else if (is_folder(top, name)) {
			flatten(top, name, number);
			n += unlinkat(top, name, AT_REMOVEDIR) == 0;
		}
	}
	if (stream)
		closedir(stream);
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
