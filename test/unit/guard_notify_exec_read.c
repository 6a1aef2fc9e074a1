/*
 * What a process is about to execute: how it is read from its memory (our own
 * stands for it), and what is decided about it.
 */
#include "guard/notify/exec_read.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/arena.h"
#include "base/data/mem.h"
#include "guard.h"
#include "policy/model/policy.h"
#include "shell/judge/ruling.h"
#include "tap.h"

static struct ab_arena arena;

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static int read_execve(const char *path, const void *argv, struct ab_exec *ret)
{
	struct seccomp_data call = { .nr = __NR_execve, .args = { address(path), address(argv) } };

	ab_arena_reset(&arena);
	return ab_exec_read(&arena, getpid(), &call, ret);
}

static int read_execveat(int fd, const char *path, const void *argv, struct ab_exec *ret)
{
	struct seccomp_data call = { .nr = __NR_execveat,
				     .args = { (uint64_t)fd, address(path), address(argv) } };

	ab_arena_reset(&arena);
	return ab_exec_read(&arena, getpid(), &call, ret);
}

static void test_words(void)
{
	static char longer[5000];
	const char *argv[] = { "a", "", longer, "d e", NULL };
	const char *none[] = { NULL };
	struct ab_exec e;
	char *cwd = getcwd(NULL, 0);

	memset(longer, 'x', sizeof(longer) - 1);
	ok(read_execve("/bin/sh", argv, &e) == 0 && e.argc == 4 && !strcmp(e.argv[0], "a") &&
		   !strcmp(e.argv[1], "") && !strcmp(e.argv[2], longer) &&
		   !strcmp(e.argv[3], "d e"),
	   "words of every length are read");
	is_str(e.path, "/bin/sh", "and the path");
	is_str(e.cwd, cwd, "and the folder");
	ok(e.real && !e.absent, "a file that is there is found");
	ok(read_execve("/nonexistent/x", none, &e) == 0 && e.argc == 1 && e.absent == ENOENT &&
		   !e.real,
	   "one that is not there is not; without words the path is one");
	is_str(e.argv[0], "/nonexistent/x", "which it is");
	ok(read_execve("/bin/sh", NULL, &e) == 0 && e.argc == 1, "no vector is an empty one");
	free(cwd);
}

/* Every length up to some pages, ending where memory ends. */
static void test_edges(void)
{
	static char text[9000];
	unsigned int wrong = 0;
	struct ab_exec e;

	memset(text, 'y', sizeof(text));
	for (size_t n = 0; n < sizeof(text); n += n < 600 ? 1 : 97) {
		const char *argv[] = { "p", NULL, "z", NULL };

		text[n] = '\0';
		argv[1] = guarded(text, n + 1);
		wrong += read_execve("/bin/sh", argv, &e) != 0 || e.argc != 3 ||
			 strcmp(e.argv[1], text) != 0 || strcmp(e.argv[2], "z") != 0;
		wrong += read_execve(argv[1], argv, &e) != 0 || strcmp(e.path, text) != 0;
		text[n] = 'y';
	}
	ok(!wrong, "a text may end at the end of memory");
	wrong = 0;
	for (size_t n = 0; n < 300; n++) {
		const char *argv[301];

		for (size_t i = 0; i < n; i++)
			argv[i] = "w";
		argv[n] = NULL;
		wrong +=
			read_execve("/bin/sh", guarded(argv, (n + 1) * sizeof(argv[0])), &e) != 0 ||
			e.argc != (n ? n : 1);
	}
	ok(!wrong, "and so may the vector");
}

static void test_faults(void)
{
	char *argv[] = { (char *)8, NULL };
	const char *end = guarded("no end", 6);
	const char *open_ended[] = { "a", end, NULL };
	struct ab_exec e;

	ok(read_execve((char *)8, argv, &e) == EFAULT, "a path that is nowhere");
	ok(read_execve("x", argv, &e) == EFAULT, "a word that is nowhere");
	ok(read_execve("x", (void *)8, &e) == EFAULT, "a vector that is nowhere");
	ok(read_execve("x", open_ended, &e) == EFAULT, "a word without end");
}

static void test_bounds(void)
{
	const char **many = ab_alloc((AB_EXEC_WORDS + 2) * sizeof(many[0]));
	char *large = ab_alloc(AB_EXEC_BYTES + 2);
	const char *one[] = { large, NULL };
	struct ab_exec e;

	for (size_t i = 0; i < AB_EXEC_WORDS; i++)
		many[i] = "w";
	ok(read_execve("x", many, &e) == 0 && e.argc == AB_EXEC_WORDS, "so many words");
	many[AB_EXEC_WORDS] = "w";
	ok(read_execve("x", many, &e) == E2BIG, "and not one more");
	memset(large, 'x', AB_EXEC_BYTES - 3);
	ok(read_execve("x", one, &e) == 0, "so many bytes");
	memset(large, 'x', AB_EXEC_BYTES);
	ok(read_execve("x", one, &e) == E2BIG, "and not one more");
	free(many);
	free(large);
}

