/*
 * The compiled filters against their tables: every call number, on every
 * architecture, and for calls whose arguments decide every edge of these.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/seccomp/seccomp.h"
#include "seccomp_sim.h"
#include "tap.h"

/* Of pairs of edges every fourth, another one each time, with AB_ALL all; the sanitizers have seen all of the code
 * with fewer. */
static size_t step, first;

static void choose_pairs(void)
{
	const char *all = getenv("AB_ALL");

	step = all && all[0] ? 1 : SANITIZED ? 10 : 4;
	first = (size_t)getpid() % step;
	printf("# pairs: each of %zu, from %zu on\n", step, first);
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *s = list; (s = strstr(s, word)); s += len)
		if ((s == list || s[-1] == ' ') && (s[len] == ' ' || s[len] == '\0'))
			return true;
	return false;
}

static const struct ab_call_rule *find_rule(const struct ab_call_rule *rules, size_t len, int arch,
					    uint32_t nr)
{
	const char *name = call_name(arch, nr);

	for (size_t i = 0; i < len; i++) {
		if (name && has_word(rules[i].calls, name))
			return &rules[i];
		if (!name && rules[i].number == (int)nr && nr &&
		    (!rules[i].x86_only || arch == AB_X86_64))
			return &rules[i];
	}
	return NULL;
}

static const struct ab_call_rule *rule_of(const struct ab_call_table *t, int arch, uint32_t nr)
{
	const struct ab_call_rule *r = find_rule(t->rules, t->len, arch, nr);

	return r ? r : find_rule(t->more, t->more_len, arch, nr);
}

/* Of a table that asks. */
static uint32_t as_asked(const struct ab_call_table *t, uint32_t verdict)
{
	if (verdict == AB_SEEN)
		return t->seen ? AB_ASKED : AB_ALLOWED;
	return t->seen && verdict == AB_ERRNO(EPERM) ? AB_ASKED : verdict;
}

static bool is_seen(const struct ab_call_table *t, int arch, uint32_t nr,
		    const struct ab_call_rule *r)
{
	const char *name = call_name(arch, nr);

	if (!t->seen || !r)
		return false;
	return has_word(t->seen, name ? name : r->calls);
}

static uint32_t judge_switch(const struct ab_switch *s, const uint64_t *args)
{
	uint32_t v = (uint32_t)args[s->arg] & s->mask;

	for (size_t i = 0; i < s->len; i++)
		if (s->when[i].value == v)
			return s->when[i].next ? judge_switch(s->when[i].next, args)
					       : s->when[i].verdict;
	return s->other;
}

/* Values of one argument that lie on or beside an edge of some switch. */
struct edges {
	uint32_t v[512];
	size_t len;
};

static void add_edge(struct edges *e, uint32_t v)
{
	for (size_t i = 0; i < e->len; i++)
		if (e->v[i] == v)
			return;
	if (e->len == LEN(e->v))
		abort();
	e->v[e->len++] = v;
}

static void collect_edges(const struct ab_switch *s, struct edges e[6])
{
	for (size_t i = 0; i < s->len; i++) {
		uint32_t v = s->when[i].value;

		add_edge(&e[s->arg], v);
		add_edge(&e[s->arg], v + 1);
		add_edge(&e[s->arg], v - 1);
		add_edge(&e[s->arg], v ^ (s->mask & -s->mask));
		add_edge(&e[s->arg], v | ~s->mask);
		add_edge(&e[s->arg], v | 0x80000000u);
		if (s->when[i].next)
			collect_edges(s->when[i].next, e);
	}
	add_edge(&e[s->arg], s->mask);
}

static unsigned int compare_call(int table, int arch, uint32_t nr, const struct ab_switch *check)
{
	static const uint64_t highs[] = { 0, HIGH, 0xffffffff00000000ull };
	struct edges e[6] = { 0 };
	unsigned int wrong = 0;

	collect_edges(check, e);
	for (int a = 0; a < 6; a++)
		add_edge(&e[a], 0);
	for (size_t i = 0; i < e[0].len; i++)
		for (size_t j = 0; j < e[1].len; j++)
			for (size_t k = 0; k < e[2].len; k++)
				for (size_t h = 0; h < LEN(highs); h++) {
					struct seccomp_data d = {
						.nr = (int)nr,
						.arch = archs[arch].audit,
						.args = { e[0].v[i] | highs[h],
							  e[1].v[j] | highs[h],
							  e[2].v[k] | highs[h] },
					};
					uint64_t args[6];

					memcpy(args, d.args, sizeof(args));
					wrong += simulate(&progs[table][arch], &d) !=
						 as_asked(ab_seccomp_tables[table],
							  judge_switch(check, args));
				}
	return wrong;
}

