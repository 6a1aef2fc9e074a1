/*
 * What our own processes may still call once the command runs, and the
 * table of all tables.
 */
#include "sandbox/seccomp/table.h"

/* clang-format off */
/* abort(), what the sanitizers add, malloc: after the lock nothing new becomes executable. */
#define RUNTIME_RULES \
	{ AB_ALLOWED, "getpid gettid tgkill rt_sigaction rt_sigprocmask " \
		"rt_sigreturn sigaltstack sched_yield" }, \
	{ AB_ALLOWED, "brk munmap mremap madvise futex" }, \
	{ .check = &ab_check_no_exec, .calls = "mmap mprotect" }
/* clang-format on */

/*
 * pid 1: reaps, forwards signals, talks to the supervisor over one socket,
 * dials a port of the box and sends the socket up, reads /proc/net/tcp,
 * counts the processes in /proc, hands the terminal to the command's group, ends.
 */
/* clang-format off */
static const struct ab_call_rule init_rules[] = {
	{ AB_ALLOWED, "read write close lseek fstat newfstatat getdents64 "
		"fcntl poll ppoll" },
	{ .check = &ab_check_openat_read, .calls = "openat" },
	{ .check = &ab_check_socket_tcp, .calls = "socket" },
	{ AB_ALLOWED, "connect getsockopt sendto recvfrom sendmsg recvmsg" },
	{ .check = &ab_check_ioctl_init, .calls = "ioctl" },
	{ AB_ALLOWED, "wait4 waitid kill getpgid getpgrp exit "
		"exit_group restart_syscall" },
	/* abort() */
	{ AB_ALLOWED, "getpid gettid tgkill rt_sigaction rt_sigprocmask "
		"rt_sigreturn" },
	/* malloc, whose locks a static libc takes with one thread too */
	{ AB_ALLOWED, "brk munmap mremap madvise futex getrandom "
		"clock_gettime" },
	{ .check = &ab_check_no_exec, .calls = "mmap mprotect" },
};
/* clang-format on */

/*
 * The supervisor: every byte of the box passes through it, and its proxy
 * parses hostile ones. An attacker who takes it over must find no way to
 * run a program, to look into another process, or to make code.
 */
/* clang-format off */
static const struct ab_call_rule supervisor_rules[] = {
	/* Files: Landlock says where. */
	{ AB_ALLOWED, "read write readv writev pread64 pwrite64 lseek sendfile "
		"splice tee fsync fdatasync ftruncate fallocate open openat "
		"openat2 close close_range dup dup2 dup3 fcntl flock pipe "
		"pipe2 memfd_create" },
	{ AB_ALLOWED, "stat lstat fstat newfstatat statx statfs fstatfs fgetxattr "
		"access faccessat faccessat2 getdents64 getcwd readlink readlinkat "
		"umask mkdir mkdirat rmdir rename renameat renameat2 unlink "
		"unlinkat linkat chmod fchmod fchmodat utimensat "
		"inotify_init1 inotify_add_watch inotify_rm_watch" },
	{ AB_ALLOWED, "fchmodat2", .number = 452 },
	{ .check = &ab_check_ioctl_supervisor, .calls = "ioctl" },

	/* The loops. */
	{ AB_ALLOWED, "poll ppoll select pselect6 epoll_create1 epoll_ctl "
		"epoll_wait epoll_pwait epoll_pwait2 eventfd2 signalfd4 "
		"timerfd_create timerfd_settime timerfd_gettime nanosleep "
		"clock_nanosleep clock_gettime clock_getres gettimeofday "
		"time" },

	/* Network. */
	{ .check = &ab_check_socket_inet, .calls = "socket" },
	{ .check = &ab_check_socketpair, .calls = "socketpair" },
	{ AB_ALLOWED, "bind listen accept accept4 connect getsockname "
		"getpeername getsockopt setsockopt shutdown sendto recvfrom "
		"sendmsg recvmsg sendmmsg recvmmsg" },

	/* Processes and signals: to end the box, not to start anything. */
	{ AB_ALLOWED, "wait4 waitid kill tkill tgkill pidfd_open "
		"pidfd_send_signal getpid getppid gettid getpgid getpgrp "
		"setpgid getsid getuid geteuid getgid getegid getgroups "
		"getresuid getresgid exit exit_group" },
	{ AB_ALLOWED, "rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending "
		"rt_sigtimedwait rt_sigsuspend sigaltstack restart_syscall" },

	/* Threads. */
	{ .check = &ab_check_clone_thread, .calls = "clone" },
	{ AB_ERRNO(ENOSYS), "clone3" },
	{ AB_ALLOWED, "futex set_robust_list get_robust_list rseq "
		"set_tid_address membarrier sched_yield sched_getaffinity "
		"getcpu" },

	/* Memory; secrets are locked into it. */
	{ AB_ALLOWED, "brk munmap mremap madvise mlock mlock2 munlock" },
	{ .check = &ab_check_no_exec, .calls = "mmap mprotect" },

	/* Tightening further is always possible. */
	{ AB_ALLOWED, "seccomp landlock_create_ruleset landlock_add_rule "
		"landlock_restrict_self" },
	{ .check = &ab_check_prctl_own, .calls = "prctl" },

	{ AB_ALLOWED, "getrandom uname sysinfo getrlimit setrlimit prlimit64 "
		"getrusage times" },
};
/* clang-format on */

