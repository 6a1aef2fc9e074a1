#pragma once
/*
 * What the filters say, as plain data. Read by the generator when agentbox
 * is built, and by the tests; the program itself holds only the result.
 *
 * The generator runs on the build machine and writes filters for every
 * architecture, so a constant in a table must be the same on all of them.
 * O_DIRECTORY, for one, is not; what is used here is.
 *
 * Order decides nothing: a call is named once in a table, a value once in a
 * switch. The generator refuses anything else.
 */
#include <linux/seccomp.h>

#include "base/base.h"
#include "sandbox/seccomp/seccomp.h"

#define AB_ALLOWED SECCOMP_RET_ALLOW
#define AB_ASKED SECCOMP_RET_USER_NOTIF
/* Allowed, but asked about where refusals are to be seen. */
#define AB_SEEN (SECCOMP_RET_ALLOW | 1)
#define AB_ERRNO(e) (SECCOMP_RET_ERRNO | (e))

/* prctl() with this number answers 0 in a box without namespaces, and EINVAL elsewhere. */
#define AB_PRCTL_MARK 0x61676278

enum ab_arch {
	AB_X86_64,
	AB_AARCH64,
};
#define AB_ARCH_COUNT 2

/* One value of a switch: a verdict, or another argument to look at. */
struct ab_when {
	uint32_t value;
	uint32_t verdict;
	const struct ab_switch *next;
};

/*
 * Judge (argument & mask). Only the low 32 bits of a register are ever
 * looked at: every argument named in these tables is an int to the kernel,
 * or a long of which it refuses or ignores the upper half.
 */
struct ab_switch {
	unsigned int arg;
	uint32_t mask;
	uint32_t other; /* verdict for any other value */
	const struct ab_when *when;
	size_t len;
};

/*
 * A verdict for a space-separated list of calls. A call that an architecture
 * does not have is passed over there; an unknown name is an error,
 * unless `number` says what libseccomp is too old to know.
 */
struct ab_call_rule {
	uint32_t verdict;
	const char *calls;
	const struct ab_switch *check; /* instead of `verdict` */
	int number;		       /* 0: libseccomp knows the name */
	int x86_only;		       /* with `number` */
};

struct ab_call_table {
	const char *name;   /* of the array in the generated file */
	uint32_t otherwise; /* verdict for what no rule names */
	const struct ab_call_rule *rules;
	size_t len;
	const struct ab_call_rule *more; /* added in this table's variant */
	size_t more_len;
	/* Not NULL: the listener is asked where the rules say EPERM, and
	 * about these calls where they say anything but an errno. */
	const char *seen;
	/* Not NULL: both in one filter. */
	const struct ab_call_table *top;
};

/* One for each filter; and that of init in a program with sanitizers. */
enum { AB_TABLE_SANITIZED = AB_FILTER_COUNT, AB_TABLE_COUNT };
extern const struct ab_call_table *const ab_seccomp_tables[AB_TABLE_COUNT];

/* target.c */
extern const struct ab_call_table ab_table_target, ab_table_traced, ab_table_userns,
	ab_table_asking, ab_table_asking_writes, ab_table_asking_children;

/* own.c */
extern const struct ab_call_table ab_table_writes, ab_table_children;

/* checks.c */
extern const struct ab_switch ab_check_socket, ab_check_socket_tcp, ab_check_socket_inet,
	ab_check_socket_unix, ab_check_socket_nonet, ab_check_socketpair, ab_check_namespaces,
	ab_check_clone_thread, ab_check_personality, ab_check_mknod, ab_check_mknodat,
	ab_check_ioctl, ab_check_fcntl, ab_check_ioctl_init, ab_check_ioctl_supervisor,
	ab_check_ioctl_guard, ab_check_prctl, ab_check_prctl_own, ab_check_no_exec,
	ab_check_openat_read, ab_check_open_writes, ab_check_openat_writes, ab_check_datagrams,
	ab_check_namespaces_asked, ab_check_namespaces_inner, ab_check_ioctl_shared,
	ab_check_prctl_marked, ab_check_peer, ab_check_peer_asked, ab_check_priority,
	ab_check_priority_asked, ab_check_ioprio, ab_check_ioprio_asked, ab_check_socket_alone,
	ab_check_open_any_write, ab_check_openat_any_write, ab_check_sockets, ab_check_unix_streams,
	ab_check_sendto, ab_check_sendmsg, ab_check_sendmmsg, ab_check_recvfrom,
	ab_check_unlinkat_named, ab_check_setsockopt, ab_check_socket_guard,
	ab_check_ioctl_guard_sockets;
