#include "workspace/survey/project_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/path.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/names.h"

#define LIST_MAX 10000
#define SHOWN 20

/* Sorted. */
/* clang-format off */
static const char *const names[] = {
	".bazelrc", ".bundle/config", ".cursorrules", ".env", ".eslintrc.cjs",
	".eslintrc.js", ".github/copilot-instructions.md", ".goosehints", ".lefthook.yaml",
	".lefthook.yml", ".mvn/extensions.xml", ".mvn/jvm.config", ".mvn/maven.config",
	".npmrc",
	".overcommit.yml", ".pnpmfile.cjs", ".pnpmfile.mjs", ".pre-commit-config.yaml",
	".pypirc", ".ripgreprc", ".tool-versions", ".windsurfrules", ".yarnrc",
	".yarnrc.yml",
	"AGENTS.md", "AGENTS.override.md", "CLAUDE.local.md", "CLAUDE.md", "CRUSH.md",
	"GEMINI.md", "QWEN.md", "bunfig.toml", "eslint.config.cjs", "eslint.config.js",
	"eslint.config.mjs", "eslint.config.mts", "eslint.config.ts", "lefthook.toml",
	"lefthook.yaml", "lefthook.yml", "rust-toolchain", "rust-toolchain.toml",
};
/* clang-format on */

const char *ab_project_file_name(size_t index)
{
	return index < AB_COUNT(names) ? names[index] : NULL;
}

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
	const char *rest;

	for (size_t k = 0; k < AB_COUNT(names) && l->cut; k++)
		look_up(dir, top, names[k], fn, arg);
	for (size_t i = 0; i < l->len && !l->cut; i++)
		for (size_t k = 0; k < AB_COUNT(names); k++)
			if (names[k][0] == l->v[i].name[0] &&
			    ab_name_starts(names[k], l->v[i].name, &rest))
				look_up(dir, top, names[k], fn, arg);
}

static void note_file(void *arg, const char *path, const struct stat *st)
{
	struct ab_survey *s = arg;

	if ((s->nproject & (s->nproject + 1)) == 0)
		s->project = ab_realloc(s->project, 2 * (s->nproject + 1) * sizeof(s->project[0]));
	s->project[s->nproject++] = (struct ab_project_file){ ab_strdup(path), st->st_ctim };
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
		    s->project[i].changed.tv_sec == st->st_ctim.tv_sec &&
		    s->project[i].changed.tv_nsec == st->st_ctim.tv_nsec)
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
	ab_autobuf struct ab_buf b = { 0 };

	for (size_t i = 0; i < survey->nwatch; i++)
		if (survey->watch[i].top)
			check_folder(&r, &survey->watch[i]);
	if (r.n > 0) {
		ab_buf_printf(
			&b,
			"the run created or changed %zu project file%s that tools outside obey: ",
			r.n, r.n == 1 ? "" : "s");
		for (size_t i = 0; i < r.changed.len; i++) {
			ab_buf_puts(&b, i ? ", " : "");
			ab_buf_escape(&b, r.changed.v[i]);
		}
		ab_buf_puts(&b, r.n > r.changed.len ? ", ..." : "");
		ab_strv_give(findings, ab_buf_take(&b));
	}
	ab_strv_fini(&r.changed);
}
