/*
 * The text of a name that a process of the box passes to the kernel: a folder and a
 * name, separated by a NUL. What comes out is clean, bounded, and always judged the
 * same.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/arena.h"
#include "base/data/mem.h"
#include "guard/notify/refused_files.h"
#include "guard/writes/place.h"
#include "sandbox/plan/plan.h"
#include "workspace/survey/survey.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ab_plan plan;
static struct ab_watch watch = { .dir = (char *)"/w" };
static const struct ab_survey survey = { .watch = &watch, .nwatch = 1 };

static void make_facts(void)
{
	struct ab_facts facts = { 0 };

	ab_objects_add(&facts.write, "/w", AB_AS_DIR);
	ab_objects_add(&facts.closed, "/w/.git/hooks", AB_AS_DIR);
	ab_plan_make(&facts, &plan);
	ab_objects_fini(&facts.write);
	ab_objects_fini(&facts.closed);
	ab_strv_add(&watch.names, ".envrc");
	ab_strv_add(&watch.names, ".config/fish");
	ab_strv_add(&watch.names, "s*[!x].yml");
}

static bool is_clean(const char *path)
{
	size_t len = strlen(path);

	return path[0] == '/' && len < PATH_MAX && (len == 1 || path[len - 1] != '/') &&
	       !strstr(path, "//") && !strstr(path, "/./");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ab_autofree char *text = ab_strndup((const char *)data, size);
	ab_autofree char *name = NULL;
	struct ab_arena arena = { 0 };
	size_t len = strlen(text);
	const char *place;

	if (plan.len == 0)
		make_facts();
	name = len < size ? ab_strndup((const char *)data + len + 1, size - len - 1) : NULL;
	place = ab_place_clean(&arena, "/w", text);
	if (place && !is_clean(place))
		abort();
	if (place && name) {
		const char *below = ab_place_clean(&arena, place, name);

		if (below && (!is_clean(below) ||
			      (ab_place_is_open(&plan, below) && strncmp(below, "/w/", 3) != 0 &&
			       strncmp(below, "/dev", 4) != 0)))
			abort();
		if (below && ab_place_is_protected(&survey, below) && strncmp(below, "/w/", 3) != 0)
			abort();
	}
	(void)ab_refused_is_incidental(text);
	ab_arena_fini(&arena);
	return 0;
}
