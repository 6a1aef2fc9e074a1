/*
 * What a run without a layer changed, as far as it is known: files in its writable
 * folders whose status changed (ctime, which nobody can set) while the run was active.
 *
 * The record has no list of written files: nobody watches each write. What a file
 * contained before, which files are gone, and who else wrote at the same time is not
 * known. git is not asked: it would obey the settings of a repository that the
 * run may have changed.
 *
 * The folders may be hostile. The walk is bounded and follows no link.
 */
#include "audit/read/details.h"
#include "audit/read/find.h"
#include "audit/read/query.h"
#include "audit/read/reader.h"
#include "audit/read/words.h"
#include "audit/write/audit.h"
#include "layer/diff/labels.h"
#include "layer/walk/changes.h"
#include "policy/layers/layers.h"
#include "steer/changes/diff_state.h"
#include "workspace/quarantine/journal.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/tree_walk.h"

enum { RUN_FILES_MAX = 100000 };
enum { DIRS_MAX = 50000, ENTRIES_MAX = 1000000, DEPTH_MAX = 100, FINDINGS_MAX = 100 };

struct run_changes {
	char since[AB_STAMP_ROOM], until[AB_STAMP_ROOM]; /* until: "" if it is not known */
	bool live, refused;				 /* refused: nothing was started */
	struct ab_strv roots;				 /* writable folders */
	struct ab_strv gone;				 /* those that cannot be read now */
	struct ab_strv findings;			 /* what the record says about files */
	/* Sorted by path, which is absolute. Added, or modified: it existed, as far as the file system
	 * knows. */
	struct ab_change *v;
	size_t len;
	size_t later;	/* files that changed after the end, and perhaps before */
	size_t folders; /* in which names were added, removed or renamed */
	bool cut;	/* not everything was looked at */
};

struct look {
	struct run_changes *changes;
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
	struct run_changes *c = l->changes;
	bool created;

