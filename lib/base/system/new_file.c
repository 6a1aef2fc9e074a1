#include "base/system/new_file.h"

#include <sys/random.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/path.h"

/* In the same folder as `name`. Containers that share a folder have the same process ids, so only
 * chance makes a name that no other process has. */
static char *pick_name(const char *name)
{
	int folder = (int)(ab_path_name(name) - name);
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return NULL;
	return ab_printf("%.*s.agentbox-%016llx", folder, name, (unsigned long long)random);
}

int ab_new_file_open(int dir, const char *name, const char *temporary, mode_t mode,
		     struct ab_new_file *ret)
{
	struct ab_new_file f = { .dir = dir, .name = name };

	if (temporary && unlinkat(dir, temporary, 0) < 0 && errno != ENOENT)
		return -1;
	f.temporary = temporary ? ab_strdup(temporary) : pick_name(name);
	if (!f.temporary)
		return -1;
	f.fd = openat(dir, f.temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (f.fd < 0) {
		free(f.temporary);
		return -1;
	}
	*ret = f;
	return 0;
}

/* Without replacing anything. Not every file system has hard links, or can rename in this way. */
static int place_only(const struct ab_new_file *f)
{
	if (linkat(f->dir, f->temporary, f->dir, f->name, 0) == 0) {
		(void)unlinkat(f->dir, f->temporary, 0);
		return 0;
	}
	if (errno != EPERM && errno != EOPNOTSUPP && errno != EMLINK)
		return -1;
	return renameat2(f->dir, f->temporary, f->dir, f->name, RENAME_NOREPLACE);
}

/* The file is whole either way; a crash may bring the old one back. */
static void sync_folder(const struct ab_new_file *f)
{
	ab_autoclose int fd = openat(f->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		(void)fsync(fd);
}

int ab_new_file_place(struct ab_new_file *f, unsigned int how)
{
	if (!(how & AB_NEW_FILE_NO_SYNC) && fsync(f->fd) < 0)
		return -1;
	if ((how & AB_NEW_FILE_ONLY ? place_only(f)
				    : renameat(f->dir, f->temporary, f->dir, f->name)) < 0)
		return -1;
	free(ab_take(f->temporary));
	if (how & AB_NEW_FILE_SYNC_NAME)
		sync_folder(f);
	return 0;
}

void ab_new_file_close(struct ab_new_file *f)
{
	int saved = errno;

	ab_closep(&f->fd);
	if (f->temporary)
		(void)unlinkat(f->dir, f->temporary, 0);
	free(f->temporary);
	*f = (struct ab_new_file)AB_NEW_FILE_NONE;
	errno = saved;
}

int ab_new_file_write(int dir, const char *name, const char *temporary, const void *data,
		      size_t len, unsigned int how)
{
	ab_autonewfile struct ab_new_file f = AB_NEW_FILE_NONE;

	if (ab_new_file_open(dir, name, temporary, 0600, &f) < 0 ||
	    ab_write_all(f.fd, data, len) < 0)
		return -1;
	return ab_new_file_place(&f, how);
}
