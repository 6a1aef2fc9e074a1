#include "base/system/path.h"

#include <string.h>

#include "base/data/mem.h"
#include "tap.h"

static const struct {
	const char *path, *base, *home, *want;
} resolve[] = {
	{ "/a/b", "/w", "/h", "/a/b" },
	{ "/", "/w", "/h", "/" },
	{ "//a///b//", "/w", "/h", "/a/b" },
	{ "/a/./b/.", "/w", "/h", "/a/b" },
	{ "/a/../b", "/w", "/h", "/b" },
	{ "/..", "/w", "/h", "/" },
	{ "/../../a", "/w", "/h", "/a" },
	{ "/a/b/../../..", "/w", "/h", "/" },
	{ "/a/..b/...", "/w", "/h", "/a/..b/..." },
	{ ".", "/w", "/h", "/w" },
	{ "..", "/w/x", "/h", "/w" },
	{ "a", "/", "/h", "/a" },
	{ "a/b", "/w", "/h", "/w/a/b" },
	{ "../outside", "/w", "/h", "/outside" },
	{ "~", "/w", "/h", "/h" },
	{ "~/", "/w", "/h", "/h" },
	{ "~/.ssh", "/w", "/h", "/h/.ssh" },
	{ "~/../x", "/w", "/h/u", "/h/x" },
	{ "~/a", "/w", "/", "/a" },
	{ "a/~", "/w", "/h", "/w/a/~" },
	{ "./~", "/w", "/h", "/w/~" },
	{ "/~", "/w", NULL, "/~" },
	{ "a", "/w", NULL, "/w/a" },
	{ "", "/w", "/h", NULL },
	{ "~", "/w", NULL, NULL },
	{ "~/a", "/w", NULL, NULL },
	{ "~root", "/w", "/h", NULL },
	{ "~root/a", "/w", "/h", NULL },
};

static const struct {
	const char *path, *top;
	bool want;
} within[] = {
	{ "/a", "/a", true },	{ "/a/b", "/a", true },	 { "/a/b/c", "/a", true },
	{ "/ab", "/a", false }, { "/a", "/a/b", false }, { "/", "/", true },
	{ "/a", "/", true },	{ "/", "/a", false },	 { "/b/a", "/a", false },
};

static void test_resolve(void)
{
	for (size_t i = 0; i < AB_COUNT(resolve); i++) {
		ab_autofree char *got =
			ab_path_resolve(resolve[i].path, resolve[i].base, resolve[i].home);

		is_str(got, resolve[i].want, resolve[i].path);
	}
}

static void test_within(void)
{
	for (size_t i = 0; i < AB_COUNT(within); i++)
		ok(ab_path_within(within[i].path, within[i].top) == within[i].want,
		   "%s is %swithin %s", within[i].path, within[i].want ? "" : "not ",
		   within[i].top);
}

static void test_parts(void)
{
	static const struct {
		const char *path, *parent, *name;
	} parts[] = {
		{ "/a/b", "/a", "b" },
		{ "/a", "/", "a" },
		{ "/", "/", "" },
	};

	for (size_t i = 0; i < AB_COUNT(parts); i++) {
		ab_autofree char *parent = ab_path_parent(parts[i].path);
		ab_autofree char *joined = ab_path_join(parent, ab_path_name(parts[i].path));

		is_str(parent, parts[i].parent, "the parent");
		is_str(ab_path_name(parts[i].path), parts[i].name, "the name");
		is_str(joined, parts[i].path, "joined again");
	}
}

static void test_pattern(void)
{
	ok(ab_path_is_pattern("~/.ssh/id_*"), "* is a pattern");
	ok(ab_path_is_pattern("/a?"), "? is a pattern");
	ok(ab_path_is_pattern("/[a]"), "[ is a pattern");
	ok(!ab_path_is_pattern("/a]b-c"), "a plain name is none");
	ok(!ab_path_is_pattern(""), "nothing is none");
}

int main(void)
{
	test_resolve();
	test_within();
	test_parts();
	test_pattern();
	return done();
}