/*
 * Builds under AddressSanitizer and UndefinedBehaviorSanitizer only: what
 * their run time adds, and dies without, in init. The supervisor's list has
 * it all. Leak detection is not among it, because it needs ptrace: a locked
 * process ends by _exit.
 */
static const struct ab_call_rule init_sanitized[] = {
	{ AB_ALLOWED, "sigaltstack readlink readlinkat sched_yield" },
};

/*
 * On top of the target's filter. io_uring could make a socket as well; the
 * outer filter refuses it already, but this one must hold by itself.
 */
static const struct ab_call_rule nonet_rules[] = {
	{ .check = &ab_check_socket_nonet, .calls = "socket" },
	{ AB_ERRNO(EPERM), "io_uring_setup io_uring_enter io_uring_register" },
};

/*
 * On top of the target's filter as well, in every run: the listener is asked
 * about calls that create, rename or change what a name leads to, or open it
 * for writing. It tells what the box denies and refuses protected
 * names; the answer is one more refusal or none. A read-only open is never
 * asked about, nor a file that must not exist yet (O_EXCL) or that is opened
 * as npm unpacks it. openat2 has its flags in memory, so all of its calls are.
 *
 * Not asked about, because unpacking, cloning and deleting trees make one such
 * call for each file, and each would cost 5 to 10 microseconds: utime*, *xattr,
 * unlinkat in a folder that the caller holds open, and unlink, which git makes
 * before it copies an object. (rm and mv call unlinkat.)
 */
/* clang-format off */
#define OPEN_RULES \
	{ .check = &ab_check_open_writes, .calls = "open" }, \
	{ .check = &ab_check_openat_writes, .calls = "openat" }
#define FILE_RULES \
	{ AB_ASKED, "openat2 creat truncate mkdir mkdirat mknod mknodat link " \
		"linkat symlink symlinkat rename renameat renameat2 chmod " \
		"fchmodat chown lchown fchownat" }, \
	/* So that the listener may remember where a caller is. */ \
	{ AB_ASKED, "chdir fchdir" }, \
	{ AB_ASKED, "fchmodat2", .number = 452 }
#define REMOVE_RULES \
	{ AB_ASKED, "rmdir" }, \
	{ .check = &ab_check_unlinkat_named, .calls = "unlinkat" }
#define SOCKET_RULES \
	/* Connections are made by the listener (guard/connect). */ \
	{ AB_ASKED, "connect" }, \
	{ .check = &ab_check_datagrams, .calls = "socket socketpair" }
/* With commands.enforce "children": and about each program before it is executed. */
#define EXEC_RULES { AB_ASKED, "execve execveat" }

