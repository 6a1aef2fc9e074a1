#include "hosttools/tool_streams.h"

#include <linux/magic.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#ifndef PID_FS_MAGIC
#define PID_FS_MAGIC 0x50494446
#endif

/* Files whose effect depends on who writes to them, or that control more than their content. */
static const long kernel_files[] = {
	PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC,	   TRACEFS_MAGIC,	SECURITYFS_MAGIC,
	BPF_FS_MAGIC,	  NSFS_MAGIC,  CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, PID_FS_MAGIC,
	SELINUX_MAGIC,	  SMACK_MAGIC, BINFMTFS_MAGIC,	   EFIVARFS_MAGIC,
};

enum { MEMORY = 1, SLAVE_FIRST = 136, SLAVE_LAST = 143 };

/* Of the box's devices, and the slaves of pseudo terminals; not their masters. */
static bool is_harmless_device(dev_t dev)
{
	static const unsigned minors[] = { 3, 5, 7, 8, 9 }; /* null zero full random urandom */

	if (major(dev) >= SLAVE_FIRST && major(dev) <= SLAVE_LAST)
		return true;
	for (size_t i = 0; i < AB_COUNT(minors); i++)
		if (major(dev) == MEMORY && minor(dev) == minors[i])
			return true;
	return false;
}

static bool is_of_kernel(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return true;
	for (size_t i = 0; i < AB_COUNT(kernel_files); i++)
		if ((long)fs.f_type == kernel_files[i])
			return true;
	return false;
}

const char *ab_tool_stream_check(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || (flags & O_PATH) || fstat(fd, &st) < 0)
		return "it cannot be read or written";
	switch (st.st_mode & S_IFMT) {
	case S_IFIFO:
		return NULL;
	case S_IFREG:
		return is_of_kernel(fd) ? "it is a file of the kernel" : NULL;
	case S_IFCHR:
		return is_harmless_device(st.st_rdev) ? NULL : "it is a device";
	case S_IFSOCK:
		/* One that a pipe could replace. */
		return ab_is_unix_socket(fd, SOCK_STREAM) ? NULL : "it is a socket of another kind";
	default:
		return "it is neither a file, a pipe nor a terminal";
	}
}

const char *ab_tool_cwd_check(int fd, int folder)
{
	struct stat one, other;

	if (fstat(fd, &one) < 0 || fstat(folder, &other) < 0 || !S_ISDIR(one.st_mode) ||
	    !ab_stat_same(&one, &other))
		return "the current folder is not the one that it says";
	return NULL;
}
