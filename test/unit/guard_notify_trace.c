/*
 * What is told of refused files and calls: which calls are looked at, how far
 * a name leads, which rule refuses it, what is counted.
 */
#include "guard/notify/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/data/arena.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "guard/notify/exec_resolve.h"
#include "guard/notify/guard_link.h"
#include "policy/model/policy.h"
#include "sandbox/plan/plan.h"
#include "sandbox/seccomp/seccomp.h"
#include "tap.h"

static struct ab_arena arena;
static char top[] = "/tmp/agentbox-unit.XXXXXX";

static struct seccomp_data call_of(int nr, uint64_t a, uint64_t b, uint64_t c)
{
	return (struct seccomp_data){
		.nr = nr,
#ifdef __x86_64__
		.arch = AUDIT_ARCH_X86_64,
#else
		.arch = AUDIT_ARCH_AARCH64,
#endif
		.args = { a, b, c },
	};
}

/* The filter asks about what the table has, and the other way round. */
static void test_calls(void)
{
	unsigned int wrong = 0, asked = 0;

	for (int nr = 0; nr < 600; nr++) {
		struct seccomp_data call = call_of(nr, 0, 0, 0);
		bool exec = nr == __NR_execve || nr == __NR_execveat;
		bool seen = ab_seccomp_judge(AB_FILTER_TRACED, &call) == SECCOMP_RET_USER_NOTIF &&
			    ab_seccomp_judge(AB_FILTER_TARGET, &call) == SECCOMP_RET_ALLOW;

		if (seen != (exec || ab_touch_find(nr))) {
			printf("# %d %s\n", nr, ab_seccomp_name(nr));
			wrong++;
		}
		asked += seen;
	}
	ok(!wrong && asked > 15, "every call with a name is looked at");
}

/* What the filter of every run asks about takes a name, and is looked at by one handler; or it is
 * left to the guard, which answers as the plain filter does. */
static void test_writes(void)
{
	static const int others[] = { __NR_chdir, __NR_fchdir, __NR_clone, __NR_unshare,
				      __NR_chroot };
	unsigned int wrong = 0, asked = 0;

	for (int nr = 0; nr < 600; nr++) {
		struct seccomp_data call = call_of(nr, UINT64_MAX, UINT64_MAX, UINT64_MAX);
		bool seen = ab_seccomp_judge(AB_FILTER_WRITES, &call) == SECCOMP_RET_USER_NOTIF;

		for (size_t i = 0; i < AB_COUNT(others); i++)
			seen = seen && nr != others[i];
		wrong += seen && !ab_touch_find(nr);
		asked += seen;
	}
	ok(!wrong && asked > 12, "every call that writes to a name is looked at: %u", asked);
}

static void add(struct ab_objects *list, const char *path)
{
	ab_objects_add(list, path, AB_AS_DIR);
}

static void free_facts(struct ab_facts *facts)
{
	ab_strv_fini(&facts->privates);
	ab_objects_fini(&facts->write);
	ab_objects_fini(&facts->show);
	ab_objects_fini(&facts->closed);
	ab_objects_fini(&facts->masked);
}

static struct ab_trace_terms terms;
static struct ab_policy policy;
static struct ab_plan plan;
static struct ab_strv sockets;

static void make_terms(void)
{
	struct ab_facts facts = { 0 };

	ab_strv_add(&facts.privates, "/tmp");
	ab_strv_add(&facts.privates, "/run");
	add(&facts.write, "/home/me/project");
	add(&facts.closed, "/home/me/project/.git/hooks");
	add(&facts.closed, "/home/me/project/audit.log");
	add(&facts.masked, "/home/me/.gnupg");
	add(&facts.masked, "/home/me/state");
	add(&facts.masked, "/srv/sock");
	ab_plan_make(&facts, &plan);
	free_facts(&facts);
	ab_strv_add(&policy.fs.deny_write, ".git/hooks");
	ab_strv_add(&sockets, "/run/docker.sock");
	ab_strv_add(&sockets, "/run/nscd/socket");
	ab_strv_add(&sockets, "/run/it's");
	ab_strv_add(&sockets, "/srv/sock");
	terms = (struct ab_trace_terms){ .policy = &policy,
					 .plan = &plan,
					 .sockets = &sockets,
					 .home = "/home/me",
					 .state = "/home/me/state" };
}

