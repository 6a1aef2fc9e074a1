#ifndef AB_TEST_SECCOMP_SIM_H
#define AB_TEST_SECCOMP_SIM_H
/*
 * The compiled filters of every architecture, and a machine to run them. It
 * knows only the few instructions that they consist of.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sandbox/seccomp/table.h"

#define AB_SECCOMP_ALL
#include "sandbox/seccomp/filters.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define CALLS AB_CALLS_NAMED
#define BROKEN 0xdeadu /* no verdict of a sound program */
#define HIGH 0xdeadbeef00000000ull

static const struct {
	const char *name;
	uint32_t audit;
	const char *called; /* a name and its NUL for every number */
} archs[AB_ARCH_COUNT] = {
	[AB_X86_64] = { "x86_64", AUDIT_ARCH_X86_64, called_x86_64 },
	[AB_AARCH64] = { "aarch64", AUDIT_ARCH_AARCH64, called_aarch64 },
};

/* NULL: no call has this number there. */
static inline const char *call_name(int arch, uint32_t nr)
{
	static const char *names[AB_ARCH_COUNT][CALLS];
	const char *name = archs[arch].called;

	for (size_t i = 0; i < CALLS && !names[arch][CALLS - 1]; i++, name += strlen(name) + 1)
		names[arch][i] = name;
	return nr < CALLS && *names[arch][nr] ? names[arch][nr] : NULL;
}

/* In the order of ab_seccomp_tables. */
static const char *const table_names[AB_TABLE_COUNT] = {
	"target",
	"init",
	"supervisor",
	"nonet",
	"writes",
	"children",
	"guard",
	"traced",
	"userns",
	"asking",
	"fetcher",
	"shared",
	"shared_writes",
	"shared_children",
	"unasked",
	"alone",
	"guard_shared",
	"sockets",
	"sockets_children",
	"containers",
	"asking_writes",
	"asking_children",
	"init_sanitized",
};
enum {
	TARGET,
	INIT,
	SUPERVISOR,
	NONET,
	WRITES,
	CHILDREN,
	GUARD,
	TRACED,
	USERNS,
	ASKING,
	FETCHER,
	SHARED,
	SHARED_WRITES,
	SHARED_CHILDREN,
	UNASKED,
	ALONE,
	JUDGE_SHARED,
	SOCKETS,
	SOCKETS_CHILDREN,
	CONTAINERS,
	ASKING_WRITES,
	ASKING_CHILDREN,
	INIT_SAN
};
#define PROG(t)                                       \
	{                                             \
		{ t##_x86_64, LEN(t##_x86_64) },      \
		{                                     \
			t##_aarch64, LEN(t##_aarch64) \
		}                                     \
	}
static const struct prog {
	const struct sock_filter *insn;
	size_t len;
} progs[AB_TABLE_COUNT][AB_ARCH_COUNT] = {
	[TARGET] = PROG(target),
	[INIT] = PROG(init),
	[SUPERVISOR] = PROG(supervisor),
	[NONET] = PROG(nonet),
	[INIT_SAN] = PROG(init_sanitized),
	[WRITES] = PROG(writes),
	[CHILDREN] = PROG(children),
	[GUARD] = PROG(guard),
	[TRACED] = PROG(traced),
	[USERNS] = PROG(userns),
	[ASKING] = PROG(asking),
	[FETCHER] = PROG(fetcher),
	[SHARED] = PROG(shared),
	[SHARED_WRITES] = PROG(shared_writes),
	[SHARED_CHILDREN] = PROG(shared_children),
	[UNASKED] = PROG(unasked),
	[ALONE] = PROG(alone),
	[JUDGE_SHARED] = PROG(guard_shared),
	[CONTAINERS] = PROG(containers),
	[SOCKETS] = PROG(sockets),
	[SOCKETS_CHILDREN] = PROG(sockets_children),
	[ASKING_WRITES] = PROG(asking_writes),
	[ASKING_CHILDREN] = PROG(asking_children),
};

static inline uint32_t simulate(const struct prog *p, const struct seccomp_data *d)
{
	uint32_t a = 0, word;
	size_t pc = 0;

	while (pc < p->len) {
		const struct sock_filter *i = &p->insn[pc++];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (i->k % 4 || i->k + 4 > sizeof(*d))
				return BROKEN;
			memcpy(&word, (const char *)d + i->k, sizeof(word));
			a = word;
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JA:
			pc += i->k;
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
			return BROKEN;
		}
	}
	return BROKEN;
}

static inline int number_of(int arch, const char *name)
{
	for (uint32_t nr = 0; nr < CALLS; nr++)
		if (call_name(arch, nr) && strcmp(call_name(arch, nr), name) == 0)
			return (int)nr;
	return -1;
}

#endif
