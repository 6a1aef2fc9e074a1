/*
 * The calls whose arguments decide. Each is a switch over one register, or a
 * chain of them; see table.h.
 */
#include "sandbox/seccomp/table.h"

#include <asm/termbits.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>

/* clang-format off: one check is one row. */
#define WHOLE 0xffffffffu
/* Judge these bits of an argument: the values that are named, and the rest. */
#define SWITCH(n, bits, rest, ...)                                          \
	{                                                                   \
		.arg = (n), .mask = (bits), .other = (rest),                \
		.when = (const struct ab_when[]){ __VA_ARGS__ },            \
		.len = AB_COUNT(((const struct ab_when[]){ __VA_ARGS__ })), \
	}
#define WHEN(v, what)                           \
	{                                       \
		.value = (v), .verdict = (what) \
	}
#define OK(v) WHEN(v, AB_ALLOWED)
#define NO(v, e) WHEN(v, AB_ERRNO(e))
#define SEEN(v) WHEN(v, AB_SEEN)
#define ASK(v) WHEN(v, AB_ASKED)
#define LOOK(v, s)                         \
	{                                  \
		.value = (v), .next = &(s) \
	}

/*
 * Sockets. The empty network namespace is the fence; this closes the kernel
 * code behind the families and protocols that no ordinary program needs.
 * What is closed answers as a kernel would that was built without it, so
 * programs fall back: Go tries MPTCP and takes TCP on EPROTONOSUPPORT,
 * libaudit takes a missing NETLINK_AUDIT for a kernel without audit.
 *
 * Ping sockets (datagram ICMP) stay: net.ipv4.ping_group_range decides about
 * them, and in a network namespace of its own it is "1 0", no group.
 */
#define SOCK_TYPE_MASK 0xf /* the rest are SOCK_CLOEXEC, SOCK_NONBLOCK */

static const struct ab_switch inet_stream =
	SWITCH(2, WHOLE, AB_ERRNO(EPROTONOSUPPORT), OK(0), OK(IPPROTO_TCP));

static const struct ab_switch inet_dgram =
	SWITCH(2, WHOLE, AB_ERRNO(EPROTONOSUPPORT), OK(0), OK(IPPROTO_UDP), OK(IPPROTO_ICMP),
	       OK(IPPROTO_ICMPV6));

static const struct ab_switch inet_type =
	SWITCH(1, SOCK_TYPE_MASK, AB_ERRNO(ESOCKTNOSUPPORT), LOOK(SOCK_STREAM, inet_stream),
	       LOOK(SOCK_DGRAM, inet_dgram), NO(SOCK_RAW, EPERM));

static const struct ab_switch guard_dgram =
	SWITCH(2, WHOLE, AB_ERRNO(EPROTONOSUPPORT), OK(0), OK(IPPROTO_UDP));

/* getifaddrs and if_nameindex read routes; writing needs a capability. */
static const struct ab_switch netlink_protocol =
	SWITCH(2, WHOLE, AB_ERRNO(EPROTONOSUPPORT), OK(NETLINK_ROUTE));

/* The guard may refuse datagrams. The kernel makes a datagram socket of SOCK_RAW. */
static const struct ab_switch unix_type =
	SWITCH(1, SOCK_TYPE_MASK, AB_ALLOWED, SEEN(SOCK_DGRAM), SEEN(SOCK_RAW));

const struct ab_switch ab_check_socket =
	SWITCH(0, WHOLE, AB_ERRNO(EAFNOSUPPORT), LOOK(AF_UNIX, unix_type), LOOK(AF_INET, inet_type),
	       LOOK(AF_INET6, inet_type), LOOK(AF_NETLINK, netlink_protocol));

const struct ab_switch ab_check_socketpair =
	SWITCH(0, WHOLE, AB_ERRNO(EAFNOSUPPORT), LOOK(AF_UNIX, unix_type));

/* The same where only the listener's calls count. */
static const struct ab_switch datagram_type =
	SWITCH(1, SOCK_TYPE_MASK, AB_ALLOWED, ASK(SOCK_DGRAM), ASK(SOCK_RAW));
