/*
 * Names by their text: where they lead, whether the box denies a write there, and
 * whether they are protected names that were missing at the start.
 */
#include "guard/writes/place.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/arena.h"
#include "base/data/mem.h"
#include "sandbox/plan/plan.h"
#include "tap.h"
#include "workspace/survey/survey.h"

static struct ab_arena arena;

static const struct {
	const char *dir, *path, *place;
} texts[] = {
	{ NULL, "/a/b", "/a/b" },
	{ "/x", "/a/b", "/a/b" },
	{ "/x", "a", "/x/a" },
	{ "/", "a", "/a" },
	{ "/x/y", "a/b", "/x/y/a/b" },
	{ NULL, "//a///b//", "/a/b" },
	{ "/x", "./a/./b/.", "/x/a/b" },
	{ "/x", "hooks/", "/x/hooks" },
	{ "/x", ".", "/x" },
	{ NULL, "/", "/" },
	{ NULL, "/.", "/" },
	{ "/x", "...", "/x/..." },
	{ "/x", "..a/.b", "/x/..a/.b" },
	{ "/x", ".a.", "/x/.a." },
	/* The text does not say it. */
	{ "/x", "", NULL },
	{ NULL, "", NULL },
	{ NULL, "a", NULL },
	{ "(deleted)", "a", NULL },
	{ "/x", "..", NULL },
	{ "/x", "../a", NULL },
	{ "/x", "a/../b", NULL },
	{ NULL, "/a/..", NULL },
	{ NULL, "/../a", NULL },
};

static void test_texts(void)
{
	char text[2 * PATH_MAX];

	for (size_t i = 0; i < AB_COUNT(texts); i++) {
		const char *got = ab_place_clean(&arena, texts[i].dir, texts[i].path);

		ok(got == texts[i].place || (got && texts[i].place && !strcmp(got, texts[i].place)),
		   "%s in %s is %s: %s", texts[i].path, texts[i].dir ? texts[i].dir : "-",
		   texts[i].place ? texts[i].place : "unknown", got ? got : "unknown");
	}
	/* Every length around the limit, as one name and as many. */
	for (size_t len = PATH_MAX - 4; len < PATH_MAX + 4; len++) {
		const char *got;

		memset(text, 'a', len);
		text[0] = '/';
		text[len] = '\0';
		got = ab_place_clean(&arena, NULL, text);
		ok(len < PATH_MAX - 1 ? got && strcmp(got, text) == 0
				      : !got || strlen(got) < PATH_MAX,
		   "%zu bytes", len);
		got = ab_place_clean(&arena, text, "b");
		ok(!got || strlen(got) < PATH_MAX, "%zu bytes and a name", len);
	}
}

static struct ab_plan make_plan(bool hidden)
{
	struct ab_facts facts = { 0 };
	struct ab_plan plan;

	if (hidden)
		ab_strv_add(&facts.privates, "/");
	ab_strv_add(&facts.privates, "/tmp");
	ab_objects_add(&facts.write, "/home/me/project", AB_AS_DIR);
	ab_objects_add(&facts.write, "/home/me/one", AB_AS_FILE);
	ab_objects_add(&facts.closed, "/home/me/project/.git/hooks", AB_AS_DIR);
	ab_objects_add(&facts.closed, "/home/me/project/.envrc", AB_AS_FILE);
	ab_objects_add(&facts.masked, "/home/me/project/secret", AB_AS_DIR);
	ab_objects_add(&facts.show, "/tmp/shown", AB_AS_DIR);
	ab_plan_make(&facts, &plan);
	ab_strv_fini(&facts.privates);
	ab_objects_fini(&facts.write);
	ab_objects_fini(&facts.closed);
	ab_objects_fini(&facts.masked);
	ab_objects_fini(&facts.show);
	return plan;
}

static const struct {
	const char *path;
	bool open;
} places[] = {
	{ "/home/me/project/x", true },
	{ "/home/me/project/a/b/c", true },
	{ "/home/me/project/.git/index", true },
	{ "/home/me/project/.git/objects/00/x", true },
	{ "/tmp/x", true },
	{ "/dev/null", true },
	{ "/dev/shm/x", true },
	/* Denied, or not decided by the text. */
	{ "/home/me/project", false },
	{ "/home/me/project/.git", false },
	{ "/home/me/project/.git/hooks", false },
	{ "/home/me/project/.git/hooks/x", false },
	{ "/home/me/project/.envrc", false },
	{ "/home/me/project/secret/x", false },
	{ "/home/me/project2/x", false },
	{ "/home/me/x", false },
	{ "/home/me/one", false },
	{ "/tmp/shown/x", false },
	{ "/etc/passwd", false },
	{ "/devices", false },
	{ "/", false },
};

static void test_places(void)
{
	struct ab_plan plan = make_plan(false), hidden = make_plan(true);

	for (size_t i = 0; i < AB_COUNT(places); i++) {
		ok(ab_place_is_open(&plan, places[i].path) == places[i].open, "%s is %s",
		   places[i].path, places[i].open ? "open" : "looked up");
		ok(ab_place_is_open(&hidden, places[i].path) == places[i].open,
		   "the same below a hidden root");
	}
	ab_plan_fini(&plan);
	ab_plan_fini(&hidden);
}

static const struct {
	const char *path;
	bool guarded;
} names[] = {
	{ "/w/.envrc", true },
	{ "/w/.vscode", true },
	{ "/w/.config/fish", true },
	{ "/w/secret-1.yml", true },
	{ "/w/.git/hooks", true },
	{ "/w/.git/commondir", true },
	{ "/w/r/.envrc", true },
	/* A folder above it, something below it, another place, another name. */
	{ "/w/.config", false },
	{ "/w/.vscode/tasks.json", false },
	{ "/w/.git", false },
	{ "/w/.git/hooks/pre-commit", false },
	{ "/w/new/.git/hooks", false },
	{ "/w/new/.envrc", false },
	{ "/w/r/.vscode", false },
	{ "/w/.envrc2", false },
	{ "/w/.envr", false },
	{ "/w/secret/x.yml", false },
	{ "/w", false },
	{ "/w2/.envrc", false },
	{ "/", false },
};

