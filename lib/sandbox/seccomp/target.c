/*
 * What the command may call. By group; deny by default.
 *
 * The walls are elsewhere (namespaces, mounts, Landlock, no capabilities).
 * This list keeps the kernel's rarely used and often broken corners out of
 * reach, and closes what the walls leave open. So the measure for a call is
 * not "is it powerful" but "does an ordinary program need it".
 */
#include "sandbox/seccomp/table.h"

#define DENY AB_ERRNO(EPERM)

/* clang-format off */
static const struct ab_call_rule rules[] = {
	/* File contents. */
	{ AB_ALLOWED, "read write readv writev pread64 pwrite64 preadv pwritev "
		"preadv2 pwritev2 lseek sendfile splice tee vmsplice "
		"copy_file_range readahead fadvise64 fallocate truncate "
		"ftruncate sync syncfs fsync fdatasync sync_file_range" },

	/* Descriptors. */
	{ AB_ALLOWED, "open openat openat2 creat close close_range dup dup2 "
		"dup3 flock pipe pipe2 memfd_create" },
	{ .check = &ab_check_fcntl, .calls = "fcntl" },
	{ .check = &ab_check_ioctl, .calls = "ioctl" },

	/* Names and what is known about them. */
	{ AB_ALLOWED, "stat lstat fstat newfstatat statx statfs fstatfs access "
		"faccessat faccessat2 getdents getdents64 getcwd chdir fchdir "
		"readlink readlinkat umask inotify_init inotify_init1 "
		"inotify_add_watch inotify_rm_watch" },

	/* Changes of the tree: where, is Landlock's and the mounts' matter. */
	{ AB_ALLOWED, "mkdir mkdirat rmdir rename renameat renameat2 link "
		"linkat symlink symlinkat unlink unlinkat chmod fchmod "
		"fchmodat chown fchown lchown fchownat utime utimes futimesat "
		"utimensat" },
	{ AB_ALLOWED, "fchmodat2", .number = 452 },	/* chmod of glibc 2.39 */
	{ .check = &ab_check_mknod, .calls = "mknod" },
	{ .check = &ab_check_mknodat, .calls = "mknodat" },
	{ AB_ALLOWED, "setxattr lsetxattr fsetxattr getxattr lgetxattr "
		"fgetxattr listxattr llistxattr flistxattr removexattr "
		"lremovexattr fremovexattr" },

	/* Waiting for several things; asynchronous file I/O of databases. */
	{ AB_ALLOWED, "poll ppoll select pselect6 epoll_create epoll_create1 "
		"epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd "
		"eventfd2 signalfd signalfd4 timerfd_create timerfd_settime "
		"timerfd_gettime io_setup io_destroy io_submit io_cancel "
		"io_getevents io_pgetevents" },

	/* Memory. */
	{ AB_ALLOWED, "brk mmap munmap mprotect mremap msync mincore madvise "
		"mlock mlock2 mlockall munlock munlockall membarrier "
		"remap_file_pages pkey_alloc pkey_free pkey_mprotect "
		"process_madvise get_mempolicy set_mempolicy mbind" },
	{ AB_ALLOWED, "mseal", .number = 462 },		/* glibc 2.41, V8 */

	/* System V and POSIX IPC: the box has its own IPC namespace. */
	{ AB_ALLOWED, "shmget shmat shmdt shmctl semget semop semtimedop "
		"semctl msgget msgsnd msgrcv msgctl mq_open mq_unlink "
		"mq_timedsend mq_timedreceive mq_notify mq_getsetattr" },

	/*
	 * Processes. clone3 has its flags in memory, where no filter can
	 * read them; on ENOSYS, and only on that, libc falls back to clone.
	 */
	{ AB_ALLOWED, "fork vfork execve execveat exit exit_group wait4 waitid "
		"kill tkill tgkill pidfd_open pidfd_send_signal getpid getppid "
		"gettid getpgid getpgrp setpgid getsid setsid "
		"set_tid_address arch_prctl" },
	{ AB_ERRNO(ENOSYS), "clone3" },
	{ .check = &ab_check_personality, .calls = "personality" },
	{ .check = &ab_check_prctl, .calls = "prctl" },

	/*
	 * A uretprobe of the host's monitoring returns through this call;
	 * refusing it kills the probed program (Linux 6.11 to 6.13). Made
	 * from anywhere else it raises SIGILL.
	 */
	{ AB_ALLOWED, "uretprobe", .number = 335, .x86_only = 1 },

	/*
	 * Debuggers. The pid namespace and Landlock fence who can be looked
	 * at, and init is not dumpable.
	 */
	{ AB_ALLOWED, "ptrace process_vm_readv process_vm_writev pidfd_getfd "
		"kcmp" },

	/* Threads. */
	{ AB_ALLOWED, "futex set_robust_list get_robust_list rseq restart_syscall" },
	{ AB_ALLOWED, "futex_waitv", .number = 449 },

	/* Scheduling and limits: a process can only lower its own share. */
	{ AB_ALLOWED, "sched_yield sched_getaffinity sched_setaffinity "
		"sched_getparam sched_setparam sched_getscheduler "
		"sched_setscheduler sched_getattr sched_setattr "
		"sched_get_priority_max sched_get_priority_min "
		"sched_rr_get_interval getpriority setpriority ioprio_get "
		"ioprio_set getcpu getrlimit setrlimit prlimit64 getrusage "
		"times" },

	/* Signals. */
	{ AB_ALLOWED, "rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending "
		"rt_sigtimedwait rt_sigqueueinfo rt_tgsigqueueinfo "
		"rt_sigsuspend sigaltstack pause alarm" },

	/* Time, as far as it is only read or waited for. */
	{ AB_ALLOWED, "nanosleep clock_nanosleep clock_gettime clock_getres "
		"gettimeofday time getitimer setitimer timer_create "
		"timer_delete timer_settime timer_gettime timer_getoverrun" },

	/* Network: the namespace has no way out but our doors. */
	{ .check = &ab_check_socket, .calls = "socket" },
	{ .check = &ab_check_socketpair, .calls = "socketpair" },
	{ AB_ALLOWED, "bind listen accept accept4 connect getsockname "
		"getpeername getsockopt setsockopt shutdown sendto recvfrom "
		"sendmsg recvmsg sendmmsg recvmmsg" },

	/* Identity: without capabilities these change nothing of weight. */
	{ AB_ALLOWED, "getuid geteuid getgid getegid getresuid getresgid "
		"getgroups setuid setgid setreuid setregid setresuid "
		"setresgid setfsuid setfsgid setgroups capget capset" },

	/* Boxes within the box: each can only tighten. */
	{ AB_ALLOWED, "seccomp landlock_create_ruleset landlock_add_rule "
		"landlock_restrict_self" },

	/* The machine. */
	{ AB_ALLOWED, "uname sysinfo getrandom" },

	/*
	 * Refused by name. All of these would be ENOSYS anyway; EPERM tells
	 * a program that it lacks the right, which is what most of them are
	 * prepared for.
	 */

	/* Mounts and namespaces: mount_setattr and open_tree need no path
	 * that Landlock sees. */
	{ DENY, "mount umount2 pivot_root setns open_tree move_mount "
		"fsopen fsconfig fsmount fspick mount_setattr" },
	{ DENY, "open_tree_attr", .number = 467 },

	/* Files without a name to judge: handles open across any mount. */
	{ DENY, "name_to_handle_at open_by_handle_at" },

	/* Kernel code that is large, young, or was broken most often. */
	{ DENY, "bpf perf_event_open userfaultfd io_uring_setup "
		"io_uring_enter io_uring_register add_key request_key keyctl "
		"fanotify_init fanotify_mark move_pages migrate_pages" },

	/* The machine itself. */
	{ DENY, "kexec_load kexec_file_load init_module finit_module "
		"delete_module reboot swapon swapoff acct syslog vhangup "
		"quotactl quotactl_fd sethostname setdomainname "
		"lookup_dcookie nfsservctl iopl ioperm" },

	/* The clock. */
	{ DENY, "settimeofday clock_settime clock_adjtime adjtimex" },
};
/* clang-format on */

