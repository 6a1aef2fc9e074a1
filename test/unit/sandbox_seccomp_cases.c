/*
 * What the filters must say, written down by hand: if a table is wrong, this
 * is where it shows. Each case is tried with the upper half of every
 * register clear and set.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "seccomp_sim.h"
#include "tap.h"

/* Does a filter give this verdict on every architecture that has the call? */
static bool gives(int table, const char *name, const uint64_t args[3], uint32_t want)
{
	bool found = false;

	for (int a = 0; a < AB_ARCH_COUNT; a++) {
		struct seccomp_data d = { .arch = archs[a].audit };
		uint32_t got;

		d.nr = number_of(a, name);
		if (d.nr < 0)
			continue;
		found = true;
		for (int high = 0; high < 2; high++) {
			for (int i = 0; args && i < 3; i++)
				d.args[i] = args[i] | (high ? HIGH : 0);
			got = simulate(&progs[table][a], &d);
			if (got != want) {
				printf("# %s on %s: %#x, not %#x%s\n", name, archs[a].name, got,
				       want, high ? ", upper half set" : "");
				return false;
			}
		}
	}
	return found;
}

static void test_list(int table, uint32_t want, const char *list, const char *what)
{
	char name[64];
	unsigned int wrong = 0;
	int n = 0;

	for (const char *s = list; sscanf(s, " %63s%n", name, &n) == 1; s += n)
		if (!gives(table, name, NULL, want)) {
			printf("# %s\n", name);
			wrong++;
		}
	ok(!wrong, "%s", what);
}

