#include "sandbox/seccomp/seccomp.h"

#include <linux/filter.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "sandbox/seccomp/filters.h"
#include "sandbox/seccomp/table.h"

#ifndef AB_FILTERS
#error "no system call filters for this architecture"
#endif

/* sock_fprog has no const, but the kernel only reads */
/* clang-format off */
#define FILTER(table) { \
	.prog = { \
		.len = sizeof(table) / sizeof(struct sock_filter), \
		.filter = (struct sock_filter *)table, \
	}, \
	.allowed = table##_allowed, \
},
/* clang-format on */

static const struct {
	struct sock_fprog prog;
	size_t allowed;
} filters[AB_FILTER_COUNT] = { AB_FILTERS(FILTER) };

int ab_seccomp_load(enum ab_filter which)
{
	int saved = errno;
	int ret = 0;

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filters[which].prog) < 0)
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
		SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
		SECCOMP_FILTER_FLAG_NEW_LISTENER,
	};
	int saved = errno;
	int fd = -EINVAL;

	for (size_t i = 0; i < 2 && fd == -EINVAL; i++) {
		fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags[i],
				  &filters[which].prog);
		if (fd < 0)
			fd = -errno;
	}
	errno = saved;
	return fd;
}

/* The few instructions that the generator knows. */
uint32_t ab_seccomp_judge(enum ab_filter which, const struct seccomp_data *call)
{
	const struct sock_fprog *prog = &filters[which].prog;
	uint32_t a = 0;

	for (size_t pc = 0; pc < prog->len;) {
		const struct sock_filter *i = &prog->filter[pc++];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (i->k > sizeof(*call) - sizeof(a))
				return SECCOMP_RET_KILL_PROCESS;
			memcpy(&a, (const char *)call + i->k, sizeof(a));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= i->k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			return SECCOMP_RET_KILL_PROCESS;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

bool ab_seccomp_marked(void)
{
	int saved = errno;
	bool marked = prctl(AB_PRCTL_MARK, 0, 0, 0, 0) == 0;

	errno = saved;
	return marked;
}

const char *ab_seccomp_name(int nr)
{
	const char *name = AB_CALLED;

	if (nr < 0 || nr >= AB_CALLS_NAMED)
		return "";
	while (nr-- > 0)
		name += strlen(name) + 1;
	return name;
}

const struct sock_fprog *ab_seccomp_program(enum ab_filter which)
{
	return &filters[which].prog;
}

size_t ab_seccomp_allowed_count(enum ab_filter which)
{
	return filters[which].allowed;
}
