#include "session/review/review_layer.h"

#include "base/system/signals.h"
#include "base/text/units.h"
#include "workspace/tree/copy_tree.h"
#include "layer/store/store.h"
#include "layer/walk/index.h"
#include "layer/walk/records.h"
#include "sandbox/mount/overlays.h"
#include "sandbox/plan/plan.h"
#include "workspace/tree/dir.h"

#define PROJECT "project"
#define COPY PROJECT "/copy"

/* A larger workspace is not copied: it would take minutes and fill the disk. */
enum { COPY_ENTRIES = 500 * 1000 };
static const uint64_t copy_bytes = 16ULL << 30;

enum { PROGRESS_MS = 2000 };

/* The box could reach its own layer, and a copy would contain itself. */
static int check_places(const struct ab_review_setup *setup, const struct ab_layer_set *set,
			struct ab_error *err)
{
	ab_autofree char *shown = ab_escape(setup->workspace), *kept = NULL;

	if (ab_path_within(setup->state, setup->workspace)) {
		kept = ab_escape(setup->state);
		ab_fail(err, AB_EUSAGE, 0, "cannot review %s: the state folder %s is inside it",
			shown, kept);
		ab_hint(err, "set AGENTBOX_STATE to a folder outside, or choose a smaller "
			     "--workspace");
		return ab_step(err, "review");
	}
	if (set->meta.workspace && set->meta.workspace[0] && ab_layer_set_waiting(set) &&
	    strcmp(set->meta.workspace, setup->workspace) != 0) {
		kept = ab_escape(set->meta.workspace);
		ab_fail(err, AB_EUSAGE, 0, "%s has changes of another workspace, %s, that wait",
			set->key, kept);
		ab_hint(err, "apply or discard them first: agentbox diff %s; or use another --name",
			set->key);
		return ab_step(err, "review");
	}
	return 0;
}

/* git's own folder is not part of the workspace. */
static void note_worktree(const struct ab_review_setup *setup, struct ab_strv *notes)
{
	ab_autofree char *git = ab_path_join(setup->workspace, ".git");
	struct stat st;

	if (lstat(git, &st) == 0 && S_ISREG(st.st_mode))
		ab_strv_add(notes,
			    "this workspace is a linked worktree or a submodule: its git folder is "
			    "outside, so commits of this run are not part of the review");
}

struct copying {
	const struct ab_review_setup *setup;
	struct ab_copy_tree copy;
	int64_t told;
};

static bool watch_copy(void *arg)
{
	struct copying *c = arg;
	int64_t now = ab_now_ms();

	if (c->setup->progress && now - c->told >= PROGRESS_MS) {
		c->told = now;
		c->setup->progress(c->setup->arg, c->copy.entries, c->copy.bytes);
	}
	/* Signals are blocked while a box is being made. */
	return ab_must_end(true);
}

static int explain_copy(const struct copying *c, int errnum, struct ab_error *err)
{
	ab_autofree char *shown = ab_escape(c->setup->workspace);
	ab_autofree char *where = ab_escape(c->copy.path.len ? c->copy.path.data : ".");
	char size[48];

	switch (errnum) {
	case EFBIG:
		ab_fail(err, AB_EUSAGE, 0,
			"cannot review %s: it needs a copy here, and has more than %d files, %s, or "
			"%d levels of folders",
			shown, COPY_ENTRIES, ab_format_size(copy_bytes, size), AB_COPY_DEPTH_MAX);
		ab_hint(err, "choose a smaller --workspace, or unmount what is mounted below it");
		break;
	case ECANCELED:
		ab_fail(err, AB_ESYSTEM, EINTR, "copy the workspace %s", shown);
		break;
	default:
		ab_fail(err, AB_ESYSTEM, errnum, "copy %s of the workspace %s", where, shown);
		ab_hint(err, "the review needs a copy of the workspace, because an overlay cannot "
			     "be made above it");
	}
	return ab_step(err, "review");
}

