#include "steer/changes/diff.h"

#include "audit/read/find.h"
#include "base/system/new_file.h"
#include "base/text/text_diff.h"
#include "layer/diff/contents.h"
#include "layer/diff/labels.h"
#include "layer/journal/view.h"
#include "layer/store/store.h"
#include "layer/walk/changes.h"
#include "policy/layers/layers.h"
#include "state/claim.h"
#include "state/state.h"
#include "steer/changes/diff_state.h"
#include "steer/client/steer.h"

enum {
	PIECE = 64 * 1024, /* of output */
	GITDIRS_MAX = 3,
	PAGE_MAX = 64 * 1024 * 1024, /* of an HTML page; then changes are only counted */
};

/* What is compared, and how it is shown. */
struct job {
	const struct ab_policy_input *input;
	const struct ab_diff_request *request;
	struct ab_diff_out *out;
	struct ab_diff_report *report;
	struct ab_layer_set set;
	struct ab_layer_view view;
	struct ab_changes changes;
	struct ab_strv paths;
	const char *root;
	const char *doubtful; /* a word that may not be a path */
	struct ab_label_scene scene;
	size_t shown;		/* changes so far, in JSON */
	size_t data;		/* of git's own, which are only counted */
	struct ab_strv gitdirs; /* where these are; the first ones */
	size_t before;		/* bytes of a page before its changes */
	struct ab_stat_table table;
};

void ab_diff_flush(struct ab_diff_out *out, bool all)
{
	if (!out->closed && out->b.len && (all || out->b.len >= PIECE))
		out->closed = out->put(out->arg, out->b.data, out->b.len) < 0;
	if (all || out->b.len >= PIECE)
		out->b.len = 0;
}

/* `diff --home` prints paths relative to the home folder, and the current folder is usually a
 * project in it: such a path may be meant. */
static bool may_be_shown(const char *path)
{
	size_t n = strcspn(path, "/");

	return n > 0 && path[0] != '~' && !(n == 1 && path[0] == '.') &&
	       !(n == 2 && path[0] == '.' && path[1] == '.');
}

/* The paths of a request, relative to the root of the layer; an empty list: everything. */
static int find_paths(const struct ab_policy_input *input, const struct ab_diff_request *request,
		      const char *root, struct ab_strv *ret, struct ab_error *err)
{
	/* Like other tools: relative to the current folder if that is in the root, else to the root. */
	const char *base = ab_path_within(input->cwd, root) ? input->cwd : root;
	size_t n = strlen(root);

	for (size_t i = 0; i < request->npaths; i++) {
		ab_autofree char *path = ab_path_resolve(request->paths[i], base, input->home);
		ab_autofree char *shown = request->home && may_be_shown(request->paths[i])
						  ? ab_path_resolve(request->paths[i], root, NULL)
						  : NULL;

		if (!path || !ab_path_within(path, root))
			return ab_fail(err, AB_EUSAGE, 0, "%s is not in %s", request->paths[i],
				       root);
		/* "/" ends with its slash, others do not. */
		ab_strv_add(ret, strcmp(path, root) == 0 ? "" : path + n + (n > 1));
		if (shown && ab_path_within(shown, root) && strcmp(shown, root) != 0)
			ab_strv_add_once(ret, shown + n + (n > 1));
	}
	return 0;
}

static bool is_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	return n == 0 || (strncmp(path, top, n) == 0 && (path[n] == '/' || !path[n]));
}

/* Is the change at one of them, below it, or a folder that contains it and is deleted? */
static bool is_wanted(const struct ab_strv *paths, const struct ab_change *change)
{
	for (size_t i = 0; i < paths->len; i++)
		if (is_below(change->path, paths->v[i]) ||
		    (change->was == AB_TYPE_DIR && change->is != AB_TYPE_DIR &&
		     is_below(paths->v[i], change->path)))
			return true;
	return paths->len == 0;
}

/* Each form: what comes first, one change, what comes last. */
static void count_change(struct job *j, const struct ab_shown *s)
{
	ab_show_count(&j->report->totals, s);
}

static void add_patch(struct job *j, const struct ab_shown *s)
{
	ab_show_patch(&j->out->b, &j->request->style, s);
}

static void add_stat(struct job *j, const struct ab_shown *s)
{
	ab_stat_add(&j->table, s);
}

