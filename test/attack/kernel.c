/* Calls that no command needs: each must be refused, the twins must work. */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/fanotify.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>

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

static int do_bpf(char **a)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY };

	(void)a;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = 1;
	return call(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static int do_perf(char **a)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.exclude_kernel = 1 };

	(void)a;
	return call(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

static int do_userfaultfd(char **a)
{
	(void)a;
	return call(syscall(SYS_userfaultfd, 1)); /* USER_MODE_ONLY */
}

static int do_io_uring(char **a)
{
	struct io_uring_params p = { 0 };

	(void)a;
	return call(syscall(SYS_io_uring_setup, 1, &p));
}

static int do_keyctl(char **a)
{
	(void)a;
	return call(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1));
}

static int do_add_key(char **a)
{
	(void)a;
	return call(syscall(SYS_add_key, "user", "agentbox-test", "x", 1, KEY_SPEC_USER_KEYRING));
}

static int do_request_key(char **a)
{
	(void)a;
	return call(syscall(SYS_request_key, "user", "agentbox-test", NULL, KEY_SPEC_USER_KEYRING));
}

static int do_handle_of(char **a)
{
	struct {
		struct file_handle head;
		unsigned char bytes[128];
	} h = { .head = { .handle_bytes = sizeof(h.bytes) } };
	int mount_id;

	(void)a;
	return name_to_handle_at(AT_FDCWD, "/", &h.head, &mount_id, 0);
}

static int do_handle_open(char **a)
{
	struct {
		struct file_handle head;
		unsigned char bytes[8];
	} h = { .head = { .handle_bytes = 8, .handle_type = 1 } };

	(void)a;
	h.bytes[0] = 2; /* the root folder of an ext4 */
	return open_by_handle_at(AT_FDCWD, &h.head, O_RDONLY) < 0 ? -1 : 0;
}

#define PLAIN(name, expression)          \
	static int do_##name(char **a)   \
	{                                \
		(void)a;                 \
		return call(expression); \
	}
PLAIN(kexec, syscall(SYS_kexec_load, 0, 0, NULL, 0))
PLAIN(module, syscall(SYS_init_module, "", 0, ""))
/* With no magic numbers it restarts nothing even where it is permitted. */
PLAIN(reboot, syscall(SYS_reboot, 0, 0, 0, NULL))
PLAIN(swapon, syscall(SYS_swapon, "/nonexistent", 0))
PLAIN(quotactl, syscall(SYS_quotactl, 0x800001, NULL, 0, NULL))
PLAIN(acct, syscall(SYS_acct, "/nonexistent"))
PLAIN(syslog, syscall(SYS_syslog, 10, NULL, 0))
PLAIN(sethostname, sethostname("evil", 4))
PLAIN(fanotify, syscall(SYS_fanotify_init, FAN_CLASS_NOTIF, O_RDONLY))
PLAIN(move_pages, syscall(SYS_move_pages, 0, 0UL, NULL, NULL, NULL, 0))
PLAIN(personality, personality(READ_IMPLIES_EXEC))
PLAIN(set_mm, prctl(PR_SET_MM, PR_SET_MM_BRK, 0, 0, 0))
PLAIN(char_device, mknod("device", S_IFCHR | 0600, 0x103))
PLAIN(block_device, mknod("device", S_IFBLK | 0600, 0xfe00))
/* twins */
PLAIN(personality_asks, personality(0xffffffff))
PLAIN(fifo, mknod("fifo", S_IFIFO | 0600, 0))
PLAIN(memfd, syscall(SYS_memfd_create, "x", 0))
PLAIN(inotify, inotify_init1(0))
PLAIN(set_name, prctl(PR_SET_NAME, "x"))

static int do_clock(char **a)
{
	struct timespec now;

	(void)a;
	clock_gettime(CLOCK_REALTIME, &now);
	return clock_settime(CLOCK_REALTIME, &now);
}

static int do_adjtime(char **a)
{
	struct timex t = { .modes = ADJ_STATUS };

	(void)a;
	return call(adjtimex(&t));
}

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
	{ "bpf", do_bpf },
	{ "perf", do_perf },
	{ "userfaultfd", do_userfaultfd },
	{ "io_uring", do_io_uring },
	{ "keyctl", do_keyctl },
	{ "add_key", do_add_key },
	{ "request_key", do_request_key },
	{ "handle-of", do_handle_of },
	{ "handle-open", do_handle_open },
	{ "kexec", do_kexec },
	{ "module", do_module },
	{ "reboot", do_reboot },
	{ "swapon", do_swapon },
	{ "quotactl", do_quotactl },
	{ "acct", do_acct },
	{ "syslog", do_syslog },
	{ "sethostname", do_sethostname },
	{ "clock", do_clock },
	{ "adjtime", do_adjtime },
	{ "fanotify", do_fanotify },
	{ "move_pages", do_move_pages },
	{ "personality", do_personality },
	{ "set-mm", do_set_mm },
	{ "char-device", do_char_device },
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
