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

const struct sock_fprog *ab_seccomp_program(enum ab_filter which)
{
	return &filters[which].prog;
}

size_t ab_seccomp_allowed_count(enum ab_filter which)
{
	return filters[which].allowed;
}