enum ask { WRITE, MAKE, UNMOUNT, READ, CONNECT };

static const struct {
	enum ask ask;
	const char *path;
	const char *rule; /* NULL: no refusal of ours */
	const char *hint;
} cases[] = {
	{ WRITE, "/etc/passwd", "filesystem.write", "agentbox run --write /etc/passwd -- ..." },
	{ MAKE, "/etc/new", "filesystem.write", "agentbox run --write /etc -- ..." },
	{ MAKE, "/srv/a b/x", "filesystem.write", "agentbox run --write '/srv/a b' -- ..." },
	{ MAKE, "/srv/a\nb/x", "filesystem.write", "" },
	{ MAKE, "/srv/\033[2J/x", "filesystem.write", "" },
	{ MAKE, "/srv/\xff/x", "filesystem.write", "" },
	{ MAKE, "/new", "filesystem.write", "" },
	{ MAKE, "/home/me/new", "filesystem.write", "" },
	{ MAKE, "/home/new", "filesystem.write", "" },
	{ MAKE, "/home/me/x/new", "filesystem.write", "agentbox run --write /home/me/x -- ..." },
	{ MAKE, "/srv/r/.git/hooks/new", "filesystem.write", "" },
	{ MAKE, "/srv/r/.git/objects/new", "filesystem.write",
	  "agentbox run --write /srv/r/.git/objects -- ..." },
	{ WRITE, "/proc/sys/x", "filesystem.write", "" },
	{ WRITE, "/dev/null", NULL, NULL },
	{ MAKE, "/dev/x", NULL, NULL },
	{ MAKE, "/sys/x", NULL, NULL },
	{ WRITE, "/devices", "filesystem.write", "agentbox run --write /devices -- ..." },
	{ MAKE, "/home/me/project/x", NULL, NULL },
	{ MAKE, "/tmp/x", NULL, NULL },
	{ WRITE, "/home/me/project/.git/hooks/x", "filesystem.denyWrite",
	  "agentbox run --deny-write '!.git/hooks' -- ..." },
	{ WRITE, "/home/me/project/audit.log", "filesystem.denyWrite", "" },
	{ UNMOUNT, "/home/me/project/.git", "filesystem.denyWrite", "" },
	{ UNMOUNT, "/home/me/project/.git/hooks", "filesystem.denyWrite",
	  "agentbox run --deny-write '!.git/hooks' -- ..." },
	{ UNMOUNT, "/home/me/project", NULL, NULL },
	{ UNMOUNT, "/home/me/project/src", NULL, NULL },
	{ UNMOUNT, "/boot", NULL, NULL },
	{ READ, "/home/me/.gnupg/key", "filesystem.denyRead",
	  "agentbox run --read /home/me/.gnupg -- ..." },
	{ WRITE, "/home/me/.gnupg/key", "filesystem.denyRead",
	  "agentbox run --read /home/me/.gnupg -- ..." },
	{ READ, "/home/me/state/runs", "filesystem.denyRead", "" },
	{ READ, "/home/me/x", NULL, NULL },
	{ READ, "/srv/sock", NULL, NULL },
	{ CONNECT, "/run/docker.sock", "filesystem.unix",
	  "agentbox run --allow-unix /run/docker.sock -- ..." },
	{ CONNECT, "/run/it's", "filesystem.unix",
	  "agentbox run --allow-unix '/run/it'\\''s' -- ..." },
	{ CONNECT, "/run/nscd/socket", NULL, NULL },
};

static bool explain(enum ask ask, const char *path, struct ab_denied *ret)
{
	switch (ask) {
	case WRITE:
	case MAKE:
		return ab_trace_write(&arena, &terms, path, ask == MAKE, ret);
	case UNMOUNT:
		return ab_trace_unmount(&arena, &terms, path, ret);
	case READ:
		return ab_trace_mask(&arena, &terms, path, "read", ret);
	case CONNECT:
		return ab_trace_socket(&arena, path, ret);
	}
	abort();
}