/* New namespaces, and the root of a process: what differs between the tables below. */
static const struct ab_call_rule refused[] = {
	{ .check = &ab_check_namespaces, .calls = "clone unshare" },
	{ DENY, "chroot" },
};

/* A browser's sandbox takes the file system from its processes with chroot, for which they have the
 * capability in their own namespace only. */
static const struct ab_call_rule inner[] = {
	{ .check = &ab_check_namespaces_inner, .calls = "clone unshare" },
	{ AB_ALLOWED, "chroot" },
};

/* The filter of the listener asks about these, and is loaded on top. */
static const struct ab_call_rule asked[] = {
	{ AB_ALLOWED, "clone unshare chroot" },
};

#define RULES(m)                                                                            \
	.otherwise = AB_ERRNO(ENOSYS), .rules = rules, .len = AB_COUNT(rules), .more = (m), \
	.more_len = AB_COUNT(m)

const struct ab_call_table ab_table_target = { .name = "target", RULES(refused) };
const struct ab_call_table ab_table_userns = { .name = "userns", RULES(inner) };
const struct ab_call_table ab_table_asking = { .name = "asking", RULES(asked) };

/* With the listener's in one filter: the kernel needs as long for each, however short. */
const struct ab_call_table ab_table_asking_writes = { .name = "asking_writes",
						      RULES(asked),
						      .top = &ab_table_writes };
const struct ab_call_table ab_table_asking_children = { .name = "asking_children",
							RULES(asked),
							.top = &ab_table_children };

/*
 * The first one, where refusals are to be seen: what is refused above is asked
 * about, and so are calls that find a file by its name, which the walls may
 * refuse. The answer is the verdict above, whatever the listener finds out
 * (ab_seccomp_judge), so nothing is open here that is closed there.
 */
static const char seen[] = "execve execveat open openat openat2 creat truncate mkdir mkdirat "
			   "rmdir rename renameat renameat2 link linkat symlink symlinkat unlink "
			   "unlinkat mknod mknodat chmod fchmodat fchmodat2 chown lchown fchownat "
			   "utime utimes futimesat utimensat setxattr lsetxattr removexattr "
			   "lremovexattr connect bind";

const struct ab_call_table ab_table_traced = { .name = "traced", RULES(refused), .seen = seen };
