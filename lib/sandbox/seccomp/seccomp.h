#pragma once
/*
 * The system call filters.
 *
 * They are written as tables (target.c, own.c, checks.c), compiled when
 * agentbox is built, and linked in as constant BPF programs: loading one is
 * a single system call. What no table names answers ENOSYS, as an older
 * kernel would; what is dangerous and known answers EPERM. Arguments are
 * judged by register value only, never by memory that another thread could
 * change, and only by the 32 bits that the kernel itself looks at.
 */
#include "base/base.h"

struct seccomp_data;
struct sock_fprog;

enum ab_filter {
	AB_FILTER_TARGET,     /* the command and everything it starts */
	AB_FILTER_INIT,	      /* pid 1 of the box, once the command runs */
	AB_FILTER_SUPERVISOR, /* the host side, from `go` to the end */
	AB_FILTER_NONET,      /* on top of TARGET: a nested run, no network */
	AB_FILTER_WRITES,     /* on top of TARGET: creating, renaming, opening
				 * for writing is asked about */
	AB_FILTER_CHILDREN,   /* the same, and programs */
	AB_FILTER_GUARD,      /* who answers that */
	AB_FILTER_TRACED,     /* instead of TARGET: what is refused, and what
				 * may be, is asked about */
	AB_FILTER_USERNS,     /* instead of TARGET: user namespaces are allowed */
	AB_FILTER_ASKING,     /* instead of both, below WRITES or CHILDREN, which
				 * ask about namespaces and chroot: a refusal
				 * here would keep them from it */
	AB_FILTER_FETCHER,    /* a process that sends requests for us: records, tokens */
	/* Without namespaces, each on top of TARGET: */
	AB_FILTER_SHARED,	   /* what would be shared with processes outside */
	AB_FILTER_SHARED_WRITES,   /* instead of WRITES: and attributes of files,
				    * limits and priorities of processes */
	AB_FILTER_SHARED_CHILDREN, /* the same, and programs */
	AB_FILTER_UNASKED,	   /* instead of these, if there is no listener */
	AB_FILTER_ALONE,	   /* no network */
	AB_FILTER_GUARD_SHARED,	   /* instead of GUARD, who makes some of these changes */
	/* Instead of SHARED_WRITES and SHARED_CHILDREN, if the network is not the host's: */
	AB_FILTER_SOCKETS,
	AB_FILTER_SOCKETS_CHILDREN,
	AB_FILTER_CONTAINERS,	   /* the process between the box and a container
				 * engine */
	AB_FILTER_ASKING_WRITES,   /* ASKING and WRITES in one */
	AB_FILTER_ASKING_CHILDREN, /* ASKING and CHILDREN in one */
	AB_FILTER_COUNT,
};

/*
 * Install a filter for the calling thread and what it starts. Needs
 * no_new_privs. Safe in a vfork child: one system call, errno untouched.
 * Returns 0 or -errno.
 */
int ab_seccomp_load(enum ab_filter which);

/*
 * The same for a filter that asks: returns the descriptor to listen on, which
 * is close-on-exec. From here on what it asks about waits for an answer.
 */
int ab_seccomp_listen(enum ab_filter which);

/*
 * What a filter says about a call: SECCOMP_RET_*. A process that
 * answers instead of the filter uses it to give the same answer, by register
 * values alone.
 */
uint32_t ab_seccomp_judge(enum ab_filter which, const struct seccomp_data *call);
/* Is this process behind AB_FILTER_SHARED: in a box without namespaces? */
bool ab_seccomp_marked(void);
/* The name of a call on this architecture, or "". */
const char *ab_seccomp_name(int nr);

/* The program itself, for tests and for `doctor`. */
const struct sock_fprog *ab_seccomp_program(enum ab_filter which);

/* How many calls of this architecture it lets through, in full or in part. */
size_t ab_seccomp_allowed_count(enum ab_filter which);
