/* Names and links, one after the other. */
#include "base/system/linkwalk.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"

enum { LINKS = 40 };

/* The pure part: the names of a text, separated by commas. A name "@x" is a
 * link to the text "x", in which "+" is a slash. */
static const struct {
	const char *path, *names;
} texts[] = {
	{ "", "" },
	{ "/", "" },
	{ "///", "" },
	{ "a", "a" },
	{ "/a", "a" },
	{ "a/", "a" },
	{ "//a///b//", "a,b" },
	{ "a/./../b", "a,.,..,b" },
	{ "..", ".." },
	{ "@x", "@x,x" },
	{ "@x/b", "@x,x,b" },
	{ "@x//b/", "@x,x,b" },
	{ "a/@x+y/b", "a,@x+y,x,y,b" },
	{ "a/@+x/b", "a,@+x,x,b" },
	{ "a/@+/b", "a,@+,b" },
	{ "a/@x+/b", "a,@x+,x,b" },
	{ "@@x/b", "@@x,@x,x,b" },
	{ "@..+x", "@..+x,..,x" },
	{ "@", "@,ENOENT" },
	{ "@/b", "@,ENOENT" },
};

static void list_names(const char *path, struct ab_buf *b)
{
	ab_autolinkwalk struct ab_linkwalk w;

	ab_linkwalk_init(&w, NULL, path);
	ab_buf_puts(b, "");
	while (ab_linkwalk_next(&w)) {
		ab_autofree char *target = ab_strdup(w.name + 1);

		ab_buf_printf(b, "%s%s", b->len ? "," : "", w.name);
		if (w.name[0] != '@')
			continue;
		for (char *p = target; (p = strchr(p, '+'));)
			*p = '/';
		if (ab_linkwalk_follow(&w, target) < 0) {
			ab_buf_printf(b, ",%s", errno == ENOENT ? "ENOENT" : strerror(errno));
			return;
		}
	}
}

static void check_texts(void)
{
	for (size_t i = 0; i < AB_COUNT(texts); i++) {
		ab_autobuf struct ab_buf b = { 0 };

		list_names(texts[i].path, &b);
		is_str(b.data, texts[i].names, texts[i].path);
	}
}

static void check_limit(void)
{
	ab_autolinkwalk struct ab_linkwalk w;
	int followed = 0;

	ab_linkwalk_init(&w, NULL, "loop/x/");
	while (ab_linkwalk_next(&w) && ab_linkwalk_follow(&w, followed % 2 ? NULL : "a/b") == 0)
		followed++;
	ok(followed == LINKS && errno == ELOOP, "the kernel's limit: %d", followed);
	ok(ab_linkwalk_follow(&w, "a") < 0 && errno == ELOOP, "and it stays so");

	ab_linkwalk_fini(&w);
	ab_linkwalk_init(&w, NULL, "a/b//c/");
	ok(ab_linkwalk_next(&w) && strcmp(w.name, "a") == 0 && strcmp(w.left, "b//c") == 0,
	   "a name and what follows it");
	ok(ab_linkwalk_follow(&w, "") < 0 && strcmp(w.name, "a") == 0 &&
		   strcmp(w.left, "b//c") == 0,
	   "a link that cannot be followed changes nothing");
	ok(ab_linkwalk_next(&w) && ab_linkwalk_next(&w) && strcmp(w.name, "c") == 0 &&
		   w.left[0] == '\0' && !ab_linkwalk_next(&w) && !ab_linkwalk_next(&w),
	   "and so on until the end");
}

/* In a folder of our own: N a name, L a link, each with the folder that it is
 * in below `top`; then where it ends. */
static char top[] = "/tmp/agentbox-linkwalk-XXXXXX";

static const struct {
	const char *from, *path, *want;
} steps[] = {
	{ "", "d/file", "N N/d =/d/file" },
	{ "", "/d/file", "N N/d =/d/file" },
	{ "/d", "file", "N/d =/d/file" },
	{ "/d", "", "=/d" },
	{ "", "d//./sub/", "N N/d =/d/sub" },
	{ "", "d/sub/..", "N N/d =/d" },
	{ "", "d/../d/file", "N N N/d =/d/file" },
	{ "", "relative", "L N N/d =/d/file" },
	{ "", "relative/", "L N N/d =/d/file" },
	{ "", "d/up", "N L/d L N N/d =/d/file" },
	{ "", "folder/file", "L N N/d =/d/file" },
	{ "", "folder/../d/sub", "L N N N/d =/d/sub" },
	{ "", "deep/..", "L N N/d =/d" },
	{ "", "dot/file", "L N N/d =/d/file" },
	{ "", "here", "L =" },
	{ "", "chain", "L L L N N/d =/d/file" },
	{ "", "dangling", "L N ENOENT /d/gone +" },
	{ "", "dangling/x/y", "L N ENOENT /d/gone + x/y" },
	{ "", "gone/../d", "ENOENT /gone + ../d" },
	{ "", "d/file/x", "N N/d ENOTDIR /d/file + x" },
};