static void test_lists(void)
{
	test_list(TARGET, AB_ALLOWED,
		  "read write openat openat2 close close_range statx newfstatat "
		  "faccessat2 getdents64 renameat2 linkat unlinkat fallocate "
		  "copy_file_range splice tee vmsplice sendfile preadv2 "
		  "inotify_init1 inotify_add_watch flock fcntl pipe2 dup3",
		  "target: files");
	test_list(TARGET, AB_ALLOWED,
		  "execve execveat exit_group wait4 waitid kill tgkill futex "
		  "futex_waitv rseq set_robust_list set_tid_address membarrier "
		  "restart_syscall rt_sigreturn sigaltstack signalfd4 eventfd2 "
		  "timerfd_create epoll_pwait2 sched_setattr prlimit64 "
		  "getrandom memfd_create mmap mprotect mremap pkey_alloc "
		  "mlock io_setup io_submit shmget semop msgget mq_open "
		  "fork vfork arch_prctl epoll_wait poll select",
		  "target: processes, threads, memory, waiting");
	test_list(TARGET, AB_ALLOWED,
		  "ptrace process_vm_readv process_vm_writev pidfd_getfd "
		  "pidfd_open kcmp seccomp landlock_create_ruleset "
		  "landlock_add_rule landlock_restrict_self setresuid capset",
		  "target: debuggers and boxes within the box");
	test_list(TARGET, AB_ERRNO(EPERM),
		  "mount umount2 pivot_root chroot fsopen fsconfig fsmount "
		  "fspick move_mount open_tree mount_setattr setns",
		  "target: no mounts, no namespaces");
	test_list(TARGET, AB_ERRNO(EPERM),
		  "bpf perf_event_open userfaultfd io_uring_setup "
		  "io_uring_enter io_uring_register add_key request_key keyctl "
		  "name_to_handle_at open_by_handle_at",
		  "target: no bpf, perf, io_uring, keyrings, handles");
	test_list(TARGET, AB_ERRNO(EPERM),
		  "kexec_load kexec_file_load init_module finit_module "
		  "delete_module reboot swapon swapoff acct syslog quotactl "
		  "quotactl_fd settimeofday clock_settime clock_adjtime "
		  "adjtimex sethostname iopl ioperm vhangup lookup_dcookie "
		  "nfsservctl",
		  "target: nothing of the machine");
	test_list(TARGET, AB_ERRNO(ENOSYS),
		  "clone3 modify_ldt uselib "
		  "memfd_secret _sysctl",
		  "target: the rest does not exist, clone3 above all");

	test_list(INIT, AB_ALLOWED,
		  "read write close wait4 waitid kill recvmsg sendmsg connect "
		  "ppoll rt_sigreturn exit_group",
		  "init: its work");
	test_list(INIT, AB_ERRNO(ENOSYS),
		  "execve execveat clone clone3 fork vfork ptrace mount setns "
		  "unshare bind listen process_vm_readv pidfd_getfd bpf "
		  "unlinkat renameat2 mkdirat keyctl io_uring_setup",
		  "init: nothing else");
	test_list(SUPERVISOR, AB_ALLOWED,
		  "read write splice openat renameat2 unlinkat mkdirat flock "
		  "epoll_pwait epoll_wait signalfd4 timerfd_settime accept4 "
		  "bind connect sendmsg recvmsg wait4 waitid kill tgkill "
		  "pidfd_send_signal futex rseq getrandom exit_group",
		  "supervisor: its work");
	test_list(SUPERVISOR, AB_ERRNO(ENOSYS),
		  "execve execveat fork vfork clone3 ptrace process_vm_readv "
		  "process_vm_writev pidfd_getfd setns unshare mount umount2 "
		  "pivot_root chroot open_tree move_mount fsopen mount_setattr "
		  "bpf keyctl add_key io_uring_setup perf_event_open "
		  "userfaultfd personality pkey_mprotect shmat modify_ldt "
		  "open_by_handle_at",
		  "supervisor: no programs, no other processes, no mounts");
	test_list(NONET, AB_ALLOWED,
		  "read execve clone clone3 connect "
		  "socketpair ioctl bind",
		  "nonet: adds nothing but its wall");
	test_list(NONET, AB_ERRNO(EPERM), "io_uring_setup io_uring_enter",
		  "nonet: no sockets by io_uring");
	test_list(CHILDREN, AB_ASKED, "execve execveat", "children: programs are asked about");
	test_list(CHILDREN, AB_ALLOWED,
		  "read clone vfork seccomp ptrace "
		  "openat exit_group sendmsg",
		  "children: reading is not");
	test_list(WRITES, AB_ASKED,
		  "openat2 creat mkdir mkdirat mknod mknodat link linkat symlink "
		  "symlinkat rename renameat renameat2 "
		  "truncate chmod fchmodat fchmodat2 chown lchown fchownat chdir fchdir rmdir",
		  "writes: what creates, renames, changes or removes a name");
	test_list(WRITES, AB_ASKED, "connect", "writes: connections are made by the listener");
	test_list(WRITES, AB_ALLOWED,
		  "execve execveat open openat read write ftruncate fchmod utimensat statx "
		  "socket socketpair bind newfstatat unlink unlinkat",
		  "writes: nothing else, and no open for reading");
	test_list(TRACED, AB_ASKED,
		  "execve execveat open openat openat2 creat unlinkat "
		  "renameat2 mkdirat symlinkat linkat mknodat fchmodat fchownat "
		  "utimensat setxattr connect bind truncate",
		  "traced: names are asked about");
	test_list(TRACED, AB_ASKED,
		  "mount bpf keyctl io_uring_setup setns open_by_handle_at "
		  "perf_event_open reboot chroot",
		  "traced: and so is what is refused");
	test_list(TRACED, AB_ERRNO(ENOSYS), "clone3", "traced: what is unknown stays so");
	test_list(TRACED, AB_ALLOWED,
		  "read write close newfstatat faccessat2 readlinkat getdents64 "
		  "mmap futex exit_group sendmsg ftruncate fchmod ptrace",
		  "traced: nobody is asked about the rest");
	test_list(GUARD, AB_ALLOWED,
		  "process_vm_readv readlinkat ppoll sendto recvmsg close brk "
		  "exit_group",
		  "guard: its work");
	test_list(GUARD, AB_ERRNO(ENOSYS),
		  "execve execveat fork vfork clone clone3 ptrace "
		  "process_vm_writev kill socket socketpair bind listen accept4 "
		  "openat2 unlinkat renameat2 mkdirat ftruncate setns unshare "
		  "mount bpf keyctl io_uring_setup memfd_create",
		  "guard: no programs, no files, no sockets of its own");
	test_list(FETCHER, AB_ALLOWED,
		  "epoll_ctl epoll_pwait connect sendto recvfrom sendmsg recvmsg "
		  "getsockopt setsockopt close fstat brk getrandom sysinfo exit_group",
		  "fetcher: its work");
	test_list(FETCHER, AB_ERRNO(ENOSYS),
		  "execve execveat fork vfork clone clone3 ptrace process_vm_readv "
		  "process_vm_writev pidfd_open pidfd_getfd kill socketpair listen accept4 "
		  "openat2 open creat unlinkat renameat2 mkdirat linkat symlinkat ftruncate "
		  "fchmodat setns unshare mount bpf keyctl io_uring_setup memfd_create "
		  "ioctl prctl seccomp setuid capset prlimit64",
		  "fetcher: no programs, no files to write, no server, no other process");
	test_list(
		CONTAINERS, AB_ALLOWED,
		"connect accept4 sendmsg recvmsg sendto recvfrom epoll_ctl openat2 brk exit_group",
		"containers: its work");
	test_list(CONTAINERS, AB_ERRNO(ENOSYS),
		  "execve execveat fork vfork clone clone3 ptrace process_vm_readv kill "
		  "socketpair bind listen unlinkat renameat2 mkdirat ftruncate setns "
		  "unshare mount bpf keyctl io_uring_setup memfd_create pidfd_getfd ioctl",
		  "containers: no programs, no files, no listeners");
}

