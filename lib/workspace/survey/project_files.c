#include "workspace/survey/project_files.h"

#include "agents/obeyed.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/dir.h"

#define LIST_MAX 10000
#define SHOWN 20

typedef void found_fn(void *arg, const char *path, const struct stat *st);

static void look_up(int dir, const char *top, const char *name, found_fn *fn, void *arg)
{
	ab_autofree char *path = ab_path_join(top, name);
	struct stat st;

	/* By descriptor if there is one: then nothing above it can be replaced. */
	if ((dir >= 0 ? fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) : lstat(path, &st)) == 0)
		fn(arg, path, &st);
}

static void find_files(int dir, const char *top, const struct ab_listing *l, found_fn *fn,
		       void *arg)
{
	size_t n;
	const struct ab_obeyed_name *names = ab_obeyed_names(AB_OBEYED_REPORTED, &n);
	const char *rest;

	for (size_t k = 0; k < n && l->cut; k++)
		look_up(dir, top, names[k].pattern, fn, arg);
	for (size_t i = 0; i < l->len && !l->cut; i++)
		for (size_t k = 0; k < n; k++)
			if (names[k].pattern[0] == l->v[i].name[0] &&
			    ab_name_starts(names[k].pattern, l->v[i].name, &rest))
				look_up(dir, top, names[k].pattern, fn, arg);
}

static void note_file(void *arg, const char *path, const struct stat *st)
{
	struct ab_survey *s = arg;

	*ab_append(s->project, s->nproject) =
		(struct ab_project_file){ ab_strdup(path), st->st_ctim };
}

void ab_project_files_note(struct ab_survey *survey, const char *top,
			   const struct ab_listing *entries)
{
	find_files(-1, top, entries, note_file, survey);
}

struct report {
	const struct ab_survey *survey;
	struct ab_strv changed;
	size_t n;
};

static void check_file(void *arg, const char *path, const struct stat *st)
{
	struct report *r = arg;
	const struct ab_survey *s = r->survey;

	for (size_t i = 0; i < s->nproject; i++)
		if (strcmp(s->project[i].path, path) == 0 &&
		    ab_time_same(s->project[i].changed, st->st_ctim))
			return;
	if (r->n++ < SHOWN)
		ab_strv_add(&r->changed, path);
}

/* Each top has a watch. */
static void check_folder(struct report *r, const struct ab_watch *w)
{
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, w->dir, O_RDONLY | O_DIRECTORY);
	ab_autolisting struct ab_listing l = { 0 };
	struct stat st;

	/* If it was replaced, the quarantine reports that. */
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != w->dev || st.st_ino != w->ino)
		return;
	if (ab_listing_read(&l, fd, LIST_MAX) < 0)
		l.cut = true;
	find_files(fd, w->dir, &l, check_file, r);
}

void ab_project_files_report(const struct ab_survey *survey, struct ab_strv *findings)
{
	struct report r = { .survey = survey };

	for (size_t i = 0; i < survey->nwatch; i++)
		if (survey->watch[i].top)
			check_folder(&r, &survey->watch[i]);
	ab_names_tell(findings, "the run created or changed", r.n, "project file",
		      "that tools outside obey", &r.changed);
	ab_strv_fini(&r.changed);
}