static void test_descriptors(void)
{
	const char *argv[] = { "x", NULL };
	int file = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	int dir = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char own[32], *real = realpath("/bin/sh", NULL);
	struct ab_exec e;

	ok(read_execveat(file, "", argv, &e) == 0, "a descriptor by itself");
	is_str(e.path, real, "is the file that it is of");
	ok(read_execveat(dir, "bin/env", argv, &e) == 0, "below a descriptor");
	is_str(e.path, "/usr/bin/env", "is below its folder");
	ok(read_execveat(AT_FDCWD, "bin/x", argv, &e) == 0 && !strcmp(e.path, "bin/x"),
	   "AT_FDCWD is none");
	ok(read_execveat(dir, "/bin/sh", argv, &e) == 0 && !strcmp(e.path, "/bin/sh"),
	   "nor does a path from the root need one");
	snprintf(own, sizeof(own), "/proc/self/fd/%d", file);
	ok(read_execve(own, argv, &e) == 0, "a name that is each process's own");
	is_str(e.real, real, "is looked up for it");
	snprintf(own, sizeof(own), "/dev/fd/%d", file);
	ok(read_execve(own, argv, &e) == 0 && e.real && !strcmp(e.real, real),
	   "under its other name too");
	free(real);
	close(file);
	close(dir);
}

static const char *found(const char *path)
{
	const char *argv[] = { "x", NULL };
	struct ab_exec e;

	if (read_execve(path, argv, &e) != 0)
		return "unread";
	return e.real ? e.real : e.absent ? "absent" : "unknown";
}

static void test_links(void)
{
	char dir[] = "/tmp/agentbox-unit.XXXXXX";
	char *real = realpath("/bin/sh", NULL), *back = getcwd(NULL, 0);
	ab_autofree char *below = NULL, *long_name = ab_alloc(2 * PATH_MAX);

	if (!mkdtemp(dir) || chdir(dir) < 0 || symlink("/bin/sh", "one") < 0 ||
	    symlink("./one", "two") < 0 || symlink("loop", "loop") < 0 ||
	    symlink("/nonexistent/x", "dead") < 0 || symlink("/", "top") < 0)
		exit(1);
	is_str(found("one"), real, "a link is followed");
	is_str(found("two"), real, "and one to a link");
	is_str(found("top//bin/./sh"), real, "and one on the way");
	is_str(found("/../..//bin/../bin/sh"), real, "up and down");
	is_str(found("dead"), "absent", "a link to nothing");
	is_str(found("one/x"), "absent", "below a file there is none");
	is_str(found("loop"), "unknown", "a link to itself");
	is_str(found("/proc/self/cwd/two"), real, "below one's own folder");
	is_str(found("/proc/thread-self/root/bin/sh"), real, "or root");
	is_str(found("/proc//./self/../self/root/bin/sh"), real, "however that is written");
	below = ab_printf("/proc/self/root%s/two", dir);
	is_str(found(below), real, "and links there");
	memset(long_name, '/', 2 * PATH_MAX - 1);
	is_str(found(long_name), "unknown", "a name of any length");
	for (const char *const *n = (const char *[]){ "one", "two", "loop", "dead", "top", NULL };
	     *n; n++)
		unlink(*n);
	if (chdir(back) < 0 || rmdir(dir) < 0)
		exit(1);
	free(back);
	free(real);
}

/* A file that has no name any more is there nevertheless. */
static void test_nameless(void)
{
	const char *argv[] = { "x", NULL };
	int fd = memfd_create("some", MFD_CLOEXEC);
	char own[32];
	struct ab_exec e;

	ok(read_execveat(fd, "", argv, &e) == 0 && !e.absent && e.real,
	   "one without a name is there");
	is_str(e.path, "/memfd:some (deleted)", "and is called that");
	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	is_str(found(own), "/memfd:some (deleted)", "by its descriptor too");
	close(fd);
}

static void test_first(void)
{
	pid_t child;
	char by[16];

	fflush(stdout);
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	ok(ab_exec_is_first(child), "a fork has executed nothing");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(!ab_exec_is_first(child), "one that is gone is not believed");
	ok(!ab_exec_is_first(getpid()), "we have executed something");
	ab_exec_by(getpid(), by);
	is_str(by, "unit-guard_noti", "and are called that");
}

struct judged {
	const char *path, *real;
	const char *argv[6];
	const char *rule; /* NULL: nothing against it */
	bool yes;
	const char *approved;
};