#define MPTCP 262

static const struct {
	int table;
	const char *call;
	uint64_t args[3];
	int want; /* errno, 0 allowed */
} cases[] = {
	{ CONTAINERS, "openat", { 0, 0, O_WRONLY }, EPERM },
	{ CONTAINERS, "socket", { AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0 }, 0 },
	{ CONTAINERS, "socket", { AF_UNIX, SOCK_DGRAM, 0 }, ESOCKTNOSUPPORT },
	{ CONTAINERS, "socket", { AF_INET, SOCK_STREAM, 0 }, EAFNOSUPPORT },
	{ CONTAINERS, "socket", { AF_NETLINK, SOCK_RAW, 0 }, EAFNOSUPPORT },
	/* families */
	{ TARGET, "socket", { AF_UNIX, SOCK_STREAM, 0 }, 0 },
	{ TARGET, "socket", { AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0 }, 0 },
	{ TARGET, "socket", { AF_INET, SOCK_STREAM, 0 }, 0 },
	{ TARGET, "socket", { AF_INET6, SOCK_STREAM, 0 }, 0 },
	{ TARGET, "socket", { AF_UNSPEC, SOCK_STREAM, 0 }, EAFNOSUPPORT },
	{ TARGET, "socket", { AF_PACKET, SOCK_RAW, 0 }, EAFNOSUPPORT },
	{ TARGET, "socket", { AF_PACKET, SOCK_DGRAM, 0 }, EAFNOSUPPORT },
	{ TARGET, "socket", { AF_ALG, SOCK_SEQPACKET, 0 }, EAFNOSUPPORT },
	{ TARGET, "socket", { AF_VSOCK, SOCK_STREAM, 0 }, EAFNOSUPPORT },
	{ TARGET, "socket", { AF_BLUETOOTH, SOCK_RAW, 0 }, EAFNOSUPPORT },
	{ TARGET, "socket", { AF_X25, SOCK_STREAM, 0 }, EAFNOSUPPORT },
	{ TARGET, "socket", { AF_XDP, SOCK_RAW, 0 }, EAFNOSUPPORT },
	{ TARGET, "socket", { AF_SMC, SOCK_STREAM, 0 }, EAFNOSUPPORT },
	{ TARGET, "socket", { 0xffffffff, SOCK_STREAM, 0 }, EAFNOSUPPORT },
	/* types */
	{ TARGET, "socket", { AF_INET, SOCK_DGRAM, 0 }, 0 },
	{ TARGET,
	  "socket",
	  { AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP },
	  0 },
	{ TARGET, "socket", { AF_INET, SOCK_RAW, IPPROTO_ICMP }, EPERM },
	{ TARGET, "socket", { AF_INET, SOCK_RAW | SOCK_CLOEXEC, 255 }, EPERM },
	{ TARGET, "socket", { AF_INET6, SOCK_RAW | SOCK_NONBLOCK, 58 }, EPERM },
	{ TARGET, "socket", { AF_INET, SOCK_PACKET, 0 }, ESOCKTNOSUPPORT },
	{ TARGET, "socket", { AF_INET, SOCK_SEQPACKET, 132 }, ESOCKTNOSUPPORT },
	{ TARGET, "socket", { AF_INET, SOCK_DCCP, 33 }, ESOCKTNOSUPPORT },
	{ TARGET, "socket", { AF_INET6, SOCK_RDM, 0 }, ESOCKTNOSUPPORT },
	/* protocols */
	{ TARGET, "socket", { AF_INET, SOCK_STREAM, IPPROTO_TCP }, 0 },
	{ TARGET, "socket", { AF_INET, SOCK_STREAM, MPTCP }, EPROTONOSUPPORT },
	{ TARGET, "socket", { AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, MPTCP }, EPROTONOSUPPORT },
	{ TARGET, "socket", { AF_INET, SOCK_STREAM, 132 }, EPROTONOSUPPORT },
	{ TARGET, "socket", { AF_INET, SOCK_DGRAM, 115 }, EPROTONOSUPPORT },
	{ TARGET, "socket", { AF_INET, SOCK_DGRAM, IPPROTO_ICMP }, 0 },
	{ TARGET, "socket", { AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6 }, 0 },
	{ TARGET, "socket", { AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE }, 0 },
	{ TARGET, "socket", { AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER }, EPROTONOSUPPORT },
	{ TARGET, "socket", { AF_NETLINK, SOCK_RAW, NETLINK_XFRM }, EPROTONOSUPPORT },
	{ TARGET, "socket", { AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT }, EPROTONOSUPPORT },
	{ TARGET, "socketpair", { AF_UNIX, SOCK_STREAM, 0 }, 0 },
	{ TARGET, "socketpair", { AF_TIPC, SOCK_STREAM, 0 }, EAFNOSUPPORT },
	/* terminals */
	{ TARGET, "ioctl", { 0, TIOCSTI }, EPERM },
	{ TARGET, "ioctl", { 0, TIOCLINUX }, EPERM },
	{ TARGET, "ioctl", { 0, TIOCCONS }, EPERM },
	{ TARGET, "ioctl", { 0, TIOCSETD }, EPERM },
	{ TARGET, "ioctl", { TIOCSTI, TIOCGWINSZ }, 0 },
	{ TARGET, "ioctl", { 0, TIOCSCTTY }, 0 },
	{ TARGET, "ioctl", { 0, TIOCSPGRP }, 0 },
	{ TARGET, "ioctl", { 0, FIONREAD }, 0 },
	/* processes */
	{ TARGET, "clone", { SIGCHLD }, 0 },
	{ TARGET, "clone", { CLONE_VM | CLONE_VFORK | SIGCHLD }, 0 },
	{ TARGET,
	  "clone",
	  { CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
	    CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID },
	  0 },
	{ TARGET, "unshare", { CLONE_FS | CLONE_FILES }, 0 },
	/* personality */
	{ TARGET, "personality", { 0xffffffff }, 0 },
	{ TARGET, "personality", { 0 }, 0 },
	{ TARGET, "personality", { 0x0040000 }, 0 },
	{ TARGET, "personality", { 8 }, EPERM },
	{ TARGET, "personality", { 0x0400000 }, EPERM },
	{ TARGET, "personality", { 0x0440000 }, EPERM },
	/* nodes */
	{ TARGET, "mknod", { 0, 0644 }, 0 },
	{ TARGET, "mknod", { 0, S_IFREG | 0644 }, 0 },
	{ TARGET, "mknod", { 0, S_IFIFO | 0600 }, 0 },
	{ TARGET, "mknod", { 0, S_IFSOCK | 0600 }, 0 },
	{ TARGET, "mknod", { 0, S_IFCHR | 0666 }, EPERM },
	{ TARGET, "mknod", { 0, S_IFBLK | 0666 }, EPERM },
	{ TARGET, "mknodat", { S_IFCHR, S_IFREG, S_IFIFO | 0600 }, 0 },
	{ TARGET, "mknodat", { 0, 0, S_IFCHR | 0666 }, EPERM },
	{ TARGET, "mknodat", { 0, 0, S_IFBLK | 0666 }, EPERM },
	/* prctl */
	{ TARGET, "prctl", { PR_SET_SECCOMP }, 0 },
	{ TARGET, "prctl", { PR_SET_PDEATHSIG }, 0 },
	{ TARGET, "prctl", { PR_SET_NO_NEW_PRIVS }, 0 },
	{ TARGET, "prctl", { PR_SET_PTRACER }, 0 },
	{ TARGET, "prctl", { PR_SET_MM }, EPERM },

	{ INIT, "socket", { AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0 }, 0 },
	{ INIT, "socket", { AF_INET6, SOCK_STREAM, IPPROTO_TCP }, 0 },
	{ INIT, "socket", { AF_INET, SOCK_DGRAM, 0 }, ESOCKTNOSUPPORT },
	{ INIT, "socket", { AF_UNIX, SOCK_STREAM, 0 }, EAFNOSUPPORT },
	{ INIT, "socket", { AF_NETLINK, SOCK_RAW, 0 }, EAFNOSUPPORT },
	{ INIT, "openat", { 0, 0, O_RDONLY | O_CLOEXEC }, 0 },
	{ INIT, "openat", { 0, 0, O_WRONLY }, EPERM },
	{ INIT, "openat", { 0, 0, O_RDWR | O_CLOEXEC }, EPERM },
	{ INIT, "openat", { 0, 0, O_RDONLY | O_CREAT }, EPERM },
	{ INIT, "openat", { 0, 0, O_RDONLY | O_TRUNC }, EPERM },
	{ INIT, "ioctl", { 0, TIOCSPGRP }, 0 },
	{ INIT, "ioctl", { 0, TIOCSWINSZ }, 0 },
	{ INIT, "ioctl", { 0, TIOCSTI }, EPERM },
	{ INIT, "ioctl", { 0, FIONREAD }, EPERM },
	{ INIT, "mmap", { 0, 4096, PROT_READ | PROT_WRITE }, 0 },
	{ INIT, "mmap", { 0, 4096, PROT_READ | PROT_EXEC }, EPERM },

	{ SUPERVISOR, "mmap", { 0, 4096, PROT_READ | PROT_WRITE }, 0 },
	{ SUPERVISOR, "mmap", { 0, 4096, PROT_READ | PROT_EXEC }, EPERM },
	{ SUPERVISOR, "mprotect", { 0, 4096, PROT_NONE }, 0 },
	{ SUPERVISOR, "mprotect", { 0, 4096, PROT_EXEC }, EPERM },
	{ SUPERVISOR,
	  "clone",
	  { CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM },
	  0 },
	{ SUPERVISOR, "clone", { SIGCHLD }, EPERM },
	{ SUPERVISOR, "clone", { CLONE_VM | CLONE_VFORK | SIGCHLD }, EPERM },
	{ SUPERVISOR, "clone", { CLONE_THREAD | CLONE_NEWNET }, EPERM },
	{ SUPERVISOR, "socket", { AF_INET, SOCK_DGRAM, 0 }, 0 },
	{ SUPERVISOR, "socket", { AF_INET6, SOCK_STREAM, 0 }, 0 },
	{ SUPERVISOR, "socket", { AF_UNIX, SOCK_STREAM, 0 }, EAFNOSUPPORT },
	{ SUPERVISOR, "socket", { AF_INET, SOCK_RAW, 1 }, EPERM },
	{ SUPERVISOR, "socket", { AF_PACKET, SOCK_RAW, 0 }, EAFNOSUPPORT },
	{ SUPERVISOR, "ioctl", { 0, 0x5401 /* TCGETS */ }, 0 },
	{ SUPERVISOR, "ioctl", { 0, 0x5404 /* TCSETSF */ }, 0 },
	{ SUPERVISOR, "ioctl", { 0, 0x802c542a /* TCGETS2 */ }, 0 },
	{ SUPERVISOR, "ioctl", { 0, TIOCGWINSZ }, 0 },
	{ SUPERVISOR, "ioctl", { 0, TIOCSTI }, EPERM },
	{ SUPERVISOR, "ioctl", { 0, TIOCSCTTY }, EPERM },
	{ SUPERVISOR, "prctl", { PR_SET_NAME }, 0 },
	{ SUPERVISOR, "prctl", { PR_SET_DUMPABLE }, EPERM },
	{ SUPERVISOR, "prctl", { PR_SET_PTRACER }, EPERM },

	{ NONET, "socket", { AF_UNIX, SOCK_STREAM, 0 }, 0 },
	{ NONET, "socket", { AF_INET, SOCK_STREAM, 0 }, EACCES },
	{ NONET, "socket", { AF_INET6, SOCK_DGRAM, 0 }, EACCES },
	{ NONET, "socket", { AF_NETLINK, SOCK_RAW, 0 }, EACCES },
	{ NONET, "socket", { AF_PACKET, SOCK_RAW, 0 }, EACCES },

	{ GUARD, "openat", { 0, 0, O_RDONLY | O_CLOEXEC }, 0 },
	{ GUARD, "openat", { 0, 0, O_WRONLY }, EPERM },
	{ GUARD, "openat", { 0, 0, O_RDONLY | O_TRUNC }, EPERM },
	{ GUARD, "openat", { 0, 0, O_RDONLY | O_CREAT }, EPERM },
	{ GUARD, "ioctl", { 0, SECCOMP_IOCTL_NOTIF_RECV }, 0 },
	{ GUARD, "ioctl", { 0, SECCOMP_IOCTL_NOTIF_SEND }, 0 },
	{ GUARD, "ioctl", { 0, SECCOMP_IOCTL_NOTIF_ID_VALID }, 0 },
	{ GUARD, "ioctl", { 0, SECCOMP_IOCTL_NOTIF_ADDFD }, EPERM },
	{ GUARD, "ioctl", { 0, TIOCSTI }, EPERM },
	{ GUARD, "mmap", { 0, 4096, PROT_READ | PROT_EXEC }, EPERM },
	{ FETCHER, "openat", { 0, 0, O_RDONLY | O_CLOEXEC }, 0 },
	{ FETCHER, "openat", { 0, 0, O_WRONLY | O_CREAT }, EPERM },
	{ FETCHER, "socket", { AF_INET, SOCK_STREAM, 0 }, 0 },
	{ FETCHER, "socket", { AF_INET6, SOCK_DGRAM, 0 }, 0 },
	{ FETCHER, "socket", { AF_INET, SOCK_RAW, 0 }, EPERM },
	{ FETCHER, "socket", { AF_UNIX, SOCK_STREAM, 0 }, EAFNOSUPPORT },
	{ FETCHER, "socket", { AF_NETLINK, SOCK_RAW, 0 }, EAFNOSUPPORT },
	{ FETCHER, "mmap", { 0, 4096, PROT_READ | PROT_WRITE }, 0 },
	{ FETCHER, "mprotect", { 0, 4096, PROT_READ | PROT_EXEC }, EPERM },
};