const struct ab_switch ab_check_datagrams =
	SWITCH(0, WHOLE, AB_ALLOWED, LOOK(AF_UNIX, datagram_type));

/*
 * A box without a network of its own. The listener makes every socket that has
 * an address: internet, and Unix streams. Only netlink is left.
 */
const struct ab_switch ab_check_sockets =
	SWITCH(0, WHOLE, AB_ALLOWED, ASK(AF_UNIX), ASK(AF_INET), ASK(AF_INET6));

/* On the host's network: only the latter. */
const struct ab_switch ab_check_unix_streams = SWITCH(0, WHOLE, AB_ALLOWED, ASK(AF_UNIX));

/*
 * Sending. MSG_FASTOPEN connects, so it is refused. Without an address
 * (argument 5 is its length, and the kernel refuses or ignores one of 0) only a
 * short message is asked about: it may be a query on a connected datagram socket.
 */
#define SHORT_MESSAGE 0x7ffu
static const struct ab_switch send_length = SWITCH(2, ~SHORT_MESSAGE, AB_ALLOWED, ASK(0));
static const struct ab_switch send_address = SWITCH(5, WHOLE, AB_ASKED, LOOK(0, send_length));
const struct ab_switch ab_check_sendto =
	SWITCH(3, MSG_FASTOPEN, AB_ERRNO(EOPNOTSUPP), LOOK(0, send_address));
/* MSG_CONFIRM means nothing to a Unix socket: so messages to init and supervisor are told from
 * others before anybody listens (base/system/fd.h). */
#define SENDS(n) \
	SWITCH(n, MSG_FASTOPEN | MSG_CONFIRM, AB_ERRNO(EOPNOTSUPP), ASK(0), OK(MSG_CONFIRM))
const struct ab_switch ab_check_sendmsg = SENDS(2);
const struct ab_switch ab_check_sendmmsg = SENDS(3);

/* Only who wants the sender's address is asked about: argument 4, a pointer. */
const struct ab_switch ab_check_recvfrom = SWITCH(4, WHOLE, AB_ASKED, OK(0));

/*
 * Options that would open what the listener closed: the cork of a datagram
 * socket (at the levels of UDP and UDP-Lite, which are one to the kernel), the
 * device that every socket is bound to, a connect() that waits for the
 * first write.
 */
#ifndef SOL_UDPLITE
#define SOL_UDPLITE 136
#endif
#define TCP_FASTOPEN_CONNECT_OPTION 30
static const struct ab_switch socket_options =
	SWITCH(2, WHOLE, AB_ALLOWED, NO(SO_BINDTODEVICE, EPERM), NO(SO_BINDTOIFINDEX, EPERM));
static const struct ab_switch tcp_options =
	SWITCH(2, WHOLE, AB_ALLOWED, NO(TCP_FASTOPEN_CONNECT_OPTION, ENOPROTOOPT));
const struct ab_switch ab_check_setsockopt =
	SWITCH(1, WHOLE, AB_ALLOWED, LOOK(SOL_SOCKET, socket_options),
	       LOOK(IPPROTO_TCP, tcp_options), NO(IPPROTO_UDP, ENOPROTOOPT),
	       NO(SOL_UDPLITE, ENOPROTOOPT));

/* What the listener makes for it. */
static const struct ab_switch guard_inet =
	SWITCH(1, SOCK_TYPE_MASK, AB_ERRNO(ESOCKTNOSUPPORT), LOOK(SOCK_STREAM, inet_stream),
	       LOOK(SOCK_DGRAM, guard_dgram));
static const struct ab_switch guard_unix =
	SWITCH(1, SOCK_TYPE_MASK, AB_ERRNO(ESOCKTNOSUPPORT), OK(SOCK_STREAM), OK(SOCK_SEQPACKET));
const struct ab_switch ab_check_socket_guard =
	SWITCH(0, WHOLE, AB_ERRNO(EAFNOSUPPORT), LOOK(AF_UNIX, guard_unix),
	       LOOK(AF_INET, guard_inet), LOOK(AF_INET6, guard_inet));