static void test_rules(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_denied d = { 0 };
		bool refused = explain(cases[i].ask, cases[i].path, &d);
		ab_autofree char *name = ab_escape(cases[i].path);

		is_str(refused ? d.rule : NULL, cases[i].rule, name);
		if (refused)
			is_str(d.hint, cases[i].hint, "and what allows it");
	}
}

/* Below a hidden root nothing is writable that is not said to be. */
static void test_hidden_root(void)
{
	struct ab_facts facts = { 0 };
	struct ab_trace_terms hidden = terms;
	struct ab_plan other;
	struct ab_denied d;

	ab_strv_add(&facts.privates, "/");
	ab_strv_add(&facts.privates, "/tmp");
	add(&facts.show, "/usr");
	ab_plan_make(&facts, &other);
	free_facts(&facts);
	hidden.plan = &other;
	ok(ab_trace_write(&arena, &hidden, "/opt/x", true, &d) &&
		   ab_trace_write(&arena, &hidden, "/usr/x", true, &d) &&
		   !ab_trace_write(&arena, &hidden, "/tmp/x", true, &d),
	   "a hidden root and what it shows are read-only");
	ab_plan_fini(&other);
}

/* Only a layer that could not be made is called so, not what is shown anyway. */
static void test_unmade(void)
{
	static const struct {
		const char *path, *reason, *hint;
	} rows[] = {
		{ "/home/me/new", "your home folder has no layer here (doctor says why)",
		  "agentbox run --home private -- ..." },
		{ "/home/me/.npm/x", "your home folder has no layer here (doctor says why)",
		  "agentbox run --write /home/me/.npm/x -- ..." },
		{ "/home/me/.local/bin/agentbox", "outside the writable folders",
		  "agentbox run --write /home/me/.local/bin/agentbox -- ..." },
		{ "/data/cache/x", "outside the writable folders",
		  "agentbox run --write /data/cache/x -- ..." },
	};
	struct ab_mount mounts[] = {
		{ .op = AB_MOUNT_SHOW, .unmade = true, .path = (char *)"/data/cache" },
		{ .op = AB_MOUNT_SHOW, .unmade = true, .path = (char *)"/home/me" },
		{ .op = AB_MOUNT_SHOW, .path = (char *)"/home/me/.local/bin/agentbox" },
		{ .op = AB_MOUNT_SHOW, .unmade = true, .path = (char *)"/home/me/.npm" },
	};
	struct ab_plan real = { mounts, AB_COUNT(mounts) };
	struct ab_trace_terms unmade = terms;
	struct ab_denied d;

	unmade.plan = &real;
	for (size_t i = 0; i < AB_COUNT(rows); i++) {
		ok(ab_trace_write(&arena, &unmade, rows[i].path, false, &d), "%s is denied",
		   rows[i].path);
		is_str(d.reason, rows[i].reason, "why");
		is_str(d.hint, rows[i].hint, "what allows it");
	}
}

/* Our own process stands for one of the box. */
static void is_walk(const char *path, bool nofollow, int errnum, const char *want)
{
	struct ab_found f;
	const char *got = NULL;
	ab_autofree char *whole = ab_printf("%s/%s", top, path);
	ab_autofree char *all = ab_printf("%s%s", top, want);
	int r = ab_exec_walk(&arena, getpid(), AT_FDCWD, whole, nofollow, &f);

	if (r == 0)
		got = ab_found_path(&arena, &f);
	is_str(got, all, path);
	ok(r == 0 && f.errnum == errnum, "as far as it goes: %d", r ? -1 : f.errnum);
	if (r == 0)
		ab_found_close(&f);
}