static const struct ab_call_rule write_rules[] = {
	OPEN_RULES,
	FILE_RULES,
	REMOVE_RULES,
	SOCKET_RULES,
	/* The listener answers as AB_FILTER_TARGET or AB_FILTER_USERNS does, and tells. */
	{ .check = &ab_check_namespaces_asked, .calls = "clone unshare" },
	{ AB_ASKED, "chroot" },
};

static const struct ab_call_rule exec_rules[] = {
	EXEC_RULES,
};

/*
 * Without namespaces, on top of the target's filter: what is shared with processes outside then.
 * Landlock fences who can be signalled and traced; it knows neither attributes of files nor limits
 * and priorities of processes.
 */
#define SHARED_RULES \
	/* No IPC namespace of its own. */ \
	{ AB_ERRNO(EPERM), "shmget shmat shmctl semget semop semtimedop semctl " \
		"msgget msgsnd msgrcv msgctl mq_open mq_unlink" }, \
	/* As on a file system that has none. */ \
	{ AB_ERRNO(EOPNOTSUPP), "setxattr lsetxattr fsetxattr removexattr " \
		"lremovexattr fremovexattr" }, \
	{ .check = &ab_check_ioctl_shared, .calls = "ioctl" }, \
	{ .check = &ab_check_prctl_marked, .calls = "prctl" }

/* The number of another process or of a thread: 0 is the caller itself. */
#define PEER_CALLS "prlimit64 sched_setaffinity sched_setparam sched_setscheduler " \
	"sched_setattr"

/* With a listener, which makes these changes itself, or looks whom they are for. */
#define LOOK_RULES \
	{ AB_ASKED, "fchmod fchown utime utimes futimesat utimensat" }, \
	/* New files and removed ones too: no mount closes a protected folder. */ \
	{ .check = &ab_check_open_any_write, .calls = "open" }, \
	{ .check = &ab_check_openat_any_write, .calls = "openat" }, \
	{ AB_ASKED, "unlink unlinkat rmdir" }, \
	{ .check = &ab_check_peer_asked, .calls = PEER_CALLS }, \
	{ .check = &ab_check_priority_asked, .calls = "setpriority" }, \
	{ .check = &ab_check_ioprio_asked, .calls = "ioprio_set" }

/*
 * On the host's network, which the box may use: the listener makes Unix streams
 * only, so that it can connect them (guard/sockets).
 */
#define UNIX_RULES \
	{ AB_ASKED, "connect listen" }, \
	{ .check = &ab_check_unix_streams, .calls = "socket" }, \
	{ .check = &ab_check_datagrams, .calls = "socketpair" }

/*
 * Without the network of the host: the listener makes every socket and sends
 * every datagram (guard/sockets). A datagram socket that it makes cannot send: it
 * is corked, and here nobody can take the cork out. So the listener may let the
 * kernel carry out any call that sends.
 */
#define SOCKETS_RULES \
	{ AB_ASKED, "connect bind listen recvmsg" }, \
	{ .check = &ab_check_sockets, .calls = "socket" }, \
	{ .check = &ab_check_datagrams, .calls = "socketpair" }, \
	{ .check = &ab_check_sendto, .calls = "sendto" }, \
	{ .check = &ab_check_sendmsg, .calls = "sendmsg" }, \
	{ .check = &ab_check_sendmmsg, .calls = "sendmmsg" }, \
	{ .check = &ab_check_recvfrom, .calls = "recvfrom" }, \
	{ .check = &ab_check_setsockopt, .calls = "setsockopt" }, \
	{ AB_ERRNO(EPERM), "io_uring_setup io_uring_enter io_uring_register" }

static const struct ab_call_rule shared_rules[] = {
	SHARED_RULES,
};

static const struct ab_call_rule shared_writes[] = {
	FILE_RULES,
	UNIX_RULES,
	LOOK_RULES,
};

static const struct ab_call_rule sockets_rules[] = {
	FILE_RULES,
	SOCKETS_RULES,
	LOOK_RULES,
};