	if (c->len == RUN_FILES_MAX) {
		c->cut = true;
		return;
	}
	created = (st->stx_mask & STATX_BTIME) && is_after(&st->stx_btime, &l->since);
	*ab_append(c->v, c->len) = (struct ab_change){
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

static void add_findings(struct run_changes *c, const struct ab_detail *list)
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
static bool take_end(void *arg, const char *line, size_t len)
{
	static const char *const names[] = { "kind", "timestamp", "findings" };
	struct run_changes *c = arg;
	struct ab_detail f[AB_COUNT(names)];

	if (ab_details_find(line, len, names, AB_COUNT(names), f) < 0 ||
	    !ab_detail_is(&f[0], "end"))
		return true;
	/* A second one is from a later sweep. */
	if (!c->until[0])
		ab_detail_copy(&f[1], c->until, sizeof(c->until));
	add_findings(c, &f[2]);
	return true;
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

static void free_changes(struct run_changes *changes)
{
	for (size_t i = 0; i < changes->len; i++)
		free(changes->v[i].path);
	free(changes->v);
	ab_strv_fini_all(&changes->roots, &changes->gone, &changes->findings);
	*changes = (struct run_changes){ 0 };
}

/* `skip`: a folder that is not looked at (the state folder), or NULL. */
static int collect_changes(const struct ab_found_run *run, const char *skip,
			   struct run_changes *ret, struct ab_error *err)
{
	struct ab_walk walk = {
		.dirs = DIRS_MAX,
		.entries = ENTRIES_MAX,
		.depth = DEPTH_MAX,
		.everything = true,
	};
	struct look l = { .changes = ret, .skip = skip };
	int64_t until;

	*ret = (struct run_changes){ .live = run->live };
	memcpy(ret->since, run->began, sizeof(ret->since));
	if (read_start(run, &l, err) < 0 ||
	    (!ret->refused && ab_reader_each(run->dir, take_end, ret, err) < 0)) {
		free_changes(ret);
		return -1;
	}
	/* The record rounds down. */
	until = ab_time_ms(ret->until);
	if (until >= 0)
		l.until = (struct timespec){ (time_t)((until + 1) / 1000),
					     (long)((until + 1) % 1000) * 1000000 };
	for (size_t i = 0; i < ret->roots.len; i++)
		if (!is_covered(&ret->roots, i) &&
		    ab_walk(&walk, ret->roots.v[i], visit_folder, &l) < 0)
			ab_strv_add(&ret->gone, ret->roots.v[i]);
	ret->cut |= walk.cut || walk.foreign;
	if (ret->len)
		qsort(ret->v, ret->len, sizeof(ret->v[0]), compare_files);
	return 0;
}

/* --- what is shown --- */

static const char unknown[] = "earlier content is not kept, and deleted files are not known; "
			      "to see and undo changes, use: agentbox run --review";

struct show {
	const struct ab_diff_request *request;
	const struct ab_found_run *run;
	const struct run_changes *changes;
	const struct ab_strv *paths; /* absolute */
	struct ab_diff_out *out;
	struct ab_diff_report *report;
	size_t shown;
};

static bool is_wanted(const struct show *s, const char *path, const struct ab_label_hits *hits)
{
	bool inside = s->paths->len == 0;

	for (size_t i = 0; i < s->paths->len; i++)
		inside |= ab_path_within(path, s->paths->v[i]);
	return inside && ab_diff_wants_labels(s->request, hits);
}

/* The path below the first root that has it: names are relative to a project. */
static const char *get_name(const struct run_changes *c, const char *path)
{
	for (size_t i = 0; i < c->roots.len; i++)
		if (ab_path_within(path, c->roots.v[i]) && strcmp(path, c->roots.v[i]) != 0)
			return path + strlen(c->roots.v[i]) + (c->roots.v[i][1] != '\0');
	return path + 1;
}

static const char *get_kind(const struct ab_change *c)
{
	return c->kind == AB_CHANGE_ADDED ? "created" : "modified";
}

static void add_text(struct show *s, const struct ab_shown *shown)
{
	const struct ab_label_hits *hits = shown->hits;
	struct ab_buf *b = &s->out->b;
	bool colour = s->request->style.colour;
	char size[32];

	ab_buf_printf(b, "%-8s  %10s  ", get_kind(shown->change),
		      ab_show_size(shown->change->new_size, size));
	ab_show_name(b, "", shown->change->path);
	for (size_t i = 0; i < hits->len; i++) {
		ab_buf_puts(b, colour ? "\033[1;33m" : "");
		ab_buf_puts(b, i ? "; " : "  ! ");
		ab_show_hit(b, &hits->v[i]);
		ab_buf_puts(b, colour ? "\033[m" : "");
	}
	ab_buf_puts(b, "\n");
}

static void add_json(struct show *s, const struct ab_shown *shown)
{
	const struct ab_change *c = shown->change;
	struct ab_buf *b = &s->out->b;

	ab_buf_puts(b, s->shown ? ",\n{" : "\n{");
	ab_show_json_path(b, c->path);
	ab_buf_printf(b, ",\"kind\":\"%s\",\"is\":\"%s\",\"new_mode\":\"%04o\",\"new_size\":%llu,",
		      get_kind(c),
		      c->is == AB_TYPE_FILE   ? "file"
		      : c->is == AB_TYPE_LINK ? "link"
					      : "other",
		      c->new_mode, (unsigned long long)c->new_size);
	ab_show_json_labels(b, shown->hits);
	ab_buf_puts(b, "}");
}

static void add_page(struct show *s, const struct ab_shown *shown)
{
	ab_show_page_change(&s->out->b, shown);
}

static void add_page_label(struct show *s, const struct ab_shown *shown)
{
	ab_show_page_label(&s->out->b, shown);
}

static void count_file(struct show *s, const struct ab_shown *shown)
{
	s->report->totals.changes++;
	s->report->totals.labelled += shown->hits->bits != 0;
}

static void each_file(struct show *s, void (*fn)(struct show *s, const struct ab_shown *shown))
{
	s->shown = 0;
	for (size_t i = 0; i < s->changes->len && !s->out->closed; i++) {
		const struct ab_change *c = &s->changes->v[i];
		struct ab_label_hits hits;
		struct ab_shown shown = { .change = c, .hits = &hits };

		ab_labels_find_name(get_name(s->changes, c->path), &hits);
		if (!is_wanted(s, c->path, &hits))
			continue;
		fn(s, &shown);
		s->shown++;
		ab_diff_flush(s->out, false);
	}
}

static void show_text(struct show *s)
{
	const struct run_changes *c = s->changes;
	struct ab_buf *b = &s->out->b;
	char since[AB_LOCAL_ROOM], until[AB_LOCAL_ROOM];

	ab_buf_printf(b, "# run %s has no layer above its workspace: %s\n", s->run->id, unknown);
	if (c->refused) {
		ab_buf_puts(b, "# the command was refused, so nothing was changed\n");
		return;
	}
	ab_buf_printf(
		b,
		"# files that changed from %s to %s; other programs may have changed them, too\n",
		ab_time_local(c->since, since),
		c->until[0] ? ab_time_local(c->until, until) : "now");
	each_file(s, add_text);
	if (!s->shown)
		ab_buf_puts(b, "# no file has changed in this time\n");
	if (c->folders)
		ab_buf_printf(b, "# names were added, removed or renamed in %zu folder%s\n",
			      c->folders, c->folders == 1 ? "" : "s");
	if (c->later)
		ab_buf_printf(b,
			      "# %zu file%s changed after the run ended; whether the run changed "
			      "%s before is not known\n",
			      c->later, c->later == 1 ? "" : "s", c->later == 1 ? "it" : "them");
	for (size_t i = 0; i < c->gone.len; i++) {
		ab_buf_puts(b, "# cannot read ");
		ab_show_name(b, "", c->gone.v[i]);
		ab_buf_puts(b, "\n");
	}
	for (size_t i = 0; i < c->findings.len; i++)
		ab_words_safe(b, "# %s\n", c->findings.v[i]);
	if (c->cut)
		ab_buf_puts(
			b,
			"# the folders are too large, or contain other file systems: this is not all\n");
}

static void show_json(struct show *s)
{
	const struct run_changes *c = s->changes;
	struct ab_buf *b = &s->out->b;

	ab_buf_jsonf(b,
		     "{'version':1,'source':'times','run':%s,'folders':%p,'since':%s,'until':%s,"
		     "'refused':%hhd,'busy':%hhd,'complete':%hhd,'unknown':%s,'later':%zu,"
		     "'changed_folders':%zu,'findings':%p,'changes':[",
		     s->run->id, ab_list(&c->roots), c->since, ab_text_or_null(c->until),
		     c->refused, c->live, (bool)(!c->cut && !c->gone.len), unknown, c->later,
		     c->folders, ab_list(&c->findings));
	each_file(s, add_json);
	ab_buf_puts(b, "],\"totals\":");
	ab_show_json_totals(b, &s->report->totals);
	ab_buf_puts(b, "}\n");
}

static void show_page(struct show *s)
{
	const struct ab_show_fact facts[] = {
		{ "From", s->changes->since },
		{ "To", s->changes->until[0] ? s->changes->until : "now" },
		{ "Not known", unknown },
	};

	ab_show_page_open(&s->out->b, s->run->id, facts, AB_COUNT(facts), &s->report->totals);
	if (s->report->totals.labelled)
		each_file(s, add_page_label);
	ab_show_page_middle(&s->out->b);
	each_file(s, add_page);
	ab_show_page_close(&s->out->b);
}

static void (*const forms[])(struct show *s) = {
	[AB_DIFF_PATCH] = show_text,
	[AB_DIFF_STAT] = show_text,
	[AB_DIFF_JSON] = show_json,
	[AB_DIFF_HTML] = show_page,
};

/* Absolute, or relative to the current folder. */
static int resolve_paths(const struct ab_policy_input *input, const struct ab_diff_request *request,
			 struct ab_strv *ret, struct ab_error *err)
{
	for (size_t i = 0; i < request->npaths; i++) {
		char *path = ab_path_resolve(request->paths[i], input->cwd, input->home);

		if (!path)
			return ab_fail(err, AB_EUSAGE, 0, "invalid path \"%s\"", request->paths[i]);
		ab_strv_give(ret, path);
	}
	return 0;
}

int ab_diff_run(const struct ab_policy_input *input, const struct ab_diff_request *request,
		const struct ab_found_run *run, const char *state, struct ab_diff_out *out,
		struct ab_diff_report *report, struct ab_error *err)
{
	ab_auto(free_changes) struct run_changes changes = { 0 };
	ab_autostrv struct ab_strv paths = { 0 };
	struct show s = {
		.request = request,
		.run = run,
		.changes = &changes,
		.paths = &paths,
		.out = out,
		.report = report,
	};

	if (collect_changes(run, state, &changes, err) < 0)
		return -1;
	ab_strv_extend(&report->roots, &changes.roots);
	if (resolve_paths(input, request, &paths, err) < 0)
		return -1;
	each_file(&s, count_file);
	report->unmatched = request->npaths && !report->totals.changes;
	forms[request->form](&s);
	ab_diff_flush(out, true);
	return 0;
}
