#include "sandbox/seccomp/compile.h"

#include <linux/audit.h>
#include <seccomp.h>

#include "base/text/words.h"

#define MAX_CALLS 1024 /* far beyond any number in use */
#define MAX_RANGES 300
#define MAX_BLOCKS 64
#define MAX_NAME 64

/* Numbers from here on are x32 calls where that exists, nowhere else any. */
#define X32_BIT 0x40000000u

const struct ab_arch_name ab_seccomp_archs[AB_ARCH_COUNT] = {
	[AB_X86_64] = { "x86_64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64 },
	[AB_AARCH64] = { "aarch64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64 },
};

/* What happens to one call number. */
struct fate {
	uint32_t verdict;
	const struct ab_switch *check;
	bool named;
	/* What the table on top says where the check allows the call. */
	uint32_t top_verdict;
	const struct ab_switch *top_check;
};

/* Call numbers from `first` up to the next range share a fate. */
struct range {
	uint32_t first;
	struct fate fate;
};

/*
 * Programs are built from their end to their beginning, because BPF only
 * jumps forward: a label is the distance from the end, and everything that
 * an instruction can point to exists when it is made. `insn` is filled from
 * the back.
 */
struct builder {
	struct ab_program *prog;
	bool asks;   /* instead of EPERM */
	size_t next; /* the label that judges an allowed call next; 0: it is allowed */
	struct {
		const struct ab_switch *check;
		size_t next, label;
	} blocks[MAX_BLOCKS];
	size_t blocks_len;
};

_Noreturn void ab_seccomp_reject(const char *fmt, ...)
{
	va_list ap;

	fputs("seccomp table: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* The number of a call, or -1 where the architecture has none. */
static int resolve(const char *name, const struct ab_call_rule *rule, enum ab_arch arch)
{
	int nr = seccomp_syscall_resolve_name_arch(ab_seccomp_archs[arch].scmp, name);

	if (nr == __NR_SCMP_ERROR) {
		if (!rule->number)
			ab_seccomp_reject("unknown system call %s", name);
		nr = rule->x86_only && arch != AB_X86_64 ? -1 : rule->number;
	} else if (rule->number && nr >= 0 && nr != rule->number) {
		ab_seccomp_reject("%s is %d, not %d", name, nr, rule->number);
	}
	if (nr >= MAX_CALLS)
		ab_seccomp_reject("%s has the number %d", name, nr);
	/* libseccomp gives calls of other architectures negative numbers */
	return nr < 0 ? -1 : nr;
}

static size_t emit(struct builder *b, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	struct ab_program *p = b->prog;

	if (p->len == BPF_MAXINSNS)
		ab_seccomp_reject("a filter is too long");
	p->len++;
	p->insn[BPF_MAXINSNS - p->len] = (struct sock_filter){
		.code = code,
		.jt = jt,
		.jf = jf,
		.k = k,
	};
	return p->len;
}

/* A return is shared by all that end so. */
static size_t emit_return(struct builder *b, uint32_t verdict)
{
	const struct sock_filter *end = b->prog->insn + BPF_MAXINSNS;

	if (b->asks && (verdict == AB_ERRNO(EPERM) || verdict == AB_SEEN))
		verdict = AB_ASKED;
	else if (verdict == AB_SEEN)
		verdict = AB_ALLOWED;
	if (verdict == AB_ALLOWED && b->next)
		return b->next;
	for (size_t at = 1; at <= b->prog->len; at++)
		if ((end - at)->code == (BPF_RET | BPF_K) && (end - at)->k == verdict)
			return at;
	return emit(b, BPF_RET | BPF_K, verdict, 0, 0);
}

static size_t emit_test(struct builder *b, uint16_t op, uint32_t k, size_t yes, size_t no)
{
	/* a longer program would need jumps of another kind; none is near it */
	if (b->prog->len > UINT8_MAX)
		ab_seccomp_reject("a filter is too long for its jumps");
	return emit(b, BPF_JMP | op | BPF_K, k, (uint8_t)(b->prog->len - yes),
		    (uint8_t)(b->prog->len - no));
}

static size_t emit_switch(struct builder *b, const struct ab_switch *s)
{
	size_t label;

	for (size_t i = 0; i < b->blocks_len; i++)
		if (b->blocks[i].check == s && b->blocks[i].next == b->next)
			return b->blocks[i].label;
	if (s->arg > 5 || !s->mask || !s->len || b->blocks_len == MAX_BLOCKS)
		ab_seccomp_reject("a switch that cannot be compiled");

	/* inner blocks before the tests, which then are one run of jumps */
	for (size_t i = 0; i < s->len; i++) {
		if (s->when[i].value & ~s->mask)
			ab_seccomp_reject("a value outside its mask: %#x", s->when[i].value);
		for (size_t j = 0; j < i; j++)
			if (s->when[j].value == s->when[i].value)
				ab_seccomp_reject("a value twice: %#x", s->when[i].value);
		if (s->when[i].next)
			emit_switch(b, s->when[i].next);
	}
	label = emit_return(b, s->other);
	for (size_t i = 0; i < s->len; i++)
		if (!s->when[i].next)
			emit_return(b, s->when[i].verdict);
	for (size_t i = s->len; i-- > 0;) {
		const struct ab_when *w = &s->when[i];
		size_t hit = w->next ? emit_switch(b, w->next) : emit_return(b, w->verdict);

		label = emit_test(b, BPF_JEQ, w->value, hit, label);
	}
	if (s->mask != 0xffffffffu)
		emit(b, BPF_ALU | BPF_AND | BPF_K, s->mask, 0, 0);
	label = emit(b, BPF_LD | BPF_W | BPF_ABS,
		     /* the low half: both architectures are little-endian */
		     offsetof(struct seccomp_data, args) + 8 * s->arg, 0, 0);
	b->blocks[b->blocks_len].check = s;
	b->blocks[b->blocks_len].next = b->next;
	b->blocks[b->blocks_len++].label = label;
	return label;
}

static size_t emit_ruling(struct builder *b, const struct ab_switch *check, uint32_t verdict)
{
	return check ? emit_switch(b, check) : emit_return(b, verdict);
}

static size_t emit_fate(struct builder *b, const struct fate *f)
{
	size_t label;

	if (f->check && (f->top_check || f->top_verdict != AB_ALLOWED))
		b->next = emit_ruling(b, f->top_check, f->top_verdict);
	label = emit_ruling(b, f->check, f->verdict);
	b->next = 0;
	return label;
}

static bool same_ruling(const struct ab_switch *check_a, uint32_t verdict_a,
			const struct ab_switch *check_b, uint32_t verdict_b)
{
	return check_a == check_b && (check_a || verdict_a == verdict_b);
}

static bool same_fate(const struct fate *a, const struct fate *b)
{
	return same_ruling(a->check, a->verdict, b->check, b->verdict) &&
	       (!a->check ||
		same_ruling(a->top_check, a->top_verdict, b->top_check, b->top_verdict));
}

/*
 * Halve the row of ranges until one is left. A single number inside a range
 * takes one equality test instead of two comparisons.
 */
static size_t emit_tree(struct builder *b, const struct range *r, size_t len)
{
	size_t half = len / 2;
	size_t low, high;

	if (len == 1)
		return emit_fate(b, &r[0].fate);
	if (len == 3 && r[2].first == r[1].first + 1 && same_fate(&r[0].fate, &r[2].fate)) {
		low = emit_fate(b, &r[0].fate);
		high = emit_fate(b, &r[1].fate);
		return emit_test(b, BPF_JEQ, r[1].first, high, low);
	}
	high = emit_tree(b, r + half, len - half);
	low = emit_tree(b, r, half);
	return emit_test(b, BPF_JGE, r[half].first, high, low);
}

static size_t count_words(const char *list)
{
	size_t n = 1;

	for (const char *s = list; *s; s++)
		n += *s == ' ';
	return n;
}

/* How many of its calls are seen, whether this architecture has them or not. */
static size_t mark_rule(const struct ab_call_rule *rule, enum ab_arch arch, const char *seen,
			struct fate fates[MAX_CALLS])
{
	size_t found = 0;
	const char *s = rule->calls;

	while (*s) {
		size_t len = strcspn(s, " ");
		char name[MAX_NAME];
		bool asked;
		int nr;

		if (!len || len >= sizeof(name))
			ab_seccomp_reject("bad list of calls: %s", s);
		memcpy(name, s, len);
		name[len] = '\0';
		s += len + (s[len] == ' ');
		asked = seen && ab_word_listed(seen, name, len);
		found += asked;
		nr = resolve(name, rule, arch);
		if (nr < 0)
			continue;
		if (fates[nr].named)
			ab_seccomp_reject("%s is named twice", name);
		fates[nr] = (struct fate){
			.verdict = asked ? AB_ASKED : rule->verdict,
			.check = asked ? NULL : rule->check,
			.named = true,
			.top_verdict = AB_ALLOWED,
		};
	}
	return found;
}

static size_t find_ranges(const struct ab_call_table *table, const struct fate fates[MAX_CALLS],
			  struct range ret[MAX_RANGES])
{
	struct fate rest = { .verdict = table->otherwise, .top_verdict = AB_ALLOWED };
	struct fate x32 = { .verdict = AB_ERRNO(ENOSYS), .top_verdict = AB_ALLOWED };
	size_t len = 0;

	for (uint32_t nr = 0; nr < MAX_CALLS; nr++) {
		if (len && same_fate(&ret[len - 1].fate, &fates[nr]))
			continue;
		if (len == MAX_RANGES - 2)
			ab_seccomp_reject("%s has too many ranges", table->name);
		ret[len++] = (struct range){ nr, fates[nr] };
	}
	if (!same_fate(&ret[len - 1].fate, &rest))
		ret[len++] = (struct range){ MAX_CALLS, rest };
	if (!same_fate(&ret[len - 1].fate, &x32))
		ret[len++] = (struct range){ X32_BIT, x32 };
	return len;
}

static void read_table(const struct ab_call_table *table, enum ab_arch arch,
		       struct fate fates[MAX_CALLS])
{
	size_t seen = 0;

	for (size_t nr = 0; nr < MAX_CALLS; nr++)
		fates[nr] = (struct fate){ .verdict = table->otherwise, .top_verdict = AB_ALLOWED };
	for (size_t i = 0; i < table->len; i++)
		seen += mark_rule(&table->rules[i], arch, table->seen, fates);
	for (size_t i = 0; i < table->more_len; i++)
		seen += mark_rule(&table->more[i], arch, table->seen, fates);
	if (table->seen && seen != count_words(table->seen))
		ab_seccomp_reject("%s sees what no rule names", table->name);
}

/*
 * As the kernel would with two filters: a refusal of either counts, and a question only where the
 * other allows the call.
 */
static void put_on_top(const struct ab_call_table *top, enum ab_arch arch,
		       struct fate fates[MAX_CALLS])
{
	static struct fate tops[MAX_CALLS];

	if (top->otherwise != AB_ALLOWED || top->top || top->seen)
		ab_seccomp_reject("%s cannot be on top of another table", top->name);
	read_table(top, arch, tops);
	for (size_t nr = 0; nr < MAX_CALLS; nr++) {
		struct fate *f = &fates[nr];

		if (f->check) {
			f->top_check = tops[nr].check;
			f->top_verdict = tops[nr].verdict;
		} else if (f->verdict == AB_ALLOWED) {
			f->check = tops[nr].check;
			f->verdict = tops[nr].verdict;
		}
	}
}

void ab_seccomp_compile(const struct ab_call_table *table, enum ab_arch arch,
			struct ab_program *ret)
{
	static struct fate fates[MAX_CALLS];
	static struct range ranges[MAX_RANGES];
	struct builder b = { .prog = ret, .asks = table->seen != NULL };
	size_t len, tree, foreign;

	read_table(table, arch, fates);
	if (table->top)
		put_on_top(table->top, arch, fates);

	ret->len = 0;
	ret->allowed = 0;
	for (size_t nr = 0; nr < MAX_CALLS; nr++)
		ret->allowed +=
			fates[nr].named && (fates[nr].check || fates[nr].verdict == AB_ALLOWED ||
					    fates[nr].verdict == AB_ASKED);

	/*
	 * A program for another architecture (i386 on x86-64, 32-bit ARM)
	 * dies at its first call. An errno would leave it spinning: libc
	 * calls exit until it works.
	 */
	foreign = emit_return(&b, SECCOMP_RET_KILL_PROCESS);
	len = find_ranges(table, fates, ranges);
	tree = emit_tree(&b, ranges, len);
	if (tree != ret->len)
		ab_seccomp_reject("%s judges nothing", table->name);
	tree = emit(&b, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	emit_test(&b, BPF_JEQ, ab_seccomp_archs[arch].audit, tree, foreign);
	emit(&b, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
	memmove(ret->insn, ret->insn + BPF_MAXINSNS - ret->len, ret->len * sizeof(ret->insn[0]));
}
