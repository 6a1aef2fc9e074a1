#ifndef AB_SANDBOX_SECCOMP_COMPILE_H
#define AB_SANDBOX_SECCOMP_COMPILE_H
/*
 * From a table to a BPF program. Runs when agentbox is built.
 *
 * Shape of a program: the architecture; a search tree over *ranges* of call
 * numbers with the same verdict; one block per argument switch; the returns.
 * The kernel translates a filter and tries it with every call number when it
 * is installed, so both length and depth are paid for at each launch: ranges
 * make it a third as long as one comparison per call (libseccomp's own
 * binary tree), and a switch can say what it answers when no value fits,
 * with arguments cut to 32 bits, which libseccomp has no rule for.
 */
#include <stddef.h>
#include <stdint.h>
#include <linux/filter.h>

#include "sandbox/seccomp/table.h"

struct ab_program {
	struct sock_filter insn[BPF_MAXINSNS];
	size_t len;
	size_t allowed; /* calls let through, in full or in part */
};

/* What libseccomp calls each architecture, and what the kernel does. */
extern const struct ab_arch_name {
	const char *name; /* as in the generated arrays */
	uint32_t scmp, audit;
} ab_seccomp_archs[AB_ARCH_COUNT];

/*
 * A mistake in a table (a name that nobody knows, a call named twice) ends
 * the generator: there is no build with a doubtful filter.
 */
void ab_seccomp_compile(const struct ab_table *table, enum ab_arch arch, struct ab_program *ret);

/* Print what is wrong with a table, and exit. */
_Noreturn void ab_seccomp_reject(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
