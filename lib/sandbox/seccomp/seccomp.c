#include "sandbox/seccomp/seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/seccomp/filters.h"

#if defined(__x86_64__)
#define ARCH x86_64
#elif defined(__aarch64__)
#define ARCH aarch64
#else
#error "no system call filters for this architecture"
#endif

#define GLUE_(a, b) a##_##b
#define GLUE(a, b) GLUE_(a, b)

/* sock_fprog has no const, but the kernel only reads */
/* clang-format off */
#define FILTER(table) { \
	.prog = { \
		.len = sizeof(GLUE(table, ARCH)) / sizeof(struct sock_filter), \
		.filter = (struct sock_filter *)GLUE(table, ARCH), \
	}, \
	.allowed = GLUE(GLUE(table, ARCH), allowed), \
}
/* clang-format on */

#if AB_SANITIZED
#define INIT init_sanitized
#else
#define INIT init
#endif

static const struct {
	struct sock_fprog prog;
	size_t allowed;
} filters[AB_FILTER_COUNT] = {
	[AB_FILTER_TARGET] = FILTER(target),
	[AB_FILTER_INIT] = FILTER(INIT),
	[AB_FILTER_SUPERVISOR] = FILTER(supervisor),
	[AB_FILTER_NONET] = FILTER(nonet),
	[AB_FILTER_CHILDREN] = FILTER(children),
	[AB_FILTER_JUDGE] = FILTER(judge),
};

int ab_seccomp_load(enum ab_filter which)
{
	int saved = errno;
	int ret = 0;

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
		    &filters[which].prog) < 0)
		ret = -errno;
	errno = saved; /* a vfork child writes its parent's */
	return ret;
}

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV /* Linux 5.19 */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

int ab_seccomp_listen(enum ab_filter which)
{
	/* With the first, a signal does not make a call that is being judged
	 * begin anew. */
	static const unsigned long flags[] = {
		SECCOMP_FILTER_FLAG_NEW_LISTENER |
			SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
		SECCOMP_FILTER_FLAG_NEW_LISTENER,
	};
	int saved = errno;
	int fd = -EINVAL;

	for (size_t i = 0; i < 2 && fd == -EINVAL; i++) {
		fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				  flags[i], &filters[which].prog);
		if (fd < 0)
			fd = -errno;
	}
	errno = saved;
	return fd;
}

const struct sock_fprog *ab_seccomp_program(enum ab_filter which)
{
	return &filters[which].prog;
}

size_t ab_seccomp_allowed_count(enum ab_filter which)
{
	return filters[which].allowed;
}