static void note_skipped(const struct ab_copy_tree *c, struct ab_strv *notes)
{
	ab_autofree char *first = NULL;

	if (!c->skipped)
		return;
	first = ab_escape(c->skipped_first.data);
	ab_strv_addf(notes,
		     "%llu socket%s, device%s or FIFO%s of the workspace %s not copied: %s%s",
		     (unsigned long long)c->skipped, c->skipped == 1 ? "" : "s",
		     c->skipped == 1 ? "" : "s", c->skipped == 1 ? "" : "s",
		     c->skipped == 1 ? "was" : "were", first, c->skipped == 1 ? "" : ", ...");
}

static void withhold_path(struct ab_strv *list, const char *workspace, const char *path)
{
	size_t n = strlen(workspace);

	if (ab_path_within(path, workspace) && path[n])
		ab_strv_add(list, path + n + 1);
}

/* Nothing in a layer is pinned, so the box could move the folder of a masked file, and the next run
 * on this copy would find the file where nothing masks it. */
static void list_withheld(const struct ab_review_setup *setup, const struct ab_facts *facts,
			  struct ab_strv *ret)
{
	for (size_t i = 0; i < facts->masked.len; i++)
		withhold_path(ret, setup->workspace, facts->masked.v[i].path);
	for (size_t i = 0; i < setup->hidden->len; i++)
		withhold_path(ret, setup->workspace, setup->hidden->v[i]);
	ab_strv_sort(ret);
}