/* Without one they fail: nobody could look. */
static const struct ab_call_rule unasked_rules[] = {
	{ AB_ERRNO(EPERM), "chmod fchmod fchmodat chown fchown lchown fchownat utime utimes "
		"futimesat utimensat" },
	{ AB_ERRNO(EPERM), "fchmodat2", .number = 452 },
	{ .check = &ab_check_peer, .calls = PEER_CALLS },
	{ .check = &ab_check_priority, .calls = "setpriority" },
	{ .check = &ab_check_ioprio, .calls = "ioprio_set" },
	{ AB_ERRNO(EACCES), "connect" },
	{ .check = &ab_check_socket_alone, .calls = "socket socketpair" },
};

/* No network at all: streams within the box, and nothing that has an address. */
static const struct ab_call_rule alone_rules[] = {
	{ .check = &ab_check_socket_alone, .calls = "socket socketpair" },
	{ AB_ERRNO(EACCES), "connect" },
	{ AB_ERRNO(EPERM), "io_uring_setup io_uring_enter io_uring_register" },
};
/* clang-format on */

/*
 * The process that is asked. It reads what the box's processes want to
 * execute or to open, so it may look into them and at names, and answer;
 * nothing else. Landlock would take the right to look from it. Not openat2:
 * whether it writes is not in a register.
 */
/* clang-format off */
static const struct ab_call_rule guard_rules[] = {
	{ AB_ALLOWED, "process_vm_readv readlink readlinkat faccessat2 "
		"statx" },
	{ .check = &ab_check_openat_read, .calls = "openat" },
	{ AB_ALLOWED, "read write close lseek fstat newfstatat fstatfs "
		"fcntl poll ppoll sendto recvfrom sendmsg recvmsg exit "
		"pidfd_open pidfd_getfd connect getsockopt timerfd_settime "
		"getrandom clock_gettime exit_group restart_syscall" },
	RUNTIME_RULES,
};
/* clang-format on */

/*
 * A process that sends records to a collector, or gets an access token: name
 * servers, one connection at a time, TLS, and the answers of a host that the user
 * chose. What it needs was opened before, but for sockets and the resolver's files.
 */
/* clang-format off */
static const struct ab_call_rule fetcher_rules[] = {
	{ AB_ALLOWED, "epoll_ctl epoll_wait epoll_pwait epoll_pwait2 poll ppoll" },
	{ .check = &ab_check_socket_inet, .calls = "socket" },
	{ AB_ALLOWED, "connect bind getsockname getpeername getsockopt setsockopt "
		"shutdown sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg" },
	{ .check = &ab_check_openat_read, .calls = "openat" },
	{ AB_ALLOWED, "read write readv writev close lseek stat fstat newfstatat "
		"statx fcntl" },
	{ AB_ALLOWED, "clock_gettime gettimeofday time getrandom uname sysinfo getuid "
		"geteuid getgid getegid exit exit_group restart_syscall" },
	RUNTIME_RULES,
};
/* clang-format on */

static const struct ab_call_rule guard_plain[] = {
	{ .check = &ab_check_ioctl_guard, .calls = "ioctl" },
};

/*
 * The guard of a box without namespaces: changes attributes of files that the box
 * may change, makes sockets, hands them in, looks for those that nobody has any
 * more, and writes who sent a datagram into the caller's memory.
 */
/* clang-format off */
static const struct ab_call_rule guard_shared[] = {
	{ AB_ALLOWED, "chmod fchmodat fchownat utimensat" },
	{ .check = &ab_check_ioctl_guard_sockets, .calls = "ioctl" },
	{ .check = &ab_check_socket_guard, .calls = "socket" },
	{ AB_ALLOWED, "bind listen accept4 getsockname getpeername setsockopt "
		"getdents64 process_vm_writev" },
};
/* clang-format on */

/*
 * The container filter: it parses what the box sends and can connect to the
 * engine, so it must have nothing else. Landlock forbids every file; O_PATH,
 * with which it looks whether a folder is still the same, opens none.
 */
