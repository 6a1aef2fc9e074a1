#pragma once
/*
 * From a table to a BPF program. Runs when agentbox is built.
 *
 * Shape of a program: the architecture; a binary tree over *ranges* of call
 * numbers with the same verdict; one block per argument switch; the returns.
 *
 * Why not libseccomp's own export (2.5.4, CTL_OPTIMIZE 2)? It compares each
 * call number alone, and it has no rule for "any other value of this
 * argument": a rule may name an argument once, and a rule without arguments
 * replaces those with. The complement has to be spelled out in prefixes. The
 * same verdicts then take 5 to 14 times the instructions (target on aarch64:
 * 1658 against 121). The kernel translates a filter and tries it with every
 * call number when it is installed, so a launch pays for length and depth:
 * the three filters of a plain run install in 0.40 of the time of
 * libseccomp's, which would add about 8 % of the CPU time of a launch.
 * Measured on Linux 6.18 in one interleaved run; docs/decisions/
 * seccomp-compiler.md has the figures and the method.
 */
#include <linux/filter.h>

#include "base/base.h"
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
 * A mistake in a table (an unknown name, a call named twice) ends
 * the generator: there is no build with a doubtful filter.
 */
void ab_seccomp_compile(const struct ab_call_table *table, enum ab_arch arch,
			struct ab_program *ret);

/* Print what is wrong with a table, and exit. */
_Noreturn void ab_seccomp_reject(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