static void test_cases(void)
{
	static const struct {
		const char *name;
		uint64_t bit;
	} news[] = {
		{ "NEWNS", CLONE_NEWNS },     { "NEWCGROUP", CLONE_NEWCGROUP },
		{ "NEWUTS", CLONE_NEWUTS },   { "NEWIPC", CLONE_NEWIPC },
		{ "NEWUSER", CLONE_NEWUSER }, { "NEWPID", CLONE_NEWPID },
		{ "NEWNET", CLONE_NEWNET },   { "NEWTIME", 0x80 },
	};

	for (size_t i = 0; i < LEN(cases); i++)
		ok(gives(cases[i].table, cases[i].call, cases[i].args,
			 cases[i].want ? AB_ERRNO((uint32_t)cases[i].want) : AB_ALLOWED),
		   "%s: %s(%#llx, %#llx, %#llx) is %s", table_names[cases[i].table], cases[i].call,
		   (unsigned long long)cases[i].args[0], (unsigned long long)cases[i].args[1],
		   (unsigned long long)cases[i].args[2],
		   cases[i].want ? strerror(cases[i].want) : "allowed");

	for (size_t i = 0; i < LEN(news); i++) {
		uint64_t plain[3] = { news[i].bit };
		uint64_t thread[3] = { news[i].bit | CLONE_VM | SIGCHLD };

		ok(gives(TARGET, "clone", plain, AB_ERRNO(EPERM)) &&
			   gives(TARGET, "clone", thread, AB_ERRNO(EPERM)) &&
			   gives(TARGET, "unshare", plain, AB_ERRNO(EPERM)),
		   "target: no namespace by CLONE_%s", news[i].name);
	}
}