/* A call that is judged by its number must not care what its arguments are. */
static unsigned int compare_number(int table, int arch, uint32_t nr, const struct edges *e,
				   uint32_t want)
{
	unsigned int wrong = 0;

	for (size_t i = 0; i < e->len; i++) {
		uint64_t v = e->v[i];
		struct seccomp_data d = {
			.nr = (int)nr,
			.arch = archs[arch].audit,
			.args = { v, v, v, v, v, v },
		};

		wrong += simulate(&progs[table][arch], &d) != want;
	}
	return wrong;
}

/* Every value that any switch of a table looks for. */
static void collect_table(const struct ab_call_table *t, struct edges *ret)
{
	struct edges e[6] = { 0 };

	for (size_t i = 0; i < t->len; i++)
		if (t->rules[i].check)
			collect_edges(t->rules[i].check, e);
	add_edge(ret, 0);
	for (int a = 0; a < 6; a++)
		for (size_t i = 0; i < e[a].len; i++)
			add_edge(ret, e[a].v[i]);
}

static void test_tables(void)
{
	for (int t = 0; t < AB_TABLE_COUNT; t++)
		for (int a = 0; a < AB_ARCH_COUNT; a++) {
			const struct ab_call_table *table = ab_seccomp_tables[t];
			unsigned int wrong = 0, named = 0;
			struct edges edges = { 0 };

			wrong += strcmp(table->name, table_names[t]) != 0;
			if (table->top) {
				ok(!wrong, "%s is in its place; test_joined() judges it",
				   table->name);
				continue;
			}
			collect_table(table, &edges);
			for (uint32_t nr = 0; nr < 2048; nr++) {
				const struct ab_call_rule *r = rule_of(table, a, nr);
				unsigned int bad;

				if (is_seen(table, a, nr, r))
					bad = compare_number(t, a, nr, &edges, AB_ASKED);
				else if (r && r->check)
					bad = compare_call(t, a, nr, r->check);
				else
					bad = compare_number(t, a, nr, &edges,
							     as_asked(table, r ? r->verdict
									       : table->otherwise));
				if (bad)
					printf("# call %u: %u cases differ\n", nr, bad);
				wrong += bad;
				named += !!r;
			}
			ok(!wrong && named,
			   "%s on %s does what its table says for "
			   "every call (%u named, %zu instructions)",
			   table->name, archs[a].name, named, progs[t][a].len);
		}
}

/*
 * The filter that asks says what the other one says, or it asks. It asks
 * wherever the other one refuses, and about nothing that would get another
 * answer.
 */
static void test_traced(void)
{
	static const uint64_t highs[] = { 0, HIGH };
	struct edges e = { 0 };

	collect_table(&ab_table_target, &e);
	for (int a = 0; a < AB_ARCH_COUNT; a++) {
		unsigned int wrong = 0, asked = 0;

		for (uint32_t nr = 0; nr < 2048; nr++)
			for (size_t i = 0; i < e.len; i++)
				for (size_t j = first; j < e.len; j += nr < CALLS ? step : 50)
					for (size_t h = 0; h < LEN(highs); h++) {
						uint64_t v = e.v[i] | highs[h],
							 u = e.v[j] | highs[h];
						struct seccomp_data d = {
							.nr = (int)nr,
							.arch = archs[a].audit,
							.args = { v, u, v, u, v, u },
						};
						uint32_t plain = simulate(&progs[TARGET][a], &d);
						uint32_t traced = simulate(&progs[TRACED][a], &d);

						asked += traced == AB_ASKED;
						if (plain == AB_ERRNO(EPERM))
							wrong += traced != AB_ASKED;
						else if (traced == AB_ASKED)
							wrong += plain != AB_ALLOWED;
						else
							wrong += traced != plain;
					}
		ok(!wrong && asked,
		   "traced on %s says what target says, or "
		   "asks",
		   archs[a].name);
	}
}

static bool is_named(int arch, uint32_t nr, const char *const *names, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (number_of(arch, names[i]) == (long)nr)
			return true;
	return false;
}

/*
 * Below a listener, the filter leaves three calls to it, and whatever it allows of them beyond the
 * plain one is asked about by both filters of the listener. The one for user namespaces differs in
 * the same calls, and in nothing but the namespaces that it names.
 */
