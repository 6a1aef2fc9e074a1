#include "layer/journal/excuse.h"

#include "layer/journal/stack.h"
#include "layer/journal/steps.h"
#include "layer/journal/workers.h"
#include "workspace/tree/guard.h"

/* An earlier journal. */
struct older {
	struct ab_steps steps;
	size_t placing;
	struct timespec ready;
	struct ab_known was;	 /* excused before */
	struct ab_known excused; /* and now, not sorted */
};

static int find_path(const void *path, const void *step)
{
	return ab_path_order(path, ((const struct ab_step *)step)->path);
}

static const struct ab_step *find_step(const struct older *o, const char *path)
{
	return o->placing ? bsearch(path, o->steps.v, o->placing, sizeof(o->steps.v[0]), find_path)
			  : NULL;
}

/* The step that put this path in place, alone or with a folder around it; NULL: none. */
static const struct ab_step *find_cover(const struct older *o, const char *path)
{
	ab_autofree char *above = ab_strdup(path);
	const struct ab_step *step = find_step(o, above);
	char *slash;

	while (!step && (slash = strrchr(above, '/')) != NULL) {
		*slash = '\0';
		step = find_step(o, above);
	}
	return step && step->kind == AB_STEP_PUT ? step : NULL;
}

/* Was the original of a step as the earlier apply had left it? */
static bool was_left(const struct older *o, const struct ab_step *cover, const struct ab_step *step)
{
	if (ab_known_is(&o->was, step->path, &step->old))
		return true;
	if (strcmp(cover->path, step->path) != 0)
		return !ab_time_later(step->old.ctime, o->ready);
	return ab_identity_same(&step->old, &cover->staged) &&
	       ab_time_same(step->old.mtime, cover->staged.mtime);
}

static void excuse_path(const struct ab_site *site, struct older *o, const char *path)
{
	ab_autoclose int fd = ab_open_same_mount(site->root, path, O_PATH | O_NOFOLLOW);
	struct ab_look look;

	if (fd >= 0 && ab_look_at(fd, "", &look) == 0)
		ab_known_add(&o->excused, path, look.id.ino, look.id.ctime);
}

/* Names in it came and went. Something that somebody else put there has a time of its own. */
static void excuse_parents(const struct ab_site *site, struct older *o, const char *path)
{
	ab_autofree char *above = ab_strdup(path);
	char *slash;

	while ((slash = strrchr(above, '/')) != NULL) {
		*slash = '\0';
		if (!find_cover(o, above))
			return;
		excuse_path(site, o, above);
	}
}

static void excuse_step(const struct ab_site *site, struct older *o, const struct ab_step *step)
{
	const struct ab_step *cover = find_cover(o, step->path);

	excuse_parents(site, o, step->path);
	if (cover && step->old.ino && (step->kind == AB_STEP_MODE || was_left(o, cover, step)))
		excuse_path(site, o, step->path);
}

static int excuse_older(struct ab_site *site, const struct ab_step_now *now, int dir,
			struct older *o)
{
	struct ab_look ready;

	/* Another version wrote it: it cannot be taken back by this one anyway. */
	if (ab_steps_load(dir, &o->steps) < 0)
		return errno == EBADMSG ? 0 : -1;
	if (o->steps.home != site->steps.home)
		return 0;
	if (ab_steps_load_ready(dir, &o->steps) < 0 || ab_look_at(dir, "ready", &ready) < 0)
		return -1;
	o->placing = ab_steps_placing(&o->steps);
	o->ready = ready.id.mtime;
	ab_known_read(&o->was, dir, "excused");
	ab_known_read(&o->excused, dir, "excused");
	for (size_t i = 0; i < site->steps.len; i++)
		if (site->steps.v[i].kind != AB_STEP_MOVE && !now[i].skip)
			excuse_step(site, o, &site->steps.v[i]);
	ab_known_sort(&o->excused);
	return ab_known_write(&o->excused, dir, "excused");
}

int ab_site_excuse(struct ab_site *site, const struct ab_step_now *now)
{
	ab_autostrv struct ab_strv earlier = { 0 };
	int rc = ab_undo_earlier(site->undo, &earlier);

	for (size_t i = 0; i < earlier.len && rc == 0; i++) {
		ab_autoclose int dir =
			ab_open_same_mount(site->undo, earlier.v[i], O_RDONLY | O_DIRECTORY);
		struct older o = { 0 };

		rc = dir < 0 ? -1 : excuse_older(site, now, dir, &o);
		ab_steps_fini(&o.steps);
		ab_known_fini(&o.was);
		ab_known_fini(&o.excused);
	}
	return rc;
}
