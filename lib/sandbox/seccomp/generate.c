/*
 * Writes filters.h: every filter for every architecture as constant data,
 * and the names of all calls.
 *
 *     generate SANITIZED OUTPUT		SANITIZED: 0 or 1
 */
#include <seccomp.h>

#include "sandbox/seccomp/compile.h"

#define TESTED_CALLS 600

static void print_program(FILE *out, const char *table, const char *arch,
			  const struct ab_program *p)
{
	fprintf(out,
		"\n/* %zu calls */\n#define %s_%s_allowed %zu\n"
		"static const struct sock_filter %s_%s[] = {\n",
		p->allowed, table, arch, p->allowed, table, arch);
	for (size_t i = 0; i < p->len; i++)
		fprintf(out, "\t{ 0x%02x, %u, %u, 0x%08x },\n", p->insn[i].code, p->insn[i].jt,
			p->insn[i].jf, p->insn[i].k);
	fputs("};\n", out);
}

/* What the program has: its filters, in the order of enum ab_filter, and the names. */
static void print_filters(FILE *out, const char *arch, bool sanitized)
{
	fputs("\n#define AB_FILTERS(X)", out);
	for (size_t i = 0; i < AB_FILTER_COUNT; i++)
		fprintf(out, " \\\n\tX(%s_%s)",
			ab_seccomp_tables[sanitized && i == AB_FILTER_INIT ? AB_TABLE_SANITIZED : i]
				->name,
			arch);
	fprintf(out, "\n#define AB_CALLED called_%s\n", arch);
}

/* One text, so that no pointer is to be relocated at each start: a name and
 * its NUL for every number. */
static void print_packed(FILE *out, enum ab_arch arch)
{
	fprintf(out, "\nstatic const char called_%s[] =\n", ab_seccomp_archs[arch].name);
	for (int nr = 0; nr < TESTED_CALLS; nr++) {
		char *name = seccomp_syscall_resolve_num_arch(ab_seccomp_archs[arch].scmp, nr);

		/* libseccomp has it since 2.5.4; its number is the same everywhere. */
		fprintf(out, "\t\"%s\\0\"\n", name ? name : nr == 449 ? "futex_waitv" : "");
		free(name);
	}
	fprintf(out, "\t\"\";\n");
}

int main(int argc, char *argv[])
{
	static struct ab_program prog;
	FILE *out;

	if (argc != 3)
		ab_seccomp_reject("usage: generate SANITIZED OUTPUT");
	out = fopen(argv[2], "we");
	if (!out)
		ab_seccomp_reject("cannot write %s", argv[2]);

	fputs("/* Generated from the tables of lib/sandbox/seccomp. */\n", out);
	for (int arch = 0; arch < AB_ARCH_COUNT; arch++) {
		const char *name = ab_seccomp_archs[arch].name;

		fprintf(out,
			"\n#if defined(AB_SECCOMP_ALL) || "
			"defined(__%s__)\n",
			name);
		for (size_t i = 0; i < AB_TABLE_COUNT; i++) {
			ab_seccomp_compile(ab_seccomp_tables[i], arch, &prog);
			print_program(out, ab_seccomp_tables[i]->name, name, &prog);
		}
		print_packed(out, arch);
		fprintf(out, "\n#endif\n\n#if defined(__%s__)\n", name);
		print_filters(out, name, strcmp(argv[1], "1") == 0);
		fputs("\n#endif\n", out);
	}
	fprintf(out, "\n#define AB_CALLS_NAMED %d\n", TESTED_CALLS);
	if (fflush(out) || ferror(out) || fclose(out))
		ab_seccomp_reject("cannot write %s", argv[2]);
	return 0;
}