static void test_asking(void)
{
	static const char *const calls[] = { "clone", "unshare", "chroot" };
	enum { INNER = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET };
	struct edges e = { 0 };

	collect_table(&ab_table_target, &e);
	collect_table(&ab_table_userns, &e);
	for (int a = 0; a < AB_ARCH_COUNT; a++) {
		unsigned int open = 0, wide = 0, asked = 0, more = 0;

		for (uint32_t nr = 0; nr < CALLS; nr++)
			for (size_t i = 0; i < e.len; i++) {
				uint64_t v = e.v[i] | HIGH;
				struct seccomp_data d = { .nr = (int)nr,
							  .arch = archs[a].audit,
							  .args = { v, v, v, v, v, v } };
				bool listed = is_named(a, nr, calls, LEN(calls));
				uint32_t plain = simulate(&progs[TARGET][a], &d),
					 inner = simulate(&progs[USERNS][a], &d),
					 below = simulate(&progs[ASKING][a], &d);

				if (plain != below) {
					open += !listed ||
						simulate(&progs[WRITES][a], &d) != AB_ASKED ||
						simulate(&progs[CHILDREN][a], &d) != AB_ASKED;
					asked++;
				}
				if (plain != inner) {
					wide += !listed || inner != AB_ALLOWED ||
						(nr != (uint32_t)number_of(a, "chroot") &&
						 !(v & INNER));
					more++;
				}
				wide += inner == AB_ALLOWED && below != AB_ALLOWED;
			}
		ok(!open && asked, "asking on %s leaves nothing open that is not asked about",
		   archs[a].name);
		ok(!wide && more,
		   "userns on %s allows user, pid and network namespaces, and chroot",
		   archs[a].name);
	}
}

/* The kernel runs both filters; the stricter verdict counts, which has the smaller number. */
static uint32_t judge_both(const struct prog *lower, const struct prog *upper,
			   const struct seccomp_data *d)
{
	uint32_t a = simulate(upper, d), b = simulate(lower, d);

	return (int32_t)(b & SECCOMP_RET_ACTION_FULL) < (int32_t)(a & SECCOMP_RET_ACTION_FULL) ? b
											       : a;
}

/* Two filters in one say what they say one on top of the other. */
static void test_joined(void)
{
	static const struct {
		int joined, lower, upper;
	} all[] = {
		{ ASKING_WRITES, ASKING, WRITES },
		{ ASKING_CHILDREN, ASKING, CHILDREN },
	};
	struct edges e = { 0 };

	collect_table(&ab_table_asking, &e);
	collect_table(&ab_table_children, &e);
	for (size_t n = 0; n < LEN(all); n++)
		for (int a = 0; a < AB_ARCH_COUNT; a++) {
			unsigned int wrong = 0, asked = 0, refused = 0, allowed = 0;

			for (uint32_t nr = 0; nr < 2048; nr++)
				for (size_t i = 0; i < e.len; i++)
					for (size_t j = first; j < e.len;
					     j += nr < CALLS ? step : 50)
						for (size_t k = 0; k < 3; k++) {
							uint64_t v = e.v[i], u = e.v[j] | HIGH,
								 w = k == 0   ? 0
								     : k == 1 ? v
									      : u;
							struct seccomp_data d = {
								.nr = (int)nr,
								.arch = archs[a].audit,
								.args = { v, u, w, v, u, w },
							};
							uint32_t is = simulate(
								&progs[all[n].joined][a], &d);

							wrong += is !=
								 judge_both(&progs[all[n].lower][a],
									    &progs[all[n].upper][a],
									    &d);
							asked += is == AB_ASKED;
							allowed += is == AB_ALLOWED;
							refused += is == AB_ERRNO(EPERM);
						}
			ok(!wrong && asked && refused && allowed,
			   "%s on %s says what both filters say (%zu instructions, %zu and %zu)",
			   table_names[all[n].joined], archs[a].name, progs[all[n].joined][a].len,
			   progs[all[n].lower][a].len, progs[all[n].upper][a].len);
		}
}

/* Who is asked says what the filter says: the program of this machine, run
 * here, against the machine of the tests. */