static void test_walk(void)
{
	struct ab_found f;
	int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0 || mkdirat(dir, "a", 0700) < 0 || mkdirat(dir, "a/b", 0700) < 0 ||
	    symlinkat("b", dir, "a/l") < 0 || symlinkat("../a/b/gone", dir, "a/dangling") < 0 ||
	    symlinkat("loop", dir, "loop") < 0)
		abort();
	is_walk("a/b", false, 0, "/a/b");
	is_walk("a//./b/", false, 0, "/a/b");
	is_walk("a/b/..", false, 0, "/a");
	is_walk("a/l", false, 0, "/a/b");
	is_walk("a/l", true, 0, "/a/l");
	is_walk("a/l/x", true, ENOENT, "/a/b/x");
	is_walk("a/b/x", false, ENOENT, "/a/b/x");
	is_walk("a/b/x//", false, ENOENT, "/a/b/x");
	is_walk("a/b/x/y/z", false, ENOENT, "/a/b/x/y/z");
	is_walk("a/dangling", false, ENOENT, "/a/b/gone");
	is_walk("a/dangling", true, 0, "/a/dangling");
	is_walk("loop", true, 0, "/loop");
	ok(ab_exec_walk(&arena, getpid(), AT_FDCWD, "loop/x", false, &f) == 0, "a loop ends");
	ab_found_close(&f);
	ok(ab_exec_walk(&arena, getpid(), dir, "a/b", false, &f) == 0 && f.errnum == 0 &&
		   S_ISDIR(f.st.st_mode) && f.parent >= 0,
	   "from a descriptor");
	ab_found_close(&f);
	ok(ab_exec_walk(&arena, getpid(), 12345, "a", false, &f) < 0,
	   "one that is none leads nowhere");
	ok(ab_exec_own_pid(getpid()) == getpid() && ab_exec_own_pid(-5) == 0,
	   "a process's own number");
	unlinkat(dir, "loop", 0);
	unlinkat(dir, "a/dangling", 0);
	unlinkat(dir, "a/l", 0);
	unlinkat(dir, "a/b", AT_REMOVEDIR);
	unlinkat(dir, "a", AT_REMOVEDIR);
	close(dir);
	rmdir(top);
}

/* Where nothing is in the way nothing is told, whatever the call says. */
static void test_look(void)
{
	static const char *const names[] = { "/tmp/x",	   "/dev/null", "/nonexistent/x", "",
					     "/proc/self", "relative",	"/dev/stdout" };
	unsigned int told = 0;
	struct ab_denied d;

	for (int nr = 0; nr < 600; nr++)
		for (size_t i = 0; i < AB_COUNT(names); i++)
			for (uint64_t n = 0; n < 4; n++) {
				uint64_t name = (uint64_t)(uintptr_t)names[i];
				struct seccomp_data call =
					call_of(nr, n ? name : (uint64_t)AT_FDCWD, n < 2 ? name : n,
						n * 64);

				call.args[3] = call.args[4] = name;
				told += ab_trace_look(&arena, &terms, getpid(), &call, &d);
			}
	ok(told == 0, "nothing is told where nothing is refused: %u", told);
	for (int nr = 0; nr < 600; nr++) {
		struct seccomp_data call = call_of(nr, 8, UINT64_MAX, 8);

		told += ab_trace_look(&arena, &terms, getpid(), &call, &d);
		call = call_of(nr, UINT64_MAX, 8, UINT64_MAX);
		told += ab_trace_look(&arena, &terms, getpid(), &call, &d);
	}
	ok(told == 0, "and nothing of what is nowhere");
}