/* As `diff` takes it: relative to the current folder if that is in the workspace. */
static char *name_gitdir(const struct job *j, const char *path)
{
	bool below = !j->request->home && strcmp(j->input->cwd, j->root) != 0 &&
		     ab_path_within(j->input->cwd, j->root);

	return below ? ab_path_join(j->root, path) : ab_strdup(path);
}

static void note_gitdir(struct job *j, const char *path)
{
	size_t n = ab_label_gitdir_len(path);
	ab_autofree char *dir = ab_strndup(path, n);

	if (n && j->gitdirs.len < GITDIRS_MAX)
		ab_strv_add_once(&j->gitdirs, dir);
}

/* "and 12 changes of git's own data" */
static void describe_data(struct job *j, struct ab_buf *b)
{
	ab_buf_printf(
		b,
		"%zu change%s of git's own data (objects, refs, index); to see %s: agentbox diff",
		j->data, j->data == 1 ? "" : "s", j->data == 1 ? "it" : "them");
	ab_buf_printf(b, "%s %s", j->request->home ? " --home" : "", j->set.key);
	for (size_t i = 0; i < j->gitdirs.len; i++) {
		ab_autofree char *path = name_gitdir(j, j->gitdirs.v[i]);

		ab_buf_puts(b, " ");
		ab_show_name(b, "", path);
	}
}

static void close_patch(struct job *j)
{
	if (!j->data)
		return;
	ab_buf_puts(&j->out->b, "# ");
	describe_data(j, &j->out->b);
	ab_buf_puts(&j->out->b, "\n");
}

static void close_stat(struct job *j)
{
	ab_stat_show(&j->out->b, &j->request->style, &j->table);
	if (j->data) {
		ab_buf_puts(&j->out->b, " ");
		describe_data(j, &j->out->b);
		ab_buf_puts(&j->out->b, "\n");
	}
	if (j->report->totals.changes) {
		ab_buf_puts(&j->out->b, " ");
		ab_show_summary(&j->out->b, &j->report->totals);
		ab_buf_puts(&j->out->b, "\n");
	}
}

static void open_json(struct job *j)
{
	ab_buf_jsonf(&j->out->b,
		     "{'version':1,'source':'layer','layer':%s,'root':%s,'folder':%s,'busy':%hhd,"
		     "'complete':%hhd,'changes':[",
		     j->set.key, j->request->home ? "home" : "workspace", j->root,
		     (bool)(j->set.lock < 0), (bool)!j->changes.cut);
}

static void add_json(struct job *j, const struct ab_shown *s)
{
	ab_buf_puts(&j->out->b, j->shown++ ? ",\n" : "\n");
	ab_show_json(&j->out->b, s, j->request->hunks);
}

static void close_json(struct job *j)
{
	ab_buf_puts(&j->out->b, "],\"totals\":");
	ab_show_json_totals(&j->out->b, &j->report->totals);
	ab_buf_puts(&j->out->b, "}\n");
}

static void each_change(struct job *j, void (*fn)(struct job *j, const struct ab_shown *s));

static void add_page_label(struct job *j, const struct ab_shown *s)
{
	ab_show_page_label(&j->out->b, s);
}

/* The head of a page has the numbers, so the changes are read twice. */
static void open_page(struct job *j)
{
	const struct ab_show_fact facts[] = {
		{ "Folder", j->root },
		{ "Layer", j->request->home ? "above the home folder" : "above the workspace" },
		{ "Complete",
		  j->changes.cut ? "no: there are more changes than can be shown" : "yes" },
	};

	each_change(j, count_change);
	ab_show_page_open(&j->out->b, j->set.key, facts, AB_COUNT(facts), &j->report->totals);
	if (j->report->totals.labelled)
		each_change(j, add_page_label);
	ab_show_page_middle(&j->out->b);
	j->report->totals = (struct ab_show_totals){ 0 };
}

static void add_page(struct job *j, const struct ab_shown *s)
{
	size_t before = j->out->b.len;

	if (j->before >= PAGE_MAX)
		return;
	ab_show_page_change(&j->out->b, s);
	j->before += j->out->b.len - before;
}

static void close_page(struct job *j)
{
	ab_autobuf struct ab_buf data = { 0 };

	if (j->data) {
		describe_data(j, &data);
		ab_show_page_note(&j->out->b, data.data);
	}
	if (j->before >= PAGE_MAX)
		ab_show_page_note(&j->out->b, "The page is full: further changes are not shown.");
	ab_show_page_close(&j->out->b);
}