/* Its old content, if any, is what a killed run left. */
static int make_copy(const struct ab_review_setup *setup, struct ab_layer_set *set, int real,
		     const struct ab_facts *facts, struct ab_strv *notes, struct ab_error *err)
{
	struct copying c = { .setup = setup, .told = ab_now_ms() };
	ab_autostrv struct ab_strv withheld = { 0 };
	ab_autoclose int from = -1, to = -1;
	int errnum;

	if (ab_layer_set_drop(set, PROJECT, err) < 0)
		return -1;
	if (mkdirat(set->dir, PROJECT, 0700) < 0 || mkdirat(set->dir, COPY, 0700) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create the copy for the review");
	list_withheld(setup, facts, &withheld);
	if (ab_record_list_save(set->dir, AB_RECORD_WITHHELD, &withheld) < 0)
		return ab_fail(err, AB_ESYSTEM, errno,
			       "record what the copy for the review leaves out");
	from = ab_open_beneath(real, ".", O_RDONLY | O_DIRECTORY);
	to = ab_layer_set_open(set, COPY, O_RDONLY | O_DIRECTORY);
	if (from < 0 || to < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open the copy for the review");
	c.copy = (struct ab_copy_tree){ .max_entries = COPY_ENTRIES,
					.max_bytes = copy_bytes,
					.skip_special = true,
					.withheld = &withheld,
					.stop = watch_copy,
					.arg = &c };
	errnum = ab_copy_folder(&c.copy, from, to);
	if (errnum)
		explain_copy(&c, errnum, err);
	else
		note_skipped(&c.copy, notes);
	ab_copy_tree_fini(&c.copy);
	if (!errnum)
		return 0;
	(void)ab_layer_set_drop(set, PROJECT, &(struct ab_error){ 0 });
	return -1;
}

/* Try it with folders of their own: a volatile overlay marks them as used. */
static int probe_overlay(const struct ab_review_setup *setup, struct ab_layer_set *set, int real,
			 int *ret_errnum, struct ab_error *err)
{
	ab_autofree char *upper = NULL, *work = NULL;

	if (ab_layer_set_make(set, "probe", real, &upper, &work, err) < 0)
		return -1;
	*ret_errnum = ab_overlay_probe(setup->workspace, upper, work);
	return ab_layer_set_drop(set, "probe", err);
}

/* The form of a new layer. */
static int choose_form(const struct ab_review_setup *setup, struct ab_layer_set *set, int real,
		       const struct ab_facts *facts, char **upper, char **work,
		       struct ab_strv *notes, struct ab_error *err)
{
	int errnum;

	if (ab_layer_set_make(set, PROJECT, real, upper, work, err) < 0 ||
	    probe_overlay(setup, set, real, &errnum, err) < 0)
		return -1;
	set->meta.form = AB_LAYER_FORM_OVERLAY;
	/* The clock of file times. */
	set->meta.project_ns = ab_clock_ns(CLOCK_REALTIME_COARSE);
	if (!errnum)
		return 0;
	ab_strv_addf(notes,
		     "an overlay cannot be made above this workspace (%s), so the command works on "
		     "a copy of it",
		     strerror(errnum));
	ab_free_all(ab_take(*upper), ab_take(*work));
	set->meta.form = AB_LAYER_FORM_COPY;
	return make_copy(setup, set, real, facts, notes, err);
}

static bool has_part(const struct ab_layer_set *set, const char *part)
{
	ab_autoclose int fd = ab_layer_set_open(set, part, O_PATH | O_DIRECTORY);

	return fd >= 0;
}

static void remember_index(const struct ab_layer_set *set, bool copy, int real)
{
	ab_autoclose int project = ab_layer_set_open(set, PROJECT, O_RDONLY | O_DIRECTORY);

	if (project >= 0)
		ab_index_remember(project, copy ? "copy" : "upper", real);
}

/* A copy that an older version made may contain files that the box must not read. */
static int check_withheld(const struct ab_layer_set *set, struct ab_error *err)
{
	ab_autostrv struct ab_strv withheld = { 0 };

	if (ab_record_list_load(set->dir, AB_RECORD_WITHHELD, &withheld) == 0)
		return 0;
	ab_fail(err, AB_EUSAGE, 0,
		"cannot continue with the copy of %s: it may contain denied files", set->key);
	ab_hint(err, "apply or discard its changes first: agentbox diff %s; or use another --name",
		set->key);
	return ab_step(err, "review");
}

/* Denied names that the host may create during the run. */
static void hide_missing(struct ab_layer_mount *layer, const struct ab_strv *missing)
{
	size_t n = strlen(layer->path);

	for (size_t i = 0; i < missing->len; i++)
		if (ab_path_within(missing->v[i], layer->path) && missing->v[i][n])
			ab_strv_add(&layer->hidden, missing->v[i] + n + 1);
}

int ab_review_layer(const struct ab_review_setup *setup, struct ab_layer_set *set,
		    struct ab_facts *facts, struct ab_strv *notes, struct ab_error *err)
{
	ab_autofree char *upper = NULL, *work = NULL;
	ab_autoclose int real = -1;
	struct ab_layer_mount *layer;
	struct stat st;
	bool copy = set->meta.form == AB_LAYER_FORM_COPY;

	if (check_places(setup, set, err) < 0)
		return -1;
	real = ab_open_beneath(AT_FDCWD, setup->workspace, O_PATH | O_DIRECTORY);
	if (real < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open the workspace %s", setup->workspace);
	note_worktree(setup, notes);
	if (set->meta.form == AB_LAYER_FORM_NONE ||
	    !has_part(set, copy ? COPY : PROJECT "/upper")) {
		if (choose_form(setup, set, real, facts, &upper, &work, notes, err) < 0)
			return -1;
	} else if (!copy && ab_layer_set_make(set, PROJECT, real, &upper, &work, err) < 0) {
		return -1;
	}
	copy = set->meta.form == AB_LAYER_FORM_COPY;
	if (copy && check_withheld(set, err) < 0)
		return -1;
	if (copy)
		upper = ab_path_join(set->path, COPY);
	remember_index(set, copy, real);
	set->meta.waiting = -1;
	/* One layer for everything in the workspace, also for a home folder in it. */
	ab_layer_mounts_drop(&facts->layers, setup->workspace);
	layer = ab_layer_mounts_add(&facts->layers, setup->workspace);
	if (!copy)
		hide_missing(layer, setup->missing);
	if (copy && fstat(real, &st) == 0) {
		layer->host_dev = st.st_dev;
		layer->host_ino = st.st_ino;
	}
	layer->upper = ab_take(upper);
	layer->work = ab_take(work);
	return 0;
}