/* clang-format off */
static const struct ab_call_rule containers_rules[] = {
	{ .check = &ab_check_socket_unix, .calls = "socket" },
	{ AB_ALLOWED, "connect accept4 sendto recvfrom sendmsg recvmsg shutdown "
		"getsockopt setsockopt" },
	{ .check = &ab_check_openat_read, .calls = "openat" },
	{ AB_ALLOWED, "read write close lseek fcntl openat2 fstat newfstatat statx "
		"epoll_ctl epoll_wait epoll_pwait poll ppoll" },
	{ AB_ALLOWED, "exit exit_group restart_syscall clock_gettime getrandom" },
	RUNTIME_RULES,
};
/* clang-format on */

/* clang-format off: a table is a row. */
#define RULES(r) .rules = (r), .len = AB_COUNT(r)
#define MORE(r) .more = (r), .more_len = AB_COUNT(r)
#define TABLE(n, rest, ...)                                  \
	{                                                    \
		.name = #n, .otherwise = (rest), __VA_ARGS__ \
	}
#define ROW(...) &(const struct ab_call_table)TABLE(__VA_ARGS__)
#define UNKNOWN AB_ERRNO(ENOSYS)

const struct ab_call_table ab_table_writes = TABLE(writes, AB_ALLOWED, RULES(write_rules));
const struct ab_call_table ab_table_children =
	TABLE(children, AB_ALLOWED, RULES(write_rules), MORE(exec_rules));

const struct ab_call_table *const ab_seccomp_tables[AB_TABLE_COUNT] = {
	[AB_FILTER_TARGET] = &ab_table_target,
	[AB_FILTER_INIT] = ROW(init, UNKNOWN, RULES(init_rules)),
	[AB_FILTER_SUPERVISOR] = ROW(supervisor, UNKNOWN, RULES(supervisor_rules)),
	[AB_FILTER_NONET] = ROW(nonet, AB_ALLOWED, RULES(nonet_rules)),
	[AB_TABLE_SANITIZED] =
		ROW(init_sanitized, UNKNOWN, RULES(init_rules), MORE(init_sanitized)),
	[AB_FILTER_WRITES] = &ab_table_writes,
	[AB_FILTER_CHILDREN] = &ab_table_children,
	[AB_FILTER_GUARD] = ROW(guard, UNKNOWN, RULES(guard_rules), MORE(guard_plain)),
	[AB_FILTER_TRACED] = &ab_table_traced,
	[AB_FILTER_USERNS] = &ab_table_userns,
	[AB_FILTER_ASKING] = &ab_table_asking,
	[AB_FILTER_FETCHER] = ROW(fetcher, UNKNOWN, RULES(fetcher_rules)),
	[AB_FILTER_SHARED] = ROW(shared, AB_ALLOWED, RULES(shared_rules)),
	[AB_FILTER_SHARED_WRITES] = ROW(shared_writes, AB_ALLOWED, RULES(shared_writes)),
	[AB_FILTER_SHARED_CHILDREN] =
		ROW(shared_children, AB_ALLOWED, RULES(shared_writes), MORE(exec_rules)),
	[AB_FILTER_UNASKED] = ROW(unasked, AB_ALLOWED, RULES(unasked_rules)),
	[AB_FILTER_ALONE] = ROW(alone, AB_ALLOWED, RULES(alone_rules)),
	[AB_FILTER_GUARD_SHARED] =
		ROW(guard_shared, UNKNOWN, RULES(guard_rules), MORE(guard_shared)),
	[AB_FILTER_CONTAINERS] = ROW(containers, UNKNOWN, RULES(containers_rules)),
	[AB_FILTER_SOCKETS] = ROW(sockets, AB_ALLOWED, RULES(sockets_rules)),
	[AB_FILTER_SOCKETS_CHILDREN] =
		ROW(sockets_children, AB_ALLOWED, RULES(sockets_rules), MORE(exec_rules)),
	[AB_FILTER_ASKING_WRITES] = &ab_table_asking_writes,
	[AB_FILTER_ASKING_CHILDREN] = &ab_table_asking_children,
};
/* clang-format on */