/* A nested run without network: only sockets that never leave the machine. */
const struct ab_switch ab_check_socket_nonet = SWITCH(0, WHOLE, AB_ERRNO(EACCES), OK(AF_UNIX));

/* init dials ports of the box for the supervisor, nothing else. */
static const struct ab_switch tcp_type =
	SWITCH(1, SOCK_TYPE_MASK, AB_ERRNO(ESOCKTNOSUPPORT), LOOK(SOCK_STREAM, inet_stream));

const struct ab_switch ab_check_socket_tcp =
	SWITCH(0, WHOLE, AB_ERRNO(EAFNOSUPPORT), LOOK(AF_INET, tcp_type), LOOK(AF_INET6, tcp_type));

/* The container filter connects to the engine, nothing else. */
static const struct ab_switch unix_stream_type =
	SWITCH(1, SOCK_TYPE_MASK, AB_ERRNO(ESOCKTNOSUPPORT), OK(SOCK_STREAM));
const struct ab_switch ab_check_socket_unix =
	SWITCH(0, WHOLE, AB_ERRNO(EAFNOSUPPORT), LOOK(AF_UNIX, unix_stream_type));

/* The supervisor dials hosts and asks resolvers. It has no business with the
 * daemons of this machine, most of which listen on socket files. */
const struct ab_switch ab_check_socket_inet = SWITCH(
	0, WHOLE, AB_ERRNO(EAFNOSUPPORT), LOOK(AF_INET, inet_type), LOOK(AF_INET6, inet_type));

/*
 * Namespaces. In clone() the bit of CLONE_NEWTIME belongs to the exit signal
 * (the kernel takes it for a namespace only in unshare and clone3); no
 * signal has that number, so refusing it costs nothing. What is left of
 * unshare, giving up a shared table of files, is harmless.
 */
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
#define CLONE_NEW_ANY                                                                  \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME)

const struct ab_switch ab_check_namespaces = SWITCH(0, CLONE_NEW_ANY, AB_ERRNO(EPERM), OK(0));

/* The same where only the listener's calls count. */
const struct ab_switch ab_check_namespaces_asked = SWITCH(0, CLONE_NEW_ANY, AB_ASKED, OK(0));

/*
 * User namespaces are allowed: those of processes and networks too, with which a browser's sandbox
 * shuts its own processes in. A mount namespace would be of no use, because Landlock and the filter
 * refuse every mount; the others are refused because nothing needs them.
 */
const struct ab_switch ab_check_namespaces_inner =
	SWITCH(0, CLONE_NEW_ANY & ~(unsigned int)(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET),
	       AB_ERRNO(EPERM), OK(0));

/* Threads, never a process. */
const struct ab_switch ab_check_clone_thread =
	SWITCH(0, CLONE_NEW_ANY | CLONE_THREAD, AB_ERRNO(EPERM), OK(CLONE_THREAD));

/*
 * Other personalities change how the kernel reads calls and lays out memory
 * (READ_IMPLIES_EXEC makes every mapping executable). Debuggers need the
 * one that switches address randomisation off; -1 asks for the present one.
 */
const struct ab_switch ab_check_personality =
	SWITCH(0, WHOLE, AB_ERRNO(EPERM), OK(0), OK(ADDR_NO_RANDOMIZE), OK(0xffffffffu));

/* Regular files (0 means that too), fifos and sockets; no devices. */
#define NO_DEVICE OK(0), OK(S_IFREG), OK(S_IFIFO), OK(S_IFSOCK)

const struct ab_switch ab_check_mknod = SWITCH(1, S_IFMT, AB_ERRNO(EPERM), NO_DEVICE);

const struct ab_switch ab_check_mknodat = SWITCH(2, S_IFMT, AB_ERRNO(EPERM), NO_DEVICE);

/*
 * TIOCSTI and TIOCLINUX type into a terminal for the next program that reads it,
 * TIOCCONS takes the console's output, TIOCSETD loads line disciplines,
 * which hold old and little-used code. The command number is an unsigned
 * int to the kernel: compared as 64 bits, a set upper half would slip by.
 */