static const struct form {
	void (*open)(struct job *j);
	void (*add)(struct job *j, const struct ab_shown *s);
	void (*close)(struct job *j);
} forms[] = {
	[AB_DIFF_PATCH] = { NULL, add_patch, close_patch },
	[AB_DIFF_STAT] = { NULL, add_stat, close_stat },
	[AB_DIFF_JSON] = { open_json, add_json, close_json },
	[AB_DIFF_HTML] = { open_page, add_page, close_page },
};

static void add_and_count(struct job *j, const struct ab_shown *s)
{
	count_change(j, s);
	forms[j->request->form].add(j, s);
}

bool ab_diff_wants_labels(const struct ab_diff_request *request, const struct ab_label_hits *hits)
{
	bool labelled = hits->bits != 0;

	return request->part == AB_DIFF_ALL || labelled == (request->part == AB_DIFF_LABELLED);
}

/* Files and links are compared, unless one became the other. */
static bool has_lines(const struct ab_change *c, const struct ab_contents *contents)
{
	bool file = c->was == AB_TYPE_FILE || c->is == AB_TYPE_FILE || c->is == AB_TYPE_LINK ||
		    c->was == AB_TYPE_LINK;

	return file && c->kind != AB_CHANGE_MODE && c->kind != AB_CHANGE_REPLACED &&
	       ab_contents_are_text(contents);
}

/* A commit changes a dozen files that nobody can read. */
static bool is_only_counted(const struct job *j, const struct ab_change *c,
			    const struct ab_label_hits *hits)
{
	/* In the home folder nearly everything has that label. */
	uint32_t bits = hits->bits & ~AB_LABEL_BIT(AB_LABEL_HOME);

	return j->request->form != AB_DIFF_JSON && !j->request->npaths && !bits && !c->conflict &&
	       !c->refused && ab_label_is_git_data(c->path);
}

/* Once in each form: the head of a page counts the changes before. */
static void count_data(struct job *j, const struct ab_shown *s,
		       void (*fn)(struct job *j, const struct ab_shown *s))
{
	if (fn == add_and_count) {
		j->data++;
		note_gitdir(j, s->change->path);
	}
	if (fn == add_and_count || fn == count_change)
		count_change(j, s);
}

static void show_change(struct job *j, struct ab_change *c,
			void (*fn)(struct job *j, const struct ab_shown *s))
{
	ab_autocontents struct ab_contents contents = { 0 };
	ab_autohunks struct ab_hunks hunks = { 0 };
	struct ab_label_hits hits;
	struct ab_shown shown = { .change = c, .contents = &contents, .hits = &hits };

	ab_contents_read(&j->view, c, &contents);
	ab_contents_label(&j->view, &j->scene, c, &contents, &hits);
	if (!ab_diff_wants_labels(j->request, &hits))
		return;
	if (has_lines(c, &contents)) {
		ab_hunks_find(contents.old.data ? contents.old.data : "", contents.old.len,
			      contents.fresh.data ? contents.fresh.data : "", contents.fresh.len,
			      &hunks);
		shown.hunks = &hunks;
	}
	if (is_only_counted(j, c, &hits))
		count_data(j, &shown, fn);
	else
		fn(j, &shown);
	ab_diff_flush(j->out, false);
}

static void each_change(struct job *j, void (*fn)(struct job *j, const struct ab_shown *s))
{
	for (size_t i = 0; i < j->changes.len && !j->out->closed; i++)
		if (is_wanted(&j->paths, &j->changes.v[i]))
			show_change(j, &j->changes.v[i], fn);
}

static void show_changes(struct job *j)
{
	const struct form *form = &forms[j->request->form];

	if (form->open)
		form->open(j);
	each_change(j, add_and_count);
	if (form->close)
		form->close(j);
	ab_diff_flush(j->out, true);
}

static void note_busy(struct job *j)
{
	const struct ab_strv *runs = &j->set.meta.runs;

	if (runs->len)
		ab_strv_addf(&j->report->notes, "%s is in use by run %s; more changes may follow",
			     j->set.key, runs->v[runs->len - 1]);
	else
		ab_strv_addf(&j->report->notes, "%s is in use; more changes may follow",
			     j->set.key);
}