static void run_steps(const char *from, const char *path, struct ab_buf *b)
{
	ab_autolinkwalk struct ab_linkwalk w;
	ab_autofree char *at = ab_printf("%s%s", top, from);
	enum ab_linkwalk_step step;

	ab_linkwalk_init(&w, at, path);
	while ((step = ab_linkwalk_step(&w)) <= AB_LINKWALK_LINK)
		ab_buf_printf(b, "%c%s ", step == AB_LINKWALK_LINK ? 'L' : 'N', w.at + strlen(top));
	if (step == AB_LINKWALK_END)
		ab_buf_printf(b, "=%s", w.at + strlen(top));
	else
		ab_buf_printf(b, "%s %s +%s%s", strerrorname_np(errno), w.path + strlen(top),
			      *w.left ? " " : "", w.left);
}

static void check_steps(void)
{
	for (size_t i = 0; i < AB_COUNT(steps); i++) {
		ab_autobuf struct ab_buf b = { 0 };

		run_steps(steps[i].from, steps[i].path, &b);
		is_str(b.data, steps[i].want, steps[i].path);
	}
}

/* Does the walk say what the kernel says? */
static void is_like_kernel(const char *path)
{
	ab_autolinkwalk struct ab_linkwalk w;
	ab_autofree char *real = realpath(path, NULL);
	int errnum = real ? 0 : errno;
	enum ab_linkwalk_step step;

	ab_linkwalk_init(&w, path[0] == '/' ? "/" : top, path);
	while ((step = ab_linkwalk_step(&w)) <= AB_LINKWALK_LINK)
		;
	if (real)
		is_str(step == AB_LINKWALK_END ? w.at : NULL, real, path);
	else
		ok(step == AB_LINKWALK_FAILED && errno == errnum, "%.60s: %s", path,
		   strerrorname_np(errnum));
}

static void check_kernel(void)
{
	ab_autofree char *absolute = ab_printf("%s/absolute", top);
	ab_autofree char *above = ab_printf("/../..%s/../../..%s/d/../chain", top, top);
	ab_autofree char *last = ab_printf("%s/l%d", top, LINKS);
	ab_autofree char *beyond = ab_printf("%s/l%d", top, LINKS + 1);
	ab_autofree char *dots = ab_alloc(PATH_MAX + 1);
	ab_autofree char *long_name = ab_alloc(NAME_MAX + 2);

	for (int i = 1; i <= LINKS + 1; i++) {
		ab_autofree char *name = ab_printf("l%d", i);
		ab_autofree char *target = i > 1 ? ab_printf("l%d", i - 1) : ab_strdup("d");

		if (symlink(target, name) < 0)
			abort();
	}
	is_like_kernel(absolute);
	is_like_kernel(above);
	is_like_kernel("relative");
	is_like_kernel("loop");
	is_like_kernel("ping/x");
	is_like_kernel(last);
	is_like_kernel(beyond);
	is_like_kernel("l40/file");
	is_like_kernel("l39/../folder");
	is_like_kernel("l40/../folder");
	is_like_kernel("../../../../../../..");
	is_like_kernel("dangling");
	is_like_kernel("d/file/x");
	is_like_kernel("d/file/.");
	is_like_kernel("d/file/../sub");
	is_like_kernel("relative/../sub");
	for (int i = 0; i < PATH_MAX; i++)
		dots[i] = i % 2 ? '/' : '.';
	memcpy(dots + PATH_MAX - 2, "d", 2);
	is_like_kernel(dots);
	memcpy(dots, "/nn/", 4);
	is_like_kernel(dots);
	memset(long_name, 'n', NAME_MAX + 1);
	is_like_kernel(long_name);
	long_name[NAME_MAX] = '\0';
	is_like_kernel(long_name);
}

static void check_length(void)
{
	ab_autolinkwalk struct ab_linkwalk w;
	ab_autofree char *text = ab_alloc(2 * PATH_MAX);

	memset(text, 'x', 2 * PATH_MAX - 1);
	memcpy(text, "d/", 2);
	for (int i = 100; i < 2 * PATH_MAX - 1; i += 100)
		text[i] = '/';
	ab_linkwalk_init(&w, top, text);
	ok(ab_linkwalk_step(&w) == AB_LINKWALK_FAILED && errno == ENAMETOOLONG &&
		   strcmp(w.name, "d") == 0,
	   "a text that is too long fails at once");
}

int main(void)
{
	ab_autofree char *clean = NULL, *absolute = NULL;

	check_texts();
	check_limit();
	if (!mkdtemp(top) || chdir(top) < 0)
		return 1;
	absolute = ab_printf("%s/d/file", top);
	if (symlink(absolute, "absolute") < 0 ||
	    system("mkdir -p d/sub && echo x >d/file && ln -s d/file relative &&"
		   "ln -s ../relative d/up && ln -s d folder && ln -s d/sub deep &&"
		   "ln -s ./d/. dot && ln -s . here && ln -s relative one &&"
		   "ln -s one chain && ln -s d/gone dangling && ln -s loop loop &&"
		   "ln -s pong ping && ln -s ping pong") != 0)
		return 1;
	check_steps();
	check_kernel();
	check_length();
	clean = ab_printf("rm -rf %s", top);
	if (chdir("/") < 0 || system(clean) != 0)
		return 1;
	return done();
}
