/* Calls that no command needs: each must be refused, the twins must work. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../../attack/kernel_calls.h"
#include "attack.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif
#define OPEN_TREE_CLONED 1    /* OPEN_TREE_CLONE */
#define WITH_ALL_BELOW 0x8000 /* AT_RECURSIVE */

/* struct clone_args, its first version. */
struct clone_words {
	unsigned long long flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

static int call(long r)
{
	return r < 0 ? -1 : 0;
}

static int do_mount(char **a)
{
	(void)a;
	return mount("x", "/tmp", "tmpfs", 0, NULL);
}

static int do_bind(char **a)
{
	(void)a;
	return mount("/usr", "/tmp", NULL, MS_BIND, NULL);
}

static int do_remount(char **a)
{
	(void)a;
	return mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL);
}

static int do_umount(char **a)
{
	(void)a;
	return umount2("/proc/sys", MNT_DETACH);
}

static int do_pivot(char **a)
{
	(void)a;
	return call(syscall(SYS_pivot_root, ".", "."));
}

static int do_chroot(char **a)
{
	(void)a;
	return chroot(".");
}

static int do_open_tree(char **a)
{
	(void)a;
	return call(syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONED | WITH_ALL_BELOW));
}

static int do_move_mount(char **a)
{
	(void)a;
	return call(syscall(SYS_move_mount, AT_FDCWD, "/usr", AT_FDCWD, "/tmp", 0));
}

static int do_fsopen(char **a)
{
	(void)a;
	return call(syscall(SYS_fsopen, "tmpfs", 0));
}

static int do_fspick(char **a)
{
	(void)a;
	return call(syscall(SYS_fspick, AT_FDCWD, "/", 0));
}

static int do_mount_setattr(char **a)
{
	struct {
		unsigned long long set, clear, propagation, userns;
	} attr = { .clear = 1 }; /* MOUNT_ATTR_RDONLY */

	(void)a;
	return call(syscall(SYS_mount_setattr, AT_FDCWD, "/", WITH_ALL_BELOW, &attr, sizeof(attr)));
}

#define UNSHARE(name, flag)                    \
	static int do_unshare_##name(char **a) \
	{                                      \
		(void)a;                       \
		return unshare(flag);          \
	}
UNSHARE(user, CLONE_NEWUSER)
UNSHARE(mount, CLONE_NEWNS)
UNSHARE(net, CLONE_NEWNET)
UNSHARE(pid, CLONE_NEWPID)
UNSHARE(ipc, CLONE_NEWIPC)
UNSHARE(uts, CLONE_NEWUTS)
UNSHARE(cgroup, CLONE_NEWCGROUP)
UNSHARE(time, CLONE_NEWTIME)
UNSHARE(files, CLONE_FILES) /* a twin */

static int clone_with(unsigned long flags)
{
	long pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return call(pid);
}

static int do_clone_user(char **a)
{
	(void)a;
	return clone_with(CLONE_NEWUSER);
}

static int do_clone_mount(char **a)
{
	(void)a;
	return clone_with(CLONE_NEWUSER | CLONE_NEWNS);
}

static int do_clone_plain(char **a) /* a twin */
{
	(void)a;
	return clone_with(0);
}

static int do_clone3(char **a)
{
	struct clone_words args = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	(void)a;
	if (pid == 0)
		_exit(0);
	return call(pid);
}

static int do_setns(char **a)
{
	int fd = open("/proc/self/ns/net", O_RDONLY);

	(void)a;
	return fd < 0 ? -1 : setns(fd, 0);
}

#define PLAIN(name, expression)          \
	static int do_##name(char **a)   \
	{                                \
		(void)a;                 \
		return call(expression); \
	}
PLAIN(char_device, mknod("device", S_IFCHR | 0600, 0x103))
PLAIN(block_device, mknod("device", S_IFBLK | 0600, 0xfe00))
/* twins */
PLAIN(personality_asks, personality(0xffffffff))
PLAIN(fifo, mknod("fifo", S_IFIFO | 0600, 0))
PLAIN(memfd, syscall(SYS_memfd_create, "x", 0))
PLAIN(inotify, inotify_init1(0))
PLAIN(set_name, prctl(PR_SET_NAME, "x"))

#define SHARED(title, function)             \
	static int try_##function(char **a) \
	{                                   \
		(void)a;                    \
		return function();          \
	}
AB_KERNEL_CALLS(SHARED)

static const struct attempt attempts[] = {
	{ "mount", do_mount },
	{ "bind", do_bind },
	{ "remount", do_remount },
	{ "umount", do_umount },
	{ "pivot_root", do_pivot },
	{ "chroot", do_chroot },
	{ "open_tree", do_open_tree },
	{ "move_mount", do_move_mount },
	{ "fsopen", do_fsopen },
	{ "fspick", do_fspick },
	{ "mount_setattr", do_mount_setattr },
	{ "unshare-user", do_unshare_user },
	{ "unshare-mount", do_unshare_mount },
	{ "unshare-net", do_unshare_net },
	{ "unshare-pid", do_unshare_pid },
	{ "unshare-ipc", do_unshare_ipc },
	{ "unshare-uts", do_unshare_uts },
	{ "unshare-cgroup", do_unshare_cgroup },
	{ "unshare-time", do_unshare_time },
	{ "clone-user", do_clone_user },
	{ "clone-mount", do_clone_mount },
	{ "setns", do_setns },
#define ROW(title, function) { title, try_##function },
	AB_KERNEL_CALLS(ROW){ "char-device", do_char_device },
	{ "block-device", do_block_device },
	{ "clone3", do_clone3 },
	/* allowed */
	{ "unshare-files", do_unshare_files },
	{ "clone", do_clone_plain },
	{ "personality-asks", do_personality_asks },
	{ "fifo", do_fifo },
	{ "memfd", do_memfd },
	{ "inotify", do_inotify },
	{ "set-name", do_set_name },
};

ATTACK_MAIN(attempts)