static void note_state(struct job *j)
{
	struct ab_strv *notes = &j->report->notes;

	if (j->set.lock < 0)
		note_busy(j);
	if (j->changes.cut)
		ab_strv_add(notes, "there are more changes than are looked at; nothing of this "
				   "layer can be applied");
	if (j->report->unmatched ||
	    (!j->report->totals.changes && j->request->form != AB_DIFF_JSON))
		ab_strv_add(notes, j->request->npaths || j->request->part != AB_DIFF_ALL
					   ? "no changes match"
					   : "no changes");
}

/* A box that uses the set has it locked; then show what there is. */
static int find_set(struct job *j, const struct ab_state *state, const char *which,
		    struct ab_error *err)
{
	const struct ab_layer_store *store = AB_LAYER_STORE(state);
	struct ab_claim claim;

	ab_claim_init(&claim, state, NULL);
	if (ab_layers_find(store, which, j->input->cwd, AB_LAYERS_LOCK | AB_LAYERS_TRY, &j->set,
			   err) == 0)
		return ab_layer_recover(&j->set, &claim.guard, &j->report->notes, err);
	if (err->errnum != EWOULDBLOCK)
		return -1;
	*err = (struct ab_error){ 0 };
	return ab_layers_find(store, which, j->input->cwd, 0, &j->set, err);
}

/* Without a name the set is chosen here: say which one; JSON has it. */
static int open_set(struct job *j, const struct ab_state *state, const char *which,
		    struct ab_error *err)
{
	if (find_set(j, state, which, err) < 0)
		return -1;
	if (!which && j->request->form != AB_DIFF_JSON)
		ab_strv_addf(&j->report->notes, "these are the changes of %s", j->set.key);
	return 0;
}

static bool has_match(const struct job *j)
{
	for (size_t i = 0; i < j->changes.len; i++)
		if (is_wanted(&j->paths, &j->changes.v[i]))
			return true;
	return false;
}

static int show_set(struct job *j, struct ab_error *err)
{
	const struct ab_layer_meta *meta = &j->set.meta;

	j->root = j->request->home ? meta->home : meta->workspace;
	ab_strv_add(&j->report->roots, meta->workspace);
	if (find_paths(j->input, j->request, j->root, &j->paths, err) < 0 ||
	    ab_changes_collect(&j->view, NULL, &j->changes, err) < 0)
		return -1;
	if (j->doubtful && !has_match(j))
		return ab_fail(err, AB_ESYSTEM, 0,
			       "no run, layer or changed path named %s (list: agentbox layers)",
			       j->doubtful);
	j->report->unmatched = j->request->npaths && !has_match(j);
	ab_label_scene_init(&j->scene, &j->view, &j->changes);
	show_changes(j);
	note_state(j);
	return 0;
}

static bool has_home(const struct ab_layer_set *set)
{
	ab_autoclose int fd =
		set->dir >= 0 ? ab_layer_set_open(set, "home/upper", O_PATH | O_DIRECTORY) : -1;

	return fd >= 0;
}

/* 1: there is no such layer, and *err says so. 2: there is one, but not above this folder. */
static int try_layer(struct job *j, const struct ab_state *state, struct ab_error *err)
{
	/* A path is not the name of a layer. */
	if (open_set(j, state, j->request->which, err) < 0)
		return err->errnum == ENOENT || (j->request->which && !j->request->settled &&
						 !ab_layer_key_valid(j->request->which))
			       ? 1
			       : -1;
	if (ab_layer_open_view(&j->set, j->request->home, &j->view, err) == 0)
		return show_set(j, err);
	if (err->errnum != ENOENT)
		return -1;
	ab_fail(err, AB_ESYSTEM, 0, "%s has no layer above %s", j->set.key,
		j->request->home ? "the home folder" : "the workspace");
	if (!j->request->home && has_home(&j->set))
		ab_hint(err, "its home layer: agentbox diff --home %s", j->set.key);
	return 2;
}

