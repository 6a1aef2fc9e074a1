#pragma once
/*
 * What glibc 2.35 lacks of <sys/mount.h>: meson.build puts this folder in front where a name of it is
 * missing. <linux/mount.h> cannot be included beside the real header of these versions.
 */
#include_next <sys/mount.h>

#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOUNT_ATTR_RDONLY 0x00000001
#define MOUNT_ATTR_NOSUID 0x00000002
#define MOUNT_ATTR_NODEV 0x00000004
#define MOUNT_ATTR_NOEXEC 0x00000008

#define FSOPEN_CLOEXEC 0x00000001
#define FSMOUNT_CLOEXEC 0x00000001
#define FSCONFIG_SET_FLAG 0
#define FSCONFIG_SET_STRING 1
#define FSCONFIG_CMD_CREATE 6

#define MOVE_MOUNT_F_EMPTY_PATH 0x00000004
#define MOVE_MOUNT_T_EMPTY_PATH 0x00000040

#define OPEN_TREE_CLONE 1
#define OPEN_TREE_CLOEXEC O_CLOEXEC

struct mount_attr {
	uint64_t attr_set;
	uint64_t attr_clr;
	uint64_t propagation;
	uint64_t userns_fd;
};

static inline int fsopen(const char *type, unsigned flags)
{
	return (int)syscall(SYS_fsopen, type, flags);
}

static inline int fsmount(int fd, unsigned flags, unsigned attributes)
{
	return (int)syscall(SYS_fsmount, fd, flags, attributes);
}

static inline int fsconfig(int fd, unsigned command, const char *key, const void *value, int aux)
{
	return (int)syscall(SYS_fsconfig, fd, command, key, value, aux);
}

static inline int fspick(int dir, const char *path, unsigned flags)
{
	return (int)syscall(SYS_fspick, dir, path, flags);
}

static inline int open_tree(int dir, const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, dir, path, flags);
}

static inline int move_mount(int from_dir, const char *from, int to_dir, const char *to,
			     unsigned flags)
{
	return (int)syscall(SYS_move_mount, from_dir, from, to_dir, to, flags);
}

static inline int mount_setattr(int dir, const char *path, unsigned flags, struct mount_attr *attr,
				size_t size)
{
	return (int)syscall(SYS_mount_setattr, dir, path, flags, attr, size);
}