static void test_judge(void)
{
#ifdef __x86_64__
	int arch = AB_X86_64;
#else
	int arch = AB_AARCH64;
#endif
	struct edges e = { 0 };
	unsigned int wrong = 0;

	collect_table(&ab_table_target, &e);
	for (uint32_t nr = 0; nr < CALLS; nr++)
		for (size_t i = 0; i < e.len; i++) {
			uint64_t v = e.v[i] | HIGH, u = e.v[e.len - 1 - i];
			struct seccomp_data d = {
				.nr = (int)nr,
				.arch = archs[arch].audit,
				.args = { v, u, v, u, v, u },
			};

			wrong += ab_seccomp_judge(AB_FILTER_TARGET, &d) !=
				 simulate(&progs[TARGET][arch], &d);
			d.arch = AUDIT_ARCH_I386;
			wrong += ab_seccomp_judge(AB_FILTER_TARGET, &d) != SECCOMP_RET_KILL_PROCESS;
		}
	ok(!wrong, "who is asked answers as the filter");
	wrong = 0;
	for (uint32_t nr = 0; nr < CALLS; nr++) {
		const char *name = call_name(arch, nr);

		wrong += strcmp(ab_seccomp_name((int)nr), name ? name : "");
	}
	wrong += strcmp(ab_seccomp_name(SYS_read), "read") != 0;
	wrong += strcmp(ab_seccomp_name(SYS_openat2), "openat2") != 0;
	wrong += ab_seccomp_name(-1)[0] != '\0';
	wrong += ab_seccomp_name((int)CALLS)[0] != '\0';
	ok(!wrong, "and knows the names of the calls");
}

static void test_foreign(void)
{
	static const uint32_t foreign[] = {
		AUDIT_ARCH_I386,
		AUDIT_ARCH_ARM,
		AUDIT_ARCH_ARMEB,
		AUDIT_ARCH_RISCV64,
		AUDIT_ARCH_AARCH64,
		AUDIT_ARCH_X86_64,
		0,
	};

	for (int t = 0; t < AB_TABLE_COUNT; t++)
		for (int a = 0; a < AB_ARCH_COUNT; a++) {
			unsigned int alive = 0, x32 = 0;

			for (uint32_t nr = 0; nr < CALLS; nr++) {
				struct seccomp_data d = { .nr = (int)nr };

				for (size_t i = 0; i < LEN(foreign); i++) {
					d.arch = foreign[i];
					if (d.arch != archs[a].audit)
						alive += simulate(&progs[t][a], &d) !=
							 SECCOMP_RET_KILL_PROCESS;
				}
				d.arch = archs[a].audit;
				d.nr = (int)(nr | 0x40000000u);
				x32 += simulate(&progs[t][a], &d) != AB_ERRNO(ENOSYS);
				d.nr = (int)(nr | 0x80000000u);
				x32 += simulate(&progs[t][a], &d) != AB_ERRNO(ENOSYS);
			}
			ok(!alive, "%s on %s kills what calls by a foreign ABI", table_names[t],
			   archs[a].name);
			ok(!x32, "%s on %s knows no call with the x32 bit", table_names[t],
			   archs[a].name);
		}
}

/* The names come from libseccomp; the headers of this machine know better. */
static void test_names(void)
{
	static const struct {
		const char *name;
		long nr;
	} native[] = {
		{ "read", SYS_read },
		{ "ioctl", SYS_ioctl },
		{ "clone", SYS_clone },
		{ "clone3", SYS_clone3 },
		{ "socket", SYS_socket },
		{ "mount", SYS_mount },
		{ "ptrace", SYS_ptrace },
		{ "prctl", SYS_prctl },
		{ "execveat", SYS_execveat },
		{ "bpf", SYS_bpf },
		{ "mount_setattr", SYS_mount_setattr },
		{ "io_uring_setup", SYS_io_uring_setup },
		{ "landlock_restrict_self", SYS_landlock_restrict_self },
	};
#ifdef __x86_64__
	int arch = AB_X86_64;
#else
	int arch = AB_AARCH64;
#endif
	unsigned int wrong = 0;

	for (size_t i = 0; i < LEN(native); i++)
		wrong += number_of(arch, native[i].name) != native[i].nr;
	ok(!wrong, "libseccomp and the kernel's headers agree on numbers");
}

static void test_interface(void)
{
	for (int f = 0; f < AB_FILTER_COUNT; f++) {
		const struct sock_fprog *p = ab_seccomp_program(f);

		ok(p->len > 0 && p->filter[0].code == (BPF_LD | BPF_W | BPF_ABS),
		   "filter %d: %u instructions, %zu calls", f, p->len, ab_seccomp_allowed_count(f));
	}
	ok(ab_seccomp_allowed_count(AB_FILTER_INIT) <
			   ab_seccomp_allowed_count(AB_FILTER_SUPERVISOR) &&
		   ab_seccomp_allowed_count(AB_FILTER_SUPERVISOR) <
			   ab_seccomp_allowed_count(AB_FILTER_TARGET),
	   "our own processes have fewer calls than the command");
}

int main(void)
{
	choose_pairs();
	test_names();
	test_tables();
	test_traced();
	test_asking();
	test_joined();
	test_judge();
	test_foreign();
	test_interface();
	return done();
}