/* With and without --allow-userns: "" means that nothing is told. */
static void test_namespaces(void)
{
	static const struct {
		uint64_t flags;
		const char *denied, *allowed;
	} wants[] = {
		{ CLONE_NEWUSER, "userNamespaces", "" },
		{ CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET, "userNamespaces", "" },
		{ CLONE_NEWUSER | CLONE_NEWNS, "namespaces", "namespaces" },
		{ CLONE_NEWUSER | CLONE_NEWIPC, "namespaces", "namespaces" },
		{ CLONE_NEWNS, "", "namespaces" }, /* needs root outside */
		{ CLONE_NEWNET, "", "" },
		{ SIGCHLD, "", "" },
	};
	struct ab_denied denied;
	struct ab_trace *trace = ab_trace_new();
	struct ab_note note;
	char *text;

	for (size_t i = 0; i < AB_COUNT(wants); i++)
		for (int userns = 0; userns < 2; userns++) {
			bool told = ab_namespace_denied(wants[i].flags, userns, &denied);

			is_str(told ? denied.rule : "", userns ? wants[i].allowed : wants[i].denied,
			       "what is told about namespaces");
		}
	ab_namespace_denied(CLONE_NEWUSER, false, &denied);
	is_str(denied.hint, "agentbox run --allow-userns -- ...", "with the option that helps");
	ok(ab_trace_denied(trace, &arena, getpid(), __NR_clone, &denied, &note) &&
		   strcmp(note.call, "clone") == 0 && strcmp(note.rule, denied.rule) == 0,
	   "and the call");
	text = ab_namespace_notice("a\033b", 7, "x-f1", denied.rule, denied.reason);
	ok(text && strstr(text, "(pid 7)") && strstr(text, "(x-f1)") && !strchr(text, '\033'),
	   "the line has the program, escaped, and the id: %s", text);
	free(text);
	ok(!ab_namespace_notice("a", 7, "x-f1", "syscalls", "x"), "other calls have no line");
	free(trace);
}

static bool trace_call(struct ab_trace *trace, int nr, struct ab_note *ret)
{
	const struct ab_denied denied = { "", "", "syscalls", "why", "" };

	return ab_trace_denied(trace, &arena, getpid(), nr, &denied, ret);
}

static void test_notes(void)
{
	struct ab_trace *trace = ab_trace_new();
	struct ab_denied denied = { "write", "/etc/x", "filesystem.write", "why", "how" };
	struct ab_note note;

	ok(trace_call(trace, __NR_mount, &note) && note.told && note.number == 1 &&
		   note.kind == AB_NOTE_CALL,
	   "a refused call is told");
	is_str(note.call, "mount", "by its name");
	ok(note.pid == getpid() && strstr(note.exe, "guard_notify_trace") && note.words > 0,
	   "and who made it");
	ok(trace_call(trace, __NR_mount, &note), "again, until it has been told");
	ab_trace_sent(trace, &note);
	ok(!trace_call(trace, __NR_mount, &note) && !trace_call(trace, __NR_mount, &note),
	   "then it is counted");
	ok(trace_call(trace, __NR_bpf, &note) && note.number == 2, "another one is another one");
	ab_trace_sent(trace, &note);
	ok(ab_trace_again(trace, &note) && note.number == 1 && note.times == 2,
	   "at the end it is said how often");
	ok(!ab_trace_again(trace, &note), "once");
	ok(ab_trace_denied(trace, &arena, getpid(), __NR_openat, &denied, &note) &&
		   note.kind == AB_NOTE_FILE && note.number == 3,
	   "a denied file is told");
	is_str(note.path, "/etc/x", "by its path");
	ab_trace_sent(trace, &note);
	ok(!ab_trace_denied(trace, &arena, getpid(), __NR_openat, &denied, &note), "once as well");
	ok(ab_trace_program(trace, "/bin/sh", &note) && note.kind == AB_NOTE_PROGRAM,
	   "a program is told");
	ab_trace_sent(trace, &note);
	ok(!ab_trace_program(trace, "/bin/sh", &note), "once");
	for (int nr = 3000; nr < 6000; nr++) {
		if (trace_call(trace, nr, &note) && note.told)
			ab_trace_sent(trace, &note);
		ab_arena_reset(&arena);
	}
	ok(!note.told && note.number == 1025, "there is an end to it: %u", note.number);
	free(trace);
}

int main(void)
{
	if (!mkdtemp(top))
		abort();
	make_terms();
	test_calls();
	test_writes();
	test_namespaces();
	test_rules();
	test_hidden_root();
	test_unmade();
	test_walk();
	test_look();
	test_notes();
	ab_plan_fini(&plan);
	ab_strv_fini(&policy.fs.deny_write);
	ab_strv_fini(&sockets);
	ab_arena_fini(&arena);
	return done();
}