/* A run that has a record, but no layer above its workspace. */
static int try_run(struct job *j, const struct ab_state *state, struct ab_error *err)
{
	ab_auto(ab_found_run_fini) struct ab_found_run run = { .dir = -1 };
	struct ab_error unknown = { 0 };
	int result;

	if (!j->request->which || j->request->home ||
	    ab_find_run(state->live, state->runs, j->request->which, &run, &unknown) < 0)
		return 1;
	result = ab_diff_run(j->input, j->request, &run, state->path, j->out, j->report, err);
	if (result == 0 && has_home(&j->set))
		ab_strv_addf(&j->report->notes, "its home layer: agentbox diff --home %s",
			     j->set.key);
	return result;
}

static void close_job(struct job *j)
{
	ab_stat_fini(&j->table);
	ab_strv_fini_all(&j->gitdirs, &j->paths);
	ab_label_scene_fini(&j->scene);
	ab_changes_fini(&j->changes);
	ab_layer_view_fini(&j->view);
	ab_layer_set_fini(&j->set);
}

static int show_request(const struct ab_policy_input *input, const struct ab_diff_request *request,
			const char *doubtful, const struct ab_state *state, struct ab_diff_out *out,
			struct ab_diff_report *report, struct ab_error *err)
{
	ab_auto(close_job) struct job j = {
		.input = input,
		.request = request,
		.out = out,
		.report = report,
		.doubtful = doubtful,
		.set = AB_LAYER_SET_NONE,
		.view = AB_LAYER_VIEW_NONE,
	};
	int result = try_layer(&j, state, err);
	int shown = result > 0 ? try_run(&j, state, err) : result;

	/* No such run: what is known about the layer stays. */
	if (shown <= 0)
		result = shown;
	return result;
}

/* The first word may be a path: then the layer is the one that waits for this folder. */
static int show_words(const struct ab_policy_input *input, const struct ab_diff_request *request,
		      const struct ab_state *state, struct ab_diff_out *out,
		      struct ab_diff_report *report, struct ab_error *err)
{
	struct ab_diff_request again = *request;
	struct ab_error first;
	ab_autofree const char **paths = NULL;
	int result = show_request(input, request, NULL, state, out, report, err);
	bool exists = result == 2;

	if (result <= 0 || request->settled || !request->which)
		return result > 0 ? -1 : result;
	first = *err;
	paths = ab_alloc((request->npaths + 1) * sizeof(paths[0]));
	paths[0] = request->which;
	for (size_t i = 0; i < request->npaths; i++)
		paths[i + 1] = request->paths[i];
	again.which = NULL;
	again.paths = paths;
	again.npaths = request->npaths + 1;
	*err = (struct ab_error){ 0 };
	result = show_request(input, &again, request->which, state, out, report, err);
	if (result > 0 || (result < 0 && exists))
		*err = first;
	return result ? -1 : 0;
}

void ab_diff_report_fini(struct ab_diff_report *report)
{
	ab_strv_fini_all(&report->notes, &report->roots);
}

int ab_diff(const struct ab_policy_input *input, const struct ab_diff_request *request,
	    ab_diff_put_fn *put, void *arg, struct ab_diff_report *ret, struct ab_error *err)
{
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	struct ab_diff_out out = { .put = put, .arg = arg };
	int result = -1;

	*ret = (struct ab_diff_report){ 0 };
	if (ab_steer_state(input, &state, err) == 0)
		result = show_words(input, request, &state, &out, ret, err);
	ab_buf_fini(&out.b);
	return result;
}

struct file {
	int fd;
	int errnum; /* why it could not be written, or 0 */
};

static int put_file(void *arg, const char *data, size_t len)
{
	struct file *file = arg;

	if (ab_write_all(file->fd, data, len) == 0)
		return 0;
	file->errnum = errno;
	return -1;
}

int ab_diff_save(const struct ab_policy_input *input, const struct ab_diff_request *request,
		 const char *file, struct ab_diff_report *ret, struct ab_error *err)
{
	ab_autonewfile struct ab_new_file fresh = AB_NEW_FILE_NONE;
	struct file out = { 0 };

	*ret = (struct ab_diff_report){ 0 };
	if (ab_new_file_open(AT_FDCWD, file, NULL, 0600, &fresh) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot write %s", file);
	out.fd = fresh.fd;
	if (ab_diff(input, request, put_file, &out, ret, err) < 0)
		return -1;
	if (!out.errnum && ab_new_file_place(&fresh, 0) < 0)
		out.errnum = errno;
	return out.errnum ? ab_fail(err, AB_ESYSTEM, out.errnum, "cannot write %s", file) : 0;
}