static const struct judged judged[] = {
	{ "/bin/rm", NULL, { "rm", "-rf", "/" }, "recursive-delete-root" },
	{ "/bin/rm", NULL, { "rm", "-rf", "./x" }, NULL },
	{ "/bin/rm", NULL, { "ls", "-rf", "/" }, "recursive-delete-root" },
	{ "/bin/busybox", NULL, { "rm", "-rf", "/" }, "recursive-delete-root" },
	{ "/work/x", "/bin/rm", { "x", "-rf", "/" }, "recursive-delete-root" },
	{ "/work/x", "/work/y", { "x", "-rf", "/" }, NULL },
	{ "/bin/rm", NULL, { "rm", "-rf", "/" }, "recursive-delete-root", true },
	{ "/bin/rm", NULL, { "rm", "-rf", "." }, "workspace-delete" },
	{ "/bin/rm", NULL, { "rm", "-rf", "." }, NULL, true },
	{ "/bin/rm", NULL, { "rm", "-rf", "." }, NULL, false, "workspace-delete" },
	{ "/bin/rm", NULL, { "rm", "-rf", "." }, "workspace-delete", false, "sudo" },
	{ "/bin/sh", NULL, { "sh", "-c", "rm -rf /" }, "recursive-delete-root" },
	{ "/bin/sh", NULL, { "sh", "-c", "echo 'rm -rf /'" }, NULL },
	/* What is not known yet is judged when it is executed. */
	{ "/bin/sh", NULL, { "sh", "-c", "rm -rf \"$D\"" }, NULL },
	{ "/bin/sh", NULL, { "sh", "-c", "\"$@\"", "sh", "true" }, NULL },
	{ "/bin/sh", NULL, { "sh", "-c", "eval \"$X\"" }, NULL },
	{ "/bin/sh", NULL, { "sh", "-c", "if" }, NULL },
	{ "/bin/sh", NULL, { "sh", "-c", "echo $X >~/.bashrc" }, "persistence" },
	{ "/bin/sh", NULL, { "sh", "-c", "$CC x; sudo id" }, "sudo" },
	{ "/bin/sh", NULL, { "sh", "-c", "$CC x; rm -rf /" }, "recursive-delete-root" },
	{ "/bin/sh", NULL, { "sh", "./configure" }, NULL },
	{ "/usr/bin/git", NULL, { "git", "push" }, "git-publish" },
	{ "/usr/bin/git", NULL, { "git", "commit", "-m", "rm -rf /" }, NULL },
};

static void test_judged(void)
{
	struct ab_policy policy = { .home = "/home/me", .workspace = "/work" };

	for (size_t i = 0; i < AB_COUNT(judged); i++) {
		const struct judged *c = &judged[i];
		struct ab_terms terms = {
			.policy = &policy, .cwd = "/work", .yes = c->yes, .approved = c->approved
		};
		const char *argv[7] = { 0 };
		struct ab_exec e = { .path = c->path, .real = c->real, .argv = argv };
		struct ab_refused refused = { 0 };
		int r;

		while (c->argv[e.argc]) {
			argv[e.argc] = c->argv[e.argc];
			e.argc++;
		}
		ab_arena_reset(&arena);
		r = ab_exec_judge(&arena, &terms, &e, &refused);
		ok(r == (c->rule ? EPERM : 0) && (!c->rule || !strcmp(refused.rule, c->rule)) &&
			   argv[0] == c->argv[0],
		   "%s as %s %s %s: %s", c->path, c->argv[0], c->argv[1] ? c->argv[1] : "",
		   c->argv[2] ? c->argv[2] : "", r ? refused.rule : "runs");
		e.absent = ENOENT;
		r = ab_exec_judge(&arena, &terms, &e, &refused);
		ok(r == (c->rule ? ENOENT : 0),
		   "and where there is no such file nothing is refused");
	}
}

static void test_override(void)
{
	static struct ab_ruling ruling;
	struct ab_policy policy = { .workspace = "/work", .commands = { .ruling = &ruling } };
	struct ab_terms terms = { .policy = &policy, .cwd = "/work" };
	const char *argv[] = { "sudo", "id", NULL };
	struct ab_exec e = { .path = "/bin/sudo", .argv = argv, .argc = 2 };
	struct ab_refused refused;

	ruling.overrides[AB_RULE_SUDO].changed = true;
	ruling.overrides[AB_RULE_SUDO].decision = AB_SANDBOXED;
	ok(ab_exec_judge(&arena, &terms, &e, &refused) == 0, "an override lets it run");
	ruling.overrides[AB_RULE_SUDO].decision = AB_FORBIDDEN;
	terms.yes = true;
	ok(ab_exec_judge(&arena, &terms, &e, &refused) == EPERM, "or forbids it");
}

static void test_large(void)
{
	struct ab_policy policy = { .workspace = "/work" };
	struct ab_terms terms = { .policy = &policy, .cwd = "/work" };
	char *quotes = ab_alloc(AB_EXEC_BYTES);
	const char *argv[] = { "rm", quotes, "-rf", "/", NULL };
	struct ab_exec e = { .path = "/bin/rm", .argv = argv, .argc = 4 };
	struct ab_refused refused;

	memset(quotes, '\'', AB_EXEC_BYTES - 100);
	ok(ab_exec_judge(&arena, &terms, &e, &refused) == E2BIG,
	   "what is too long to be looked at whole does not run");
	free(quotes);
}

int main(void)
{
	test_words();
	test_edges();
	test_faults();
	test_bounds();
	test_descriptors();
	test_links();
	test_nameless();
	test_first();
	test_judged();
	test_override();
	test_large();
	ab_arena_fini(&arena);
	return done();
}
