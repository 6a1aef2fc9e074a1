#include "steer/changes/run_changes.h"

#include "audit/read/details.h"
#include "audit/read/find.h"
#include "audit/read/query.h"
#include "audit/read/reader.h"
#include "layer/walk/changes.h"
#include "workspace/quarantine/journal.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/tree_walk.h"

enum { DIRS_MAX = 50000, ENTRIES_MAX = 1000000, DEPTH_MAX = 100, FINDINGS_MAX = 100 };

struct look {
	struct ab_run_changes *changes;
	struct timespec since, until; /* until: zero if it is not known */
	const char *skip;	      /* a folder, or NULL */
};

static bool is_after(const struct statx_timestamp *t, const struct timespec *than)
{
	return t->tv_sec != than->tv_sec ? t->tv_sec > than->tv_sec
					 : (long)t->tv_nsec > than->tv_nsec;
}

static void add_file(struct look *l, const char *folder, const char *name, const struct statx *st)
{
	struct ab_run_changes *c = l->changes;
	bool created;

	if (c->len == AB_RUN_FILES_MAX) {
		c->cut = true;
		return;
	}
	if (c->len == c->room) {
		c->room = c->room ? 2 * c->room : 64;
		c->v = ab_realloc(c->v, c->room * sizeof(c->v[0]));
	}
	created = (st->stx_mask & STATX_BTIME) && is_after(&st->stx_btime, &l->since);
	c->v[c->len++] = (struct ab_change){
		.path = ab_path_join(folder, name),
		.kind = created ? AB_CHANGE_ADDED : AB_CHANGE_MODIFIED,
		.was = AB_TYPE_NONE, /* or not known */
		.is = S_ISREG(st->stx_mode)   ? AB_TYPE_FILE
		      : S_ISLNK(st->stx_mode) ? AB_TYPE_LINK
					      : AB_TYPE_OTHER,
		.new_mode = st->stx_mode & 07777,
		.new_size = st->stx_size,
	};
}

static void look_at(struct look *l, int fd, const char *folder, const struct ab_entry *entry)
{
	struct statx st;

	if (statx(fd, entry->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		  STATX_BASIC_STATS | STATX_BTIME, &st) < 0 ||
	    !is_after(&st.stx_ctime, &l->since))
		return;
	if (S_ISDIR(st.stx_mode)) {
		l->changes->folders += is_after(&st.stx_mtime, &l->since) &&
				       (!l->until.tv_sec || !is_after(&st.stx_mtime, &l->until));
		return;
	}
	if (l->until.tv_sec && is_after(&st.stx_ctime, &l->until))
		l->changes->later++;
	else
		add_file(l, folder, entry->name, &st);
}

static bool visit_folder(void *arg, int fd, const char *path, unsigned depth,
			 const struct ab_listing *entries)
{
	struct look *l = arg;

	(void)depth;
	if (l->skip && strcmp(path, l->skip) == 0)
		return false;
	for (size_t i = 0; i < entries->len; i++)
		look_at(l, fd, path, &entries->v[i]);
	return true;
}

/* A root in another one is walked with it. */
static bool is_covered(const struct ab_strv *roots, size_t index)
{
	for (size_t i = 0; i < roots->len; i++)
		if (i != index && ab_path_within(roots->v[index], roots->v[i]) &&
		    (i < index || strcmp(roots->v[index], roots->v[i]) != 0))
			return true;
	return false;
}

static int compare_files(const void *a, const void *b)
{
	return strcmp(((const struct ab_change *)a)->path, ((const struct ab_change *)b)->path);
}

static void add_findings(struct ab_run_changes *c, const struct ab_detail *list)
{
	struct ab_detail one;
	size_t at = 0;

	while (ab_detail_next(list, &at, &one) && c->findings.len < FINDINGS_MAX) {
		char *text = ab_detail_dup(&one);

		if (text)
			ab_strv_give(&c->findings, text);
	}
}

/* How it ended, from the rest of the record. */
static int read_end(const struct ab_found_run *run, struct ab_run_changes *c, struct ab_error *err)
{
	static const char *const names[] = { "kind", "timestamp", "findings" };
	struct ab_reader reader;
	const char *line;
	size_t len;
	int more;

	if (ab_reader_open(run->dir, &reader, err) < 0)
		return -1;
	while ((more = ab_reader_next(&reader, &line, &len, err)) > 0) {
		struct ab_detail f[AB_COUNT(names)];

		if (ab_details_find(line, len, names, AB_COUNT(names), f) < 0 ||
		    !ab_detail_is(&f[0], "end"))
			continue;
		/* A second one is from a later sweep. */
		if (!c->until[0])
			ab_detail_copy(&f[1], c->until, sizeof(c->until));
		add_findings(c, &f[2]);
	}
	ab_reader_fini(&reader);
	return more;
}

/* When and where it could write, from its first line. */
static int read_start(const struct ab_found_run *run, struct look *l, struct ab_error *err)
{
	static const char *const names[] = { "kind", "watch" };
	struct ab_detail f[AB_COUNT(names)];
	struct ab_survey survey = { 0 };

	if (ab_details_find(run->first, strlen(run->first), names, AB_COUNT(names), f) < 0 ||
	    (l->changes->refused = ab_detail_is(&f[0], "refused")))
		return 0;
	if (f[1].kind != AB_DETAIL_NESTED)
		return ab_fail(err, AB_ESYSTEM, 0,
			       "the record of run %s does not say where it could write", run->id);
	if (ab_journal_read(f[1].at, f[1].len, &survey, err) < 0)
		return -1;
	l->since = survey.started;
	ab_strv_extend(&l->changes->roots, &survey.write);
	ab_survey_fini(&survey);
	return 0;
}

static void set_until(struct look *l)
{
	int64_t ms = ab_time_ms(l->changes->until);

	/* The record rounds down. */
	if (ms >= 0)
		l->until = (struct timespec){ (time_t)((ms + 1) / 1000),
					      (long)((ms + 1) % 1000) * 1000000 };
}

int ab_run_changes_collect(const struct ab_found_run *run, const char *skip,
			   struct ab_run_changes *ret, struct ab_error *err)
{
	struct ab_walk walk = {
		.dirs = DIRS_MAX,
		.entries = ENTRIES_MAX,
		.depth = DEPTH_MAX,
		.everything = true,
	};
	struct look l = { .changes = ret, .skip = skip };

	*ret = (struct ab_run_changes){ .live = run->live };
	memcpy(ret->since, run->began, sizeof(ret->since));
	if (read_start(run, &l, err) < 0 || (!ret->refused && read_end(run, ret, err) < 0)) {
		ab_run_changes_fini(ret);
		return -1;
	}
	set_until(&l);
	for (size_t i = 0; i < ret->roots.len; i++)
		if (!is_covered(&ret->roots, i) &&
		    ab_walk(&walk, ret->roots.v[i], visit_folder, &l) < 0)
			ab_strv_add(&ret->gone, ret->roots.v[i]);
	ret->cut |= walk.cut || walk.foreign;
	if (ret->len)
		qsort(ret->v, ret->len, sizeof(ret->v[0]), compare_files);
	return 0;
}

void ab_run_changes_fini(struct ab_run_changes *changes)
{
	for (size_t i = 0; i < changes->len; i++)
		free(changes->v[i].path);
	free(changes->v);
	ab_strv_fini_all(&changes->roots, &changes->gone, &changes->findings);
	*changes = (struct ab_run_changes){ 0 };
}