/* The flags of npm's unpacker. */
#define UNPACKS (O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)

/* Opens are asked about by their flags alone, whatever the other half of the register has. */
static void test_opens(void)
{
	static const struct {
		uint64_t flags;
		bool asked;
	} opens[] = {
		{ O_RDONLY, false },
		{ O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, false },
		{ O_PATH | O_CLOEXEC, false },
		{ HIGH | O_RDONLY, false },
		{ O_WRONLY, true },
		{ O_RDWR | O_CLOEXEC, true },
		{ O_ACCMODE, true },
		{ O_RDONLY | O_CREAT, true },
		{ O_RDONLY | O_TRUNC, true },
		{ O_TMPFILE | O_WRONLY, true },
		{ HIGH | O_WRONLY, true },
		{ O_WRONLY | O_CREAT | O_TRUNC, true },
		{ UNPACKS, false },
		{ UNPACKS | O_CLOEXEC, false },
		{ HIGH | UNPACKS, false },
		{ UNPACKS | O_APPEND, true },
		{ UNPACKS | O_NONBLOCK, true },
		{ UNPACKS | O_DIRECTORY, true },
		{ UNPACKS | O_TMPFILE, true },
		{ (UNPACKS & ~O_WRONLY) | O_RDWR, true },
		{ UNPACKS & ~O_CREAT, true },
		{ UNPACKS & ~O_TRUNC, true },
		{ UNPACKS & ~O_WRONLY, true },
	};
	static const int tables[] = { WRITES, CHILDREN };

	for (size_t i = 0; i < LEN(opens); i++)
		for (size_t t = 0; t < LEN(tables); t++) {
			const uint64_t at[3] = { O_WRONLY, O_WRONLY, opens[i].flags };
			const uint64_t here[3] = { O_WRONLY, opens[i].flags, O_WRONLY };
			uint32_t want = opens[i].asked ? AB_ASKED : AB_ALLOWED;

			ok(gives(tables[t], "openat", at, want) &&
				   gives(tables[t], "open", here, want),
			   "%s: an open with %#llx is %s", table_names[tables[t]],
			   (unsigned long long)opens[i].flags,
			   opens[i].asked ? "asked about" : "not");
		}
}

int main(void)
{
	test_lists();
	test_cases();
	test_opens();
	return done();
}
