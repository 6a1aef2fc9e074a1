#include "workspace/git/gitconfig.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"
#include "workspace/git/configured_path.h"

static void collect(void *arg, const char *key, const char *value)
{
	struct ab_buf *b = arg;

	ab_buf_printf(b, "%s=%s;", key, value ? value : "(flag)");
}

static const struct {
	const char *name, *text, *want;
	unsigned line; /* of the mistake, 0: none */
} cases[] = {
	{ "an empty file", "", "", 0 },
	{ "comments only", "# a\n; b\n", "", 0 },
	{ "section and key fold their case", "[CORE]\n\tHooksPath = X\n", "core.hookspath=X;", 0 },
	{ "a subsection keeps its case", "[Remote \"Ori.Gin\"]\nURL=u\n", "remote.Ori.Gin.url=u;",
	  0 },
	{ "the dotted spelling folds", "[a.B]\nc=d", "a.b.c=d;", 0 },
	{ "header and key in one line", "[core] editor = vi\n", "core.editor=vi;", 0 },
	{ "a flag", "[core]\nbare\n", "core.bare=(flag);", 0 },
	{ "no value is not a flag", "[core]\nbare =\n", "core.bare=;", 0 },
	{ "comment behind a value", "[a]\nb = c # d\n", "a.b=c;", 0 },
	{ "quotes keep comment signs and spaces", "[a]\nb = \" c # d \"\n", "a.b= c # d ;", 0 },
	{ "inner spaces stay", "[a]\nb = c  d  \n", "a.b=c  d;", 0 },
	{ "escapes", "[a]\nb = x\\ty\\n\\\"\\\\\n", "a.b=x\ty\n\"\\;", 0 },
	{ "a value over two lines", "[a]\nb = x\\\ny\nc=z\n", "a.b=xy;a.c=z;", 0 },
	{ "VT and FF belong to the value",
	  "[a]\nb = \f"
	  "false \v\n",
	  "a.b=\f"
	  "false \v;",
	  0 },
	{ "a form feed before a key, which git refuses", "[a]\n\fb=c\n", "", 2 },
	{ "a form feed before a subsection, which git refuses", "[a\f\"x\"]\nb=c\n", "", 1 },
	{ "CRLF", "[a]\r\nb = c\r\n", "a.b=c;", 0 },
	{ "a byte order mark", "\xef\xbb\xbf[a]\nb=c\n", "a.b=c;", 0 },
	{ "a quote in a subsection", "[a \"x\\\"y\"]\nb=c\n", "a.x\"y.b=c;", 0 },
	{ "a key before any section", "b=c\n", "", 1 },
	{ "an open section", "[a\nb=c\n", "", 1 },
	{ "an open quote", "[a]\nb = \"c\n", "", 2 },
	{ "an unknown escape", "[a]\nx=1\nb = \\q\n", "a.x=1;", 3 },
	{ "a key that starts with a digit", "[a]\n1b=c\n", "", 2 },
	{ "text behind a flag", "[a]\nb c\n", "", 2 },
	{ "a comment behind a flag, which git refuses", "[a]\nb # c\n", "", 2 },
};

static void parses(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_buf b = { 0 };
		unsigned line;

		ab_buf_puts(&b, "");
		line = ab_gitconfig_parse(cases[i].text, strlen(cases[i].text), collect, &b);
		is_str(b.data, cases[i].want, cases[i].name);
		ok(line == cases[i].line, "%s: line %u", cases[i].name, line);
		ab_buf_fini(&b);
	}
}

/* Each case cut at every byte, its end against a page that faults. */
static void cut_everywhere(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *m = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t runs = 0;

	mprotect(m + page, page, PROT_NONE);
	for (size_t i = 0; i < AB_COUNT(cases); i++)
		for (size_t n = 0; n <= strlen(cases[i].text); n++, runs++) {
			struct ab_buf b = { 0 };

			memcpy(m + page - n, cases[i].text, n);
			ab_gitconfig_parse(m + page - n, n, collect, &b);
			ab_buf_fini(&b);
		}
	ok(runs > 200, "cut at every byte: %zu runs stay in bounds", runs);
	munmap(m, 2 * page);
}

static const struct {
	const char *key, *value, *path;
	bool include;
} paths[] = {
	{ "include.path", "../x y", "../x y", true },
	{ "includeif.gitdir:~/a/.path", "~/b", "~/b", true },
	{ "includeif.path", "x", NULL, false },
	{ "include.path", "", NULL, false },
	{ "include.path", NULL, NULL, false },
	{ "core.hookspath", ".githooks", ".githooks", false },
	{ "core.fsmonitor", "./watch -x", "./watch", false },
	{ "core.fsmonitor", "true", NULL, false },
	{ "core.pager", "less -R", NULL, false },
	{ "core.sshcommand", "ssh -i ~/.ssh/key", NULL, false },
	{ "credential.helper", "!~/bin/helper get", "~/bin/helper", false },
	{ "filter.x.clean", "tools/clean;rm x", "tools/clean", false },
	{ "filter.x.clean", "$HOME/clean", NULL, false },
	{ "filter.x.clean", "-c/x", NULL, false },
	{ "alias.t", "!./test.sh", NULL, false },
	{ "remote.o.url", "ext::./x", NULL, false },
	{ "url.a/.insteadof", "b/c", NULL, false },
	{ "user.name", "a/b", NULL, false },
	{ "gc.recentobjectshook", "tools/recent --all", "tools/recent", false },
	{ "delta.pager", "./pager", "./pager", false },
	{ "of.tomorrow", "~/bin/x", "~/bin/x", false },
	{ "lfs.url", "https://x.org/y", NULL, false },
	{ "safe.directory", "/srv/x", NULL, false },
	{ "branch.a.remote", "../x", NULL, false },
	{ "core.worktree", "a", NULL, false },
};

static void names_paths(void)
{
	for (size_t i = 0; i < AB_COUNT(paths); i++) {
		bool include;
		ab_autofree char *path =
			ab_git_configured_path(paths[i].key, paths[i].value, &include);

		is_str(path, paths[i].path, paths[i].key);
		ok(include == paths[i].include, "%s is %sa further file", paths[i].key,
		   include ? "" : "not ");
	}
}

static void refuses(void)
{
	struct ab_buf b = { 0 };
	char *big = ab_alloc(AB_GITCONFIG_MAX + 1);

	ok(ab_gitconfig_parse("[a]\nb=\"c\0d\"\n", 11, collect, &b) == 2,
	   "a NUL byte is no configuration");
	memset(big, '\n', AB_GITCONFIG_MAX + 1);
	ok(ab_gitconfig_parse(big, AB_GITCONFIG_MAX, collect, &b) == 0, "the largest file is read");
	ok(ab_gitconfig_parse(big, AB_GITCONFIG_MAX + 1, collect, &b) != 0, "a larger one is not");
	free(big);
	ab_buf_fini(&b);
}

int main(void)
{
	parses();
	cut_everywhere();
	names_paths();
	refuses();
	return done();
}