static void test_names(void)
{
	struct ab_watch watch[] = { { .dir = (char *)"/w" },
				    { .dir = (char *)"/w/.git" },
				    { .dir = (char *)"/w/r" } };
	struct ab_survey survey = { .watch = watch, .nwatch = AB_COUNT(watch) };
	char path[PATH_MAX + 8] = "/w/";

	ab_strv_add(&watch[0].names, ".envrc");
	ab_strv_add(&watch[0].names, ".vscode");
	ab_strv_add(&watch[0].names, ".config/fish");
	ab_strv_add(&watch[0].names, "secret*.yml");
	ab_strv_add(&watch[1].names, "hooks");
	ab_strv_add(&watch[1].names, "commondir");
	ab_strv_add(&watch[2].names, ".envrc");
	for (size_t i = 0; i < AB_COUNT(names); i++)
		ok(ab_place_is_protected(&survey, names[i].path) == names[i].guarded, "%s is %s",
		   names[i].path, names[i].guarded ? "protected" : "not");
	memset(path + 3, 's', PATH_MAX);
	ok(!ab_place_is_protected(&survey, path), "a name that no file can have is not");
	watch[0].dir = (char *)"/";
	ok(ab_place_is_protected(&survey, "/.envrc"), "at the top of the root");
	ok(!ab_place_is_protected(&survey, "/"), "the root itself is not");
	for (size_t i = 0; i < AB_COUNT(watch); i++)
		ab_strv_fini(&watch[i].names);
}

static const struct {
	const char *path;
	const char *folder; /* "": none */
	bool same;
} folders[] = {
	{ "/home/me/project/node_modules/a/b", "/home/me/project/node_modules", true },
	{ "/home/me/project/node_modules/a", "/home/me/project/node_modules", true },
	{ "/home/me/project/node_modules", "", false },
	{ "/home/me/project/.git/objects/00/x", "/home/me/project/.git/objects", true },
	{ "/home/me/project/.git/x", "", false },
	{ "/home/me/project/.git", "", false },
	{ "/home/me/project", "", false },
	{ "/tmp/a/b", "/tmp/a", true },
	/* A mount point, a watched folder, a protected name is below. */
	{ "/home/me/project/sub/x", "", false },
	{ "/home/me/project/r/x", "/home/me/project/r", false },
	{ "/home/me/project/.config/x/y", "/home/me/project/.config", false },
	{ "/home/me/project/secret-x/y", "/home/me/project/secret-x", false },
	{ "/home/me/project/r/s/x", "", false },
	{ "/etc/a/b", "/etc", true },
};

/* A folder's answer must be the one for each path in it. */
static void test_folder(const struct ab_plan *plan, const struct ab_survey *survey,
			const char *path, const char *folder)
{
	static const char *const below[] = { "x", ".envrc", ".vscode/x", "hooks", ".git/hooks" };
	bool open = ab_place_is_open(plan, path), guarded = ab_place_is_protected(survey, path);
	char one[PATH_MAX];

	for (size_t i = 0; i < AB_COUNT(below); i++) {
		snprintf(one, sizeof(one), "%s/%s", folder, below[i]);
		ok(ab_place_is_open(plan, one) == open &&
			   ab_place_is_protected(survey, one) == guarded,
		   "%s is as %s", one, path);
	}
}

static void test_folders(void)
{
	struct ab_watch watch[] = { { .dir = (char *)"/home/me/project" },
				    { .dir = (char *)"/home/me/project/.git" },
				    { .dir = (char *)"/home/me/project/r/s" } };
	struct ab_survey survey = { .watch = watch, .nwatch = AB_COUNT(watch) };
	struct ab_facts facts = { 0 };
	struct ab_plan plan;

	ab_strv_add(&facts.privates, "/tmp");
	ab_objects_add(&facts.write, "/home/me/project", AB_AS_DIR);
	ab_objects_add(&facts.closed, "/home/me/project/sub/a/.git/hooks", AB_AS_DIR);
	ab_plan_make(&facts, &plan);
	ab_strv_add(&watch[0].names, ".envrc");
	ab_strv_add(&watch[0].names, ".config/fish");
	ab_strv_add(&watch[0].names, "secret*/x.yml");
	ab_strv_add(&watch[1].names, "hooks");
	ab_strv_add(&watch[2].names, ".envrc");
	for (size_t i = 0; i < AB_COUNT(folders); i++) {
		bool same = false;
		size_t n = ab_place_find_folder(&plan, &survey, folders[i].path, &same);
		ab_autofree char *found = ab_strndup(folders[i].path, n);

		ok(strcmp(found, folders[i].folder) == 0 && same == folders[i].same,
		   "the folder of %s is %s, and decided as %s", folders[i].path, found,
		   same ? "one" : "several");
		if (same)
			test_folder(&plan, &survey, folders[i].path, found);
	}
	ab_plan_fini(&plan);
	ab_strv_fini(&facts.privates);
	ab_objects_fini(&facts.write);
	ab_objects_fini(&facts.closed);
	for (size_t i = 0; i < AB_COUNT(watch); i++)
		ab_strv_fini(&watch[i].names);
}

int main(void)
{
	test_texts();
	test_places();
	test_names();
	test_folders();
	ab_arena_fini(&arena);
	return done();
}