const struct ab_switch ab_check_ioctl =
	SWITCH(1, WHOLE, AB_ALLOWED, NO(TIOCSTI, EPERM), NO(TIOCLINUX, EPERM), NO(TIOCCONS, EPERM),
	       NO(TIOCSETD, EPERM));

const struct ab_switch ab_check_ioctl_init =
	SWITCH(1, WHOLE, AB_ERRNO(EPERM), OK(TCGETS), OK(TIOCGPGRP), OK(TIOCSPGRP), OK(TIOCGWINSZ),
	       OK(TIOCSWINSZ), OK(TIOCGSID));

/* The terminal relay; tcgetattr takes the *2 forms from glibc 2.42 on. */
const struct ab_switch ab_check_ioctl_supervisor =
	SWITCH(1, WHOLE, AB_ERRNO(EPERM), OK(TCGETS), OK(TCSETS), OK(TCSETSW), OK(TCSETSF),
	       OK(TCGETS2), OK(TCSETS2), OK(TCSETSW2), OK(TCSETSF2), OK(TCSBRK), OK(TCFLSH),
	       OK(TIOCGPGRP), OK(TIOCSPGRP), OK(TIOCGSID), OK(TIOCGWINSZ), OK(TIOCSWINSZ),
	       OK(TIOCOUTQ), OK(FIONREAD), OK(FIONBIO));

/* What a listener is asked for; the numbers are the same everywhere. */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
const struct ab_switch ab_check_ioctl_guard =
	SWITCH(1, WHOLE, AB_ERRNO(EPERM), OK(SECCOMP_IOCTL_NOTIF_RECV),
	       OK(SECCOMP_IOCTL_NOTIF_SEND), OK(SECCOMP_IOCTL_NOTIF_ID_VALID),
	       OK(SECCOMP_IOCTL_NOTIF_SET_FLAGS));

const struct ab_switch ab_check_ioctl_guard_sockets =
	SWITCH(1, WHOLE, AB_ERRNO(EPERM), OK(SECCOMP_IOCTL_NOTIF_RECV),
	       OK(SECCOMP_IOCTL_NOTIF_SEND), OK(SECCOMP_IOCTL_NOTIF_ID_VALID),
	       OK(SECCOMP_IOCTL_NOTIF_SET_FLAGS), OK(SECCOMP_IOCTL_NOTIF_ADDFD));

/* A lease of a file that the box can only read would make writers on the host wait. */
const struct ab_switch ab_check_fcntl = SWITCH(1, WHOLE, AB_ALLOWED, NO(F_SETLEASE, EPERM));

/* PR_SET_MM forges the arguments and the program that /proc shows. */
const struct ab_switch ab_check_prctl = SWITCH(0, WHOLE, AB_ALLOWED, NO(PR_SET_MM, EPERM));

/* The prctl() calls that libc makes by itself. The process cannot become dumpable again. */
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
const struct ab_switch ab_check_prctl_own =
	SWITCH(0, WHOLE, AB_ERRNO(EPERM), OK(PR_SET_NAME), OK(PR_GET_NAME), OK(PR_GET_DUMPABLE),
	       OK(PR_SET_NO_NEW_PRIVS), OK(PR_GET_NO_NEW_PRIVS), OK(PR_SET_VMA));

/* mmap and mprotect: after the lock nothing new becomes executable. */
const struct ab_switch ab_check_no_exec = SWITCH(2, PROT_EXEC, AB_ERRNO(EPERM), OK(0));

const struct ab_switch ab_check_openat_read =
	SWITCH(2, O_ACCMODE | O_CREAT | O_TRUNC, AB_ERRNO(EPERM), OK(O_RDONLY));

/*
 * Opening a file for reading is not asked about, nor is O_PATH alone. O_TMPFILE needs a mode that
 * writes. Nor is a file that must not exist yet (O_EXCL): git, tar and unpackers create all of
 * theirs in this way, and asking would make a clone 7 to 11 % slower (test/bench/writes.sh). Nor
 * are exactly the flags with which npm unpacks: it writes over what exists, but never through a link,
 * and makes the folder before each file, which is asked about.
 */
