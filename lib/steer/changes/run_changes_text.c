#include "audit/read/find.h"
#include "audit/read/query.h"
#include "layer/diff/labels.h"
#include "layer/walk/changes.h"
#include "policy/layers/layers.h"
#include "steer/changes/diff_state.h"
#include "steer/changes/run_changes.h"

static const char unknown[] = "earlier content is not kept, and deleted files are not known; "
			      "to see and undo changes, use: agentbox run --review";

struct show {
	const struct ab_diff_request *request;
	const struct ab_found_run *run;
	const struct ab_run_changes *changes;
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
static const char *get_name(const struct ab_run_changes *c, const char *path)
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
	const struct ab_run_changes *c = s->changes;
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
	for (size_t i = 0; i < c->findings.len; i++) {
		ab_buf_puts(b, "# ");
		ab_buf_escape(b, c->findings.v[i]);
		ab_buf_puts(b, "\n");
	}
	if (c->cut)
		ab_buf_puts(
			b,
			"# the folders are too large, or contain other file systems: this is not all\n");
}

static void show_json(struct show *s)
{
	const struct ab_run_changes *c = s->changes;
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
	ab_auto(ab_run_changes_fini) struct ab_run_changes changes = { 0 };
	ab_autostrv struct ab_strv paths = { 0 };
	struct show s = {
		.request = request,
		.run = run,
		.changes = &changes,
		.paths = &paths,
		.out = out,
		.report = report,
	};

	if (ab_run_changes_collect(run, state, &changes, err) < 0)
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
