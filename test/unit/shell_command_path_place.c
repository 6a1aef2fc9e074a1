#include "shell/command/path_place.h"

#include "shell_simple.h"

/* "$" is an unknown stretch, "~" in front the home. */
static const struct {
	const char *cwd, *path;
	enum ab_place place;
} places[] = {
#define WORK "/home/me/proj"
	{ WORK, "/", AB_PLACE_ROOT },
	{ WORK, "///", AB_PLACE_ROOT },
	{ WORK, "/./..//.", AB_PLACE_ROOT },
	{ WORK, "../../..", AB_PLACE_ROOT },
	{ WORK, "../../../../../..", AB_PLACE_ROOT },
	{ WORK, "../..", AB_PLACE_ROOT },
	{ WORK, "..", AB_PLACE_ROOT },
	{ WORK, "../../me", AB_PLACE_ROOT },
	{ WORK, ".", AB_PLACE_WORKSPACE },
	{ WORK, "a/../.", AB_PLACE_WORKSPACE },
	{ WORK, "../proj", AB_PLACE_WORKSPACE },
	{ WORK, "../pr*", AB_PLACE_WORKSPACE },
	{ WORK, ".git", AB_PLACE_WORKSPACE },
	{ WORK, "", AB_PLACE_ORDINARY },
	{ WORK, "a", AB_PLACE_ORDINARY },
	{ WORK, "...", AB_PLACE_ORDINARY },
	{ WORK, "a/.git", AB_PLACE_ORDINARY },
	{ WORK, "/tmp", AB_PLACE_TOP },
	{ WORK, "/tmp/*", AB_PLACE_ORDINARY },
	{ WORK, "/opt", AB_PLACE_ROOT },
	{ WORK, "/opt/x", AB_PLACE_ORDINARY },
	{ WORK, "$", AB_PLACE_UNKNOWN },
	{ WORK, "$/x", AB_PLACE_ORDINARY },
	{ WORK, "x/$", AB_PLACE_ORDINARY },
	{ WORK, "x/$/../..", AB_PLACE_ORDINARY },
	{ WORK, "/et$", AB_PLACE_UNKNOWN },
	{ "/", "*", AB_PLACE_ROOT },
	{ "/", "etc", AB_PLACE_ROOT },
	{ "/home/me", "*", AB_PLACE_ROOT },
	{ "/home/me/proj/a", "*", AB_PLACE_ORDINARY },
	{ "/home/me/proj/a", "..", AB_PLACE_WORKSPACE },
	{ "$", "*", AB_PLACE_UNKNOWN },
	{ "$", "build", AB_PLACE_ORDINARY },
	{ "/home/me/proj/$", "*", AB_PLACE_UNKNOWN },
	{ "/home/me/proj/$", "build", AB_PLACE_ORDINARY },
};

static const struct {
	const char *path;
	bool system, device;
} files[] = {
	{ "/etc/passwd", true, false },	      { "/usr/local/bin/x", true, false },
	{ "/lib64/x", true, false },	      { "/dev/sda", true, true },
	{ "/dev/sd*", true, true },	      { "/dev/nvme0n1p2", true, true },
	{ "/dev/mapper/x", true, true },      { "/dev/mapper/control", true, false },
	{ "/dev/disk/by-id/x", true, true },  { "/dev/loop0", true, true },
	{ "/dev/loop-control", true, false }, { "/dev/null", false, false },
	{ "/dev/stdout", false, false },      { "/dev/fd/3", false, false },
	{ "/dev/pts/0", false, false },	      { "/dev/../tmp/x", false, false },
	{ "/tmp/../etc/x", true, false },     { "etc/passwd", false, false },
	{ "/tmp/etc/x", false, false },	      { "/var/x", false, false },
	{ "/home/me/x", false, false },	      { "/proc/sys/x", true, false },
	{ "/proc/self/fd/1", false, false },  { "/proc/sysrq-trigger", false, false },
};

static const struct {
	const char *pattern, *name;
	bool reaches;
} patterns[] = {
	{ "*", "etc", true },
	{ "e*", "etc", true },
	{ "e?c", "etc", true },
	{ "[a-z]tc", "etc", true },
	{ "*c*", "etc", true },
	{ "e*d", "etc", false },
	{ "et", "etc", false },
	{ "etc?", "etc", false },
	{ "**", "etc", true },
	{ "[e", "etc", false },
	{ "", "", true },
	{ "*", "", true },
	{ "a*a*a*b", "aaaaaaaa", false },
};

static struct ab_text text(const char *s)
{
	return (struct ab_text){ s, (uint32_t)strlen(s) };
}

static void test_places(void)
{
	for (size_t i = 0; i < AB_COUNT(places); i++) {
		struct ab_arena arena = { 0 };
		struct ab_simple simple = { .scene = &test_scene };
		struct ab_field f = test_field(&arena, places[i].path, strlen(places[i].path));
		struct ab_path path;

		simple.cwd = test_field(&arena, places[i].cwd, strlen(places[i].cwd)).text;
		ab_path_read(&simple, &f, &path);
		ok(ab_path_place(&path) == places[i].place, "\"%s\" in %s", places[i].path,
		   places[i].cwd);
		ab_arena_fini(&arena);
	}
}

static void test_files(void)
{
	for (size_t i = 0; i < AB_COUNT(files); i++) {
		struct ab_simple simple = { .scene = &test_scene, .cwd = text(WORK) };
		struct ab_field f = { .text = text(files[i].path) };
		struct ab_path path;

		f.pattern = strchr(files[i].path, '*');
		ab_path_read(&simple, &f, &path);
		ok(ab_path_system(&path) == files[i].system &&
			   ab_path_block_device(&path) == files[i].device,
		   "%s", files[i].path);
	}
}

/* More parts than are kept: nothing is read beyond them. */
static void test_deep(void)
{
	static char deep[4000];
	struct ab_simple simple = { .scene = &test_scene, .cwd = text("/") };
	struct ab_field f = { .text = { deep, 2000 } };
	struct ab_path path;

	for (size_t i = 0; i < 2000; i += 2)
		memcpy(deep + i, "a/", 2);
	ab_path_read(&simple, &f, &path);
	ok(path.len == 1000 && ab_path_place(&path) == AB_PLACE_ORDINARY && !ab_path_system(&path),
	   "a thousand folders deep");
	for (size_t i = 2000; i < 3500; i += 3)
		memcpy(deep + i, "../", 3);
	f.text.len = 3500;
	ab_path_read(&simple, &f, &path);
	ok(path.len == 500, "and half the way up again");
}

int main(void)
{
	test_places();
	test_files();
	test_deep();
	for (size_t i = 0; i < AB_COUNT(patterns); i++)
		ok(ab_pattern_reaches(text(patterns[i].pattern), text(patterns[i].name)) ==
			   patterns[i].reaches,
		   "\"%s\" and \"%s\"", patterns[i].pattern, patterns[i].name);
	return done();
}