#define NEW_FILE(mode) OK((mode) | O_CREAT | O_EXCL), OK((mode) | O_CREAT | O_EXCL | O_TRUNC)
#define UNPACKS(n) \
	SWITCH(n, ~(uint32_t)O_CLOEXEC, AB_ASKED, OK(O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW))
static const struct ab_switch open_unpacks = UNPACKS(1);
static const struct ab_switch openat_unpacks = UNPACKS(2);

#define WRITES(n, unpacks)                                                                    \
	SWITCH(n, O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC, AB_ASKED, OK(O_RDONLY), OK(O_EXCL), \
	       NEW_FILE(O_RDONLY), NEW_FILE(O_WRONLY), NEW_FILE(O_RDWR),                      \
	       LOOK(O_WRONLY | O_CREAT | O_TRUNC, unpacks))
const struct ab_switch ab_check_open_writes = WRITES(1, open_unpacks);
const struct ab_switch ab_check_openat_writes = WRITES(2, openat_unpacks);

/* Tools that delete a tree hold its folders open; others name what they remove. */
const struct ab_switch ab_check_unlinkat_named =
	SWITCH(0, WHOLE, AB_ALLOWED, ASK((uint32_t)AT_FDCWD));

#define ANY_WRITE(n) SWITCH(n, O_ACCMODE | O_CREAT | O_TRUNC, AB_ASKED, OK(O_RDONLY))
const struct ab_switch ab_check_open_any_write = ANY_WRITE(1);
const struct ab_switch ab_check_openat_any_write = ANY_WRITE(2);

/*
 * Without namespaces. Attributes of a file can be changed through a descriptor that only reads, and
 * Landlock does not know them.
 */
const struct ab_switch ab_check_ioctl_shared =
	SWITCH(1, WHOLE, AB_ALLOWED, NO(FS_IOC_SETFLAGS, EOPNOTSUPP),
	       NO(FS_IOC_FSSETXATTR, EOPNOTSUPP), NO(FS_IOC_SETVERSION, EOPNOTSUPP));

/* How a program finds out that it is in such a box: there is no file that says so. */
const struct ab_switch ab_check_prctl_marked = SWITCH(0, WHOLE, AB_ALLOWED, NO(AB_PRCTL_MARK, 0));

const struct ab_switch ab_check_peer = SWITCH(0, WHOLE, AB_ERRNO(EPERM), OK(0));
const struct ab_switch ab_check_peer_asked = SWITCH(0, WHOLE, AB_ASKED, OK(0));

/* Groups and users can contain processes outside, so these calls are for one process. */
static const struct ab_switch whose = SWITCH(1, WHOLE, AB_ERRNO(EPERM), OK(0));
static const struct ab_switch whose_asked = SWITCH(1, WHOLE, AB_ASKED, OK(0));
const struct ab_switch ab_check_priority =
	SWITCH(0, WHOLE, AB_ERRNO(EPERM), LOOK(PRIO_PROCESS, whose));
const struct ab_switch ab_check_priority_asked =
	SWITCH(0, WHOLE, AB_ERRNO(EPERM), LOOK(PRIO_PROCESS, whose_asked));
#define IOPRIO_PROCESS 1
const struct ab_switch ab_check_ioprio =
	SWITCH(0, WHOLE, AB_ERRNO(EPERM), LOOK(IOPRIO_PROCESS, whose));
const struct ab_switch ab_check_ioprio_asked =
	SWITCH(0, WHOLE, AB_ERRNO(EPERM), LOOK(IOPRIO_PROCESS, whose_asked));

/* A datagram can be sent to any socket file by its address. */
static const struct ab_switch stream_type =
	SWITCH(1, SOCK_TYPE_MASK, AB_ERRNO(EACCES), OK(SOCK_STREAM), OK(SOCK_SEQPACKET));
const struct ab_switch ab_check_socket_alone = SWITCH(
	0, WHOLE, AB_ERRNO(EACCES), LOOK(AF_UNIX, stream_type), LOOK(AF_NETLINK, netlink_protocol));
/* clang-format on */
